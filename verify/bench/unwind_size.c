// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind_size: what unwind tables of files take, in bytes and in time.
 *
 *	unwind_size [-q] FILE...
 *
 * Prints a line for each file that has one (-q: not), what all take together, and which
 * takes most of a megabyte of text, of those that have 64 KiB at least. "text" is that of
 * the executable sections, or segments where the sections are gone. Without FILE their
 * names come from standard input.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "unwind/table_layout.h"
#include "unwind/unwind_table.h"

#define SMALL	(64 << 10)

struct sum {
	uint64_t files, text, bytes, ns;
	double most, longest;
	char worst[4096], late[4096];
};

static uint64_t text_of(int fd, uint16_t *machine)
{
	uint64_t sections = 0, segments = 0;
	Elf64_Ehdr eh;
	Elf64_Shdr sh;
	Elf64_Phdr ph;

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	*machine = eh.e_machine;
	for (int i = 0; i < eh.e_shnum; i++)
		if (pread(fd, &sh, sizeof(sh), (off_t)(eh.e_shoff + i * sizeof(sh))) ==
			    sizeof(sh) &&
		    (sh.sh_flags & SHF_ALLOC) && (sh.sh_flags & SHF_EXECINSTR))
			sections += sh.sh_size;
	for (int i = 0; i < eh.e_phnum; i++)
		if (pread(fd, &ph, sizeof(ph), (off_t)(eh.e_phoff + i * sizeof(ph))) ==
			    sizeof(ph) &&
		    ph.p_type == PT_LOAD && (ph.p_flags & PF_X))
			segments += ph.p_filesz;
	return sections ? sections : segments;
}

static void measure(struct sum *s, const char *path, bool quiet)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct gprof_unwind_blob blob;
	uint64_t text, ns = UINT64_MAX, took;
	uint16_t machine = 0;
	double mb, size, ms;
	int turn;

	text = fd < 0 ? 0 : text_of(fd, &machine);
	if (!text || (machine != EM_X86_64 && machine != EM_AARCH64)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	/* the better of two: the first may read from a disk */
	for (turn = 0; turn < 2; turn++) {
		took = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
		if (gprof_unwind_compile(fd, 0, &blob))
			break;
		took = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - took;
		ns = took < ns ? took : ns;
		if (!turn)
			gprof_unwind_blob_free(&blob);
	}
	close(fd);
	if (turn < 2)
		return;
	s += machine == EM_AARCH64;
	mb = (double)text / (1 << 20);
	size = (double)blob.size / 1024 / mb;
	ms = (double)ns / 1e6 / mb;
	if (!quiet)
		printf("%-60s %9.2f MB text %9.1f KB %6.1f KB/MB %8.2f ms %5.2f ms/MB\n", path, mb,
		       (double)blob.size / 1024, size, (double)ns / 1e6, ms);
	s->files++;
	s->text += text;
	s->bytes += blob.size;
	s->ns += ns;
	if (text >= SMALL && size > s->most) {
		s->most = size;
		snprintf(s->worst, sizeof(s->worst), "%s", path);
	}
	if (text >= SMALL && ms > s->longest) {
		s->longest = ms;
		snprintf(s->late, sizeof(s->late), "%s", path);
	}
	gprof_unwind_blob_free(&blob);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "amd64", "arm64" };
	static struct sum sums[2];
	bool quiet = argc > 1 && !strcmp(argv[1], "-q");
	char line[4096];
	int i;

	for (i = 1 + quiet; i < argc; i++)
		measure(sums, argv[i], quiet);
	/* too many for a command line */
	while (i == 1 + quiet && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		measure(sums, line, quiet);
	}
	for (i = 0; i < 2; i++) {
		const struct sum *s = &sums[i];

		if (!s->files)
			continue;
		printf("%s: %llu files %.1f MB text: %.2f MB, %.1f KB/MB, %.2f ms/MB\n", names[i],
		       (unsigned long long)s->files, (double)s->text / (1 << 20),
		       (double)s->bytes / (1 << 20),
		       (double)s->bytes * 1024 / (double)s->text,
		       (double)s->ns / 1e6 / ((double)s->text / (1 << 20)));
		printf("%s: most %.1f KB/MB: %s\n", names[i], s->most, s->worst);
		printf("%s: slowest %.2f ms/MB: %s\n", names[i], s->longest, s->late);
	}
	return 0;
}
