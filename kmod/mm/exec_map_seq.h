/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exec_map_seq: a stamp of the executable mappings of a process, which an NMI can read.
 *
 * Nothing that the kernel counts tells one file from another that is mapped in its place.
 * So the stamp has two halves: how much code there is, as the kernel counts it, which
 * changes with the mappings; and how often a mapping was unmapped where a reader has found
 * code, which mm_watch tells before anything else can be mapped there.
 *
 * The second is counted for several processes together, by where their memory is
 * described: so an NMI need not look up anything, and nothing has to live for as long as
 * it might look. Where others are counted too, mappings are read once more than needed.
 */
#ifndef GPROF_EXEC_MAP_SEQ_H
#define GPROF_EXEC_MAP_SEQ_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/gprof.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/types.h>

struct gprof_charge;
struct vm_area_struct;

#define GPROF_EXEC_MAP_SEQS	4096
#define GPROF_EXEC_MAP_SEQ_UNMAPPED	BIT(GPROF_EXEC_MAP_SEQ_UNMAPPED_SHIFT)

extern atomic_t gprof_exec_map_seqs[GPROF_EXEC_MAP_SEQS];

/* Descriptions are a multiple of some cache lines apart. */
static inline atomic_t *gprof_exec_map_seqs_of(const struct mm_struct *mm)
{
	return &gprof_exec_map_seqs[(unsigned long)mm / 64 % GPROF_EXEC_MAP_SEQS];
}

/**
 * gprof_exec_map_seq_of() - stamp of a process' mappings
 * @mm: its memory
 *
 * Context: Any incl. NMI.
 * Return: stamp, never 0.
 */
static __always_inline u32 gprof_exec_map_seq_of(const struct mm_struct *mm)
{
	return atomic_read(gprof_exec_map_seqs_of(mm)) | (u16)(2 * READ_ONCE(mm->exec_vm) + 1);
}

/**
 * gprof_exec_map_seq_change() - code that was read of is no longer there
 * @mm: in whose memory
 *
 * Context: Any incl. NMI.
 */
static inline void gprof_exec_map_seq_change(const struct mm_struct *mm)
{
	atomic_add(GPROF_EXEC_MAP_SEQ_UNMAPPED, gprof_exec_map_seqs_of(mm));
}

struct gprof_watch;

/**
 * struct gprof_watches - processes of whose unmapping one reader is told
 * @watches: they
 * @nr: how many
 * @charge: pays
 */
struct gprof_watches {
	struct list_head watches;
	unsigned int nr;
	struct gprof_charge *charge;
};

void gprof_watches_init(struct gprof_watches *w, struct gprof_charge *charge);
void gprof_watches_destroy(struct gprof_watches *w);
struct gprof_watch *gprof_watch_begin(struct gprof_watches *w, struct mm_struct *mm, bool *is_new);
void gprof_watch_note(struct gprof_watch *watch, const struct vm_area_struct *vma);

#endif /* GPROF_EXEC_MAP_SEQ_H */
