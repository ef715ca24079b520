/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * buffer_pages: memory of channels, and its mapping into user space.
 */
#ifndef GPROF_BUFFER_PAGES_H
#define GPROF_BUFFER_PAGES_H

#include "channel.h"

struct page;
struct vm_area_struct;

#define GPROF_BUFFER_DEFAULT	(512ULL << 10)
#define GPROF_BUFFER_MAX	(1024ULL << 20)

u64 gprof_channel_bytes(u64 data_size);
struct gprof_channel *gprof_channel_new(unsigned int cpu, u64 data_size);
void gprof_channel_free(struct gprof_channel *ch);

int gprof_channel_mmap(struct gprof_channel *ch, struct vm_area_struct *vma, bool ring);

/* For others that have pages beside the rings. */
bool gprof_buffers_fit_host(u64 bytes);
int gprof_buffer_pages_mmap(struct vm_area_struct *vma, struct page **pages, unsigned long nr,
			    bool writable);

#endif /* GPROF_BUFFER_PAGES_H */
