// SPDX-License-Identifier: GPL-2.0-only
/* fuzz_ioctl.c: the commands of the device, with structs that need not be right. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "fuzz_alloc.h"
#include "fuzz_ioctl.h"
#include "fuzz_python.h"
#include "table.h"
#include "workload.h"

/* The errors that <linux/gprof.h> names, and no others. */
static bool is_promised(int err)
{
	static const int promised[] = {
		0, ENOTTY, E2BIG, EINVAL, EOPNOTSUPP, ENOENT, ESRCH, ENODEV, EPERM, EBUSY,
		ENOMEM, EFAULT, ENOSPC, EAGAIN,
	};

	for (unsigned int i = 0; i < sizeof(promised) / sizeof(promised[0]); i++)
		if (promised[i] == err)
			return true;
	return false;
}

static int call(struct thread *t, struct slot *s, unsigned int cmd, void *arg)
{
	struct fuzz *f = t->run->f;
	int fd = __atomic_load_n(&s->fd, __ATOMIC_RELAXED);
	int err = ioctl(fd, cmd, arg) ? errno : 0;

	fuzz_count(&f->calls);
	if (err)
		fuzz_count(&f->refused);
	/* a liar may be closed by another thread at any moment */
	if (!is_promised(err) && !(err == EBADF && !s->honest))
		fuzz_broken(f, "command %#x gave %d (%s)", cmd, err, strerror(err));
	return err;
}

/* Nothing so large that the guest's memory is what is tested. */
#define LARGEST_BUFFER	131072

/* What a wrong bit made of it. */
static void keep_small(struct gprof_setup *setup)
{
	if (setup->buffer_size > LARGEST_BUFFER && setup->buffer_size <= 1ULL << 30)
		setup->buffer_size = LARGEST_BUFFER;
}

/*
 * Sends a struct from a random place: often straight before a page that is not
 * there, with a size that may reach into it.
 */
static int send_struct(struct thread *t, struct slot *s, unsigned int cmd, void *arg, size_t size)
{
	size_t room = t->run->page - size;
	uint8_t *place = t->edge + (one_in(&t->draw, 2) ? room : below(&t->draw, room / 8) * 8);
	uint32_t *words = (uint32_t *)place;
	void *kept = place;
	int err;

	memcpy(place, arg, size);
	switch (below(&t->draw, 12)) {
	case 0:		/* a size that is wrong */
		words[0] = ONE_OF(&t->draw, 0, 1, 4, 8, size - 1, size - 8, size + 1, size + 8,
				  t->run->page, t->run->page + 1, 1 << 20, UINT32_MAX);
		break;
	case 1:		/* a bit that is */
		words[below(&t->draw, size / 4)] ^= 1U << below(&t->draw, 32);
		break;
	case 2:		/* garbage */
		words[below(&t->draw, size / 4)] = draw(&t->draw);
		break;
	case 3:
		if (one_in(&t->draw, 4))
			place = (uint8_t *)ONE_OF(&t->draw, 0, 8, -8, 1ULL << 47, 0xffff888000000000ULL,
						  (uintptr_t)t->edge + t->run->page);
		break;
	}
	if (cmd == GPROF_IOC_SETUP)
		keep_small(kept);
	err = call(t, s, cmd, place);
	if (place >= t->edge && place < t->edge + t->run->page)
		memcpy(arg, place, size);
	return err;
}

void do_info(struct thread *t, struct slot *s)
{
	struct gprof_info info = { .size = sizeof(info) };

	send_struct(t, s, GPROF_IOC_INFO, &info, sizeof(info));
}

void do_stats(struct thread *t, struct slot *s)
{
	struct gprof_stats st = {
		.size = sizeof(st), .cpu = ONE_OF(&t->draw, -1, -1, 0, 1, 2, 4096, -2, INT32_MIN),
	};
	uint64_t told;

	if (send_struct(t, s, GPROF_IOC_STATS, &st, sizeof(st)) || st.size != sizeof(st))
		return;
	/* they are read one after the other, from what goes on: but never backwards */
	told = device_lost(&st) + st.out_overwritten;
	if (st.out_stopped_ns && st.out_produced < told && st.out_started_ns < st.out_stopped_ns)
		fuzz_broken(t->run->f, "produced %llu, lost and overwritten %llu",
		       (unsigned long long)st.out_produced, (unsigned long long)told);
}

