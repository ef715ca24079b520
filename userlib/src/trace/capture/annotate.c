// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * annotate.c: a program's annotations, to the recorders that trace it.
 *
 * Until the first annotation the word is set, so that it comes here and opens the device. From
 * then on the kernel's page has it, or it stays 0.
 */
#include <gprof/annotate.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/gprof.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_fd.h"

_Static_assert(GPROF_ANNOTATE_REGION_BEGIN == 1 && GPROF_ANNOTATE_REGION_END == 2 &&
	       GPROF_ANNOTATE_TASK_BEGIN == 3 && GPROF_ANNOTATE_TASK_END == 4 &&
	       GPROF_ANNOTATE_LOG == 5, "annotate.h has these numbers");

static const uint32_t unknown = 1;
static const uint32_t never;

struct gprof_annotate_state gprof_annotate_state = { .wanted = &unknown };

static int device = -1;
static dev_t device_number;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int open_device(void)
{
	int fd = open(GPROF_DEVICE, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -1 : gprof_own_fd_high(fd);
}

static void check_device(void)
{
	struct gprof_info info = { .size = sizeof(info) };
	const uint32_t *wanted = &never;
	int fd = open_device();
	struct stat st;
	void *p;

	if (fd >= 0 && !fstat(fd, &st) && S_ISCHR(st.st_mode) &&
	    !ioctl(fd, GPROF_IOC_INFO, &info) && info.out_features & GPROF_FEAT_ANNOTATIONS) {
		p = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd,
			 GPROF_MMAP_ANNOTATED);
		if (p != MAP_FAILED)
			wanted = p;
	}
	if (wanted != &never) {
		device_number = st.st_rdev;
		__atomic_store_n(&device, fd, __ATOMIC_RELEASE);
	} else if (fd >= 0) {
		close(fd);
	}
	__atomic_store_n(&gprof_annotate_state.wanted, wanted, __ATOMIC_RELEASE);
}

/* A program may have closed it, and opened another of the same number. */
static bool is_device(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISCHR(st.st_mode) && st.st_rdev == device_number;
}

/* Another thread may do so at the same time. */
static bool open_again(int had)
{
	int fd = open_device();

	if (!is_device(fd)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (!__atomic_compare_exchange_n(&device, &had, fd, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		close(fd);
	return true;
}

static size_t length(const char *s, size_t max)
{
	return s ? strnlen(s, max) : 0;
}

uint64_t gprof_annotate_tell(unsigned int what, uint64_t task, uint64_t parent, const char *name,
			     const char *text)
{
	struct gprof_annotate a = {
		.size = sizeof(a),
		.what = what,
		.task = task,
		.parent = parent,
		.name = (uintptr_t)name,
		.text = (uintptr_t)text,
		.name_size = (uint32_t)length(name, GPROF_ANNOTATE_NAME_MAX),
		.text_size = (uint32_t)length(text, GPROF_ANNOTATE_TEXT_MAX),
	};
	int fd, saved = errno;

	pthread_once(&once, check_device);
	if (gprof_trace_annotated()) {
		fd = __atomic_load_n(&device, __ATOMIC_ACQUIRE);
		if (ioctl(fd, GPROF_IOC_ANNOTATE, &a) && !is_device(fd) && open_again(fd))
			ioctl(__atomic_load_n(&device, __ATOMIC_ACQUIRE), GPROF_IOC_ANNOTATE, &a);
	}
	errno = saved;
	return task;
}
