/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * services.h: which service each sample of a profile is of.
 */
#ifndef GPROF_OTLP_SERVICES_H
#define GPROF_OTLP_SERVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "profile/profile.h"

/* Labels that are attributes of the service, service.name being the first. */
#define GPROF_OTLP_SERVICE_KEYS	5

extern const char *const gprof_otlp_service_keys[GPROF_OTLP_SERVICE_KEYS];

/**
 * struct gprof_otlp_service - a service
 * @text: value of each of the keys, numbers in the profile's strings; 0: none
 */
struct gprof_otlp_service {
	uint32_t text[GPROF_OTLP_SERVICE_KEYS];
};

/**
 * struct gprof_otlp_services - the services of a profile
 * @v: the services, in the order in which the profile has them
 * @nr: how many
 * @cap: room in @v
 * @index: finds them
 * @order: all samples of the profile, those of one service one behind the other
 * @ends: for each service, where in @order it ends
 * @keys: of those labels in the profile, or GPROF_NONE
 * @comm: likewise of the label comm
 * @process: and of the process' name, which comes before the thread's
 */
struct gprof_otlp_services {
	struct gprof_otlp_service *v;
	size_t nr;
	size_t cap;
	struct gprof_table index;
	uint32_t *order;
	size_t *ends;
	uint32_t keys[GPROF_OTLP_SERVICE_KEYS];
	uint32_t comm;
	uint32_t process;
};

/** gprof_otlp_services_init() - sort the samples of a profile; 0 or -ENOMEM */
int gprof_otlp_services_init(struct gprof_otlp_services *s, const struct gprof_profile *p);
void gprof_otlp_services_free(struct gprof_otlp_services *s);

/** gprof_otlp_services_key() - which of the keys a label of the service has; -1: the sample's */
int gprof_otlp_services_key(const struct gprof_otlp_services *s, const struct gprof_label *l);

#endif /* GPROF_OTLP_SERVICES_H */
