// SPDX-License-Identifier: GPL-2.0
#include "util/profile/rows.h"

#include "util/lib/array.h"
#include "util/lib/blob_set.h"
#include "util/lib/util.h"
#include "util/profile/cgroup_names.h"
#include "util/profile/frame_label.h"
#include "util/profile/samples.h"
#include "util/sample/sampler.h"
#include "util/symbol/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FRAMES SAMPLES_MAX_PLACES

/* One sample's stack, innermost first. */
struct stack {
	struct call_frame frames[MAX_FRAMES];
	int calls[MAX_FRAMES]; /* equal for calls of a function by itself */
	int nr;
};

struct maker {
	struct rows *rows;
	const struct samples *samples;
	const struct profile_options *options;
	struct blob_set keys;  /* of rows: the values of the sort keys as numbers */
	struct blob_set texts; /* names of commands and shared objects: equal texts are one value */
	struct stack stack;    /* of the current sample */
};

static bool has_children(const struct profile_options *options)
{
	return options->view == VIEW_TREE && !options->no_children;
}

/* --- values --- */

static uint64_t page_of(uint64_t address)
{
	return address & -(uint64_t)sysconf(_SC_PAGESIZE);
}

static int64_t text_id(struct maker *maker, const char *text)
{
	return blob_set__add(&maker->texts, text, strlen(text) + 1);
}

/* Return: a number for the page of an instruction; -1 without memory. */
static int64_t page_id(struct maker *maker, const struct place_name *name)
{
	char *text __cleanup(free_ptr) =
		xasprintf("%s+%" PRIx64, name->path, page_of(name->position));

	return text ? text_id(maker, text) : -1;
}

/* Return: a number for a line of a source file; -1 without memory. */
static int64_t line_id(struct maker *maker, const struct place_name *name)
{
	int64_t file = text_id(maker, name->file);

	return file < 0 ? -1 : file << 32 | name->line;
}

/* @place: of the row's function; -1: the sample has none */
static int64_t key_value(struct maker *maker, enum sort_key key, const struct samples_key *sample,
			 int place)
{
	struct place_name name = {};

	if (place >= 0)
		symbols__name(maker->samples->symbols, place, &name);
	switch (key) {
	case SORT_COMM:
		return text_id(maker, sample->comm);
	case SORT_PID:
		return sample->pid;
	case SORT_TID:
		return sample->tid;
	case SORT_CPU:
		return sample->cpu;
	case SORT_CGROUP:
		return sample->cgroup;
	case SORT_PRIO:
		return sample->prio;
	case SORT_DATA:
		return sample->addr;
	case SORT_DSO:
		return place < 0 ? -1 : text_id(maker, name.path);
	case SORT_IP:
		return place < 0 ? -1 : symbols__outermost(maker->samples->symbols, place);
	case SORT_SRCLINE:
		return name.file ? line_id(maker, &name) : -1;
	case SORT_PAGE:
		return place < 0 ? -1 : page_id(maker, &name);
	default:
		return place < 0 ? -1 : name.function;
	}
}

static const char *cgroup_name(const struct profile_options *options, uint64_t id)
{
	return options->cgroups ? cgroup_names__get(options->cgroups, id) : NULL;
}

static struct row_value make_value(const struct maker *maker, enum sort_key key,
				   const struct samples_key *sample, int place, int64_t number)
{
	struct row_value value = {.number = number};
	struct place_name name;

	if (key == SORT_COMM)
		value.text = sample->comm;
	if (key == SORT_PRIO)
		value.is_missing = sample->prio == SAMPLE_PRIO_UNKNOWN;
	if (key == SORT_CGROUP)
		value.text = cgroup_name(maker->options, sample->cgroup);
	if (!sort_key__has_place(key))
		return value;
	value.is_missing = place < 0;
	if (place < 0)
		return value;
	if (key == SORT_IP)
		place = symbols__outermost(maker->samples->symbols, place);
	symbols__name(maker->samples->symbols, place, &name);
	value.text = key == SORT_DSO || key == SORT_PAGE ? name.image : name.name;
	value.is_kernel = name.is_kernel;
	if (key == SORT_SRCLINE) {
		value.is_missing = !name.file;
		value.text = name.file ? frame_label__file(name.file) : NULL;
		value.number = name.line;
	}
	if (key == SORT_IP)
		value.number = name.offset;
	if (key == SORT_PAGE)
		value.number = page_of(name.position);
	return value;
}

