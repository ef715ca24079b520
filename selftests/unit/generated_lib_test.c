// SPDX-License-Identifier: GPL-2.0-only
/* Names of code that programs generate: their maps and jitdumps. */
#include <sys/sysmacros.h>

#include "harness.h"
#include "device/decode.h"
#include "jitdump_image.h"
#include "symbol/generated.h"
#include "lib_util.h"
#include "symbol/process.h"

FIXTURE(perf_map) {
	const char *dir;
	char path[128];
	struct gprof_perf_map m;
};

FIXTURE_SETUP(perf_map)
{
	self->dir = lib_tmpdir();
	snprintf(self->path, sizeof(self->path), "%s/perf-1.map", self->dir);
}

FIXTURE_TEARDOWN(perf_map)
{
	gprof_perf_map_free(&self->m);
	lib_sh("rm -rf %s", self->dir);
}

TEST_F(perf_map, later_code_replaces_earlier_code)
{
	lib_write(self->dir, "perf-1.map",
		  "1000 100 first function\n"
		  "2000 100 second\n"
		  "1000 80 newer\n"
		  "1f00 400 around\n");
	ASSERT_EQ(0, gprof_perf_map_read(&self->m, self->path, getuid(), 0));
	EXPECT_STREQ("newer", gprof_perf_map_find(&self->m, 0x1000));
	EXPECT_STREQ("first function", gprof_perf_map_find(&self->m, 0x10ff));
	EXPECT_EQ(NULL, gprof_perf_map_find(&self->m, 0x1100));
	EXPECT_STREQ("around", gprof_perf_map_find(&self->m, 0x2050));
	EXPECT_EQ(NULL, gprof_perf_map_find(&self->m, 0xfff));
}

/* Stubs that were there once, and a function over all of them that is younger. */
TEST_F(perf_map, any_number_of_older_functions_is_gone)
{
	char text[8192], name[16];
	size_t len = 0;

	for (uint64_t i = 0; i < 100; i++)
		len += (size_t)sprintf(text + len, "%llx 10 stub%llu\n",
				       (unsigned long long)(0x1000 + i * 16), (unsigned long long)i);
	len += (size_t)sprintf(text + len, "1010 5f0 function\n");
	sprintf(text + len, "1100 10 newest\n1208 8 tail\n");
	lib_write(self->dir, "perf-1.map", text);
	ASSERT_EQ(0, gprof_perf_map_read(&self->m, self->path, getuid(), 0));
	for (uint64_t i = 0; i < 0x640; i += 8) {
		const char *want = "function";

		sprintf(name, "stub%llu", (unsigned long long)(i / 16));
		if (i < 0x10 || i >= 0x600)
			want = name;
		else if (i >= 0x100 && i < 0x110)
			want = "newest";
		else if (i == 0x208)
			want = "tail";
		EXPECT_STREQ(want, gprof_perf_map_find(&self->m, 0x1000 + i))
			TH_LOG("%#llx", (unsigned long long)i);
	}
	EXPECT_EQ(NULL, gprof_perf_map_find(&self->m, 0x1640));
}

TEST_F(perf_map, lines_that_make_no_sense_are_passed)
{
	lib_write(self->dir, "perf-1.map",
		  "\n\n"
		  "zzz 10 bad\n"
		  "1000\n"
		  "1000 10\n"
		  "1000 10 \n"
		  "1000 0 empty\n"
		  "fffffffffffffff0 ffff wraps\n"
		  "3000 10 good\n"
		  "4000 10 last line without an end");
	ASSERT_EQ(0, gprof_perf_map_read(&self->m, self->path, getuid(), 0));
	EXPECT_EQ(2, self->m.nr);
	EXPECT_STREQ("good", gprof_perf_map_find(&self->m, 0x3000));
	EXPECT_STREQ("last line without an end", gprof_perf_map_find(&self->m, 0x400f));
}

