/* SPDX-License-Identifier: GPL-2.0-only */
/* mark.h: an instruction that does nothing, and that no compiler makes. */
#ifndef GPROF_BENCH_MARK_H
#define GPROF_BENCH_MARK_H

/* nopl 0x66727067(%rax) */
#define MARK_AMD64_SIZE		7
#define MARK_AMD64		0x0f, 0x1f, 0x80, 0x67, 0x70, 0x72, 0x66
/* movz xzr, #0x6770 */
#define MARK_ARM64		0x1f, 0xee, 0x8c, 0xd2

#define MARK_BYTES		MARK_AMD64, MARK_ARM64

static inline void mark(void)
{
#if defined(__x86_64__)
	__asm__ volatile("nopl 0x66727067(%%rax)" : : : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("movz xzr, #0x6770" : : : "memory");
#endif
}

#endif
