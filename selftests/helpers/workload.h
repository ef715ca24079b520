/* SPDX-License-Identifier: GPL-2.0-only */
/* workload.h: tasks whose behaviour, and so whose profile, is known. */
#ifndef GPROF_TEST_WORKLOAD_H
#define GPROF_TEST_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* CPU time of the calling thread, ns */
uint64_t thread_cpu_ns(void);
uint64_t monotonic_ns(void);
/* CPU time of a process, ns */
uint64_t process_cpu_ns(pid_t pid);

/* Is a thread in one of these states, as /proc/PID/stat has them? */
bool task_is(pid_t tid, const char *states);

/* The addresses at which this process has a file, from @offset on. */
struct mapped_file {
	unsigned long start, end, offset;
};

/* The mapping that has @addr; false where none has. */
bool mapped_at(const void *addr, struct mapped_file *m);

/* Use so much CPU time in user mode, but for a look at the clock now and then. */
void burn_ns(uint64_t ns);
/* Until so much time has passed on the wall. */
void burn_until(uint64_t monotonic_ns);
void sleep_ms(unsigned int ms);

/* Memory that is all 0, shared with children or not; ends the program where there is none. */
void *shared_memory(size_t size);
void *private_memory(size_t size);

/* Pins the calling thread; returns the CPU or -errno. */
int pin_to(int cpu);
int pin_to_some_cpu(void);
/* n-th CPU that is online, or -1 */
int online_cpu(unsigned int n);
unsigned int nr_online_cpus(void);
/* of those that are plugged in; sysconf() counts all that might be */
unsigned int nr_present_cpus(void);

int cpu_set_online(int cpu, bool online);

/* Threads that do so, up to 64, until all have ended; 0 or an errno. */
int run_threads(unsigned int nr, void *(*fn)(void *arg), void *arg);

/* Takes turns with a child, which is returned: a byte there, and one back, so many times. */
pid_t ping_pong(unsigned int rounds);

/* A process of the test that acts when told to. */
struct child {
	pid_t pid;	/* process id */
	int to;	/* each byte written here lets it take one more step */
	int from;	/* it writes a byte here after each step */
};

/* As fork(): a child that ends with who made it, even where that one is killed. */
pid_t fork_bound(void);

/*
 * Fork a child that calls @fn(@arg, step) for step 0, 1, ... each time it is
 * told to, and dies with the test. Return 0 or -errno.
 */
int child_fork(struct child *child, void (*fn)(void *arg, int step), void *arg);
/* Let it take a step; with wait until it has done so. Return 0 or -errno. */
int child_step(struct child *child);
int child_begin(struct child *child);
int child_wait(struct child *child);
/* It waits for its next step: until it sleeps. */
void child_asleep(const struct child *child);
/* Kill it, if there is one, or wait until it has ended by itself; reap it, and return the status. */
int child_end(struct child *child);
int child_reap(struct child *child);

/* Be this user, of the group with the same number, and dumpable. Returns 0 or -errno. */
int become(uid_t user);

/* Read or write a small file; 0 or -errno. */
int file_read(const char *path, char *buffer, size_t size);
int file_write(const char *path, const char *text);
long long file_number(const char *path);

/*
 * Let perf take samples as fast as it is asked to: an emulated handler looks slow, and
 * the kernel lowers the rate for it. For tests that count samples; what comes after a
 * test program in a guest finds the settings as they were. No matter who may not.
 */
void perf_at_any_rate(void);
/* The number after "key:" in a file such as /proc/meminfo, or -errno. */
long long file_field(const char *path, const char *key);

/* Is there a timer between two ticks? A kernel without CONFIG_HIGH_RES_TIMERS has none. */
bool timers_are_fine(void);
/* Does the scheduler note when a task came and went? Not without CONFIG_SCHED_INFO. */
bool kernel_has_sched_info(void);
/* Does it compare the types of who calls and who is called (CONFIG_CFI, CONFIG_CFI_CLANG)? */
bool kernel_checks_calls(void);
/* Has the kernel cgroups at all? */
bool kernel_has_cgroups(void);

#define MEMORY_CGROUP_PATH	64

/*
 * Make a cgroup of cgroup v2, whose directory goes to @path, and whose name is made of @name and
 * the caller's number. 0 or -errno. Who made it removes it with rmdir(), once its processes
 * are gone.
 */
int cgroup_make(char path[MEMORY_CGROUP_PATH], const char *name);
/* Write to a file of it, as "1" to cgroup.freeze; 0 or -errno. */
int cgroup_write(const char *path, const char *name, const char *text);

/*
 * Make a cgroup of at most that much memory ("48M") and without swap, whose directory
 * goes to @path. 0, -ENODEV where cgroup v2 has no memory controller, or -errno. Who
 * made it removes it with rmdir(), once its processes are gone.
 */
int memory_cgroup(char path[MEMORY_CGROUP_PATH], const char *max);
/* Move a process into it; 0 or -errno. */
int memory_cgroup_enter(const char *path, pid_t pid);

/* The path of a program that was built beside this one; static. */
char *beside_us(const char *name);
/* A copy of a program, or of burner where it is NULL, that is its owner's; 0 or -errno. */
int install_program(const char *from, const char *to, uid_t owner, mode_t mode);

/* The number of a tracepoint, or -errno; mounts tracefs where needed. */
long long tracepoint_id(const char *category, const char *name);

#endif