TEST_F(perf_map, short_lines_take_no_more_memory_than_is_said)
{
	long before;
	const size_t lines = 2800000;
	char *text = malloc(6 * lines);

	ASSERT_NE(NULL, text);
	for (size_t i = 0; i < lines; i++)
		memcpy(text + 6 * i, "1 1 a\n", 6);
	ASSERT_TRUE(lib_put(self->path, text, 6 * lines));
	before = lib_peak_kib(RUSAGE_SELF);
	EXPECT_EQ(-EFBIG, gprof_perf_map_read(&self->m, self->path, getuid(), 0));
	/* A third of them is taken. */
	ASSERT_TRUE(lib_put(self->path, text, 2 * lines));
	ASSERT_EQ(0, gprof_perf_map_read(&self->m, self->path, getuid(), 0));
	EXPECT_STREQ("a", gprof_perf_map_find(&self->m, 1));
	EXPECT_GT(LIB_MEMORY(66 << 10), lib_peak_kib(RUSAGE_SELF) - before);
	free(text);
}

TEST_F(perf_map, a_file_of_another_user_is_refused)
{
	if (getuid())
		SKIP(return, "needs root to make a file of another user");
	lib_write(self->dir, "perf-1.map", "1000 10 x\n");
	ASSERT_EQ(0, chown(self->path, 1234, 1234));
	EXPECT_EQ(-EPERM, gprof_perf_map_read(&self->m, self->path, 1235, 0));
	EXPECT_EQ(0, gprof_perf_map_read(&self->m, self->path, 1234, 0));
}

TEST_F(perf_map, a_file_that_is_older_than_the_process_is_refused)
{
	struct stat st;

	lib_write(self->dir, "perf-1.map", "1000 10 x\n");
	ASSERT_EQ(0, stat(self->path, &st));
	EXPECT_EQ(-ESTALE, gprof_perf_map_read(&self->m, self->path, getuid(), st.st_mtime + 1));
	EXPECT_EQ(0, gprof_perf_map_read(&self->m, self->path, getuid(), st.st_mtime));
}

TEST_F(perf_map, links_pipes_and_directories_are_refused)
{
	const char *other = lib_text("%s/link", self->dir);

	lib_write(self->dir, "perf-1.map", "1000 10 x\n");
	ASSERT_EQ(0, symlink(self->path, other));
	EXPECT_GT(0, gprof_perf_map_read(&self->m, other, getuid(), 0));
	unlink(other);
	ASSERT_EQ(0, mkfifo(other, 0644));
	EXPECT_EQ(-EPERM, gprof_perf_map_read(&self->m, other, getuid(), 0));
	EXPECT_EQ(-EPERM, gprof_perf_map_read(&self->m, self->dir, getuid(), 0));
	EXPECT_EQ(-ENOENT, gprof_perf_map_read(&self->m, "/nonexistent", getuid(), 0));
}

FIXTURE(space) {
	struct gprof_spaces s;
};

FIXTURE_SETUP(space)
{
	ASSERT_EQ(0, gprof_spaces_init(&self->s));
}

FIXTURE_TEARDOWN(space)
{
	gprof_spaces_free(&self->s);
}

#define WHOLE	(GPROF_MAP_REC_F_FIRST | GPROF_MAP_REC_F_LAST)

#define NAMED(_name, _addr) do {						\
	ASSERT_TRUE(gprof_space_generated(space, _addr, 0, 0, &code));		\
	EXPECT_STREQ(_name, code.name);						\
} while (0)

TEST_F(space, maps_are_looked_up_again_for_each_profile)
{
	struct gprof_space *space;
	struct gprof_process self_id = { getpid(), 1, lib_start_ns(getpid()) };
	struct gprof_map_rec m = {
		.rec = { GPROF_REC_MAP, WHOLE, sizeof(m) },
		.process = self_id, .time = 10, .start = 0x1000, .end = 0x2000,
	};
	struct gprof_jit_code code;
	const char *map = lib_text("/tmp/perf-%d.map", getpid());

	ASSERT_EQ(0, gprof_spaces_map(&self->s, &m, "//anon"));
	space = gprof_spaces_find(&self->s, &self_id);
	ASSERT_NE(NULL, space);
	ASSERT_TRUE(lib_put(map, "1000 10 early\n", 14));
	NAMED("early", 0x1008);
	ASSERT_TRUE(lib_put(map, "1000 10 early\n1010 10 late\n", 27));
	EXPECT_FALSE(gprof_space_generated(space, 0x1018, 0, 0, &code));
	gprof_spaces_generate_again(&self->s);
	NAMED("late", 0x1018);
	/* A process that has ended took its map along, not its names. */
	unlink(map);
	gprof_spaces_generate_again(&self->s);
	NAMED("early", 0x1008);
}

