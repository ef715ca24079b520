// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pprof_read.c: a profile from a pprof file.
 *
 * The file may come from anyone. It is taken apart in three steps, each of
 * which has a limit that follows from the size of what it got: the bytes, the
 * protobuf message, the profile. Every reference is checked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "error.h"
#include "profile.h"
#include "profile.pb-c.h"

#define INPUT_MAX	(1ULL << 30)	/* bytes of a file */
#define PLAIN_MAX	(2ULL << 30)	/* bytes of it once unpacked */
#define PLAIN_FREE	(64ULL << 20)	/* what any file may unpack to */
#define RATIO_MAX	256		/* real profiles shrink by 3 to 30 */
#define MESSAGE_FREE	(16ULL << 20)	/* memory that any message may take */
#define MESSAGE_RATIO	40		/* a sample of 2 bytes takes 72 */
#define GZIP_FORMAT	16

typedef Perftools__Profiles__Profile Message;

/* Text of the last failure: gprof_profile_read() has no object to keep it in. */
static _Thread_local struct gprof_error last;

struct bytes {
	unsigned char *v;
	size_t len;
	size_t cap;
};

static int read_input(int fd, struct bytes *in)
{
	for (;;) {
		ssize_t n;

		if (in->len >= INPUT_MAX)
			return gprof_error_set(&last, EFBIG, "the file is larger than 1 GiB");
		if (gprof_grow(&in->v, &in->cap, in->len + 65536, 1))
			return gprof_error_set(&last, ENOMEM, "no memory for the file");
		n = read(fd, in->v + in->len, in->cap - in->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return gprof_error_set(&last, errno, "the file cannot be read (%s)",
					       gprof_strerror(errno));
		if (!n)
			return 0;
		in->len += (size_t)n;
	}
}

/* One gzip member after the other, as gzip itself takes them. */
static int inflate_all(z_stream *z, struct bytes *out, uint64_t max)
{
	int ret = Z_OK;

	for (;;) {
		if (out->len >= max)
			return gprof_error_set(&last, EFBIG,
					       "the file unpacks to more than %llu MiB, which no "
					       "profile of its size does",
					       (unsigned long long)max >> 20);
		if (gprof_grow(&out->v, &out->cap, out->len + 65536, 1))
			return gprof_error_set(&last, ENOMEM, "no memory for the unpacked file");
		z->next_out = out->v + out->len;
		z->avail_out = out->cap - out->len > UINT32_MAX ? UINT32_MAX
								: (uInt)(out->cap - out->len);
		if (z->avail_out > max - out->len)
			z->avail_out = (uInt)(max - out->len);
		ret = inflate(z, Z_NO_FLUSH);
		out->len = (size_t)(z->next_out - out->v);
		if (ret == Z_STREAM_END) {
			if (!z->avail_in)
				return 0;
			if (inflateReset(z) != Z_OK)
				break;
		} else if (ret != Z_OK || (!z->avail_in && z->avail_out)) {
			break;
		}
	}
	return gprof_error_set(&last, EBADMSG, "the file is not a profile: its gzip data %s",
			       ret == Z_OK || ret == Z_BUF_ERROR ? "end too early" : "are damaged");
}

static int unpack_gzip(const struct bytes *in, struct bytes *out)
{
	uint64_t max = in->len * (uint64_t)RATIO_MAX;
	z_stream z = { 0 };
	int err;

	if (max < PLAIN_FREE)
		max = PLAIN_FREE;
	if (max > PLAIN_MAX)
		max = PLAIN_MAX;
	if (inflateInit2(&z, MAX_WBITS + GZIP_FORMAT) != Z_OK)
		return gprof_error_set(&last, ENOMEM, "no memory to unpack the file");
	z.next_in = in->v;
	z.avail_in = (uInt)in->len;	/* below INPUT_MAX */
	err = inflate_all(&z, out, max);
	inflateEnd(&z);
	return err;
}

/* protobuf-c asks here for memory, of which @left may be had. */
struct budget {
	uint64_t left;
	bool exceeded;
};

static void *budget_alloc(void *data, size_t size)
{
	struct budget *b = data;

	if (size + 16 > b->left) {
		b->exceeded = true;
		return NULL;
	}
	b->left -= size + 16;
	return malloc(size);
}

static void budget_free(void *data, void *p)
{
	(void)data;
	free(p);
}

/**
 * struct reader - what is known while a message becomes a profile
 * @m: message
 * @p: profile
 * @text: string number of the message to that of the profile
 * @mappings: id to index
 * @functions: likewise
 * @locations: likewise
 */
struct reader {
	const Message *m;
	struct gprof_profile *p;
	uint32_t *text;
	struct gprof_map64 mappings;
	struct gprof_map64 functions;
	struct gprof_map64 locations;
};

static int bad(const char *what)
{
	return gprof_error_set(&last, EBADMSG, "the file is not a profile: %s", what);
}

static int no_memory(void)
{
	return gprof_error_set(&last, ENOMEM, "no memory for the profile");
}

static int text(const struct reader *r, int64_t index, uint32_t *out)
{
	if (index < 0 || (uint64_t)index >= r->m->n_string_table)
		return bad("it refers to a string that is not there");
	*out = r->text[index];
	return 0;
}

static int read_strings(struct reader *r)
{
	size_t i;

	if (!r->m->n_string_table)
		return bad("it has no strings");
	if (r->m->string_table[0][0])
		return bad("its first string is not empty");
	r->text = calloc(r->m->n_string_table, sizeof(*r->text));
	if (!r->text)
		return no_memory();
	for (i = 0; i < r->m->n_string_table; i++) {
		r->text[i] = gprof_profile_text(r->p, r->m->string_table[i]);
		if (r->text[i] == GPROF_NONE)
			return no_memory();
	}
	return 0;
}

static int read_head(struct reader *r)
{
	const Message *m = r->m;
	struct gprof_profile *p = r->p;
	uint32_t type = 0, unit = 0;
	size_t i;
	int err;

	for (i = 0; i < m->n_sample_type; i++) {
		err = text(r, m->sample_type[i]->type, &type);
		if (!err)
			err = text(r, m->sample_type[i]->unit, &unit);
		if (err)
			return err;
		if (gprof_profile_add_column(p, p->strings.v[type], p->strings.v[unit]))
			return no_memory();
	}
	for (i = 0; i < m->n_comment; i++) {
		err = text(r, m->comment[i], &type);
		if (err)
			return err;
		if (gprof_profile_add_comment(p, p->strings.v[type]))
			return no_memory();
	}
	p->period = m->period;
	p->time_nanos = m->time_nanos;
	p->duration_nanos = m->duration_nanos;
	err = text(r, m->default_sample_type, &p->default_type);
	if (!err)
		err = text(r, m->drop_frames, &p->drop_frames);
	if (!err)
		err = text(r, m->keep_frames, &p->keep_frames);
	if (!err)
		err = text(r, m->doc_url, &p->doc_url);
	if (!err && m->period_type)
		err = text(r, m->period_type->type, &p->period_type.type);
	if (!err && m->period_type)
		err = text(r, m->period_type->unit, &p->period_type.unit);
	return err;
}

/* Remember an id, which must be new and not 0. */
static int put_id(struct gprof_map64 *ids, uint64_t id, uint32_t index)
{
	if (!id)
		return bad("an id is 0");
	if (gprof_map64_get(ids, id) != GPROF_NONE)
		return bad("two parts have one id");
	return gprof_map64_put(ids, id, index) ? no_memory() : 0;
}

static int read_mappings(struct reader *r)
{
	size_t i;
	int err;

	for (i = 0; i < r->m->n_mapping; i++) {
		const Perftools__Profiles__Mapping *s = r->m->mapping[i];
		struct gprof_mapping m = {
			.start = s->memory_start,
			.limit = s->memory_limit,
			.offset = s->file_offset,
			.has_functions = s->has_functions,
			.has_filenames = s->has_filenames,
			.has_line_numbers = s->has_line_numbers,
			.has_inline_frames = s->has_inline_frames,
		};

		err = text(r, s->filename, &m.filename);
		if (!err)
			err = text(r, s->build_id, &m.build_id);
		if (!err)
			err = put_id(&r->mappings, s->id, (uint32_t)i);
		if (err)
			return err;
		if (gprof_profile_add_mapping(r->p, &m) == GPROF_NONE)
			return no_memory();
	}
	return 0;
}

static int read_functions(struct reader *r)
{
	size_t i;
	int err;

	for (i = 0; i < r->m->n_function; i++) {
		const Perftools__Profiles__Function *s = r->m->function[i];
		struct gprof_function f = { .start_line = s->start_line };
		uint32_t index;

		err = text(r, s->name, &f.name);
		if (!err)
			err = text(r, s->system_name, &f.system_name);
		if (!err)
			err = text(r, s->filename, &f.filename);
		if (err)
			return err;
		index = gprof_profile_function(r->p, &f);
		if (index == GPROF_NONE)
			return no_memory();
		err = put_id(&r->functions, s->id, index);
		if (err)
			return err;
	}
	return 0;
}

static int read_lines(struct reader *r, const Perftools__Profiles__Location *s, uint32_t location)
{
	struct gprof_line *lines = NULL;
	size_t i;
	int err = 0;

	if (!s->n_line)
		return 0;
	lines = calloc(s->n_line, sizeof(*lines));
	if (!lines)
		return no_memory();
	for (i = 0; i < s->n_line && !err; i++) {
		lines[i].line = s->line[i]->line;
		lines[i].column = s->line[i]->column;
		lines[i].function = gprof_map64_get(&r->functions, s->line[i]->function_id);
		if (lines[i].function == GPROF_NONE)
			err = bad("a line names a function that is not there");
	}
	if (!err && gprof_profile_set_lines(r->p, location, lines, s->n_line))
		err = no_memory();
	free(lines);
	return err;
}

static int read_locations(struct reader *r)
{
	size_t i;
	int err;

	for (i = 0; i < r->m->n_location; i++) {
		const Perftools__Profiles__Location *s = r->m->location[i];
		uint32_t mapping = 0, index;

		if (s->mapping_id) {
			mapping = gprof_map64_get(&r->mappings, s->mapping_id);
			if (mapping == GPROF_NONE)
				return bad("a location names a mapping that is not there");
			mapping++;
		}
		index = gprof_profile_append_location(r->p, mapping, s->address);
		if (index == GPROF_NONE)
			return no_memory();
		r->p->locations[index].folded = s->is_folded;
		err = put_id(&r->locations, s->id, index);
		if (!err)
			err = read_lines(r, s, index);
		if (err)
			return err;
	}
	return 0;
}

/* Room for the parts of a sample, reused. */
struct parts {
	uint32_t *locations;
	size_t cap_locations;
	struct gprof_label *labels;
	size_t cap_labels;
};

static int read_sample(struct reader *r, const Perftools__Profiles__Sample *s, struct parts *t)
{
	size_t i;
	int err = 0;

	if (!r->m->n_sample_type)
		return bad("it has samples, but does not say of what");
	if (s->n_value != r->m->n_sample_type)
		return bad("a sample has not as many values as there are types");
	if (gprof_grow(&t->locations, &t->cap_locations, s->n_location_id, sizeof(*t->locations)) ||
	    gprof_grow(&t->labels, &t->cap_labels, s->n_label, sizeof(*t->labels)))
		return no_memory();
	for (i = 0; i < s->n_location_id; i++) {
		t->locations[i] = gprof_map64_get(&r->locations, s->location_id[i]);
		if (t->locations[i] == GPROF_NONE)
			return bad("a sample names a location that is not there");
	}
	for (i = 0; i < s->n_label && !err; i++) {
		struct gprof_label *l = &t->labels[i];

		l->num = s->label[i]->num;
		err = text(r, s->label[i]->key, &l->key);
		if (!err)
			err = text(r, s->label[i]->str, &l->str);
		if (!err)
			err = text(r, s->label[i]->num_unit, &l->unit);
	}
	if (!err && gprof_profile_add_sample(r->p, t->locations, s->n_location_id, t->labels,
					     s->n_label, s->value))
		err = no_memory();
	return err;
}

static int read_samples(struct reader *r)
{
	struct parts t = { 0 };
	size_t i;
	int err = 0;

	for (i = 0; i < r->m->n_sample && !err; i++)
		err = read_sample(r, r->m->sample[i], &t);
	free(t.locations);
	free(t.labels);
	return err;
}

static int read_message(const Message *m, struct gprof_profile *p)
{
	struct reader r = { .m = m, .p = p };
	int err;

	gprof_map64_init(&r.mappings);
	gprof_map64_init(&r.functions);
	gprof_map64_init(&r.locations);
	err = read_strings(&r);
	if (!err)
		err = read_head(&r);
	if (!err)
		err = read_mappings(&r);
	if (!err)
		err = read_functions(&r);
	if (!err)
		err = read_locations(&r);
	if (!err)
		err = read_samples(&r);
	if (!err && gprof_profile_finish(p))
		err = no_memory();
	gprof_map64_free(&r.mappings);
	gprof_map64_free(&r.functions);
	gprof_map64_free(&r.locations);
	free(r.text);
	return err;
}

static int read_plain(const struct bytes *plain, struct gprof_profile *p)
{
	struct budget budget = { MESSAGE_FREE + plain->len * (uint64_t)MESSAGE_RATIO, false };
	ProtobufCAllocator allocator = { budget_alloc, budget_free, &budget };
	Message *m;
	int err;

	if (!plain->len)
		return bad("it is empty");
	m = perftools__profiles__profile__unpack(&allocator, plain->len, plain->v);
	if (!m)
		return bad(budget.exceeded ? "it would take more memory than a profile of its size"
					   : "it does not follow profile.proto");
	err = read_message(m, p);
	perftools__profiles__profile__free_unpacked(m, &allocator);
	return err;
}

struct gprof_profile *gprof_profile_read(int fd, const char **error)
{
	struct bytes in = { 0 }, out = { 0 };
	struct gprof_profile *p;
	bool gzip;
	int err;

	gprof_error_clear(&last);
	p = gprof_profile_new();
	err = p ? read_input(fd, &in) : no_memory();
	gzip = in.len >= 2 && in.v[0] == 0x1f && in.v[1] == 0x8b;
	if (!err && gzip)
		err = unpack_gzip(&in, &out);
	if (!err)
		err = read_plain(gzip ? &out : &in, p);
	free(in.v);
	free(out.v);
	if (error)
		*error = last.text;
	if (!err)
		return p;
	gprof_profile_free(p);
	errno = -err;
	return NULL;
}
