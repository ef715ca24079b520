// SPDX-License-Identifier: GPL-2.0-only
/* Profiles written, read again, and compared with the schema; hostile files. */
#include "harness.h"
#include <malloc.h>
#include <zlib.h>

#include "profile_util.h"
#include "base/fd_write.h"
#include "profile/profile.h"

static uint32_t add_function(struct gprof_profile *p, const char *name, const char *file)
{
	struct gprof_function f = {
		.name = gprof_profile_text(p, name), .system_name = gprof_profile_text(p, name),
		.filename = gprof_profile_text(p, file), .start_line = 10,
	};

	return gprof_profile_function(p, &f);
}

/* Two mappings, an inlined function, an address without a name, labels of both kinds. */
static struct gprof_profile *example(void)
{
	struct gprof_profile *p = gprof_profile_new();
	struct gprof_mapping m = { .start = 0x1000, .limit = 0x3000, .offset = 0x400 };
	struct gprof_label labels[3] = { 0 };
	struct gprof_line lines[2] = { 0 };
	int64_t values[2] = { 1, 10 };
	uint32_t stack[3];

	gprof_profile_add_column(p, "samples", "count");
	gprof_profile_add_column(p, "cpu", "nanoseconds");
	p->default_type = gprof_profile_text(p, "cpu");
	p->period_type = p->columns[1];
	p->period = 10;
	p->time_nanos = 1700000000000000000;
	p->duration_nanos = 5000;
	gprof_profile_add_comment(p, "one");
	gprof_profile_commentf(p, "two %d", 2);
	m.filename = gprof_profile_text(p, "/bin/main");
	m.build_id = gprof_profile_text(p, "abcdef");
	gprof_profile_add_mapping(p, &m);
	m.start = 0x7000;
	m.limit = 0x8000;
	m.filename = gprof_profile_text(p, "/lib/libx.so");
	m.build_id = 0;
	m.has_functions = true;
	gprof_profile_add_mapping(p, &m);

	stack[0] = gprof_profile_add_location(p, 1, 0x1234);
	lines[0].function = add_function(p, "inner", "a.c");
	lines[0].line = 11;
	lines[1].function = add_function(p, "outer", "a.c");
	lines[1].line = 22;
	lines[1].column = 3;
	gprof_profile_set_lines(p, stack[0], lines, 2);
	stack[1] = gprof_profile_add_location(p, 2, 0x7100);
	stack[2] = gprof_profile_add_location(p, 0, 0xbeef);

	labels[0].key = gprof_profile_text(p, "comm");
	labels[0].str = gprof_profile_text(p, "worker");
	labels[1].key = gprof_profile_text(p, "tid");
	labels[1].num = 4242;
	labels[2].key = gprof_profile_text(p, "cpu");
	labels[2].unit = labels[2].key;
	gprof_profile_add_sample(p, stack, 3, labels, 3, values);
	values[0] = 2;
	values[1] = 20;
	gprof_profile_add_sample(p, stack, 2, NULL, 0, values);
	gprof_profile_add_sample(p, stack, 3, labels, 3, values);
	gprof_profile_finish(p);
	return p;
}

/* The profile that a case makes or reads, freed behind it, and the reason of a refusal. */
static struct gprof_profile *p, *q;
static const char *error;

static void drop(struct gprof_profile **old)
{
	gprof_profile_free(*old);
	*old = NULL;
}

FIXTURE(file) {
	unsigned char *data;
};

FIXTURE_SETUP(file)
{
	self->data = malloc(4 << 20);
	ASSERT_NE(NULL, self->data);
}

FIXTURE_TEARDOWN(file)
{
	gprof_profile_free(p);
	gprof_profile_free(q);
	free(self->data);
}

struct seen {
	size_t samples;
	size_t frames;
	int64_t tid;
	char comm[16];
	char functions[256];
	bool inlined;
	bool cpu;
};

static int look(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct seen *s = ctx;

	for (size_t i = 0; !s->samples && i < nr; i++) {
		strcat(s->functions, frames[i].function);
		strcat(s->functions, " ");
		s->inlined |= frames[i].inlined;
	}
	s->samples++;
	s->frames += nr;
	return values[0] == 99;
}

static const struct gprof_profile *looked_at;

static int look_labels(void *ctx, const struct gprof_frame *frames, size_t nr,
		       const int64_t *values)
{
	const char *comm = gprof_profile_label(looked_at, "comm", NULL);
	struct seen *s = ctx;
	int64_t cpu = -1;

	if (comm)
		snprintf(s->comm, sizeof(s->comm), "%s", comm);
	gprof_profile_label(looked_at, "tid", &s->tid);
	if (gprof_profile_label(looked_at, "cpu", &cpu) && !cpu)
		s->cpu = true;
	return 0;
}