FIXTURE(jitdump) {
	struct dump d;
	struct gprof_jitdump j;
};

FIXTURE_SETUP(jitdump)
{
	put_header(&self->d, 7);
}

FIXTURE_TEARDOWN(jitdump)
{
	gprof_jitdump_free(&self->j);
}

static void load_at(struct dump *d, uint64_t time, uint64_t addr, uint64_t size, uint64_t index,
		    const char *name)
{
	d->time = time;
	put_load(d, addr, size, index, name);
}

/* Of code at @code one place. */
static void put_debug(struct dump *d, uint64_t code, uint64_t addr, uint32_t line, const char *file)
{
	size_t at = debug_begin(d, code, 1);

	put_place(d, addr, line, file);
	record_end(d, at);
}

static int read_dump(struct gprof_jitdump *j, const struct dump *d, size_t len)
{
	int fd = lib_memfd(d->bytes, len), err;

	gprof_jitdump_free(j);
	err = gprof_jitdump_read(j, fd, 7);
	close(fd);
	return err;
}

/* "NAME FILE:LINE" of what was at an address from a time to another. */
static const char *place_at(struct gprof_jitdump *j, uint64_t addr, uint64_t from, uint64_t to)
{
	static char text[256];
	struct gprof_jit_code code;
	int n;

	if (!gprof_jitdump_find(j, addr, from, to, &code))
		return "-";
	n = snprintf(text, sizeof(text), "%s", code.name ? code.name : "changed");
	if (code.file || code.line)
		snprintf(text + n, sizeof(text) - n, " %s:%u", code.file ? code.file : "-",
			 code.line);
	return text;
}

/* The names at the addresses, in the times, if any, that @want has, in its form. */
static const char *places(struct gprof_jitdump *j, const char *want)
{
	unsigned long long addr, from = 0, to = 0;
	static char seen[1024];
	int len = 0, n;

	for (; sscanf(want, "%llx%n %llu %llu%n", &addr, &n, &from, &to, &n) > 0; want += n) {
		len += sprintf(seen + len, "%.*s: %s", n, want, place_at(j, addr, from, to));
		n += strcspn(want + n, ";");
		if (want[n])
			n += strspn(want + n, "; ");
		len += sprintf(seen + len, "%s", want[n] ? "; " : "");
		from = to = 0;
	}
	return seen;
}

#define READ()	ASSERT_EQ(0, read_dump(&self->j, &self->d, self->d.len))
#define EXPECT_PLACES(want)	EXPECT_STREQ(want, places(&self->j, want))

TEST_F(jitdump, functions_are_found_by_address)
{
	put_load(&self->d, 0x1000, 0x40, 1, "first");
	put_load(&self->d, 0x2000, 0x20, 2, "second");
	/* The same place again: older code is gone. */
	put_load(&self->d, 0x1000, 0x10, 3, "newer");
	READ();
	EXPECT_PLACES("1000: newer; 1010: first; 1040: -; 201f: second; fff: -");
}

TEST_F(jitdump, what_newer_code_leaves_of_a_function_has_its_places)
{
	size_t at = debug_begin(&self->d, 0x1000, 2);

	put_place(&self->d, 0x1000, 7, "a.js");
	put_place(&self->d, 0x1028, 9, "a.js");
	record_end(&self->d, at);
	put_load(&self->d, 0x1000, 0x40, 1, "old");
	put_load(&self->d, 0x1010, 0x10, 2, "newer");
	READ();
	EXPECT_PLACES("100f: old a.js:7; 1010: newer; 1020: old a.js:7; 1028: old a.js:9");
}

