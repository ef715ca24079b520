// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * export.c: a profile as requests of OTLP Profiles.
 *
 * Samples are taken service by service. Those of one service that are in one request are a
 * batch: a profile is written of it for each type. When a sample makes the request too
 * large, the request ends without it, and it is the first one of the next.
 */
#include <errno.h>
#include <gprof/otlp.h>
#include <gprof/version.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/wire.h"
#include "dictionary.h"
#include "profile/profile.h"
#include "schema.h"
#include "services.h"

#define BYTES_DEFAULT	(4U << 20)
#define BYTES_MIN	1024
#define SAMPLES_DEFAULT	16000
#define HOST_MAX	255
#define UNKNOWN_SERVICE	"unknown_service"
/* Limit on the size of requests, as a multiple of the profile, and at least. */
#define WORK_FACTOR	16
#define WORK_LEAST	(64U << 20)

/* Fields of messages that are written piece by piece. */
#define REQUEST_RESOURCE	1
#define REQUEST_DICTIONARY	2
#define RESOURCE_RESOURCE	1
#define RESOURCE_SCOPES		2
#define SCOPE_SCOPE		1
#define SCOPE_PROFILES		2
#define PROFILE_SAMPLES		2
#define SAMPLE_STACK		1
#define SAMPLE_ATTRIBUTES	2
#define SAMPLE_VALUES		4

/* Most bytes of: a sample but for its attributes, an attribute's index, heads. */
#define SAMPLE_BYTES	30
#define INDEX_BYTES	5
#define PROFILE_BYTES	120
#define SERVICE_BYTES	320
/* And as pprof has them: with a stack of its own, and each mapping that it is in. */
#define PPROF_SAMPLE	24
#define PPROF_PLACE	3
#define PPROF_LABEL	12
#define PPROF_MAPPING	56

/**
 * struct sample_plan - a sample of the batch
 * @sample: which
 * @stack: number of its stack
 */
struct sample_plan {
	uint32_t sample;
	int32_t stack;
};

/**
 * struct attributes - a set of labels as attributes of a request
 * @request: in which, 0: in none yet
 * @first: where they begin among the request's
 * @nr: how many
 * @dropped: labels that cannot be any
 */
struct attributes {
	uint64_t request;
	size_t first;
	uint32_t nr;
	uint32_t dropped;
};

/* Bytes of a sample, at most. */
struct cost {
	uint64_t otlp;
	uint64_t pprof;
};

/**
 * struct exporter - on the way through a profile
 * @p: profile
 * @o: options
 * @request: receives requests
 * @ctx: for it
 * @follows: column that is not sent, since it follows from another and the period; or GPROF_NONE
 * @alone: column of counts from which nothing follows, or GPROF_NONE
 * @services: order of samples
 * @dictionary: of this request
 * @comments: attribute, or 0
 * @body: of this request: resources that are complete
 * @profile: room for the profile in the making
 * @scope: likewise
 * @resource: likewise
 * @batch: samples of this service in this request
 * @attributes: of this request
 * @sets: which of them are those of a set of labels
 * @requests: that were begun
 * @dropped: attributes that the batch's samples could not have
 * @seen: for each text of the dictionary, the last look at a sample that had it as a key
 * @cap_seen: elements of it
 * @looks: counts looks
 * @bytes: of the request so far, at most, without the dictionary
 * @pprof: of a profile of this batch, were it pprof's, likewise
 * @samples: in this request
 * @profiles: in this request
 * @serial: profiles in all
 * @too_large: samples that fit nowhere
 * @work: bytes made so far
 * @work_max: most that there may be
 */
struct exporter {
	const struct gprof_profile *p;
	struct gprof_otlp_opts o;
	int (*request)(void *ctx, const struct gprof_otlp_request *r);
	void *ctx;
	uint32_t follows;
	uint32_t alone;
	struct gprof_otlp_services services;
	struct gprof_otlp_dictionary dictionary;
	int32_t comments;
	struct gprof_wire body;
	struct gprof_wire profile;
	struct gprof_wire scope;
	struct gprof_wire resource;
	struct sample_plan *batch;
	size_t nr_batch;
	size_t cap_batch;
	uint32_t *attributes;
	size_t nr_attributes;
	size_t cap_attributes;
	struct attributes *sets;
	uint64_t requests;
	uint32_t dropped;
	uint64_t *seen;
	size_t cap_seen;
	uint64_t looks;
	uint64_t bytes;
	uint64_t pprof;
	size_t samples;
	size_t profiles;
	uint64_t serial;
	size_t too_large;
	uint64_t work;
	uint64_t work_max;
};

