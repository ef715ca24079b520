/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile as a tree of calls: one node for each way to get to a function.
 */
#ifndef TOOLS_CALLTREE_H
#define TOOLS_CALLTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/intern.h"
#include "module.h"
#include "view.h"

/* Stacks are cut at the leaf's end beyond this depth, which bounds the picture. */
#define CALLTREE_DEPTH_MAX	1024

#define CALLTREE_NONE		UINT32_MAX

/* No picture shows more nodes, and a file of a megabyte could ask for many more. */
#define CALLTREE_NODES_MAX	(4U << 20)

/**
 * struct call_path - a way to get to a function, in the order of samples
 * @parent: path without the last step, which has a lower number; CALLTREE_NONE for the root
 * @frame: last step, for calltree_frame()
 * @self: value of samples that end here
 */
struct call_path {
	uint32_t parent;
	uint32_t frame;
	int64_t self;
};

/**
 * struct call_node - a function as called by its parent, in the order of drawing: a parent,
 *	then its children with all below them, the largest first
 * @parent: node, CALLTREE_NONE for the root
 * @frame: number for calltree_frame()
 * @end: the node after the last one below
 * @depth: 0 for the root
 * @self: value of samples that end here
 * @total: with all below
 */
struct call_node {
	uint32_t parent;
	uint32_t frame;
	uint32_t end;
	uint32_t depth;
	int64_t self;
	int64_t total;
};

/**
 * struct calltree - the tree
 * @nodes: node 0 is the root
 * @nr: number of nodes
 * @base: of a difference, the base's part of each node's total; the rest is the difference, and a
 *	node is as wide as both together; else NULL
 * @paths: source of @nodes; path 0 is the root
 * @nr_paths: how many, until there are nodes
 * @room_paths: of @paths
 * @path_base: of a difference, the base's part of each path's self
 * @room_base: of @path_base
 * @texts: names of functions and mappings
 * @frames: frames by kind, function and, but for a difference, mapping
 * @files: mapping of each of @frames, the first one of a difference
 * @room_files: of @files
 * @order: those that samples have, by number
 * @nr_frames: how many
 * @room_order: of @order
 * @numbers: number + 1 of each of @frames, or 0
 * @room_numbers: of @numbers
 * @keys: of the view's frames, which of @frames each is
 * @nr_keys: how many; there may be more frames by now
 * @known: number + 1 of each frame of the view, or 0
 * @room_known: of @known
 * @depth: of the deepest node
 * @left_out: samples with a value below 0, which have no width
 * @cut: samples that were deeper than CALLTREE_DEPTH_MAX
 * @view: its view
 * @diff: it is of a difference with samples of its base
 */
struct calltree {
	struct call_node *nodes;
	size_t nr;
	int64_t *base;
	struct call_path *paths;
	size_t nr_paths;
	size_t room_paths;
	int64_t *path_base;
	size_t room_base;
	struct intern texts;
	struct intern frames;
	uint32_t *files;
	size_t room_files;
	uint32_t *order;
	size_t nr_frames;
	size_t room_order;
	uint32_t *numbers;
	size_t room_numbers;
	uint32_t *keys;
	size_t nr_keys;
	uint32_t *known;
	size_t room_known;
	uint32_t depth;
	uint64_t left_out;
	uint64_t cut;
	const struct view *view;
	bool diff;
};

/**
 * calltree_collect() - make the paths of a tree, without values, of a view, which has no samples
 *	any more then, but labels; with @diff it keeps them
 * @t: tree
 * @view: its view
 * @diff: as in struct calltree
 * @weigh: makes a sample's value of its values, 0: it has no width; NULL: that of the view's type
 * @take: gets each sample that has a width: its path, labels and value; a return other than
 *	0 ends the walk
 * @ctx: passed on
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence, or the return of @take; calltree_free() in
 * any case.
 */
int calltree_collect(struct calltree *t, struct view *view, bool diff,
		     int64_t (*weigh)(void *ctx, const int64_t *values),
		     int (*take)(void *ctx, uint32_t path, uint32_t labels, int64_t value),
		     void *ctx);
/* calltree_collected() - all samples are added: free the index of paths */
void calltree_collected(struct calltree *t);

/*
 * calltree_build() - make the tree of a view, which has no samples any more then
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence; calltree_free() in any case.
 */
int calltree_build(struct calltree *t, struct view *view);
/* calltree_build_diff() - of view_open_diff() with a base that is not subtracted; it keeps them */
int calltree_build_diff(struct calltree *t, struct view *view);
void calltree_free(struct calltree *t);

/* calltree_report() - report samples that the tree leaves out */
void calltree_report(const struct calltree *t);

/* calltree_frame() - a frame by its number; texts are valid until calltree_free() */
enum frame_kind calltree_frame(const struct calltree *t, uint32_t frame, const char **function,
			       const char **mapping);

#endif /* TOOLS_CALLTREE_H */
