// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * profile.c: a profile in memory, shaped like pprof's schema.
 */
#include "profile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a file's name in the name of an address. */
#define NAME_MAX_SHOWN	400

/* Room for @n more elements of an array of the profile. */
#define ROOM(p, name, n) \
	gprof_grow_within(&(p)->budget, &(p)->name, &(p)->cap_##name, (p)->nr_##name + (n), \
			  sizeof(*(p)->name))

struct gprof_profile *gprof_profile_new(void)
{
	struct gprof_profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	gprof_table_init(&p->functions_table);
	gprof_table_init(&p->locations_table);
	gprof_table_init(&p->label_sets_table);
	gprof_table_init(&p->samples_table);
	p->budget.max = UINT64_MAX;
	if (gprof_strings_init(&p->strings) || gprof_strings_init(&p->made)) {
		gprof_profile_free(p);
		return NULL;
	}
	p->functions_table.budget = &p->budget;
	p->locations_table.budget = &p->budget;
	p->label_sets_table.budget = &p->budget;
	p->samples_table.budget = &p->budget;
	p->strings.table.budget = &p->budget;
	p->made.table.budget = &p->budget;
	return p;
}

void gprof_profile_free(struct gprof_profile *p)
{
	if (!p)
		return;
	gprof_strings_free(&p->strings);
	gprof_strings_free(&p->made);
	gprof_table_free(&p->functions_table);
	gprof_table_free(&p->locations_table);
	gprof_table_free(&p->label_sets_table);
	gprof_table_free(&p->samples_table);
	free(p->columns);
	free(p->mappings);
	free(p->functions);
	free(p->lines);
	free(p->locations);
	free(p->samples);
	free(p->stacks);
	free(p->labels);
	free(p->label_sets);
	free(p->values);
	free(p->comments);
	free(p->types);
	free(p);
}

/* Bytes of the UTF-8 character at @s, of which @max are there; 0 when it is none. */
static size_t utf8_len(const unsigned char *s, size_t max)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 :
		     s[0] >> 3 == 30 ? 4 : 0;
	uint32_t c;
	size_t i;

	if (len < 2 || len > max)
		return len < 2 ? len : 0;
	c = s[0] & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : len;
}

/* Bytes at the beginning, by eights, that are ASCII: nearly always nearly all. */
static size_t ascii_len(const char *text, size_t len)
{
	uint64_t eight;
	size_t i;

	for (i = 0; len - i >= sizeof(eight); i += sizeof(eight)) {
		memcpy(&eight, text + i, sizeof(eight));
		if (eight & 0x8080808080808080ULL)
			break;
	}
	return i;
}

uint32_t gprof_profile_text_of(struct gprof_profile *p, const char *text, size_t len)
{
	size_t i, n;
	uint64_t hash;
	uint32_t index;
	char *copy;

	len = strnlen(text, len);
	/* Known strings are text. */
	index = gprof_strings_find(&p->strings, text, len, &hash);
	if (index != GPROF_NONE)
		return index;
	for (i = ascii_len(text, len); i < len; i += n) {
		n = utf8_len((const unsigned char *)text + i, len - i);
		if (!n)
			break;
	}
	if (i == len)
		return gprof_strings_add_new(&p->strings, text, len, hash);

	/* A name of a thread or a file is any bytes; pprof's text is UTF-8. */
	copy = strndup(text, len);
	if (!copy)
		return GPROF_NONE;
	for (; i < len; i += n) {
		n = utf8_len((const unsigned char *)copy + i, len - i);
		if (n)
			continue;
		copy[i] = '?';
		n = 1;
	}
	index = gprof_strings_add(&p->strings, copy, len);
	free(copy);
	return index;
}

uint32_t gprof_profile_text(struct gprof_profile *p, const char *text)
{
	return gprof_profile_text_of(p, text, strlen(text));
}

int gprof_profile_add_column(struct gprof_profile *p, const char *type, const char *unit)
{
	struct gprof_column c = { gprof_profile_text(p, type), gprof_profile_text(p, unit) };

	if (c.type == GPROF_NONE || c.unit == GPROF_NONE || ROOM(p, columns, 1))
		return -ENOMEM;
	p->columns[p->nr_columns++] = c;
	return 0;
}

int gprof_profile_add_comment(struct gprof_profile *p, const char *text)
{
	uint32_t index = gprof_profile_text(p, text);

	if (index == GPROF_NONE || ROOM(p, comments, 1))
		return -ENOMEM;
	p->comments[p->nr_comments++] = index;
	return 0;
}

int gprof_profile_commentf(struct gprof_profile *p, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int err;

	va_start(ap, fmt);
	err = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (err < 0)
		return -ENOMEM;
	err = gprof_profile_add_comment(p, text);
	free(text);
	return err;
}