/* A type's name without the character that some engines refuse. */
static int32_t type_name(struct exporter *e, uint32_t index)
{
	char *copy = strdup(e->p->strings.v[index]), *c;
	int32_t number = 0;

	if (!copy) {
		e->dictionary.failed = true;
		return 0;
	}
	for (c = copy; *c; c++)
		if (*c == '-')
			*c = '_';
	number = gprof_otlp_string(&e->dictionary, copy);
	free(copy);
	return number;
}

static void type_of(struct exporter *e, const struct gprof_column *c, ValueType *type)
{
	*type = (ValueType)VALUE_TYPE_INIT;
	type->type_strindex = type_name(e, c->type);
	type->unit_strindex = gprof_otlp_string(&e->dictionary, e->p->strings.v[c->unit]);
}

static bool has_no_period(const struct gprof_profile *p, const struct gprof_column *c)
{
	return !strcmp(p->strings.v[c->type], "off_cpu") &&
	       !strcmp(p->strings.v[c->unit], "nanoseconds");
}

static uint32_t find_column(const struct gprof_profile *p, const char *type, const char *unit)
{
	uint32_t i;

	for (i = 0; i < p->nr_columns; i++)
		if (!strcmp(p->strings.v[p->columns[i].type], type) &&
		    !strcmp(p->strings.v[p->columns[i].unit], unit))
			return i;
	return GPROF_NONE;
}

/*
 * Engines make CPU time of counts of samples that have a period in it, by multiplying: were
 * the time itself sent as well it would be there twice.
 */
static void find_time(struct exporter *e)
{
	const struct gprof_profile *p = e->p;
	uint32_t counts = find_column(p, "samples", "count");
	uint32_t time = find_column(p, "cpu", "nanoseconds");
	const int64_t *values = p->values;
	int64_t product;
	size_t i;

	e->follows = e->alone = GPROF_NONE;
	if (counts == GPROF_NONE || time == GPROF_NONE || p->period <= 0 ||
	    p->period_type.type != p->columns[time].type ||
	    p->period_type.unit != p->columns[time].unit)
		return;
	e->alone = counts;
	for (i = 0; i < p->nr_samples; i++, values += p->nr_columns)
		if (__builtin_mul_overflow(values[counts], p->period, &product) ||
		    product != values[time])
			return;
	/* A sample without a value goes with the first. */
	if (counts > time)
		return;
	e->follows = time;
	e->alone = GPROF_NONE;
}

static void type_and_period(struct exporter *e, size_t column, ValueType *type, ValueType *period,
			    Profile *head)
{
	const struct gprof_column *c = &e->p->columns[column];
	const struct gprof_column *of = &e->p->period_type;

	type_of(e, c, type);
	head->sample_type = type;
	if (has_no_period(e->p, c))
		return;
	head->period = e->p->period;
	if (e->p->period <= 0 || !e->p->strings.v[of->type][0] || column == e->alone) {
		of = c;
		head->period = 1;
	}
	type_of(e, of, period);
	head->period_type = period;
}

/* Types come before all samples: a request may end as it was before its last one. */
static void begin_request(struct exporter *e)
{
	ValueType type, period;
	Profile head = PROFILE_INIT;
	size_t i;

	gprof_wire_clear(&e->body);
	gprof_otlp_dictionary_begin(&e->dictionary);
	e->requests++;
	e->nr_attributes = 0;
	e->bytes = 0;
	e->samples = 0;
	e->profiles = 0;
	for (i = 0; i < e->p->nr_columns; i++)
		if (i != e->follows)
			type_and_period(e, i, &type, &period, &head);
	e->comments = gprof_otlp_comments(&e->dictionary);
}

