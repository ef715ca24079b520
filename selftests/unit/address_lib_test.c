// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles of addresses: records that are made up, and what a reader of pprof finds.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "harness.h"
#include "address/address_pprof.h"
#include "profile/profile.h"

#define UNMAPPED(n)	((uint32_t)(n) << GPROF_EXEC_MAP_SEQ_UNMAPPED_SHIFT)

FIXTURE(address) {
	struct gprof_address_samples s;
	struct gprof_profile *p;
	uint64_t unmapped;
};

FIXTURE_SETUP(address)
{
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, gprof_address_samples_init(&self->s));
}

FIXTURE_TEARDOWN(address)
{
	gprof_profile_free(self->p);
	gprof_address_samples_free(&self->s);
}

static void add_map(FIXTURE_DATA(address) *self, uint32_t pid, uint32_t seq, uint64_t start,
		    const char *path, uint8_t build_id)
{
	struct {
		struct gprof_map_rec rec;
		char path[16];
		struct gprof_map_file file;
	} m = {
		.rec = {
			.rec.flags = GPROF_MAP_REC_F_FILE, .process.pid = pid, .start = start,
			.end = start + 0x1000, .offset = 0x2000, .exec_map_seq = seq,
		},
		.file = { .build_id_size = build_id ? 2 : 0, .build_id = { build_id, 0xab } },
	};

	/* As long as the file's place wants it: 8 to 15 bytes. */
	snprintf(m.path, sizeof(m.path), "%s", path);
	gprof_address_ops.map(&self->s, &m.rec, m.rec.path);
}

/* @samples of a stack, each 10 events. */
static void add_stack(FIXTURE_DATA(address) *self, uint32_t pid, uint32_t seq, uint16_t flags,
		      uint16_t nr_kernel, const uint64_t *frames, uint16_t nr, int samples)
{
	struct {
		struct gprof_stack_rec rec;
		uint64_t frames[8];
	} r = {
		.rec = {
			.rec.flags = flags, .exec_map_seq = seq, .process.pid = pid,
			.nr_kernel = nr_kernel, .nr_user = nr - nr_kernel,
		},
	};
	struct gprof_decoded d = { .weight = 10 };
	uint32_t handle;

	memcpy(r.frames, frames, nr * sizeof(*frames));
	gprof_address_ops.stack(&self->s, &r.rec, &d.stack);
	gprof_address_ops.sample(&self->s, &d, &handle);
	while (--samples)
		gprof_address_ops.again(&self->s, handle, 10, 0);
}

static void write_and_read(FIXTURE_DATA(address) *self)
{
	const char *const comments[] = { "one", "two" };
	const struct gprof_address_head head = {
		"cpu", "nanoseconds", 10, 1000, 77, comments, 2,
	};
	int fd = memfd_create("address", 0);

	if (!gprof_address_pprof_write(&self->s, &head, fd, &self->unmapped)) {
		lseek(fd, 0, SEEK_SET);
		self->p = gprof_profile_read(fd);
	}
	close(fd);
}

static const char *text(const struct gprof_profile *p, uint32_t number)
{
	return p->strings.v[number];
}

/* "ADDRESS FILE BUILD-ID", of each frame of a sample, with its values and labels. */
static void describe(const struct gprof_profile *p, size_t index, char *out, size_t size)
{
	const struct gprof_sample *s = &p->samples[index];
	const struct gprof_label_set *set = &p->label_sets[s->labels];
	size_t n, i;

	n = (size_t)snprintf(out, size, "%lld %lld", (long long)p->values[2 * index],
			     (long long)p->values[2 * index + 1]);
	for (i = 0; i < s->nr_locations; i++) {
		const struct gprof_location *l = &p->locations[p->stacks[s->locations + i]];
		const struct gprof_mapping *m = l->mapping ? &p->mappings[l->mapping - 1] : NULL;

		n += (size_t)snprintf(out + n, size - n, "; %llx %s %s",
				      (unsigned long long)l->address,
				      m ? text(p, m->filename) : "-",
				      m ? text(p, m->build_id) : "-");
	}
	for (i = 0; i < set->nr; i++) {
		const struct gprof_label *l = &p->labels[set->first + i];

		n += (size_t)snprintf(out + n, size - n, "; %s=%s%lld", text(p, l->key),
				      text(p, l->str), (long long)l->num);
	}
}

