// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind: is it a table?
 *
 * A table that passes cannot make a walk read outside of itself. What it says may
 * still be nonsense: then a stack is, and ends early.
 */
#include "unwind.h"
#include "arch.h"

#include <linux/build_bug.h>
#include <linux/elf.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/string.h>

const struct gprof_unwind_rule gprof_unwind_none = { .kind = GPROF_UNWIND_CFA_NONE };

/* Where each array lies; false: not a size that these numbers give. */
static bool place(struct gprof_unwind *u, const struct gprof_unwind_table *head)
{
	u64 at = sizeof(*head);

	u->index = u->memory + at;
	at = ALIGN(at + ((u64)head->granules + 1) * sizeof(*u->index), 8);
	u->low = u->memory + at;
	at = ALIGN(at + head->rows, 8);
	u->rule = u->memory + at;
	at = ALIGN(at + (u64)head->rows * sizeof(*u->rule), 8);
	u->rules = u->memory + at;
	at += (u64)head->rules * sizeof(*u->rules);
	return at == u->bytes;
}

static int check_head(const struct gprof_unwind_table *head)
{
	if (head->magic != GPROF_UNWIND_MAGIC || head->version != GPROF_UNWIND_VERSION ||
	    head->machine != GPROF_MACHINE || head->__reserved)
		return -EINVAL;
	if (head->start % GPROF_UNWIND_GRANULE || head->start > S64_MAX)
		return -EINVAL;
	if (!head->granules || !head->rows || !head->rules ||
	    head->rules > GPROF_UNWIND_RULES_MAX)
		return -EINVAL;
	return 0;
}

/* Each place has a row at or before it, and each row its own place. */
static int check_rows(const struct gprof_unwind *u, const struct gprof_unwind_table *head)
{
	u32 g, row;

	if (u->index[0] || u->index[head->granules] != head->rows || !u->index[1] || u->low[0])
		return -EINVAL;
	for (g = 0; g < head->granules; g++) {
		if (u->index[g + 1] < u->index[g] || u->index[g + 1] > head->rows)
			return -EINVAL;
		for (row = u->index[g] + 1; row < u->index[g + 1]; row++) {
			if (u->low[row] <= u->low[row - 1])
				return -EINVAL;
		}
		if (!(g % 4096))
			cond_resched();
	}
	for (row = 0; row < head->rows; row++) {
		if (u->rule[row] >= head->rules)
			return -EINVAL;
		if (!(row % 65536))
			cond_resched();
	}
	return 0;
}

static int check_rules(const struct gprof_unwind *u, const struct gprof_unwind_table *head)
{
	u32 i;

	for (i = 0; i < head->rules; i++) {
		const struct gprof_unwind_rule *r = &u->rules[i];

		if (r->kind >= GPROF_UNWIND_CFA_NR)
			return -EINVAL;
		if (r->kind == GPROF_UNWIND_CFA_DEREF && r->how >> 4 > 1)
			return -EINVAL;
		if (r->kind == GPROF_UNWIND_CFA_PLT && (u16)r->cfa > 16)
			return -EINVAL;
	}
	return 0;
}

/**
 * gprof_unwind_check() - make sure of a table
 * @u: @memory and @bytes are set; the rest of what is in the table will be
 *
 * Context: Task.
 * Return: 0, or -EINVAL for what is no table of this machine.
 */
int gprof_unwind_check(struct gprof_unwind *u)
{
	const struct gprof_unwind_table *head = u->memory;
	int err;

	BUILD_BUG_ON(sizeof(*head) != 32);
	BUILD_BUG_ON(sizeof(struct gprof_unwind_rule) != 8);
	if (u->bytes < sizeof(*head))
		return -EINVAL;
	err = check_head(head);
	if (err)
		return err;
	if (!place(u, head))
		return -EINVAL;
	u->start = head->start;
	u->granules = head->granules;
	return check_rows(u, head) ?: check_rules(u, head);
}

/**
 * gprof_text_id_of() - whose bytes the pages of an inode are now
 * @id: where to
 * @inode: of a mapping, or of a file below stacked file systems
 *
 * Context: Any.
 */
void gprof_text_id_of(struct gprof_text_id *id, const struct inode *inode)
{
	id->dev = inode->i_sb->s_dev;
	id->generation = inode->i_generation;
	id->inode = inode->i_ino;
	id->size = i_size_read(inode);
	id->mtime_ns = gprof_mtime_ns(inode);
	id->ctime_ns = gprof_ctime_ns(inode);
}

bool gprof_same_text(const struct gprof_text_id *a, const struct gprof_text_id *b)
{
	BUILD_BUG_ON(sizeof(*a) != 40);	/* no holes */
	return !memcmp(a, b, sizeof(*a));
}
