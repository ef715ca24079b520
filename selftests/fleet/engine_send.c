// SPDX-License-Identifier: GPL-2.0-only
/*
 * engine_send: what the pusher does with an engine, without its store: sends files, and
 * tells what became of each.
 *
 *	engine_send [-a CA] [-H HEADER]... [-n] [-p] [-r TRIES] [-t MS] [-w MS] URL FILE...
 *
 * With -p the first try is of a profile that is in memory still, as the pusher's.
 *
 * A line for each try: result parts sent refused unsure bytes retry_ms: why. What is to be
 * sent later is sent again after MS of -w, up to TRIES times in all. The status is 0 when
 * everything was sent or refused.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <gprof/profile.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "agent/engine.h"

/* Of the command line. */
struct how {
	struct item item;	/* its parts that are the same for all files */
	int tries;	/* at most */
	long wait_ms;	/* between them */
	bool in_memory;	/* the first has the profile */
};

/* Returns the profile. */
static struct gprof_profile *look_into(struct item *item, const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct gprof_profile *p = gprof_profile_read(fd);
	struct gprof_profile_stack sample;
	int64_t start = 0, duration = 0;

	if (p) {
		gprof_profile_time(p, &start, &duration);
		while (!gprof_profile_stack(p, item->samples, &sample))
			item->samples++;
	}
	item->start_ns = (uint64_t)start;
	item->duration_ns = (uint64_t)duration;
	close(fd);
	return p;
}

static int send_file(struct engine *engine, const struct how *how, const char *file, uint64_t nr)
{
	static const char *const results[] = { "all", "later", "never" };
	struct timespec wait = { how->wait_ms / 1000, how->wait_ms % 1000 * 1000000 };
	struct gprof_profile *p;
	struct item item = how->item;
	struct send_result s;
	struct stat st;
	void *data;
	int fd, i;

	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		err(2, "%s", file);
	data = mmap(NULL, (size_t)st.st_size + 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		err(2, "%s", file);
	close(fd);
	item.id += nr;
	p = look_into(&item, file);
	for (i = 0; i < how->tries; i++) {
		if (i)
			nanosleep(&wait, NULL);
		memset(&s, 0x55, sizeof(s));
		item.profile = how->in_memory && !i ? p : NULL;
		engine->send(engine, &item, data, (size_t)st.st_size, &s);
		printf("%s %u %llu %llu %llu %llu %llu: %s\n", results[s.result], s.sent_parts,
		       (unsigned long long)s.sent_samples, (unsigned long long)s.refused_samples,
		       (unsigned long long)s.unsure_samples, (unsigned long long)s.bytes,
		       (unsigned long long)s.retry_after_ms, s.why);
		fflush(stdout);
		if (s.result != SENT_LATER)
			break;
		item.sent_parts = s.sent_parts;
	}
	gprof_profile_free(p);
	munmap(data, (size_t)st.st_size + 1);
	return s.result == SENT_LATER;
}

int main(int argc, char **argv)
{
	const char *headers[16] = { NULL };
	struct engine_options options = { .headers = headers, .timeout_ms = 5000 };
	struct how how = { .item = { .type = "cpu", .host = "host.example", .id = 1 },
			   .tries = 1, .wait_ms = 100 };
	struct engine *engine = NULL;
	size_t nr_headers = 0;
	int opt, status = 0, at;

	while ((opt = getopt(argc, argv, "a:H:npr:t:w:")) != -1) {
		switch (opt) {
		case 'a':
			options.ca_file = optarg;
			break;
		case 'H':
			if (nr_headers + 1 < sizeof(headers) / sizeof(headers[0]))
				headers[nr_headers++] = optarg;
			break;
		case 'n': options.no_names = 1; break;
		case 'p': how.in_memory = true; break;
		case 'r': how.tries = atoi(optarg); break;
		case 't': options.timeout_ms = (uint32_t)atoi(optarg); break;
		case 'w': how.wait_ms = atol(optarg); break;
		default: return 2;
		}
	}
	if (argc - optind < 2)
		errx(2, "URL FILE...");
	options.url = argv[optind];
	if (engine_otlp_open(&engine, &options))
		return 3;
	for (at = optind + 1; at < argc; at++)
		status |= send_file(engine, &how, argv[at], (uint64_t)(at - optind - 1));
	engine->close(engine);
	return status;
}
