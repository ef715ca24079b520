// SPDX-License-Identifier: GPL-2.0-only
/*
 * ioctl: one table, one way of copying; no logic.
 *
 * All user memory is read before and written after the recorder does its work,
 * so that no lock is ever held over a page fault; but for filters, which are read under
 * the recorder's own, that nobody but its owner waits for. Modelled on iommufd
 * (drivers/iommu/iommufd/main.c).
 *
 * The work of a command cannot be taken back: others may have mapped, started or
 * read the recorder since. So EFAULT must come first. The pages of the outputs are pinned
 * before the work, and written to after it, even if the mapping is gone. A
 * command that changes nothing has no need of that.
 */
#include "ioctl.h"
#include "kind/alloc/user_alloc.h"
#include "kind/source.h"
#include "recorder.h"
#include "ring/annotate.h"

#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/gprof.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

union argument {
	u32 size;
	struct gprof_info info;
	struct gprof_setup setup;
	struct gprof_start start;
	struct gprof_stop stop;
	struct gprof_stats stats;
	struct gprof_rate rate;
	struct gprof_trigger trigger;
	struct gprof_trigger_event fired;
	struct gprof_unwind_table_add table;
	struct gprof_self_stack self_stack;
	struct gprof_alloc_report memory;
	struct gprof_annotate annotate;
};

enum outputs {
	NO_OUTPUTS,
	PINNED,		/* the work cannot be taken back */
	COPIED,		/* it is to be quick, and there is nothing to take back, or it may stay */
};

struct command {
	unsigned int cmd;
	size_t size;
	size_t min_size;
	enum outputs outputs;
	int (*run)(struct gprof_recorder *r, union argument *arg);
};

/* Where outputs go: a struct of less than a page lies in one or two. */
struct place {
	struct page *pages[2];
	int nr;
	size_t offset;
	size_t bytes;
};

/* Memory of devices, and other memory that cannot be pinned, is EFAULT too. */
static int pin_place(struct place *p, void __user *arg, size_t bytes)
{
	unsigned long start = (unsigned long)arg & PAGE_MASK;
	int pinned;

	p->offset = offset_in_page(arg);
	p->bytes = bytes;
	p->nr = DIV_ROUND_UP(p->offset + bytes, PAGE_SIZE);
	pinned = pin_user_pages_fast(start, p->nr, FOLL_WRITE, p->pages);
	if (pinned == p->nr)
		return 0;
	if (pinned > 0)
		unpin_user_pages(p->pages, pinned);
	return -EFAULT;
}

static void write_place(struct place *p, const void *from)
{
	size_t first = min_t(size_t, p->bytes, PAGE_SIZE - p->offset);

	/* Both architectures have all memory mapped. */
	memcpy(page_address(p->pages[0]) + p->offset, from, first);
	if (p->nr > 1)
		memcpy(page_address(p->pages[1]), from + first, p->bytes - first);
	unpin_user_pages_dirty_lock(p->pages, p->nr, true);
}

