// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure: how long load works alone, and how long while it is recorded.
 *
 * 	measure LOAD-ARGS CHUNKS LOG RECORDER [ARGS...]
 *
 * LOAD-ARGS are words for load, or for the program beside it whose name is in LOAD; in ARGS, %p is
 * its process. What the recorder says goes to LOG, its mappings to LOG.maps. Prints
 *
 * 	ALONE		nanoseconds that the work took without the recorder
 * 	RECORDED	and with it
 * 	WARM		and what was recorded before that, to warm up
 * 	READER		of RECORDED, the recorder's own process
 * 	ALL		CPU time of the recorder from start to exit, ns
 * 	MEMORY		its greatest resident set, KiB
 *
 * A recorder that is more than one process says that it is ready by a file, whose name is in READY.
 *
 * On a machine of one CPU whose time is a count of instructions (--icount), RECORDED - ALONE is all
 * that the recorder cost: interrupts and its process.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QUIET_S		4	/* a recorder that did nothing for so long has started */
#define QUIET_NS	20000000	/* nothing: less than this in a second */
#define START_S		1000	/* or it never will */

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool file_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool got = f && fgets(line, size, f);

	if (f)
		fclose(f);
	return got;
}

/* The program next to this one. */
struct load {
	pid_t pid;	/* process */
	FILE *to;	/* takes the number of chunks */
	FILE *from;	/* gives the nanoseconds */
};

static void load_start(struct load *load, char *args)
{
	const char *name = getenv("LOAD") ?: "load";
	char path[4096], *argv[8], *word;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 256);
	int in[2], out[2], argc = 0;

	if (n < 0)
		die("/proc/self/exe");
	path[n] = 0;
	snprintf(strrchr(path, '/') + 1, 256, "%s", name);
	argv[argc++] = path;
	for (word = strtok(args, " "); word && argc < 7; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		die("pipe");
	load->pid = fork();
	if (load->pid < 0)
		die("fork");
	if (!load->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execv(path, argv);
		die(path);
	}
	close(in[0]);
	close(out[1]);
	load->to = fdopen(in[1], "w");
	load->from = fdopen(out[0], "r");
}

static uint64_t load_work(const struct load *load, uint64_t chunks)
{
	char line[32];

	fprintf(load->to, "%" PRIu64 "\n", chunks);
	fflush(load->to);
	if (!fgets(line, sizeof(line), load->from)) {
		fprintf(stderr, "measure: the load ended early\n");
		exit(1);
	}
	return strtoull(line, NULL, 10);
}

static pid_t recorder_start(char **argv, const struct load *load, const char *log)
{
	char number[16];
	pid_t pid;
	int i, fd;

	snprintf(number, sizeof(number), "%d", load->pid);
	for (i = 0; argv[i]; i++)
		if (!strcmp(argv[i], "%p"))
			argv[i] = number;
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (fd < 0)
			die(log);
		dup2(fd, 1);
		dup2(fd, 2);
		execvp(argv[0], argv);
		die(argv[0]);
	}
	return pid;
}

/* CPU time of all threads, ns; whether all of them sleep */
static uint64_t cpu_time(pid_t pid, bool *asleep)
{
	char path[300], text[512], *state;
	uint64_t sum = 0;
	struct dirent *e;
	DIR *dir;

	*asleep = true;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		die(path);
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, e->d_name);
		if (!file_line(path, text, sizeof(text)))
			continue;
		sum += strtoull(text, NULL, 10);
		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", pid, e->d_name);
		state = file_line(path, text, sizeof(text)) ? strrchr(text, ')') : NULL;
		*asleep &= state && state[2] == 'S';
	}
	closedir(dir);
	return sum;
}

/*
 * Waits until the recorder does no more than wait. Where time is a count of
 * instructions, waiting for a disk takes any time, so the clock says nothing.
 */
static void settle(pid_t recorder, const char *name)
{
	const struct timespec second = { 1, 0 };
	const char *ready = getenv("READY");
	uint64_t before = 0, now;
	int s, quiet = 0, status;
	bool asleep;

	for (s = 0; quiet < QUIET_S; s++) {
		nanosleep(&second, NULL);
		if (waitpid(recorder, &status, WNOHANG)) {
			fprintf(stderr, "measure: %s ended early\n", name);
			exit(1);
		}
		if (s == START_S) {
			fprintf(stderr, "measure: %s does not come to rest\n", name);
			exit(1);
		}
		if (ready && access(ready, F_OK))
			continue;
		now = cpu_time(recorder, &asleep);
		quiet = asleep && now - before < QUIET_NS ? quiet + 1 : 0;
		before = now;
	}
}

/* What the recorder's code is mapped from, for who counts instructions by address. */
static void save_maps(pid_t recorder, const char *log)
{
	char path[4096], buffer[65536];
	int from, to;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/maps", recorder);
	from = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s.maps", log);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (from < 0 || to < 0)
		die(path);
	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		if (write(to, buffer, n) != n)
			die(path);
	close(from);
	close(to);
}

static uint64_t ns(const struct timeval *t)
{
	return t->tv_sec * 1000000000ULL + t->tv_usec * 1000ULL;
}

int main(int argc, char **argv)
{
	uint64_t chunks, alone, warm, recorded, reader, all;
	struct rusage usage;
	struct load load;
	pid_t recorder;
	bool asleep;
	int status;

	if (argc < 5) {
		fprintf(stderr, "usage: measure LOAD-ARGS CHUNKS LOG RECORDER [ARGS...]\n");
		return 2;
	}
	load_start(&load, argv[1]);
	chunks = strtoull(argv[2], NULL, 10);
	/* the first time pages are touched and links are resolved */
	load_work(&load, chunks / 4 + 1);
	alone = load_work(&load, chunks);

	recorder = recorder_start(argv + 4, &load, argv[3]);
	settle(recorder, argv[4]);
	save_maps(recorder, argv[3]);
	/*
	 * Twice, and time for the recorder between: what it does once a second it must
	 * have done before, for the pages of a program are unpacked when they are first
	 * executed, which takes a million instructions.
	 */
	warm = load_work(&load, chunks / 8 + 1);
	settle(recorder, argv[4]);
	warm += load_work(&load, chunks / 8 + 1);
	settle(recorder, argv[4]);
	reader = cpu_time(recorder, &asleep);
	recorded = load_work(&load, chunks);
	reader = cpu_time(recorder, &asleep) - reader;

	/* What is still to be read is read while nobody is measured. */
	settle(recorder, argv[4]);
	kill(recorder, SIGINT);
	if (wait4(recorder, &status, 0, &usage) != recorder)
		die("wait4");
	if (!WIFEXITED(status) && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)) {
		fprintf(stderr, "measure: %s ended with %#x\n", argv[4], status);
		return 1;
	}
	all = ns(&usage.ru_utime) + ns(&usage.ru_stime);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %ld\n", alone, recorded,
	       warm, reader, all, usage.ru_maxrss);
	fclose(load.to);
	waitpid(load.pid, &status, 0);
	return 0;
}