void do_start(struct thread *t, struct slot *s)
{
	struct gprof_start start = { .size = sizeof(start) };

	if (!send_struct(t, s, GPROF_IOC_START, &start, sizeof(start)))
		fuzz_count(&t->run->f->started);
}

void do_stop(struct thread *t, struct slot *s)
{
	struct gprof_stop stop = { .size = sizeof(stop) };

	send_struct(t, s, GPROF_IOC_STOP, &stop, sizeof(stop));
}

void do_rate(struct thread *t, struct slot *s)
{
	struct gprof_rate rate = {
		.size = sizeof(rate),
		.hz = ONE_OF(&t->draw, 0, 1, 100, 99999, 100000, 100001, UINT32_MAX),
	};

	send_struct(t, s, GPROF_IOC_RATE, &rate, sizeof(rate));
}

void do_trigger(struct thread *t, struct slot *s)
{
	static const char *const names[] = {
		"sched:sched_waking", "task:task_newtask", "syscalls:sys_enter_read", "sched", ":", "",
		"sched:sched_waking:", "no:such",
	};
	struct gprof_trigger trigger = {
		.size = sizeof(trigger), .what = below(&t->draw, GPROF_TRIGGER_NR + 1),
		.threshold_ns = ONE_OF(&t->draw, 0, 0, 1, 1000, 1000000, GPROF_TRIGGER_NS_MAX,
				       GPROF_TRIGGER_NS_MAX + 1, UINT64_MAX),
		.interval_ns = ONE_OF(&t->draw, 0, 1, 1, 1000000, GPROF_TRIGGER_NS_MAX + 1),
		.number = ONE_OF(&t->draw, -1, -1, -1, 0, 1, 9, 64, 65, INT32_MAX, INT32_MIN),
	};

	if (trigger.what == GPROF_TRIGGER_TRACEPOINT) {
		trigger.threshold_ns = 0;
		trigger.name = (uintptr_t)names[below(&t->draw, sizeof(names) / sizeof(names[0]))];
	}
	if (one_in(&t->draw, 16))
		trigger.name = ONE_OF(&t->draw, 1, -8, (uintptr_t)t->edge + t->run->page - 8);
	if (one_in(&t->draw, 16))
		trigger.filter = draw(&t->draw);
	send_struct(t, s, GPROF_IOC_TRIGGER, &trigger, sizeof(trigger));
}

void do_fired(struct thread *t, struct slot *s)
{
	struct gprof_trigger_event fired = { .size = sizeof(fired) };

	if (!send_struct(t, s, GPROF_IOC_TRIGGER_READ, &fired, sizeof(fired)) &&
	    fired.size == sizeof(fired) && fired.index >= GPROF_TRIGGERS_MAX &&
	    fired.index != GPROF_TRIGGER_EVENT_REQUEST)
		fuzz_broken(t->run->f, "trigger %u has fired", fired.index);
}

/* Rules that nobody would compile, and places that are none. */
static void spoil(struct thread *t, struct table_parts *parts, bool wholly)
{
	uint8_t *bytes = (uint8_t *)parts->head;
	unsigned int i;

	for (i = 0; i < parts->head->rules; i++) {
		struct gprof_unwind_rule *r = &parts->rules[i];

		r->kind = below(&t->draw, GPROF_UNWIND_CFA_NR);
		r->how = draw(&t->draw);
		r->cfa = ONE_OF(&t->draw, 0, 1, 2, 8, -1, 32767, -32768);
		r->fp = ONE_OF(&t->draw, 0, -1, -2, 32767, -32768);
		r->ra = ONE_OF(&t->draw, 0, -1, -2, 32767, -32768);
		if (r->kind == GPROF_UNWIND_CFA_DEREF)
			r->how &= 0x1f;
		if (r->kind == GPROF_UNWIND_CFA_PLT)
			r->cfa = below(&t->draw, 17);
	}
	for (i = wholly ? below(&t->draw, 8) : 0; i; i--)
		bytes[below(&t->draw, parts->size)] = draw(&t->draw);
}

