// SPDX-License-Identifier: GPL-2.0
#include "util/metric/metric_shadow.h"

#include "util/event/evlist.h"
#include "util/lib/util.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Ratios and rates as perf up to 6.x printed them. A ratio appears if its partner counts in the same
 * row, cgroup and privilege levels.
 */

enum kind {
	KIND_OTHER,
	KIND_CYCLES,
	KIND_INSTRUCTIONS,
	KIND_CACHE_REFERENCES,
	KIND_CACHE_MISSES,
	KIND_BRANCHES,
	KIND_BRANCH_MISSES,
	KIND_STALLED_FRONT,
	KIND_STALLED_BACK,
	KIND_L1D_LOADS,
	KIND_L1D_MISSES,
	KIND_L1I_LOADS,
	KIND_L1I_MISSES,
	KIND_LLC_LOADS,
	KIND_LLC_MISSES,
	KIND_DTLB_LOADS,
	KIND_DTLB_MISSES,
	KIND_ITLB_LOADS,
	KIND_ITLB_MISSES,
};

#define HW(event)	   PERF_TYPE_HARDWARE, PERF_COUNT_HW_##event
#define CACHE_LOADS(cache) PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##cache
#define CACHE_MISSES(cache)                                                                        \
	PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_RESULT_MISS << 16

/*
 * Kinds are recognised by attr, or by name, since sysfs may turn a name into a raw event.
 */
static const struct {
	uint32_t type;
	uint64_t config;
	const char *names[2];
} kinds[] = {
	[KIND_CYCLES] = {HW(CPU_CYCLES), {"cycles", "cpu-cycles"}},
	[KIND_INSTRUCTIONS] = {HW(INSTRUCTIONS), {"instructions"}},
	[KIND_CACHE_REFERENCES] = {HW(CACHE_REFERENCES), {"cache-references"}},
	[KIND_CACHE_MISSES] = {HW(CACHE_MISSES), {"cache-misses"}},
	[KIND_BRANCHES] = {HW(BRANCH_INSTRUCTIONS), {"branches", "branch-instructions"}},
	[KIND_BRANCH_MISSES] = {HW(BRANCH_MISSES), {"branch-misses"}},
	[KIND_STALLED_FRONT] = {HW(STALLED_CYCLES_FRONTEND),
				{"stalled-cycles-frontend", "idle-cycles-frontend"}},
	[KIND_STALLED_BACK] = {HW(STALLED_CYCLES_BACKEND),
			       {"stalled-cycles-backend", "idle-cycles-backend"}},
	[KIND_L1D_LOADS] = {CACHE_LOADS(L1D), {"L1-dcache-loads"}},
	[KIND_L1D_MISSES] = {CACHE_MISSES(L1D), {"L1-dcache-load-misses"}},
	[KIND_L1I_LOADS] = {CACHE_LOADS(L1I), {"L1-icache-loads"}},
	[KIND_L1I_MISSES] = {CACHE_MISSES(L1I), {"L1-icache-load-misses"}},
	[KIND_LLC_LOADS] = {CACHE_LOADS(LL), {"LLC-loads"}},
	[KIND_LLC_MISSES] = {CACHE_MISSES(LL), {"LLC-load-misses"}},
	[KIND_DTLB_LOADS] = {CACHE_LOADS(DTLB), {"dTLB-loads"}},
	[KIND_DTLB_MISSES] = {CACHE_MISSES(DTLB), {"dTLB-load-misses"}},
	[KIND_ITLB_LOADS] = {CACHE_LOADS(ITLB), {"iTLB-loads"}},
	[KIND_ITLB_MISSES] = {CACHE_MISSES(ITLB), {"iTLB-load-misses"}},
};

