// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_rate.h"

#include "util/event/evsel.h"
#include "util/host/cpumap.h"
#include "util/host/perf_event.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The kernel's shortest period of a clock (perf_swevent_start_hrtimer(), all releases so far). */
#define MIN_CLOCK_PERIOD_NS 10000

/* Where nothing tells the highest clock of the CPUs. */
#define ASSUMED_HZ 1000000000ULL

/* --- the highest clock --- */

/* Return: 0: it is not known */
static uint64_t hz_of_cpu(int cpu)
{
	char *file __cleanup(free_ptr) = xasprintf(
		"%s/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", sysfs_root(), cpu);
	char *text __cleanup(free_ptr) = file ? read_file_line(file) : NULL;

	return text ? strtoull(text, NULL, 10) * 1000 : 0;
}

/* The first CPU is often a slow one of several kinds. */
static uint64_t hz_of_cpufreq(void)
{
	struct cpumap *cpus = cpumap__possible();
	uint64_t max = 0;

	for (int i = 0; cpus && i < cpus->nr; i++) {
		uint64_t hz = hz_of_cpu(cpus->cpu[i]);

		max = hz > max ? hz : max;
	}
	cpumap__delete(cpus);
	return max;
}

static uint64_t hz_of_cpuinfo(void)
{
	char *file __cleanup(free_ptr) = xasprintf("%s/cpuinfo", procfs_root());
	char *text __cleanup(free_ptr) = file ? read_file(file, NULL) : NULL;
	double mhz, max = 0;

	for (const char *line = text; line; line = strstr(line + 1, "\ncpu MHz")) {
		if (sscanf(line, " cpu MHz : %lf", &mhz) == 1 && mhz > max)
			max = mhz;
	}
	return max * 1000000;
}

static uint64_t highest_hz(void)
{
	uint64_t hz = hz_of_cpufreq();

	if (!hz)
		hz = hz_of_cpuinfo();
	return hz ? hz : ASSUMED_HZ;
}

/* --- one session --- */

static bool is_cycles(const struct evsel *evsel)
{
	/* The upper half of config names the kind of core. */
	return evsel->attr.type == PERF_TYPE_HARDWARE &&
	       (uint32_t)evsel->attr.config == PERF_COUNT_HW_CPU_CYCLES;
}

uint64_t sample_rate__max(void)
{
	char *file __cleanup(free_ptr) =
		xasprintf("%s/sys/kernel/perf_event_max_sample_rate", procfs_root());
	char *text __cleanup(free_ptr) = file ? read_file_line(file) : NULL;

	return text ? strtoull(text, NULL, 10) : 0;
}

static int check(const struct evsel *evsel, enum sample_rate_kind kind, uint64_t rate)
{
	uint64_t max = kind == SAMPLE_BY_FREQ ? sample_rate__max() : 0;

	if (max && rate > max) {
		pr_err("%s: %llu samples a second are more than the kernel allows (%llu, kernel.perf_event_max_sample_rate)",
		       evsel->name, (unsigned long long)rate, (unsigned long long)max);
		return -EINVAL;
	}
	return 0;
}

int sample_rate__choose(const struct evsel *evsel, enum sample_rate_kind kind, uint64_t rate,
			struct sample_rate *out)
{
	bool is_clock = evsel__is_clock(evsel);
	int err = check(evsel, kind, rate);

	if (err)
		return err;
	*out = (struct sample_rate){.class = SAMPLE_CLASS_PERIOD, .value = rate};
	if (kind == SAMPLE_BY_FREQ && is_clock)
		out->value = NSEC_PER_SEC / rate;
	else if (kind == SAMPLE_BY_FREQ && is_cycles(evsel))
		out->value = highest_hz() / rate;
	else if (kind == SAMPLE_BY_FREQ)
		out->class = SAMPLE_CLASS_FREQ;
	if (is_clock && out->value < MIN_CLOCK_PERIOD_NS) {
		pr_err("%s: the kernel samples a clock every %d ns at most", evsel->name,
		       MIN_CLOCK_PERIOD_NS);
		return -EINVAL;
	}
	if (!out->value)
		out->value = 1;
	return 0;
}

/* --- all sessions --- */

static bool samples_cpu(const struct sampler_place *sampler, int cpu)
{
	return cpu >= MAX_SAMPLE_CPUS || !(sampler->other_cpus[cpu / 64] >> cpu % 64 & 1);
}

#define ASSUMED_CYCLES_PER_MS 4e6

double sample_rate__per_ms(enum sample_class class, const struct perf_event_attr *attr,
			   uint64_t value)
{
	if (class != SAMPLE_CLASS_PERIOD)
		return value / 1e3;
	return (perf_event__is_clock(attr) ? 1e6 : ASSUMED_CYCLES_PER_MS) / value;
}

/* Return: a bit for each sampler whose rate counts in a slot. */
static uint64_t drivers(const struct sample_plan *plan, const struct sample_slot *of)
{
	return of->takers & ~plan->sleepers;
}

uint64_t sample_rate__needed(const struct sample_plan *plan, int slot, int cpu)
{
	const struct sample_slot *of = &plan->slot[slot];
	uint64_t needed = 0, drives = drivers(plan, of);

	for (int i = 0; i < MAX_SAMPLERS; i++) {
		uint64_t rate = plan->sampler[i].rate[slot];

		if (!(drives >> i & 1) || !rate || !samples_cpu(&plan->sampler[i], cpu))
			continue;
		if (!needed || (of->class == SAMPLE_CLASS_PERIOD ? rate < needed : rate > needed))
			needed = rate;
	}
	return needed;
}

/* The fastest session's, wherever it samples. */
static double fastest(const struct sample_plan *plan, int slot)
{
	const struct sample_slot *of = &plan->slot[slot];
	uint64_t drives = drivers(plan, of);
	struct perf_event_attr attr;
	double most = 0;

	memcpy(&attr, of->key.bytes, sizeof(attr));
	for (int i = 0; i < MAX_SAMPLERS; i++) {
		uint64_t rate = plan->sampler[i].rate[slot];
		double one =
			drives >> i & 1 && rate ? sample_rate__per_ms(of->class, &attr, rate) : 0;

		most = one > most ? one : most;
	}
	return most;
}

bool sample_rate__suits(const struct sample_plan *plan, int slot, const struct sample_rate *rate)
{
	double max_per_ms = sample_rate__max() / 1e3;
	struct perf_event_attr attr;

	memcpy(&attr, plan->slot[slot].key.bytes, sizeof(attr));
	return !max_per_ms ||
	       (fastest(plan, slot) > max_per_ms) ==
		       (sample_rate__per_ms(rate->class, &attr, rate->value) > max_per_ms);
}

double sample_rate__words_per_ms(const struct sample_plan *plan)
{
	double sum = 0;

	for (int i = 0; i < MAX_SAMPLE_SLOTS; i++) {
		uint32_t needs = plan->slot[i].needs;
		int nr =
			!!(needs & SAMPLE_NEEDS_KERNEL_STACK) + !!(needs & SAMPLE_NEEDS_USER_STACK);

		if (nr)
			sum += nr * STACK_WORDS * fastest(plan, i);
	}
	return sum;
}