TEST_F(file, what_is_written_is_read_again)
{
	const struct gprof_value_type *types;
	int64_t start, duration;
	struct seen s = { 0 };

	p = example();
	q = profile_again(p);
	ASSERT_NE(NULL, q);
	ASSERT_EQ(2, gprof_profile_types(q, &types));
	EXPECT_STREQS("samples", types[0].type, "count", types[0].unit, "cpu", types[1].type,
		      "nanoseconds", types[1].unit);
	EXPECT_EQ(1, gprof_profile_default_type(q));
	EXPECT_TOTALS(q, 5, 50, 0);
	EXPECT_STREQS("one", gprof_profile_comment(q, 0), "two 2", gprof_profile_comment(q, 1));
	EXPECT_EQ(NULL, gprof_profile_comment(q, 2));
	gprof_profile_time(q, &start, &duration);
	EXPECT_EQS(1700000000000000000, start, 5000, duration, 10, q->period, 2, q->nr_mappings,
		   0x400, q->mappings[0].offset);
	EXPECT_STREQ("abcdef", q->strings.v[q->mappings[0].build_id]);
	EXPECT_FALSE(q->mappings[0].has_functions);
	EXPECT_TRUE(q->mappings[1].has_functions);
	EXPECT_EQS(3, q->lines[1].column, 10, q->functions[0].start_line);

	EXPECT_EQS(0, gprof_profile_each(q, look, &s), 2, s.samples, 7, s.frames);
	EXPECT_STREQ("inner outer [libx.so+0x500] 0xbeef ", s.functions);
	EXPECT_TRUE(s.inlined);
	looked_at = q;
	gprof_profile_each(q, look_labels, &s);
	EXPECT_STREQ("worker", s.comm);
	EXPECT_EQ(4242, s.tid);
	EXPECT_TRUE(s.cpu);
	EXPECT_EQ(NULL, gprof_profile_label(q, "tid", NULL));

	/* Once more: nothing changes any more. */
	for (size_t i = 0; i < 2; i++) {
		struct gprof_profile *again = profile_again(q);

		ASSERT_NE(NULL, again);
		EXPECT_EQ(q->nr_samples, again->nr_samples);
		EXPECT_EQ(0, memcmp(q->values, again->values, q->nr_values * sizeof(*q->values)));
		gprof_profile_free(q);
		q = again;
	}
}

TEST_F(file, a_callback_can_end_the_walk)
{
	struct seen s = { 0 };

	p = example();
	p->values[0] = 99;
	EXPECT_EQS(1, gprof_profile_each(p, look, &s), 1, s.samples);
}

TEST_F(file, protoc_decodes_it_by_the_schema)
{
	const char *dir = lib_tmpdir();
	const char *top = lib_top();
	/* The compiler that the build needs decodes as well. */
	const char *protoc = lib_have("protoc") ? "protoc" : "protoc-c";
	char path[128], count[16];
	FILE *f;
	int fd;

	p = example();
	if (!lib_have(protoc) || !lib_have("gzip") || !top) {
		gprof_profile_free(p);
		lib_sh("rm -rf %s", dir);
		SKIP(return, "no protoc, no gzip or no sources here");
	}
	snprintf(path, sizeof(path), "%s/p.gz", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	ASSERT_EQ(0, gprof_profile_write(p, fd));
	close(fd);
	ASSERT_EQ(0, lib_sh("cd %s && gzip -t p.gz && gzip -dc p.gz | %s -I %s/userlib/proto "
			    "--decode=perftools.profiles.Profile profile.proto >p.txt", dir, protoc,
			    top));
	/* The first string is empty, ids begin with 1, the leaf is first. */
	EXPECT_EQ(0, lib_sh("grep -m1 '^string_table' %s/p.txt | grep -qx 'string_table: \"\"'", dir));
	EXPECT_EQ(0, lib_sh("grep -qx 'default_sample_type: [1-9][0-9]*' %s/p.txt", dir));
	snprintf(path, sizeof(path), "grep -c '^sample {' %s/p.txt", dir);
	f = popen(path, "r");
	ASSERT_NE(NULL, fgets(count, sizeof(count), f));
	pclose(f);
	EXPECT_STREQ("2\n", count);
	EXPECT_EQ(0, lib_sh("grep -A1 '^sample {' %s/p.txt | head -n2 | grep -q 'location_id: 1$'",
			    dir));
	EXPECT_EQ(0, lib_sh("! grep -q ' id: 0$\\|^[0-9]*:' %s/p.txt", dir));
	lib_sh("rm -rf %s", dir);
}

TEST_F(file, invalid_utf8_becomes_valid)
{
	static const char *const rows[][2] = {
		{ "a?b", "a\xff" "b" }, { "\xc3\xa4", "\xc3\xa4" }, { "?", "\xc3" },
		{ "??", "\xc0\x80" }, { "???", "\xed\xa0\x80" }, { "????", "\xf4\x90\x80\x80" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
	};

	p = gprof_profile_new();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT_STREQ(rows[i][0], p->strings.v[gprof_profile_text(p, rows[i][1])]);
}

/* A writer of protobuf, for files that our own writer would never make. */
struct wire {
	unsigned char v[4096];
	size_t len;
};

static void varint(struct wire *w, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		w->v[w->len++] = (unsigned char)(n | 0x80);
	w->v[w->len++] = (unsigned char)n;
}

static void number(struct wire *w, int field, uint64_t n)
{
	varint(w, (uint64_t)field << 3);
	varint(w, n);
}

static void bytes(struct wire *w, int field, const void *data, size_t len)
{
	varint(w, (uint64_t)field << 3 | 2);
	varint(w, len);
	if (len)
		memcpy(w->v + w->len, data, len);
	w->len += len;
}

static void nested(struct wire *w, int field, const struct wire *in)
{
	bytes(w, field, in->v, in->len);
}

/*
 * A good file, one detail of which @spoil may change: 0 to 18. It has one sample
 * of one location with one line of one function in one mapping.
 */
static void make_file(struct wire *w, int spoil)
{
	struct wire part = { .len = 0 }, line = { .len = 0 }, label = { .len = 0 };

	w->len = 0;
	if (spoil != 1)
		bytes(w, 6, spoil == 2 ? "x" : "", spoil == 2);
	bytes(w, 6, "cpu", 3);
	number(&part, 1, spoil == 3 ? 99 : 1);
	number(&part, 2, 1);
	if (spoil != 4)
		nested(w, 1, &part);

	part.len = 0;
	number(&part, 1, spoil == 5 ? 8 : 7);			/* location_id */
	number(&part, 2, 1);					/* value */
	if (spoil == 6)
		number(&part, 2, 2);
	number(&label, 1, spoil == 7 ? (uint64_t)-1 : 1);
	number(&label, 3, 5);
	nested(&part, 3, &label);
	nested(w, 2, &part);

	part.len = 0;
	number(&part, 1, 3);					/* mapping id */
	number(&part, 5, spoil == 9 ? 1000 : 1);
	nested(w, 3, &part);
	if (spoil == 10)
		nested(w, 3, &part);
	if (spoil == 8)
		bytes(w, 3, "", 0);				/* without an id */

	part.len = 0;
	number(&part, 1, 7);					/* location id */
	number(&part, 2, spoil == 12 ? 4 : 3);
	number(&line, 1, spoil == 13 ? 6 : 5);
	nested(&part, 4, &line);
	nested(w, 4, &part);
	if (spoil == 14)
		nested(w, 4, &part);
	if (spoil == 11)
		bytes(w, 4, "", 0);

	part.len = 0;
	number(&part, 1, 5);					/* function id */
	number(&part, 2, spoil == 16 ? 2 : 1);
	nested(w, 5, &part);
	if (spoil == 17)
		nested(w, 5, &part);
	if (spoil == 15)
		bytes(w, 5, "", 0);
	if (spoil == 18)
		number(w, 14, 77);				/* default_sample_type */
}

static struct gprof_profile *read_as(const void *data, size_t len,
				     const struct gprof_profile_opts *o)
{
	int fd = lib_memfd(data, len);
	struct gprof_profile *read = o ? gprof_profile_read_opts(fd, o) : gprof_profile_read(fd);

	error = gprof_error();
	close(fd);
	return read;
}

#define read_bytes(data, len)	read_as(data, len, NULL)
#define read_within(data, len, max) \
	read_as(data, len, &(struct gprof_profile_opts){ .sz = sizeof(struct gprof_profile_opts), \
							 .memory_max = max })

#define TAKE(_read) do {						\
	drop(&p);							\
	p = _read;							\
	ASSERT_NE(NULL, p) TH_LOG("%s", error);				\
} while (0)

#define REFUSE(_err, _said, _read) do {					\
	EXPECT_ERRNO(_err, _read);					\
	EXPECT_SAYS(error, _said);					\
} while (0)