/* Ratios of two kinds, and the limits of colours; 0: none. */
static const struct ratio {
	enum kind of, by;
	double factor;
	const char *format, *text;
	double red, magenta, yellow;
} ratios[] = {
	{KIND_INSTRUCTIONS, KIND_CYCLES, 1, "%7.2f ", "insn per cycle", 0, 0, 0},
	{KIND_BRANCH_MISSES, KIND_BRANCHES, 100, "%7.2f%%", "of all branches", 20, 10, 5},
	{KIND_L1D_MISSES, KIND_L1D_LOADS, 100, "%7.2f%%", "of all L1-dcache accesses", 20, 10, 5},
	{KIND_L1I_MISSES, KIND_L1I_LOADS, 100, "%7.2f%%", "of all L1-icache accesses", 20, 10, 5},
	{KIND_DTLB_MISSES, KIND_DTLB_LOADS, 100, "%7.2f%%", "of all dTLB cache accesses", 20, 10,
	 5},
	{KIND_ITLB_MISSES, KIND_ITLB_LOADS, 100, "%7.2f%%", "of all iTLB cache accesses", 20, 10,
	 5},
	{KIND_LLC_MISSES, KIND_LLC_LOADS, 100, "%7.2f%%", "of all LL-cache accesses", 20, 10, 5},
	{KIND_CACHE_MISSES, KIND_CACHE_REFERENCES, 100, "%8.3f %%", "of all cache refs", 0, 0, 0},
	{KIND_STALLED_FRONT, KIND_CYCLES, 100, "%7.2f%%", "frontend cycles idle", 50, 30, 10},
	{KIND_STALLED_BACK, KIND_CYCLES, 100, "%7.2f%%", "backend cycles idle", 75, 50, 20},
};

static bool has_name(const char *base, const char *const names[2])
{
	return (names[0] && !strcasecmp(base, names[0])) ||
	       (names[1] && !strcasecmp(base, names[1]));
}

static enum kind kind_of(const struct evsel *evsel)
{
	char base[64];
	uint32_t type = evsel->attr.type;
	size_t i;

	if (evsel->tool || type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT ||
	    type == PERF_TYPE_BREAKPOINT)
		return KIND_OTHER;
	evsel__base_name(evsel, base, sizeof(base));
	for (i = KIND_OTHER + 1; i < ARRAY_SIZE(kinds); i++) {
		/* The upper half of config is the type of the core PMU. */
		if (type == kinds[i].type ? (uint32_t)evsel->attr.config == kinds[i].config :
					    has_name(base, kinds[i].names))
			return i;
	}
	return KIND_OTHER;
}

static bool same_levels(const struct evsel *a, const struct evsel *b)
{
	return a->attr.exclude_user == b->attr.exclude_user &&
	       a->attr.exclude_kernel == b->attr.exclude_kernel &&
	       a->attr.exclude_hv == b->attr.exclude_hv &&
	       a->attr.exclude_host == b->attr.exclude_host &&
	       a->attr.exclude_guest == b->attr.exclude_guest &&
	       a->attr.exclude_idle == b->attr.exclude_idle;
}

/* Get the count of the partner of @evsel, preferably in its group. */
static bool find_partner(const struct evlist *evlist, const struct evsel *evsel, enum kind kind,
			 const struct metric_source *source, double *value)
{
	struct evsel *other, *found = NULL;
	struct metric_count count;
	int i;

	evlist__for_each(evlist, other, i) {
		if (kind_of(other) != kind || other->pmu != evsel->pmu ||
		    other->cgroup != evsel->cgroup || !same_levels(other, evsel))
			continue;
		if (!found || (other->leader == evsel->leader && found->leader != evsel->leader))
			found = other;
	}
	if (!found || !source->count(source->data, found, &count))
		return false;
	*value = count.value;
	return true;
}

/* Get the time, in ns, of the first clock in the list, wherever @evsel is. */
static bool find_clock(const struct evlist *evlist, const struct evsel *evsel,
		       const struct metric_source *source, double *ns)
{
	struct metric_count count;
	struct evsel *other;
	int i;

	evlist__for_each(evlist, other, i) {
		if (!evsel__is_clock(other) || other->cgroup != evsel->cgroup)
			continue;
		if (source->count(source->data, other, &count) && count.value > 0) {
			*ns = count.value;
			return true;
		}
	}
	return false;
}

static int put(struct metric_value *out, double value, const char *format, const char *text)
{
	*out = (struct metric_value){.value = value, .format = format, .text = strdup(text)};
	return out->text ? 1 : -ENOMEM;
}

static int put_rate(struct metric_value *out, const struct evsel *evsel, double per_sec,
		    bool fixed_unit)
{
	static const char *const units[] = {"/sec", "K/sec", "M/sec", "G/sec"};
	char *text;
	size_t i = 0;
	int ret;

	if (fixed_unit) {
		text = xasprintf("%s/sec", evsel->name);
		ret = text ? put(out, per_sec, "%8.3f", text) : -ENOMEM;
		free(text);
		return ret;
	}
	while (per_sec > 1000 && i + 1 < ARRAY_SIZE(units)) {
		per_sec /= 1000;
		i++;
	}
	return put(out, per_sec, "%8.3f", units[i]);
}

