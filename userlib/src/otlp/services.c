// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * services.c: which service each sample of a profile is of.
 */
#include "services.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const gprof_otlp_service_keys[GPROF_OTLP_SERVICE_KEYS] = {
	"service.name", "service.namespace", "service.version", "service.instance.id",
	"deployment.environment.name",
};

static void find_keys(struct gprof_otlp_services *s, const struct gprof_profile *p)
{
	size_t i, k;

	memset(s->keys, 0xff, sizeof(s->keys));
	s->comm = s->process = GPROF_NONE;
	for (i = 0; i < p->strings.nr; i++) {
		const char *text = p->strings.v[i];

		if (text[0] == 'c' && !strcmp(text, "comm"))
			s->comm = (uint32_t)i;
		if (text[0] == 'p' && !strcmp(text, "process.executable.name"))
			s->process = (uint32_t)i;
		if (text[0] != 's' && text[0] != 'd')
			continue;
		for (k = 0; k < GPROF_OTLP_SERVICE_KEYS; k++)
			if (!strcmp(text, gprof_otlp_service_keys[k]))
				s->keys[k] = (uint32_t)i;
	}
}

int gprof_otlp_services_key(const struct gprof_otlp_services *s, const struct gprof_label *l)
{
	int k;

	for (k = 0; k < GPROF_OTLP_SERVICE_KEYS; k++)
		if (l->key == s->keys[k])
			return l->str ? k : -1;
	return -1;
}

static void read_labels(const struct gprof_otlp_services *s, const struct gprof_profile *p,
			const struct gprof_label_set *set, struct gprof_otlp_service *service)
{
	uint32_t i, comm = 0, process = 0;
	int k;

	memset(service, 0, sizeof(*service));
	for (i = 0; i < set->nr; i++) {
		const struct gprof_label *l = &p->labels[set->first + i];

		k = gprof_otlp_services_key(s, l);
		if (k >= 0 && !service->text[k])
			service->text[k] = l->str;
		if (l->key == s->comm && !comm)
			comm = l->str;
		if (l->key == s->process && !process)
			process = l->str;
	}
	if (!service->text[0])
		service->text[0] = process ? process : comm;
}

static bool same_service(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_otlp_services *s = ctx;

	return !memcmp(&s->v[index], key, sizeof(s->v[index]));
}

static uint32_t number_of(struct gprof_otlp_services *s, const struct gprof_otlp_service *service)
{
	uint64_t hash = gprof_hash_bytes(s->index.seed, service, sizeof(*service));
	uint32_t found = gprof_table_find(&s->index, hash, same_service, s, service);

	if (found != GPROF_NONE)
		return found;
	if (gprof_grow(&s->v, &s->cap, s->nr + 1, sizeof(*s->v)) ||
	    gprof_table_insert(&s->index, hash, (uint32_t)s->nr))
		return GPROF_NONE;
	s->v[s->nr] = *service;
	return (uint32_t)s->nr++;
}

/* Where each sample goes when each service has its own place. */
static void sort(struct gprof_otlp_services *s, const uint32_t *of, size_t nr)
{
	size_t i, at = 0, count;

	for (i = 0; i < nr; i++)
		s->ends[of[i]]++;
	for (i = 0; i < s->nr; i++) {
		count = s->ends[i];
		s->ends[i] = at;
		at += count;
	}
	for (i = 0; i < nr; i++)
		s->order[s->ends[of[i]]++] = (uint32_t)i;
}

int gprof_otlp_services_init(struct gprof_otlp_services *s, const struct gprof_profile *p)
{
	struct gprof_otlp_service service;
	uint32_t *of, *of_set;
	size_t i;

	memset(s, 0, sizeof(*s));
	gprof_table_init(&s->index);
	find_keys(s, p);
	of = calloc(p->nr_samples + 1, sizeof(*of));
	of_set = malloc((p->nr_label_sets + 1) * sizeof(*of_set));
	s->order = calloc(p->nr_samples + 1, sizeof(*s->order));
	if (!of || !of_set || !s->order)
		goto no_memory;
	memset(of_set, 0xff, (p->nr_label_sets + 1) * sizeof(*of_set));
	for (i = 0; i < p->nr_samples; i++) {
		uint32_t labels = p->samples[i].labels;

		/* Their order is that of the first samples that have them. */
		if (of_set[labels] == GPROF_NONE) {
			read_labels(s, p, &p->label_sets[labels], &service);
			of_set[labels] = number_of(s, &service);
		}
		of[i] = of_set[labels];
		if (of[i] == GPROF_NONE)
			goto no_memory;
	}
	s->ends = calloc(s->nr + 1, sizeof(*s->ends));
	if (!s->ends)
		goto no_memory;
	sort(s, of, p->nr_samples);
	free(of_set);
	free(of);
	return 0;
no_memory:
	free(of_set);
	free(of);
	return -ENOMEM;
}

void gprof_otlp_services_free(struct gprof_otlp_services *s)
{
	gprof_table_free(&s->index);
	free(s->v);
	free(s->order);
	free(s->ends);
}
