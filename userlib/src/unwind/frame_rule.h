/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * frame_rule.h: from the state of call frame instructions to a rule that the kernel can follow.
 */
#ifndef GPROF_FRAME_RULE_H
#define GPROF_FRAME_RULE_H

#include "frame_program.h"
#include "table_layout.h"

/**
 * gprof_rule_of() - the rule for a state
 * @m: machine
 * @signal: the CIE says that the frame is a signal's
 * @s: state
 *
 * GPROF_UNWIND_CFA_UNKNOWN where the state cannot be said in 8 bytes: CFAs that are no
 * multiple of 8 from a register, expressions other than those of procedure linkage tables
 * and of realigned stacks, return addresses at odd places.
 */
struct gprof_unwind_rule gprof_rule_of(const struct gprof_machine *m, bool signal,
				       const struct gprof_frame_state *s);

#endif /* GPROF_FRAME_RULE_H */