/* For our own text, which is sampled: so a table that is taken is walked by. */
void do_table(struct thread *t, struct slot *s)
{
	struct table_row rows[64] = { 0 };
	unsigned int nr = 1 + below(&t->draw, 64), i;
	uint32_t end = (1 + below(&t->draw, 64)) * 65536;
	struct table_parts parts;
	struct gprof_unwind_table_add arg;
	struct gprof_python python;
	int fd;

	for (i = 1; i < nr; i++)
		rows[i].offset = rows[i - 1].offset + 1 + below(&t->draw, end / 64);
	while (nr > 1 && rows[nr - 1].offset >= end)
		nr--;
	if (!table_make(&parts, rows, nr, end, one_in(&t->draw, 2) ? 0 : below(&t->draw, 300)))
		return;
	spoil(t, &parts, one_in(&t->draw, 2));
	fd = open(one_in(&t->draw, 8) ? "/dev/null" : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	arg = table_argument(&parts, fd);
	if (one_in(&t->draw, 8)) {
		arg.flags = GPROF_UNWIND_TABLE_ADD_F_VDSO;
		arg.fd = -1;
	}
	if (one_in(&t->draw, 8))
		arg.fd = draw(&t->draw);
	if (one_in(&t->draw, 8))
		arg.table_size = ONE_OF(&t->draw, 0, 1, parts.size - 1, parts.size + 8, 1 << 26,
					(1 << 26) + 1, UINT64_MAX);
	if (one_in(&t->draw, 16))
		arg.table = draw(&t->draw);
	if (one_in(&t->draw, 2))
		arg.python = fuzz_python(&t->draw, &python);
	send_struct(t, s, GPROF_IOC_UNWIND_TABLE_ADD, &arg, sizeof(arg));
	close(fd);
	free(parts.head);
}

/* Not through send_struct(): a pointer that has one wrong bit may be to memory of ours. */
void do_stack(struct thread *t, struct slot *s)
{
	struct gprof_self_stack arg = {
		.size = one_in(&t->draw, 8) ? draw(&t->draw) : sizeof(arg),
		.flags = one_in(&t->draw, 16) ? draw(&t->draw) : 0,
		.frames = one_in(&t->draw, 4) ?
			  ONE_OF(&t->draw, 0, 1, -8, 0xffff888000000000ULL,
				 (uintptr_t)t->edge + t->run->page - 8) : (uintptr_t)t->edge,
		.max_frames = ONE_OF(&t->draw, 0, 1, 2, 16, 127, 127, 127, 128, UINT32_MAX),
		.skip = ONE_OF(&t->draw, 0, 0, 1, 3, 126, 127, 128, UINT32_MAX, draw(&t->draw)),
	};

	if (!call(t, s, GPROF_IOC_SELF_STACK, &arg) &&
	    (arg.out_frames > arg.max_frames || arg.out_frames > 127))
		fuzz_broken(t->run->f, "%u frames of a stack", arg.out_frames);
}

/* Of few addresses, so that two threads tell of one at once. */
void do_memory(struct thread *t, struct slot *s)
{
	unsigned int what = one_in(&t->draw, 16) ? draw(&t->draw) : below(&t->draw, 4);
	struct gprof_alloc_report arg = {
		.what = what, .addr = what ? 16 + 16 * below(&t->draw, 8) : 0,
		.mm_id = one_in(&t->draw, 4) ? draw(&t->draw) : 0,
		.bytes = what == GPROF_ALLOC_REPORT_ALLOC || what == GPROF_ALLOC_REPORT_RESIZE ?
				 ONE_OF(&t->draw, 1, 100, 1ULL << 47, (1ULL << 48) - 1, 1ULL << 48,
					UINT64_MAX, draw(&t->draw)) :
				 0,
		.period = what == GPROF_ALLOC_REPORT_ALLOC ?
				  ONE_OF(&t->draw, 1, 2, 512 << 10, 1ULL << 40, UINT64_MAX,
					 draw(&t->draw)) :
				  0,
		.pc = what == GPROF_ALLOC_REPORT_ALLOC ?
			      ONE_OF(&t->draw, 0, 1, 0xffffffff81000000ULL, (uintptr_t)do_memory) :
			      0,
		.flags = one_in(&t->draw, 8) ?
				 ONE_OF(&t->draw, GPROF_ALLOC_REPORT_F_NO_ROOM, draw(&t->draw)) :
				 0,
	};

	if (arg.pc) {
		arg.sp = ONE_OF(&t->draw, 0, 7, 0xffff888000000000ULL, (uintptr_t)&arg,
				(uintptr_t)t->edge + t->run->page - 8, draw(&t->draw));
		arg.fp = ONE_OF(&t->draw, 0, 8, 0xffff888000000000ULL, (uintptr_t)&arg,
				(uintptr_t)t->edge + t->run->page - 16, draw(&t->draw));
	}
	send_struct(t, s, GPROF_IOC_ALLOC_REPORT, &arg, sizeof(arg));
}

void do_unknown(struct thread *t, struct slot *s)
{
	unsigned int cmd = GPROF_IOC_TYPE << 8 | below(&t->draw, 256);

	if (one_in(&t->draw, 2))
		cmd = draw(&t->draw);
	/* what every file has would have its own errors */
	if ((cmd >> 8 & 0xff) != GPROF_IOC_TYPE)
		cmd = (cmd & ~0xff00U) | GPROF_IOC_TYPE << 8;
	if (cmd >= GPROF_IOC_INFO && cmd <= GPROF_IOC_ALLOC_REPORT)
		return;
	call(t, s, cmd, t->edge + below(&t->draw, t->run->page));
}

static void draw_params(struct thread *t, struct gprof_cpu_params *p)
{
	*p = timer_params(ONE_OF(&t->draw, 1000000, 1000000, 250000, 100000, 10000000));
	if (one_in(&t->draw, 4)) {
		p->type = ONE_OF(&t->draw, PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE, PERF_TYPE_RAW,
				 PERF_TYPE_HW_CACHE, PERF_TYPE_TRACEPOINT, PERF_TYPE_BREAKPOINT,
				 6, 7, 8, 9, 10, UINT32_MAX);
		p->config = ONE_OF(&t->draw, 0, 1, 2, 3, 4, 5, 6, 0x11, 0xff, draw(&t->draw), UINT64_MAX);
		p->period = 100000 + below(&t->draw, 1000000);
	}
	if (one_in(&t->draw, 4))
		p->flags = ONE_OF(&t->draw, 1, 2, 4, 8, 15, 16, draw(&t->draw));
	if (one_in(&t->draw, 8))
		p->period = ONE_OF(&t->draw, 0, 1, 99, 9999, GPROF_PERIOD_MAX, GPROF_PERIOD_MAX + 1,
				   UINT64_MAX);
	if (one_in(&t->draw, 8))
		p->precise = ONE_OF(&t->draw, 1, 2, 3, 4, UINT32_MAX);
	if (one_in(&t->draw, 16))
		p->config1 = draw(&t->draw);
	if (one_in(&t->draw, 16))
		p->config2 = draw(&t->draw);
	if (one_in(&t->draw, 16))
		p->size = ONE_OF(&t->draw, 0, 47, 56, 4096, 4097, UINT32_MAX);
}

static uint64_t draw_buffer(struct thread *t)
{
	return ONE_OF(&t->draw, 0, 4096, 32768, 32768, 32768, 65536, 65536, LARGEST_BUFFER, 3, 4095, 100000,
		      (1ULL << 30) + 1, 1ULL << 40, UINT64_MAX);
}

static void is_set_up(struct thread *t, struct slot *s, const struct gprof_setup *setup)
{
	__atomic_store_n(&s->id, setup->out_id, __ATOMIC_RELAXED);
	fuzz_count(&t->run->f->set_up);
}

void do_setup_sched(struct thread *t, struct slot *s)
{
	struct gprof_sched_params params = {
		.size = sizeof(params),
		.flags = one_in(&t->draw, 8) ? draw(&t->draw) : below(&t->draw, 4),
		.hz = ONE_OF(&t->draw, 0, 100, 10000, 100000, 100001),
	};
	struct gprof_setup setup = {
		.size = sizeof(setup), .kind = GPROF_KIND_SCHED,
		.target = ONE_OF(&t->draw, GPROF_TARGET_THREAD, GPROF_TARGET_PROCESS,
				 GPROF_TARGET_PROCESS, GPROF_TARGET_PROCESS,
				 GPROF_TARGET_CGROUP, GPROF_TARGET_CPUS, GPROF_TARGET_SYSTEM),
		.params = (uintptr_t)&params,
	};

	if (setup.target == GPROF_TARGET_CGROUP)
		setup.id = one_in(&t->draw, 8) ? s->fd : t->run->cgroup;
	else if (setup.target != GPROF_TARGET_SYSTEM)
		setup.id = one_in(&t->draw, 2) ? gettid() : getpid();
	if (!send_struct(t, s, GPROF_IOC_SETUP, &setup, sizeof(setup)))
		is_set_up(t, s, &setup);
}

static void draw_trace(struct thread *t, struct gprof_trace_params *p)
{
	*p = (struct gprof_trace_params){ .size = sizeof(*p) };
	if (one_in(&t->draw, 2))
		p->flags = below(&t->draw, __GPROF_TRACE_F_ALL + 1);
	if (one_in(&t->draw, 2))
		p->stacks = below(&t->draw, __GPROF_TRACE_STACKS_ALL + 1);
	if (one_in(&t->draw, 2))
		draw_params(t, &p->cpu);
	if (one_in(&t->draw, 4))
		p->min_us = below(&t->draw, one_in(&t->draw, 2) ? 5000 : UINT32_MAX);
	if (one_in(&t->draw, 8))
		p->size = ONE_OF(&t->draw, 0, 7, 8, 16, 63, 72, 4096, 4097, UINT32_MAX);
}

/* Some are filters; what they read is at random places of what the kernel tells. */
static void draw_filter(struct thread *t, struct gprof_tracepoint_params *p,
			struct gprof_filter_step *steps, unsigned int nr)
{
	static const char text[] = "k[a-z]*?\\\\[";

	for (unsigned int i = 0; i < nr; i++) {
		struct gprof_filter_step *f = &steps[i];

		*f = (struct gprof_filter_step){
			.what = below(&t->draw, __GPROF_FILTER_WHATS + 1),
			.how = below(&t->draw, __GPROF_FILTER_HOWS + 1),
			.offset = ONE_OF(&t->draw, 0, 4, 8, 12, 16, 24, 0x7ff, 0xffff),
			.size = ONE_OF(&t->draw, 1, 2, 4, 4, 8, 16, 0, 0xffff),
			.yes = ONE_OF(&t->draw, GPROF_FILTER_PASS, GPROF_FILTER_DROP, i + 1, i),
			.no = ONE_OF(&t->draw, GPROF_FILTER_PASS, GPROF_FILTER_DROP, i + 1, nr),
			.value = below(&t->draw, sizeof(text) + 1),
			.length = one_in(&t->draw, 2) ? below(&t->draw, sizeof(text) + 1) : 0,
		};
	}
	p->filter = one_in(&t->draw, 16) ? draw(&t->draw) : (uintptr_t)steps;
	p->filter_text = one_in(&t->draw, 16) ? draw(&t->draw) : (uintptr_t)text;
	p->filter_steps = one_in(&t->draw, 16) ? draw(&t->draw) : 1 + below(&t->draw, nr);
	p->filter_text_size = one_in(&t->draw, 16) ? draw(&t->draw) : sizeof(text);
}

#define KIND(_kind, _name, _params)	{ GPROF_KIND_##_kind, sizeof(struct _params) },

union any_params {
	struct { uint32_t size, flags; };
	uint64_t words[32];
};

/* Any kind, with numbers that suit many members of parameters. */
static uint32_t draw_kind(struct thread *t, union any_params *p)
{
	static const struct { uint32_t kind, size; } kinds[] = { GPROF_KINDS(KIND) };
	uint64_t i, k = below(&t->draw, sizeof(kinds) / sizeof(kinds[0]));

	for (i = 1; i < sizeof(p->words) / sizeof(p->words[0]); i++)
		p->words[i] = ONE_OF(&t->draw, 1, 1, 1, 2, 1000, 1ULL << 48, 0, UINT64_MAX);
	p->size = kinds[k].size;
	p->flags = one_in(&t->draw, 2) ? 0 : below(&t->draw, ONE_OF(&t->draw, 2, 2, 2, 4, UINT32_MAX));
	return kinds[k].kind;
}

void do_setup(struct thread *t, struct slot *s)
{
	struct gprof_filter_step steps[3];
	struct gprof_tracepoint_params profile = {
		.size = sizeof(profile), .tracepoint = below(&t->draw, 3000),
		.period = 1 + below(&t->draw, 999),
	};
	uint64_t cpus[2] = { ONE_OF(&t->draw, 1, 2, 3, 0, UINT64_MAX), 0 };
	struct gprof_alloc_function functions[FUZZ_FUNCTIONS];
	struct gprof_alloc_params alloc;
	struct gprof_cpu_params params;
	struct gprof_trace_params trace;
	struct gprof_setup setup;
	union any_params any;

	params = timer_params(1000000);
	setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	setup.buffer_size = 32768;
	if (one_in(&t->draw, 2)) {
		setup.flags = below(&t->draw, 2);
		if (one_in(&t->draw, 4)) {
			trace = (struct gprof_trace_params){ .size = sizeof(trace) };
			setup.kind = GPROF_KIND_TRACE;
			setup.params = (uintptr_t)&trace;
			setup.stack = 0;
		} else if (one_in(&t->draw, 2)) {
			setup.stack |= GPROF_STACK_F_TABLES | below(&t->draw, 2) * GPROF_STACK_F_PYTHON;
		}
		if (!call(t, s, GPROF_IOC_SETUP, &setup))
			is_set_up(t, s, &setup);
		return;
	}
	draw_params(t, &params);
	if (one_in(&t->draw, 3))
		setup.target = below(&t->draw, 8);
	if (setup.target > GPROF_TARGET_PROCESS)
		setup.id = one_in(&t->draw, 8) ? draw(&t->draw) :
			setup.target == GPROF_TARGET_CGROUP ? t->run->cgroup : 0;
	else if (one_in(&t->draw, 4))
		setup.id = ONE_OF(&t->draw, gettid(), 0, 1, 2, -1, getppid(), 1 << 22, INT32_MIN);
	if (setup.target == GPROF_TARGET_CPUS) {
		setup.cpus = (uintptr_t)cpus;
		setup.cpus_size = ONE_OF(&t->draw, 8, 8, 16, 4, 0, 4096, 4104);
	}
	if (one_in(&t->draw, 2)) {
		setup.kind = draw_kind(t, &any);
		setup.params = (uintptr_t)&any;
	}
	if (one_in(&t->draw, 8)) {
		if (one_in(&t->draw, 2))
			draw_filter(t, &profile, steps, 3);
		setup.kind = GPROF_KIND_TRACEPOINT;
		setup.params = (uintptr_t)&profile;
	}
	if (one_in(&t->draw, 4)) {
		draw_trace(t, &trace);
		setup.kind = GPROF_KIND_TRACE;
		setup.params = (uintptr_t)&trace;
	}
	if (one_in(&t->draw, 6)) {
		fuzz_alloc(&t->draw, &alloc, functions);
		setup.kind = one_in(&t->draw, 4) ? GPROF_KIND_ALLOC : GPROF_KIND_HEAP;
		if (setup.kind == GPROF_KIND_ALLOC && !one_in(&t->draw, 8))
			alloc.slots = 0;
		setup.params = (uintptr_t)&alloc;
	}
	if (one_in(&t->draw, 3))
		setup.flags = below(&t->draw, one_in(&t->draw, 8) ? 8 : 2);
	if (one_in(&t->draw, 3))
		setup.stack = below(&t->draw, __GPROF_STACK_F_ALL + 3);
	setup.buffer_size = draw_buffer(t);
	if (one_in(&t->draw, 4))
		setup.max_frames = ONE_OF(&t->draw, 1, 2, 16, 127, 128, UINT32_MAX);
	if (one_in(&t->draw, 4))
		setup.generation_ns = ONE_OF(&t->draw, 1000000, 10000000, 999999, 1, 256000000000ULL,
					     256000000001ULL, UINT64_MAX);
	if (one_in(&t->draw, 32))
		setup.params = ONE_OF(&t->draw, 0, 1, -8, (uintptr_t)t->edge + t->run->page - 8);
	if (one_in(&t->draw, 32))
		setup.cpus = ONE_OF(&t->draw, 0, 1, -8, draw(&t->draw));
	if (!send_struct(t, s, GPROF_IOC_SETUP, &setup, sizeof(setup)))
		is_set_up(t, s, &setup);
}
