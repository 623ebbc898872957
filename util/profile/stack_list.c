// SPDX-License-Identifier: GPL-2.0
#include "util/profile/stack_list.h"

#include "util/lib/array.h"
#include "util/lib/blob_set.h"
#include "util/profile/samples.h"
#include "util/sample/sampler.h"
#include "util/symbol/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct stack_key {
	int32_t pid;
	char comm[16];
	int32_t frames[SAMPLES_MAX_PLACES];
};

static size_t make_key(const struct samples *samples, const struct samples_key *sample,
		       const int *places, bool by_process, bool by_line, struct stack_key *key)
{
	int nr = sample->nr_kernel + sample->nr_user;

	key->pid = by_process ? sample->pid : 0;
	memcpy(key->comm, sample->comm, sizeof(key->comm));
	for (int i = 0; i < nr; i++) {
		struct place_name name;

		symbols__name(samples->symbols, places[i], &name);
		key->frames[i] = by_line ? name.frame : name.function;
	}
	return offsetof(struct stack_key, frames) + nr * sizeof(*key->frames);
}

static int add(struct stack_list *list, int nr, int sample, const struct samples_sum *sum)
{
	if (nr == list->nr) {
		struct stack_sum *added = array__add(list->stacks, list->nr);

		if (!added)
			return -ENOMEM;
		added->sample = sample;
	}
	list->stacks[nr].nr += sum->nr;
	list->stacks[nr].weight += sum->weight;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct stack_sum *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	return x->sample < y->sample ? -1 : x->sample > y->sample;
}

int stack_list__make(struct stack_list *list, const struct samples *samples, int event,
		     bool by_process, bool by_line)
{
	struct blob_set keys = {};
	int err = 0;

	*list = (struct stack_list){};
	for (int i = 0; i < samples->keys.nr && !err; i++) {
		const int *places;
		const struct samples_key *sample = samples__get(samples, i, &places);
		struct stack_key key;
		int nr;

		if (sample->event != event)
			continue;
		nr = blob_set__add(&keys, &key,
				   make_key(samples, sample, places, by_process, by_line, &key));
		err = nr < 0 ? nr : add(list, nr, i, &samples->sums[i]);
	}
	blob_set__clear(&keys);
	if (list->nr)
		qsort(list->stacks, list->nr, sizeof(*list->stacks), compare);
	return err;
}

void stack_list__clear(struct stack_list *list)
{
	free(list->stacks);
	*list = (struct stack_list){};
}
