// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl doctor: problems of this host with recording, or with good profiles, and remedies.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <gprof/info.h>

#include "cli/options.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "doctor.h"
#include "module_info.h"

#define DEVICE			"/dev/gprof"
#define CAP_SYS_ADMIN_BIT	21
#define CAP_PERFMON_BIT		38
/* Inode of the initial pid namespace, the same on every host. */
#define INITIAL_PIDNS		0xeffffffcU

/* @remedy: NULL where all is well */
static void check_line(struct checkup *p, const char *word, const char *remedy, const char *fmt,
		       va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0)
		exit(fail("there is not enough memory"));
	if (p->json) {
		json_object(p->json, NULL);
		json_string(p->json, "status", word);
		json_string(p->json, "text", text);
		if (remedy)
			json_string(p->json, "remedy", remedy);
		json_end(p->json);
	} else {
		printf("%-4s  %s\n", word, text);
		if (remedy)
			printf("      -> %s\n", remedy);
	}
	free(text);
}

void good(struct checkup *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	check_line(p, "ok", NULL, fmt, ap);
	va_end(ap);
}

void bad(struct checkup *p, enum severity how, const char *remedy, const char *fmt, ...)
{
	va_list ap;

	if ((int)how > p->worst)
		p->worst = how;
	va_start(ap, fmt);
	check_line(p, how == FAIL ? "fail" : "warn", remedy, fmt, ap);
	va_end(ap);
}

const char *read_line(const char *path, char *text, size_t size)
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

static void check_headers(struct checkup *p)
{
	char *build = xprintf("/lib/modules/%s/build", p->u.release);

	if (exists(build))
		good(p, "the headers of this kernel are installed: %s", build);
	else
		bad(p, FAIL, "install them; on Debian: apt-get install linux-headers-$(uname -r)",
		    "the headers of this kernel are missing: %s", build);
	free(build);
}

static void check_module(struct checkup *p)
{
	if (p->host) {
		good(p, "the module is loaded and speaks ABI %u", gprof_host_abi(p->host));
	} else if (exists("/sys/module/gprof") && access(DEVICE, R_OK | W_OK) &&
		   errno == EACCES) {
		bad(p, FAIL, "run as root, or let users in: chmod a+rw " DEVICE " as root until "
		    "the module is loaded again, or for good by a udev rule: see gprof(4)",
		    "the module is loaded, but this user may not open " DEVICE);
	} else if (exists("/sys/module/gprof")) {
		bad(p, FAIL, "check the permissions of " DEVICE ", or build command and module "
		    "from the same source", "the module is loaded, but: %s", p->error);
	} else {
		struct module_info module;

		module_info_read(&module);
		if (module.file)
			bad(p, FAIL, "as root: modprobe gprof", "the module is installed, and not "
			    "loaded: %s", p->error);
		else
			bad(p, FAIL, "install the package gprof-dkms, or build it with make, then, "
			    "as root: insmod build/kmod/$(uname -r)/gprof.ko",
			    "the module is not loaded: %s", p->error);
		free(module.file);
		check_headers(p);
	}
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

/* This user may open it: list the other users that may. */
static void check_device(struct checkup *p)
{
	struct stat st;

	if (stat(DEVICE, &st))
		return;
	if (st.st_mode & 0006)
		good(p, "every user may open " DEVICE);
	else if (st.st_mode & 0060)
		good(p, "group %u may open " DEVICE "; chmod a+rw lets every user in", st.st_gid);
	else
		good(p, "only root may open " DEVICE "; chmod a+rw, or a udev rule (gprof(4)), lets "
		     "users record their own tasks");
}

static void check_privilege(struct checkup *p)
{
	char text[32];

	p->privileged = has_capability(CAP_PERFMON_BIT) || has_capability(CAP_SYS_ADMIN_BIT);
	if (p->host)
		check_device(p);
	if (p->privileged)
		good(p, "this user may record every task, the kernel, and all CPUs");
	else
		bad(p, WARN, "run it as root or with CAP_PERFMON to record more",
		    "this user may record only its own tasks, without the kernel");
	read_line("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	if (*text && !p->privileged && atoi(text) > 2)
		bad(p, WARN, "use -e timer, or as root: sysctl kernel.perf_event_paranoid=2",
		    "kernel.perf_event_paranoid is %s: this user may use no event but the timer",
		    text);
	else if (*text)
		good(p, "kernel.perf_event_paranoid is %s, which leaves this user's rights", text);
}

/* As the module counts: an allowance per CPU, and the limit beyond it. */
static void check_memlock(struct checkup *p)
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
		good(p, "this user may pin %" PRIu64 " KiB for buffers; one event takes up to %" PRIu64
		     " KiB by default", allowed, wanted);
	else
		bad(p, WARN, "record with a smaller --buffer, or as root: echo KIB_PER_CPU > "
		    "/sys/module/gprof/parameters/mlock_kb", "this user may pin %" PRIu64
		    " KiB for buffers; one event takes up to %" PRIu64 " KiB by default", allowed,
		    wanted);
}

static void check_lockdown(struct checkup *p)
{
	char text[64];

	/* Kernels without it have no such file either, but their directory is not empty. */
	if (!*read_line("/sys/kernel/security/lockdown", text, sizeof(text)) &&
	    exists("/sys/kernel/security") && !exists("/sys/kernel/security/lsm"))
		bad(p, WARN, "as root: mount -t securityfs securityfs /sys/kernel/security",
		    "whether the kernel is locked down is not known: securityfs is not mounted");
	else if (strstr(text, "[confidentiality]"))
		bad(p, WARN, "nothing but a reboot without lockdown=confidentiality lifts it",
		    "the kernel is locked down: its own frames cannot be recorded");
	else if (strstr(text, "[integrity]"))
		good(p, "the kernel is locked down for integrity, which allows profiles; "
		     "only signed modules load");
	else
		good(p, "the kernel is not locked down");
}

/* Names of kernel functions come from here; hidden addresses read as 0. */
static void check_kallsyms(struct checkup *p)
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
		good(p, "addresses of the kernel's functions are visible");
	else if (!p->privileged)
		good(p, "addresses of the kernel's functions are hidden from this user, which records "
		     "none of them");
	else
		bad(p, WARN, "sysctl kernel.kptr_restrict=1, and CAP_SYSLOG",
		    "addresses of the kernel's functions are hidden (kernel.kptr_restrict=%s): "
		    "its frames will have no names", restrict_text);
}