/* The file that is made. */
static struct wire w;

TEST_F(file, a_plain_and_a_gzipped_file_are_read)
{
	make_file(&w, 0);
	TAKE(read_bytes(w.v, w.len));
	EXPECT_EQ(1, gprof_profile_total(p, 0));
}

TEST_F(file, numbers_of_a_file_are_read_whole)
{
	int64_t start, duration;

	make_file(&w, 0);
	number(&w, 9, (uint64_t)-1);				/* time_nanos */
	number(&w, 10, (uint64_t)INT64_MIN);			/* duration_nanos */
	TAKE(read_bytes(w.v, w.len));
	gprof_profile_time(p, &start, &duration);
	EXPECT_EQS(-1, start, INT64_MIN, duration);
}

/* protobuf packs numbers into one part, or writes each by itself. */
TEST_F(file, comments_are_read_packed_or_not)
{
	make_file(&w, 0);
	bytes(&w, 13, "\1\0\1", 3);
	number(&w, 13, 1);
	TAKE(read_bytes(w.v, w.len));
	EXPECT_STREQS("cpu", gprof_profile_comment(p, 0), "", gprof_profile_comment(p, 1),
		      "cpu", gprof_profile_comment(p, 2), "cpu", gprof_profile_comment(p, 3));
	EXPECT_EQ(NULL, gprof_profile_comment(p, 4));
}

TEST(a_part_of_another_wire_type_is_refused)
{
	for (int field = 1; field <= 15; field++) {
		make_file(&w, 0);
		if (field <= 6 || field == 11)
			number(&w, field, 1);
		else if (field != 13)
			bytes(&w, field, "", 0);
		else
			continue;
		errno = 0;
		EXPECT_EQ(NULL, read_bytes(w.v, w.len)) TH_LOG("field %d was taken", field);
		EXPECT_EQ(EBADMSG, errno);
	}
}

TEST(every_broken_reference_is_refused)
{
	for (int spoil = 1; spoil <= 18; spoil++) {
		if (spoil == 12)
			continue;
		make_file(&w, spoil);
		errno = 0;
		EXPECT_EQ(NULL, read_bytes(w.v, w.len)) TH_LOG("spoil %d was taken", spoil);
		EXPECT_EQ(EBADMSG, errno);
		EXPECT_NE(NULL, strstr(error, "not a profile"))
			TH_LOG("spoil %d: %s", spoil, error);
	}
}

TEST_F(file, a_file_cut_short_anywhere_is_refused_or_whole)
{
	make_file(&w, 0);
	for (size_t len = 0; len < w.len; len++) {
		struct gprof_profile *p = read_bytes(w.v, len);

		/* A cut between two parts may leave a smaller good profile. */
		gprof_profile_free(p);
		if (!p) {
			EXPECT_EQ(EBADMSG, errno);
		}
	}
}

TEST_F(file, a_gzip_file_cut_short_is_refused)
{
	int fd = memfd_create("profile", MFD_CLOEXEC);
	static unsigned char data[65536];
	ssize_t len, i;

	p = example();
	ASSERT_EQ(0, gprof_profile_write(p, fd));
	len = pread(fd, data, sizeof(data), 0);
	close(fd);
	ASSERT_LT(20, len);
	for (i = 0; i < len; i++) {
		EXPECT_ERRNO(EBADMSG, read_bytes(data, i));
	}
}

