/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * process_lookup.h: the mapping at an address of a process when a sample was taken.
 */
#ifndef GPROF_PROCESS_LOOKUP_H
#define GPROF_PROCESS_LOOKUP_H

#include "process.h"

/** gprof_reading_sort() - have the mappings of a reading in the order of their addresses */
void gprof_reading_sort(struct gprof_reading *r);

/** gprof_reading_vma() - the mapping that a reading has at an address, or NULL */
const struct gprof_vma *gprof_reading_vma(struct gprof_reading *r, uint64_t addr);

/**
 * gprof_spaces_relative() - the address space that a forked process began with
 * @s: address spaces
 * @id: a process that ended, or executed another program, before its mappings
 *	were read
 * @exec_map_seq: stamp of its mappings; gets the one by which the other had them, for unmaps are
 *	counted for each process by itself
 * @addrs: addresses of a stack of it
 * @nr: how many
 *
 * A child has the mappings of its parent, and as many execs behind it. An older process that has
 * these, as much code by the stamp, and a mapping for every address is the parent or has the same
 * ancestor; but not if it ever had another at one of them.
 *
 * Return: address space, or NULL.
 */
struct gprof_space *gprof_spaces_relative(struct gprof_spaces *s, const struct gprof_process *id,
					  uint32_t *exec_map_seq, const uint64_t *addrs, size_t nr);

/**
 * gprof_space_vma() - the mapping at an address
 * @space: address space
 * @exec_map_seq: stamp of the stack
 * @time: when the sample was taken
 * @addr: address
 * @changed: gets whether there was something that may have been another then, or NULL
 *
 * Among readings with the same stamp the latest one before @time, else the first one after
 * it; where none of these has the address, whichever is nearest in time, has it, and says
 * that nothing was unmapped between. Where something was, the last one before @time and
 * the first one after it must say the same, or there must be none before, or none there;
 * and none may ever have said something else.
 *
 * Return: mapping, or NULL.
 */
const struct gprof_vma *gprof_space_vma(struct gprof_space *space, uint32_t exec_map_seq,
					uint64_t time, uint64_t addr, bool *changed);

#endif /* GPROF_PROCESS_LOOKUP_H */