static void check_events(struct checkup *p)
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
				bad(p, FAIL, "use a kernel with perf events and high-resolution "
				    "timers", "the event timer does not work: %s",
				    events[i].reason);
			else
				good(p, "the event timer works");
			continue;
		}
		hardware++;
		if (events[i].error && !missing++)
			reason = events[i].reason;
	}
	if (!missing)
		good(p, "all preset hardware events work");
	else if (missing < hardware)
		good(p, "%zu of %zu preset hardware events work; gprofctl info says which",
		     hardware - missing, hardware);
	else
		bad(p, WARN, "use -e timer, or give the virtual machine a PMU (libvirt: "
		    "<cpu mode='host-passthrough'/>)", "there are no hardware events: %s", reason);
}

static void check_throttling(struct checkup *p)
{
	char percent[16], rate[16];

	read_line("/proc/sys/kernel/perf_cpu_time_max_percent", percent, sizeof(percent));
	read_line("/proc/sys/kernel/perf_event_max_sample_rate", rate, sizeof(rate));
	if (!*rate)
		return;
	/* 0 and 100 take this limit away. */
	if (!strtoul(percent, NULL, 10))
		strcpy(percent, "100");
	if (strtoul(rate, NULL, 10) < 10000)
		bad(p, WARN, "sysctl kernel.perf_event_max_sample_rate=100000 resets it; the "
		    "kernel lowers it when sampling takes more than perf_cpu_time_max_percent",
		    "the kernel allows only %s samples per second and CPU, and throttles above",
		    rate);
	else
		good(p, "the kernel throttles above %s samples per second and CPU, or %s %% of its "
		     "time", rate, percent);
}

static void check_tracepoints(struct checkup *p)
{
	if (!p->privileged)
		return;
	if (!access("/sys/kernel/tracing/events/sched", R_OK) ||
	    !access("/sys/kernel/debug/tracing/events/sched", R_OK))
		good(p, "tracefs is mounted: gprofctl profile finds tracepoints");
	else
		bad(p, WARN, "mount -t tracefs tracefs /sys/kernel/tracing",
		    "tracefs is not mounted: gprofctl profile finds no tracepoints");
}

