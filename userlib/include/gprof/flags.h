/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/flags.h: profiles of a program and of its tests, by flags, as those of Go's tests.
 *
 *	char *argv[] = { "program", "-cpuprofile", "/dev/null", "file", NULL };
 *	int argc = 4;
 *	struct gprof_flags *f = gprof_flags_parse(&argc, argv);
 *
 *	if (!f || gprof_flags_start(f))
 *		errx(1, "%s", gprof_error());
 *	work();
 *	if (gprof_flags_stop(f))
 *		errx(1, "%s", gprof_error());
 *	gprof_flags_free(f);
 *
 * Without a change to the program, libgprof-self.so does the same for as long as it runs:
 *
 *   LD_PRELOAD=libgprof-self.so GPROF=cpu,event=cycles,period=100000,out=cpu.pb.gz ./program
 *
 * The recording covers the process with all its threads, and all that it forks; and the kernel as
 * far as its privileges go. A file appears once it is whole: a process that ends by a signal, or
 * in another program's exec, has none; nor one that ends by _exit(), but with libgprof-self.so.
 *
 * Threads, fork: as for gprof/recorder.h.
 */
#ifndef GPROF_FLAGS_H
#define GPROF_FLAGS_H

#include <gprof/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gprof_flags;

/**
 * gprof_flags_parse() - take the flags out of a command line
 * @argc: number of arguments; gets that of those that are left
 * @argv: arguments, of which the first is the program; ends with NULL, as main() has it
 *
 *	-cpuprofile FILE	CPU time
 *	-cpuprofileevent EVENT	or an event: timer, cycles, instructions, cacheMisses,
 *				cacheReferences, branches, branchMisses, rHEX, and the others of
 *				struct gprof_cpu_event
 *	-cpuprofileperiod N	one sample of so many; not for the timer, which has 100 Hz
 *	-blockprofile FILE	where it waits
 *	-mutexprofile FILE	tasks that release locks that others wait for
 *	-memprofile FILE	allocations that it does not free, with libgprof-heap.so
 *				loaded (LD_PRELOAD, or linked); else it cannot start
 *	-trace FILE		an execution trace
 *	-counters EVENT[,...]	how often they happen, a line each on stderr: "COUNT EVENT"
 *
 * With one dash or two, and the value as the next argument or behind "=". Those after "--"
 * are not looked at. In FILE "%p" is the number of the process, "%h" the name of the host, "%%"
 * is "%". Links are followed; a file is replaced by one with its rights, a pipe that is read or a
 * character device is written to, anything else is refused.
 *
 * Return: the requests, which may be none, for gprof_flags_free(); NULL with errno for a flag that
 * makes no sense; @argv is then as it was.
 */
GPROF_API struct gprof_flags *gprof_flags_parse(int *argc, char **argv);

/**
 * gprof_flags_parse_text() - likewise of one text, as libgprof-self.so finds it in GPROF
 * @text: KIND[,KEY=VALUE]...[;KIND...]: a kind is cpu, block, mutex, alloc, heap (both the
 *	program's own), kernel-alloc, kernel-heap, trace or counters; keys are out (default:
 *	KIND.pb.gz, trace.out, and stderr for counters), and event, period, hz, every, probes
 *	as in gprof/http.h. A backslash takes the meaning of the
 *	character behind it: "counters,event=cycles\,instructions"
 *
 * Return: as gprof_flags_parse().
 */
GPROF_API struct gprof_flags *gprof_flags_parse_text(const char *text);

/**
 * gprof_flags_start() - open the files, and record from now on
 * @f: from gprof_flags_parse()
 *
 * Return: 0 or -errno; nothing is recorded then.
 */
GPROF_API int gprof_flags_start(struct gprof_flags *f);

/**
 * gprof_flags_stop() - end the recordings, and put the files in place
 * @f: that was started
 *
 * If the program has closed the library's descriptor meanwhile there is no file (-EBADF).
 *
 * Return: 0 or -errno of the first failure; the other files are there all the same. In a child of
 * the process that started it, it does nothing.
 */
GPROF_API int gprof_flags_stop(struct gprof_flags *f);

/** gprof_flags_free() - free it; recordings that were not stopped are given up; NULL is fine */
GPROF_API void gprof_flags_free(struct gprof_flags *f);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_FLAGS_H */
