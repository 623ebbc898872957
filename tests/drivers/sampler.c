// SPDX-License-Identifier: GPL-2.0
/*
 * Sample events by util/sample, and print entries and totals for tests.
 *
 *	sampler [-a | -C CPUS | -p PIDS | -t TIDS] [-i] [-F HZ | -c PERIOD] [-k PARTS] [-d MS] [-q]
 *		[-n FRAMES] [-m MAP] [-v] [-I] [-N] [-E ROOM] [-R START-END] EVENTS [COMMAND...]
 *
 * -k: SAMPLE_* as a number. -d: how long without a command; -q: no entries, totals only. -I: also the
 * samples of each interval. -N: no collection before the end. -E: also single samples. -R: only instructions at these addresses. Lines,
 * with tabs:
 *
 *	entry EVENT CPU PID TID COMM LEVEL SAMPLES WEIGHT KERNEL-FRAMES USER-FRAMES IP
 *	single EVENT CPU TIME WEIGHT
 *	interval SAMPLES
 *	total EVENT NAME VALUE
 */
#include "util/bperf/attr_map.h"
#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/event/pmu.h"
#include "util/host/capability.h"
#include "util/host/cpumap.h"
#include "util/lib/address_ranges.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/sample/sampler.h"
#include "util/target/cgroup_list.h"
#include "util/target/target.h"
#include "util/target/workload.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
}

struct driver {
	struct sampler_options options;
	struct target target;
	struct workload workload;
	int duration_ms;
	bool is_quiet;
	bool prints_intervals;
	bool collects_late;
	const char *cgroup_list;
	struct address_ranges ranges;
	uint64_t taken;
};

static void usage(void)
{
	fputs("usage: sampler [-a | -C CPUS | -p PIDS | -t TIDS] [-i] [-F HZ | -c PERIOD] [-k PARTS] [-d MS] [-q] [-n FRAMES] [-m MAP] [-v] [-I] [-N] [-E ROOM] [-R START-END] EVENTS [COMMAND...]\n",
	      stderr);
	exit(129);
}

static void set_rate(struct driver *driver, enum sample_rate_kind kind, const char *arg)
{
	driver->options.rate_kind = kind;
	driver->options.rate = strtoull(arg, NULL, 0);
}

static void add_range(struct driver *driver, const char *arg)
{
	char *end;
	uint64_t start = strtoull(arg, &end, 16);

	if (*end != '-' || address_ranges__add(&driver->ranges, start, strtoull(end + 1, NULL, 16)))
		usage();
	driver->options.has_ranges = true;
}

static void parse(struct driver *driver, int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "+aC:p:t:iF:c:k:d:qn:m:vIG:NE:R:")) != -1) {
		switch (opt) {
		case 'a':
			driver->target.system_wide = true;
			break;
		case 'C':
			driver->target.cpu_list = optarg;
			driver->options.cpus = cpumap__parse(optarg);
			break;
		case 'p':
			driver->target.pid_list = optarg;
			break;
		case 't':
			driver->target.tid_list = optarg;
			break;
		case 'i':
			driver->target.no_inherit = true;
			break;
		case 'F':
			set_rate(driver, SAMPLE_BY_FREQ, optarg);
			break;
		case 'c':
			set_rate(driver, SAMPLE_BY_PERIOD, optarg);
			break;
		case 'k':
			driver->options.key = strtoul(optarg, NULL, 0);
			break;
		case 'd':
			driver->duration_ms = atoi(optarg);
			break;
		case 'q':
			driver->is_quiet = true;
			break;
		case 'n':
			driver->options.max_frames = atoi(optarg);
			break;
		case 'm':
			driver->options.attr_map_path = optarg;
			break;
		case 'G':
			driver->cgroup_list = optarg;
			break;
		case 'R':
			add_range(driver, optarg);
			break;
		case 'E':
			driver->options.nr_singles = atoi(optarg);
			break;
		case 'N':
			driver->collects_late = true;
			break;
		case 'I':
			driver->prints_intervals = true;
			break;
		case 'v':
			msg__set_verbose(3);
			break;
		default:
			usage();
		}
	}
	if (optind == argc)
		usage();
}

static int print_entry(void *ctx, const struct sample_entry *e)
{
	const struct driver *driver = ctx;

	if (!driver->is_quiet)
		printf("entry\t%d\t%d\t%d\t%d\t%s\t%c\t%" PRIu64 "\t%" PRIu64 "\t%d\t%d\t%" PRIx64
		       "\n",
		       e->event, e->cpu, e->pid, e->tid, e->comm, e->is_user ? 'u' : 'k',
		       e->nr_samples, e->weight, e->nr_kernel, e->nr_user,
		       e->nr_user   ? e->user_ips[0] :
		       e->nr_kernel ? e->kernel_ips[0] :
				      e->ip);
	for (uint32_t i = 0; i < e->nr_singles; i++)
		printf("single\t%d\t%d\t%" PRIu64 "\t%" PRIu64 "\n", e->event, e->cpu,
		       e->singles[i].time_ns, e->singles[i].weight);
	return 0;
}

static void print_sum(int event, const char *name, struct sample_sum sum)
{
	printf("total\t%d\t%s.nr\t%" PRIu64 "\ntotal\t%d\t%s\t%" PRIu64 "\n", event, name, sum.nr,
	       event, name, sum.weight);
}