/* gzip of @total zero bytes. */
static size_t bomb(unsigned char *out, size_t size, size_t total)
{
	static unsigned char zeros[1 << 20];
	z_stream z = { 0 };
	size_t len;

	deflateInit2(&z, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY);
	z.next_out = out;
	z.avail_out = size;
	for (; total; total -= sizeof(zeros)) {
		z.next_in = zeros;
		z.avail_in = sizeof(zeros);
		deflate(&z, total == sizeof(zeros) ? Z_FINISH : Z_NO_FLUSH);
	}
	len = z.total_out;
	deflateEnd(&z);
	return len;
}

TEST_F(file, a_gzip_bomb_is_refused)
{
	size_t len = bomb(self->data, 4 << 20, 64 << 20);

	/* shrinks a thousandfold: far above what its size allows, and that above what all may */
	ASSERT_LT(4 << 20, len * 256);
	ASSERT_GT(32 << 20, len * 256);
	REFUSE(EFBIG, "unpacks to more", read_bytes(self->data, len));
}

/* Bytes of memory that @fn takes at its peak, in a process of its own; -1: it failed. */
static long peak(int (*fn)(const void *data, size_t len), const void *data, size_t len)
{
	long before, after;
	int status;
	pid_t pid = fork();

	if (!pid) {
		before = lib_peak_kib(RUSAGE_SELF);
		status = fn(data, len);
		after = lib_peak_kib(RUSAGE_SELF);
		_exit(status || after - before >= 255 << 10 ? 255 :
		      (after - before) >> 10);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) == 255)
		return -1;
	return (long)WEXITSTATUS(status) << 20;
}

static int walk_frames(void *ctx, const struct gprof_frame *frames, size_t nr,
		       const int64_t *values)
{
	return 0;
}

/* Read, and walk over what was read; 0 when it was refused as too large. */
static int read_and_walk(const void *data, size_t len)
{
	struct gprof_profile *p = read_bytes(data, len);
	int ret;

	if (!p)
		return errno != EFBIG;
	ret = gprof_profile_each(p, walk_frames, NULL);
	gprof_profile_free(p);
	return ret;
}

/* A repeated part, such as a line of a location. */
static size_t repeat(unsigned char *to, const struct wire *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		memcpy(to + i * w->len, w->v, w->len);
	return n * w->len;
}

/* One location with @lines lines, which one sample names @frames times. */
static size_t square(unsigned char *to, size_t lines, size_t frames)
{
	struct wire w = { .len = 0 }, line = { .len = 0 }, part = { .len = 0 };
	size_t len, i;

	bytes(&w, 6, "", 0);
	nested(&w, 1, &part);
	number(&part, 1, 5);
	nested(&w, 5, &part);					/* function 5 */
	memcpy(to, w.v, w.len);
	len = w.len;

	number(&line, 1, 5);
	w.len = part.len = 0;
	nested(&part, 4, &line);
	varint(&w, 4 << 3 | 2);
	varint(&w, 2 + part.len * lines);
	number(&w, 1, 7);
	memcpy(to + len, w.v, w.len);
	len += w.len;
	len += repeat(to + len, &part, lines);

	/* Four bytes for each length, whatever it is. */
	to[len++] = 2 << 3 | 2;
	for (i = 0; i < 3; i++)
		to[len++] = 0x80 | ((frames + 7) >> 7 * i & 0x7f);
	to[len++] = (frames + 7) >> 21;
	to[len++] = 2 << 3;
	to[len++] = 1;
	to[len++] = 1 << 3 | 2;
	for (i = 0; i < 3; i++)
		to[len++] = 0x80 | (frames >> 7 * i & 0x7f);
	to[len++] = frames >> 21;
	memset(to + len, 7, frames);
	return len + frames;
}

TEST_F(file, lines_times_locations_take_no_more_than_the_file_allows)
{
	size_t len;

	/* 48 kB make 60 million frames, of 2.8 GB. */
	len = square(self->data, 8000, 7500);
	REFUSE(EFBIG, "frames", read_bytes(self->data, len));
	EXPECT_LE(0, peak(read_and_walk, self->data, len));
	/* A thousand lines at each of a thousand locations are taken. */
	len = square(self->data, 1000, 1000);
	TAKE(read_bytes(self->data, len));
	EXPECT_EQ(0, gprof_profile_each(p, walk_frames, NULL));
}

TEST_F(file, a_small_gzip_file_takes_little)
{
	size_t len = bomb(self->data, 1 << 20, 64UL << 20);

	ASSERT_LT(len, 70000);
	EXPECT_LE(0, peak(read_and_walk, self->data, len));
}

/* Labels without anything, 2 bytes each in the file. */
static size_t labels(unsigned char *to, size_t n)
{
	struct wire w = { .len = 0 }, none = { .len = 0 }, label = { .len = 0 };
	size_t i, size = 2 * n + 2, len;

	bytes(&w, 6, "", 0);
	nested(&w, 1, &none);
	varint(&w, 2 << 3 | 2);
	for (i = size; i >= 0x80; i >>= 7)
		w.v[w.len++] = i | 0x80;
	w.v[w.len++] = i;
	number(&w, 2, 1);
	memcpy(to, w.v, w.len);
	len = w.len;
	nested(&label, 3, &none);
	return len + repeat(to + len, &label, n);
}

