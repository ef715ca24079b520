// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_fp: walk the frame records of a user stack.
 *
 * A frame record is { caller's frame pointer, return address } on all
 * architectures; the frame pointer tells where the newest lies. Code that was compiled
 * without frame pointers uses the register for anything; so a call must stand
 * before every return address, or the walk ends: half a stack is better than a
 * made-up one, and a made-up one differs every time.
 *
 * The result of the last walk is trusted as far as memory says the same again: the
 * record lies where it lay, and holds the same address, which was checked then
 * in the same program with the same mappings. To compare is much cheaper than to
 * check.
 *
 * User memory is read with page faults disabled, under one user_access_begin()
 * for the whole walk (a tenth of the cost of one nofault copy for each frame).
 */
#include "user_fp.h"
#include "arch/arch.h"
#include "compat/uaccess.h"

#ifdef CONFIG_X86_64
u64 gprof_user_bits __ro_after_init;

/**
 * gprof_user_fp_prepare() - once, before any walk
 *
 * Context: Task.
 */
void __init gprof_user_fp_prepare(void)
{
	gprof_user_bits = TASK_SIZE_MAX | ~PAGE_MASK;
}
#endif

/*
 * Does the record at @at lie where it lay, and say the same? @at moves to the next.
 * It is read where our memory says that it lay, which is the same.
 */
static __always_inline bool same_record(u64 *at, u64 fp, u64 frame)
{
	u64 next, addr, place = fp;

	/* Else the compiler might take the user's word for ours, as they are the same. */
	OPTIMIZER_HIDE_VAR(place);
	if (*at != fp)
		return false;
	if (!gprof_user_known_pair(&next, &addr, place))
		return false;
	*at = gprof_user_record(next);
	return gprof_user_strip(addr) == frame;
}

/*
 * The first frame from @n on that is not as it was, or @known; @fp moves to where it
 * lies. By fours, as far as that goes, which saves instructions.
 *
 * Through pointers: a sanitizer of array bounds would call out of the region
 * where user memory is accessible, which must not be.
 */
static __always_inline size_t frames_unchanged(const u64 *frames, const u64 *fps, u64 *fp, size_t n,
					       size_t known)
{
	u64 at = *fp;

	for (; n + 4 <= known; n += 4, *fp = at) {
		if (!same_record(&at, fps[n], frames[n]) ||
		    !same_record(&at, fps[n + 1], frames[n + 1]) ||
		    !same_record(&at, fps[n + 2], frames[n + 2]) ||
		    !same_record(&at, fps[n + 3], frames[n + 3]))
			break;
	}
	at = *fp;
	for (; n < known && same_record(&at, fps[n], frames[n]); n++)
		*fp = at;
	return n;
}

/**
 * gprof_user_fp_unwind() - follow the frame records of current's user stack
 * @c: callers; gprof_user_frames_begin() was called
 * @fp: where the first record lies
 * @sp: no record lies below
 * @max: most frames
 *
 * Context: Any incl. NMI, preemption and page faults off; the page tables that
 * are loaded are those of current.
 * Return: whether the chain came to an end; else it was cut off: by @max, by
 * memory that cannot be read, by something that is no return address.
 */
bool gprof_user_fp_unwind(struct gprof_user_frames *c, u64 fp, u64 sp, u32 max)
{
	u64 *frames = c->frames, *fps = c->fp;
	size_t n = 0, known = min(c->nr, max);
	bool ended = false, changed = false;
	u64 next, addr;

	/* Every address is looked at by gprof_user_readable() before it is used. */
	if (!user_access_begin((void __user *)PAGE_SIZE, 16)) {
		gprof_user_frames_cut(c, 0);
		return false;
	}
	if (fp >= sp) {
again:
		n = frames_unchanged(frames, fps, &fp, n, known);
		if (n)
			sp = fps[n - 1] + 16;
	}
	for (; n < max; n++) {
		/* The stack grows down: frames that do not go up are not frames. */
		if (!gprof_user_readable(fp) || fp & 7 || fp < sp) {
			ended = true;
			break;
		}
		if (!gprof_user_pair(&next, &addr, fp))
			break;
		addr = gprof_user_strip(addr);
		if (!addr) {
			ended = true;
			break;
		}
		if (n >= known || frames[n] != addr) {
			if (!gprof_user_is_return(addr)) {
				ended = !next && gprof_user_is_goexit(addr);
				break;
			}
			frames[n] = addr;
			changed = true;
		}
		fps[n] = fp;
		sp = fp + 16;
		fp = gprof_user_record(next);
		/* Mostly frames next to the leaf change: the rest may be as it was. */
		if (n + 1 < known && fp == fps[n + 1] && fp >= sp) {
			n++;
			goto again;
		}
	}
	user_access_end();
	if (changed || c->nr != n) {
		c->nr = n;
		c->version++;
	}
	return ended;
}