static void profile_id(const struct exporter *e, uint8_t id[GPROF_OTLP_ID_SIZE])
{
	uint8_t name[GPROF_OTLP_ID_SIZE + sizeof(e->serial)];
	uint64_t half;
	size_t i;

	memcpy(name, e->o.id, GPROF_OTLP_ID_SIZE);
	memcpy(name + GPROF_OTLP_ID_SIZE, &e->serial, sizeof(e->serial));
	for (i = 0; i < GPROF_OTLP_ID_SIZE; i += sizeof(half)) {
		half = gprof_hash_bytes(i + 1, name, sizeof(name));
		memcpy(id + i, &half, sizeof(half));
	}
}

/* Whether a sample goes with a column: where it has a value, and somewhere. */
static bool goes_with(const struct gprof_profile *p, uint32_t sample, size_t column)
{
	const int64_t *values = &p->values[(size_t)sample * p->nr_columns];
	size_t i;

	if (values[column] || column)
		return values[column];
	for (i = 1; i < p->nr_columns; i++)
		if (values[i])
			return false;
	return true;
}

static uint64_t nanoseconds(int64_t t)
{
	return t > 0 ? (uint64_t)t : 0;
}

static void put_sample(struct exporter *e, const struct sample_plan *t, size_t column)
{
	const int64_t *values = &e->p->values[(size_t)t->sample * e->p->nr_columns];
	const struct attributes *a = &e->sets[e->p->samples[t->sample].labels];
	size_t at = gprof_wire_open(&e->profile, PROFILE_SAMPLES), packed;

	gprof_wire_number(&e->profile, SAMPLE_STACK, (uint32_t)t->stack);
	/* There may be none at all. */
	if (a->nr)
		gprof_wire_indexes(&e->profile, SAMPLE_ATTRIBUTES, e->attributes + a->first, a->nr, 0);
	packed = gprof_wire_open(&e->profile, SAMPLE_VALUES);
	gprof_wire_varint(&e->profile, (uint64_t)values[column]);
	gprof_wire_close(&e->profile, packed);
	gprof_wire_close(&e->profile, at);
}

static void put_profile(struct exporter *e, size_t column)
{
	uint8_t id[GPROF_OTLP_ID_SIZE];
	ValueType type, period;
	Profile head = PROFILE_INIT;
	size_t i;

	gprof_wire_clear(&e->profile);
	for (i = 0; i < e->nr_batch; i++)
		if (goes_with(e->p, e->batch[i].sample, column))
			put_sample(e, &e->batch[i], column);
	if (!e->profile.nr)
		return;
	type_and_period(e, column, &type, &period, &head);
	head.time_unix_nano = nanoseconds(e->p->time_nanos);
	head.duration_nano = nanoseconds(e->p->duration_nanos);
	if (e->o.id) {
		profile_id(e, id);
		head.profile_id = (ProtobufCBinaryData){ sizeof(id), id };
	}
	head.dropped_attributes_count = e->dropped;
	if (e->comments > 0) {
		head.n_attribute_indices = 1;
		head.attribute_indices = &e->comments;
	} else if (e->comments < 0) {
		head.dropped_attributes_count++;
	}
	gprof_otlp_fields(&e->profile, &head.base);
	gprof_wire_bytes(&e->scope, SCOPE_PROFILES, e->profile.v, e->profile.nr);
	e->serial++;
	e->profiles++;
}

static void put_resource(struct exporter *e, const struct gprof_otlp_service *service)
{
	KeyValue pairs[GPROF_OTLP_SERVICE_KEYS + 1], *ptrs[GPROF_OTLP_SERVICE_KEYS + 1];
	AnyValue values[GPROF_OTLP_SERVICE_KEYS + 1];
	Resource resource = RESOURCE_INIT;
	size_t k, nr = 0;

	for (k = 0; k <= GPROF_OTLP_SERVICE_KEYS; k++) {
		const char *key = "host.name", *text = e->o.host;

		if (k < GPROF_OTLP_SERVICE_KEYS) {
			key = gprof_otlp_service_keys[k];
			text = e->p->strings.v[service->text[k]];
			if (!k && !text[0])
				text = UNKNOWN_SERVICE;
		}
		if (!text || !text[0])
			continue;
		values[nr] = (AnyValue)ANY_VALUE_INIT;
		values[nr].value_case = STRING_VALUE;
		values[nr].string_value = (char *)text;
		pairs[nr] = (KeyValue)KEY_VALUE_INIT;
		pairs[nr].key = (char *)key;
		pairs[nr].value = &values[nr];
		ptrs[nr] = &pairs[nr];
		nr++;
	}
	resource.n_attributes = nr;
	resource.attributes = ptrs;
	gprof_otlp_message(&e->resource, RESOURCE_RESOURCE, &resource.base);
}

