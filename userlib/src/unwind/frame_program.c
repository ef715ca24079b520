// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * frame_program.c: runs call frame instructions.
 */
#include "frame_program.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Limit on nested remember_state; compilers nest it once. */
#define REMEMBERED_MAX	16

/* arm64 has two meanings for a vendor's opcode, none of which matters here: */
#define CFA_NEGATE_RA_STATE_WITH_PC	0x2c	/* return addresses are signed, or not any more */
#define CFA_NEGATE_RA_STATE		0x2d	/* the same; elsewhere DW_CFA_GNU_window_save */

const struct gprof_machine *gprof_machine(uint16_t machine)
{
	static const struct gprof_machine machines[] = {
		{ .machine = EM_X86_64, .sp = 7, .fp = 6, .ra = 16, .rbx = 3 },
		{ .machine = EM_AARCH64, .sp = 31, .fp = 29, .ra = 30, .rbx = UINT32_MAX },
	};
	size_t i;

	for (i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}

/**
 * struct run - a program that runs
 * @e: its section
 * @m: machine
 * @cie: of the FDE
 * @b: the rest of the program
 * @at: how far it has come in the text
 * @addr: address of the text
 * @len: of the text; rows behind it are dropped
 * @now: present state
 * @initial: state at the end of the CIE's program
 * @remembered: states put away
 * @depth: how many
 * @fn: wants the rows
 * @ctx: for it
 */
struct run {
	const struct gprof_entries *e;
	const struct gprof_machine *m;
	const struct gprof_cie *cie;
	struct gprof_dwarf_input b;
	uint64_t at;
	uint64_t addr;
	uint32_t len;
	struct gprof_frame_state now;
	struct gprof_frame_state initial;
	struct gprof_frame_state remembered[REMEMBERED_MAX];
	unsigned int depth;
	gprof_state_fn fn;
	void *ctx;
};

static struct gprof_register *in_state(const struct run *r, struct gprof_frame_state *s,
				       uint64_t reg)
{
	if (reg == r->m->fp)
		return &s->fp;
	if (reg == r->m->ra)
		return &s->ra;
	return reg == r->m->rbx ? &s->rbx : NULL;
}

static void set(struct run *r, uint64_t reg, enum gprof_saved saved, int64_t value)
{
	struct gprof_register *to = in_state(r, &r->now, reg);

	if (to)
		*to = (struct gprof_register){ .saved = saved, .value = value };
}

/* Numbers of a stranger: they may overflow, and then are wrong like any other wrong number. */
static int64_t scaled(const struct run *r, uint64_t value)
{
	return (int64_t)(value * (uint64_t)r->cie->data_align);
}

static void restore(struct run *r, uint64_t reg)
{
	struct gprof_register *to = in_state(r, &r->now, reg);

	if (to)
		*to = *in_state(r, &r->initial, reg);
}

/* The state has held up to @at. */
static int advance_to(struct run *r, uint64_t at)
{
	int err = 0;

	if (at <= r->at)	/* places do not come twice */
		return at == r->at ? 0 : -EBADMSG;
	if (r->at < r->len)
		err = r->fn(r->ctx, (uint32_t)r->at, &r->now);
	r->at = at;
	return err;
}

static int advance(struct run *r, uint64_t steps)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(steps, r->cie->code_align, &bytes) || bytes > UINT32_MAX)
		return -EBADMSG;
	return advance_to(r, r->at + bytes);
}

static struct gprof_expression expression(struct run *r)
{
	struct gprof_expression x = { .len = gprof_dwarf_input_uleb(&r->b) };

	x.p = r->b.p;
	gprof_dwarf_input_skip(&r->b, x.len);
	return x;
}

static void set_expression(struct run *r, enum gprof_saved saved)
{
	struct gprof_register *to = in_state(r, &r->now, gprof_dwarf_input_uleb(&r->b));
	struct gprof_expression x = expression(r);

	if (to)
		*to = (struct gprof_register){ .saved = saved, .expression = x };
}

static void define_cfa(struct run *r, uint64_t reg, int64_t offset)
{
	r->now.cfa_reg = reg;
	r->now.cfa_offset = offset;
	r->now.cfa_calculated = false;
}

static int remember(struct run *r)
{
	if (r->depth == REMEMBERED_MAX)
		return -EBADMSG;
	r->remembered[r->depth++] = r->now;
	return 0;
}

static int recall(struct run *r)
{
	if (!r->depth)
		return -EBADMSG;
	r->now = r->remembered[--r->depth];
	return 0;
}

/* Those about the CFA. */
static int cfa_instruction(struct run *r, unsigned int op)
{
	struct gprof_dwarf_input *b = &r->b;
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = gprof_dwarf_input_uleb(b);
		define_cfa(r, reg, (int64_t)gprof_dwarf_input_uleb(b));
		return 0;
	case DW_CFA_def_cfa_sf:
		reg = gprof_dwarf_input_uleb(b);
		define_cfa(r, reg, scaled(r, (uint64_t)gprof_dwarf_input_sleb(b)));
		return 0;
	case DW_CFA_def_cfa_register:
		define_cfa(r, gprof_dwarf_input_uleb(b), r->now.cfa_offset);
		return 0;
	case DW_CFA_def_cfa_offset:
		r->now.cfa_offset = (int64_t)gprof_dwarf_input_uleb(b);
		return 0;
	case DW_CFA_def_cfa_offset_sf:
		r->now.cfa_offset = scaled(r, (uint64_t)gprof_dwarf_input_sleb(b));
		return 0;
	case DW_CFA_def_cfa_expression:
		r->now.cfa = expression(r);
		r->now.cfa_calculated = true;
		return 0;
	default:
		return -EBADMSG;
	}
}

