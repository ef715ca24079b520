// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl doctor: what keeps profiles from being taken, or from being good,
 * on this host, and what to do about it.
 */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <gprof/info.h>

#include "options.h"
#include "say.h"

#define DEVICE			"/dev/gprof"
#define CAP_SYS_ADMIN_BIT	21
#define CAP_PERFMON_BIT		38
/* Inode of the initial pid namespace, the same on every host. */
#define INITIAL_PIDNS		0xeffffffcU

enum health { OK, WARN, FAIL };

/**
 * struct patient - what the checks share
 * @worst: of all lines so far
 * @host: answers of the module, NULL when there are none
 * @error: why there are none
 * @u: the kernel
 * @privileged: may record everything
 */
struct patient {
	enum health worst;
	struct gprof_host *host;
	const char *error;
	struct utsname u;
	bool privileged;
};

/* One line of the report: what is, and what to do about it when it is not well. */
__attribute__((format(printf, 4, 5)))
static void line(struct patient *p, enum health health, const char *remedy, const char *fmt, ...)
{
	static const char *const words[] = { "ok", "warn", "fail" };
	va_list ap;

	if (health > p->worst)
		p->worst = health;
	printf("%-4s  ", words[health]);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (health != OK && remedy)
		printf("      -> %s\n", remedy);
}

