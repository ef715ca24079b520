// SPDX-License-Identifier: GPL-2.0-only
/*
 * setup: the checks of the argument of GPROF_IOC_SETUP that all kinds have.
 */
#include "setup.h"
#include "kind/source.h"
#include "ring/buffer.h"
#include "ring/buffer_pages.h"
#include "target/oncpu.h"
#include "unwind/user_fp.h"
#include "unwind/table_set.h"

#include <linux/errno.h>
#include <linux/gprof.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/time64.h>

#define BUFFER_ASKED_MIN	4096	/* for any page size, which a caller need not know */
#define GENERATION_MIN		NSEC_PER_MSEC
#define GENERATION_MAX		(256ULL * NSEC_PER_SEC)	/* a short record has 32 bits of 64 ns */

static int check_buffers(const struct gprof_setup *setup, u32 *reason)
{
	*reason = GPROF_REASON_FLAGS;
	if (setup->flags & ~__GPROF_SETUP_F_ALL || setup->stack & ~__GPROF_STACK_F_ALL)
		return -EOPNOTSUPP;
	/* Others wake without being asked. */
	if (setup->flags & GPROF_SETUP_F_WAKE && !(setup->flags & GPROF_SETUP_F_FLIGHT))
		return -EINVAL;
	/* A call chain without its leaf is not one. */
	if (setup->stack & ~GPROF_STACK_F_IP && !(setup->stack & GPROF_STACK_F_IP))
		return -EINVAL;
	if (setup->stack & GPROF_STACK_F_TABLES) {
		if (!gprof_table_set_features())
			return -EOPNOTSUPP;
		if (!(setup->stack & GPROF_STACK_F_USER))
			return -EINVAL;
	} else if (setup->stack & GPROF_STACK_F_PYTHON) {
		/* Where the interpreter is, is said with the table of its file. */
		return -EINVAL;
	}
	if (setup->max_frames > GPROF_MAX_FRAMES)
		return -EINVAL;
	*reason = GPROF_REASON_BUFFER;
	if (setup->buffer_size && (setup->buffer_size < BUFFER_ASKED_MIN ||
				   setup->buffer_size > GPROF_BUFFER_MAX))
		return -EINVAL;
	*reason = GPROF_REASON_GENERATION;
	if (setup->generation_ns && (setup->generation_ns < GENERATION_MIN ||
				     setup->generation_ns > GENERATION_MAX))
		return -EINVAL;
	return 0;
}

static int check_bufferless(const struct gprof_setup *setup, u32 *reason)
{
	*reason = GPROF_REASON_FLAGS;
	if (setup->flags & GPROF_SETUP_F_FLIGHT || setup->stack || setup->max_frames)
		return -EINVAL;
	*reason = GPROF_REASON_BUFFER;
	if (setup->buffer_size)
		return -EINVAL;
	*reason = GPROF_REASON_GENERATION;
	return setup->generation_ns ? -EINVAL : 0;
}

/**
 * gprof_setup_check() - is it a valid request?
 * @setup: argument; @setup->out_reason is set on error
 * @source: of its kind
 *
 * Context: Task.
 * Return: 0; -EOPNOTSUPP: asks for a thing that this module does not know; -EINVAL.
 */
int gprof_setup_check(struct gprof_setup *setup, const struct gprof_source_ops *source)
{
	int err = check_buffers(setup, &setup->out_reason);

	if (!err && source->no_buffer)
		err = check_bufferless(setup, &setup->out_reason);
	if (err)
		return err;
	setup->out_reason = GPROF_REASON_FLAGS;
	if (setup->flags & GPROF_SETUP_F_PARALLELISM &&
	    (!source->parallelism || !gprof_oncpu_features()))
		return -EOPNOTSUPP;
	return 0;
}

/* The size that suits the kind's events, as far as all buffers have 1/64 of the memory. */
static u64 wanted_size(const struct gprof_source_ops *source, const struct gprof_request *req)
{
	u64 size = source->buffer_size ? source->buffer_size(req) : GPROF_BUFFER_DEFAULT;
	u64 most = ((u64)totalram_pages() << PAGE_SHIFT) / 64;

	while (size > GPROF_BUFFER_DEFAULT &&
	       gprof_percpu_buffer_bytes(size) * num_present_cpus() > most)
		size >>= 1;
	return size;
}

/**
 * gprof_setup_data_size() - bytes of data of each CPU's buffer
 * @setup: checked
 * @source: source of @setup->kind
 * @req: with parameters and target
 *
 * Context: Any.
 * Return: power of two, at least a page; 0: the kind has no buffers.
 */
u64 gprof_setup_data_size(const struct gprof_setup *setup, const struct gprof_source_ops *source,
			  const struct gprof_request *req)
{
	u64 size = setup->buffer_size;

	if (source->no_buffer)
		return 0;
	if (!size)
		size = wanted_size(source, req);
	return roundup_pow_of_two(max_t(u64, size, max_t(u64, GPROF_BUFFER_MIN, PAGE_SIZE)));
}
