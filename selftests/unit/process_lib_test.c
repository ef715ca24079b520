// SPDX-License-Identifier: GPL-2.0-only
/* Address spaces, and names of the kernel. */
#include "harness.h"
#include <linux/fs.h>

#include <sys/inotify.h>
#include <sys/sysmacros.h>

#include "device/decode.h"
#include "record/table_loader.h"
#include "symbol/file_pool.h"
#include "symbol/kernel_table.h"
#include "lib_util.h"
#include "symbol/process.h"
#include "symbol/process_lookup.h"
#include "symbol/symbolizer.h"

#define PID	(1 << 29)	/* no process has it */

FIXTURE(space) {
	struct gprof_spaces s;
	struct gprof_process id;
};

FIXTURE_SETUP(space)
{
	ASSERT_EQ(0, gprof_spaces_init(&self->s));
	self->id = (struct gprof_process){ .pid = PID, .exec_id = 1, .start_ns = 9 };
}

FIXTURE_TEARDOWN(space)
{
	gprof_spaces_free(&self->s);
}

static int map(struct gprof_spaces *s, const struct gprof_process *id, uint64_t time,
	       uint32_t exec_map_seq, uint16_t flags, uint64_t start, const char *path)
{
	struct gprof_map_rec m = {
		.rec = { GPROF_REC_MAP, flags, sizeof(m) }, .process = *id, .time = time,
		.start = start, .end = start + 0x1000, .exec_map_seq = exec_map_seq,
	};

	return gprof_spaces_map(s, &m, path);
}

#define WHOLE	(GPROF_MAP_REC_F_FIRST | GPROF_MAP_REC_F_LAST)

static const char *at(struct gprof_spaces *s, const struct gprof_process *id, uint32_t exec_map_seq,
		      uint64_t time, uint64_t addr)
{
	struct gprof_space *space = gprof_spaces_find(s, id);
	const struct gprof_vma *vma = NULL;
	bool changed = false;

	if (space)
		vma = gprof_space_vma(space, exec_map_seq, time, addr, &changed);
	return vma ? vma->path : changed ? "changed" : "none";
}

TEST_F(space, an_address_is_found_in_its_mapping)
{
	ASSERT_EQ(0, map(&self->s, &self->id, 10, 1, GPROF_MAP_REC_F_FIRST, 0x5000, "b"));
	ASSERT_EQ(0, map(&self->s, &self->id, 10, 1, 0, 0x1000, "a"));
	ASSERT_EQ(0, map(&self->s, &self->id, 10, 1, GPROF_MAP_REC_F_LAST, 0x9000, "c"));
	EXPECT_STREQ("a", at(&self->s, &self->id, 1, 20, 0x1000));
	EXPECT_STREQ("a", at(&self->s, &self->id, 1, 20, 0x1fff));
	EXPECT_STREQ("none", at(&self->s, &self->id, 1, 20, 0x2000));
	EXPECT_STREQ("b", at(&self->s, &self->id, 1, 20, 0x5800));
	EXPECT_STREQ("c", at(&self->s, &self->id, 1, 20, 0x9000));
	EXPECT_STREQ("none", at(&self->s, &self->id, 1, 20, 0));
	EXPECT_STREQ("none", at(&self->s, &self->id, 1, 20, UINT64_MAX));
}

TEST_F(space, program_runs_are_kept_apart)
{
	struct gprof_process other = self->id;

	map(&self->s, &self->id, 10, 1, WHOLE, 0x1000, "first");
	other.exec_id++;
	map(&self->s, &other, 10, 1, WHOLE, 0x1000, "after exec");
	EXPECT_STREQ("first", at(&self->s, &self->id, 1, 20, 0x1000));
	EXPECT_STREQ("after exec", at(&self->s, &other, 1, 20, 0x1000));
	other.start_ns++;
	EXPECT_STREQ("none", at(&self->s, &other, 1, 20, 0x1000));
}

TEST_F(space, the_stamp_decides_before_the_time)
{
	map(&self->s, &self->id, 10, 1, WHOLE, 0x1000, "old");
	map(&self->s, &self->id, 30, 2, WHOLE, 0x1000, "new");
	EXPECT_STREQ("old", at(&self->s, &self->id, 1, 40, 0x1000));
	EXPECT_STREQ("new", at(&self->s, &self->id, 2, 5, 0x1000));
}

TEST_F(space, with_one_stamp_the_latest_reading_before_the_sample_counts)
{
	map(&self->s, &self->id, 10, 1, WHOLE, 0x1000, "a");
	map(&self->s, &self->id, 20, 1, WHOLE, 0x1000, "b");
	map(&self->s, &self->id, 30, 1, WHOLE, 0x1000, "c");
	EXPECT_STREQ("a", at(&self->s, &self->id, 1, 15, 0x1000));
	EXPECT_STREQ("b", at(&self->s, &self->id, 1, 20, 0x1000));
	EXPECT_STREQ("b", at(&self->s, &self->id, 1, 29, 0x1000));
	EXPECT_STREQ("c", at(&self->s, &self->id, 1, 99, 0x1000));
	EXPECT_STREQ("a", at(&self->s, &self->id, 1, 5, 0x1000));
}