/* Reads a struct that begins with its size. Returns 0 or a negative errno. */
static int copy_sized(void *to, size_t size, size_t min_size, const void __user *from)
{
	u32 user_size;

	if (get_user(user_size, (const u32 __user *)from))
		return -EFAULT;
	if (user_size < min_size)
		return -EINVAL;
	/* Longer ones may come from a newer caller, but not by any length. */
	if (user_size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(to, size, from, user_size);
}

static unsigned long *copy_cpus(const struct gprof_setup *setup, int *err)
{
	size_t bytes = setup->cpus_size;
	unsigned long *map;
	unsigned int nbits;

	*err = -EINVAL;
	if (setup->target != GPROF_TARGET_CPUS) {
		if (setup->cpus || bytes)
			return NULL;
		bytes = 0;
	} else if (!bytes || bytes % sizeof(u64) || bytes > PAGE_SIZE) {
		return NULL;
	}

	*err = -ENOMEM;
	nbits = max_t(unsigned int, nr_cpu_ids, bytes * BITS_PER_BYTE);
	map = bitmap_zalloc(nbits, GFP_KERNEL_ACCOUNT);
	if (!map)
		return NULL;
	/* Both architectures have 64-bit little-endian longs, as the interface. */
	*err = -EFAULT;
	if (copy_from_user(map, u64_to_user_ptr(setup->cpus), bytes))
		goto err_free;
	*err = -ENODEV;
	if (find_next_bit(map, nbits, nr_cpu_ids) < nbits)
		goto err_free;
	*err = 0;
	return map;

err_free:
	bitmap_free(map);
	return NULL;
}

static int setup_of_source(struct gprof_recorder *r, struct gprof_setup *setup,
			   const struct gprof_source_ops *source)
{
	unsigned long *cpus;
	void *params;
	int err;

	params = kzalloc(source->params_size, GFP_KERNEL_ACCOUNT);
	if (!params)
		return -ENOMEM;
	setup->out_reason = GPROF_REASON_PARAMS;
	err = copy_sized(params, source->params_size, source->params_min,
			 u64_to_user_ptr(setup->params));
	if (err)
		goto out_params;
	setup->out_reason = GPROF_REASON_CPU;
	cpus = copy_cpus(setup, &err);
	if (err)
		goto out_params;
	err = gprof_recorder_setup(r, setup, source, params, cpus);
	bitmap_free(cpus);
out_params:
	kfree(params);
	return err;
}

static int run_setup(struct gprof_recorder *r, union argument *arg)
{
	struct gprof_setup *setup = &arg->setup;
	const struct gprof_source_ops *source = gprof_source_find(setup->kind);
	bool has_id = setup->target == GPROF_TARGET_THREAD ||
		      setup->target == GPROF_TARGET_PROCESS ||
		      setup->target == GPROF_TARGET_CGROUP;

	setup->out_data_size = 0;
	setup->out_nr_cpus = 0;
	setup->out_id = 0;
	setup->out_reason = GPROF_REASON_KIND;
	if (!source)
		return -ENOENT;
	setup->out_reason = GPROF_REASON_TARGET;
	if (!has_id && setup->id)
		return -EINVAL;
	return setup_of_source(r, setup, source);
}

static int run_info(struct gprof_recorder *r, union argument *arg)
{
	if (arg->info.flags)
		return -EOPNOTSUPP;
	gprof_recorder_info(&arg->info);
	return 0;
}

static int run_start(struct gprof_recorder *r, union argument *arg)
{
	arg->start.out_attached = 0;
	return gprof_recorder_start(r, &arg->start);
}

static int run_stop(struct gprof_recorder *r, union argument *arg)
{
	return gprof_recorder_stop(r, &arg->stop);
}

static int run_stats(struct gprof_recorder *r, union argument *arg)
{
	arg->stats = (struct gprof_stats){
		.size = arg->stats.size,
		.flags = arg->stats.flags,
		.cpu = arg->stats.cpu,
	};
	return gprof_recorder_stats(r, &arg->stats);
}

static int run_rate(struct gprof_recorder *r, union argument *arg)
{
	return gprof_recorder_rate(r, &arg->rate);
}

static int run_trigger(struct gprof_recorder *r, union argument *arg)
{
	struct gprof_trigger *trigger = &arg->trigger;
	char *name = NULL;
	int err;

	trigger->out_index = 0;
	trigger->out_reason = GPROF_REASON_PARAMS;
	if (trigger->name) {
		name = strndup_user(u64_to_user_ptr(trigger->name), GPROF_TRIGGER_NAME_MAX);
		if (IS_ERR(name))
			return PTR_ERR(name);
	}
	err = gprof_recorder_trigger(r, trigger, name);
	kfree(name);
	return err;
}

static int run_trigger_read(struct gprof_recorder *r, union argument *arg)
{
	arg->fired = (struct gprof_trigger_event){ .size = arg->fired.size };
	return gprof_recorder_trigger_read(r, &arg->fired);
}

static int run_unwind_table_add(struct gprof_recorder *r, union argument *arg)
{
	arg->table.out_bytes = 0;
	arg->table.out_tables = 0;
	return gprof_recorder_unwind_table_add(r, &arg->table);
}

static int run_stack(struct gprof_recorder *r, union argument *arg)
{
	return gprof_recorder_self_stack(r, &arg->self_stack);
}

static int run_alloc_report(struct gprof_recorder *r, union argument *arg)
{
	/* Any process that has the device open may tell; it is no matter of this recorder. */
	return gprof_user_alloc_report(&arg->memory);
}

static int run_annotate(struct gprof_recorder *r, union argument *arg)
{
	/* Likewise. */
	return gprof_annotate(&arg->annotate);
}

#define COMMAND(_cmd, _struct, _min, _outputs, _run) {			\
	.cmd = (_cmd), .size = sizeof(struct _struct), .min_size = (_min),	\
	.outputs = (_outputs), .run = (_run)				\
}

