/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_CGROUP_TERM_H
#define PERF_TARGET_CGROUP_TERM_H

/* The elements of the LIST of --for-each-cgroup. cgroup_list__parse() explains them. */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

enum term_kind { TERM_NAME, TERM_REGEX, TERM_GLOB, TERM_CTR, TERM_PID, TERM_SELF, TERM_ALL };

struct cgroup_term {
	enum term_kind kind;
	char *text;    /* after the prefix */
	regex_t regex; /* of TERM_REGEX */
};

struct cgroup_terms {
	struct cgroup_term *term; /* owned */
	int nr;
	bool has_patterns; /* cgroups that come later can match */
};

/**
 * cgroup_terms__parse() - split a LIST; @terms is all zero before
 *
 * Return: 0, -EINVAL after a message, or -ENOMEM; released by cgroup_terms__clear() either way.
 */
int cgroup_terms__parse(struct cgroup_terms *terms, const char *text);
void cgroup_terms__clear(struct cgroup_terms *terms);

/** cgroup_term__is_pattern() - return whether the element can match cgroups that come later */
bool cgroup_term__is_pattern(const struct cgroup_term *term);

/** cgroup_term__matches() - compare with a path below the mount; false if it is no pattern */
bool cgroup_term__matches(const struct cgroup_term *term, const char *path);

/** cgroup_term__prefix() - the prefix for messages, such as "glob:"; static */
const char *cgroup_term__prefix(const struct cgroup_term *term);

/**
 * cgroup_term__container_id() - the ID of the container with this cgroup, in @path
 *
 * Its directory is called ID or ENGINE-ID.scope. *@len is 0 if there is no container; the monitor of a
 * container ("conmon") is none.
 */
const char *cgroup_term__container_id(const char *path, size_t *len);

#endif