uint32_t gprof_profile_add_mapping(struct gprof_profile *p, const struct gprof_mapping *m)
{
	if (ROOM(p, mappings, 1) || p->nr_mappings >= GPROF_NONE - 1)
		return GPROF_NONE;
	p->mappings[p->nr_mappings] = *m;
	return (uint32_t)p->nr_mappings++;
}

static bool function_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_function *a = &((const struct gprof_profile *)ctx)->functions[index];
	const struct gprof_function *b = key;

	return a->name == b->name && a->system_name == b->system_name &&
	       a->filename == b->filename && a->start_line == b->start_line;
}

uint32_t gprof_profile_function(struct gprof_profile *p, const struct gprof_function *f)
{
	uint64_t hash = p->functions_table.seed;
	uint32_t index;

	hash = gprof_hash_u64(hash, (uint64_t)f->name << 32 | f->system_name);
	hash = gprof_hash_u64(hash, f->filename);
	hash = gprof_hash_u64(hash, (uint64_t)f->start_line);
	index = gprof_table_find(&p->functions_table, hash, function_eq, p, f);
	if (index != GPROF_NONE)
		return index;
	/* Ids are indexes + 1; speedscope takes 31 bits of them. */
	if (p->nr_functions >= INT32_MAX - 1 || ROOM(p, functions, 1) ||
	    gprof_table_insert(&p->functions_table, hash, (uint32_t)p->nr_functions))
		return GPROF_NONE;
	p->functions[p->nr_functions] = *f;
	return (uint32_t)p->nr_functions++;
}

static bool location_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_location *a = &((const struct gprof_profile *)ctx)->locations[index];
	const struct gprof_location *b = key;

	return a->mapping == b->mapping && a->address == b->address;
}

static uint64_t location_hash(const struct gprof_profile *p, uint32_t mapping, uint64_t address)
{
	return gprof_hash_u64(gprof_hash_u64(p->locations_table.seed, mapping), address);
}

uint32_t gprof_profile_find_location(const struct gprof_profile *p, uint32_t mapping,
				     uint64_t address)
{
	struct gprof_location key = { .mapping = mapping, .address = address };

	return gprof_table_find(&p->locations_table, location_hash(p, mapping, address),
				location_eq, p, &key);
}

uint32_t gprof_profile_append_location(struct gprof_profile *p, uint32_t mapping,
				       uint64_t address)
{
	struct gprof_location l = { .mapping = mapping, .address = address };

	if (p->nr_locations >= GPROF_NONE - 1 || ROOM(p, locations, 1))
		return GPROF_NONE;
	p->locations[p->nr_locations] = l;
	return (uint32_t)p->nr_locations++;
}

uint32_t gprof_profile_add_location(struct gprof_profile *p, uint32_t mapping, uint64_t address)
{
	uint32_t index = gprof_profile_append_location(p, mapping, address);

	if (index != GPROF_NONE &&
	    gprof_table_insert(&p->locations_table, location_hash(p, mapping, address), index)) {
		p->nr_locations--;
		return GPROF_NONE;
	}
	return index;
}

int gprof_profile_set_lines(struct gprof_profile *p, uint32_t location,
			    const struct gprof_line *lines, size_t nr)
{
	struct gprof_location *l = &p->locations[location];

	if (ROOM(p, lines, nr) || nr > UINT32_MAX)
		return -ENOMEM;
	if (nr)
		memcpy(&p->lines[p->nr_lines], lines, nr * sizeof(*lines));
	l->lines = p->nr_lines;
	l->nr_lines = (uint32_t)nr;
	p->nr_lines += nr;
	return 0;
}

struct label_set_key {
	const struct gprof_label *labels;
	size_t nr;
};

static bool label_set_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_profile *p = ctx;
	const struct gprof_label_set *s = &p->label_sets[index];
	const struct label_set_key *k = key;
	size_t i;

	if (s->nr != k->nr)
		return false;
	for (i = 0; i < k->nr; i++) {
		const struct gprof_label *a = &p->labels[s->first + i], *b = &k->labels[i];

		if (a->key != b->key || a->str != b->str || a->unit != b->unit || a->num != b->num)
			return false;
	}
	return true;
}

