/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_FLAME_SVG_H
#define PERF_PROFILE_FLAME_SVG_H

/* Flame graphs as SVG, or as HTML with this SVG. They load nothing, and are complete without their script. */

#include <stdbool.h>
#include <stdio.h>

struct flame_tree;

struct flame_graph {
	struct flame_tree *tree; /* gets sorted */
	const char *title;
	const char *notes; /* lines below the title, each with a line feed */
	const char *event; /* its name; of a difference ignored */
	bool is_diff;	   /* colours are changes, and widths those after */
	bool is_icicle;	   /* the commands are on top */
	bool is_html;
	double percent_limit; /* leave out lighter frames; also those below a tenth of a pixel */
};

/** flame_svg__write() - write the whole file. Return: 0 or -ENOMEM; errors of writing stay in @out */
int flame_svg__write(FILE *out, const struct flame_graph *graph);

#endif
