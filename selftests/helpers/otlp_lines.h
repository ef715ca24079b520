/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * otlp_lines.h: profiles, and requests of OTLP Profiles, as the same lines of text: one for
 * each value that a sample has of a type, with its service, stack and labels.
 *
 * Requests are decoded by the schema, into the messages that protobuf-c makes of it.
 */
#ifndef GPROF_TEST_OTLP_LINES_H
#define GPROF_TEST_OTLP_LINES_H

#include <gprof/otlp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "otlp/schema.h"
#include "profile/profile.h"

typedef Opentelemetry__Proto__Collector__Profiles__V1development__ExportProfilesServiceRequest
	Request;
typedef Opentelemetry__Proto__Profiles__V1development__ProfilesDictionary Dictionary;
typedef Opentelemetry__Proto__Profiles__V1development__ResourceProfiles ResourceProfiles;

#define REQUEST_DESCRIPTOR \
	(&opentelemetry__proto__collector__profiles__v1development__export_profiles_service_request__descriptor)

/* Lines of text, one a sample of a type. */
struct lines {
	char **v;
	size_t nr, cap;
};

static void add_line(struct lines *l, const char *line)
{
	if (!gprof_grow(&l->v, &l->cap, l->nr + 1, sizeof(*l->v)))
		l->v[l->nr++] = strdup(line);
}