TEST_F(jitdump, code_that_moves_takes_its_name_and_lines_along)
{
	put_debug(&self->d, 0x1000, 0x1000, 7, "a.js");
	put_load(&self->d, 0x1000, 0x40, 9, "mover");
	put_move(&self->d, 0x1000, 0x5000, 0x40, 9);
	put_move(&self->d, 0x5000, 0x7000, 0x40, 9);
	put_move(&self->d, 0x1, 0x9000, 0x40, 10);
	READ();
	EXPECT_PLACES("5004: mover a.js:7; 7004: mover a.js:7");
	/* Of what never was loaded nothing is known. */
	EXPECT_PLACES("9000: -");
}

TEST_F(jitdump, code_is_what_it_was_at_a_time)
{
	put_debug(&self->d, 0x1000, 0x1000, 7, "a.js");
	load_at(&self->d, 100, 0x1000, 0x40, 1, "one");
	load_at(&self->d, 200, 0x0f00, 0x120, 2, "two");
	load_at(&self->d, 300, 0x1010, 0x10, 3, "three");
	put_load(&self->d, 0x2000, 0x10, 4, "two");
	load_at(&self->d, 400, 0x2000, 0x10, 5, "two");
	load_at(&self->d, 500, 0x1ff8, 0x20, 6, "five");
	load_at(&self->d, 600, 0x2000, 0x10, 7, "two");
	READ();
	EXPECT_PLACES("1010 300 900: three; 1010 200 299: two; 1010 100 199: one a.js:7");
	/* What came later than it was sampled was there nevertheless: a program may be slow to say. */
	EXPECT_PLACES("1010 50 60: one a.js:7; 0fff 50 60: two; 1020 50 60: one a.js:7");
	/* Of two names neither is right all the time. */
	EXPECT_PLACES("1010 250 300: changed; 1010 199 900: changed; 1008 199 200: changed");
	/* Compiled once more, it is the same one. */
	EXPECT_PLACES("2008 300 400: two; 2008 300 399: two; 2008 600 700: two");
	/* Which it is not where another one was between. */
	EXPECT_PLACES("2008 300 600: changed; 2008 50 700: changed");
	/* Where no time is known the newest is meant. */
	EXPECT_PLACES("1010: three");
}

TEST_F(jitdump, code_that_has_moved_was_elsewhere_before)
{
	load_at(&self->d, 100, 0x1000, 0x40, 9, "mover");
	self->d.time = 200;
	put_move(&self->d, 0x1000, 0x5000, 0x40, 9);
	load_at(&self->d, 300, 0x1000, 0x40, 10, "next");
	READ();
	EXPECT_PLACES("1004 150 250: mover; 5004 250 350: mover; 1004 301 350: next");
}

TEST_F(jitdump, times_of_another_clock_say_nothing)
{
	const uint64_t counter = 1;

	memcpy(self->d.bytes + 32, &counter, sizeof(counter));
	load_at(&self->d, 100, 0x1000, 0x40, 1, "one");
	load_at(&self->d, 200, 0x1000, 0x40, 2, "two");
	READ();
	EXPECT_PLACES("1004 150 160: two");
}