static int put_ratio(struct metric_value *out, const struct ratio *ratio, double value)
{
	int ret = put(out, value, ratio->format, ratio->text);

	if (ret > 0 && ratio->red > 0)
		out->color = value > ratio->red	    ? METRIC_RED :
			     value > ratio->magenta ? METRIC_MAGENTA :
			     value > ratio->yellow  ? METRIC_YELLOW :
						      METRIC_PLAIN;
	return ret;
}

/* Add stalls per instruction, of the worse end of the pipeline, as a second line. */
static int put_stalled(const struct evlist *evlist, const struct evsel *evsel,
		       const struct metric_source *source, double instructions,
		       struct metric_value *out)
{
	double front = 0, back = 0;
	bool has_front = find_partner(evlist, evsel, KIND_STALLED_FRONT, source, &front);
	bool has_back = find_partner(evlist, evsel, KIND_STALLED_BACK, source, &back);

	if ((!has_front && !has_back) || instructions <= 0)
		return 0;
	return put(out, fmax(front, back) / instructions, "%7.2f ", "stalled cycles per insn");
}

int metric_shadow__ratios(const struct evlist *evlist, const struct evsel *evsel, bool fixed_unit,
			  const struct metric_source *source, struct metric_value out[2])
{
	enum kind kind = kind_of(evsel);
	struct metric_count count;
	double other;
	int ret = 0, more;
	size_t i;

	if (!source->count(source->data, evsel, &count))
		return 0;
	if (evsel__is_clock(evsel))
		return source->time_s > 0 ? put(out, count.value * 1e-9 / source->time_s, "%8.3f",
						"CPUs utilized") :
					    0;
	for (i = 0; i < ARRAY_SIZE(ratios); i++) {
		if (ratios[i].of != kind)
			continue;
		if (find_partner(evlist, evsel, ratios[i].by, source, &other) && other > 0)
			ret = put_ratio(out, &ratios[i], ratios[i].factor * count.value / other);
		if (ret < 0 || kind != KIND_INSTRUCTIONS)
			return ret;
		more = put_stalled(evlist, evsel, source, count.value, &out[ret]);
		if (more < 0 && ret)
			metric_value__clear(out);
		return more < 0 ? more : ret + more;
	}
	/* Rates of times and gauges are meaningless. */
	if (evsel->tool || evsel->snapshot || !find_clock(evlist, evsel, source, &other))
		return 0;
	if (kind == KIND_CYCLES)
		return put(out, count.value / other, "%8.3f", "GHz");
	return put_rate(out, evsel, count.value * evsel->scale * 1e9 / other, fixed_unit);
}

/* Return: the event that counts executions; NULL: no BPF programs are counted. */
static const struct evsel *find_runs(const struct evlist *evlist)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(evlist, evsel, i) {
		if (evsel->runs == RUNS_EXACT)
			return evsel;
	}
	return NULL;
}

/* Return: "ns per run", "Joules per run", "per run"; in columns "cycles per run". Owned. */
static char *text_of(const struct evsel *evsel, bool in_columns)
{
	const char *unit = evsel__is_clock(evsel) ? "ns" : evsel->unit;

	return xasprintf("%s%s%s%sper run", in_columns ? evsel->name : "", in_columns ? " " : "",
			 unit ? unit : "", unit && *unit ? " " : "");
}

int metric_shadow__per_execution(const struct evlist *evlist, const struct evsel *evsel,
				 bool in_columns, const struct metric_source *source,
				 struct metric_value *out)
{
	const struct evsel *runs = find_runs(evlist);
	struct metric_count count, nr;

	if (!runs || evsel->runs || evsel->tool || !source->count(source->data, evsel, &count) ||
	    !source->count(source->data, runs, &nr) || nr.value <= 0)
		return 0;
	memset(out, 0, sizeof(*out));
	/* Clocks count ns, although rows are in ms. */
	out->value = count.value / nr.value * (evsel__is_clock(evsel) ? 1 : evsel->scale);
	out->format = "%10.1f ";
	out->text = text_of(evsel, in_columns);
	return out->text ? 1 : -ENOMEM;
}