uint32_t gprof_profile_label_set(struct gprof_profile *p, const struct gprof_label *labels,
				 size_t nr)
{
	struct label_set_key key = { labels, nr };
	uint64_t hash = gprof_hash_u64(p->label_sets_table.seed, nr);
	uint32_t index;
	size_t i;

	for (i = 0; i < nr; i++) {
		hash = gprof_hash_u64(hash, (uint64_t)labels[i].key << 32 | labels[i].str);
		hash = gprof_hash_u64(hash, (uint64_t)labels[i].num ^ (uint64_t)labels[i].unit << 40);
	}
	index = gprof_table_find(&p->label_sets_table, hash, label_set_eq, p, &key);
	if (index != GPROF_NONE)
		return index;
	if (p->nr_label_sets >= GPROF_NONE - 1 || nr > UINT32_MAX || ROOM(p, label_sets, 1) ||
	    ROOM(p, labels, nr) ||
	    gprof_table_insert(&p->label_sets_table, hash, (uint32_t)p->nr_label_sets))
		return GPROF_NONE;
	p->label_sets[p->nr_label_sets] = (struct gprof_label_set){ p->nr_labels, (uint32_t)nr };
	if (nr)
		memcpy(&p->labels[p->nr_labels], labels, nr * sizeof(*labels));
	p->nr_labels += nr;
	return (uint32_t)p->nr_label_sets++;
}

int gprof_profile_append_sample(struct gprof_profile *p, const uint32_t *locations,
				size_t nr_locations, uint32_t labels, const int64_t *values)
{
	if (p->nr_samples >= GPROF_NONE - 1 || nr_locations > UINT32_MAX || ROOM(p, samples, 1) ||
	    ROOM(p, stacks, nr_locations) || ROOM(p, values, p->nr_columns))
		return -ENOMEM;
	p->samples[p->nr_samples++] = (struct gprof_sample){
		.locations = p->nr_stacks,
		.nr_locations = (uint32_t)nr_locations,
		.labels = labels,
	};
	if (nr_locations)
		memcpy(&p->stacks[p->nr_stacks], locations, nr_locations * sizeof(*locations));
	if (p->nr_columns)
		memcpy(&p->values[p->nr_values], values, p->nr_columns * sizeof(*values));
	p->nr_stacks += nr_locations;
	p->nr_values += p->nr_columns;
	return 0;
}

struct sample_key {
	const uint32_t *locations;
	size_t nr_locations;
	uint32_t labels;
};

static bool sample_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_profile *p = ctx;
	const struct gprof_sample *s = &p->samples[index];
	const struct sample_key *k = key;

	return s->nr_locations == k->nr_locations && s->labels == k->labels &&
	       (!k->nr_locations || !memcmp(&p->stacks[s->locations], k->locations,
					    k->nr_locations * sizeof(*k->locations)));
}

static uint64_t sample_hash(const struct gprof_profile *p, const struct sample_key *k)
{
	uint64_t hash = gprof_hash_u64(p->samples_table.seed,
				       (uint64_t)k->nr_locations << 32 ^ k->labels);

	return gprof_hash_bytes(hash, k->locations, k->nr_locations * sizeof(*k->locations));
}

int gprof_profile_add_sample(struct gprof_profile *p, const uint32_t *locations,
			     size_t nr_locations, const struct gprof_label *labels,
			     size_t nr_labels, const int64_t *values)
{
	uint32_t set = gprof_profile_label_set(p, labels, nr_labels), index;
	struct sample_key key = { locations, nr_locations, set };
	uint64_t hash;
	size_t i;

	if (set == GPROF_NONE)
		return -ENOMEM;
	hash = sample_hash(p, &key);
	index = gprof_table_find(&p->samples_table, hash, sample_eq, p, &key);
	if (index != GPROF_NONE) {
		int64_t *sum = &p->values[index * p->nr_columns];

		for (i = 0; i < p->nr_columns; i++)
			sum[i] = gprof_sum(sum[i], values[i]);
		return 0;
	}
	if (gprof_profile_append_sample(p, locations, nr_locations, set, values))
		return -ENOMEM;
	if (!gprof_table_insert(&p->samples_table, hash, (uint32_t)p->nr_samples - 1))
		return 0;
	p->nr_samples--;
	p->nr_stacks -= nr_locations;
	p->nr_values -= p->nr_columns;
	return -ENOMEM;
}

int gprof_profile_add_up(struct gprof_profile *p, size_t from)
{
	size_t stacks = from < p->nr_samples ? p->samples[from].locations : p->nr_stacks;
	size_t i, j, kept = from, nr = p->nr_columns;
	int err = 0;

	for (i = from; i < p->nr_samples; i++) {
		struct gprof_sample s = p->samples[i];
		struct sample_key key = { &p->stacks[s.locations], s.nr_locations, s.labels };
		uint64_t hash = sample_hash(p, &key);
		const int64_t *values = &p->values[i * nr];
		uint32_t index = GPROF_NONE;

		if (!err)
			index = gprof_table_find(&p->samples_table, hash, sample_eq, p, &key);
		if (index != GPROF_NONE) {
			int64_t *sum = &p->values[index * nr];

			for (j = 0; j < nr; j++)
				sum[j] = gprof_sum(sum[j], values[j]);
			continue;
		}
		memmove(&p->stacks[stacks], key.locations, s.nr_locations * sizeof(*p->stacks));
		memmove(&p->values[kept * nr], values, nr * sizeof(*values));
		s.locations = stacks;
		stacks += s.nr_locations;
		p->samples[kept] = s;
		if (!err)
			err = gprof_table_insert(&p->samples_table, hash, (uint32_t)kept);
		kept++;
	}
	p->nr_samples = kept;
	p->nr_stacks = stacks;
	p->nr_values = kept * nr;
	return err;
}