TEST_F(space, without_the_stamp_the_nearest_reading_with_the_address_counts)
{
	map(&self->s, &self->id, 10, 1, WHOLE, 0x1000, "far");
	map(&self->s, &self->id, 100, 2, WHOLE, 0x1000, "near");
	map(&self->s, &self->id, 110, 3, WHOLE, 0x8000, "elsewhere");
	EXPECT_STREQ("near", at(&self->s, &self->id, 77, 112, 0x1000));
	EXPECT_STREQ("far", at(&self->s, &self->id, 77, 20, 0x1000));
	/* The stamp is known, but that reading does not have the address. */
	EXPECT_STREQ("near", at(&self->s, &self->id, 3, 112, 0x1000));
}

#define UNMAPPED(times, code)	((uint32_t)(times) << GPROF_EXEC_MAP_SEQ_UNMAPPED_SHIFT | (code))

/* Nothing that it may not have been: the kernel counts what it unmaps of what was read. */
TEST_F(space, what_was_unmapped_since_is_not_taken_for_what_is_in_its_place)
{
	map(&self->s, &self->id, 10, UNMAPPED(0, 5), GPROF_MAP_REC_F_FIRST, 0x1000, "a");
	map(&self->s, &self->id, 10, UNMAPPED(0, 5), GPROF_MAP_REC_F_LAST, 0x5000, "lib");
	map(&self->s, &self->id, 30, UNMAPPED(2, 5), GPROF_MAP_REC_F_FIRST, 0x1000, "c");
	map(&self->s, &self->id, 30, UNMAPPED(2, 5), 0, 0x5000, "lib");
	map(&self->s, &self->id, 30, UNMAPPED(2, 5), GPROF_MAP_REC_F_LAST, 0x9000, "new");
	EXPECT_STREQ("a", at(&self->s, &self->id, UNMAPPED(0, 5), 40, 0x1000));
	EXPECT_STREQ("c", at(&self->s, &self->id, UNMAPPED(2, 5), 5, 0x1000));
	/* More was mapped, and nothing unmapped. */
	EXPECT_STREQ("a", at(&self->s, &self->id, UNMAPPED(0, 7), 20, 0x1000));
	EXPECT_STREQ("c", at(&self->s, &self->id, UNMAPPED(2, 7), 20, 0x1000));
	/* Between the two: it may have been "b". */
	EXPECT_STREQ("changed", at(&self->s, &self->id, UNMAPPED(1, 5), 20, 0x1000));
	EXPECT_STREQ("lib", at(&self->s, &self->id, UNMAPPED(1, 5), 20, 0x5000));
	EXPECT_STREQ("new", at(&self->s, &self->id, UNMAPPED(1, 5), 20, 0x9000));
	EXPECT_STREQ("none", at(&self->s, &self->id, UNMAPPED(1, 5), 20, 0x7000));
	/* Nobody has looked before, or since. */
	EXPECT_STREQ("lib", at(&self->s, &self->id, UNMAPPED(9, 5), 5, 0x5000));
	EXPECT_STREQ("changed", at(&self->s, &self->id, UNMAPPED(9, 5), 5, 0x1000));
	EXPECT_STREQ("changed", at(&self->s, &self->id, UNMAPPED(3, 5), 35, 0x1000));
	/* Where they take turns, it may have been the other one. */
	map(&self->s, &self->id, 40, UNMAPPED(4, 5), WHOLE, 0x1000, "c");
	EXPECT_STREQ("changed", at(&self->s, &self->id, UNMAPPED(3, 5), 35, 0x1000));
}

TEST_F(space, what_comes_and_goes_is_kept_once_with_its_stamps)
{
	struct gprof_space *space;
	size_t i, own = 0;

	for (i = 0; i < 100; i++) {
		map(&self->s, &self->id, 10 * i, UNMAPPED(i, 5), GPROF_MAP_REC_F_FIRST, 0x1000,
		    i % 2 ? "a" : "b");
		map(&self->s, &self->id, 10 * i, UNMAPPED(i, 5), GPROF_MAP_REC_F_LAST, 0x5000, "lib");
	}
	space = gprof_spaces_find(&self->s, &self->id);
	ASSERT_NE(NULL, space);
	for (i = 0; i < space->nr; i++)
		own += !space->readings[i].shared;
	EXPECT_EQ(2, own);
	for (i = 0; i < 100; i++)
		ASSERT_STREQ(i % 2 ? "a" : "b",
			     at(&self->s, &self->id, UNMAPPED(i, 5), 10 * i + 5, 0x1000));
	/* Another CPU's buffer had more of the last one. */
	map(&self->s, &self->id, 990, UNMAPPED(99, 5), 0, 0x7000, "more");
	EXPECT_STREQ("more", at(&self->s, &self->id, UNMAPPED(99, 5), 995, 0x7000));
	EXPECT_STREQ("none", at(&self->s, &self->id, UNMAPPED(97, 5), 975, 0x7000));
}

