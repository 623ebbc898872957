/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_CALL_TREE_H
#define PERF_PROFILE_CALL_TREE_H

/* A tree of functions, each with the weight of the samples that passed through it. */

#include "util/lib/id_map.h"

#include <stdint.h>

struct call_node {
	int function;	     /* of struct place_name */
	int place;	     /* one of its places, for its name */
	uint64_t nr, weight; /* of it and all below it */
	int next;	     /* the next node below the same; -1: none */
	int first;	     /* the first node below this one; -1: none */
};

/* All zero: empty. Node 0 is the root, without a function. */
struct call_tree {
	struct call_node *nodes;
	int nr;
	/* A node's position + 1, and 32 bits of a function: the node of the function below it. */
	struct id_map below;
};

/* One frame of a path. */
struct call_frame {
	int function;
	int place;
};

/**
 * call_tree__add() - add the samples of one path
 * @path: from the root to the end; @nr_path frames
 *
 * Return: 0 or -ENOMEM.
 */
int call_tree__add(struct call_tree *tree, const struct call_frame *path, int nr_path, uint64_t nr,
		   uint64_t weight);

/** call_tree__sort() - put the heaviest first below each node; 0 or -ENOMEM */
int call_tree__sort(struct call_tree *tree);

void call_tree__clear(struct call_tree *tree);

#endif