/* --- rows --- */

static struct row *add_row(struct maker *maker, const struct samples_key *sample, int place,
			   const int64_t *values)
{
	const struct sort_keys *sort = &maker->options->sort;
	struct rows *rows = maker->rows;
	struct row *row = array__add(rows->rows, rows->nr);

	for (int i = 0; row && i < sort->nr; i++)
		row->values[i] = make_value(maker, sort->keys[i], sample, place, values[i]);
	return row;
}

/* Return: the row of a sample and one of its places; NULL without memory. */
static struct row *get_row(struct maker *maker, const struct samples_key *sample, int place)
{
	const struct sort_keys *sort = &maker->options->sort;
	int64_t values[NR_SORT_KEYS];
	int nr;

	for (int i = 0; i < sort->nr; i++)
		values[i] = key_value(maker, sort->keys[i], sample, place);
	nr = blob_set__add(&maker->keys, values, sort->nr * sizeof(*values));
	if (nr < 0)
		return NULL;
	return nr < maker->rows->nr ? &maker->rows->rows[nr] :
				      add_row(maker, sample, place, values);
}

static void read_stack(struct maker *maker, const struct samples_key *sample, const int *places)
{
	bool has_lines = sort_keys__has(&maker->options->sort, SORT_SRCLINE);
	struct stack *stack = &maker->stack;

	stack->nr = sample->nr_kernel + sample->nr_user;
	for (int i = 0; i < stack->nr; i++) {
		struct place_name name;

		symbols__name(maker->samples->symbols, places[i], &name);
		stack->frames[i].function = maker->options->has_lines ? name.frame : name.function;
		stack->frames[i].place = places[i];
		stack->calls[i] = has_lines ? name.frame : name.function;
	}
}

/* Return: whether a function is called again by itself, further inside: it counts once. */
static bool is_inside(const struct stack *stack, int at)
{
	for (int i = 0; i < at; i++) {
		if (stack->calls[i] == stack->calls[at])
			return true;
	}
	return false;
}

/* The outermost call of a function that calls itself begins the tree of its callees. */
static int outermost(const struct stack *stack, int at)
{
	for (int i = stack->nr - 1; i > at; i--) {
		if (stack->calls[i] == stack->calls[at])
			return i;
	}
	return at;
}

/* Add the part of the stack that the row's tree shows: what called it, or what it called. */
static int add_path(struct maker *maker, struct row *row, int at, const struct samples_sum *sum)
{
	const struct stack *stack = &maker->stack;
	bool is_caller = maker->options->is_caller;
	struct call_frame path[MAX_FRAMES];
	int nr = 0;

	if (is_caller && has_children(maker->options)) {
		for (int i = outermost(stack, at) - 1; i >= 0; i--)
			path[nr++] = stack->frames[i];
	} else if (is_caller) {
		for (int i = stack->nr - 1; i >= at; i--)
			path[nr++] = stack->frames[i];
	} else {
		for (int i = at + 1; i < stack->nr; i++)
			path[nr++] = stack->frames[i];
	}
	return call_tree__add(&row->tree, path, nr, sum->nr, sum->weight);
}

static int add_self(struct maker *maker, const struct samples_key *sample,
		    const struct samples_sum *sum)
{
	struct row *row =
		get_row(maker, sample, maker->stack.nr ? maker->stack.frames[0].place : -1);

	if (!row)
		return -ENOMEM;
	row->nr += sum->nr;
	row->weight += sum->weight;
	row->all_nr += sum->nr;
	row->all_weight += sum->weight;
	return maker->options->view == VIEW_TREE ? add_path(maker, row, 0, sum) : 0;
}

