/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_LIST_RAW_H
#define PERF_CMD_LIST_RAW_H

/* The forms of events without a name: raw codes, the terms of each PMU, breakpoints. */

struct lister;

/** list__raw() - print the forms, with the range of each term; nothing for programs, which want names */
void list__raw(struct lister *l);

#endif