/* All there is of a service in this request. */
static void end_batch(struct exporter *e, const struct gprof_otlp_service *service)
{
	Scope scope = SCOPE_INIT;
	size_t i;

	if (e->nr_batch) {
		gprof_wire_clear(&e->resource);
		gprof_wire_clear(&e->scope);
		scope.name = (char *)"gprof";
		scope.version = (char *)GPROF_VERSION;
		gprof_otlp_message(&e->scope, SCOPE_SCOPE, &scope.base);
		for (i = 0; i < e->p->nr_columns; i++)
			if (i != e->follows)
				put_profile(e, i);
		put_resource(e, service);
		gprof_wire_bytes(&e->resource, RESOURCE_SCOPES, e->scope.v, e->scope.nr);
		gprof_wire_bytes(&e->body, REQUEST_RESOURCE, e->resource.v, e->resource.nr);
	}
	e->nr_batch = 0;
	e->dropped = 0;
	e->pprof = 0;
}

static bool failed(const struct exporter *e)
{
	return e->dictionary.failed || e->body.failed || e->profile.failed || e->scope.failed ||
	       e->resource.failed;
}

/*
 * A profile repeats little in its requests, unless it is made so that each sample needs another
 * large part of it.
 */
static void allow_work(struct exporter *e)
{
	const struct gprof_profile *p = e->p;
	uint64_t size = p->nr_samples * (sizeof(*p->samples) + p->nr_columns * sizeof(*p->values));
	size_t i;

	for (i = 0; i < p->strings.nr; i++)
		size += strlen(p->strings.v[i]);
	size += p->nr_stacks * sizeof(*p->stacks) + p->nr_labels * sizeof(*p->labels) +
		p->nr_locations * sizeof(*p->locations) + p->nr_lines * sizeof(*p->lines) +
		p->nr_functions * sizeof(*p->functions) + p->nr_mappings * sizeof(*p->mappings);
	e->work_max = WORK_LEAST + WORK_FACTOR * size;
}

static int did_work(struct exporter *e, uint64_t bytes)
{
	e->work += bytes;
	if (e->work <= e->work_max)
		return 0;
	return gprof_error_set(NULL, EFBIG, "the profile would become requests of %d times its "
			       "size: nearly each of its samples needs others of its long names",
			       WORK_FACTOR);
}

static int end_request(struct exporter *e, const struct gprof_otlp_mark *mark)
{
	struct gprof_otlp_request r = { 0 };
	int ret = 0;

	if (e->samples) {
		gprof_otlp_dictionary_put(&e->dictionary, mark, &e->body, REQUEST_DICTIONARY);
		if (failed(e))
			return -ENOMEM;
		r.data = e->body.v;
		r.size = e->body.nr;
		r.samples = e->samples;
		r.profiles = e->profiles;
		ret = did_work(e, r.size);
		if (!ret)
			ret = e->request(e->ctx, &r);
	}
	begin_request(e);
	return ret;
}

/* Whether a key was not yet there at this look. */
static bool first_with(struct exporter *e, uint32_t key)
{
	size_t had = e->cap_seen;

	if (gprof_grow(&e->seen, &e->cap_seen, (size_t)key + 1, sizeof(*e->seen))) {
		e->dictionary.failed = true;
		return false;
	}
	if (e->cap_seen > had)
		memset(e->seen + had, 0, (e->cap_seen - had) * sizeof(*e->seen));
	if (e->seen[key] == e->looks)
		return false;
	e->seen[key] = e->looks;
	return true;
}

/* Add the attributes of a set of labels, of which there may be one with a key. */
static int add_attributes(struct exporter *e, const struct gprof_label_set *set,
			  struct attributes *a)
{
	uint32_t i, key, of_service = 0;
	int32_t number;
	int k;

