// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * alloc_report.c: the device, and the life of the process.
 *
 * A page that a fork wipes tells a child that it is one: it has addresses of its own, and reports
 * no allocation of its parent. A child of vfork() shares the memory and the page of its parent,
 * and is no child in this.
 */
#include "shim.h"
#include "base/own_fd.h"
#include "base/system_call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/gprof.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define TRIES		3

enum { NEW, BEGINS, READY };

/**
 * struct life - a page that is empty after a fork
 * @state: NEW, BEGINS, READY
 */
struct life {
	uint32_t state;
};

static struct life *life;
static uint64_t mm_id;		/* of this address space */
static uint64_t wanted_period;
static int device = -1;
static uint64_t device_number;	/* 0: there was none yet */
static bool warned;
static bool disabled;		/* the kernel lacks the features */
static struct stat text;	/* file 2 at the start; st_mode 0: it was closed */

static bool is_error(long ret)
{
	return ret < 0 && ret > -4096;
}

/* ---- the device ---- */

/* A program may have closed it, and opened another of the same number. */
static bool is_device(int fd)
{
	struct stat st;

	return fd >= 0 && !gprof_syscall(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) &&
	       S_ISCHR(st.st_mode) && st.st_rdev == device_number;
}

static size_t length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static void write_text(const char *s)
{
	gprof_syscall(SYS_write, 2, (long)s, (long)length(s), 0, 0, 0);
}

static void warn_once(const char *what, const char *why)
{
	struct stat now;

	/* It is another file by now. */
	if (warned || gprof_syscall(SYS_fstat, 2, (long)&now, 0, 0, 0, 0) ||
	    now.st_dev != text.st_dev || now.st_ino != text.st_ino || !text.st_mode)
		return;
	warned = true;
	write_text("libgprof-heap: ");
	write_text(what);
	write_text(" (");
	write_text(why);
	write_text("); allocations of this program are not recorded\n");
}

static bool open_device(void)
{
	long fd = gprof_syscall(SYS_openat, AT_FDCWD, (long)GPROF_DEVICE, O_RDWR | O_CLOEXEC, 0, 0,
				0);
	struct stat st;
	long high;

	if (is_error(fd)) {
		warn_once("/dev/gprof cannot be opened",
			  fd == -ENOENT ? "it is not there: is gprof.ko loaded?" :
			  fd == -EACCES ? "this user may not" :
			  fd == -EMFILE ? "too many files are open" :
					  "it fails");
		return false;
	}
	high = gprof_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, GPROF_OWN_FD_LEAST, 0, 0, 0);
	if (!is_error(high)) {
		gprof_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
		fd = high;
	}
	if (!gprof_syscall(SYS_fstat, fd, (long)&st, 0, 0, 0, 0))
		device_number = st.st_rdev;
	__atomic_store_n(&device, (int)fd, __ATOMIC_RELEASE);
	return true;
}

static long report(struct gprof_alloc_report *m)
{
	long err = -EBADF;
	int tries;

	m->size = sizeof(*m);
	m->mm_id = mm_id;
	for (tries = 0; tries < TRIES; tries++) {
		int fd = __atomic_load_n(&device, __ATOMIC_ACQUIRE);

		if (fd >= 0)
			err = gprof_syscall(SYS_ioctl, fd, GPROF_IOC_ALLOC_REPORT, (long)m, 0, 0,
					    0);
		if (!err) {
			__atomic_store_n(&wanted_period, m->out_period, __ATOMIC_RELAXED);
			return 0;
		}
		/* It was a device once. */
		if (!device_number || is_device(fd) || !open_device())
			break;
	}
	__atomic_store_n(&wanted_period, 0, __ATOMIC_RELAXED);
	return err;
}

/* ---- life ---- */

/* A process that cannot tell a child from its parent would report allocations of the other. */
static void disable(void)
{
	__atomic_store_n(&disabled, true, __ATOMIC_RELAXED);
	if (!text.st_mode)
		gprof_syscall(SYS_fstat, 2, (long)&text, 0, 0, 0, 0);
	warn_once("a fork cannot be noticed",
		  "this kernel has no madvise(): it was built without CONFIG_ADVISE_SYSCALLS");
}

static struct life *new_life(void)
{
	struct life *l = __atomic_load_n(&life, __ATOMIC_ACQUIRE), *none = NULL;
	long p, err;

	if (l)
		return l;
	if (__atomic_load_n(&disabled, __ATOMIC_RELAXED))
		return NULL;
	p = gprof_syscall(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	if (is_error(p))
		return NULL;
	err = gprof_syscall(SYS_madvise, p, 4096, MADV_WIPEONFORK, 0, 0, 0);
	if (err) {
		gprof_syscall(SYS_munmap, p, 4096, 0, 0, 0, 0);
		if (err == -ENOSYS)
			disable();
		return NULL;
	}
	if (__atomic_compare_exchange_n(&life, &none, (struct life *)p, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return (struct life *)p;
	gprof_syscall(SYS_munmap, p, 4096, 0, 0, 0, 0);
	return none;
}

/*
 * A child may have no right to open the device, nor see it (chroot), nor be allowed a call that
 * opens anything: it goes on with its parent's. Its reports have its own @mm_id.
 */
static void begin(void)
{
	struct shim_thread t = { 0 };

	mm_id = shim_random(&t);
	/* A child's own, lest it draws the same as its parent. */
	shim_thread.random = 0;
	shim_set_clear();
	shim_maps_forget();
	if (is_device(device))
		return;
	if (!device_number)
		gprof_syscall(SYS_fstat, 2, (long)&text, 0, 0, 0, 0);
	device = -1;
	open_device();
}

bool shim_is_ready(void)
{
	struct life *l = new_life();
	uint32_t is = NEW;

	if (!l)
		return false;
	if (likely(__atomic_load_n(&l->state, __ATOMIC_ACQUIRE) == READY))
		return true;
	if (!shim_resolve() ||
	    !__atomic_compare_exchange_n(&l->state, &is, BEGINS, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_ACQUIRE))
		return false;
	begin();
	__atomic_store_n(&l->state, READY, __ATOMIC_RELEASE);
	return true;
}

/* ---- reports ---- */

uint64_t shim_period(void)
{
	struct gprof_alloc_report m = { .what = GPROF_ALLOC_REPORT_ASK };
	uint64_t period = __atomic_load_n(&wanted_period, __ATOMIC_RELAXED);

	if (period)
		return period;
	return report(&m) ? 0 : m.out_period;
}

bool shim_report_alloc(const void *p, size_t n, uint64_t stands_for, const struct shim_caller *c,
		       bool lasts)
{
	struct gprof_alloc_report m = {
		.what = GPROF_ALLOC_REPORT_ALLOC,
		.flags = lasts ? 0 : GPROF_ALLOC_REPORT_F_NO_ROOM,
		.addr = (uintptr_t)p,
		.bytes = n,
		.period = stands_for,
		.pc = c->pc,
		.sp = c->sp,
		.fp = c->fp,
	};

	return !report(&m) && m.out_period;
}

void shim_report_free(const void *p)
{
	struct gprof_alloc_report m = { .what = GPROF_ALLOC_REPORT_FREE, .addr = (uintptr_t)p };

	report(&m);
}

void shim_report_resize(const void *p, size_t n)
{
	struct gprof_alloc_report m = {
		.what = GPROF_ALLOC_REPORT_RESIZE,
		.addr = (uintptr_t)p,
		.bytes = n,
	};

	report(&m);
}
