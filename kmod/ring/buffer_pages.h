/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * buffer_pages: memory of per-CPU buffers, and its mapping into user space.
 */
#ifndef GPROF_BUFFER_PAGES_H
#define GPROF_BUFFER_PAGES_H

#include "percpu_buffer.h"

struct page;
struct vm_area_struct;

#define GPROF_BUFFER_DEFAULT	(512ULL << 10)
#define GPROF_BUFFER_MAX	(1024ULL << 20)

u64 gprof_percpu_buffer_bytes(u64 data_size);
struct gprof_percpu_buffer *gprof_percpu_buffer_new(unsigned int cpu, u64 data_size);
void gprof_percpu_buffer_free(struct gprof_percpu_buffer *ch);

int gprof_percpu_buffer_mmap(struct gprof_percpu_buffer *ch, struct vm_area_struct *vma, bool ring);

/* For others that have pages beside the rings. */
bool gprof_buffers_fit_host(u64 bytes);
int gprof_buffer_pages_mmap(struct vm_area_struct *vma, struct page **pages, unsigned long nr,
			    bool writable);

#endif /* GPROF_BUFFER_PAGES_H */