	*a = (struct attributes){ .request = e->requests, .first = e->nr_attributes };
	e->looks++;
	if (gprof_grow(&e->attributes, &e->cap_attributes, e->nr_attributes + set->nr,
		       sizeof(*e->attributes)))
		return -ENOMEM;
	for (i = 0; i < set->nr; i++) {
		const struct gprof_label *l = &e->p->labels[set->first + i];

		k = gprof_otlp_services_key(&e->services, l);
		if (k >= 0) {
			/* A service has the first as well. */
			a->dropped += of_service >> k & 1;
			of_service |= 1U << k;
			continue;
		}
		number = gprof_otlp_label(&e->dictionary, l, &key);
		if (key && first_with(e, key))
			e->attributes[e->nr_attributes + a->nr++] = (uint32_t)number;
		else
			a->dropped++;
	}
	e->nr_attributes += a->nr;
	return 0;
}

/* Those of a set, which most often other samples of the request have as well; or NULL. */
static const struct attributes *attributes_of(struct exporter *e, uint32_t labels)
{
	struct attributes *a = &e->sets[labels];

	if (a->request != e->requests && add_attributes(e, &e->p->label_sets[labels], a))
		return NULL;
	return a;
}

/* pprof's are as large as the sum of their samples, which share no stacks. */
static void weigh(const struct exporter *e, const struct gprof_sample *s,
		  const struct attributes *a, uint32_t mappings, struct cost *cost)
{
	cost->otlp = e->p->nr_columns * (SAMPLE_BYTES + (uint64_t)INDEX_BYTES * a->nr);
	cost->pprof = PPROF_SAMPLE + (uint64_t)PPROF_LABEL * a->nr +
		      (uint64_t)PPROF_PLACE * s->nr_locations + (uint64_t)PPROF_MAPPING * mappings;
	/* The first batch of a service has the parts that all of its batches share. */
	if (!e->nr_batch) {
		cost->otlp += SERVICE_BYTES + e->p->nr_columns * PROFILE_BYTES;
		if (e->o.host)
			cost->otlp += strlen(e->o.host);
	}
}

static uint64_t service_bytes(const struct exporter *e, const struct gprof_otlp_service *service)
{
	uint64_t sum = 0;
	size_t k;

	for (k = 0; k < GPROF_OTLP_SERVICE_KEYS; k++)
		sum += strlen(e->p->strings.v[service->text[k]]);
	return sum;
}

/* Return: 0, -EFBIG when the request has no room for it, -ENOMEM. */
static int plan_sample(struct exporter *e, const struct gprof_otlp_service *service,
		       uint32_t index)
{
	const struct gprof_sample *s = &e->p->samples[index];
	struct sample_plan t = { .sample = index };
	const struct attributes *a;
	uint32_t mappings = 0;
	struct cost cost;
	uint64_t dictionary;

	if (e->samples >= e->o.samples_max)
		return -EFBIG;
	t.stack = gprof_otlp_stack(&e->dictionary, s, &mappings);
	if (t.stack < 0)
		return -EFBIG;
	a = attributes_of(e, s->labels);
	if (!a || e->dictionary.failed ||
	    gprof_grow(&e->batch, &e->cap_batch, e->nr_batch + 1, sizeof(*e->batch)))
		return -ENOMEM;
	weigh(e, s, a, mappings, &cost);
	if (!e->nr_batch)
		cost.otlp += service_bytes(e, service);
	dictionary = gprof_otlp_dictionary_size(&e->dictionary);
	if (dictionary + e->bytes + cost.otlp > e->o.bytes_max ||
	    dictionary + e->pprof + cost.pprof > e->o.bytes_max)
		return -EFBIG;
	e->batch[e->nr_batch++] = t;
	e->dropped += a->dropped;
	e->bytes += cost.otlp;
	e->pprof += cost.pprof;
	e->samples++;
	return 0;
}

