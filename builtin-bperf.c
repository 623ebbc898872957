// SPDX-License-Identifier: GPL-2.0
/* perf bperf: what is shared, for administrators. */
#include "builtin.h"

#include "util/attr_map.h"
#include "util/attr_text.h"
#include "util/capability.h"
#include "util/config.h"
#include "util/counter.h"
#include "util/cpumap.h"
#include "util/evlist.h"
#include "util/leader.h"
#include "util/msg.h"
#include "util/options.h"
#include "util/parse_events.h"
#include "util/pmu.h"
#include "util/registry.h"
#include "util/shared_list.h"
#include "util/shared_print.h"
#include "util/target.h"
#include "util/util.h"
#include "util/verify.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define STATUS_FAILED 1
#define STATUS_DIFFERS 2
#define STATUS_INCONCLUSIVE 3

struct bperf_cmd {
	const char *path;
	const char *events;
	unsigned int ms;
	bool json;
	int verbose;
	struct config settings;
	struct pmus *pmus;
	struct attr_map *attr_map;	/* locked by open_shared() */
	struct leader *leader;		/* NULL: there is none */
};

#define AT(field) offsetof(struct bperf_cmd, field)
#define PATH_ROW { 0, "bpf-attr-map", OPT_STRING, AT(path), .arg = "path", \
		   .help = "where the map of shared events is pinned" }
#define VERBOSE_ROW { 'v', "verbose", OPT_COUNT, AT(verbose), .help = "say more; repeat for more" }

static const struct option_row list_rows[] = {
	PATH_ROW,
	{ 'j', "json-output", OPT_FLAG, AT(json), .help = "print JSON" },
	VERBOSE_ROW,
	{},
};

static const struct option_row prune_rows[] = {
	PATH_ROW,
	VERBOSE_ROW,
	{},
};

static const struct option_row verify_rows[] = {
	PATH_ROW,
	{ 'e', "event", OPT_STRING, AT(events), .arg = "events",
	  .help = "events to compare; else those that are shared now" },
	{ 0, "time", OPT_UINT, AT(ms), .arg = "ms", .help = "count that long: 1000 by default" },
	VERBOSE_ROW,
	{},
};

static volatile sig_atomic_t got_signal;

static void on_signal(int sig)
{
	got_signal = sig;
}

/* --- what all commands begin with --- */

static bool is_permitted(void)
{
	char *missing __cleanup(free_ptr) = capability__missing_to_share();

	if (missing)
		pr_err("not permitted: lacks %s (run as root)", missing);
	return !missing;
}

/* Lock the map. Return: 0; 1: there is no map; -errno after a message. */
static int open_shared(struct bperf_cmd *cmd)
{
	if (access(cmd->path, F_OK) && errno == ENOENT)
		return 1;
	if (!is_permitted())
		return -EPERM;
	return attr_map__lock(cmd->path, cmd->settings.trusted, &cmd->attr_map);
}

static int find_leader(struct bperf_cmd *cmd)
{
	int err = leader__find(cmd->attr_map, &cmd->leader);

	if (err)
		pr_err("cannot look for the leader: %s%s", strerror(-err),
		       err == -EPERM ? " (needs CAP_SYS_ADMIN: run as root)" : "");
	return err;
}

/* --- list --- */

static int collect(struct bperf_cmd *cmd, struct shared_list *list)
{
	int err = find_leader(cmd);

	if (!err && cmd->leader)
		leader__repair(cmd->leader);
	if (!err)
		err = shared_list__entries(list, cmd->attr_map);
	if (!err && cmd->leader)
		err = shared_list__copy(list, cmd->leader);
	/* Nobody waits for us while we look. */
	attr_map__unlock(cmd->attr_map);
	if (!err && cmd->leader)
		err = shared_list__sample(list, cmd->leader);
	if (!err)
		shared_list__find_users(list);
	return err;
}

