/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_ANNOTATION_H
#define PERF_PROFILE_ANNOTATION_H

/* The instructions of a function with their samples. */

#include "util/symbol/function_code.h"
#include "util/symbol/symbol_table.h"

#include <stdbool.h>
#include <stdint.h>

struct samples;

/* The samples of one instruction, or of one place in memory, of one event. */
struct annotation_hit {
	int event, image;
	uint64_t position; /* in the image */
	int place;
	uint64_t nr, weight;
};

/* A function of the name. */
struct annotated_function {
	struct function_place place;
	const char *name, *path;   /* of it and of its image; borrowed */
	bool is_kernel;		   /* or a BPF program */
	bool is_jit;		   /* code of a JIT compiler */
	bool is_sampled;	   /* by any event */
	struct function_code code; /* only if it is sampled and has no problem */
	char *problem;		   /* why there are no instructions; owned; NULL: none */
};

/* All zero: none. */
struct annotation {
	struct annotation_hit *hits; /* by event, image and position */
	int nr_hits;
	struct annotated_function *functions;
	int nr;
	bool has_problem; /* a sampled function has no instructions; a message has the reason */
	struct symbol_table kernel; /* of this machine, if the samples are from elsewhere */
};

/**
 * annotation__make() - find the functions of a name, and read the code of those that were sampled
 * @samples: with names: symbols__resolve() was called
 * @symbol: a function, or FILE:FUNCTION
 *
 * Return: 0, -EINVAL after a message: no such function; -ENOMEM. Released by annotation__clear() in any case.
 */
int annotation__make(struct annotation *annotation, const struct samples *samples,
		     const char *symbol);
void annotation__clear(struct annotation *annotation);

/**
 * annotation__hits() - the samples of a function
 * @nr: receives how many
 *
 * Return: borrowed.
 */
const struct annotation_hit *annotation__hits(const struct annotation *annotation,
					      const struct annotated_function *function, int event,
					      int *nr);

/** annotation__total() - the weight of all samples of an event */
uint64_t annotation__total(const struct annotation *annotation, int event);

#endif
