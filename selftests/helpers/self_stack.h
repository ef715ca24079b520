/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * self_stack.h: GPROF_IOC_SELF_STACK from a function that has a frame record, whatever it was
 * compiled with.
 */
#ifndef GPROF_TEST_SELF_STACK_H
#define GPROF_TEST_SELF_STACK_H

#include <linux/gprof.h>
#include <sys/syscall.h>

/* Words from the frame address to the frame record. */
#ifdef __riscv
#define SELF_STACK_RECORD	(-2)
#else
#define SELF_STACK_RECORD	0
#endif

/* Behind the call: what frame 0 is. One place, since the function is one. */
extern const char self_stack_leaf[];

__attribute__((noinline, noclone, unused)) static int self_stack_call(int fd,
								     struct gprof_self_stack *arg)
{
	long ret;

	/* forces a record */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
#ifdef __x86_64__
	__asm__ volatile("syscall\n"
			 ".globl self_stack_leaf\nself_stack_leaf:"
			 : "=a"(ret)
			 : "0"((long)SYS_ioctl), "D"((long)fd), "S"((long)GPROF_IOC_SELF_STACK),
			   "d"(arg)
			 : "rcx", "r11", "memory");
#elif defined(__riscv)
	register long a7 __asm__("a7") = SYS_ioctl;
	register long a0 __asm__("a0") = fd;
	register long a1 __asm__("a1") = GPROF_IOC_SELF_STACK;
	register void *a2 __asm__("a2") = arg;

	__asm__ volatile("ecall\n"
			 ".globl self_stack_leaf\nself_stack_leaf:"
			 : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
	ret = a0;
#else
	register long x8 __asm__("x8") = SYS_ioctl;
	register long x0 __asm__("x0") = fd;
	register long x1 __asm__("x1") = GPROF_IOC_SELF_STACK;
	register void *x2 __asm__("x2") = arg;

	__asm__ volatile("svc 0\n"
			 ".globl self_stack_leaf\nself_stack_leaf:"
			 : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	ret = x0;
#endif
	return (int)ret;
}

#endif