TEST_F(file, a_limit_of_memory_is_kept_to)
{
	size_t len = labels(self->data, 1000000), i;

	REFUSE(EFBIG, "32 MiB", read_within(self->data, len, 32 << 20));
	TAKE(read_within(self->data, len, 0));
	/* Wherever the limit is hit: the same error, and nothing is left or read twice. */
	len = labels(self->data, 1000);
	for (i = 1; i < 400000; i += 997) {
		drop(&p);
		p = read_within(self->data, len, i);
		EXPECT_TRUE(p || errno == EFBIG) TH_LOG("%zu: %s", i, error);
	}
	TAKE(read_within(self->data, len, i));
	EXPECT_GE(i, p->budget.used);
}

/* What a sample takes beside what it says: 28 bytes here, and as many of the arrays' growth. */
TEST_F(file, samples_take_little_more_than_what_they_say)
{
	const size_t times = 100000;
	struct wire sample = { .len = 0 }, part = { .len = 0 };

	make_file(&w, 0);
	number(&part, 1, 7);
	number(&part, 2, 1);
	nested(&sample, 2, &part);
	memcpy(self->data, w.v, w.len);
	TAKE(read_within(self->data, w.len + repeat(self->data + w.len, &sample, times), 5 << 20));
	EXPECT_EQS(times + 1, gprof_profile_total(p, 0), 2, p->nr_label_sets);
	gprof_profile_forget_samples(p);
	EXPECT_EQ(0, gprof_profile_total(p, 0));
	EXPECT_GE(1 << 20, p->budget.used);
}

/* A file whose locations have the ids that are given, and a sample of all of them. */
static size_t with_ids(struct wire *w, const uint64_t *ids, size_t nr)
{
	struct wire part = { .len = 0 }, packed = { .len = 0 };

	w->len = 0;
	bytes(w, 6, "", 0);
	number(&part, 1, 0);
	nested(w, 1, &part);
	for (size_t i = 0; i < nr; i++) {
		part.len = 0;
		number(&part, 1, ids[i]);
		number(&part, 3, 0x1000 + i);
		nested(w, 4, &part);
		varint(&packed, ids[i]);
	}
	part.len = 0;
	nested(&part, 1, &packed);
	number(&part, 2, 1);
	nested(w, 2, &part);
	return w->len;
}

TEST_F(file, ids_may_be_any_numbers_in_any_order)
{
	static const uint64_t ids[][5] = {
		{ 1, 2, 3, 4, 5 }, { 5, 4, 3, 2, 1 }, { 1, 2, 4, 3, 5 }, { 2, 1, 3, 5, 4 },
		{ UINT64_MAX, 1, 1ULL << 32, (1ULL << 32) + 1, 3 },
	};
	static const uint64_t bad[][2] = { { 1, 1 }, { 2, 2 }, { 0, 1 }, { 1, 0 } };

	for (size_t i = 0; i < 5; i++) {
		TAKE(read_bytes(w.v, with_ids(&w, ids[i], 5)));
		ASSERT_EQ(5, p->nr_stacks);
		for (size_t j = 0; j < 5; j++)
			EXPECT_EQ(0x1000 + j, p->locations[p->stacks[j]].address);
	}
	for (size_t i = 0; i < 4; i++)
		EXPECT_EQ(NULL, read_bytes(w.v, with_ids(&w, bad[i], 2)));
}

/* Repeated numbers, packed or not or both, and parts of one kind that do not lie together. */
TEST_F(file, a_sample_may_be_written_in_any_way)
{
	struct wire part = { .len = 0 }, packed = { .len = 0 };
	static const uint64_t ids[] = { 1, 2, 3 };
	static const uint32_t stack[] = { 1, 0, 2, 2, 0 };
	struct gprof_profile_stack s;

	with_ids(&w, ids, 3);
	number(&part, 1, 2);
	varint(&packed, 1);
	varint(&packed, 3);
	nested(&part, 1, &packed);
	packed.len = 0;
	varint(&packed, (uint64_t)-5);
	nested(&part, 2, &packed);
	packed.len = 0;
	nested(&part, 1, &packed);
	number(&part, 1, 3);
	number(&part, 1, 1);
	number(&part, 9, 77);
	nested(&w, 2, &part);
	/* Strings again, behind all samples. */
	bytes(&w, 6, "late", 4);
	part.len = 0;
	number(&part, 1, 1);
	nested(&w, 1, &part);
	EXPECT_EQ(NULL, read_bytes(w.v, w.len));
	EXPECT_SAYS(error, "values");
	w.len -= part.len + 2;
	TAKE(read_bytes(w.v, w.len));
	ASSERT_EQS(0, gprof_profile_stack(p, 1, &s), 5, s.nr_locations);
	EXPECT_EQS(0, memcmp(stack, s.locations, sizeof(stack)), -5, s.values[0],
		   -ENOENT, gprof_profile_stack(p, 2, &s), -4, gprof_profile_total(p, 0));
}

TEST_F(file, options_of_reading_may_be_of_another_version)
{
	struct { struct gprof_profile_opts o; uint64_t newer; } o = { .o.sz = sizeof(o) };
	int fd;

	make_file(&w, 0);
	fd = lib_memfd(w.v, w.len);
	TAKE(gprof_profile_read_opts(fd, &o.o));
	o.newer = 1;
	EXPECT_ERRNO(E2BIG, gprof_profile_read_opts(fd, &o.o));
	o.o.sz = 4;
	EXPECT_ERRNO(EINVAL, gprof_profile_read_opts(fd, &o.o));
	close(fd);
}

TEST_F(file, a_mapping_that_is_not_there_is_none)
{
	struct seen s = { 0 };

	make_file(&w, 12);
	TAKE(read_bytes(w.v, w.len));
	EXPECT_EQS(0, gprof_profile_each(p, look, &s), 1, s.samples, 0, p->locations[0].mapping);
}