static int by_key(const struct gprof_label *x, const struct gprof_label *y)
{
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->str != y->str)
		return x->str < y->str ? -1 : 1;
	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->num < y->num ? -1 : x->num > y->num;
}

static int by_key_of(const void *a, const void *b)
{
	return by_key(a, b);
}

/* They are few, but in an attacker's file. */
void gprof_profile_sort_labels(struct gprof_label *labels, size_t nr)
{
	size_t i, j;

	if (nr > 16) {
		qsort(labels, nr, sizeof(*labels), by_key_of);
		return;
	}
	for (i = 1; i < nr; i++) {
		struct gprof_label l = labels[i];

		for (j = i; j && by_key(&l, &labels[j - 1]) < 0; j--)
			labels[j] = labels[j - 1];
		labels[j] = l;
	}
}

/* A name for an address that has none: "[file+0x...]" or "0x...". */
static uint32_t make_name(struct gprof_profile *p, const struct gprof_location *l)
{
	const char *file = "", *base;
	char text[512];
	size_t inner;

	if (l->mapping) {
		const struct gprof_mapping *m = &p->mappings[l->mapping - 1];

		file = p->strings.v[m->filename];
		base = strrchr(file, '/');
		inner = file[0] ? strcspn(file + 1, "]") : 0;
		/* "[kernel.kallsyms]" and the like go without their brackets. */
		if (file[0] == '[')
			snprintf(text, sizeof(text), "[%.*s+0x%llx]",
				 (int)(inner < NAME_MAX_SHOWN ? inner : NAME_MAX_SHOWN), file + 1,
				 (unsigned long long)l->address);
		else if (file[0])
			snprintf(text, sizeof(text), "[%.*s+0x%llx]", NAME_MAX_SHOWN,
				 base ? base + 1 : file,
				 (unsigned long long)(l->address - m->start + m->offset));
	}
	if (!file[0])
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)l->address);
	return gprof_strings_add(&p->made, text, strlen(text));
}

void gprof_profile_have_samples(struct gprof_profile *p)
{
	gprof_table_free(&p->locations_table);
	gprof_table_free(&p->label_sets_table);
	gprof_table_free(&p->samples_table);
}

void gprof_profile_forget_samples(struct gprof_profile *p)
{
	gprof_profile_have_samples(p);
	gprof_budget_uncharge(&p->budget, p->cap_samples * sizeof(*p->samples) +
						  p->cap_stacks * sizeof(*p->stacks) +
						  p->cap_values * sizeof(*p->values));
	free(p->samples);
	free(p->stacks);
	free(p->values);
	p->samples = NULL;
	p->stacks = NULL;
	p->values = NULL;
	p->nr_samples = p->cap_samples = 0;
	p->nr_stacks = p->cap_stacks = 0;
	p->nr_values = p->cap_values = 0;
}

static size_t deepest(const struct gprof_profile *p)
{
	size_t i, j, max = 0;

	for (i = 0; i < p->nr_samples; i++) {
		const struct gprof_sample *s = &p->samples[i];
		size_t frames = 0;

		for (j = 0; j < s->nr_locations; j++) {
			uint32_t n = p->locations[p->stacks[s->locations + j]].nr_lines;

			frames += n ? n : 1;
		}
		if (frames > max)
			max = frames;
	}
	return max;
}

/* Tables for walks are made here, for later the profile is const. */
int gprof_profile_finish(struct gprof_profile *p)
{
	size_t i;

	free(p->types);
	p->types = calloc(p->nr_columns ? p->nr_columns : 1, sizeof(*p->types));
	if (!p->types)
		return -ENOMEM;
	for (i = 0; i < p->nr_columns; i++) {
		p->types[i].type = p->strings.v[p->columns[i].type];
		p->types[i].unit = p->strings.v[p->columns[i].unit];
	}
	for (i = 0; i < p->nr_locations; i++) {
		struct gprof_location *l = &p->locations[i];

		l->made = l->nr_lines ? 0 : make_name(p, l);
		if (l->made == GPROF_NONE)
			return -ENOMEM;
	}
	if (!p->frames_max)
		p->frames_max = deepest(p);
	return 0;
}
