// SPDX-License-Identifier: GPL-2.0-only
/*
 * swapper: a program that unloads one plugin and loads another in its place, which is as
 * large, as one does that reloads what it runs.
 *
 * Usage: swapper MS TURNS PLUGIN... - in each turn, each of them burns so long. Its file is
 * mapped whole, executable, always at the same address.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "workload.h"

#define SIZE	(1UL << 16)	/* whatever the file's, as many pages */

static void *place;

static int burn_in(const char *file, uint64_t ns)
{
	unsigned long (*burns)(unsigned long n);
	uint64_t end = thread_cpu_ns() + ns;
	int fd = open(file, O_RDONLY);
	const Elf64_Ehdr *head = fd < 0 ? MAP_FAILED :
		mmap(place, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);

	if (head == MAP_FAILED) {
		perror(file);
		return -1;
	}
	close(fd);
	burns = (void *)((char *)place + head->e_entry);
	while (thread_cpu_ns() < end)
		burns(100000);
	return munmap(place, SIZE);
}

int main(int argc, char **argv)
{
	unsigned long turns;
	int i;

	if (argc < 4) {
		fprintf(stderr, "usage: %s MS TURNS PLUGIN...\n", argv[0]);
		return 2;
	}
	place = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (place == MAP_FAILED || munmap(place, SIZE))
		return 1;
	for (turns = strtoul(argv[2], NULL, 10); turns; turns--)
		for (i = 3; i < argc; i++)
			if (burn_in(argv[i], strtoull(argv[1], NULL, 10) * 1000000))
				return 1;
	return 0;
}
