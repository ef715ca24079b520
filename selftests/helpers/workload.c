// SPDX-License-Identifier: GPL-2.0-only
/* workload.c: burn, pin, fork children that act when told to, read small files. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "clock.h"
#include "workload.h"

uint64_t thread_cpu_ns(void)
{
	return clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t monotonic_ns(void)
{
	return clock_now_ns(CLOCK_MONOTONIC);
}

uint64_t process_cpu_ns(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_now_ns(clock);
}

bool task_is(pid_t tid, const char *states)
{
	char path[32], text[512], *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	if (file_read(path, text, sizeof(text)))
		return false;
	at = strrchr(text, ')');
	return at && at[1] && strchr(states, at[2]);
}

bool mapped_at(const void *addr, struct mapped_file *m)
{
	FILE *f = fopen("/proc/self/maps", "re");
	bool found = false;
	char line[512];

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%lx-%lx %*s %lx", &m->start, &m->end, &m->offset) == 3 &&
			(uintptr_t)addr >= m->start && (uintptr_t)addr < m->end;
	if (f)
		fclose(f);
	return found;
}

static void spin(void)
{
	for (int i = 0; i < 200000; i++)
		__asm__ volatile("" : : : "memory");
}

void burn_ns(uint64_t ns)
{
	uint64_t end = thread_cpu_ns() + ns;

	while (thread_cpu_ns() < end)
		spin();
}

void burn_until(uint64_t end)
{
	while (monotonic_ns() < end)
		spin();
}

void sleep_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static void *memory(size_t size, int flags)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		_exit(1);
	}
	return p;
}

void *shared_memory(size_t size)
{
	return memory(size, MAP_SHARED);
}

void *private_memory(size_t size)
{
	return memory(size, MAP_PRIVATE);
}

int pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : cpu;
}

int online_cpu(unsigned int n)
{
	cpu_set_t set;

	if (sched_getaffinity(1, sizeof(set), &set) && sched_getaffinity(0, sizeof(set), &set))
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && !n--)
			return cpu;
	return -1;
}

unsigned int nr_online_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

unsigned int nr_present_cpus(void)
{
	unsigned int nr;
	glob_t cpus;

	if (glob("/sys/devices/system/cpu/cpu[0-9]*", GLOB_NOSORT, NULL, &cpus))
		return 0;
	nr = cpus.gl_pathc;
	globfree(&cpus);
	return nr;
}

int pin_to_some_cpu(void)
{
	return pin_to(online_cpu(0));
}

int cpu_set_online(int cpu, bool online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return file_write(path, online ? "1" : "0");
}

pid_t fork_bound(void)
{
	pid_t parent = getpid(), pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* who died before that sends no signal any more */
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

int run_threads(unsigned int nr, void *(*fn)(void *arg), void *arg)
{
	pthread_t threads[64];
	int err = 0;
	unsigned int i;

	for (i = 0; i < nr && !err; i++)
		err = pthread_create(&threads[i], NULL, fn, arg);
	for (nr = err ? i - 1 : i, i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	return err;
}

pid_t ping_pong(unsigned int rounds)
{
	int there[2], back[2];
	char byte = 0;
	pid_t pid;

	if (pipe(there) || pipe(back))
		return -1;
	pid = fork_bound();
	if (!pid) {
		while (rounds-- && read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	while (rounds-- && write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1)
		;
	close(there[0]);
	close(there[1]);
	close(back[0]);
	close(back[1]);
	waitpid(pid, NULL, 0);
	return pid;
}

int child_fork(struct child *child, void (*fn)(void *arg, int step), void *arg)
{
	int to[2], from[2], step;
	char byte;

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		return -errno;
	child->pid = fork_bound();
	if (child->pid < 0)
		return -errno;
	if (!child->pid) {
		close(to[1]);
		close(from[0]);
		for (step = 0; read(to[0], &byte, 1) == 1; step++) {
			fn(arg, step);
			if (write(from[1], "", 1) != 1)
				break;
		}
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	child->to = to[1];
	child->from = from[0];
	return 0;
}

int child_begin(struct child *child)
{
	return write(child->to, "", 1) == 1 ? 0 : -errno;
}

int child_wait(struct child *child)
{
	char byte;
	ssize_t n = read(child->from, &byte, 1);

	return n == 1 ? 0 : n ? -errno : -ESRCH;
}

int child_step(struct child *child)
{
	return child_begin(child) ?: child_wait(child);
}

void child_asleep(const struct child *child)
{
	char call[32], text[256];

	snprintf(call, sizeof(call), "/proc/%d/syscall", child->pid);
	/* It says so before it has given up its CPU, for which the call's registers wait. */
	while (!task_is(child->pid, "S") ||
	       (file_read(call, text, sizeof(text)) > 0 && strstr(text, "running")))
		sleep_ms(1);
}

int child_reap(struct child *child)
{
	int status = 0;

	waitpid(child->pid, &status, 0);
	if (child->to > 0)
		close(child->to);
	close(child->from);
	*child = (struct child){ 0 };
	return status;
}

int child_end(struct child *child)
{
	if (!child->pid)
		return 0;
	kill(child->pid, SIGKILL);
	/* At the end of its pipe it exits, also where it may not be killed. */
	close(child->to);
	child->to = 0;
	return child_reap(child);
}

int become(uid_t user)
{
	gid_t group = user;

	if (setgroups(0, NULL) || setresgid(group, group, group) || setresuid(user, user, user))
		return -errno;
	/* a change of user makes a process undumpable, as exec makes it dumpable again */
	return prctl(PR_SET_DUMPABLE, 1) ? -errno : 0;
}

int file_read(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	size_t done = 0;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, buffer + done, size - 1 - done)) > 0)
		done += n;
	buffer[done] = 0;
	close(fd);
	return n < 0 ? -errno : 0;
}

int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	n = n < 0 ? -errno : 0;
	close(fd);
	return n;
}