/* All of them may reach an address: of so many none is sought. */
TEST_F(jitdump, code_in_any_number_of_layers_takes_little_time)
{
	const uint64_t nr = 100000, size = 1000000;
	struct gprof_jit_code code;
	uint64_t i, addr, began;
	FILE *f = tmpfile();
	size_t one;
	char *bytes;

	ASSERT_NE(NULL, f);
	ASSERT_EQ(1, fwrite(self->d.bytes, self->d.len, 1, f));
	bytes = self->d.bytes + self->d.len;
	one = self->d.len;
	put_load(&self->d, 0, 16, 0, "even");
	one = self->d.len - one;
	memcpy(bytes + 40, &size, sizeof(size));
	for (i = 0; i < nr; i++) {
		addr = 0x1000 + i;
		memcpy(bytes + 8, &i, sizeof(i));
		memcpy(bytes + 32, &addr, sizeof(addr));
		memcpy(bytes + 48, &i, sizeof(i));
		memcpy(bytes + 56, i % 2 ? "odd\0" : "even", 4);
		ASSERT_EQ(1, fwrite(bytes, one, 1, f));
	}
	ASSERT_ZEROS(fflush(f), gprof_jitdump_read(&self->j, fileno(f), 7));
	fclose(f);
	EXPECT_STREQ("odd", place_at(&self->j, 0x1000 + nr, 0, 0));
	EXPECT_STREQ("changed", place_at(&self->j, 0x1000 + nr, 50000, 50000));
	EXPECT_STREQ("even", place_at(&self->j, 0x1000 + 1000, 500, 500));
	EXPECT_STREQ("changed", place_at(&self->j, 0x1000 + 1000, 500, 501));
	began = lib_cpu_ns();
	for (i = 0; i < 1000; i++)
		ASSERT_TRUE(gprof_jitdump_find(&self->j, 0x1000 + nr, 1, 2, &code));
	EXPECT_GT(500000000, lib_cpu_ns() - began);
	/* In all, too: each frame of a profile may be such an address. */
	for (i = 0; i < 2000000; i++)
		ASSERT_TRUE(gprof_jitdump_find(&self->j, 0x1000 + nr, 1, 2, &code));
	EXPECT_GT(5000000000, lib_cpu_ns() - began);
}

/* As of a pool of code that a program names as a whole before it fills it. */
TEST_F(jitdump, what_lies_in_a_large_function_is_found)
{
	const uint64_t nr = 5000, last = 0x1000 + (nr - 1) * 16;
	FILE *f = tmpfile();

	ASSERT_NE(NULL, f);
	load_at(&self->d, 100, 0x1000, 0x1000000, 0, "pool");
	for (uint64_t i = 0; i < 2 * nr; i++) {
		ASSERT_EQ(1, fwrite(self->d.bytes, self->d.len, 1, f));
		self->d.len = 0;
		self->d.time = 1000 + i;
		put_load(&self->d, 0x1000 + i % nr * 16, 16, i, i < nr ? "first" : "second");
	}
	ASSERT_EQ(1, fwrite(self->d.bytes, self->d.len, 1, f));
	ASSERT_ZEROS(fflush(f), gprof_jitdump_read(&self->j, fileno(f), 7));
	fclose(f);
	EXPECT_STREQ("second", place_at(&self->j, last, 1000 + 2 * nr, 1000 + 2 * nr));
	EXPECT_STREQ("first", place_at(&self->j, last, 1000 + nr, 1000 + nr));
	EXPECT_STREQ("pool", place_at(&self->j, last, 500, 600));
	EXPECT_STREQ("changed", place_at(&self->j, last, 500, 1000 + nr));
}

/* Which takes its writer next to no disk. */
TEST_F(jitdump, a_file_of_holes_has_an_end)
{
	const uint32_t rec[4] = { 2, sizeof(rec) + (16U << 20) };
	int fd = lib_memfd(self->d.bytes, self->d.len), err;
	off_t at = (off_t)self->d.len;
	uint64_t i, began;

	ASSERT_LE(0, fd);
	for (i = 0; i < 2000; i++, at += rec[1])
		ASSERT_EQ(sizeof(rec), pwrite(fd, rec, sizeof(rec), at));
	self->d.len = 0;
	put_load(&self->d, 0x1000, 0x40, 1, "behind");
	ASSERT_EQ((ssize_t)self->d.len, pwrite(fd, self->d.bytes, self->d.len, at));
	began = lib_cpu_ns();
	err = gprof_jitdump_read(&self->j, fd, 7);
	close(fd);
	ASSERT_EQ(0, err);
	EXPECT_GT(2000000000, lib_cpu_ns() - began);
	EXPECT_PLACES("1000: behind");
	EXPECT_TRUE(self->j.lines_left_out);
}

