/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * annotate: annotations of programs, as records.
 */
#ifndef GPROF_ANNOTATE_H
#define GPROF_ANNOTATE_H

#include <linux/list.h>
#include <linux/types.h>

struct cred;
struct gprof_annotate;
struct gprof_annotated;
struct gprof_annotation_rec;
struct vm_area_struct;

/**
 * struct gprof_notes - a hearer of annotations
 * @take: takes one of current's, preemption off, if current is of its target; fills in the
 *	time. Returns whether it is
 * @owner: on whose behalf
 * @privileged: everybody's are of interest; else those of @owner's user alone
 * @node: among those that hear
 *
 * The maker sets all but @node.
 */
struct gprof_notes {
	bool (*take)(struct gprof_notes *notes, struct gprof_annotation_rec *rec);
	const struct cred *owner;
	bool privileged;
	struct list_head node;
};

void gprof_notes_begin(struct gprof_notes *notes);
void gprof_notes_end(struct gprof_notes *notes);

int gprof_annotate(struct gprof_annotate *arg);

int gprof_annotated_mmap(struct gprof_annotated **where, struct vm_area_struct *vma);
void gprof_annotated_put(struct gprof_annotated *a);

#endif /* GPROF_ANNOTATE_H */
