// SPDX-License-Identifier: GPL-2.0-only
/*
 * history_store: a store of seven days, an item each 10 s.
 *
 *	history_store STORE BEGIN FILE...
 *	history_store STORE BEGIN
 *
 * The first hour, from BEGIN on in seconds since 1970, has the files by turns; items of the
 * hours after it have a name and a byte, for nobody reads more of them. Without files it makes
 * rollups of the first hour that is there.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/item_name.h"
#include "store/rollup.h"
#include "agent/rollup_make.h"
#include "store/store_dir.h"

#define SECOND	1000000000ULL
#define APART	10
#define DAYS	7

struct file {
	void *data;
	size_t size;
};

static struct file map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct file f;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", path);
	f.size = (size_t)st.st_size;
	f.data = mmap(NULL, f.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (f.data == MAP_FAILED)
		err(1, "%s", path);
	close(fd);
	return f;
}

static void put(const char *store, struct item_name *n, const struct file *f)
{
	char name[ITEM_NAME], hour[HOUR_NAME], path[4096];
	int fd;

	n->sum = item_sum(n, f->data, f->size);
	item_name_text(n, name);
	hour_name(n->start_ns, hour);
	snprintf(path, sizeof(path), "%s/%s", store, hour);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", store, hour, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, f->data, f->size) != (ssize_t)f->size)
		err(1, "%s", path);
	close(fd);
}

static int make_rollups(const char *dir, uint64_t begin_ns)
{
	const struct store_options o = { .dir = dir, .keep_bytes = UINT64_MAX };
	int status;
	struct store *s = store_open(&o, &status);

	for (uint64_t ns = 0; s && ns < 3600 * SECOND; ns += ROLLUP_NS)
		rollup_make(s, dir, begin_ns + ns);
	store_close(s);
	return status;
}

int main(int argc, char **argv)
{
	static const struct file nothing = { .data = "", .size = 1 };
	struct item_name n = { .form = ITEM_PROFILE, .type = "cpu", .host = "host.example",
			       .duration_ns = APART * SECOND };
	unsigned long long begin;

	if (argc < 3)
		errx(2, "usage: history_store STORE BEGIN [FILE...]");
	begin = strtoull(argv[2], NULL, 10);
	if (argc == 3)
		return make_rollups(argv[1], begin * SECOND);
	if (mkdir(argv[1], 0700))
		err(1, "%s", argv[1]);
	for (unsigned int i = 0; i < DAYS * 86400 / APART; i++) {
		struct file f = nothing;

		if (i < 3600 / APART)
			f = map(argv[3 + i % (unsigned int)(argc - 3)]);
		n.start_ns = (begin + (uint64_t)i * APART) * SECOND;
		n.id = i + 1;
		put(argv[1], &n, &f);
		if (f.data != nothing.data)
			munmap(f.data, f.size);
	}
	return 0;
}
