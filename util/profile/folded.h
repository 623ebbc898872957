/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_FOLDED_H
#define PERF_PROFILE_FOLDED_H

/* Files of folded stacks, as --folded and other tools write them: "command;outer;inner 123". */

#include <stdbool.h>

struct flame_tree;

/**
 * folded__read() - add the stacks of a file to a tree
 * @is_after: the weights are those after, otherwise those before
 *
 * Return: 0 or -errno after a message. -EINVAL: another kind of file.
 */
int folded__read(struct flame_tree *tree, const char *path, bool is_after);

#endif
