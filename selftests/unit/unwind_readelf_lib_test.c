// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unwind tables of files of this system, row by row against what readelf makes of them.
 */
#include "harness.h"

#include <glob.h>

#include "lib_util.h"
#include "unwind_image.h"

/*
 * readelf's rows, each of which must be the table's, from its first to its last byte. What
 * readelf cannot say is counted: "exp" may be several kinds.
 */
struct tally {
	size_t rows;
	size_t wrong;
	size_t calculated;
	size_t odd;
	size_t simple;
	size_t entered;
};

struct columns {
	int nr;
	int fp;
	int ra;
	int rbx;
};

static bool reads_offset(const char *cell, int *words)
{
	int bytes, n = 0;

	if (sscanf(cell, "c%d%n", &bytes, &n) != 1 || cell[n] || bytes % 8)
		return false;
	*words = bytes / 8;
	return true;
}

static bool fp_is(struct gprof_unwind_rule r, const char *cell)
{
	int words;

	if (!strcmp(cell, "u") || !strcmp(cell, "s"))
		return GPROF_UNWIND_FP(r.how) == GPROF_UNWIND_FP_SAME ||
		       GPROF_UNWIND_FP(r.how) == GPROF_UNWIND_FP_UNKNOWN;
	if (reads_offset(cell, &words))
		return GPROF_UNWIND_FP(r.how) == GPROF_UNWIND_FP_AT_CFA && r.fp == words;
	return GPROF_UNWIND_FP(r.how) >= GPROF_UNWIND_FP_AT_FP;
}

static bool ra_is(struct gprof_unwind_rule r, const char *cell, bool x86)
{
	unsigned int ra = GPROF_UNWIND_RA(r.how);
	int words;

	if (reads_offset(cell, &words))
		return ra == GPROF_UNWIND_RA_AT_CFA && (x86 ? words == -1 : r.ra == words);
	if (!strcmp(cell, "u") || !strcmp(cell, "s"))
		return !x86 && ra == GPROF_UNWIND_RA_LR;
	return cell[0] == 'r' && ra == GPROF_UNWIND_RA_REG;
}

static bool row_is(struct gprof_unwind_rule r, bool x86, bool signal, char **cells,
		   const struct columns *col, struct tally *t)
{
	const char *ra = col->ra < 0 ? "u" : cells[col->ra];
	const char *fp = col->fp < 0 ? "u" : cells[col->fp];
	const char *rbx = col->rbx < 0 ? "u" : cells[col->rbx];
	int offset, words, n;
	char reg[16];

	if (signal)
		return r.kind == GPROF_UNWIND_CFA_SIGNAL;
	/* arm64's "u" is "not saved" too, and only _start's and clone's is the end */
	if (!strcmp(ra, "u") && r.kind == GPROF_UNWIND_CFA_END)
		return true;
	if (!strcmp(cells[0], "exp")) {
		t->calculated++;
		return r.kind >= GPROF_UNWIND_CFA_DEREF && r.kind != GPROF_UNWIND_CFA_SIGNAL;
	}
	n = 0;
	while (cells[0][n] && cells[0][n] != '+' && cells[0][n] != '-')
		n++;
	snprintf(reg, sizeof(reg), "%.*s", n, cells[0]);
	offset = atoi(cells[0] + n);
	/* what longjmp() and setcontext() were given is no frame of theirs */
	if (!x86 && reg[0] == 'x' && reg[1] >= '0' && reg[1] <= '7' && !reg[2]) {
		t->odd++;
		return r.kind == GPROF_UNWIND_CFA_UNKNOWN;
	}
	/* the resolver is entered with two words on the stack */
	if (!x86 && !strcmp(cells[0], "sp+0") && !strcmp(ra, "u") && r.cfa == 2 && !t->entered++)
		return r.kind == GPROF_UNWIND_CFA_SP && r.ra == -1;
	/* setcontext() takes all from memory, as if it had been called there */
	if (offset % 8 || (x86 && reads_offset(ra, &words) && words != -1)) {
		t->odd++;
		return r.kind == GPROF_UNWIND_CFA_UNKNOWN;
	}
	if (!x86 && reads_offset(ra, &words) && words == 1)
		offset += 16;	/* the resolver, put right */
	else
		words = 0;
	if (!strcmp(reg, x86 ? "rsp" : "sp"))
		n = GPROF_UNWIND_CFA_SP;
	else if (!strcmp(reg, x86 ? "rbp" : "x29"))
		n = GPROF_UNWIND_CFA_FP;
	else
		n = GPROF_UNWIND_CFA_REG;
	if (r.kind != n || r.cfa != offset / 8)
		return false;
	t->simple++;
	/* with its words taken off it is over */
	if (words && !offset)
		return !r.ra && GPROF_UNWIND_RA(r.how) == GPROF_UNWIND_RA_LR;
	if (words)
		return r.ra == -1;
	if (!fp_is(r, fp) || !ra_is(r, ra, x86))
		return false;
	if (!x86 || n == GPROF_UNWIND_CFA_REG)
		return true;
	return r.ra == (reads_offset(rbx, &words) ? words : 0);
}

