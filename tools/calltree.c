// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples are added from the root on, then totals are summed up from the
 * leaves and siblings sorted. Nothing here recurses: stacks come from a file.
 */
#include "calltree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "say.h"

/* The key of a frame; texts are kept once each, whatever they are combined with. */
struct frame_key {
	uint32_t kind;
	uint32_t function;
	uint32_t mapping;
};

static uint32_t add_frame(struct calltree *t, enum frame_kind kind, const char *function,
			  const char *mapping)
{
	struct frame_key key = {
		kind,
		intern_add(&t->texts, function, strlen(function) + 1),
		intern_add(&t->texts, mapping, strlen(mapping) + 1),
	};

	return intern_add(&t->frames, &key, sizeof(key));
}

enum frame_kind calltree_frame(const struct calltree *t, uint32_t frame, const char **function,
			       const char **mapping)
{
	struct frame_key key;
	size_t length;

	/* Keys lie as they come, without alignment. */
	memcpy(&key, intern_key(&t->frames, frame, &length), sizeof(key));
	*function = intern_key(&t->texts, key.function, &length);
	*mapping = intern_key(&t->texts, key.mapping, &length);
	return key.kind;
}

/* Most frames were there before. */
static uint32_t find_frame(struct calltree *t, const struct gprof_frame *f)
{
	enum frame_kind kind = frame_kind(f);
	char text[VIEW_NAME_MAX];
	bool found;
	uint32_t *frame = memo_find(&t->known[kind], f->function, f->mapping, NULL, &found);

	if (!found)
		*frame = add_frame(t, kind, view_function(f, text), f->mapping);
	return *frame;
}

static uint32_t add_node(struct calltree *t, uint32_t parent, uint32_t frame)
{
	uint32_t edge[] = { parent, frame };
	size_t node = intern_add(&t->edges, edge, sizeof(edge));
	struct call_node *n;

	if (node < t->nr)
		return node;
	t->nodes = xgrow(t->nodes, t->nr, &t->room, sizeof(*t->nodes));
	n = &t->nodes[t->nr++];
	*n = (struct call_node){
		.frame = frame,
		.parent = parent,
		.child = CALLTREE_NONE,
		.next = CALLTREE_NONE,
	};
	if (parent != CALLTREE_NONE)
		n->depth = t->nodes[parent].depth + 1;
	if (n->depth > t->depth)
		t->depth = n->depth;
	return node;
}

uint32_t calltree_add(struct calltree *t, const struct gprof_frame *frames, size_t nr_frames)
{
	uint32_t node = 0;
	size_t left = 0;

	if (!t->nr)
		add_node(t, CALLTREE_NONE, add_frame(t, FRAME_USER, "all", ""));
	if (nr_frames > CALLTREE_DEPTH_MAX) {
		left = nr_frames - CALLTREE_DEPTH_MAX;
		t->cut++;
	}
	for (size_t i = nr_frames; i-- > left;)
		node = add_node(t, node, find_frame(t, &frames[i]));
	return t->nr > CALLTREE_NODES_MAX ? CALLTREE_NONE : node;
}

static int add_sample(void *ctx, const struct gprof_frame *frames, size_t nr_frames,
		      const int64_t *values)
{
	struct calltree *t = ctx;
	bool base = t->diff && gprof_profile_label(t->diff, "pprof::base", NULL);
	/* In a difference, samples of the base are negative. */
	int64_t value = base ? view_size(values[t->type]) : values[t->type];
	uint32_t node;

	if (value < 0)
		t->left_out++;
	if (value <= 0)
		return 0;
	node = calltree_add(t, frames, nr_frames);
	if (node == CALLTREE_NONE)
		return 1;
	t->nodes[node].self = view_sum(t->nodes[node].self, value);
	if (base)
		t->nodes[node].base = view_sum(t->nodes[node].base, value);
	return 0;
}

static int compare(const void *pa, const void *pb, void *ctx)
{
	const struct calltree *t = ctx;
	const struct call_node *a = &t->nodes[*(const uint32_t *)pa];
	const struct call_node *b = &t->nodes[*(const uint32_t *)pb];
	const char *fa, *fb, *ma, *mb;
	int order;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	calltree_frame(t, a->frame, &fa, &ma);
	calltree_frame(t, b->frame, &fb, &mb);
	order = strcmp(fa, fb);
	return order ? order : strcmp(ma, mb);
}

/* Sorted once over all nodes, largest first, each put before its earlier siblings last. */
static void link_siblings(struct calltree *t)
{
	uint32_t *order = xalloc(t->nr, sizeof(*order));

	for (size_t i = 0; i < t->nr; i++)
		order[i] = i;
	qsort_r(order, t->nr, sizeof(*order), compare, t);
	for (size_t i = t->nr; i-- > 0;) {
		struct call_node *n = &t->nodes[order[i]];

		if (n->parent == CALLTREE_NONE)
			continue;
		n->next = t->nodes[n->parent].child;
		t->nodes[n->parent].child = order[i];
	}
	free(order);
}

int calltree_refused(void)
{
	return fail("the profile has more than %u different stacks of calls, which no picture "
		    "shows", CALLTREE_NODES_MAX);
}

static int build(struct calltree *t, const struct view *view)
{
	int status;

	calltree_add(t, NULL, 0);
	status = view_each(view, add_sample, t);
	if (t->nr > CALLTREE_NODES_MAX)
		return calltree_refused();
	if (status != STATUS_OK)
		return status;
	for (size_t i = t->nr; i-- > 0;) {
		struct call_node *n = &t->nodes[i];

		n->total = view_sum(n->total, n->self);
		if (n->parent != CALLTREE_NONE)
			t->nodes[n->parent].total = view_sum(t->nodes[n->parent].total, n->total);
		if (n->parent != CALLTREE_NONE)
			t->nodes[n->parent].base = view_sum(t->nodes[n->parent].base, n->base);
	}
	link_siblings(t);
	return STATUS_OK;
}

int calltree_build(struct calltree *t, const struct view *view)
{
	*t = (struct calltree){ .type = view->type };
	return build(t, view);
}

int calltree_build_diff(struct calltree *t, const struct view *view)
{
	*t = (struct calltree){ .type = view->type, .diff = view->profile };
	return build(t, view);
}

void calltree_tell(const struct calltree *t)
{
	if (t->left_out)
		say("%" PRIu64 " samples with values below 0 have no width and were left out",
		    t->left_out);
	if (t->cut)
		say("%" PRIu64 " samples with more than %d frames were cut at the leaf's end",
		    t->cut, CALLTREE_DEPTH_MAX);
}

void calltree_free(struct calltree *t)
{
	free(t->nodes);
	intern_free(&t->texts);
	intern_free(&t->frames);
	intern_free(&t->edges);
	for (size_t i = 0; i < FRAME_KINDS; i++)
		memo_free(&t->known[i]);
}

uint32_t calltree_skip(const struct calltree *t, uint32_t node)
{
	while (node != CALLTREE_NONE && t->nodes[node].next == CALLTREE_NONE)
		node = t->nodes[node].parent;
	return node == CALLTREE_NONE ? node : t->nodes[node].next;
}

uint32_t calltree_walk(const struct calltree *t, uint32_t node)
{
	if (t->nodes[node].child != CALLTREE_NONE)
		return t->nodes[node].child;
	return calltree_skip(t, node);
}