void perf_at_any_rate(void)
{
	/* once there is no limit in percent the rate cannot be changed */
	file_write("/proc/sys/kernel/perf_cpu_time_max_percent", "99");
	file_write("/proc/sys/kernel/perf_event_max_sample_rate", "1000000");
	file_write("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
}

long long file_number(const char *path)
{
	char text[64];
	int ret = file_read(path, text, sizeof(text));

	return ret ? ret : atoll(text);
}

long long file_field(const char *path, const char *key)
{
	char text[16384], *line;
	int ret = file_read(path, text, sizeof(text));
	size_t length = strlen(key);

	if (ret)
		return ret;
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, length) && line[length] == ':')
			return atoll(line + length + 1);
	}
	return -ENOENT;
}

#define CGROUPS	"/sys/fs/cgroup"

int cgroup_write(const char *path, const char *name, const char *text)
{
	char file[160];

	snprintf(file, sizeof(file), "%s/%s", path, name);
	return file_write(file, text);
}

bool timers_are_fine(void)
{
	struct timespec t;

	return !clock_getres(CLOCK_MONOTONIC, &t) && !t.tv_sec && t.tv_nsec < 1000000;
}

bool kernel_has_sched_info(void)
{
	return !access("/proc/self/schedstat", F_OK);
}

bool kernel_checks_calls(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	bool found = false;
	char line[512];

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, " __cfi_");
	if (f)
		fclose(f);
	return found;
}

bool kernel_has_cgroups(void)
{
	return !access("/proc/self/cgroup", F_OK);
}

static void mount_cgroups(void)
{
	mkdir(CGROUPS, 0755);
	if (access(CGROUPS "/cgroup.procs", F_OK))
		mount("none", CGROUPS, "cgroup2", 0, NULL);
}

int cgroup_make(char path[MEMORY_CGROUP_PATH], const char *name)
{
	mount_cgroups();
	snprintf(path, MEMORY_CGROUP_PATH, CGROUPS "/gprof_%s.%d", name, getpid());
	return mkdir(path, 0755) ? -errno : 0;
}

int memory_cgroup(char path[MEMORY_CGROUP_PATH], const char *max)
{
	char text[512];
	int ret;

	mount_cgroups();
	if (file_read(CGROUPS "/cgroup.controllers", text, sizeof(text)) ||
	    !strstr(text, "memory") || cgroup_write(CGROUPS, "cgroup.subtree_control", "+memory"))
		return -ENODEV;
	ret = cgroup_make(path, "test");
	if (ret)
		return ret;
	ret = cgroup_write(path, "memory.max", max);
	if (ret)
		rmdir(path);
	else
		cgroup_write(path, "memory.swap.max", "0");
	return ret;
}

int memory_cgroup_enter(const char *path, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	return cgroup_write(path, "cgroup.procs", text);
}

long long tracepoint_id(const char *category, const char *name)
{
	char path[256];

	if (access("/sys/kernel/tracing/events", F_OK) &&
	    mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL))
		return -errno;
	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/%s/id", category, name);
	return file_number(path);
}

char *beside_us(const char *name)
{
	static char path[512];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n < 0 ? 0 : n] = 0;
	n = strrchr(path, '/') ? strrchr(path, '/') - path : 0;
	snprintf(path + n, sizeof(path) - n, "/%s", name);
	return path;
}

int install_program(const char *from, const char *to, uid_t owner, mode_t mode)
{
	char buffer[65536];
	int in = open(from ? from : beside_us("burner"), O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700), ret = 0;
	ssize_t n = 0;

	if (in < 0 || out < 0)
		return -errno;
	while (!ret && (n = read(in, buffer, sizeof(buffer))) > 0)
		ret = write(out, buffer, n) == n ? 0 : -EIO;
	if (n < 0 || fchown(out, owner, owner) || fchmod(out, mode))
		ret = -errno;
	close(in);
	close(out);
	return ret;
}
