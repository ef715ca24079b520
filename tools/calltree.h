/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile as a tree of calls: one node for each way to get to a function.
 */
#ifndef TOOLS_CALLTREE_H
#define TOOLS_CALLTREE_H

#include <stddef.h>
#include <stdint.h>

#include "intern.h"
#include "profiles/memo.h"
#include "profiles/module.h"
#include "view.h"

/* Stacks are cut at the leaf's end beyond this depth, which bounds the picture. */
#define CALLTREE_DEPTH_MAX	1024

#define CALLTREE_NONE		UINT32_MAX

/* No picture shows more nodes, and a file of a megabyte could ask for many more. */
#define CALLTREE_NODES_MAX	(4U << 20)

/**
 * struct call_node - a function as called by its parent
 * @frame: number for calltree_frame()
 * @parent: node, CALLTREE_NONE for the root
 * @child: first child or CALLTREE_NONE; largest first once the tree is complete
 * @next: next sibling or CALLTREE_NONE
 * @depth: 0 for the root
 * @self: value of samples that end here
 * @total: with all below
 * @base: of a difference, what of @total is of the base; what is more or less than that
 *	is the difference, and as wide as both together is a node
 */
struct call_node {
	uint32_t frame;
	uint32_t parent;
	uint32_t child;
	uint32_t next;
	uint32_t depth;
	int64_t self;
	int64_t total;
	int64_t base;
};

/**
 * struct calltree - the tree
 * @nodes: node 0 is the root; parents come before their children
 * @nr: number of nodes
 * @room: of @nodes
 * @texts: names of functions and mappings
 * @frames: frames by kind, function and mapping
 * @edges: (parent, frame) to node
 * @known: frames by their texts, one for each enum frame_kind
 * @depth: of the deepest node
 * @left_out: samples with a value below 0, which have no width
 * @cut: samples that were deeper than CALLTREE_DEPTH_MAX
 * @type: value type
 * @diff: a difference: its profile, for the label of samples of the base; or NULL
 */
struct calltree {
	struct call_node *nodes;
	size_t nr;
	size_t room;
	struct intern texts;
	struct intern frames;
	struct intern edges;
	struct memo known[FRAME_KINDS];
	uint32_t depth;
	uint64_t left_out;
	uint64_t cut;
	size_t type;
	const struct gprof_profile *diff;
};

/*
 * calltree_add() - add a stack to a tree that is all zeroes at first
 *
 * Return: its node, whose self is for the caller to add to; CALLTREE_NONE when there are
 * more nodes than any picture shows.
 */
uint32_t calltree_add(struct calltree *t, const struct gprof_frame *frames, size_t nr_frames);

/* calltree_refused() - say so; returns STATUS_FAILED */
int calltree_refused(void);

/*
 * calltree_build() - make the tree of a view
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence; calltree_free() in any case.
 */
int calltree_build(struct calltree *t, const struct view *view);
/* calltree_build_diff() - likewise of a view of view_open_diff(), whose base is not subtracted */
int calltree_build_diff(struct calltree *t, const struct view *view);
void calltree_free(struct calltree *t);

/* calltree_tell() - say what of the profile the tree does not have */
void calltree_tell(const struct calltree *t);

/* calltree_frame() - a frame by its number; texts are valid until calltree_free() */
enum frame_kind calltree_frame(const struct calltree *t, uint32_t frame, const char **function,
			       const char **mapping);

/*
 * calltree_walk() - the node after @node in the order of drawing, its children first
 * calltree_skip() - the same, but without what is below @node
 *
 * CALLTREE_NONE at the end.
 */
uint32_t calltree_walk(const struct calltree *t, uint32_t node);
uint32_t calltree_skip(const struct calltree *t, uint32_t node);

#endif /* TOOLS_CALLTREE_H */
