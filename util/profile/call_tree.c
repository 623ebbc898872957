// SPDX-License-Identifier: GPL-2.0
#include "util/profile/call_tree.h"

#include "util/lib/array.h"

#include <errno.h>
#include <stdlib.h>

/* Return: the position of a new node, or -ENOMEM. */
static int add_node(struct call_tree *tree, const struct call_frame *frame)
{
	struct call_node *node = array__add(tree->nodes, tree->nr);

	if (!node)
		return -ENOMEM;
	*node = (struct call_node){
		.function = frame->function,
		.place = frame->place,
		.next = -1,
		.first = -1,
	};
	return tree->nr - 1;
}

/* Return: the node of a function below another, which is added if there is none yet; -ENOMEM. */
static int find_below(struct call_tree *tree, int node, const struct call_frame *frame)
{
	uint64_t id = (uint64_t)(node + 1) << 32 | (uint32_t)frame->function;
	int below = id_map__get(&tree->below, id);

	if (below >= 0)
		return below;
	below = add_node(tree, frame);
	if (below < 0 || id_map__set(&tree->below, id, below))
		return -ENOMEM;
	tree->nodes[below].next = tree->nodes[node].first;
	tree->nodes[node].first = below;
	return below;
}

static void add_sum(struct call_node *node, uint64_t nr, uint64_t weight)
{
	node->nr += nr;
	node->weight += weight;
}

int call_tree__add(struct call_tree *tree, const struct call_frame *path, int nr_path, uint64_t nr,
		   uint64_t weight)
{
	int node = 0;

	if (!tree->nr && add_node(tree, &(struct call_frame){-1, -1}))
		return -ENOMEM;
	add_sum(&tree->nodes[0], nr, weight);
	for (int i = 0; i < nr_path; i++) {
		node = find_below(tree, node, &path[i]);
		if (node < 0)
			return node;
		add_sum(&tree->nodes[node], nr, weight);
	}
	return 0;
}

/* Equal weights keep the order of arrival, whatever qsort() does. */
static int compare(const void *a, const void *b, void *nodes)
{
	const struct call_node *x = (struct call_node *)nodes + *(const int *)a;
	const struct call_node *y = (struct call_node *)nodes + *(const int *)b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void sort_below(struct call_tree *tree, struct call_node *node, int *order)
{
	int nr = 0;

	for (int below = node->first; below >= 0; below = tree->nodes[below].next)
		order[nr++] = below;
	if (nr < 2)
		return;
	qsort_r(order, nr, sizeof(*order), compare, tree->nodes);
	node->first = order[0];
	for (int i = 0; i < nr; i++)
		tree->nodes[order[i]].next = i + 1 < nr ? order[i + 1] : -1;
}

int call_tree__sort(struct call_tree *tree)
{
	int *order = calloc(tree->nr + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (int i = 0; i < tree->nr; i++)
		sort_below(tree, &tree->nodes[i], order);
	free(order);
	return 0;
}

void call_tree__clear(struct call_tree *tree)
{
	free(tree->nodes);
	id_map__clear(&tree->below);
	*tree = (struct call_tree){};
}