TEST_F(file, sums_stay_at_the_limit)
{
	int64_t values[2] = { INT64_MAX - 1, INT64_MIN + 1 };
	uint32_t stack;

	p = gprof_profile_new();
	stack = gprof_profile_add_location(p, 0, 1);
	gprof_profile_add_column(p, "up", "count");
	gprof_profile_add_column(p, "down", "count");
	gprof_profile_add_sample(p, &stack, 1, NULL, 0, values);
	gprof_profile_add_sample(p, &stack, 1, NULL, 0, values);
	EXPECT_EQS(INT64_MAX, p->values[0], INT64_MIN, p->values[1]);
	gprof_profile_add_sample(p, NULL, 0, NULL, 0, values);
	EXPECT_TOTALS(p, INT64_MAX, INT64_MIN);
}

struct nested {
	const struct gprof_profile *p;
	int depth;
	int wrong;
};

static int look_nested(void *ctx, const struct gprof_frame *frames, size_t nr,
		       const int64_t *values)
{
	struct nested *n = ctx;
	struct nested inner = { .p = n->p, .depth = n->depth - 1 };
	const char *before = gprof_profile_label(n->p, "comm", NULL);

	if (n->depth)
		gprof_profile_each(n->p, look_nested, &inner);
	n->wrong += inner.wrong + (gprof_profile_label(n->p, "comm", NULL) != before);
	return 0;
}

TEST_F(file, walks_may_be_nested)
{
	struct nested n = { .depth = 2 };

	n.p = p = example();
	EXPECT_ZEROS(gprof_profile_each(p, look_nested, &n), n.wrong);
	EXPECT_EQ(NULL, gprof_profile_label(p, "comm", NULL));
}

struct two {
	struct gprof_profile *outer, *inner;
	int right;
};

static int look_from_inside(void *ctx, const struct gprof_frame *frames, size_t nr,
			    const int64_t *values)
{
	struct two *two = ctx;
	const char *comm = gprof_profile_label(two->outer, "comm", NULL);
	const char *inner = gprof_profile_label(two->inner, "comm", NULL);

	two->right += comm && !strcmp(comm, "worker") &&
		      (values[0] == 1 ? !inner : inner && !strcmp(inner, "other"));
	return 0;
}

static int walk_inside(void *ctx, const struct gprof_frame *frames, size_t nr,
		       const int64_t *values)
{
	return gprof_profile_each(((struct two *)ctx)->inner, look_from_inside, ctx) ? -1 : 1;
}

TEST(labels_are_those_of_the_profile_that_is_asked)
{
	struct two two = { example(), gprof_profile_new(), 0 };
	const int64_t values[] = { 1, 2 };
	struct gprof_label label = { 0 };

	gprof_profile_add_column(two.inner, "samples", "count");
	label.key = gprof_profile_text(two.inner, "comm");
	label.str = gprof_profile_text(two.inner, "other");
	gprof_profile_add_sample(two.inner, NULL, 0, NULL, 0, &values[0]);
	gprof_profile_add_sample(two.inner, NULL, 0, &label, 1, &values[1]);
	gprof_profile_finish(two.inner);
	EXPECT_EQS(1, gprof_profile_each(two.outer, walk_inside, &two), 2, two.right);
	gprof_profile_free(two.outer);
	gprof_profile_free(two.inner);
}

/* One member; its size, or 0. */
static size_t gzip(unsigned char *in, size_t len, unsigned char *out, size_t size)
{
	z_stream z = { .next_in = in, .avail_in = len, .next_out = out, .avail_out = size };
	bool ok = deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK &&
		  deflate(&z, Z_FINISH) == Z_STREAM_END;

	deflateEnd(&z);
	return ok ? z.total_out : 0;
}

TEST_F(file, several_gzip_members_are_one_file)
{
	unsigned char out[4096];
	size_t len, more;

	make_file(&w, 0);
	ASSERT_NE(0, len = gzip(w.v, 20, out, sizeof(out)));
	ASSERT_NE(0, more = gzip(w.v + 20, w.len - 20, out + len, sizeof(out) - len));
	TAKE(read_bytes(out, len + more));
}

/* The length at the end of a gzip file, and what follows it, are anybody's. */
TEST_F(file, a_gzip_file_that_lies_of_its_length_is_refused)
{
	static const uint32_t lies[] = { 0, 1, 17, 4096, 3U << 20, 1U << 31, UINT32_MAX };
	unsigned char data[8192] = { 0 };
	size_t i, len;

	make_file(&w, 0);
	len = gzip(w.v, w.len, data, 4096);
	ASSERT_NE(0, len);
	TAKE(read_bytes(data, len));
	for (i = 4; i < 40; i++) {
		/* it ends with the right length */
		memset(data + len, 0, i);
		memcpy(data + len + i - 4, data + len - 4, 4);
		EXPECT_ERRNO(EBADMSG, read_bytes(data, len + i));
	}
	for (i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		memcpy(data + len - 4, &lies[i], 4);
		EXPECT_ERRNO(EBADMSG, read_bytes(data, len));
		EXPECT_NE(NULL, strstr(error, "damaged")) TH_LOG("%u: %s", lies[i], error);
	}
}

/* A sample: l: its location, v: its value, a, b: labels of two numbers, in that order. */
static void add_sample_of(struct wire *w, const char *order, uint64_t num)
{
	struct wire sample = { .len = 0 };

	for (; *order; order++) {
		struct wire label = { .len = 0 };

		number(&label, 1, 1);
		number(&label, 3, *order == 'a' ? num : num + 1);
		if (*order == 'l')
			number(&sample, 1, 7);
		else if (*order == 'v')
			number(&sample, 2, 1);
		else
			nested(&sample, 3, &label);
	}
	nested(w, 2, &sample);
}

