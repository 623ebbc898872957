/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_FLAME_TREE_H
#define PERF_PROFILE_FLAME_TREE_H

/* Stacks from the command to the innermost function as one tree, for flame graphs. */

#include "util/lib/blob_set.h"
#include "util/profile/call_tree.h"

struct samples;

enum frame_kind {
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_JIT,
	FRAME_INLINED,
	FRAME_COMMAND,
	NR_FRAME_KINDS
};

struct flame_frame {
	enum frame_kind kind;
	const char *name;
	const char *image; /* "": none */
};

/*
 * All zero: empty. The functions of the nodes are numbers of frames. In a difference, nr is the weight
 * before, and weight is that after.
 */
struct flame_tree {
	struct call_tree calls;
	struct blob_set frames;
};

/** flame_tree__add_samples() - add one event's samples, which have names. Return: 0 or -ENOMEM */
int flame_tree__add_samples(struct flame_tree *tree, const struct samples *samples, int event);

/** flame_tree__add_frame() - the number of a frame, or -ENOMEM */
int flame_tree__add_frame(struct flame_tree *tree, const struct flame_frame *frame);

/** flame_tree__frame() - a frame by its number; its texts are borrowed, until the next is added */
struct flame_frame flame_tree__frame(const struct flame_tree *tree, int function);

void flame_tree__clear(struct flame_tree *tree);

#endif
