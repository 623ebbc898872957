// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/profile_events.h"

#include "util/cmd/profile_cmd.h"
#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/event/pmu.h"
#include "util/event/pmu_name.h"
#include "util/host/perf_event.h"
#include "util/lib/msg.h"
#include "util/lib/program.h"
#include "util/lib/util.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Between the usual rates of timers, so that nothing runs in step with it. */
#define DEFAULT_HZ 99

/* --- events --- */

/* Return: whether this machine can sample cycles of user level in this thread. */
static bool can_sample_cycles(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.sample_period = 1ULL << 40,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
	};
	int fd = perf_event__open(&attr, 0, -1, -1, 0);

	if (fd < 0)
		return !perf_event__is_unsupported(fd);
	close(fd);
	return true;
}

static int add_default(struct profile_cmd *cmd)
{
	const char *name = can_sample_cycles() ? "cycles" : "cpu-clock";
	struct parse_error error = {};
	int err = parse_events(cmd->run.events, cmd->pmus, name, &error);

	if (err == -EINVAL)
		parse_error__print(&error);
	else if (err)
		pr_err("%s", strerror(-err));
	parse_error__clear(&error);
	return err;
}

static bool is_pmu(const struct evsel *evsel, const char *name)
{
	return evsel->pmu && !strcmp(evsel->pmu->name, name);
}

const char *profile_events__why_not(const struct evsel *evsel)
{
	if (evsel->tool != TOOL_NONE || evsel->runs != RUNS_NONE)
		return "perf computes it, and it never interrupts";
	if (evsel->attr.type == PERF_TYPE_TRACEPOINT)
		return "the kernel cannot run our program at samples of tracepoints (count them with perf stat)";
	if (is_pmu(evsel, "kprobe") || is_pmu(evsel, "uprobe"))
		return "the kernel cannot run our program at samples of probes (count them with perf stat)";
	if (evsel->has_period)
		return "'period' has no effect here: give -c, which holds for all events";
	if (evsel->pmu && evsel->pmu->is_uncore)
		return "its PMU counts for several CPUs together and cannot tell what runs";
	return NULL;
}

/* Return: whether an event before this one is the same, whatever it is called. */
static bool is_twin(const struct evlist *events, int idx)
{
	const struct evsel *evsel = events->evsels[idx];

	for (int i = 0; i < idx; i++) {
		const struct evsel *other = events->evsels[i];

		if (!memcmp(&other->attr, &evsel->attr, sizeof(evsel->attr)) &&
		    !memcmp(other->more_config, evsel->more_config, sizeof(evsel->more_config)))
			return true;
	}
	return false;
}

int profile_events__check(struct profile_cmd *cmd)
{
	struct evlist *events = cmd->run.events;
	int err = events->nr ? 0 : add_default(cmd);

	for (int i = 0; i < events->nr && !err; i++) {
		struct evsel *evsel = events->evsels[i];
		const char *reason = profile_events__why_not(evsel);

		if (reason) {
			char *renamed __cleanup(free_ptr) = program__rename(reason);

			pr_err("'%s' cannot be sampled: %s", evsel->name,
			       renamed ? renamed : reason);
			err = -EINVAL;
		} else if (is_twin(events, i)) {
			pr_err("'%s' is listed twice", evsel->name);
			err = -EINVAL;
		} else if (evsel__is_leader(evsel) && evsel->nr_members > 1) {
			pr_warn("groups are not sampled together: '%s' and its members are single events",
				evsel->name);
			evlist__ungroup(events, evsel);
		}
	}
	return err;
}

/* The kernel takes addresses that it has anyway: of faults, of watched words, and of precise events. */
static bool has_data(const struct perf_event_attr *attr)
{
	if (attr->type != PERF_TYPE_SOFTWARE)
		return attr->type == PERF_TYPE_BREAKPOINT || attr->precise_ip;
	return attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
	       attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
	       attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ ||
	       attr->config == PERF_COUNT_SW_ALIGNMENT_FAULTS ||
	       attr->config == PERF_COUNT_SW_EMULATION_FAULTS;
}

int profile_events__check_data(const struct profile_cmd *cmd)
{
	for (int i = 0; i < cmd->run.events->nr; i++) {
		const struct evsel *evsel = cmd->run.events->evsels[i];

		if (has_data(&evsel->attr))
			continue;
		pr_err("'%s' has no data address: only faults, breakpoints and precise events (:p) have one",
		       evsel->name);
		return -EINVAL;
	}
	return 0;
}

/* --- the rate --- */

static uint64_t max_rate(void)
{
	char *path __cleanup(free_ptr) =
		xasprintf("%s/sys/kernel/perf_event_max_sample_rate", procfs_root());
	char *text __cleanup(free_ptr) = path ? read_file_line(path) : NULL;
	uint64_t rate = text ? strtoull(text, NULL, 10) : 0;

	return rate ? rate : UINT64_MAX;
}

static int check_frequency(struct profile_cmd *cmd, uint64_t max)
{
	if (cmd->is_max_rate)
		cmd->run.sampling.rate = max == UINT64_MAX ? 100000 : max;
	if (cmd->run.sampling.rate <= max)
		return 0;
	pr_err("-F %" PRIu64 ": the kernel allows at most %" PRIu64
	       " Hz (sysctl kernel.perf_event_max_sample_rate; -F max takes what there is)",
	       cmd->run.sampling.rate, max);
	return -EINVAL;
}

/* A clock's period is its time; what other events do in a second nobody knows before. */
static int check_period(const struct profile_cmd *cmd, uint64_t max)
{
	uint64_t period = cmd->run.sampling.rate;

	for (int i = 0; i < cmd->run.events->nr; i++) {
		const struct evsel *evsel = cmd->run.events->evsels[i];

		if (!evsel__is_clock(evsel) || NSEC_PER_SEC / period <= max)
			continue;
		pr_err("-c %" PRIu64
		       ": %s would be sampled at %llu Hz, and the kernel allows at most %" PRIu64
		       " (sysctl kernel.perf_event_max_sample_rate)",
		       period, evsel->name, NSEC_PER_SEC / period, max);
		return -EINVAL;
	}
	return 0;
}

int profile_events__check_rate(struct profile_cmd *cmd)
{
	uint64_t max = max_rate();

	if (!cmd->has_rate) {
		cmd->run.sampling.rate_kind = SAMPLE_BY_FREQ;
		cmd->run.sampling.rate = DEFAULT_HZ < max ? DEFAULT_HZ : max;
	}
	return cmd->run.sampling.rate_kind == SAMPLE_BY_FREQ ? check_frequency(cmd, max) :
							       check_period(cmd, max);
}
