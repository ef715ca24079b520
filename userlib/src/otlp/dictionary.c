// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * dictionary.c: the ProfilesDictionary of a request.
 */
#include "dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"

/* Fields of messages that are written field by field. */
#define FUNCTION_NAME		1
#define FUNCTION_SYSTEM_NAME	2
#define FUNCTION_FILENAME	3
#define FUNCTION_START_LINE	4
#define LOCATION_MAPPING	1
#define LOCATION_ADDRESS	2
#define LOCATION_LINES		3
#define LINE_FUNCTION		1
#define LINE_LINE		2
#define LINE_COLUMN		3
#define STACK_LOCATIONS		1

#define TRACE_ID_SIZE	16
#define SPAN_ID_SIZE	8
#define UNKNOWN		(-1)
/* Part of a request that comments may be. */
#define COMMENTS_SHARE	16

/* Its name elsewhere. */
static const char *attribute_name(const char *key)
{
	static const char *const names[][2] = {
		{ "pid", "process.pid" },
		{ "tid", "thread.id" },
		{ "comm", "thread.name" },
		{ "cpu", "cpu.logical_number" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(key, names[i][0]))
			return names[i][1];
	return key;
}

int gprof_otlp_dictionary_init(struct gprof_otlp_dictionary *d, const struct gprof_profile *p)
{
	size_t i;

	*d = (struct gprof_otlp_dictionary){ .p = p };
	for (i = 1; i < GPROF_OTLP_FIELDS; i++)
		gprof_table_init(&d->tables[i].index);
	gprof_table_init(&d->labels_index);
	gprof_table_init(&d->stacks_index);
	d->strings.v = calloc(p->strings.nr + 1, sizeof(*d->strings.v));
	d->functions.v = calloc(p->nr_functions + 1, sizeof(*d->functions.v));
	d->mappings.v = calloc(p->nr_mappings + 1, sizeof(*d->mappings.v));
	d->locations.v = calloc(p->nr_locations + 1, sizeof(*d->locations.v));
	return d->strings.v && d->functions.v && d->mappings.v && d->locations.v ? 0 : -ENOMEM;
}

void gprof_otlp_dictionary_free(struct gprof_otlp_dictionary *d)
{
	size_t i;

	for (i = 1; i < GPROF_OTLP_FIELDS; i++) {
		gprof_wire_free(&d->tables[i].wire);
		gprof_table_free(&d->tables[i].index);
		free(d->tables[i].starts);
	}
	gprof_table_free(&d->labels_index);
	gprof_table_free(&d->stacks_index);
	free(d->strings.v);
	free(d->functions.v);
	free(d->mappings.v);
	free(d->locations.v);
	free(d->labels);
	free(d->stacks);
	free(d->stack);
}

/* The item that was encoded last, and others. */
struct candidate {
	size_t start;
	size_t len;
};

static bool same_item(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_otlp_table *t = ctx;
	const struct candidate *c = key;
	size_t end = index + 1 < t->nr ? t->starts[index + 1] : c->start;

	return end - t->starts[index] == c->len &&
	       !memcmp(t->wire.v + t->starts[index], t->wire.v + c->start, c->len);
}

/* The number of the item that was added to the table at @start, and is certainly new. */
static int32_t append(struct gprof_otlp_dictionary *d, struct gprof_otlp_table *t, size_t start)
{
	if (t->wire.failed || gprof_grow(&t->starts, &t->cap, t->nr + 1, sizeof(*t->starts))) {
		d->failed = true;
		return 0;
	}
	t->starts[t->nr] = start;
	return (int32_t)t->nr++;
}

/*
 * The number of the item that was added to the table at @start, and is removed where it is a
 * duplicate.
 */
static int32_t settle(struct gprof_otlp_dictionary *d, struct gprof_otlp_table *t, size_t start)
{
	struct candidate c = { start, t->wire.nr - start };
	uint64_t hash;
	uint32_t found;

	if (t->wire.failed) {
		d->failed = true;
		return 0;
	}
	hash = gprof_hash_bytes(t->index.seed, t->wire.v + start, c.len);
	found = gprof_table_find(&t->index, hash, same_item, t, &c);
	if (found != GPROF_NONE) {
		t->wire.nr = start;
		return (int32_t)found;
	}
	if (gprof_table_insert(&t->index, hash, (uint32_t)t->nr)) {
		d->failed = true;
		return 0;
	}
	return append(d, t, start);
}

void gprof_otlp_fields(struct gprof_wire *w, const ProtobufCMessage *m)
{
	if (gprof_wire_room(w, protobuf_c_message_get_packed_size(m)))
		w->nr += protobuf_c_message_pack(m, w->v + w->nr);
}

void gprof_otlp_message(struct gprof_wire *w, unsigned int field, const ProtobufCMessage *m)
{
	size_t at = gprof_wire_open(w, field);

	gprof_otlp_fields(w, m);
	gprof_wire_close(w, at);
}

static int32_t put(struct gprof_otlp_dictionary *d, enum gprof_otlp_field field,
		   const ProtobufCMessage *m)
{
	struct gprof_otlp_table *t = &d->tables[field];
	size_t start = t->wire.nr;

	gprof_otlp_message(&t->wire, field, m);
	return settle(d, t, start);
}

static int32_t known(const struct gprof_otlp_dictionary *d, const struct gprof_otlp_entry *k,
		     size_t index)
{
	return k->v[index] >> 32 == d->epoch ? (int32_t)k->v[index] : UNKNOWN;
}

static int32_t remember(const struct gprof_otlp_dictionary *d, struct gprof_otlp_entry *k,
			size_t index, int32_t number)
{
	k->v[index] = (uint64_t)d->epoch << 32 | (uint32_t)number;
	return number;
}

/* A profile has each text once. */
static int32_t text(struct gprof_otlp_dictionary *d, uint32_t index)
{
	struct gprof_otlp_table *t = &d->tables[GPROF_OTLP_STRINGS];
	int32_t number = known(d, &d->strings, index);
	const char *s = d->p->strings.v[index];
	size_t start;

	if (number != UNKNOWN)
		return number;
	start = t->wire.nr;
	gprof_wire_bytes(&t->wire, GPROF_OTLP_STRINGS, s, strlen(s));
	return remember(d, &d->strings, index, append(d, t, start));
}

int32_t gprof_otlp_string(struct gprof_otlp_dictionary *d, const char *s)
{
	struct gprof_otlp_table *t = &d->tables[GPROF_OTLP_STRINGS];
	uint64_t hash;
	size_t start = t->wire.nr;
	uint32_t index = gprof_strings_find(&d->p->strings, s, strlen(s), &hash);

	if (index != GPROF_NONE)
		return text(d, index);
	gprof_wire_bytes(&t->wire, GPROF_OTLP_STRINGS, s, strlen(s));
	return settle(d, t, start);
}

void gprof_otlp_dictionary_begin(struct gprof_otlp_dictionary *d)
{
	uint8_t zeros[TRACE_ID_SIZE] = { 0 };
	Mapping mapping = MAPPING_INIT;
	Location location = LOCATION_INIT;
	Function function = FUNCTION_INIT;
	KeyValueAndUnit attribute = KEY_VALUE_AND_UNIT_INIT;
	Stack stack = STACK_INIT;
	Link link = LINK_INIT;
	size_t i;

	for (i = 1; i < GPROF_OTLP_FIELDS; i++) {
		gprof_wire_clear(&d->tables[i].wire);
		gprof_table_clear(&d->tables[i].index);
		d->tables[i].nr = 0;
	}
	gprof_table_clear(&d->labels_index);
	gprof_table_clear(&d->stacks_index);
	d->nr_labels = d->nr_stacks = 0;
	d->epoch++;
	link.trace_id = (ProtobufCBinaryData){ TRACE_ID_SIZE, zeros };
	link.span_id = (ProtobufCBinaryData){ SPAN_ID_SIZE, zeros };
	put(d, GPROF_OTLP_MAPPINGS, &mapping.base);
	put(d, GPROF_OTLP_LOCATIONS, &location.base);
	put(d, GPROF_OTLP_FUNCTIONS, &function.base);
	put(d, GPROF_OTLP_LINKS, &link.base);
	put(d, GPROF_OTLP_ATTRIBUTES, &attribute.base);
	put(d, GPROF_OTLP_STACKS, &stack.base);
	gprof_otlp_string(d, "");
}

static int32_t put_attribute(struct gprof_otlp_dictionary *d, const char *key, AnyValue *value,
			     int32_t unit)
{
	KeyValueAndUnit attribute = KEY_VALUE_AND_UNIT_INIT;

	attribute.key_strindex = gprof_otlp_string(d, key);
	attribute.value = value;
	attribute.unit_strindex = unit;
	return put(d, GPROF_OTLP_ATTRIBUTES, &attribute.base);
}

/* A build-id of a linker is hexadecimal; Go's own has other characters too. */
static const char *build_id_key(const char *id)
{
	return id[strspn(id, "0123456789abcdefABCDEF")] ? "process.executable.build_id.go" :
							  "process.executable.build_id.gnu";
}

static int32_t put_mapping(struct gprof_otlp_dictionary *d, size_t index)
{
	const struct gprof_mapping *from = &d->p->mappings[index];
	int32_t number = known(d, &d->mappings, index), attribute;
	char *build_id = d->p->strings.v[from->build_id];
	AnyValue value = ANY_VALUE_INIT;
	Mapping m = MAPPING_INIT;

	if (number != UNKNOWN)
		return number;
	m.memory_start = from->start;
	m.memory_limit = from->limit;
	m.file_offset = from->offset;
	m.filename_strindex = text(d, from->filename);
	if (build_id[0]) {
		value.value_case = STRING_VALUE;
		value.string_value = build_id;
		attribute = put_attribute(d, build_id_key(build_id), &value, 0);
		m.n_attribute_indices = 1;
		m.attribute_indices = &attribute;
	}
	return remember(d, &d->mappings, index, put(d, GPROF_OTLP_MAPPINGS, &m.base));
}

static int32_t put_function(struct gprof_otlp_dictionary *d, size_t index)
{
	const struct gprof_function *from = &d->p->functions[index];
	struct gprof_otlp_table *t = &d->tables[GPROF_OTLP_FUNCTIONS];
	int32_t number = known(d, &d->functions, index);
	size_t start = t->wire.nr, at;

	if (number != UNKNOWN)
		return number;
	/* A profile has each function once; one of nothing is the first of the dictionary. */
	if (!from->name && !from->system_name && !from->filename && !from->start_line)
		return 0;
	at = gprof_wire_open(&t->wire, GPROF_OTLP_FUNCTIONS);
	gprof_wire_number(&t->wire, FUNCTION_NAME, (uint32_t)text(d, from->name));
	gprof_wire_number(&t->wire, FUNCTION_SYSTEM_NAME, (uint32_t)text(d, from->system_name));
	gprof_wire_number(&t->wire, FUNCTION_FILENAME, (uint32_t)text(d, from->filename));
	gprof_wire_number(&t->wire, FUNCTION_START_LINE, (uint64_t)from->start_line);
	gprof_wire_close(&t->wire, at);
	return remember(d, &d->functions, index, append(d, t, start));
}

/* Of a location that is not known yet. */
static int32_t put_location(struct gprof_otlp_dictionary *d, size_t index)
{
	const struct gprof_location *from = &d->p->locations[index];
	struct gprof_otlp_table *t = &d->tables[GPROF_OTLP_LOCATIONS];
	uint32_t i, nr = d->no_names ? 0 : from->nr_lines;
	size_t start = t->wire.nr, at, line_at;

	at = gprof_wire_open(&t->wire, GPROF_OTLP_LOCATIONS);
	if (from->mapping)
		gprof_wire_number(&t->wire, LOCATION_MAPPING,
				  (uint32_t)put_mapping(d, from->mapping - 1));
	gprof_wire_number(&t->wire, LOCATION_ADDRESS, from->address);
	for (i = 0; i < nr; i++) {
		const struct gprof_line *line = &d->p->lines[from->lines + i];

		line_at = gprof_wire_open(&t->wire, LOCATION_LINES);
		gprof_wire_number(&t->wire, LINE_FUNCTION,
				  (uint32_t)put_function(d, line->function));
		gprof_wire_number(&t->wire, LINE_LINE, (uint64_t)line->line);
		gprof_wire_number(&t->wire, LINE_COLUMN, (uint64_t)line->column);
		gprof_wire_close(&t->wire, line_at);
	}
	gprof_wire_close(&t->wire, at);
	return remember(d, &d->locations, index, settle(d, t, start));
}

/* Of a stack that is not known yet. */
static int32_t put_stack(struct gprof_otlp_dictionary *d, const struct gprof_sample *s)
{
	struct gprof_otlp_table *t = &d->tables[GPROF_OTLP_STACKS];
	size_t start = t->wire.nr, at;
	uint32_t i;

	if (gprof_grow(&d->stack, &d->cap_stack, s->nr_locations, sizeof(*d->stack))) {
		d->failed = true;
		return 0;
	}
	for (i = 0; i < s->nr_locations; i++) {
		uint32_t location = d->p->stacks[s->locations + i];
		int32_t number = known(d, &d->locations, location);

		/* Nearly always it is there. */
		if (number == UNKNOWN) {
			number = put_location(d, location);
			if (gprof_otlp_dictionary_size(d) > d->bytes_max)
				return -1;
		}
		d->stack[i] = (uint32_t)number;
	}
	/* Each index takes a byte at least. */
	if (s->nr_locations > d->bytes_max)
		return -1;
	at = gprof_wire_open(&t->wire, GPROF_OTLP_STACKS);
	gprof_wire_indexes(&t->wire, STACK_LOCATIONS, d->stack, s->nr_locations, 0);
	gprof_wire_close(&t->wire, at);
	return settle(d, t, start);
}

static uint32_t count_mappings(const struct gprof_profile *p, const struct gprof_sample *s)
{
	uint32_t i, mapping, last = 0, nr = 0;

	for (i = 0; i < s->nr_locations; i++) {
		mapping = p->locations[p->stacks[s->locations + i]].mapping;
		nr += mapping && mapping != last;
		last = mapping ? mapping : last;
	}
	return nr;
}

static bool same_stack(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_otlp_dictionary *d = ctx;
	const struct gprof_otlp_stack *a = &d->stacks[index];
	const struct gprof_sample *b = key;

	return a->nr_locations == b->nr_locations &&
	       (!b->nr_locations || !memcmp(&d->p->stacks[a->locations], &d->p->stacks[b->locations],
					    b->nr_locations * sizeof(*d->p->stacks)));
}

/* Processes of one program are often where others are: a stack has many samples. */
int32_t gprof_otlp_stack(struct gprof_otlp_dictionary *d, const struct gprof_sample *s,
			 uint32_t *mappings)
{
	struct gprof_otlp_stack new = { s->locations, s->nr_locations, 0, 0 };
	uint64_t hash = gprof_hash_u64(d->stacks_index.seed, s->nr_locations);
	uint32_t found;

	if (s->nr_locations)
		hash = gprof_hash_bytes(hash, &d->p->stacks[s->locations],
					s->nr_locations * sizeof(*d->p->stacks));
	found = gprof_table_find(&d->stacks_index, hash, same_stack, d, s);
	if (found != GPROF_NONE) {
		*mappings = d->stacks[found].mappings;
		return d->stacks[found].number;
	}
	new.number = put_stack(d, s);
	if (new.number < 0)
		return new.number;
	*mappings = new.mappings = count_mappings(d->p, s);
	if (gprof_grow(&d->stacks, &d->cap_stacks, d->nr_stacks + 1, sizeof(*d->stacks)) ||
	    gprof_table_insert(&d->stacks_index, hash, (uint32_t)d->nr_stacks))
		d->failed = true;
	else
		d->stacks[d->nr_stacks++] = new;
	return new.number;
}

static bool same_label(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_otlp_dictionary *d = ctx;
	const struct gprof_label *a = &d->labels[index].label, *b = key;

	return a->key == b->key && a->str == b->str && a->unit == b->unit && a->num == b->num;
}

int32_t gprof_otlp_label(struct gprof_otlp_dictionary *d, const struct gprof_label *l,
			 uint32_t *key)
{
	const char *name;
	uint64_t hash = d->labels_index.seed;
	AnyValue value = ANY_VALUE_INIT;
	uint32_t found;
	int32_t unit = 0, number;

	hash = gprof_hash_u64(hash, (uint64_t)l->key << 32 | l->str);
	hash = gprof_hash_u64(hash, (uint64_t)l->num);
	hash = gprof_hash_u64(hash, l->unit);
	found = gprof_table_find(&d->labels_index, hash, same_label, d, l);
	if (found != GPROF_NONE) {
		*key = d->labels[found].key;
		return (int32_t)d->labels[found].attribute;
	}
	if (l->str) {
		value.value_case = STRING_VALUE;
		value.string_value = d->p->strings.v[l->str];
	} else {
		value.value_case = INT_VALUE;
		value.int_value = l->num;
		/* That a number counts in its key says nothing, and keeps a 0 in pprof. */
		if (l->unit != l->key)
			unit = text(d, l->unit);
	}
	name = attribute_name(d->p->strings.v[l->key]);
	*key = (uint32_t)gprof_otlp_string(d, name);
	number = put_attribute(d, name, &value, unit);
	if (gprof_grow(&d->labels, &d->cap_labels, d->nr_labels + 1, sizeof(*d->labels)) ||
	    gprof_table_insert(&d->labels_index, hash, (uint32_t)d->nr_labels))
		d->failed = true;
	else
		d->labels[d->nr_labels++] = (struct gprof_otlp_label){ *l, (uint32_t)number, *key };
	return number;
}

int32_t gprof_otlp_comments(struct gprof_otlp_dictionary *d)
{
	size_t i, nr = d->p->nr_comments;
	AnyValue *values = calloc(nr + 1, sizeof(*values)), value = ANY_VALUE_INIT;
	AnyValue **ptrs = calloc(nr + 1, sizeof(*ptrs));
	ArrayValue array = ARRAY_VALUE_INIT;
	int32_t number = 0;
	size_t size = 0;

	if (!values || !ptrs)
		d->failed = true;
	for (i = 0; i < nr && !d->failed; i++) {
		values[i] = (AnyValue)ANY_VALUE_INIT;
		values[i].value_case = STRING_VALUE;
		values[i].string_value = d->p->strings.v[d->p->comments[i]];
		ptrs[i] = &values[i];
		size += strlen(values[i].string_value) + 1;
	}
	array.n_values = nr;
	array.values = ptrs;
	value.value_case = ARRAY_VALUE;
	value.array_value = &array;
	if (size > d->bytes_max / COMMENTS_SHARE)
		number = -1;
	else if (nr && !d->failed)
		number = put_attribute(d, "pprof.profile.comment", &value, 0);
	free(values);
	free(ptrs);
	return number;
}

size_t gprof_otlp_dictionary_size(const struct gprof_otlp_dictionary *d)
{
	size_t i, sum = 0;

	for (i = 1; i < GPROF_OTLP_FIELDS; i++)
		sum += d->tables[i].wire.nr;
	return sum;
}

void gprof_otlp_dictionary_mark(const struct gprof_otlp_dictionary *d,
				struct gprof_otlp_mark *mark)
{
	size_t i;

	for (i = 1; i < GPROF_OTLP_FIELDS; i++)
		mark->nr[i] = d->tables[i].wire.nr;
}

void gprof_otlp_dictionary_put(const struct gprof_otlp_dictionary *d,
			       const struct gprof_otlp_mark *mark, struct gprof_wire *to,
			       unsigned int field)
{
	size_t i, sum = 0;

	for (i = 1; i < GPROF_OTLP_FIELDS; i++)
		sum += mark->nr[i];
	gprof_wire_begin(to, field, sum);
	for (i = 1; i < GPROF_OTLP_FIELDS; i++)
		gprof_wire_raw(to, d->tables[i].wire.v, mark->nr[i]);
}