static void free_lines(struct lines *l)
{
	while (l->nr)
		free(l->v[--l->nr]);
	free(l->v);
	memset(l, 0, sizeof(*l));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A growing text. */
struct text {
	char *v;
	size_t nr;
	FILE *f;
};

static void text_open(struct text *t)
{
	t->f = open_memstream(&t->v, &t->nr);
}

static void text_end(struct text *t, struct lines *to)
{
	fclose(t->f);
	add_line(to, t->v);
	free(t->v);
}

/* ---- what the profile says ---- */

static const char *said(const struct gprof_profile *p, uint32_t index)
{
	return p->strings.v[index];
}

static const char *renamed(const char *key)
{
	static const char *const names[][2] = {
		{ "pid", "process.pid" }, { "tid", "thread.id" }, { "comm", "thread.name" },
		{ "cpu", "cpu.logical_number" },
	};

	for (size_t i = 0; i < 4; i++)
		if (!strcmp(key, names[i][0]))
			return names[i][1];
	return key;
}

static bool of_service(const char *key)
{
	return !strcmp(key, "service.name") || !strcmp(key, "service.version");
}

static const char *label_text(const struct gprof_profile *p, const struct gprof_sample *s,
			      const char *key)
{
	const struct gprof_label_set *set = &p->label_sets[s->labels];

	for (uint32_t i = 0; i < set->nr; i++)
		if (!strcmp(said(p, p->labels[set->first + i].key), key))
			return said(p, p->labels[set->first + i].str);
	return "";
}

static void say_location(const struct gprof_profile *p, const struct gprof_location *l,
			 bool names, FILE *f)
{
	fprintf(f, "[%llx", (unsigned long long)l->address);
	if (l->mapping) {
		const struct gprof_mapping *m = &p->mappings[l->mapping - 1];

		fprintf(f, " in %llx-%llx+%llx %s %s", (unsigned long long)m->start,
			(unsigned long long)m->limit, (unsigned long long)m->offset,
			said(p, m->filename), said(p, m->build_id));
	}
	for (uint32_t i = 0; names && i < l->nr_lines; i++) {
		const struct gprof_line *line = &p->lines[l->lines + i];
		const struct gprof_function *fn = &p->functions[line->function];

		fprintf(f, " %s/%s/%s:%lld:%lld:%lld", said(p, fn->name),
			said(p, fn->system_name), said(p, fn->filename),
			(long long)fn->start_line, (long long)line->line, (long long)line->column);
	}
	fputc(']', f);
}

static void say_sample(const struct gprof_profile *p, size_t sample, size_t column, bool names,
		       struct lines *to)
{
	const struct gprof_sample *s = &p->samples[sample];
	const char *service = label_text(p, s, "service.name");
	int64_t value = p->values[sample * p->nr_columns + column];
	struct text t;
	const struct gprof_label_set *set = &p->label_sets[s->labels];

	if (!*service)
		service = label_text(p, s, "process.executable.name");
	if (!*service)
		service = label_text(p, s, "comm");
	text_open(&t);
	fprintf(t.f, "%s %s ", *service ? service : "unknown_service",
		label_text(p, s, "service.version"));
	fprintf(t.f, "%s/%s ", said(p, p->columns[column].type), said(p, p->columns[column].unit));
	for (uint32_t i = 0; i < s->nr_locations; i++)
		say_location(p, &p->locations[p->stacks[s->locations + i]], names, t.f);
	for (uint32_t i = 0; i < set->nr; i++) {
		const struct gprof_label *l = &p->labels[set->first + i];

		if (of_service(said(p, l->key)))
			continue;
		fprintf(t.f, " %s=%s", renamed(said(p, l->key)), said(p, l->str));
		if (!l->str)
			fprintf(t.f, "%lld%s", (long long)l->num,
				l->unit == l->key ? "" : said(p, l->unit));
	}
	fprintf(t.f, " %lld", (long long)value);
	text_end(&t, to);
}

static void say_profile(const struct gprof_profile *p, bool names, struct lines *to)
{
	bool any;

	for (size_t i = 0; i < p->nr_samples; i++) {
		any = false;
		for (size_t c = 0; c < p->nr_columns; c++)
			any |= p->values[i * p->nr_columns + c] != 0;
		for (size_t c = 0; c < p->nr_columns; c++)
			if (p->values[i * p->nr_columns + c] || (!any && !c))
				say_sample(p, i, c, names, to);
	}
	qsort(to->v, to->nr, sizeof(*to->v), by_text);
}

/* ---- what requests say ---- */

/**
 * struct read - what was read of requests
 * @lines: of all
 * @requests: how many
 * @samples: as they say
 * @profiles: as they say
 * @dropped: attributes
 * @largest: bytes of a request
 * @most: samples of a request
 * @host: only what is of this one; NULL: all are to be of "here", "": all
 * @with_host: lines begin with the host
 * @once: profiles whose id was there already are left out
 * @wrong: something that must not be
 * @ids: profile ids, as text
 * @heads: types and periods
 */
struct read {
	struct lines lines;
	size_t requests, samples, profiles, dropped, largest, most;
	const char *host;
	bool with_host, once;
	char wrong[256];
	struct lines ids, heads;
};

#define WRONG(r, ...)	snprintf((r)->wrong, sizeof((r)->wrong), __VA_ARGS__)

static const char *str(struct read *r, const Dictionary *d, int32_t index)
{
	if (index < 0 || (size_t)index >= d->n_string_table) {
		WRONG(r, "no string %d", index);
		return "";
	}
	return d->string_table[index];
}

static const char *any_text(const AnyValue *v)
{
	return v && v->value_case == STRING_VALUE ? v->string_value : NULL;
}

static const char *build_id(struct read *r, const Dictionary *d, const Mapping *m)
{
	const KeyValueAndUnit *a;

	if (!m->n_attribute_indices)
		return "";
	a = d->attribute_table[m->attribute_indices[0]];
	if (strncmp(str(r, d, a->key_strindex), "process.executable.build_id.", 28))
		WRONG(r, "a mapping has %s", str(r, d, a->key_strindex));
	return any_text(a->value);
}

static void read_location(struct read *r, const Dictionary *d, const Location *l, FILE *f)
{
	fprintf(f, "[%llx", (unsigned long long)l->address);
	if (l->mapping_index) {
		const Mapping *m = d->mapping_table[l->mapping_index];

		fprintf(f, " in %llx-%llx+%llx %s %s", (unsigned long long)m->memory_start,
			(unsigned long long)m->memory_limit, (unsigned long long)m->file_offset,
			str(r, d, m->filename_strindex), build_id(r, d, m));
	}
	for (size_t i = 0; i < l->n_lines; i++) {
		const Function *fn = d->function_table[l->lines[i]->function_index];

		fprintf(f, " %s/%s/%s:%lld:%lld:%lld", str(r, d, fn->name_strindex),
			str(r, d, fn->system_name_strindex), str(r, d, fn->filename_strindex),
			(long long)fn->start_line, (long long)l->lines[i]->line,
			(long long)l->lines[i]->column);
	}
	fputc(']', f);
}

/* A value of @type, which is the sample's own @times as large. */
static void read_value(struct read *r, const Dictionary *d, const char *service,
		       const Sample *s, const ValueType *type, int64_t times)
{
	const Stack *stack = d->stack_table[s->stack_index];
	struct text t;

	text_open(&t);
	fprintf(t.f, "%s%s/%s ", service, str(r, d, type->type_strindex),
		str(r, d, type->unit_strindex));
	for (size_t i = 0; i < stack->n_location_indices; i++)
		read_location(r, d, d->location_table[stack->location_indices[i]], t.f);
	for (size_t i = 0; i < s->n_attribute_indices; i++) {
		const KeyValueAndUnit *a = d->attribute_table[s->attribute_indices[i]];

		fprintf(t.f, " %s=", str(r, d, a->key_strindex));
		if (a->value->value_case == INT_VALUE)
			fprintf(t.f, "%lld%s", (long long)a->value->int_value,
				str(r, d, a->unit_strindex));
		else
			fprintf(t.f, "%s", any_text(a->value));
	}
	if (s->n_values != 1)
		WRONG(r, "a sample has %zu values", s->n_values);
	else
		fprintf(t.f, " %lld", (long long)(s->values[0] * times));
	text_end(&t, &r->lines);
}

/* Engines, Pyroscope for one, make CPU time of counts of samples that have a period in it. */
static bool means_time(struct read *r, const Dictionary *d, const Profile *p)
{
	return p->period_type && !strcmp(str(r, d, p->sample_type->type_strindex), "samples") &&
	       !strcmp(str(r, d, p->sample_type->unit_strindex), "count") &&
	       !strcmp(str(r, d, p->period_type->type_strindex), "cpu") &&
	       !strcmp(str(r, d, p->period_type->unit_strindex), "nanoseconds");
}

static void read_sample(struct read *r, const Dictionary *d, const char *service,
			const Profile *p, const Sample *s)
{
	read_value(r, d, service, s, p->sample_type, 1);
	/* One that has no value has none in nanoseconds either. */
	if (means_time(r, d, p) && s->n_values == 1 && s->values[0])
		read_value(r, d, service, s, p->period_type, p->period);
}

/* Whether the profile is one that was not there yet. */
static bool read_head(struct read *r, const Dictionary *d, const Profile *p)
{
	char head[512], id[2 * GPROF_OTLP_ID_SIZE + 1] = "";
	bool is_new = true;

	snprintf(head, sizeof(head), "%s/%s period %lld", str(r, d, p->sample_type->type_strindex),
		 str(r, d, p->sample_type->unit_strindex), (long long)p->period);
	if (p->period_type)
		snprintf(head + strlen(head), sizeof(head) - strlen(head), " of %s/%s",
			 str(r, d, p->period_type->type_strindex),
			 str(r, d, p->period_type->unit_strindex));
	add_line(&r->heads, head);
	for (size_t i = 0; i < p->profile_id.len && i < GPROF_OTLP_ID_SIZE; i++)
		sprintf(id + 2 * i, "%02x", p->profile_id.data[i]);
	for (size_t i = 0; r->once && i < r->ids.nr; i++)
		is_new &= !!strcmp(r->ids.v[i], id);
	if (*id)
		add_line(&r->ids, id);
	r->dropped += p->dropped_attributes_count;
	return is_new;
}

static void read_resource(struct read *r, const Dictionary *d, const ResourceProfiles *rp)
{
	const char *name = NULL, *version = "", *host = "";
	char service[768];

	for (size_t i = 0; i < rp->resource->n_attributes; i++) {
		const KeyValue *kv = rp->resource->attributes[i];

		if (!strcmp(kv->key, "service.name"))
			name = any_text(kv->value);
		else if (!strcmp(kv->key, "service.version"))
			version = any_text(kv->value);
		else if (strcmp(kv->key, "host.name"))
			WRONG(r, "a resource has %s", kv->key);
		else
			host = any_text(kv->value);
	}
	if (!r->host && strcmp(host, "here"))
		WRONG(r, "a resource is of \"%s\"", host);
	if (r->host && r->host[0] && strcmp(r->host, host))
		return;
	snprintf(service, sizeof(service), "%s%s%s %s ", r->with_host ? host : "",
		 r->with_host ? " " : "", name ? name : "(none)", version);
	if (rp->n_scope_profiles != 1 || strcmp(rp->scope_profiles[0]->scope->name, "gprof"))
		WRONG(r, "not one scope");
	for (size_t i = 0; i < rp->scope_profiles[0]->n_profiles; i++) {
		const Profile *p = rp->scope_profiles[0]->profiles[i];

		r->profiles--;
		if (!read_head(r, d, p))
			continue;
		if (!p->n_samples)
			WRONG(r, "a profile without samples");
		for (size_t j = 0; j < p->n_samples; j++)
			read_sample(r, d, service, p, p->samples[j]);
	}
}

/* A table's first item says nothing, and none is there twice. */
static void check_table(struct read *r, const char *name, size_t nr, ProtobufCMessage *const *v,
			size_t zero)
{
	struct lines items = { 0 };
	uint8_t *packed;
	size_t i, j, len;

	if (!nr || protobuf_c_message_get_packed_size(v[0]) != zero)
		WRONG(r, "%s does not begin with nothing", name);
	for (i = 0; i < nr; i++) {
		struct text t;

		len = protobuf_c_message_get_packed_size(v[i]);
		packed = malloc(len + 1);
		protobuf_c_message_pack(v[i], packed);
		text_open(&t);
		for (j = 0; j < len; j++)
			fprintf(t.f, "%02x", packed[j]);
		text_end(&t, &items);
		free(packed);
	}
	qsort(items.v, items.nr, sizeof(*items.v), by_text);
	for (i = 1; i < items.nr; i++)
		if (!strcmp(items.v[i - 1], items.v[i]))
			WRONG(r, "%s has an item twice", name);
	free_lines(&items);
}

#define TABLE(r, d, name, zero) \
	check_table(r, #name, (d)->n_##name, (ProtobufCMessage *const *)(d)->name, zero)

static void check_dictionary(struct read *r, const Dictionary *d)
{
	TABLE(r, d, mapping_table, 0);
	TABLE(r, d, location_table, 0);
	TABLE(r, d, function_table, 0);
	TABLE(r, d, attribute_table, 0);
	TABLE(r, d, stack_table, 0);
	/* All zeros are as long as an id. */
	TABLE(r, d, link_table, 16 + 8 + 4);
	if (!d->n_string_table || d->string_table[0][0])
		WRONG(r, "the strings do not begin with none");
	for (size_t i = 1; i < d->n_string_table; i++)
		if (!d->string_table[i][0])
			WRONG(r, "string %zu is empty", i);
}

/* What a request has is needed by it: no location, function or mapping is left over. */
static void check_orphans(struct read *r, const Request *q)
{
	const Dictionary *d = q->dictionary;
	bool *stacks = calloc(d->n_stack_table, 1), *locations = calloc(d->n_location_table, 1);
	bool *functions = calloc(d->n_function_table, 1), *mappings = calloc(d->n_mapping_table, 1);
	size_t i, j, k, left = 0;

	for (i = 0; i < q->n_resource_profiles; i++)
		for (j = 0; j < q->resource_profiles[i]->scope_profiles[0]->n_profiles; j++) {
			const Profile *p = q->resource_profiles[i]->scope_profiles[0]->profiles[j];

			for (k = 0; k < p->n_samples; k++)
				stacks[p->samples[k]->stack_index] = true;
		}
	for (i = 0; i < d->n_stack_table; i++)
		for (j = 0; j < d->stack_table[i]->n_location_indices; j++)
			locations[d->stack_table[i]->location_indices[j]] = true;
	for (i = 0; i < d->n_location_table; i++) {
		mappings[d->location_table[i]->mapping_index] = true;
		for (j = 0; j < d->location_table[i]->n_lines; j++)
			functions[d->location_table[i]->lines[j]->function_index] = true;
	}
	for (i = 1; i < d->n_stack_table; i++)
		left += !stacks[i];
	for (i = 1; i < d->n_location_table; i++)
		left += !locations[i];
	for (i = 1; i < d->n_function_table; i++)
		left += !functions[i];
	for (i = 1; i < d->n_mapping_table; i++)
		left += !mappings[i];
	if (left)
		WRONG(r, "%zu items belong to nothing", left);
	free(stacks);
	free(locations);
	free(functions);
	free(mappings);
}

static int read_request(void *ctx, const struct gprof_otlp_request *request)
{
	struct read *r = ctx;
	Request *q = (Request *)protobuf_c_message_unpack(REQUEST_DESCRIPTOR, NULL, request->size,
							  request->data);

	r->requests++;
	r->samples += request->samples;
	r->profiles += request->profiles;
	if (request->size > r->largest)
		r->largest = request->size;
	if (request->samples > r->most)
		r->most = request->samples;
	if (!q || !q->dictionary) {
		WRONG(r, "request %zu cannot be read", r->requests);
		return 0;
	}
	/* Who hands it on writes it as it likes. */
	if (!r->host) {
		check_dictionary(r, q->dictionary);
		check_orphans(r, q);
	}
	for (size_t i = 0; i < q->n_resource_profiles; i++)
		read_resource(r, q->dictionary, q->resource_profiles[i]);
	protobuf_c_message_free_unpacked(&q->base, NULL);
	return 0;
}

static void free_read(struct read *r)
{
	free_lines(&r->lines);
	free_lines(&r->ids);
	free_lines(&r->heads);
	memset(r, 0, sizeof(*r));
}

#endif
