/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/otlp.h: profiles as requests of OTLP Profiles, for engines that keep those of many
 * hosts.
 *
 * A request is an ExportProfilesServiceRequest of opentelemetry-proto 1.11.0, v1development,
 * to be sent by POST to /v1development/profiles as application/x-protobuf. Nothing is sent
 * here, and nothing is compressed.
 *
 * Contents of a request. One resource for each service: its attributes are service.name,
 * service.namespace, service.version, service.instance.id, deployment.environment.name as the
 * samples have them as labels (gprof/profile.h), and host.name. A sample without service.name
 * belongs to the service that is called like its label comm, or else to "unknown_service". One
 * profile for each type of values, with the samples that have a value other than 0; one that has
 * none at all goes with the first type. In names of types "-" becomes "_". A profile has the
 * period of its source, or else 1 of its own type; but off_cpu in nanoseconds has none.
 *
 * cpu in nanoseconds is not sent where it is samples in count times the period, everywhere:
 * engines make it of these, and would have it twice. Where it is not that, it is sent, and
 * the period of samples is 1 of their own.
 *
 * Every other label is an attribute of its sample; of the same name as ever, but for pid,
 * tid, comm and cpu, which are process.pid, thread.id, thread.name and cpu.logical_number
 * there. The second label of one key counts as dropped (dropped_attributes_count). A
 * build-id is process.executable.build_id.gnu of its mapping, or
 * process.executable.build_id.go where it is not hexadecimal. Comments are
 * pprof.profile.comment of each profile. All text is UTF-8: a profile, once read, has "?"
 * in place of each byte that is not.
 *
 * Threads. Any number of threads may export one profile at a time. Fork. Nothing is kept
 * between calls.
 */
#ifndef GPROF_OTLP_H
#define GPROF_OTLP_H

#include <gprof/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* flags of struct gprof_otlp_opts */
#define GPROF_OTLP_NO_NAMES	(1U << 0)	/* addresses alone: no functions, files, lines */

#define GPROF_OTLP_ID_SIZE	16

/**
 * struct gprof_otlp_opts - options of gprof_otlp_export(); all zero is the default
 * @sz: sizeof(struct gprof_otlp_opts)
 * @host: host.name of all, or NULL
 * @id: GPROF_OTLP_ID_SIZE bytes that no other profile has, or NULL. The id of each profile
 *	that is sent follows from it, the same each time, so that a receiver recognizes
 *	profiles that it has already. NULL: they have none
 * @bytes_max: bytes of a request, and of each profile in it were it one of pprof's; 0: 4 MiB
 * @samples_max: samples of a request; 0: 16000
 * @flags: GPROF_OTLP_*
 */
struct gprof_otlp_opts {
	size_t sz;
	const char *host;
	const uint8_t *id;
	uint64_t bytes_max;
	uint32_t samples_max;
	uint32_t flags;
};

/**
 * struct gprof_otlp_request - a request
 * @data: its body, valid until the callback returns
 * @size: bytes of it
 * @samples: samples of the source in it
 * @profiles: profiles in it
 */
struct gprof_otlp_request {
	const void *data;
	size_t size;
	size_t samples;
	size_t profiles;
};

/**
 * gprof_otlp_export() - make requests of a profile
 * @p: profile
 * @opts: or NULL
 * @request: gets one after the other; a return other than 0 ends it
 * @ctx: passed on
 * @too_large: gets how many samples were left out because none of them fits into a request
 *	by itself, or NULL
 *
 * The same profile and options give the same requests, byte by byte, in the same order.
 * Every sample is in exactly one of them. Memory, beside the profile: 32 bytes for each of
 * its texts, functions, mappings, locations and samples at most, and some times @bytes_max.
 *
 * @request has to return: no longjmp() or exception out of it.
 *
 * Return: 0, the return of @request, or -errno (EINVAL: bad options; E2BIG: options that this
 * library does not know; EFBIG: it would become many times as large; ENOMEM).
 */
GPROF_API int gprof_otlp_export(const struct gprof_profile *p, const struct gprof_otlp_opts *opts,
				int (*request)(void *ctx, const struct gprof_otlp_request *r),
				void *ctx, size_t *too_large);

#define GPROF_OTLP_MESSAGE	256

/**
 * struct gprof_otlp_answer - response of a receiver
 * @sz: sizeof(struct gprof_otlp_answer)
 * @rejected: profiles that it did not take, of a request that it took otherwise
 * @message: its words, at most so many, without control characters; "" for none
 */
struct gprof_otlp_answer {
	size_t sz;
	int64_t rejected;
	char message[GPROF_OTLP_MESSAGE];
};

/* kind of a response, by its status of HTTP */
#define GPROF_OTLP_TAKEN	0	/* 200: ExportProfilesServiceResponse */
#define GPROF_OTLP_REFUSED	1	/* 400 and above: google.rpc.Status */

/**
 * gprof_otlp_answer() - read the body of an answer of type application/x-protobuf
 * @data: body
 * @size: bytes of it
 * @kind: GPROF_OTLP_TAKEN or GPROF_OTLP_REFUSED
 * @answer: gets the contents
 *
 * Return: 0, or -errno (EBADMSG: it is no such message; EINVAL; ENOMEM).
 */
GPROF_API int gprof_otlp_answer(const void *data, size_t size, int kind,
				struct gprof_otlp_answer *answer);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_OTLP_H */