/* A sample whose time has come waits for the next tick, where no timer comes between two. */
static void check_timers(struct checkup *p)
{
	struct timespec t;

	if (clock_getres(CLOCK_MONOTONIC, &t) || (!t.tv_sec && t.tv_nsec < 1000000))
		return;
	bad(p, WARN, "boot a kernel with CONFIG_HIGH_RES_TIMERS, without highres=off",
	    "this kernel's timers come with its ticks alone: no more than %ld samples of the event "
	    "timer a second of a CPU, each of which stands for the more",
	    t.tv_sec ? 1 : 1000000000 / t.tv_nsec);
}

static void check_cgroups(struct checkup *p)
{
	if (!p->privileged)
		return;
	if (!exists("/proc/self/cgroup"))
		bad(p, WARN, "boot a kernel with CONFIG_CGROUPS, or name processes (-p)",
		    "this kernel has no cgroups: -G records nothing");
	else if (exists("/sys/fs/cgroup/cgroup.controllers") ||
	    exists("/sys/fs/cgroup/unified/cgroup.procs"))
		good(p, "cgroup v2 is mounted: -G works");
	else
		bad(p, WARN, "mount -t cgroup2 none /sys/fs/cgroup",
		    "cgroup v2 is not mounted: -G has no directory to name");
}

static void check_namespace(struct checkup *p)
{
	struct stat st;

	if (!stat("/proc/self/ns/pid", &st) && st.st_ino != INITIAL_PIDNS)
		bad(p, WARN, "record from the host for the ids of all processes",
		    "this is a container: profiles show processes outside of it as [outside], "
		    "with id 0");
}

static void check_symbols(struct checkup *p)
{
	if (exists("/usr/lib/debug/.build-id"))
		good(p, "debug symbols are installed under /usr/lib/debug");
	else
		bad(p, WARN, "on Debian: apt-get install libc6-dbg, and PACKAGE-dbgsym for others",
		    "no debug symbols are installed: static and inlined functions of stripped "
		    "programs and libraries will have no names");
}

static const struct usage doctor_usage = {
	.name = "doctor",
	.synopsis = "[--json]",
	.text =
"Checks what profiles need on this host: the module, privileges, events, kernel\n"
"settings, symbols. Each line has ok, warn or fail, and a remedy. Exits with 1\n"
"when something fails.",
	.examples =
"  gprofctl doctor       # as this user\n"
"  sudo gprofctl doctor  # as root, which may record more",
};

int cmd_doctor(int argc, char **argv)
{
	static void (*const checks[])(struct checkup *p) = {
		check_module, check_privilege, check_memlock, check_events, check_timers,
		check_throttling,
		check_signature, check_lockdown, check_kallsyms, check_tracepoints, check_cgroups,
		check_namespace, check_symbols,
	};
	bool for_programs = false;
	const struct option_table tables[] = { { JSON_TABLE, json_options, &for_programs }, { 0 } };
	struct checkup p = { 0 };
	struct json json = { 0 };
	int operands, status;

	if (!options_parse(&doctor_usage, tables, argc, argv, true, &operands, &status))
		return status;
	if (argv[operands])
		return misused("doctor takes no \"%s\"; see gprofctl doctor --help",
			       argv[operands]);
	p.host = gprof_host_new();
	/* the next check may fail too */
	p.error = xprintf("%s", gprof_error());
	uname(&p.u);
	if (for_programs) {
		p.json = &json;
		json_open(p.json, stdout, "doctor");
		json_object(p.json, "kernel");
		json_string(p.json, "release", p.u.release);
		json_string(p.json, "machine", p.u.machine);
		json_end(p.json);
		json_array(p.json, "checks");
	} else {
		printf("kernel %s %s\n", p.u.release, p.u.machine);
	}
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		checks[i](&p);
	if (p.json) {
		json_end(p.json);
		json_close(p.json);
	}
	gprof_host_free(p.host);
	status = finish_stdout();
	return p.worst == FAIL ? STATUS_FAILED : status;
}