/* What was read once is known by its bytes: those that only begin or end alike are others. */
TEST_F(file, each_sample_has_the_labels_of_its_bytes)
{
	static const struct { const char *order; uint64_t num; } samples[] = {
		{ "lvab", 10 }, { "lvab", 10 }, { "lva", 10 }, { "lvb", 10 }, { "lvba", 10 },
		{ "lvab", 11 }, { "lva", 11 }, { "lavb", 10 }, { "lav", 10 }, { "abvl", 10 },
		{ "lva", 10 }, { "lvab", 10 }, { "lvb", 9 }, { "lv", 0 }, { "valb", 10 },
		{ "lvb", 10 }, { "lavb", 10 }, { "abvl", 10 },
	};
	size_t i;

	make_file(&w, 0);
	for (i = 0; i < sizeof(samples) / sizeof(*samples); i++)
		add_sample_of(&w, samples[i].order, samples[i].num);
	TAKE(read_bytes(w.v, w.len));
	ASSERT_EQ(i + 1, p->nr_samples);
	while (i--) {
		const struct gprof_label_set *set = &p->label_sets[p->samples[i + 1].labels];
		const struct gprof_label *l = &p->labels[set->first];
		const char *order = samples[i].order;
		uint32_t nr = 0;

		for (; *order; order++) {
			if (*order == 'l' || *order == 'v')
				continue;
			ASSERT_LT(nr, set->nr);
			EXPECT_EQ(samples[i].num + (*order == 'b'), (uint64_t)l[nr++].num)
				TH_LOG("%zu: %s", i, samples[i].order);
		}
		EXPECT_EQ(nr, set->nr);
	}
}

/* More sets than are known by their bytes, twice. */
TEST_F(file, many_sets_of_labels_stay_apart)
{
	enum { SETS = 20000, FIRST = 1 << 14 };	/* numbers of three bytes each */
	size_t i, len;

	make_file(&w, 0);
	memcpy(self->data, w.v, len = w.len);
	for (i = 0; i < 2 * SETS; i++) {
		w.len = 0;
		add_sample_of(&w, "lva", FIRST + i % SETS);
		memcpy(self->data + len, w.v, w.len);
		len += w.len;
	}
	TAKE(read_bytes(self->data, len));
	ASSERT_EQS(2 * SETS + 1, p->nr_samples, SETS + 1, p->nr_label_sets);
	for (i = 0; i < 2 * SETS; i++) {
		const struct gprof_label_set *set = &p->label_sets[p->samples[i + 1].labels];

		ASSERT_EQ(FIRST + i % SETS, (uint64_t)p->labels[set->first].num);
	}
}

TEST(what_is_no_file_is_refused)
{
	int fds[2];

	EXPECT_ERRNO(EBADF, gprof_profile_read(-1));
	EXPECT_EQS(NULL, read_bytes("hello, world", 12), NULL, read_bytes("", 0));
	EXPECT_SAYS(error, "empty");
	ASSERT_EQ(0, pipe(fds));
	close(fds[1]);
	EXPECT_EQ(NULL, gprof_profile_read(fds[0]));
	close(fds[0]);
}

TEST_F(file, a_full_disk_is_an_error)
{
	int fd = open("/dev/full", O_WRONLY);

	p = example();
	if (fd < 0)
		SKIP(return, "no /dev/full");
	EXPECT_EQ(-ENOSPC, gprof_profile_write(p, fd));
	close(fd);
}

static int pipe_signals;

static void on_pipe(int sig)
{
	pipe_signals++;
}

TEST_F(file, a_pipe_without_a_reader_is_an_error_and_no_signal)
{
	int fds[2];

	p = example();
	signal(SIGPIPE, on_pipe);
	ASSERT_EQ(0, pipe(fds));
	close(fds[0]);
	EXPECT_EQS(-EPIPE, gprof_profile_write(p, fds[1]), 0, pipe_signals);
	/* The signal works as before. */
	EXPECT_EQS(-1, write(fds[1], "x", 1), 1, pipe_signals);
	close(fds[1]);
}

TEST_F(file, a_full_pipe_is_waited_for)
{
	char junk[4096];
	int fds[2];
	pid_t pid;

	p = example();
	ASSERT_EQ(0, pipe2(fds, O_NONBLOCK));
	memset(junk, 0, sizeof(junk));
	while (write(fds[1], junk, sizeof(junk)) > 0)
		;
	pid = fork();
	if (!pid) {
		/* Drop the junk, later, then read the profile. */
		size_t n = 0;

		close(fds[1]);
		fcntl(fds[0], F_SETFL, 0);
		usleep(100000);
		while (n < 65536)
			n += read(fds[0], junk, sizeof(junk) > 65536 - n ? 65536 - n : sizeof(junk));
		q = gprof_profile_read(fds[0]);
		_exit(q ? 0 : 1);
	}
	EXPECT_EQ(0, gprof_profile_write(p, fds[1]));
	close(fds[0]);
	close(fds[1]);
	EXPECT_EQ(0, reap(pid));
}

TEST(outputs_that_spoil_each_other_are_recognized)
{
	const char *dir = lib_tmpdir();
	const char *path = lib_text("%s/out", dir);
	int a, b, c, n1, n2;

	a = open(path, O_WRONLY | O_CREAT, 0644);
	b = open(path, O_WRONLY);
	c = dup(a);
	n1 = open("/dev/null", O_WRONLY);
	n2 = open("/dev/null", O_WRONLY);
	EXPECT_TRUES(gprof_fd_same(a, a), gprof_fd_same(a, b), gprof_fd_same(a, c));
	EXPECT_ZEROS(gprof_fd_same(a, n1), gprof_fd_same(n1, n2));
	close(n2);
	n2 = dup(n1);
	EXPECT_TRUE(gprof_fd_same(n1, n2));
	lib_sh("rm -rf %s", dir);
}

