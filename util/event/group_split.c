// SPDX-License-Identifier: GPL-2.0
#include "util/event/group_split.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "util/event/event_expand.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/lib/util.h"

/* Return: whether an event can join a group on any PMU. */
static bool is_flexible(const struct evsel *evsel)
{
	return evsel->keep_ungrouped || evsel__is_software(evsel);
}

int group_split__split(struct evlist *list, int first, bool weak, const char *name, bool *changed)
{
	struct evsel **sorted __cleanup(free_ptr) = NULL;
	const struct evsel *main_event = list->evsels[first];
	int nr = list->nr - first, done = 0, i;
	bool share = false;

	sorted = malloc(nr * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (i = first; i < list->nr; i++)
		share |= list->evsels[i]->share;
	for (i = first; i < list->nr; i++) {
		if (!is_flexible(list->evsels[i]) && !list->evsels[i]->tool) {
			main_event = list->evsels[i];
			break;
		}
	}
	/* move the events of one PMU after the other; each leaves a NULL */
	while (done < nr) {
		const struct evsel *sample = NULL;
		int start = done;
		struct evsel *leader;

		for (i = first; i < list->nr; i++) {
			struct evsel *evsel = list->evsels[i];
			const struct evsel *owner;

			if (!evsel)
				continue;
			owner = is_flexible(evsel) ? main_event : evsel;
			if (!sample)
				sample = owner;
			if (owner->pmu != sample->pmu || (owner->tool && owner != sample))
				continue;
			*changed |= i != first + done;
			sorted[done++] = evsel;
			list->evsels[i] = NULL;
			if (owner->tool)
				break;
		}
		*changed |= start > 0;
		leader = sorted[start];
		leader->attr.pinned |= sorted[0]->attr.pinned;
		leader->attr.exclusive |= sorted[0]->attr.exclusive;
		if (name) {
			leader->group_name = strdup(name);
			if (!leader->group_name)
				goto no_memory;
		}
		for (i = start; i < done; i++) {
			sorted[i]->leader = leader;
			sorted[i]->nr_members = 0;
			sorted[i]->weak = i == start && weak && done - start > 1;
			sorted[i]->share = share;
		}
		leader->nr_members = done - start;
	}
	for (i = 0; i < nr; i++) {
		list->evsels[first + i] = sorted[i];
		sorted[i]->idx = first + i;
	}
	return 0;
no_memory:
	/* put every event back into the list, for the caller to truncate */
	for (i = first; i < list->nr; i++) {
		if (list->evsels[i])
			sorted[done++] = list->evsels[i];
	}
	memcpy(&list->evsels[first], sorted, nr * sizeof(*sorted));
	return -ENOMEM;
}

/* The same on all Intel cores that have it: event 0, umask 4. */
#define SLOTS_CONFIG 0x400
/* Event 0 with these umasks are the kernel's topdown metrics; upper bits do not matter. */
#define METRIC_MASK  0xffff
#define METRIC_FIRST 0x8000
#define METRIC_LAST  0x8700

static bool is_metric_code(const struct evsel *evsel)
{
	uint64_t code = evsel->attr.config & METRIC_MASK;

	return evsel->attr.type == evsel->pmu->type && !(code & 0xff) && code >= METRIC_FIRST &&
	       code <= METRIC_LAST;
}

/* Return: whether it is a topdown metric, by name or code: it only counts in a group led by slots. */
static bool is_topdown(const struct evsel *evsel)
{
	static const char prefix[] = "topdown-";
	const struct pmu *pmu = evsel->pmu;

	if (!pmu || !pmu->is_core || evsel->keep_ungrouped || !pmu__event(pmu, "slots"))
		return false;
	return is_metric_code(evsel) ||
	       (evsel->pmu_event && !strncasecmp(evsel->pmu_event, prefix, strlen(prefix)));
}

/* Match by config, not name: two slots events in a group would compete for the single fixed counter. */
static bool is_slots(const struct evsel *evsel, const struct pmu *pmu)
{
	return evsel->pmu == pmu && evsel->attr.type == pmu->type &&
	       evsel->attr.config == SLOTS_CONFIG;
}

/* Move single topdown events, and slots if missing, to the end of the group at @first. */
static int gather(struct evlist *list, int first)
{
	const struct pmu *pmu = list->evsels[first]->pmu;
	bool has_slots = is_slots(list->evsels[first], pmu);
	int nr = list->evsels[first]->nr_members, i;

	for (i = first + nr; i < list->nr; i++) {
		const struct evsel *evsel = list->evsels[i];
		bool slots = !has_slots && is_slots(evsel, pmu);

		/* Members of groups (nr_members 0) stay where the user put them. */
		if (evsel->nr_members != 1 || evsel->pmu != pmu || evsel->keep_ungrouped ||
		    !(is_topdown(evsel) || slots))
			continue;
		evlist__move(list, i, first + nr++);
		has_slots |= slots;
	}
	return nr;
}

/* Return: the position of slots, single or leading, before the topdown event at @end; or -1. */
static int find_slots(const struct evlist *list, int first, int end)
{
	int i;

	for (i = first; i < end; i += list->evsels[i]->nr_members) {
		if (is_slots(list->evsels[i], list->evsels[end]->pmu) &&
		    !list->evsels[i]->keep_ungrouped)
			return i;
	}
	return -1;
}

/* Make slots the leader of the group of @nr events at @first; add them if missing. */
static int lead_with_slots(struct event_expansion *c, int first, int nr)
{
	struct evlist *list = c->list;
	struct evsel *leader = list->evsels[first], *slots;
	const struct pmu *pmu;
	int i, err;

	for (i = first; !is_topdown(list->evsels[i]); i++)
		;
	pmu = list->evsels[i]->pmu;
	for (i = first; i < first + nr && !is_slots(list->evsels[i], pmu); i++)
		;
	if (i == first + nr) {
		err = event_expand__named(c, pmu, "slots");
		if (err)
			return err;
		i = list->nr - 1;
		slots = list->evsels[i];
		slots->hidden = true;
		slots->share = leader->share;
		slots->levels_given = leader->levels_given;
		slots->attr.exclude_user = leader->attr.exclude_user;
		slots->attr.exclude_kernel = leader->attr.exclude_kernel;
		slots->attr.exclude_hv = leader->attr.exclude_hv;
		nr++;
	}
	slots = list->evsels[i];
	if (i != first) {
		evlist__move(list, i, first);
		slots->weak = leader->weak;
		slots->group_name = leader->group_name;
		slots->attr.pinned = leader->attr.pinned;
		slots->attr.exclusive = leader->attr.exclusive;
		leader->weak = false;
		leader->group_name = NULL;
		leader->attr.pinned = 0;
		leader->attr.exclusive = 0;
	}
	evlist__group(list, first, nr);
	return 0;
}

int group_split__topdown(struct event_expansion *c, int first)
{
	struct evlist *list = c->list;
	int i, j, err;

	for (i = first; i < list->nr; i += list->evsels[i]->nr_members) {
		int nr = list->evsels[i]->nr_members;

		for (j = i; j < i + nr && !is_topdown(list->evsels[j]); j++)
			;
		if (j == i + nr)
			continue;
		if (nr == 1) {
			int slots = find_slots(list, first, i);

			if (slots >= 0) {
				/* move the event to where the user named slots */
				nr = list->evsels[slots]->nr_members;
				evlist__move(list, i, slots + nr);
				i = slots;
				evlist__group(list, i, nr + 1);
			}
			nr = gather(list, i);
		}
		err = lead_with_slots(c, i, nr);
		if (err)
			return err;
	}
	return 0;
}