struct map {
	uint64_t addr, offset, size;
};

static int read_loads(const char *path, struct map *maps, uint16_t *machine)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), nr = 0, i;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (fd < 0 || pread(fd, &eh, sizeof(eh), 0) != sizeof(eh))
		return 0;
	*machine = eh.e_machine;
	for (i = 0; i < eh.e_phnum && nr < 8; i++)
		if (pread(fd, &ph, sizeof(ph), (off_t)(eh.e_phoff + i * sizeof(ph))) == sizeof(ph) &&
		    ph.p_type == PT_LOAD && (ph.p_flags & PF_X))
			maps[nr++] = (struct map){ ph.p_vaddr, ph.p_offset, ph.p_filesz };
	close(fd);
	return nr;
}

static int split(char *line, char **cells, int max)
{
	char *p = strtok(line, " \n");
	int nr = 0;

	for (; p && nr < max; p = strtok(NULL, " \n"))
		cells[nr++] = p;
	return nr;
}

static void compare_row(const struct gprof_unwind_blob *b, const struct map *maps, int nr_maps,
			uint64_t addr, uint64_t end, char **cells, const struct columns *col,
			bool x86, bool signal, struct tally *t)
{
	const struct gprof_unwind_rule *first, *last;
	struct tally again = { 0 };
	int i;

	for (i = 0; i < nr_maps && addr - maps[i].addr >= maps[i].size; i++)
		;
	if (i == nr_maps || end <= addr)
		return;
	addr += maps[i].offset - maps[i].addr;
	end += maps[i].offset - maps[i].addr;
	first = table_find(b->data, addr);
	last = table_find(b->data, end - 1);
	t->rows++;
	if (first && last && row_is(*first, x86, signal, cells, col, t) &&
	    row_is(*last, x86, signal, cells, col, &again))
		return;
	if (t->wrong++ < 10)
		printf("# %llx..%llx: %s, readelf has %s ra %s\n", (unsigned long long)addr,
		       (unsigned long long)end,
		       first ? rule_text(*first, x86 ? EM_X86_64 : EM_AARCH64) : "no table",
		       cells[0], col->ra < 0 ? "-" : cells[col->ra]);
	fflush(stdout);
}