TEST_F(jitdump, places_belong_to_the_function_behind_them)
{
	size_t at = debug_begin(&self->d, 0x1000, 3);

	/* In any order; "\xff" is the source of the one before. */
	put_place(&self->d, 0x1020, 12, "a.js");
	put_place(&self->d, 0x1000, 10, "\xff");
	put_place(&self->d, 0x1010, 3, "b.js");
	record_end(&self->d, at);
	put_load(&self->d, 0x1000, 0x40, 1, "first");
	/* Of other code than what follows. */
	put_debug(&self->d, 0x9000, 0x9000, 99, "c.js");
	put_load(&self->d, 0x2000, 0x40, 2, "second");
	put_debug(&self->d, 0x3000, 0x3004, 30, "d.js");
	put_load(&self->d, 0x3000, 0x40, 3, "third");
	READ();
	EXPECT_PLACES("100f: first a.js:10; 1010: first b.js:3; 103f: first a.js:12; 2000: second; "
		      "3003: third; 3004: third d.js:30");
}

/* It is being written. */
TEST_F(jitdump, what_is_whole_counts)
{
	size_t whole, len;

	put_load(&self->d, 0x1000, 0x40, 1, "first");
	whole = self->d.len;
	put_load(&self->d, 0x2000, 0x40, 2, "second");
	for (len = whole; len < whole + 16 + 40 + sizeof("second"); len++) {
		ASSERT_EQ(0, read_dump(&self->j, &self->d, len));
		EXPECT_STREQ("first", place_at(&self->j, 0x1000, 0, 0));
		EXPECT_EQ(1, self->j.nr);
	}
	READ();
	EXPECT_EQ(2, self->j.nr);
	/* Room that was made and not yet written: no record is that short. */
	memset(self->d.bytes + self->d.len, 0, 64);
	ASSERT_EQ(0, read_dump(&self->j, &self->d, self->d.len + 64));
	EXPECT_EQ(2, self->j.nr);
}

TEST_F(jitdump, what_is_none_of_the_process_is_refused)
{
	READ();
	put_header(&self->d, 8);
	EXPECT_EQ(-ESRCH, read_dump(&self->j, &self->d, self->d.len));
	put_header(&self->d, 7);
	memcpy(self->d.bytes, "JiTD", 4);	/* the other byte order */
	EXPECT_EQ(-EINVAL, read_dump(&self->j, &self->d, self->d.len));
	EXPECT_EQ(-EINVAL, read_dump(&self->j, &self->d, 39));
	EXPECT_EQ(-EINVAL, read_dump(&self->j, &self->d, 0));
}

TEST_F(jitdump, records_that_make_no_sense_are_passed)
{
	uint32_t huge = UINT32_MAX;
	size_t at, i;

	put_load(&self->d, 0x1000, 0, 1, "empty");
	put_load(&self->d, UINT64_MAX - 8, 0x40, 2, "wraps");
	put_load(&self->d, 0x3000, 0x40, 3, "");
	at = record_begin(&self->d, 4711);
	PUT(&self->d, uint64_t, 0);
	record_end(&self->d, at);
	for (i = 0; i < 3; i++) {
		at = record_begin(&self->d, i);
		PUT(&self->d, uint64_t, 0);
		record_end(&self->d, at);
	}
	/* More places than there are, the last without an end. */
	at = debug_begin(&self->d, 0x2000, UINT64_MAX);
	put_place(&self->d, 0x2000, 5, "a.js");
	put_place(&self->d, 0x1fff, 6, "a.js");
	put_place(&self->d, 0x2004, 7, "b.js");
	self->d.len--;
	record_end(&self->d, at);
	put_load(&self->d, 0x2000, 0x40, 4, "good");
	at = record_begin(&self->d, 0);
	memcpy(self->d.bytes + at + 4, &huge, sizeof(huge));
	READ();
	EXPECT_EQ(1, self->j.nr);
	EXPECT_PLACES("2008: good a.js:5");
}