static const struct command commands[] = {
	COMMAND(GPROF_IOC_INFO, gprof_info, GPROF_INFO_SIZE_VER0, PINNED, run_info),
	COMMAND(GPROF_IOC_SETUP, gprof_setup, GPROF_SETUP_SIZE_VER0, PINNED, run_setup),
	COMMAND(GPROF_IOC_START, gprof_start, GPROF_START_SIZE_VER0, PINNED, run_start),
	COMMAND(GPROF_IOC_STOP, gprof_stop, GPROF_STOP_SIZE_VER0, NO_OUTPUTS, run_stop),
	COMMAND(GPROF_IOC_STATS, gprof_stats, GPROF_STATS_SIZE_VER0, PINNED, run_stats),
	COMMAND(GPROF_IOC_RATE, gprof_rate, GPROF_RATE_SIZE_VER0, NO_OUTPUTS, run_rate),
	COMMAND(GPROF_IOC_TRIGGER, gprof_trigger, GPROF_TRIGGER_SIZE_VER0, PINNED, run_trigger),
	COMMAND(GPROF_IOC_TRIGGER_READ, gprof_trigger_event, GPROF_TRIGGER_EVENT_SIZE_VER0, PINNED,
		run_trigger_read),
	COMMAND(GPROF_IOC_UNWIND_TABLE_ADD, gprof_unwind_table_add,
		GPROF_UNWIND_TABLE_ADD_SIZE_VER0, PINNED, run_unwind_table_add),
	COMMAND(GPROF_IOC_SELF_STACK, gprof_self_stack, GPROF_SELF_STACK_SIZE_VER0, COPIED,
		run_stack),
	COMMAND(GPROF_IOC_ALLOC_REPORT, gprof_alloc_report, GPROF_ALLOC_REPORT_SIZE_VER0, COPIED,
		run_alloc_report),
	COMMAND(GPROF_IOC_ANNOTATE, gprof_annotate, GPROF_ANNOTATE_SIZE_VER0, COPIED, run_annotate),
};

static const struct command *find(unsigned int cmd)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (commands[i].cmd == cmd)
			return &commands[i];
	}
	return NULL;
}

/**
 * gprof_ioctl() - run a command
 * @r: recorder
 * @cmd: GPROF_IOC_*
 * @arg: its struct
 *
 * Context: Task.
 * Return: 0 or a negative errno, as uapi/linux/gprof.h says.
 */
long gprof_ioctl(struct gprof_recorder *r, unsigned int cmd, void __user *arg)
{
	const struct command *c = find(cmd);
	union argument a = {};
	struct place out;
	size_t bytes;
	int err;

	BUILD_BUG_ON(sizeof(struct gprof_info) != GPROF_INFO_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct gprof_setup) != GPROF_SETUP_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct gprof_start) != GPROF_START_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct gprof_stop) != GPROF_STOP_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct gprof_stats) != GPROF_STATS_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct gprof_rate) != GPROF_RATE_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct gprof_trigger) != GPROF_TRIGGER_SIZE_VER1);
	BUILD_BUG_ON(sizeof(struct gprof_trigger_event) != GPROF_TRIGGER_EVENT_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct gprof_unwind_table_add) != GPROF_UNWIND_TABLE_ADD_SIZE_VER1);
	BUILD_BUG_ON(sizeof(struct gprof_self_stack) != GPROF_SELF_STACK_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct gprof_alloc_report) != GPROF_ALLOC_REPORT_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct gprof_annotate) != GPROF_ANNOTATE_SIZE_VER0);

	if (!c)
		return -ENOTTY;
	err = copy_sized(&a, c->size, c->min_size, arg);
	if (err)
		return err;
	if (c->outputs == NO_OUTPUTS)
		return c->run(r, &a);
	bytes = min_t(size_t, a.size, c->size);
	/* Written on error too: out_reason says why. */
	if (c->outputs == COPIED) {
		err = c->run(r, &a);
		return copy_to_user(arg, &a, bytes) ? -EFAULT : err;
	}
	err = pin_place(&out, arg, bytes);
	if (err)
		return err;
	err = c->run(r, &a);
	write_place(&out, &a);
	return err;
}