TEST_F(space, a_reading_that_is_repeated_is_kept_once)
{
	struct gprof_space *space;

	for (int i = 0; i < 100; i++) {
		map(&self->s, &self->id, 10 + i, 1, GPROF_MAP_REC_F_FIRST, 0x1000, "a");
		map(&self->s, &self->id, 10 + i, 1, GPROF_MAP_REC_F_LAST, 0x5000, "b");
		/* From another CPU's buffer. */
		map(&self->s, &self->id, 10 + i, 1, GPROF_MAP_REC_F_FIRST, 0x1000, "a");
		map(&self->s, &self->id, 10 + i, 1, GPROF_MAP_REC_F_LAST, 0x5000, "b");
	}
	space = gprof_spaces_find(&self->s, &self->id);
	ASSERT_NE(NULL, space);
	EXPECT_EQS(1, space->nr, 2, space->readings[0].nr, 10, space->readings[0].time,
		   109, space->readings[0].last_time);
	map(&self->s, &self->id, 200, 1, WHOLE, 0x1000, "other");
	EXPECT_EQ(2, gprof_spaces_find(&self->s, &self->id)->nr);
}

TEST_F(space, deleted_is_no_part_of_a_name)
{
	map(&self->s, &self->id, 10, 1, WHOLE, 0x1000, "/tmp/x (deleted)");
	EXPECT_STREQ("/tmp/x", at(&self->s, &self->id, 1, 20, 0x1000));
}

TEST_F(space, a_child_has_the_mappings_of_its_parent)
{
	const uint64_t inside[] = { 0x1000, 0x5fff }, outside[] = { 0x1000, 0x6000 };
	struct gprof_process child = { PID + 1, 1, 20 }, other = { PID + 2, 1, 15 };
	uint32_t stamp = UNMAPPED(3, 7), less = UNMAPPED(3, 8);
	struct gprof_space *space;

	map(&self->s, &self->id, 10, 7, GPROF_MAP_REC_F_FIRST, 0x1000, "a");
	map(&self->s, &self->id, 10, 7, GPROF_MAP_REC_F_LAST, 0x5000, "b");
	space = gprof_spaces_relative(&self->s, &child, &stamp, inside, 2);
	ASSERT_NE(NULL, space);
	EXPECT_EQ(PID, space->id.pid);
	/* What either unmaps is counted for itself. */
	EXPECT_EQ(7, stamp);
	EXPECT_STREQ("b", gprof_space_vma(space, stamp, 30, 0x5fff, NULL)->path);
	stamp = UNMAPPED(3, 7);
	EXPECT_EQ(NULL, gprof_spaces_relative(&self->s, &child, &stamp, outside, 2));
	EXPECT_EQ(NULL, gprof_spaces_relative(&self->s, &child, &less, inside, 2));
	child.exec_id = 2;
	EXPECT_EQ(NULL, gprof_spaces_relative(&self->s, &child, &stamp, inside, 2));
	child.exec_id = 1;
	child.start_ns = 8;
	EXPECT_EQ(NULL, gprof_spaces_relative(&self->s, &child, &stamp, inside, 2));
	/* Of two the younger one is nearer. */
	child.start_ns = 20;
	map(&self->s, &other, 10, 7, GPROF_MAP_REC_F_FIRST, 0x1000, "c");
	map(&self->s, &other, 10, 7, GPROF_MAP_REC_F_LAST, 0x5000, "d");
	EXPECT_EQ(PID + 2, gprof_spaces_relative(&self->s, &child, &stamp, inside, 2)->id.pid);
	/* Nobody knows which of two files the child has. */
	map(&self->s, &other, 12, UNMAPPED(1, 7), WHOLE, 0x5000, "e");
	EXPECT_EQ(NULL, gprof_spaces_relative(&self->s, &child, &stamp, inside, 2));
}

#define KNOWN	(1 << 0)	/* the kernel says size and time of the file */
#define NOTED	(1 << 1)	/* and its build-id */

/* A real file, mapped by @id: @path, as the kernel would tell of the file with @st. */
static int map_stat(struct gprof_spaces *s, const struct gprof_process *id, const char *path,
		    const struct stat *st, int what, const void *build_id, uint64_t start)
{
	struct { struct gprof_map_rec m; char space[512]; } r = {
		.m = {
			.rec = { GPROF_REC_MAP, WHOLE, sizeof(r) },
			.process = *id, .time = 10 + start, .start = start, .end = start + 0x100000,
			.inode = st->st_ino, .dev_major = major(st->st_dev),
			.dev_minor = minor(st->st_dev), .exec_map_seq = 1,
		},
	};
	struct gprof_map_file *file;

	strcpy(r.m.path, path);
	if (what) {
		r.m.rec.flags |= GPROF_MAP_REC_F_FILE;
		file = (struct gprof_map_file *)gprof_map_file(&r.m);
		file->file_size = st->st_size;
		file->mtime_ns = st->st_mtim.tv_sec * 1000000000ULL + st->st_mtim.tv_nsec;
		if (what & NOTED) {
			file->build_id_size = GPROF_BUILD_ID_SIZE;
			memcpy(file->build_id, build_id, GPROF_BUILD_ID_SIZE);
		}
	}
	return gprof_spaces_map(s, &r.m, r.m.path);
}