static void print_account(const struct sampler *sampler, int event)
{
	struct sample_account account;

	sampler__account(sampler, event, &account);
	print_sum(event, "taken", account.taken);
	print_sum(event, "kept", account.kept);
	print_sum(event, "idle", account.idle);
	print_sum(event, "mode", account.mode);
	print_sum(event, "other", account.other);
	print_sum(event, "elsewhere", account.elsewhere);
	print_sum(event, "truncated", account.truncated);
	print_sum(event, "unreadable", account.unreadable);
	for (int i = 0; i < NR_SAMPLE_LOSSES; i++)
		print_sum(event, sample_loss__name(i), account.lost[i]);
	printf("total\t%d\tthinned\t%" PRIu64 "\n", event, account.thinned);
	printf("total\t%d\tcounted\t%" PRIu64 "\n", event, account.counted);
	printf("total\t%d\tenabled\t%" PRIu64 "\n", event, account.enabled_ns);
	printf("total\t%d\tabsent\t%" PRIu64 "\n", event, account.absent_ns);
	printf("total\t%d\trunning\t%" PRIu64 "\n", event, account.running_ns);
	printf("total\t%d\tperiod\t%" PRIu64 "\n", event, account.period);
}

/* Print the most memory that this process had, in KB. */
static void print_memory(void)
{
	struct rusage usage;

	if (!getrusage(RUSAGE_SELF, &usage))
		printf("total\t0\tmemory\t%ld\n", usage.ru_maxrss);
}

/* Print the samples that the first event's programs took since the last time, for all sessions. */
static void print_interval(struct driver *driver, const struct sampler *sampler)
{
	struct sample_account account;

	sampler__account(sampler, 0, &account);
	printf("interval\t%" PRIu64 "\n", account.taken.nr - driver->taken);
	fflush(stdout);
	driver->taken = account.taken.nr;
}

/* Wait until it is time to collect. Return: whether it goes on. */
static bool wait_for(struct driver *driver, struct sampler *sampler, uint64_t end_ns)
{
	uint64_t now_ns = clock_ns(), until_ns = now_ns + sampler__look_ms(sampler) * NSEC_PER_MSEC;

	while (!stopped && now_ns < end_ns) {
		if (driver->workload.pid && workload__wait(&driver->workload, false))
			return false;
		if (now_ns >= until_ns && (driver->collects_late || sampler__is_due(sampler)))
			return true;
		if (now_ns >= until_ns)
			until_ns = now_ns + sampler__look_ms(sampler) * NSEC_PER_MSEC;
		/* A signal also ends this. */
		usleep(driver->workload.pid ? 5000 : (MIN(until_ns, end_ns) - now_ns) / 1001 + 1);
		now_ns = clock_ns();
	}
	return false;
}

static int sample(struct driver *driver, const struct evlist *list)
{
	uint64_t end_ns = UINT64_MAX;
	struct sampler *sampler = NULL;
	int err = sampler__open(&driver->options, &sampler);

	if (err)
		return err;
	address_ranges__sort(&driver->ranges);
	if (driver->options.has_ranges)
		err = sampler__set_ranges(sampler, &driver->ranges);
	if (!err)
		err = sampler__enable(sampler);
	if (!err)
		puts("ready");
	fflush(stdout);
	if (!err && driver->workload.pid)
		err = workload__start(&driver->workload);
	if (driver->duration_ms)
		end_ns = clock_ns() + driver->duration_ms * NSEC_PER_MSEC;
	while (!err && wait_for(driver, sampler, end_ns)) {
		if (!driver->collects_late)
			err = sampler__collect(sampler, NULL, print_entry, driver);
		if (!err && driver->prints_intervals)
			print_interval(driver, sampler);
	}
	sampler__disable(sampler);
	/* Both halves. */
	for (int i = 0; i < 2 && !err; i++)
		err = sampler__collect(sampler, NULL, print_entry, driver);
	for (int i = 0; i < list->nr && !err; i++)
		print_account(sampler, i);
	print_memory();
	sampler__delete(sampler);
	return err;
}

int main(int argc, char **argv)
{
	struct driver driver = {
		.options = {.rate_kind = SAMPLE_BY_FREQ,
			    .rate = 99,
			    .key = SAMPLE_PROCESS | SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK,
			    .otherwise = "nothing is sampled"}};
	struct pmus *pmus = pmus__new(sysfs_root());
	struct evlist *list = evlist__new();
	struct parse_error parse_err = {};
	int err;

	msg__init("sampler");
	capability__init();
	parse(&driver, argc, argv);
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	if (!pmus || !list || parse_events(list, pmus, argv[optind], &parse_err))
		return 1;
	driver.options.target = &driver.target;
	driver.options.events = list;
	if (argc > optind + 1) {
		driver.target.argv = argv + optind + 1;
		driver.target.argc = argc - optind - 1;
		if (workload__fork(&driver.workload, driver.target.argv, false))
			return 1;
		if (!driver.target.system_wide && !driver.target.cpu_list &&
		    !target__is_attached(&driver.target))
			driver.options.workload = driver.workload.pid;
	} else if (!target__is_attached(&driver.target) && !driver.target.cpu_list) {
		driver.target.system_wide = true;
	}
	if (driver.cgroup_list) {
		struct cgroup_list *cgroups = cgroup_list__new();

		if (!cgroups || cgroup_list__parse(cgroups, driver.cgroup_list, false))
			return 1;
		cgroup_list__begin(cgroups);
		driver.options.cgroups = cgroups->cgroups;
		driver.options.nr_cgroups = cgroups->nr;
		driver.options.cgroup_fs = &cgroups->fs;
	}
	err = sample(&driver, list);
	address_ranges__clear(&driver.ranges);
	workload__delete(&driver.workload);
	evlist__delete(list);
	pmus__delete(pmus);
	return err ? 1 : 0;
}
