/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_PRINT_ANNOTATION_H
#define PERF_PROFILE_PRINT_ANNOTATION_H

/* Printing of --annotate: the instructions of each function with their samples, as text, CSV and JSON. */

struct annotation;
struct print_context;

/** print_annotation() - print the functions of an annotation with the samples of an event */
void print_annotation(const struct print_context *context, const struct annotation *annotation,
		      int event);

#endif
