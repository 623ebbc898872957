// SPDX-License-Identifier: GPL-2.0
#include "util/profile/print_stacks.h"

#include "util/lib/json_string.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"
#include "util/profile/frame_label.h"
#include "util/profile/samples.h"
#include "util/profile/stack_list.h"
#include "util/symbol/symbols.h"

#include <inttypes.h>
#include <string.h>

struct stack_view {
	const struct samples_key *sample;
	const int *places;
	const struct stack_sum *sum;
	int nr_places;
};

static const char *frame(const struct print_context *context, int place, char buf[FRAME_LABEL_MAX])
{
	return frame_label__text(context->options, context->symbols, place, buf);
}

/* As bcc's profile prints them: innermost first, the kernel before user space. */
static void print_lines(const struct print_context *context, const struct stack_view *stack)
{
	char buf[FRAME_LABEL_MAX];

	for (int i = 0; i < stack->nr_places; i++) {
		fprintf(context->out, "    ");
		printable__put(context->out, 0, frame(context, stack->places[i], buf));
		fprintf(context->out, "\n");
	}
	fprintf(context->out, "    %-16s ", "-");
	printable__put(context->out, 0, stack->sample->comm);
	fprintf(context->out, " (%d)\n        %" PRIu64 "\n\n", stack->sample->pid, stack->sum->nr);
}

/* Semicolons separate frames. */
static void put_folded(FILE *out, const char *text)
{
	char *copy __cleanup(free_ptr) = strdup(text);

	for (char *c = copy; c && *c; c++) {
		if (*c == ';')
			*c = ':';
	}
	printable__put(out, 0, copy ? copy : text);
}

static void print_folded(const struct print_context *context, const struct stack_view *stack)
{
	char buf[FRAME_LABEL_MAX];

	put_folded(context->out, *stack->sample->comm ? stack->sample->comm : "[unknown]");
	for (int i = stack->nr_places - 1; i >= 0; i--) {
		fputc(';', context->out);
		put_folded(context->out, frame(context, stack->places[i], buf));
	}
	fprintf(context->out, " %" PRIu64 "\n", stack->sum->weight);
}

static void print_csv(const struct print_context *context, const struct stack_view *stack)
{
	const char *sep = context->options->csv_sep;
	char buf[FRAME_LABEL_MAX];

	if (context->options->has_interval)
		fprintf(context->out, "%.9f%s", (double)context->time_ns / NSEC_PER_SEC, sep);
	printable__put_csv(context->out, context->event, sep);
	fprintf(context->out, "%s%" PRIu64 "%s%" PRIu64 "%s", sep, stack->sum->nr, sep,
		stack->sum->weight, sep);
	printable__put_csv(context->out, stack->sample->comm, sep);
	fprintf(context->out, "%s%d", sep, stack->sample->pid);
	for (int i = 0; i < stack->nr_places; i++) {
		fprintf(context->out, "%s", sep);
		printable__put_csv(context->out, frame(context, stack->places[i], buf), sep);
	}
	fprintf(context->out, "\n");
}

static void print_json(const struct print_context *context, const struct stack_view *stack)
{
	char buf[FRAME_LABEL_MAX];

	fprintf(context->out, "{");
	if (context->options->has_interval)
		fprintf(context->out, "\"interval\": %.9f, ",
			(double)context->time_ns / NSEC_PER_SEC);
	fprintf(context->out, "\"event\": ");
	json_string__print(context->out, context->event);
	fprintf(context->out,
		", \"samples\": %" PRIu64 ", \"weight\": %" PRIu64 ", \"comm\": ", stack->sum->nr,
		stack->sum->weight);
	json_string__print(context->out, stack->sample->comm);
	fprintf(context->out, ", \"pid\": %d, \"stack\": [", stack->sample->pid);
	for (int i = 0; i < stack->nr_places; i++) {
		fprintf(context->out, "%s", i ? ", " : "");
		json_string__print(context->out, frame(context, stack->places[i], buf));
	}
	fprintf(context->out, "]}\n");
}

static void print_stack(const struct print_context *context, const struct stack_view *stack)
{
	if (context->options->format == FORMAT_CSV)
		print_csv(context, stack);
	else if (context->options->format == FORMAT_JSON)
		print_json(context, stack);
	else if (context->options->view == VIEW_FOLDED)
		print_folded(context, stack);
	else
		print_lines(context, stack);
}

int print_stacks(const struct print_context *context, const struct samples *samples, int event)
{
	struct stack_list list;
	int err = stack_list__make(&list, samples, event, context->options->view == VIEW_STACKS,
				   context->options->has_lines);

	for (int i = 0; i < list.nr && !err; i++) {
		struct stack_view stack = {.sum = &list.stacks[i]};

		stack.sample = samples__get(samples, stack.sum->sample, &stack.places);
		stack.nr_places = stack.sample->nr_kernel + stack.sample->nr_user;
		print_stack(context, &stack);
	}
	stack_list__clear(&list);
	return err;
}