/* Those about a register. */
static int register_instruction(struct run *r, unsigned int op)
{
	struct gprof_dwarf_input *b = &r->b;
	uint64_t reg;

	switch (op) {
	case DW_CFA_offset_extended:
		reg = gprof_dwarf_input_uleb(b);
		set(r, reg, GPROF_SAVED_AT, scaled(r, gprof_dwarf_input_uleb(b)));
		return 0;
	case DW_CFA_offset_extended_sf:
		reg = gprof_dwarf_input_uleb(b);
		set(r, reg, GPROF_SAVED_AT, scaled(r, (uint64_t)gprof_dwarf_input_sleb(b)));
		return 0;
	case DW_CFA_GNU_negative_offset_extended:
		reg = gprof_dwarf_input_uleb(b);
		set(r, reg, GPROF_SAVED_AT, scaled(r, -gprof_dwarf_input_uleb(b)));
		return 0;
	case DW_CFA_restore_extended:
		restore(r, gprof_dwarf_input_uleb(b));
		return 0;
	case DW_CFA_undefined:
		set(r, gprof_dwarf_input_uleb(b), GPROF_SAVED_UNDEFINED, 0);
		return 0;
	case DW_CFA_same_value:
		set(r, gprof_dwarf_input_uleb(b), GPROF_SAVED_NOT, 0);
		return 0;
	case DW_CFA_register:
		reg = gprof_dwarf_input_uleb(b);
		set(r, reg, GPROF_SAVED_IN, (int64_t)gprof_dwarf_input_uleb(b));
		return 0;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		reg = gprof_dwarf_input_uleb(b);
		gprof_dwarf_input_uleb(b);
		set(r, reg, GPROF_SAVED_OTHERWISE, 0);
		return 0;
	case DW_CFA_expression:
		set_expression(r, GPROF_SAVED_EXPRESSION);
		return 0;
	case DW_CFA_val_expression:
		set_expression(r, GPROF_SAVED_OTHERWISE);
		return 0;
	default:
		return cfa_instruction(r, op);
	}
}

static int instruction(struct run *r)
{
	unsigned int op = (unsigned int)gprof_dwarf_input_get(&r->b, 1), low = op & 0x3f;
	uint64_t place;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(r, low);
	case DW_CFA_offset:
		set(r, low, GPROF_SAVED_AT, scaled(r, gprof_dwarf_input_uleb(&r->b)));
		return 0;
	case DW_CFA_restore:
		restore(r, low);
		return 0;
	}
	switch (op) {
	case DW_CFA_nop:
	case CFA_NEGATE_RA_STATE_WITH_PC:
	case CFA_NEGATE_RA_STATE:	/* unwinders strip signatures anyway */
		return 0;
	case DW_CFA_set_loc:
		place = r->e->part.addr + (uint64_t)(r->b.p - r->e->data);
		place = gprof_encoded(&r->b, r->cie->encoding, place);
		return r->b.bad || place < r->addr ? -EBADMSG : advance_to(r, place - r->addr);
	case DW_CFA_advance_loc1:
		return advance(r, gprof_dwarf_input_get(&r->b, 1));
	case DW_CFA_advance_loc2:
		return advance(r, gprof_dwarf_input_get(&r->b, 2));
	case DW_CFA_advance_loc4:
		return advance(r, gprof_dwarf_input_get(&r->b, 4));
	case DW_CFA_remember_state:
		return remember(r);
	case DW_CFA_restore_state:
		return recall(r);
	case DW_CFA_GNU_args_size:
		gprof_dwarf_input_uleb(&r->b);
		return 0;
	default:
		return register_instruction(r, op);
	}
}

static int run(struct run *r, uint32_t from, uint32_t to)
{
	int err = 0;

	r->b = (struct gprof_dwarf_input){ .p = r->e->data + from, .end = r->e->data + to };
	while (!err && gprof_dwarf_input_left(&r->b))
		err = instruction(r);
	return err ? err : r->b.bad ? -EBADMSG : 0;
}

int gprof_program_run(const struct gprof_entries *e, const struct gprof_machine *m,
		      const struct gprof_fde *fde, gprof_state_fn fn, void *ctx)
{
	struct run r;
	int err;

	memset(&r, 0, offsetof(struct run, remembered));
	r.e = e;
	r.m = m;
	r.cie = &e->cies[fde->cie];
	r.depth = 0;
	r.fn = fn;
	r.ctx = ctx;
	err = run(&r, r.cie->program, r.cie->program_end);
	if (err)
		return err;
	if (r.at)
		return -EBADMSG;	/* no text is the CIE's own */
	r.initial = r.now;
	r.addr = fde->addr;
	r.len = fde->len;
	err = run(&r, fde->program, fde->program_end);
	if (!err && r.at < r.len)
		err = fn(ctx, (uint32_t)r.at, &r.now);
	return err;
}
