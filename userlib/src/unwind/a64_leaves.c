// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * a64_leaves.c: functions of arm64 without unwind information that keep their return
 * address in x30, as the vDSO's do.
 */
#include "a64_leaves.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "a64_insn.h"
#include "base/table.h"

#define INSNS_MAX	16384

#define SVC		0xd4000001
#define MOV_X8(word)	(((word) & 0xffe0001f) == 0xd2800008)
#define MOV_IMM(word)	((word) >> 5 & 0xffff)
#define SIGRETURN	139
#define CLONE		220
#define CLONE3		435

/**
 * struct insn - an instruction
 * @parent: another of its function; its own number: it stands for all of them
 * @touched: where it stands for all: one of them does more than a leaf
 */
struct insn {
	uint16_t parent;
	bool touched;
};

static uint32_t root_of(struct insn *v, uint32_t i)
{
	while (v[i].parent != i) {
		v[i].parent = v[v[i].parent].parent;
		i = v[i].parent;
	}
	return i;
}

static void connect(struct insn *v, uint32_t a, uint32_t b)
{
	a = root_of(v, a);
	b = root_of(v, b);
	v[b].touched |= v[a].touched;
	v[a].parent = (uint16_t)b;
}

/* Calls that come back, with the registers as they were. */
static bool is_plain_call(uint32_t word, uint32_t before)
{
	uint32_t nr = MOV_IMM(before);

	return word == SVC && MOV_X8(before) && nr != SIGRETURN && nr != CLONE && nr != CLONE3;
}

/* Instruction @i of @nr, behind @before. */
static void follow(struct insn *v, uint32_t i, uint32_t nr, uint32_t word, uint32_t before)
{
	struct gprof_a64_insn in = gprof_a64_decode(word);
	int64_t target = (int64_t)i + in.imm / 4;
	bool inside = target >= 0 && target < nr, goes_on = true;

	switch (in.does) {
	case GPROF_A64_NOTHING:
		break;
	case GPROF_A64_LEAVE:
		goes_on = false;
		break;
	case GPROF_A64_JUMP:
		goes_on = false;
		/* To elsewhere it is a call in the place of a return. */
		if (inside)
			connect(v, i, (uint32_t)target);
		break;
	case GPROF_A64_BRANCH:
		if (inside)
			connect(v, i, (uint32_t)target);
		else
			v[root_of(v, i)].touched = true;
		break;
	default:
		/* Zeros fill up. */
		goes_on = word;
		if (!is_plain_call(word, before))
			v[root_of(v, i)].touched = true;
	}
	if (goes_on && i + 1 < nr)
		connect(v, i, i + 1);
	else if (goes_on)
		v[root_of(v, i)].touched = true;
}

static bool read_all(struct insn *v, uint32_t nr, struct gprof_image *img, uint64_t offset)
{
	uint32_t i, word = 0, before;
	const unsigned char *p = NULL;

	for (i = 0; i < nr; i++) {
		uint32_t in_page = i % (GPROF_IMAGE_AT_MAX / 4);

		if (!in_page) {
			uint32_t left = (nr - i) * 4;

			p = gprof_image_at(img, offset + i * 4ULL,
					   left < GPROF_IMAGE_AT_MAX ? left : GPROF_IMAGE_AT_MAX);
			if (!p)
				return false;
		}
		before = word;
		memcpy(&word, p + in_page * 4, sizeof(word));
		follow(v, i, nr, word, before);
	}
	return true;
}

int gprof_a64_leaves_find(struct gprof_a64_leaves *l, struct gprof_image *img, uint64_t base,
			  uint32_t from, uint32_t to)
{
	uint32_t nr = to > from ? (to - from) / 4 : 0, i;
	struct insn *v;
	int err = 0;

	l->nr = 0;
	if (!nr || nr > INSNS_MAX)
		return 0;
	v = calloc(nr, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		v[i].parent = (uint16_t)i;
	if (!read_all(v, nr, img, base + from))
		goto out;
	for (i = 0; i < nr && !err; i++) {
		uint32_t at = from + i * 4;

		if (v[root_of(v, i)].touched)
			continue;
		if (l->nr && l->v[l->nr - 1].to == at) {
			l->v[l->nr - 1].to += 4;
			continue;
		}
		err = gprof_grow(&l->v, &l->cap, l->nr + 1, sizeof(*l->v));
		if (!err)
			l->v[l->nr++] = (struct gprof_text){ at, at + 4 };
	}
out:
	free(v);
	return err ? -ENOMEM : 0;
}

void gprof_a64_leaves_free(struct gprof_a64_leaves *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}
