// SPDX-License-Identifier: GPL-2.0-only
/*
 * cfi_table: is it a table?
 *
 * A table that passes cannot make a walk read outside of itself. Its rules may
 * still be nonsense: then a stack is, and ends early.
 */
#include "cfi_table.h"
#include "arch/arch.h"

#include <linux/build_bug.h>
#include <linux/elf.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/string.h>

const struct gprof_unwind_rule gprof_cfi_table_none = { .kind = GPROF_UNWIND_CFA_NONE };

/* Where each array lies; false: not a size that these numbers give. */
static bool place(struct gprof_cfi_table *u, const struct gprof_unwind_table *head)
{
	u64 at = sizeof(*head);

	u->base = u->memory + at;
	at = ALIGN(at + (head->granules / GPROF_UNWIND_BASE + 1) * sizeof(*u->base), 8);
	u->index = u->memory + at;
	at = ALIGN(at + ((u64)head->granules + 1) * sizeof(*u->index), 8);
	u->low = u->memory + at;
	at = ALIGN(at + head->rows, 8);
	u->rule = u->memory + at;
	at = ALIGN(at + head->rows, 8);
	u->far = u->memory + at;
	at += (u64)head->fars * sizeof(*u->far);
	u->rules = u->memory + at;
	at += (u64)head->rules * sizeof(*u->rules);
	return at == u->bytes;
}

static int check_head(const struct gprof_unwind_table *head)
{
	if (head->magic != GPROF_UNWIND_MAGIC || head->machine != GPROF_MACHINE ||
	    head->version < GPROF_UNWIND_VERSION_OLDEST || head->version > GPROF_UNWIND_VERSION)
		return -EINVAL;
	if (head->start % GPROF_UNWIND_GRANULE || head->start > S64_MAX)
		return -EINVAL;
	if (!head->granules || !head->rows || !head->rules ||
	    head->rules > GPROF_UNWIND_RULES_MAX || head->fars > head->rows)
		return -EINVAL;
	return 0;
}

/* Each place has a row at or before it, and each row its own place. */
static int check_rows(const struct gprof_cfi_table *u, const struct gprof_unwind_table *head)
{
	u32 g, row, end = 0;

	if (gprof_cfi_table_before(u, 0) || !gprof_cfi_table_before(u, 1) || u->low[0])
		return -EINVAL;
	for (g = 0; g < head->granules; g++) {
		u32 begin = end;

		/* So that the sum with an index does not wrap. */
		if (u->base[(g + 1) / GPROF_UNWIND_BASE] > head->rows)
			return -EINVAL;
		end = gprof_cfi_table_before(u, g + 1);
		if (end < begin || end > head->rows)
			return -EINVAL;
		for (row = begin + 1; row < end; row++) {
			if (u->low[row] <= u->low[row - 1])
				return -EINVAL;
		}
		if (!(g % 4096))
			cond_resched();
	}
	return end == head->rows ? 0 : -EINVAL;
}

/* Each row has a rule that is there; and one alone, where its own byte cannot say it. */
static int check_numbers(const struct gprof_cfi_table *u, const struct gprof_unwind_table *head)
{
	u32 row, n = 0;

	for (row = 0; row < head->rows; row++) {
		if (u->rule[row] != GPROF_UNWIND_FAR) {
			if (u->rule[row] >= head->rules)
				return -EINVAL;
		} else {
			if (n == head->fars || u->far[n].row != row ||
			    u->far[n].rule >= head->rules)
				return -EINVAL;
			n++;
		}
		if (!(row % 65536))
			cond_resched();
	}
	return n == head->fars ? 0 : -EINVAL;
}

static int check_rules(const struct gprof_cfi_table *u, const struct gprof_unwind_table *head)
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
 * gprof_cfi_table_check() - make sure of a table
 * @u: @memory and @bytes are set; the members about the table's content will be
 *
 * Context: Task.
 * Return: 0, or -EINVAL: it is no table of this machine.
 */
int gprof_cfi_table_check(struct gprof_cfi_table *u)
{
	const struct gprof_unwind_table *head = u->memory;
	int err;

	BUILD_BUG_ON(sizeof(*head) != 32);
	BUILD_BUG_ON(sizeof(struct gprof_unwind_far) != 8);
	BUILD_BUG_ON(sizeof(struct gprof_unwind_rule) != 8);
	/* Rows of so many granules are fewer than an index can say. */
	BUILD_BUG_ON(GPROF_UNWIND_BASE * GPROF_UNWIND_GRANULE > U16_MAX);
	if (u->bytes < sizeof(*head))
		return -EINVAL;
	err = check_head(head);
	if (err)
		return err;
	if (!place(u, head))
		return -EINVAL;
	u->start = head->start;
	u->granules = head->granules;
	u->fars = head->fars;
	u->nr_rules = head->rules;
	return check_rows(u, head) ?: check_numbers(u, head) ?: check_rules(u, head);
}

/**
 * gprof_cfi_table_far() - the rule of a row that has GPROF_UNWIND_FAR
 * @u: table
 * @row: row
 *
 * Context: Any incl. NMI.
 */
u32 gprof_cfi_table_far(const struct gprof_cfi_table *u, u32 row)
{
	u32 at = 0, end = u->fars;

	while (end - at > 1) {
		u32 middle = at + (end - at) / 2;

		if (u->far[middle].row <= row)
			at = middle;
		else
			end = middle;
	}
	/*
	 * Foreseen wrongly, where there is none, it would be as @rules says: see
	 * gprof_cfi_table_find().
	 */
	return array_index_nospec(u->far[at].rule, u->nr_rules);
}

/**
 * gprof_file_id_of() - whose bytes the pages of an inode are now
 * @id: where to
 * @inode: of a mapping, or of a file below stacked file systems
 *
 * Context: Any.
 */
void gprof_file_id_of(struct gprof_file_id *id, const struct inode *inode)
{
	id->dev = inode->i_sb->s_dev;
	id->generation = inode->i_generation;
	id->inode = inode->i_ino;
	id->size = i_size_read(inode);
	id->mtime_ns = gprof_mtime_ns(inode);
	id->ctime_ns = gprof_ctime_ns(inode);
}

bool gprof_same_file_id(const struct gprof_file_id *a, const struct gprof_file_id *b)
{
	BUILD_BUG_ON(sizeof(*a) != 40);	/* no holes */
	return !memcmp(a, b, sizeof(*a));
}