/* Rows without a column for functions have every sample once. */
static int add_callers(struct maker *maker, const struct samples_key *sample,
		       const struct samples_sum *sum)
{
	struct row *self =
		get_row(maker, sample, maker->stack.nr ? maker->stack.frames[0].place : -1);
	int self_nr = self ? self - maker->rows->rows : -1;
	int err = self ? 0 : -ENOMEM;

	for (int i = 1; i < maker->stack.nr && !err; i++) {
		struct row *row;

		if (is_inside(&maker->stack, i))
			continue;
		row = get_row(maker, sample, maker->stack.frames[i].place);
		if (!row)
			return -ENOMEM;
		if (row - maker->rows->rows == self_nr)
			continue;
		row->all_nr += sum->nr;
		row->all_weight += sum->weight;
		err = add_path(maker, row, i, sum);
	}
	return err;
}

static int add_sample(struct maker *maker, const struct samples_key *sample, const int *places,
		      const struct samples_sum *sum)
{
	int err;

	read_stack(maker, sample, places);
	maker->rows->nr_samples += sum->nr;
	maker->rows->weight += sum->weight;
	err = add_self(maker, sample, sum);
	if (!err && has_children(maker->options) && sort_keys__has(&maker->options->sort, SORT_SYM))
		err = add_callers(maker, sample, sum);
	return err;
}

/* --- the whole --- */

static void divide(uint64_t *sum, uint64_t by)
{
	*sum = (*sum + by / 2) / by;
}

static void divide_row(struct row *row, uint64_t by)
{
	divide(&row->nr, by);
	divide(&row->weight, by);
	divide(&row->all_nr, by);
	divide(&row->all_weight, by);
	for (int i = 0; i < row->tree.nr; i++) {
		divide(&row->tree.nodes[i].nr, by);
		divide(&row->tree.nodes[i].weight, by);
	}
}

/* Divide only now: a row sums up parts of many samples. */
static void divide_rows(struct rows *rows, uint64_t by)
{
	divide(&rows->nr_samples, by);
	divide(&rows->weight, by);
	for (int i = 0; i < rows->nr; i++)
		divide_row(&rows->rows[i], by);
}

uint64_t rows__sort_weight(const struct row *row, const struct profile_options *options)
{
	return has_children(options) ? row->all_weight : row->weight;
}

static int compare_values(const struct row_value *x, const struct row_value *y)
{
	if (x->text && y->text && strcmp(x->text, y->text))
		return strcmp(x->text, y->text);
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Heaviest first; of equal weight in the order of their names, so that the output is the same each time. */
static int compare(const void *a, const void *b, void *options)
{
	const struct profile_options *o = options;
	const struct row *x = a, *y = b;
	uint64_t x_weight = rows__sort_weight(x, o), y_weight = rows__sort_weight(y, o);
	int order = 0;

	if (x_weight != y_weight)
		return x_weight > y_weight ? -1 : 1;
	for (int i = 0; i < o->sort.nr && !order; i++)
		order = compare_values(&x->values[i], &y->values[i]);
	return order;
}

int rows__make(struct rows *rows, const struct samples *samples,
	       const struct profile_options *options, int event)
{
	struct maker maker = {.rows = rows, .samples = samples, .options = options};
	int err = 0;

	*rows = (struct rows){};
	for (int i = 0; i < samples->keys.nr && !err; i++) {
		const int *places;
		const struct samples_key *sample = samples__get(samples, i, &places);

		if (sample->event == event)
			err = add_sample(&maker, sample, places, &samples->sums[i]);
	}
	if (samples->scale > 1)
		divide_rows(rows, samples->scale);
	for (int i = 0; i < rows->nr && !err; i++)
		err = call_tree__sort(&rows->rows[i].tree);
	if (!err && rows->nr)
		qsort_r(rows->rows, rows->nr, sizeof(*rows->rows), compare, (void *)options);
	blob_set__clear(&maker.keys);
	blob_set__clear(&maker.texts);
	return err;
}

void rows__clear(struct rows *rows)
{
	for (int i = 0; i < rows->nr; i++)
		call_tree__clear(&rows->rows[i].tree);
	free(rows->rows);
	*rows = (struct rows){};
}

double rows__percent(const struct rows *rows, uint64_t weight)
{
	return rows->weight ? 100.0 * weight / rows->weight : 0;
}