static struct gprof_object *object_of(struct gprof_spaces *s, const struct gprof_process *id)
{
	struct gprof_space *space = gprof_spaces_find(s, id);
	struct gprof_reading *r = &space->readings[space->nr - 1];

	return r->v[r->nr - 1].object;
}

FIXTURE(file) {
	struct gprof_spaces s;
	struct gprof_process dead;	/* nobody */
	struct gprof_process self;	/* we */
	const char *dir;
	char path[128];			/* a copy of our program */
	struct stat st;			/* of it */
	unsigned char build_id[GPROF_BUILD_ID_SIZE];
};

FIXTURE_SETUP(file)
{
	ASSERT_EQ(0, gprof_spaces_init(&self->s));
	self->dead = (struct gprof_process){ .pid = PID, .exec_id = 1, .start_ns = 9 };
	self->self = (struct gprof_process){ getpid(), 1, lib_start_ns(getpid()) };
	self->dir = lib_tmpdir();
	snprintf(self->path, sizeof(self->path), "%s/program", self->dir);
	ASSERT_EQ(0, lib_sh("cp /proc/%d/exe %s", getpid(), self->path));
	ASSERT_EQ(0, stat(self->path, &self->st));
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, self->path, &self->st, 0, NULL, 0x100000));
	ASSERT_EQ(GPROF_BUILD_ID_SIZE, object_of(&self->s, &self->dead)->build_id_len);
	memcpy(self->build_id, object_of(&self->s, &self->dead)->build_id, GPROF_BUILD_ID_SIZE);
}

FIXTURE_TEARDOWN(file)
{
	gprof_spaces_free(&self->s);
	gprof_pool_limit(0);
	lib_sh("rm -rf %s", self->dir);
}

TEST_F(file, counts_only_when_it_is_the_one_that_was_mapped)
{
	struct stat other = self->st;
	struct gprof_object *obj;

	EXPECT_TRUE(object_of(&self->s, &self->dead)->elf);
	other.st_ino++;
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, self->path, &other, 0, NULL, 0x200000));
	obj = object_of(&self->s, &self->dead);
	EXPECT_FALSE(obj->elf);
	EXPECT_EQ(GPROF_MISSING_OTHER, obj->why);
	/* Two file systems number their files alike. */
	other = self->st;
	other.st_dev = makedev(major(other.st_dev), minor(other.st_dev) + 1);
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, self->path, &other, 0, NULL, 0x300000));
	EXPECT_FALSE(object_of(&self->s, &self->dead)->elf);
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, "relative", &self->st, 0, NULL, 0x400000));
	obj = object_of(&self->s, &self->dead);
	EXPECT_FALSE(obj->elf);
	EXPECT_EQ(GPROF_MISSING_GONE, obj->why);
}

TEST_F(file, is_known_again_by_its_build_id_where_a_file_system_shows_other_numbers)
{
	struct stat lower = self->st;
	struct gprof_object *obj;

	lower.st_ino += 1000;
	lower.st_dev = makedev(7, 7);
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, self->path, &lower, NOTED, self->build_id,
			      0x200000));
	EXPECT_TRUE(object_of(&self->s, &self->dead)->elf);
	/* But not by size and time alone, nor another file by its numbers. */
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, self->path, &lower, KNOWN, NULL, 0x300000));
	obj = object_of(&self->s, &self->dead);
	EXPECT_FALSE(obj->elf);
	EXPECT_EQ(GPROF_MISSING_OTHER, obj->why);
	self->build_id[3] ^= 1;
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, self->path, &self->st, NOTED, self->build_id,
			      0x400000));
	obj = object_of(&self->s, &self->dead);
	EXPECT_FALSE(obj->elf);
	EXPECT_EQ(GPROF_MISSING_OTHER, obj->why);
}

/* Whoever makes a program chooses its build-id. */
TEST_F(file, that_claims_the_build_id_of_another_is_not_that)
{
	struct gprof_object *obj;

	ASSERT_EQ(0, lib_sh("cd %s && cp program other && mv other program", self->dir));
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, self->path, &self->st, NOTED, self->build_id,
			      0x200000));
	obj = object_of(&self->s, &self->dead);
	EXPECT_FALSE(obj->elf);
	EXPECT_EQ(GPROF_MISSING_OTHER, obj->why);
	/* While both are there, each has its own. */
	ASSERT_EQ(0, stat(self->path, &self->st));
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, self->path, &self->st, NOTED, self->build_id,
			      0x300000));
	EXPECT_TRUE(object_of(&self->s, &self->dead)->elf);
	EXPECT_NE(obj, object_of(&self->s, &self->dead));
}

TEST_F(file, that_was_written_to_since_is_another_one)
{
	struct stat before = self->st;

	before.st_mtim.tv_nsec = (before.st_mtim.tv_nsec + 1) % 1000000000;
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, self->path, &before, KNOWN, NULL, 0x200000));
	EXPECT_FALSE(object_of(&self->s, &self->dead)->elf);
	EXPECT_EQ(GPROF_MISSING_OTHER, object_of(&self->s, &self->dead)->why);
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, self->path, &self->st, KNOWN, NULL, 0x300000));
	EXPECT_TRUE(object_of(&self->s, &self->dead)->elf);
}