/* All rows of a file. */
static bool compare(const char *path, struct tally *t)
{
	static char line[4096], row[4096];
	unsigned long long offset, cie, pc, end, addr, at = 0;
	struct gprof_unwind_blob b;
	struct columns col = { 0 };
	char cmd[PATH_MAX + 64], *cells[64];
	unsigned long long signals[64], odd[64];
	int nr_signals = 0, nr_odd = 0, nr_maps, nr, i, fd = open(path, O_RDONLY | O_CLOEXEC);
	bool signal = false, have = false, x86;
	struct map maps[8];
	uint16_t machine = 0;
	FILE *f;

	memset(t, 0, sizeof(*t));
	nr_maps = read_loads(path, maps, &machine);
	if (fd < 0 || gprof_unwind_compile(fd, 0, &b))
		return false;
	close(fd);
	x86 = machine == EM_X86_64;
	snprintf(cmd, sizeof(cmd), "readelf -wNF -wF '%s' 2>/dev/null", path);
	f = popen(cmd, "r");
	end = 0;
	while (f && fgets(line, sizeof(line), f)) {
		char *word = strstr(line, " CIE \"");
		bool fde = strstr(line, " FDE cie="), is_row;

		is_row = !fde && sscanf(line, "%16llx %n", &addr, &nr) == 1 && nr == 17;
		/* A row ends where the next one or the function does. */
		if (have && (is_row || line[0] == '\n')) {
			nr = split(row, cells, 64);
			if (nr == col.nr)
				compare_row(&b, maps, nr_maps, at, is_row ? addr : end, cells + 1,
					    &col, x86, signal, t);
			have = false;
		}
		if (word) {
			end = 0;
			if (strchr(word + 6, 'S') && strchr(word + 6, 'S') < strchr(word + 6, '"') &&
			    sscanf(line, "%llx", &offset) == 1 && nr_signals < 64)
				signals[nr_signals++] = offset;
			/* rawmemchr() of arm64 has it in another register, but not yet */
			if (!x86 && !strstr(line, "ra=30") && sscanf(line, "%llx", &offset) == 1 &&
			    nr_odd < 64)
				odd[nr_odd++] = offset;
		} else if (fde && sscanf(strstr(line, "cie="), "cie=%llx pc=%llx..%llx", &cie, &pc,
					 &end) == 3) {
			for (signal = false, i = 0; i < nr_signals; i++)
				signal |= signals[i] == cie;
			for (i = 0; i < nr_odd; i++)
				if (odd[i] == cie)
					end = 0;
		} else if (strstr(line, "   LOC ") == line) {
			col = (struct columns){ split(line, cells, 64), -1, -1, -1 };
			for (i = 2; i < col.nr; i++) {
				if (!strcmp(cells[i], x86 ? "rbp" : "x29"))
					col.fp = i - 1;
				else if (!strcmp(cells[i], "ra"))
					col.ra = i - 1;
				else if (!strcmp(cells[i], "rbx"))
					col.rbx = i - 1;
			}
		} else if (is_row && end) {
			have = true;
			at = addr;
			strcpy(row, line);
		}
	}
	if (f)
		pclose(f);
	gprof_unwind_blob_free(&b);
	return true;
}

static size_t compare_all(struct __test_metadata *_metadata, const char *const *paths, size_t nr)
{
	size_t i, j, files = 0;
	struct tally t;

	for (i = 0; i < nr; i++) {
		glob_t found = { 0 };

		glob(paths[i], 0, NULL, &found);
		for (j = 0; j < found.gl_pathc; j++) {
			if (!compare(found.gl_pathv[j], &t))
				continue;
			printf("# %s: %zu rows, %zu wrong, %zu calculated, %zu odd\n",
			       found.gl_pathv[j], t.rows, t.wrong, t.calculated, t.odd);
			fflush(stdout);
			EXPECT_EQ(0, t.wrong);
			/* and few of them escape the comparison */
			EXPECT_LTS(t.rows * 9 / 10, t.simple, 1000, t.rows);
			files++;
		}
		globfree(&found);
	}
	return files;
}

TEST(rows_of_amd64_are_those_of_readelf)
{
	static const char *const paths[] = {
		"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/lib64/ld-linux-x86-64.so.2",
	};

	if (!lib_have("readelf"))
		SKIP(return, "no readelf");
	if (!compare_all(_metadata, paths, sizeof(paths) / sizeof(*paths)))
		SKIP(return, "no such files here");
}

/* GCC's: so what arm64's instructions say must not change what is right. */
TEST(rows_of_arm64_are_those_of_readelf)
{
	static const char *const paths[] = {
		"/usr/aarch64-linux-gnu/lib/libc.so.6", "/usr/aarch64-linux-gnu/lib/libm.so.6",
		"/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1",
	};

	if (!lib_have("readelf"))
		SKIP(return, "no readelf");
	if (!compare_all(_metadata, paths, sizeof(paths) / sizeof(*paths)))
		SKIP(return, "no such files here");
}

TEST_HARNESS_MAIN
