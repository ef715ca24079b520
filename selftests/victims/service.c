// SPDX-License-Identifier: GPL-2.0-only
/*
 * service: a program that says who it is, and then burns CPU time.
 *
 * Usage: service NAME MS [PROGRAM ARGS...]
 *
 * Publishes service.name as OTEP 4719 wants it ("OpenTelemetry process context"): a
 * header in memory that is called OTEL_CTX, and a protobuf message that it points to,
 * which lies at the end of its page.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "workload.h"

#define KEY	"service.name"

struct header {
	char signature[8];
	uint32_t version;
	uint32_t payload_size;
	uint64_t published_ns;
	uint64_t payload;
};

/* A field of bytes before what is there already; lengths are below 128. */
static uint8_t *wrap(uint8_t *at, uint8_t *end, unsigned int field)
{
	size_t len = (size_t)(end - at);

	*--at = (uint8_t)len;
	*--at = (uint8_t)(field << 3 | 2);
	return at;
}

/* ProcessContext { resource { attributes { key, value { string_value } } } } */
static uint8_t *message(uint8_t *end, const char *name)
{
	size_t len = strlen(name);
	uint8_t *at = end - len;

	memcpy(at, name, len);
	at = wrap(at, end, 1);
	at = wrap(at, end, 2);
	at -= sizeof(KEY) - 1;
	memcpy(at, KEY, sizeof(KEY) - 1);
	at = wrap(at, at + sizeof(KEY) - 1, 1);
	at = wrap(at, end, 1);
	return wrap(at, end, 1);
}

static int publish(const char *name)
{
	uint8_t *at, *end;
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
	struct timespec now;
	struct header *h;

	if (fd < 0 || ftruncate(fd, 4096))
		return -1;
	h = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (h == MAP_FAILED)
		return -1;
	close(fd);
	end = (uint8_t *)h + 4096;
	at = message(end, name);
	clock_gettime(CLOCK_BOOTTIME, &now);
	h->version = 2;
	h->payload_size = (uint32_t)(end - at);
	h->payload = (uintptr_t)at;
	h->published_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	memcpy(h->signature, "OTEL_CTX", 8);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3 || strlen(argv[1]) > 64 || publish(argv[1])) {
		fprintf(stderr, "usage: %s NAME MS [PROGRAM ARGS...]\n", argv[0]);
		return 2;
	}
	burn_ns(strtoull(argv[2], NULL, 10) * 1000000);
	if (argc == 3)
		return 0;
	execv(argv[3], argv + 3);
	perror(argv[3]);
	return 1;
}