/* By an installer that does not care for who has it open. */
TEST_F(file, that_is_written_to_while_it_is_open_has_no_names)
{
	struct gprof_object *obj = object_of(&self->s, &self->dead);
	int fd;

	ASSERT_TRUE(obj->elf);
	/* The same program once more: it is of the same build. */
	ASSERT_EQ(0, lib_sh("cat /proc/%d/exe >%s", getpid(), self->path));
	EXPECT_NE(NULL, gprof_object_symbolizer(obj));
	gprof_object_done(obj);
	EXPECT_EQ(GPROF_MISSING_NOT, obj->why);
	ASSERT_EQ(0, lib_sh("cat /bin/ls >%s", self->path));
	fd = gprof_object_dup(obj);
	EXPECT_EQS(-1, fd, NULL, gprof_object_symbolizer(obj), GPROF_MISSING_OTHER, obj->why);
}

extern const char __ehdr_start[];

TEST_F(file, that_the_program_has_closed_is_opened_again)
{
	const uint64_t here = (uintptr_t)lib_start_ns - (uintptr_t)__ehdr_start;
	struct gprof_object *obj = object_of(&self->s, &self->dead);
	struct gprof_symbol_frame frames[GPROF_FRAMES_MAX];
	struct gprof_symbolizer *s;
	bool inlines;

	ASSERT_NE(NULL, gprof_object_symbolizer(obj));
	closefrom(512);
	s = gprof_object_symbolizer(obj);
	ASSERT_NE(NULL, s);
	EXPECT_LT(0, gprof_symbolizer_frames(s, here, frames, &inlines));
	gprof_object_done(obj);
	EXPECT_EQ(GPROF_MISSING_NOT, obj->why);
}

/* A file that is written to keeps its number, and the generation of that. */
TEST_F(file, without_a_build_id_that_was_written_to_since_is_another_one)
{
	struct gprof_file_id id = { .path = self->path, .known = true };
	struct gprof_mapped_at at = { .process = self->dead };
	enum gprof_missing why;
	unsigned int generation = 0;
	int fd;

	fd = open(self->path, O_RDONLY | O_CLOEXEC);
	if (ioctl(fd, FS_IOC_GETVERSION, &generation) || !generation) {
		close(fd);
		SKIP(return, "the file system of %s tells no generations", self->dir);
	}
	close(fd);
	id.inode = self->st.st_ino;
	id.dev_major = major(self->st.st_dev);
	id.dev_minor = minor(self->st.st_dev);
	id.generation = generation;
	id.size = self->st.st_size;
	id.mtime_ns = self->st.st_mtim.tv_sec * 1000000000ULL + self->st.st_mtim.tv_nsec;
	fd = gprof_mapped_open(&id, &at, &why);
	EXPECT_LE(0, fd);
	close(fd);
	id.mtime_ns--;
	EXPECT_EQS(-1, gprof_mapped_open(&id, &at, &why), GPROF_MISSING_OTHER, why);
}

/* Opening a pipe lets its writer go on, opening a watchdog starts it. */
TEST_F(file, that_is_a_pipe_is_never_opened)
{
	char path[160];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/pipe", self->dir);
	ASSERT_EQ(0, mkfifo(path, 0600));
	fd = inotify_init1(IN_NONBLOCK);
	ASSERT_LE(0, fd);
	ASSERT_LE(0, inotify_add_watch(fd, path, IN_OPEN));
	ASSERT_ZEROS(stat(path, &st), map_stat(&self->s, &self->dead, path, &st, 0, NULL, 0x200000),
		     map_stat(&self->s, &self->dead, path, &st, NOTED, self->build_id, 0x300000));
	EXPECT_FALSE(object_of(&self->s, &self->dead)->elf);
	EXPECT_EQ(GPROF_MISSING_OTHER, object_of(&self->s, &self->dead)->why);
	errno = 0;
	EXPECT_EQS(-1, read(fd, path, sizeof(path)), EAGAIN, errno);
	close(fd);
}

TEST_F(file, is_not_found_through_a_link)
{
	const char *link = lib_text("%s/link", self->dir);

	ASSERT_EQ(0, symlink(self->path, link));
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, link, &self->st, NOTED, self->build_id,
			      0x200000));
	EXPECT_FALSE(object_of(&self->s, &self->dead)->elf);
}

TEST_F(file, may_be_called_deleted)
{
	const char *name = lib_text("%s (deleted)", self->path);

	ASSERT_EQ(0, rename(self->path, name));
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, name, &self->st, NOTED, self->build_id,
			      0x200000));
	EXPECT_TRUE(object_of(&self->s, &self->dead)->elf);
	EXPECT_STREQ(name, object_of(&self->s, &self->dead)->path);
}

