/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * kernel_symbol.h: names of kernel addresses, from /proc/kallsyms.
 */
#ifndef GPROF_KERNEL_SYMBOL_H
#define GPROF_KERNEL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct gprof_kernel_image - the kernel itself, or a module
 * @name: "[kernel.kallsyms]", "[MODULE]"
 * @start: first address
 * @end: address after the last
 * @build_id: build-id in hexadecimal, "" for none
 * @permanent: its names are the same as long as modules are: the kernel or a module
 */
struct gprof_kernel_image {
	char *name;
	uint64_t start;
	uint64_t end;
	char build_id[72];
	bool permanent;
};

/**
 * struct gprof_kernel_symbol - a function
 * @start: address
 * @name: offset of the name in the text
 * @image: index of the image
 */
struct gprof_kernel_symbol {
	uint64_t start;
	size_t name;
	uint32_t image;
	bool global;
};

/**
 * struct gprof_kernel - all that has a name
 * @symbols: functions in the order of addresses
 * @nr: how many
 * @cap: room
 * @images: the kernel, then modules
 * @nr_images: how many
 * @cap_images: room
 * @text: all names
 * @len: bytes used
 * @cap_text: room
 * @hidden: the kernel shows no addresses (kptr_restrict)
 * @state: of its modules when that was read, for its users
 * @refs: number of users, likewise
 */
struct gprof_kernel {
	struct gprof_kernel_symbol *symbols;
	size_t nr;
	size_t cap;
	struct gprof_kernel_image *images;
	size_t nr_images;
	size_t cap_images;
	char *text;
	size_t len;
	size_t cap_text;
	bool hidden;
	uint64_t state;
	size_t refs;
};

/**
 * gprof_kernel_load() - read the names in /proc and /sys
 * @k: result for gprof_kernel_free(); without symbols when they cannot be had
 * @proc: "/proc", or a test's imitation
 * @sys: "/sys", likewise
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_kernel_load(struct gprof_kernel *k, const char *proc, const char *sys);
void gprof_kernel_free(struct gprof_kernel *k);

/**
 * gprof_kernel_find() - the function at an address
 * @k: kernel
 * @addr: address
 * @image: gets its image, or NULL
 *
 * Return: name, or NULL.
 */
const char *gprof_kernel_find(const struct gprof_kernel *k, uint64_t addr,
			      const struct gprof_kernel_image **image);

#endif /* GPROF_KERNEL_SYMBOL_H */
