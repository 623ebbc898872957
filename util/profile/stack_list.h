/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_STACK_LIST_H
#define PERF_PROFILE_STACK_LIST_H

/* The stacks of a profile by functions: samples at different places of the same functions are one. */

#include <stdbool.h>
#include <stdint.h>

struct samples;

struct stack_sum {
	int sample; /* one of the samples, for its names */
	uint64_t nr, weight;
};

struct stack_list {
	struct stack_sum *stacks; /* lightest first */
	int nr;
};

/**
 * stack_list__make() - make the list of one event
 * @by_process: stacks of processes are told apart, otherwise those of commands
 * @by_line: source lines of functions are told apart
 *
 * Return: 0 or -ENOMEM. Released by stack_list__clear() in any case.
 */
int stack_list__make(struct stack_list *list, const struct samples *samples, int event,
		     bool by_process, bool by_line);
void stack_list__clear(struct stack_list *list);

#endif