TEST_F(file, of_a_living_process_is_what_it_executes)
{
	struct stat st;
	char exe[PATH_MAX] = "";

	ASSERT_NE(0, self->self.start_ns);
	ASSERT_EQ(0, stat("/proc/self/exe", &st));
	ASSERT_LT(0, readlink("/proc/self/exe", exe, sizeof(exe) - 1));
	/* As overlayfs tells it; without a build-id its size and time must do. */
	st.st_ino += 1000;
	ASSERT_EQ(0, map_stat(&self->s, &self->self, exe, &st, KNOWN, NULL, 0x200000));
	EXPECT_TRUE(object_of(&self->s, &self->self)->elf);
	/* A file of another name is not what it executes. */
	ASSERT_EQ(0, map_stat(&self->s, &self->self, "/lib/x", &st, KNOWN, NULL, 0x300000));
	EXPECT_FALSE(object_of(&self->s, &self->self)->elf);
}

/* No code of it runs here, so its table would be of no use. */
TEST_F(file, of_another_machine_gets_no_unwind_table)
{
	struct gprof_table_loader t = {
		.running = true, .lock = PTHREAD_MUTEX_INITIALIZER,
		.more = PTHREAD_COND_INITIALIZER,
	};
	struct stat st;

	gprof_table_loader_scan(&t, &self->s.objects);
	EXPECT_EQ(1, t.nr);
	lib_sh("printf '\\001\\001' | dd of=%s bs=1 seek=18 conv=notrunc status=none", self->path);
	ASSERT_EQ(0, stat(self->path, &st));
	ASSERT_EQ(0, map_stat(&self->s, &self->dead, self->path, &st, KNOWN, NULL, 0x200000));
	EXPECT_TRUE(object_of(&self->s, &self->dead)->elf);
	EXPECT_TRUE(object_of(&self->s, &self->dead)->foreign);
	gprof_table_loader_scan(&t, &self->s.objects);
	EXPECT_EQ(1, t.nr);
}

TEST_F(file, beyond_the_limit_is_closed_but_keeps_its_build_id)
{
	struct gprof_spaces second;
	struct gprof_object *first;
	char path[160];
	struct stat st;

	gprof_pool_limit(8);
	ASSERT_EQ(0, gprof_spaces_init(&second));
	for (size_t i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "%s/copy%zu", self->dir, i);
		ASSERT_ZEROS(lib_sh("cp /proc/%d/exe %s", getpid(), path), stat(path, &st));
		ASSERT_EQ(0, map_stat(&self->s, &self->dead, path, &st, KNOWN, NULL,
				      0x1000000 * (i + 1)));
		/* Another event's, which has the same bound and the same descriptors. */
		ASSERT_EQ(0, map_stat(&second, &self->dead, path, &st, KNOWN, NULL,
				      0x1000000 * (i + 1)));
	}
	EXPECT_EQ(8, gprof_pool_open());
	for (size_t i = 13; i < 21; i++)
		EXPECT_EQ(self->s.objects.v[i]->file, second.objects.v[i - 1]->file);
	first = self->s.objects.v[1];
	EXPECT_EQ(-1, gprof_pool_dup(first->file));
	EXPECT_NE(0, first->build_id_len);
	EXPECT_NE(NULL, gprof_object_symbolizer(first));
	gprof_object_done(first);
	/* The closed file has been written to meanwhile. */
	first = self->s.objects.v[2];
	ASSERT_EQ(-1, gprof_pool_dup(first->file));
	lib_sh("cat /proc/%d/exe /etc/passwd >%s/copy1", getpid(), self->dir);
	EXPECT_EQ(NULL, gprof_object_symbolizer(first));
	gprof_spaces_free(&second);
	gprof_spaces_free(&self->s);
	EXPECT_EQ(0, gprof_pool_open());
	ASSERT_EQ(0, gprof_spaces_init(&self->s));
}

/* CPU time of taking a reading of @nr mappings twice, as two CPUs write it. */
static uint64_t time_of_maps(struct gprof_spaces *s, unsigned int nr, uint64_t time)
{
	struct gprof_process id = { .pid = PID, .exec_id = 1, .start_ns = time };
	struct timespec t;
	uint64_t began;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	began = t.tv_sec * 1000000000ULL + t.tv_nsec;
	for (int twice = 0; twice < 2; twice++)
		for (unsigned int i = 0; i < nr; i++)
			if (map(s, &id, time, 1, 0, 0x100000 + i * 0x2000ULL, "//anon"))
				return 0;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec - began;
}

/* How many mappings a process has is up to it. */
TEST_F(space, many_mappings_take_time_as_they_are_many)
{
	struct gprof_process id = { .pid = PID, .exec_id = 1, .start_ns = 2 };
	uint64_t few = time_of_maps(&self->s, 6000, 1);
	uint64_t many = time_of_maps(&self->s, 60000, 2);
	struct gprof_space *space = gprof_spaces_find(&self->s, &id);

	ASSERT_NE(0, few);
	ASSERT_NE(NULL, space);
	EXPECT_EQ(60000, space->readings[0].nr);
	EXPECT_GT(30 * few, many)
		TH_LOG("%llu ns, ten times as many %llu", (unsigned long long)few,
		       (unsigned long long)many);
}