static int list(struct bperf_cmd *cmd)
{
	struct shared_list shared = {};
	int err = open_shared(cmd);

	if (err > 0 && !cmd->json) {
		printf("no events are shared: there is no %s\n", cmd->path);
		return 0;
	}
	if (err < 0)
		return STATUS_FAILED;
	if (!err) {
		err = collect(cmd, &shared);
		if (err)
			pr_err("cannot list what is shared: %s", strerror(-err));
	}
	if (err >= 0 && cmd->json)
		err = shared_print__json(&shared, cmd->path, cmd->pmus);
	else if (!err)
		shared_print__text(&shared, cmd->path, cmd->pmus);
	shared_list__clear(&shared);
	return err ? STATUS_FAILED : 0;
}

/* --- prune --- */

static int drop_dead(void *ctx, const struct attr_map_value *value, bool *drop)
{
	const struct shared_list *shared = ctx;

	for (int i = 0; i < shared->nr_entries; i++) {
		const struct shared_entry *entry = &shared->entries[i];

		if (entry->kind == ENTRY_DEAD && entry->link_id == value->link_id &&
		    entry->diff_map_id == value->diff_map_id)
			*drop = true;
	}
	return 0;
}

static int prune(struct bperf_cmd *cmd)
{
	struct shared_list shared = {};
	int nr_entries = 0, nr_runs = 0, err;

	err = open_shared(cmd);
	if (err > 0)
		printf("nothing to remove: there is no %s\n", cmd->path);
	if (err)
		return err < 0 ? STATUS_FAILED : 0;
	err = shared_list__entries(&shared, cmd->attr_map);
	for (int i = 0; i < shared.nr_entries; i++)
		nr_entries += shared.entries[i].kind == ENTRY_DEAD;
	if (!err)
		err = attr_map__each(cmd->attr_map, drop_dead, &shared);
	shared_list__clear(&shared);
	if (err)
		pr_err("cannot prune %s: %s", cmd->path, strerror(-err));
	if (!err)
		err = find_leader(cmd);
	if (cmd->leader) {
		nr_runs = registry__nr_runs(cmd->leader->registry);
		leader__repair(cmd->leader);
		nr_runs -= registry__nr_runs(cmd->leader->registry);
	}
	if (!err)
		printf("removed: %d dead entries, %d dead runs\n", nr_entries, nr_runs);
	return err ? STATUS_FAILED : 0;
}

/* --- verify --- */

static int add_text(struct bperf_cmd *cmd, struct evlist *evlist, const char *text)
{
	struct parse_error error = {};
	int err = parse_events(evlist, cmd->pmus, text, &error);

	if (err == -EINVAL)
		parse_error__print(&error);
	parse_error__clear(&error);
	return err;
}

/* Single events as they are shared now; a group's share nothing with events that stand alone. */
static int add_shared(struct bperf_cmd *cmd, struct evlist *evlist)
{
	int err = open_shared(cmd);

	if (err)
		return err < 0 ? err : 0;
	err = find_leader(cmd);
	for (int slot = 0; cmd->leader && slot < MAX_EVENTS && !err; slot++) {
		const struct reg_event *event = &cmd->leader->registry->event[slot];
		char *name __cleanup(free_ptr) = NULL;
		struct perf_event_attr attr;
		struct evsel *evsel;

		if (event->state != REG_READY || event->leader != (__u32)slot ||
		    event->nr_members != 1)
			continue;
		memcpy(&attr, event->key.bytes, sizeof(attr));
		attr.size = sizeof(attr);
		name = attr_text(&attr, cmd->pmus);
		evsel = name ? evsel__new(&attr, name) : NULL;
		if (!evsel) {
			err = -ENOMEM;
			break;
		}
		evsel->pmu = pmus__find_type(cmd->pmus, attr.type);
		if (evsel->pmu && evsel->pmu->cpus)
			evsel->own_cpus = cpumap__dup(evsel->pmu->cpus);
		err = evlist__add(evlist, evsel);
		if (err)
			evsel__delete(evsel);
	}
	leader__delete(cmd->leader);
	cmd->leader = NULL;
	attr_map__delete(cmd->attr_map);
	cmd->attr_map = NULL;
	return err;
}

