/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DEFS_DEFINITION_NAMES_H
#define PERF_DEFS_DEFINITION_NAMES_H

/* Names of definitions in a tree: files may hold hundreds of thousands. */

struct json_object;

/**
 * definition_names__add() - put a name into a tree, unless it is there; names are borrowed
 * @names: root of the tree; NULL: empty
 * @pmu: tells definitions of one name apart; NULL: core PMUs
 *
 * Return: 1, 0 if the name is there already, or -ENOMEM.
 */
int definition_names__add(void **names, const char *name, const char *pmu,
			  struct json_object *object);

/** definition_names__find() - the object of a name, ignoring case; NULL: none */
struct json_object *definition_names__find(void *const *names, const char *name, const char *pmu);

/** definition_names__clear() - release the tree */
void definition_names__clear(void **names);

#endif