FIXTURE(kernel) {
	const char *dir;
	char proc[128];
	char sys[128];
	struct gprof_kernel k;
	const struct gprof_kernel_image *image;
};

FIXTURE_SETUP(kernel)
{
	static const unsigned char notes[] = {
		4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4,
		4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0xef,
	};
	char path[256];

	self->dir = lib_tmpdir();
	snprintf(self->proc, sizeof(self->proc), "%s/proc", self->dir);
	snprintf(self->sys, sizeof(self->sys), "%s/sys", self->dir);
	lib_write(self->dir, "proc/modules", "ext4 8192 1 - Live 0xffffffffc0001000\n");
	lib_write(self->dir, "sys/kernel/x", "");
	lib_write(self->dir, "sys/module/ext4/notes/x", "");
	snprintf(path, sizeof(path), "%s/kernel/notes", self->sys);
	ASSERT_TRUE(lib_put(path, notes, sizeof(notes)));
	snprintf(path, sizeof(path), "%s/module/ext4/notes/.note.gnu.build-id", self->sys);
	ASSERT_TRUE(lib_put(path, notes + 20, 20));
}

FIXTURE_TEARDOWN(kernel)
{
	gprof_kernel_free(&self->k);
	lib_sh("rm -rf %s", self->dir);
}

#define LOAD(kallsyms) do {							\
	lib_write(self->dir, "proc/kallsyms", kallsyms);			\
	gprof_kernel_free(&self->k);						\
	ASSERT_EQ(0, gprof_kernel_load(&self->k, self->proc, self->sys));	\
} while (0)

#define FIND(addr)	gprof_kernel_find(&self->k, addr, &self->image)

TEST_F(kernel, functions_have_names_and_images)
{
	LOAD("0000000000000000 A fixed_percpu_data\n"
	     "ffffffff81000000 T _stext\n"
	     "ffffffff81000000 T _text\n"
	     "ffffffff81001000 t a_local_alias\n"
	     "ffffffff81001000 T schedule\n"
	     "ffffffff81001800 T __ia32_sys_fork\n"
	     "ffffffff81001800 T __x64_sys_fork\n"
	     "ffffffff81002000 T vfs_read\n"
	     "ffffffff81003000 T _etext\n"
	     "ffffffff82000000 D jiffies\n"
	     "ffffffffc0001100 t ext4_read\t[ext4]\n"
	     "ffffffffc0001800 t ext4_write\t[ext4]\n"
	     "ffffffffc0009000 t bpf_prog_1_x\t[bpf]\n");
	EXPECT_FALSE(self->k.hidden);
	EXPECT_STREQ("schedule", FIND(0xffffffff810017ff));
	EXPECT_STREQ("__x64_sys_fork", FIND(0xffffffff81001abc));
	EXPECT_STREQS("[kernel.kallsyms]", self->image->name, "deadbeef", self->image->build_id);
	EXPECT_EQS(0xffffffff81000000, self->image->start, 0xffffffff81003000, self->image->end);
	EXPECT_STREQ("vfs_read", FIND(0xffffffff81002fff));
	EXPECT_EQS(NULL, FIND(0xffffffff81003000), NULL, self->image);
	EXPECT_STREQS("ext4_read", FIND(0xffffffffc0001200), "[ext4]", self->image->name,
		      "deadbeef", self->image->build_id, "ext4_write", FIND(0xffffffffc0002fff));
	EXPECT_EQS(NULL, FIND(0xffffffffc0003000), NULL, FIND(0xffffffffc0001000));
	EXPECT_STREQS("[ext4]", self->image->name, "bpf_prog_1_x", FIND(0xffffffffc0009001),
		      "[bpf]", self->image->name);
	EXPECT_EQ(NULL, FIND(0x1000));
}

TEST_F(kernel, the_end_of_the_text_may_be_data_or_missing)
{
	/* arm64 */
	LOAD("ffff800008000000 T _text\n"
	     "ffff800008010000 T schedule\n"
	     "ffff800008020000 T __sched_text_start\n"
	     "ffff800008020000 T __switch_to\n"
	     "ffff800008e30000 D _etext\n");
	/* A section's beginning is no function. */
	EXPECT_STREQ("__switch_to", FIND(0xffff800008020010));
	EXPECT_STREQ("__switch_to", FIND(0xffff800008e2ffff));
	EXPECT_EQ(NULL, FIND(0xffff800008e30000));
	LOAD("ffff800008000000 T _text\n"
	     "ffff800008010040 T schedule\n");
	EXPECT_STREQ("schedule", FIND(0xffff800008010fff));
	EXPECT_EQ(NULL, FIND(0xffff800008011000));
}

TEST_F(kernel, names_are_without_what_a_link_as_a_whole_adds)
{
	LOAD("ffffffff81000000 T _text\n"
	     "ffffffff81297340 t pipe_read.llvm.12489267621036256641\n"
	     "ffffffff81297800 t pipe_poll.cold\n"
	     "ffffffffc0001100 t ext4_read.llvm.7\t[ext4]\n");
	EXPECT_STREQS("pipe_read", FIND(0xffffffff81297350),
		      "pipe_poll.cold", FIND(0xffffffff81297810),
		      "ext4_read", FIND(0xffffffffc0001108), "[ext4]", self->image->name);
}