/* The events, once; their twins are made of them. */
static int add_events(struct bperf_cmd *cmd, struct evlist *evlist)
{
	int err;

	if (cmd->events)
		return add_text(cmd, evlist, cmd->events);
	err = add_shared(cmd, evlist);
	if (err || evlist->nr)
		return err;
	return add_text(cmd, evlist, pmus__nr_core(cmd->pmus) ?
				     "cpu-clock,context-switches,cycles,instructions" :
				     "cpu-clock,context-switches");
}

static const char *const verdicts[] = {
	[VERDICT_AGREES] = "agree",
	[VERDICT_DIFFERS] = "DIFFER",
	[VERDICT_MULTIPLEXED] = "inconclusive: multiplexed",
	[VERDICT_OFFLINE] = "inconclusive: a CPU went offline",
	[VERDICT_UNSUPPORTED] = "not supported",
};

static int print_verified(const struct evlist *evlist, const struct verified *results)
{
	int nr_differ = 0, nr_agree = 0, nr = evlist->nr / 2;

	printf("%-32s %18s %18s %18s\n", "EVENT", "SHARED, INNER", "PLAIN", "SHARED, OUTER");
	for (int i = 0; i < nr; i++) {
		const struct verified *result = &results[i];

		if (result->verdict == VERDICT_UNSUPPORTED)
			printf("%-32s %18s %18s %18s  ", evlist->evsels[i]->name, "-", "-", "-");
		else
			printf("%-32s %18llu %18llu %18llu  ", evlist->evsels[i]->name,
			       result->inner, result->plain, result->outer);
		printf("%s", verdicts[result->verdict]);
		if (result->verdict == VERDICT_DIFFERS)
			printf(" on CPU %d", result->cpu);
		printf("\n");
		nr_differ += result->verdict == VERDICT_DIFFERS;
		nr_agree += result->verdict == VERDICT_AGREES;
	}
	printf("\ntolerance: on each CPU the plain count lies between the shared ones, give or take %g %%\n",
	       VERIFY_TOLERANCE * 100);
	if (nr_differ)
		printf("%d of %d events differ\n", nr_differ, nr);
	else if (nr_agree < nr)
		printf("inconclusive: %d of %d events agree, none differs\n", nr_agree, nr);
	else
		printf("all %d events agree\n", nr);
	return nr_differ ? STATUS_DIFFERS : nr_agree < nr ? STATUS_INCONCLUSIVE : 0;
}

static int verify_events(struct bperf_cmd *cmd, struct evlist *evlist)
{
	static const struct target target = { .system_wide = true };
	struct counter_plan plan = {
		.evlist = evlist,
		.target = &target,
		.attr_map_path = cmd->path,
		.trusted_owners = cmd->settings.trusted,
	};
	struct sigaction action = { .sa_handler = on_signal };
	struct verified *results __cleanup(free_ptr) = calloc(evlist->nr, sizeof(*results));

	if (!results)
		return STATUS_FAILED;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (verify(&plan, cmd->ms, &got_signal, results))
		return STATUS_FAILED;
	return print_verified(evlist, results);
}

