// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * frame_rule.c: from the state of call frame instructions to a rule.
 */
#include "frame_rule.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#define REGS		16	/* of 4 bits */
#define A64_ARGUMENTS	8	/* x0 to x7 */

static bool to_words(int64_t bytes, __s16 *words)
{
	if (bytes % 8 || bytes / 8 < INT16_MIN || bytes / 8 > INT16_MAX)
		return false;
	*words = (__s16)(bytes / 8);
	return true;
}

/* DW_OP_bregN offset */
static bool parse_register(struct gprof_dwarf_input *b, uint64_t *reg, int64_t *offset)
{
	uint64_t op = gprof_dwarf_input_get(b, 1);

	if (op == DW_OP_bregx)
		*reg = gprof_dwarf_input_uleb(b);
	else if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		*reg = op - DW_OP_breg0;
	else
		return false;
	*offset = gprof_dwarf_input_sleb(b);
	return !b->bad;
}

/*
 * Slots of 16 bytes that push a number at their end, as linkers describe them:
 * rsp + 8 + ((rip & 15) >= N) * 8.
 */
static bool parse_linkage_slot(const struct gprof_dwarf_input *b, __s16 *from)
{
	static const unsigned char before[] = { DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and };
	static const unsigned char after[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	const unsigned char *p = b->p;

	if (gprof_dwarf_input_left(b) != sizeof(before) + 1 + sizeof(after) ||
	    memcmp(p, before, sizeof(before)) ||
	    memcmp(p + sizeof(before) + 1, after, sizeof(after)) ||
	    p[sizeof(before)] < DW_OP_lit0 || p[sizeof(before)] > DW_OP_lit15)
		return false;
	*from = p[sizeof(before)] - DW_OP_lit0;
	return true;
}

/* The value at a register + offset, perhaps + a number: the stack was realigned, or changed. */
static bool parse_dereference(struct gprof_dwarf_input *b, int64_t offset,
			      struct gprof_unwind_rule *r)
{
	uint64_t more = 0;

	if (gprof_dwarf_input_get(b, 1) != DW_OP_deref)
		return false;
	if (gprof_dwarf_input_left(b)) {
		if (gprof_dwarf_input_get(b, 1) != DW_OP_plus_uconst)
			return false;
		more = gprof_dwarf_input_uleb(b);
	}
	return !b->bad && !gprof_dwarf_input_left(b) && more <= INT32_MAX &&
	       to_words((int64_t)more, &r->cfa) && to_words(offset, &r->ra);
}

/* The kind, with its own parts; @reg: the register that goes into "how". */
static bool set_cfa(const struct gprof_machine *m, const struct gprof_frame_state *s,
		    struct gprof_unwind_rule *r, uint64_t *reg)
{
	struct gprof_dwarf_input b;
	int64_t offset;

	*reg = 0;
	if (!s->cfa_calculated) {
		r->kind = s->cfa_reg == m->sp ? GPROF_UNWIND_CFA_SP :
			  s->cfa_reg == m->fp ? GPROF_UNWIND_CFA_FP : GPROF_UNWIND_CFA_REG;
		if (r->kind == GPROF_UNWIND_CFA_REG)
			*reg = s->cfa_reg;
		/* The rule of longjmp()'s buffer: where it goes, and no frame of it. */
		if (r->kind == GPROF_UNWIND_CFA_REG && m->machine == EM_AARCH64 &&
		    *reg < A64_ARGUMENTS)
			return false;
		return to_words(s->cfa_offset, &r->cfa) && *reg < REGS;
	}
	b = (struct gprof_dwarf_input){ .p = s->cfa.p, .end = s->cfa.p + s->cfa.len };
	if (!parse_register(&b, reg, &offset) || (*reg != m->sp && *reg != m->fp))
		return false;
	if (*reg == m->sp && m->machine == EM_X86_64 && offset == 8 &&
	    parse_linkage_slot(&b, &r->cfa)) {
		r->kind = GPROF_UNWIND_CFA_PLT;
		*reg = 0;
		return true;
	}
	r->kind = GPROF_UNWIND_CFA_DEREF;
	*reg = *reg == m->fp;
	return parse_dereference(&b, offset, r);
}

static int frame_pointer(const struct gprof_machine *m, const struct gprof_frame_state *s,
			 struct gprof_unwind_rule *r)
{
	const struct gprof_expression *x = &s->fp.expression;
	struct gprof_dwarf_input b;
	int64_t offset;
	uint64_t reg;

	switch (s->fp.saved) {
	case GPROF_SAVED_NOT:
		return GPROF_UNWIND_FP_SAME;
	case GPROF_SAVED_AT:
		if (to_words(s->fp.value, &r->fp))
			return GPROF_UNWIND_FP_AT_CFA;
		break;
	case GPROF_SAVED_EXPRESSION:
		b = (struct gprof_dwarf_input){ .p = x->p, .end = x->p + x->len };
		if (parse_register(&b, &reg, &offset) && !gprof_dwarf_input_left(&b) &&
		    reg == m->fp && to_words(offset, &r->fp))
			return GPROF_UNWIND_FP_AT_FP;
		break;
	default:
		break;
	}
	r->fp = 0;
	return GPROF_UNWIND_FP_UNKNOWN;
}

/* amd64: at CFA - 8 if not in a register; @ra of the rule is for rbx then. */
static int x86_return(const struct gprof_frame_state *s, struct gprof_unwind_rule *r,
		      uint64_t *reg)
{
	bool plain = r->kind == GPROF_UNWIND_CFA_SP || r->kind == GPROF_UNWIND_CFA_FP;

	if (plain && s->rbx.saved == GPROF_SAVED_AT && !to_words(s->rbx.value, &r->ra))
		r->ra = 0;
	if (s->ra.saved == GPROF_SAVED_AT && s->ra.value == -8)
		return GPROF_UNWIND_RA_AT_CFA;
	if (plain && s->ra.saved == GPROF_SAVED_IN && (uint64_t)s->ra.value < REGS) {
		*reg = (uint64_t)s->ra.value;
		return GPROF_UNWIND_RA_REG;
	}
	return GPROF_UNWIND_RA_UNKNOWN;
}

static int a64_return(const struct gprof_machine *m, const struct gprof_frame_state *s,
		      struct gprof_unwind_rule *r, uint64_t *reg)
{
	bool plain = r->kind == GPROF_UNWIND_CFA_SP || r->kind == GPROF_UNWIND_CFA_FP;

	switch (s->ra.saved) {
	case GPROF_SAVED_NOT:
		return GPROF_UNWIND_RA_LR;
	case GPROF_SAVED_AT:
		if (r->kind == GPROF_UNWIND_CFA_DEREF ? s->ra.value == -8 :
							to_words(s->ra.value, &r->ra))
			return GPROF_UNWIND_RA_AT_CFA;
		break;
	case GPROF_SAVED_IN:
		if ((uint64_t)s->ra.value == m->ra)
			return GPROF_UNWIND_RA_LR;
		if (plain && (uint64_t)s->ra.value < REGS) {
			*reg = (uint64_t)s->ra.value;
			return GPROF_UNWIND_RA_REG;
		}
		break;
	default:
		break;
	}
	return GPROF_UNWIND_RA_UNKNOWN;
}

/*
 * glibc's _dl_runtime_resolve of arm64 was entered with two words on the stack, which its
 * CFI takes for the caller's: it has the return address above its own frame, which no
 * function has.
 */
static void correct_resolver(struct gprof_unwind_rule *r)
{
	if (r->kind > GPROF_UNWIND_CFA_FP || r->ra != 1 ||
	    GPROF_UNWIND_RA(r->how) != GPROF_UNWIND_RA_AT_CFA ||
	    GPROF_UNWIND_FP(r->how) > GPROF_UNWIND_FP_AT_CFA ||
	    r->cfa > INT16_MAX - 2 || r->fp < INT16_MIN + 2)
		return;
	r->cfa += 2;
	r->ra -= 2;
	if (!r->cfa && GPROF_UNWIND_FP(r->how) == GPROF_UNWIND_FP_SAME) {
		/* they have been taken off: as the function that comes next is entered */
		r->how = GPROF_UNWIND_HOW(GPROF_UNWIND_FP_SAME, GPROF_UNWIND_RA_LR, 0);
		r->ra = 0;
	}
	if (GPROF_UNWIND_FP(r->how) == GPROF_UNWIND_FP_AT_CFA)
		r->fp -= 2;
}

struct gprof_unwind_rule gprof_rule_of(const struct gprof_machine *m, bool signal,
				       const struct gprof_frame_state *s)
{
	static const struct gprof_unwind_rule unknown = { .kind = GPROF_UNWIND_CFA_UNKNOWN };
	struct gprof_unwind_rule r = { .kind = GPROF_UNWIND_CFA_NONE };
	uint64_t reg;
	int fp, ra;

	if (signal)
		return (struct gprof_unwind_rule){ .kind = GPROF_UNWIND_CFA_SIGNAL };
	if (s->ra.saved == GPROF_SAVED_UNDEFINED)
		return (struct gprof_unwind_rule){ .kind = GPROF_UNWIND_CFA_END };
	if (!set_cfa(m, s, &r, &reg))
		return unknown;
	if (r.kind == GPROF_UNWIND_CFA_PLT)
		return r;
	fp = frame_pointer(m, s, &r);
	ra = m->machine == EM_X86_64 ? x86_return(s, &r, &reg) : a64_return(m, s, &r, &reg);
	if (ra == GPROF_UNWIND_RA_UNKNOWN)
		return unknown;
	r.how = GPROF_UNWIND_HOW(fp, ra, reg);
	if (m->machine == EM_AARCH64)
		correct_resolver(&r);
	return r;
}