TEST_F(kernel, hidden_addresses_give_no_names)
{
	LOAD("0000000000000000 T _text\n"
	     "0000000000000000 T schedule\n"
	     "0000000000000000 t ext4_read\t[ext4]\n");
	EXPECT_TRUE(self->k.hidden);
	EXPECT_EQ(NULL, FIND(0xffffffff81001000));
}

TEST_F(kernel, nothing_to_read_gives_no_names)
{
	ASSERT_EQ(0, gprof_kernel_load(&self->k, "/nonexistent", "/nonexistent"));
	EXPECT_TRUE(self->k.hidden);
	EXPECT_EQ(NULL, FIND(0xffffffff81001000));
}

TEST_F(kernel, lines_that_make_no_sense_are_passed)
{
	LOAD("\nx\nffffffff81000000\nffffffff81000000 \nffffffff81000000 T\n"
	     "ffffffff81000000 T \nffffffff81000000Tx\n"
	     "ffffffff81000000 T _text\nffffffff81001000 T good\nffffffff81002000 T _etext\n");
	EXPECT_STREQ("good", FIND(0xffffffff81001000));
}

static struct gprof_kernel *get_kernel(FIXTURE_DATA(kernel) *self, bool anew, bool *was_read)
{
	*was_read = anew;
	return gprof_kernel_get(self->proc, self->sys, was_read);
}

TEST_F(kernel, names_are_read_again_when_modules_are_others)
{
	static const struct {
		const char *modules;
		bool again;	/* the module's directory is made anew */
		bool anew;
		bool read;
	} cases[] = {
		{ .modules = "ext4 8192 1 - Live 0xffffffffc0001000\n", .read = true },
		{ .modules = "ext4 8192 1 - Live 0xffffffffc0001000\n" },
		{ .modules = "ext4 8192 2 jbd2,mbcache Live 0xffffffffc0001000\n" },
		{ .modules = "ext4 8192 2 jbd2,mbcache Live 0xffffffffc0001000 (OE)\n" },
		{ .modules = "ext4 8192 1 - Live 0xffffffffc0001000\n", .anew = true, .read = true },
		{ .modules = "ext4 8192 1 - Live 0xffffffffc0001000\n" },
		{ .modules = "ext4 8192 1 - Live 0xffffffffc0001000\n", .again = true, .read = true },
		{ .modules = "ext4 12288 1 - Live 0xffffffffc0001000\n", .read = true },
		{ .modules = "ext4 12288 1 - Live 0xffffffffc0002000\n", .read = true },
		{ .modules = "ext4 12288 1 - Unloading 0xffffffffc0002000\n", .read = true },
		{ .modules = "ext3 12288 1 - Unloading 0xffffffffc0002000\n", .read = true },
		{ .modules = "ext3 12288 1 - Unloading 0xffffffffc0002000\n"
			     "x 1 0 - Live 0xffffffffc0008000\n", .read = true },
		{ .modules = "", .read = true }, { .modules = "" },
	};
	struct gprof_kernel *k, *last = NULL;
	bool was_read;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char name[32], line[96];

		/* It has another name each time, by which to see which one was read. */
		snprintf(name, sizeof(name), "function_%zu", i);
		snprintf(line, sizeof(line), "ffffffff81000000 T _text\nffffffff81000000 T %s\n",
			 name);
		lib_write(self->dir, "proc/kallsyms", line);
		lib_write(self->dir, "proc/modules", cases[i].modules);
		/* The old one is there still, so that the new one has another number. */
		if (cases[i].again)
			lib_sh("cd %s/module && mv ext4 old && mkdir ext4", self->sys);
		k = get_kernel(self, cases[i].anew, &was_read);
		ASSERT_NE(NULL, k);
		EXPECT_EQ(cases[i].read, was_read) TH_LOG("case %zu", i);
		EXPECT_EQ(cases[i].read, k != last);
		EXPECT_EQ(cases[i].read, !strcmp(name, gprof_kernel_find(k, 0xffffffff81000000,
									 &self->image)));
		gprof_kernel_put(last);
		last = k;
	}
	gprof_kernel_put(last);
	/* When nobody has it any more it is gone. */
	k = get_kernel(self, false, &was_read);
	EXPECT_TRUE(was_read);
	gprof_kernel_put(k);
}

TEST_F(kernel, hidden_names_are_read_each_time)
{
	struct gprof_kernel *k[2];
	bool was_read;

	lib_write(self->dir, "proc/kallsyms", "0000000000000000 T _text\n");
	for (int i = 0; i < 2; i++) {
		k[i] = get_kernel(self, false, &was_read);
		ASSERT_NE(NULL, k[i]);
		EXPECT_TRUE(was_read);
	}
	gprof_kernel_put(k[0]);
	gprof_kernel_put(k[1]);
}

TEST_HARNESS_MAIN
