/* SPDX-License-Identifier: GPL-2.0-only */
/* lib_util.h: what the unit tests of the library share. */
#ifndef GPROF_LIB_UTIL_H
#define GPROF_LIB_UTIL_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Run a shell command; its exit status. */
static inline int __attribute__((format(printf, 1, 2))) lib_sh(const char *fmt, ...)
{
	char cmd[4096];
	va_list ap;
	int status;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	fflush(stdout);
	status = system(cmd);
	return status < 0 ? -1 : status >> 8 | (status & 0x7f ? 128 : 0);
}

/* With AddressSanitizer memory is not what it would be. */
#ifdef __SANITIZE_ADDRESS__
#define LIB_MEMORY(bytes)	INT64_MAX
#else
#define LIB_MEMORY(bytes)	((int64_t)(bytes))
#endif

/* A file for a trace, which with GPROF_TRACES=DIR is left there for other readers. */
static inline int lib_trace_file(void)
{
	const char *dir = getenv("GPROF_TRACES");
	static int nr;
	char path[512];

	if (!dir)
		return memfd_create("trace", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "%s/%s-%d-%d.trace", dir, program_invocation_short_name, getpid(),
		 nr++);
	return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

static inline bool lib_have(const char *program)
{
	return !lib_sh("command -v %s >/dev/null 2>&1", program);
}

/* When a process began, in ns of CLOCK_BOOTTIME, as exactly as /proc tells. */
static inline uint64_t lib_start_ns(pid_t pid)
{
	char text[1024] = "", *p;
	int fd, i;

	snprintf(text, sizeof(text), "/proc/%d/stat", pid);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	i = (int)read(fd, text, sizeof(text) - 1);
	close(fd);
	text[i > 0 ? i : 0] = '\0';
	p = strrchr(text, ')');
	for (i = 0; p && i < 20; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) * (1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK)) : 0;
}

/* A name that lives until fifteen others have been made. */
static inline char *__attribute__((format(printf, 1, 2))) lib_text(const char *fmt, ...)
{
	static char texts[16][512];
	static unsigned int turn;
	char *text = texts[turn++ % 16];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(texts[0]), fmt, ap);
	va_end(ap);
	return text;
}

/* A fresh directory; its name lives until the next call. */
static inline const char *lib_tmpdir(void)
{
	static char dir[64];

	strcpy(dir, "/tmp/gprof-lib.XXXXXX");
	return mkdtemp(dir);
}

static inline bool lib_put(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool ok = fd >= 0 && write(fd, data, len) == (ssize_t)len;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* Write text to DIR/NAME, making the directories of NAME. */
static inline bool lib_write(const char *dir, const char *name, const char *text)
{
	char path[512];
	char *p;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (p = path + strlen(dir) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	return lib_put(path, text, strlen(text));
}

/* An anonymous file with these bytes, at its start. */
static inline int lib_memfd(const void *data, size_t len)
{
	int fd = memfd_create("gprof-lib", MFD_CLOEXEC);

	if (fd >= 0 && (write(fd, data, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Where the sources are: beside this file, or above the program or the working directory. */
static inline const char *lib_top(void)
{
	static char top[PATH_MAX];
	char start[3][PATH_MAX] = { __FILE__, "", "" }, path[3 * PATH_MAX + 32];

	if (readlink("/proc/self/exe", start[1], PATH_MAX - 1) < 0 || !getcwd(start[2], PATH_MAX))
		return NULL;
	for (size_t i = 0; i < 3; i++) {
		char *slash;

		if (start[i][0] != '/')
			continue;
		for (;;) {
			snprintf(path, sizeof(path), "%s/userlib/proto/profile.proto", start[i]);
			if (!access(path, R_OK))
				return strcpy(top, start[i]);
			slash = strrchr(start[i], '/');
			if (!slash)
				break;
			*slash = '\0';
		}
	}
	return NULL;
}

/* Nanoseconds of this thread. */
static inline uint64_t lib_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The peak memory of this process, or of its largest child, in KiB. */
static inline long lib_peak_kib(int who)
{
	struct rusage u;

	return getrusage(who, &u) ? -1 : u.ru_maxrss;
}

/* Bytes that lie there twice in a row, as those of a ring do; NULL: there is no memory. */
static inline unsigned char *lib_ring(size_t size)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	unsigned char *p = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool ok = fd >= 0 && !ftruncate(fd, (off_t)size) && p != MAP_FAILED;

	for (int i = 0; i < 2 && ok; i++)
		ok = mmap(p + i * size, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			  0) != MAP_FAILED;
	if (fd >= 0)
		close(fd);
	return ok ? p : NULL;
}

/* Small numbers that look random and are the same each time. */
static inline uint64_t lib_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* In the hierarchy of cgroup v2; NULL where there is none. */
static inline char *lib_own_cgroup(void)
{
	static char line[4096];
	FILE *f = fopen("/proc/self/cgroup", "r");
	char *path = NULL;

	while (f && !path && fgets(line, sizeof(line), f))
		if (!strncmp(line, "0::", 3))
			path = strtok(line + 3, "\n");
	if (f)
		fclose(f);
	return path;
}

#endif