/* Return: 0 when it is in a request or in none, the return of a callback, -ENOMEM. */
static int place_sample(struct exporter *e, const struct gprof_otlp_service *service,
			uint32_t index)
{
	struct gprof_otlp_mark mark;
	int ret;

	gprof_otlp_dictionary_mark(&e->dictionary, &mark);
	ret = plan_sample(e, service, index);
	if (ret != -EFBIG)
		return ret;
	if (e->samples) {
		end_batch(e, service);
		ret = end_request(e, &mark);
		if (ret)
			return ret;
		ret = plan_sample(e, service, index);
		if (ret != -EFBIG)
			return ret;
	}
	/* Alone in a request, and too large: its items in the dictionary go too. */
	e->too_large++;
	ret = did_work(e, gprof_otlp_dictionary_size(&e->dictionary));
	begin_request(e);
	return ret;
}

static int export_all(struct exporter *e)
{
	struct gprof_otlp_mark mark;
	size_t i, at = 0;
	int ret;

	find_time(e);
	allow_work(e);
	begin_request(e);
	for (i = 0; i < e->services.nr; i++) {
		const struct gprof_otlp_service *service = &e->services.v[i];

		for (; at < e->services.ends[i]; at++) {
			ret = place_sample(e, service, e->services.order[at]);
			if (ret)
				return ret;
		}
		end_batch(e, service);
	}
	gprof_otlp_dictionary_mark(&e->dictionary, &mark);
	ret = end_request(e, &mark);
	return ret ? ret : failed(e) ? -ENOMEM : 0;
}

static int copy_opts(const struct gprof_otlp_opts *opts, struct gprof_otlp_opts *o)
{
	int err = 0;

	if (opts)
		err = gprof_opts_copy_in(o, sizeof(*o),
					 GPROF_SIZE_WITH(struct gprof_otlp_opts, flags), opts,
					 "gprof_otlp_opts", NULL);
	if (err)
		return err;
	if (o->flags & ~GPROF_OTLP_NO_NAMES)
		return gprof_error_set(NULL, E2BIG, "gprof_otlp_opts has flags that this library "
				       "does not know (0x%x)", o->flags);
	if (!o->bytes_max)
		o->bytes_max = BYTES_DEFAULT;
	if (!o->samples_max)
		o->samples_max = SAMPLES_DEFAULT;
	if (o->bytes_max < BYTES_MIN || o->bytes_max > INT32_MAX)
		return gprof_error_set(NULL, EINVAL, "a request is to have %llu bytes at most, but "
				       "that has to be a number from %u to 2147483647",
				       (unsigned long long)o->bytes_max, BYTES_MIN);
	if (o->host && strlen(o->host) > HOST_MAX)
		return gprof_error_set(NULL, EINVAL, "the name of the host is longer than the %d "
				       "bytes that it may have", HOST_MAX);
	return 0;
}

int gprof_otlp_export(const struct gprof_profile *p, const struct gprof_otlp_opts *opts,
		      int (*request)(void *ctx, const struct gprof_otlp_request *r), void *ctx,
		      size_t *too_large)
{
	struct exporter e = { .p = p, .request = request, .ctx = ctx };
	int ret = copy_opts(opts, &e.o);

	if (too_large)
		*too_large = 0;
	/* Without a type there are no values. */
	if (ret || !p->nr_columns)
		return ret;
	ret = gprof_otlp_dictionary_init(&e.dictionary, p);
	if (!ret)
		ret = gprof_otlp_services_init(&e.services, p);
	e.sets = calloc(p->nr_label_sets + 1, sizeof(*e.sets));
	if (!ret && !e.sets)
		ret = -ENOMEM;
	e.dictionary.no_names = e.o.flags & GPROF_OTLP_NO_NAMES;
	e.dictionary.bytes_max = e.o.bytes_max;
	if (!ret)
		ret = export_all(&e);
	if (ret == -ENOMEM)
		gprof_error_set(NULL, ENOMEM, "no memory for the requests of a profile");
	if (too_large)
		*too_large = e.too_large;
	gprof_otlp_dictionary_free(&e.dictionary);
	gprof_otlp_services_free(&e.services);
	gprof_wire_free(&e.body);
	gprof_wire_free(&e.profile);
	gprof_wire_free(&e.scope);
	gprof_wire_free(&e.resource);
	free(e.batch);
	free(e.attributes);
	free(e.sets);
	free(e.seen);
	return ret;
}