TEST_F(file, identical_samples_are_added_up_and_others_are_not)
{
	struct gprof_label label = { .num = 1 };
	uint32_t stack[2];
	int64_t one = 1;

	p = gprof_profile_new();
	label.key = gprof_profile_text(p, "tid");
	gprof_profile_add_column(p, "events", "count");
	stack[0] = gprof_profile_add_location(p, 0, 1);
	stack[1] = gprof_profile_add_location(p, 0, 2);
	gprof_profile_add_sample(p, stack, 2, &label, 1, &one);
	gprof_profile_add_sample(p, stack, 2, &label, 1, &one);
	EXPECT_EQ(1, p->nr_samples);
	gprof_profile_add_sample(p, stack, 1, &label, 1, &one);
	label.num = 2;
	gprof_profile_add_sample(p, stack, 2, &label, 1, &one);
	gprof_profile_add_sample(p, stack, 2, NULL, 0, &one);
	EXPECT_EQS(4, p->nr_samples, 5, gprof_profile_total(p, 0));
}

/* Some ids have three bytes, some samples more than 127, and labels come again, soon and late. */
#define PLACES	20000
#define THREAD(i)	((i) / 100 % 300)

static struct gprof_profile *many_samples(uint32_t nr, uint64_t *sum)
{
	struct gprof_profile *p = gprof_profile_new();
	struct gprof_label label = { .key = gprof_profile_text(p, "tid") };
	uint32_t stack[60], i, j;
	uint64_t rnd = 7;
	char name[32];

	gprof_profile_add_column(p, "cycles", "count");
	for (i = 0; i < PLACES; i++) {
		struct gprof_line line = { 0 };

		snprintf(name, sizeof(name), "function_%u", i);
		line.function = add_function(p, name, "f.c");
		gprof_profile_set_lines(p, gprof_profile_add_location(p, 0, i), &line, 1);
	}
	for (i = 0; i < nr; i++) {
		int64_t value = lib_random(&rnd) % 1000;
		uint32_t depth = i % 2 ? 30 : 60;

		for (j = 0; j < depth; j++)
			stack[j] = lib_random(&rnd) % (i % 3 ? PLACES : 200);
		label.num = THREAD(i);
		gprof_profile_add_sample(p, stack, depth, &label, 1, &value);
		*sum += value;
	}
	gprof_profile_finish(p);
	return p;
}

static bool has_same_samples(const struct gprof_profile *p, const struct gprof_profile *q)
{
	for (size_t i = 0; i < p->nr_samples; i++)
		if (q->labels[q->label_sets[q->samples[i].labels].first].num != (int64_t)THREAD(i) ||
		    q->values[i] != p->values[i])
			return false;
	return p->nr_stacks == q->nr_stacks &&
	       (!p->nr_stacks || !memcmp(p->stacks, q->stacks, p->nr_stacks * sizeof(*p->stacks)));
}

/* A file in the making: its largest piece, memory that was in use, and what is taken of it. */
struct pieces {
	unsigned char v[16 << 20];
	size_t len;
	size_t largest;
	size_t in_use;
	size_t room;
};

static size_t memory_in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static int take_piece(void *ctx, const void *data, size_t len)
{
	struct pieces *t = ctx;

	if (len > t->room - t->len)
		return -ENOSPC;
	memcpy(t->v + t->len, data, len);
	t->len += len;
	if (len > t->largest)
		t->largest = len;
	if (memory_in_use() > t->in_use)
		t->in_use = memory_in_use();
	return 0;
}

static int write_pieces(const struct gprof_profile *p, struct pieces *t, size_t room)
{
	t->len = t->largest = t->in_use = 0;
	t->room = room;
	return gprof_profile_write_to(p, take_piece, t);
}

static bool is_one_member(const struct pieces *t)
{
	static unsigned char out[16 << 20];
	z_stream z = { .next_in = (unsigned char *)t->v, .avail_in = t->len,
		       .next_out = out, .avail_out = sizeof(out) };
	bool one = inflateInit2(&z, 31) == Z_OK && inflate(&z, Z_FINISH) == Z_STREAM_END &&
		   !z.avail_in;

	inflateEnd(&z);
	return one;
}

/* Of no piece, of one, and of many. */
TEST_F(file, a_large_profile_survives_the_round_trip)
{
	static const uint32_t sizes[] = { 0, 10, 20000, 60000 };
	struct pieces *t = malloc(sizeof(*t));
	uint64_t sum;
	size_t i, before;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		sum = 0;
		drop(&p);
		p = many_samples(sizes[i], &sum);
		q = profile_again(p);
		ASSERT_NE(NULL, q);
		EXPECT_EQS(sizes[i], q->nr_samples, (int64_t)sum, gprof_profile_total(q, 0));
		EXPECT_TRUE(has_same_samples(p, q));
		drop(&q);
		before = memory_in_use();
		EXPECT_EQ(0, write_pieces(p, t, sizeof(t->v)));
		EXPECT_TRUES(is_one_member(t), t->largest <= 65536);
		/* Not in memory twice, whatever its size. */
		EXPECT_TRUE(t->in_use < before + (2 << 20));
		/* And it fails wherever it may. */
		EXPECT_EQS(-ENOSPC, write_pieces(p, t, t->len / 2), -ENOSPC, write_pieces(p, t, 0));
	}
	free(t);
}

TEST_HARNESS_MAIN