TEST_F(jitdump, many_functions_take_no_more_memory_than_is_said)
{
	const size_t nr = 1200000;
	long before;
	size_t one, i;
	uint64_t addr;
	char *bytes;
	FILE *f;

	put_load(&self->d, 0x1000, 1, 1, "f");
	one = self->d.len - 48;
	bytes = self->d.bytes + 48;
	f = tmpfile();
	ASSERT_NE(NULL, f);
	fwrite(self->d.bytes, 48, 1, f);
	before = lib_peak_kib(RUSAGE_SELF);
	for (i = 0; i < nr; i++) {
		addr = 0x1000 + i;
		memcpy(bytes + 32, &addr, sizeof(addr));
		memcpy(bytes + 48, &i, sizeof(i));
		ASSERT_EQ(1, fwrite(bytes, one, 1, f));
	}
	ASSERT_EQ(0, fflush(f));
	EXPECT_EQS(-EFBIG, gprof_jitdump_read(&self->j, fileno(f), 7), 0, self->j.nr);
	/* A quarter of them is taken. */
	ASSERT_EQ(0, ftruncate(fileno(f), 48 + nr / 4 * one));
	ASSERT_EQ(0, gprof_jitdump_read(&self->j, fileno(f), 7));
	EXPECT_EQ(nr / 4, self->j.nr);
	EXPECT_GT(LIB_MEMORY(80 << 10), lib_peak_kib(RUSAGE_SELF) - before);
	fclose(f);
}

TEST_F(space, a_jitdump_is_found_by_its_mapping_and_read_on)
{
	struct gprof_process self_id = { getpid(), 1, lib_start_ns(getpid()) };
	struct gprof_jit_code code;
	const char *dir = lib_tmpdir();
	struct gprof_space *space;
	struct dump *d = calloc(1, sizeof(*d));
	struct { struct gprof_map_rec m; char path[128]; } r = {
		.m = {
			.rec = { GPROF_REC_MAP, WHOLE | GPROF_MAP_REC_F_FILE, sizeof(r) },
			.process = self_id, .time = 10,
		},
	};
	struct gprof_map_file *file;
	struct stat st;
	void *page;
	int fd;

	ASSERT_NE(NULL, d);
	snprintf(r.m.path, sizeof(r.path), "%s/jit-%d.dump", dir, getpid());
	put_header(d, getpid());
	put_load(d, 0x1000, 0x40, 1, "early");
	ASSERT_TRUE(lib_put(r.m.path, d->bytes, d->len));
	fd = open(r.m.path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, fstat(fd, &st));
	close(fd);
	r.m.start = (uintptr_t)page;
	r.m.end = r.m.start + 4096;
	r.m.inode = st.st_ino;
	r.m.dev_major = major(st.st_dev);
	r.m.dev_minor = minor(st.st_dev);
	/* As the kernel saw it when it was mapped. */
	file = (struct gprof_map_file *)gprof_map_file(&r.m);
	file->file_size = st.st_size;
	file->mtime_ns = st.st_mtim.tv_sec * 1000000000ULL + st.st_mtim.tv_nsec;
	ASSERT_EQ(0, gprof_spaces_map(&self->s, &r.m, r.m.path));
	space = gprof_spaces_find(&self->s, &self_id);
	ASSERT_NE(NULL, space);
	NAMED("early", 0x1008);
	EXPECT_EQ(NULL, code.file);
	/* The program goes on compiling. */
	put_load(d, 0x2000, 0x40, 2, "late");
	ASSERT_TRUE(lib_put(r.m.path, d->bytes, d->len));
	EXPECT_FALSE(gprof_space_generated(space, 0x2008, 0, 0, &code));
	gprof_spaces_generate_again(&self->s);
	NAMED("late", 0x2008);
	/* A dump that somebody else put there, or that says it is another's. */
	put_header(d, getpid() + 1);
	put_load(d, 0x2000, 0x40, 2, "false");
	ASSERT_TRUE(lib_put(r.m.path, d->bytes, d->len));
	gprof_spaces_generate_again(&self->s);
	NAMED("late", 0x2008);
	munmap(page, 4096);
	lib_sh("rm -rf %s", dir);
	free(d);
}

TEST(names_of_jitdumps)
{
	EXPECT_TRUES(gprof_is_jitdump("/tmp/jit-12.dump"), gprof_is_jitdump("jit-1.dump"));
	EXPECT_ZEROS(gprof_is_jitdump("/tmp/jit-.dump"), gprof_is_jitdump("/tmp/jit-12.dump.so"),
		     gprof_is_jitdump("/tmp/jit-12/x"), gprof_is_jitdump("//anon"));
}

TEST_HARNESS_MAIN
