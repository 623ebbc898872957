// SPDX-License-Identifier: GPL-2.0
#include "util/counter/verify.h"

#include "util/counter/bperf.h"
#include "util/counter/counter.h"
#include "util/counter/plain.h"
#include "util/event/counts.h"
#include "util/event/evlist.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

/* The shared counts at the ends of the inner window: of each event, of each of its CPUs. */
struct marks {
	struct counts_values **begin, **end;
	int nr;
};

static int set_cpus(struct evlist *evlist, const struct cpumap *online)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(evlist, evsel, i) {
		cpumap__delete(evsel->cpus);
		evsel->cpus = evsel->own_cpus ? cpumap__and(online, evsel->own_cpus) :
						cpumap__dup(online);
		if (!evsel->cpus)
			return -ENOMEM;
	}
	return 0;
}

static bool is_counting(const struct evsel *evsel)
{
	return evsel->state == EVSEL_COUNTING;
}

static int copy_counts(struct evlist *evlist, int half, struct counts_values **to)
{
	for (int i = 0; i < half; i++) {
		const struct evsel *evsel = evlist->evsels[half + i];
		size_t size;

		if (!is_counting(evsel))
			continue;
		size = evsel->counts->nr_cpus * sizeof(**to);
		to[i] = malloc(size);
		if (!to[i])
			return -ENOMEM;
		memcpy(to[i], evsel->counts->values, size);
	}
	return 0;
}

static void wait_ms(unsigned int ms, const volatile sig_atomic_t *signal)
{
	struct timespec left = {ms / 1000, ms % 1000 * 1000000L};

	while (!*signal && clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

/* Run both windows, from the first reading to the last. */
static int count(struct counter *plain, struct counter *shared, unsigned int ms,
		 const volatile sig_atomic_t *signal, struct marks *marks)
{
	struct evlist *evlist = shared->plan->evlist;
	int err;

	err = shared->ops->enable(shared);
	if (!err)
		err = plain->ops->enable(plain);
	if (!err)
		err = shared->ops->read(shared);
	if (!err)
		err = copy_counts(evlist, marks->nr, marks->begin);
	if (!err)
		wait_ms(ms, signal);
	if (!err)
		err = shared->ops->read(shared);
	if (!err)
		err = copy_counts(evlist, marks->nr, marks->end);
	if (!err)
		err = plain->ops->disable(plain);
	if (!err)
		err = shared->ops->disable(shared);
	if (!err)
		err = plain->ops->read(plain);
	return err;
}

static bool is_outside(unsigned long long plain, unsigned long long inner, unsigned long long outer)
{
	double slack = outer * VERIFY_TOLERANCE;

	return plain + slack < inner || plain > outer + slack;
}

static void judge(const struct evsel *plain, const struct evsel *shared, const struct marks *marks,
		  int event, struct verified *result)
{
	*result = (struct verified){.verdict = VERDICT_AGREES};
	if (!is_counting(plain) || !is_counting(shared)) {
		result->verdict = VERDICT_UNSUPPORTED;
		return;
	}
	for (int i = 0; i < plain->cpus->nr; i++) {
		const struct counts_values *one = counts__at(plain->counts, i, 0);
		const struct counts_values *all = counts__at(shared->counts, i, 0);
		unsigned long long inner =
			marks->end[event][i].value - marks->begin[event][i].value;

		result->plain += one->value;
		result->inner += inner;
		result->outer += all->value;
		/* A mismatch on one CPU decides. */
		if (result->verdict == VERDICT_DIFFERS)
			continue;
		if (shared->counts->offline[i])
			result->verdict = VERDICT_OFFLINE;
		else if (one->running_ns < one->enabled_ns || all->running_ns < all->enabled_ns)
			result->verdict = VERDICT_MULTIPLEXED;
		else if (is_outside(one->value, inner, all->value)) {
			result->verdict = VERDICT_DIFFERS;
			result->cpu = plain->cpus->cpu[i];
		}
	}
}

static void free_marks(struct marks *marks)
{
	for (int i = 0; i < marks->nr; i++) {
		if (marks->begin)
			free(marks->begin[i]);
		if (marks->end)
			free(marks->end[i]);
	}
	free(marks->begin);
	free(marks->end);
}

int verify(struct counter_plan *plan, unsigned int ms, const volatile sig_atomic_t *signal,
	   struct verified *results)
{
	struct evlist *evlist = plan->evlist;
	struct marks marks = {.nr = evlist->nr / 2};
	struct counter *plain = counter_plain__new(plan), *shared = counter_bperf__new(plan);
	struct cpumap *online = cpumap__online();
	int err = -ENOMEM;

	marks.begin = calloc(marks.nr, sizeof(*marks.begin));
	marks.end = calloc(marks.nr, sizeof(*marks.end));
	if (!plain || !shared || !online || !marks.begin || !marks.end || set_cpus(evlist, online))
		goto out;
	for (int i = 0; i < marks.nr; i++) {
		evlist->evsels[i]->counter = plain;
		evlist->evsels[marks.nr + i]->counter = shared;
	}
	err = plain->ops->open(plain);
	if (!err)
		err = shared->ops->open(shared);
	if (!err)
		err = count(plain, shared, ms, signal, &marks);
	if (!err && *signal)
		err = -EINTR;
	for (int i = 0; i < marks.nr && !err; i++)
		judge(evlist->evsels[i], evlist->evsels[marks.nr + i], &marks, i, &results[i]);
out:
	if (err == -ENOMEM)
		pr_err("out of memory");
	if (shared)
		shared->ops->destroy(shared);
	if (plain)
		plain->ops->destroy(plain);
	cpumap__delete(online);
	free_marks(&marks);
	return err;
}