static int verify_cmd(struct bperf_cmd *cmd)
{
	struct evlist *evlist = evlist__new();
	int status = STATUS_FAILED, half = 0, err = evlist ? 0 : -ENOMEM;

	if (!cmd->ms)
		cmd->ms = 1000;
	if (!err && !is_permitted()) {
		evlist__delete(evlist);
		return STATUS_FAILED;
	}
	if (!err)
		err = add_events(cmd, evlist);
	half = err ? 0 : evlist->nr;
	for (int i = 0; i < half && !err; i++) {
		const struct evsel *evsel = evlist->evsels[i];
		struct evsel *twin = evsel__new(&evsel->attr, evsel->name);

		if (evsel->tool != TOOL_NONE || !evsel__is_leader(evsel) || evsel->nr_members > 1) {
			pr_err("'%s': only events that stand alone and are the kernel's can be verified",
			       evsel->name);
			err = -EINVAL;
		}
		if (!err && !twin)
			err = -ENOMEM;
		if (!err) {
			twin->pmu = evsel->pmu;
			twin->own_cpus = evsel->own_cpus ? cpumap__dup(evsel->own_cpus) : NULL;
			err = evlist__add(evlist, twin);
			twin = err ? twin : NULL;
		}
		evsel__delete(twin);
	}
	if (!err)
		status = verify_events(cmd, evlist);
	else if (err == -EINVAL && cmd->events)
		status = OPTIONS_USAGE_STATUS;
	else if (err == -ENOMEM)
		pr_err("out of memory");
	evlist__delete(evlist);
	return status;
}

/* --- choosing --- */

static const struct {
	const char *name;
	int (*run)(struct bperf_cmd *cmd);
	const struct option_row *rows;
	const char *usage;
	const char *help;
} commands[] = {
	{ "list", list, list_rows, "perf bperf list [--bpf-attr-map <path>] [-j]",
	  "What is shared now, and by whom" },
	{ "prune", prune, prune_rows, "perf bperf prune [--bpf-attr-map <path>]",
	  "Remove what the dead have left" },
	{ "verify", verify_cmd, verify_rows,
	  "perf bperf verify [--bpf-attr-map <path>] [-e <events>] [--time <ms>]",
	  "Compare shared with plain counts" },
};

static int usage(void)
{
	pr_text("\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		pr_text(" %s %s\n", i ? "      " : "Usage:", commands[i].usage);
	pr_text("\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		pr_text("    %-10s %s\n", commands[i].name, commands[i].help);
	pr_text("\n See 'perf bperf COMMAND --help' for a command's options.\n\n");
	return OPTIONS_USAGE_STATUS;
}

static int run(size_t c, int argc, char **argv)
{
	struct bperf_cmd cmd = {};
	char *path __cleanup(free_ptr) = NULL;
	int first, status = STATUS_FAILED;

	if (config__load(&cmd.settings))
		goto out;
	cmd.path = cmd.settings.attr_map;
	first = options__parse(commands[c].rows, commands[c].usage, &cmd, argc, argv);
	if (first >= 0 && first < argc) {
		pr_err("%s takes no argument '%s'", commands[c].name, argv[first]);
		first = -OPTIONS_USAGE_STATUS;
	}
	status = -first;
	if (first < 0)
		goto out;
	status = STATUS_FAILED;
	msg__set_verbose(cmd.verbose);
	path = cmd.path ? strdup(cmd.path) : attr_map__path();
	cmd.path = path;
	cmd.pmus = pmus__new(sysfs_root());
	if (!path || !cmd.pmus)
		pr_err("%s", strerror(errno));
	else
		status = commands[c].run(&cmd);
out:
	leader__delete(cmd.leader);
	attr_map__delete(cmd.attr_map);
	pmus__delete(cmd.pmus);
	config__clear(&cmd.settings);
	return status;
}

int cmd_bperf(int argc, char **argv)
{
	int status;

	msg__init("perf bperf");
	/* All the while: events are found, opened and compared by whoever asks for it. */
	capability__raise();
	for (size_t c = 0; argc > 1 && c < ARRAY_SIZE(commands); c++) {
		if (strcmp(argv[1], commands[c].name))
			continue;
		status = run(c, argc - 1, argv + 1);
		if (got_signal) {
			signal(got_signal, SIG_DFL);
			raise(got_signal);
		}
		return status;
	}
	if (argc > 1 && strcmp(argv[1], "--help") && strcmp(argv[1], "-h"))
		pr_err("unknown command '%s'", argv[1]);
	return usage();
}