/* First line of a small file, "" when it cannot be read. */
static const char *read_line(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");

	text[0] = '\0';
	if (!f)
		return text;
	if (!fgets(text, size, f))
		text[0] = '\0';
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

static void check_module(struct patient *p)
{
	char *build;

	if (p->host) {
		line(p, OK, NULL, "the module is loaded and speaks ABI %u", gprof_host_abi(p->host));
		return;
	}
	if (exists("/sys/module/gprof")) {
		line(p, FAIL, "check the permissions of " DEVICE ", or build command and module "
		     "from the same source", "the module is loaded, but: %s", p->error);
		return;
	}
	line(p, FAIL, "build it with make, then, as root: insmod build/kmod/$(uname -r)/gprof.ko", "the module is not loaded: %s", p->error);
	build = xprintf("/lib/modules/%s/build", p->u.release);
	if (exists(build))
		line(p, OK, NULL, "the headers of this kernel are installed: %s", build);
	else
		line(p, FAIL, "install them; on Debian: apt-get install linux-headers-$(uname -r)",
		     "the headers of this kernel, to build the module with, are missing: %s", build);
	free(build);
}

static bool has_capability(int bit)
{
	char text[128];
	unsigned long long effective = 0;
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return false;
	while (fgets(text, sizeof(text), f))
		if (sscanf(text, "CapEff: %llx", &effective) == 1)
			break;
	fclose(f);
	return effective >> bit & 1;
}

static void check_privilege(struct patient *p)
{
	char text[32];

	p->privileged = has_capability(CAP_PERFMON_BIT) || has_capability(CAP_SYS_ADMIN_BIT);
	if (p->privileged)
		line(p, OK, NULL, "this user may record every task, the kernel, and all CPUs");
	else
		line(p, WARN, "run it as root or with CAP_PERFMON to record more",
		     "this user may record only its own tasks, without the kernel");
	read_line("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	if (*text)
		line(p, OK, NULL, "kernel.perf_event_paranoid is %s, which does not matter here", text);
}

/* As the module counts: an allowance per CPU, and the limit beyond it. */
static void check_memlock(struct patient *p)
{
	unsigned int cpus = p->host ? gprof_host_cpus(p->host) : 0;
	uint64_t allowed, wanted;
	struct rlimit limit;
	char text[32];

	if (!p->host || p->privileged || getrlimit(RLIMIT_MEMLOCK, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return;
	read_line("/sys/module/gprof/parameters/mlock_kb", text, sizeof(text));
	allowed = strtoull(text, NULL, 10) * cpus + limit.rlim_cur / 1024;
	/* The dictionary of stacks takes up to as much as the ring. */
	wanted = gprof_host_buffer(p->host) * 2 / 1024 * cpus;
	if (allowed >= wanted)
		line(p, OK, NULL, "this user may pin %" PRIu64 " KiB for buffers; one event takes up "
		     "to %" PRIu64 " KiB by default", allowed, wanted);
	else
		line(p, WARN, "record with a smaller --buffer, or as root: echo KIB_PER_CPU > "
		     "/sys/module/gprof/parameters/mlock_kb", "this user may pin %" PRIu64 " KiB for "
		     "buffers; one event takes up to %" PRIu64 " KiB by default", allowed, wanted);
}

static void check_lockdown(struct patient *p)
{
	char text[64];

	read_line("/sys/kernel/security/lockdown", text, sizeof(text));
	if (strstr(text, "[confidentiality]"))
		line(p, WARN, "nothing but a reboot without lockdown=confidentiality lifts it",
		     "the kernel is locked down: its own frames cannot be recorded");
	else if (strstr(text, "[integrity]"))
		line(p, OK, NULL, "the kernel is locked down for integrity, which allows profiles; "
		     "only signed modules load");
	else
		line(p, OK, NULL, "the kernel is not locked down");
}

/* Names of kernel functions come from here; hidden addresses read as 0. */
static void check_kallsyms(struct patient *p)
{
	char text[64], restrict_text[16];
	bool seen;

	read_line("/proc/sys/kernel/kptr_restrict", restrict_text, sizeof(restrict_text));
	read_line("/proc/kallsyms", text, sizeof(text));
	seen = strtoull(text, NULL, 16) != 0;
	/* The first symbols of amd64 are per-CPU offsets, and 0 for everyone. */
	if (!seen && *text) {
		FILE *f = fopen("/proc/kallsyms", "re");

		while (f && !seen && fgets(text, sizeof(text), f))
			seen = strtoull(text, NULL, 16) != 0;
		if (f)
			fclose(f);
	}
	if (seen)
		line(p, OK, NULL, "addresses of the kernel's functions are visible");
	else if (!p->privileged)
		line(p, OK, NULL, "addresses of the kernel's functions are hidden from this user, who "
		     "records none of them anyway");
	else
		line(p, WARN, "sysctl kernel.kptr_restrict=1, and CAP_SYSLOG",
		     "addresses of the kernel's functions are hidden (kernel.kptr_restrict=%s): its "
		     "frames will have no names", restrict_text);
}

static void check_events(struct patient *p)
{
	const struct gprof_info_event *events;
	size_t nr, missing = 0, hardware = 0;
	const char *reason = "";

	if (!p->host)
		return;
	nr = gprof_host_events(p->host, &events);
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(events[i].name, "timer")) {
			if (events[i].error)
				line(p, FAIL, "this kernel was built without perf events, or without "
				     "high-resolution timers", "the event timer does not work: %s",
				     events[i].reason);
			else
				line(p, OK, NULL, "the event timer works");
			continue;
		}
		hardware++;
		if (events[i].error && !missing++)
			reason = events[i].reason;
	}
	if (!missing)
		line(p, OK, NULL, "all preset hardware events work");
	else if (missing < hardware)
		line(p, OK, NULL, "%zu of %zu preset hardware events work; gprofctl info says which",
		     hardware - missing, hardware);
	else
		line(p, WARN, "use -e timer, or give the virtual machine a PMU (libvirt: "
		     "<cpu mode='host-passthrough'/>)", "there are no hardware events: %s", reason);
}

static void check_throttling(struct patient *p)
{
	char percent[16], rate[16];

	read_line("/proc/sys/kernel/perf_cpu_time_max_percent", percent, sizeof(percent));
	read_line("/proc/sys/kernel/perf_event_max_sample_rate", rate, sizeof(rate));
	if (!*rate)
		return;
	if (strtoul(rate, NULL, 10) < 10000)
		line(p, WARN, "sysctl kernel.perf_event_max_sample_rate=100000 resets it; the kernel "
		     "lowers it when sampling takes more than perf_cpu_time_max_percent",
		     "the kernel allows only %s samples per second and CPU and throttles above", rate);
	else
		line(p, OK, NULL, "the kernel throttles above %s samples per second and CPU, or %s %% of "
		     "its time", rate, percent);
}

static void check_tracepoints(struct patient *p)
{
	if (!p->privileged)
		return;
	if (!access("/sys/kernel/tracing/events/sched", R_OK) ||
	    !access("/sys/kernel/debug/tracing/events/sched", R_OK))
		line(p, OK, NULL, "tracefs is mounted: gprofctl profile finds tracepoints");
	else
		line(p, WARN, "mount -t tracefs tracefs /sys/kernel/tracing",
		     "tracefs is not mounted: gprofctl profile finds no tracepoints");
}

static void check_cgroups(struct patient *p)
{
	if (!p->privileged)
		return;
	if (exists("/sys/fs/cgroup/cgroup.controllers") ||
	    exists("/sys/fs/cgroup/unified/cgroup.procs"))
		line(p, OK, NULL, "cgroup v2 is mounted: -G works");
	else
		line(p, WARN, "mount -t cgroup2 none /sys/fs/cgroup",
		     "cgroup v2 is not mounted: -G has no directory to name");
}

static void check_namespace(struct patient *p)
{
	struct stat st;

	if (!stat("/proc/self/ns/pid", &st) && st.st_ino != INITIAL_PIDNS)
		line(p, WARN, "record from the host to have its numbers",
		     "this is a container: profiles show the process ids of the host");
}

static void check_symbols(struct patient *p)
{
	if (exists("/usr/lib/debug/.build-id"))
		line(p, OK, NULL, "debug symbols are installed under /usr/lib/debug");
	else
		line(p, WARN, "on Debian: apt-get install libc6-dbg, and PACKAGE-dbgsym for others",
		     "no debug symbols are installed: static and inlined functions of stripped "
		     "programs and libraries will have no names");
}

static const struct usage doctor_usage = {
	.name = "doctor",
	.synopsis = "",
	.text =
"Checks what profiles need on this host: the module, privileges, events, kernel\n"
"settings, symbols. Each line says ok, warn or fail, and what to do about it.\n"
"Exits with 1 when something fails.",
	.examples =
"  gprofctl doctor       # as this user\n"
"  sudo gprofctl doctor  # as root, who may record more",
};

int cmd_doctor(int argc, char **argv)
{
	static void (*const checks[])(struct patient *p) = {
		check_module, check_privilege, check_memlock, check_events, check_throttling,
		check_lockdown, check_kallsyms, check_tracepoints, check_cgroups,
		check_namespace, check_symbols,
	};
	const struct option_table tables[] = { { 0 } };
	struct patient p = { 0 };
	int operands, status;

	if (!options_parse(&doctor_usage, tables, argc, argv, true, &operands, &status))
		return status;
	if (argv[operands])
		return misused("doctor takes no \"%s\"; see gprofctl doctor --help", argv[operands]);
	p.host = gprof_host_open(&p.error);
	uname(&p.u);
	printf("kernel %s %s\n", p.u.release, p.u.machine);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](&p);
	gprof_host_free(p.host);
	status = finish_stdout();
	return p.worst == FAIL ? STATUS_FAILED : status;
}