/* A file may be mapped over the end of another, whose part remains. */
TEST_F(address, mappings_overlap)
{
	static const uint64_t frames[] = { 0x401a00, 0x401011, 0x402101, 0x402a01 };
	char got[512];

	add_map(self, 7, 1, 0x401900, "/bin/last", 0);
	add_map(self, 7, 1, 0x401000, "/bin/prog", 7);
	add_map(self, 7, 1, 0x401800, "/bin/next", 0);
	add_map(self, 6, 1, 0x401800, "/bin/none", 6);
	add_map(self, 7, UNMAPPED(1) | 1, 0x401800, "/bin/late", 6);
	add_map(self, 8, 1, 0x401800, "/bin/none", 6);
	/* the last to begin is the first to end */
	self->s.maps[0].end = 0x401980;
	add_stack(self, 7, 1, 0, 0, frames, 4, 1);
	write_and_read(self);
	ASSERT_NE(NULL, self->p);
	describe(self->p, 0, got, sizeof(got));
	EXPECT_STREQ("1 10; 401a00 /bin/prog 07ab; 401010 /bin/prog 07ab; 402100 /bin/next ; "
		     "402a00 - -; pid=7", got);
	EXPECT_EQ(1U, self->unmapped);
}

TEST_F(address, each_address_is_of_its_file_and_its_time)
{
	static const uint64_t in_kernel[] = { 0xffffffff81000010, 0x401010, 0x401030 };
	static const uint64_t plain[] = { 0x401010, 0x401030, 0x900000 };
	static const char *const wanted[] = {
		"2 20; ffffffff81000010 [kernel] ; 401010 /bin/prog 07ab; 40102f /bin/prog 07ab; "
		"pid=7",
		"1 10; 401010 /bin/prog 07ab; 40102f /bin/prog 07ab; 8fffff - -; pid=7; "
		"stack=guessed0",
		"1 10; 401010 /bin/next 09ab; 40102f /bin/next 09ab; 8fffff - -; pid=7",
		"3 30; 401010 /bin/else ; 40102f /bin/else ; 8fffff - -; pid=8",
		"5 55",
	};
	char got[512];
	size_t i;

	/* Its build-id was not in memory when the mappings were read first. */
	add_map(self, 7, 1, 0x401000, "/bin/prog", 0);
	add_map(self, 7, 2, 0x401000, "/bin/prog", 7);
	add_map(self, 7, UNMAPPED(1) | 3, 0x401000, "/bin/next", 9);
	add_map(self, 8, 1, 0x401000, "/bin/else", 0);
	add_stack(self, 7, 1, 0, 1, in_kernel, 3, 2);
	add_stack(self, 7, 2, GPROF_STACK_REC_F_CALLER, 0, plain, 3, 1);
	add_stack(self, 7, UNMAPPED(1) | 4, 0, 0, plain, 3, 1);
	add_stack(self, 8, 1, 0, 0, plain, 3, 3);
	self->s.none = (struct gprof_address_count){ 5, 55 };
	write_and_read(self);
	ASSERT_NE(NULL, self->p);
	ASSERT_EQ(sizeof(wanted) / sizeof(*wanted), self->p->nr_samples);
	for (i = 0; i < self->p->nr_samples; i++) {
		describe(self->p, i, got, sizeof(got));
		EXPECT_STREQ(wanted[i], got);
	}
	EXPECT_EQ(3, self->unmapped);
	EXPECT_EQ(5, self->p->nr_mappings);
	EXPECT_EQ(0x2000, self->p->mappings[0].offset);
	EXPECT_EQ(0x402000, self->p->mappings[0].limit);
	EXPECT_EQ(10, self->p->period);
	EXPECT_EQ(1000, self->p->time_nanos);
	EXPECT_EQ(77, self->p->duration_nanos);
	EXPECT_STREQ("two", text(self->p, self->p->comments[1]));
	EXPECT_STREQ("nanoseconds", text(self->p, self->p->period_type.unit));
}

/* Beyond a piece of the output, and what is found in a table. */
TEST_F(address, ten_thousand_stacks_are_all_there)
{
	uint64_t frames[3] = { 0, 0x401030, 0x401040 };
	size_t i;

	add_map(self, 7, 1, 0x401000, "/bin/prog", 7);
	for (i = 0; i < 10000; i++) {
		frames[0] = 0x500000 + i;
		add_stack(self, 7, 1, 0, 0, frames, 3, 1 + (int)(i % 3));
	}
	write_and_read(self);
	ASSERT_NE(NULL, self->p);
	ASSERT_EQ(10000, self->p->nr_samples);
	EXPECT_EQ(10002, self->p->nr_locations);
	for (i = 0; i < 10000; i++)
		if (self->p->values[2 * i] != (int64_t)(1 + i % 3) ||
		    self->p->locations[self->p->stacks[3 * i]].address != 0x500000 + i)
			break;
	EXPECT_EQ(10000, i);
	EXPECT_EQ(10000, self->unmapped);
}

TEST_HARNESS_MAIN
