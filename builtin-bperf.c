// SPDX-License-Identifier: GPL-2.0
/* perf bperf: list, clean up and verify shared events. */
#include "builtin.h"

#include "util/bperf/attr_entries.h"
#include "util/bperf/attr_map.h"
#include "util/bperf/foreign_pins.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_find.h"
#include "util/bperf/registry.h"
#include "util/bperf/session.h"
#include "util/bperf/snapshot.h"
#include "util/cmd/bperf_print.h"
#include "util/counter/counter.h"
#include "util/counter/verify.h"
#include "util/event/attr_text.h"
#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/event/pmu.h"
#include "util/host/capability.h"
#include "util/host/config.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/parse_options.h"
#include "util/lib/printable.h"
#include "util/lib/program.h"
#include "util/lib/util.h"
#include "util/target/target.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define STATUS_FAILED	    1
#define STATUS_DIFFERS	    2
#define STATUS_INCONCLUSIVE 3

struct bperf_cmd {
	const char *path;
	const char *events;
	unsigned int ms;
	bool json;
	int verbose;
	struct config settings;
	struct pmus *pmus;
	struct attr_map *attr_map;   /* opened by open_shared() */
	struct bperf_leader *leader; /* NULL if there is none */
};

#define AT(field) offsetof(struct bperf_cmd, field)
#define PATH_ROW                                                                                   \
	{                                                                                          \
		0, "bpf-attr-map", OPT_STRING, AT(path),                                           \
			.arg = "path", .help = "where the map of shared events is pinned"          \
	}
#define VERBOSE_ROW                                                                                \
	{                                                                                          \
		'v', "verbose", OPT_COUNT, AT(verbose),                                            \
			.help = "print more messages; repeat for more"                             \
	}

static const struct option_row list_rows[] = {
	PATH_ROW,
	{'j', "json-output", OPT_FLAG, AT(json), .help = "print JSON"},
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
	{'e', "event", OPT_STRING, AT(events), .arg = "events",
	 .help = "events to compare (default: those that are shared now)"},
	{0, "time", OPT_UINT, AT(ms), .arg = "ms", .help = "how long to count (default: 1000)"},
	VERBOSE_ROW,
	{},
};

static volatile sig_atomic_t got_signal;

static void on_signal(int sig)
{
	got_signal = sig;
}

/* --- common to all commands --- */

/* Return: true if the process may share. Otherwise print what it lacks. */
static bool is_permitted(void)
{
	char *missing __cleanup(free_ptr) = capability__missing_to_share();

	if (missing)
		pr_err("not permitted: lacks %s (run as root)", missing);
	return !missing;
}

/*
 * Open the map, and lock it; a command that only looks goes on when the lock is not had in time.
 * Return: 0; 1 if there is no map; -errno after a message.
 */
static int open_shared(struct bperf_cmd *cmd, bool only_looks)
{
	const uid_t *trusted = cmd->settings.trusted;
	int err;

	if (*cmd->path && access(cmd->path, F_OK) && errno == ENOENT)
		return 1;
	if (!is_permitted())
		return -EPERM;
	/* The capabilities stay raised: the whole command looks up objects by their ids. */
	capability__raise();
	err = attr_map__open(
		cmd->path, trusted,
		only_looks ? "listed without it, so the list may be of a moment in between" :
			     "nothing can be read or changed",
		&cmd->attr_map);
	/* Mapping the leader's memory takes too long for the lock. */
	if (!err)
		cmd->leader = leader_find__look(cmd->attr_map);
	if (!err)
		err = attr_map__lock(cmd->attr_map);
	if (err == -ETIMEDOUT && only_looks)
		return 0;
	if (err && err != -EINTR && err != -ETIMEDOUT && !msg__nr_errors())
		pr_err("cannot lock %s: %s", cmd->path, strerror(-err));
	return err;
}

static int find_leader(struct bperf_cmd *cmd)
{
	int err;

	if (cmd->leader && leader_find__is_current(cmd->leader))
		return 0;
	bperf_leader__delete(cmd->leader);
	err = leader_find__serving(cmd->attr_map, &cmd->leader);
	if (err)
		pr_err("cannot look for the leader: %s%s", strerror(-err),
		       err == -EPERM ? " (needs CAP_SYS_ADMIN: run as root)" : "");
	return err;
}

static void print_path(const char *before, const char *path)
{
	fputs(before, stdout);
	printable__put(stdout, 0, path);
	putchar('\n');
}

/* --- list --- */

static int collect(struct bperf_cmd *cmd, struct snapshot *list)
{
	const bool has_lock = cmd->attr_map->lock.is_held;
	int err = find_leader(cmd);

	attr_map__unlock(cmd->attr_map);
	if (!err && !cmd->leader && has_lock)
		foreign_pins__remove_unused(cmd->attr_map, true);
	if (!err && has_lock)
		(void)attr_entries__drop_gone(cmd->attr_map, false);
	/* The list shows what this could not remove, and removes nothing without the lock. */
	if (!err && cmd->leader && has_lock)
		(void)session__clean_up(cmd->leader, false);
	if (!err)
		err = snapshot__pins(list, cmd->attr_map);
	if (!err)
		err = snapshot__entries(list, cmd->attr_map, cmd->leader);
	if (!err && cmd->leader)
		err = snapshot__copy(list, cmd->leader);
	if (!err && cmd->leader)
		err = snapshot__sample(list, cmd->leader);
	if (!err)
		snapshot__find_users(list);
	return err;
}

static int list(struct bperf_cmd *cmd)
{
	struct snapshot shared = {};
	int err = open_shared(cmd, true);

	if (err > 0 && !cmd->json) {
		print_path("no events are shared: there is no ", cmd->path);
		return 0;
	}
	if (err < 0)
		return STATUS_FAILED;
	if (!err) {
		err = collect(cmd, &shared);
		if (err && !msg__nr_errors())
			pr_err("cannot list what is shared: %s", strerror(-err));
	}
	if (err >= 0 && cmd->json)
		err = bperf_print__json(&shared, cmd->path, cmd->pmus);
	else if (!err)
		bperf_print__text(&shared, cmd->path, cmd->pmus);
	snapshot__clear(&shared);
	return err ? STATUS_FAILED : 0;
}

/* --- prune --- */

/* An entry is dead if its link is gone, or is no leader's: its number was used again. */
static bool is_dead(void *ctx, const struct attr_map_value *value)
{
	const struct bperf_cmd *cmd = ctx;
	__u32 prog_id;

	return shared_entry__kind(value, cmd->leader, &prog_id) == ENTRY_DEAD;
}

static int prune_entries(struct bperf_cmd *cmd, int *nr_removed)
{
	struct attr_entries entries __cleanup(attr_entries__clear) = {};
	int err = attr_entries__read(&entries, cmd->attr_map);

	*nr_removed = 0;
	return err ? err :
		     attr_entries__drop(&entries, cmd->attr_map, is_dead, cmd, true, nr_removed);
}

static int nr_pinned(const struct bperf_cmd *cmd)
{
	struct foreign_pin *pins __cleanup(free_ptr) = NULL;
	int nr = foreign_pins__list(cmd->attr_map, &pins);

	return nr < 0 ? 0 : nr;
}

static int prune(struct bperf_cmd *cmd)
{
	int nr_entries, nr_sessions = 0, nr_pins, err;

	err = open_shared(cmd, false);
	if (err > 0)
		print_path("nothing to remove: there is no ", cmd->path);
	if (err)
		return err < 0 ? STATUS_FAILED : 0;
	err = find_leader(cmd);
	attr_map__unlock(cmd->attr_map);
	if (err)
		return STATUS_FAILED;
	nr_pins = nr_pinned(cmd);
	attr_map__expect(cmd->attr_map, "further dead entries stay");
	err = prune_entries(cmd, &nr_entries);
	if (err) {
		if (err != -EINTR && err != -ETIMEDOUT && !msg__nr_errors())
			pr_err("cannot prune %s: %s", cmd->path, strerror(-err));
		return STATUS_FAILED;
	}
	if (cmd->leader) {
		nr_sessions = registry__nr_sessions(bperf_leader__registry(cmd->leader));
		attr_map__expect(cmd->attr_map, "what dead sessions left stays");
		err = session__clean_up(cmd->leader, true);
		nr_sessions -= registry__nr_sessions(bperf_leader__registry(cmd->leader));
	} else {
		foreign_pins__remove_unused(cmd->attr_map, true);
	}
	attr_map__warn_protocol(cmd->attr_map);
	nr_pins -= nr_pinned(cmd);
	printf("removed: %d dead entries, %d dead sessions", nr_entries, nr_sessions);
	if (nr_pins > 0)
		printf(", %d pinned leaders", nr_pins);
	putchar('\n');
	return 0;
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

/* Add the events that are shared now, without groups: single events do not share with their members. */
static int add_shared(struct bperf_cmd *cmd, struct evlist *evlist)
{
	int err = open_shared(cmd, false);

	if (err)
		return err < 0 ? err : 0;
	err = find_leader(cmd);
	for (int slot = 0; cmd->leader && slot < MAX_EVENTS && !err; slot++) {
		const struct reg_event *event = &bperf_leader__registry(cmd->leader)->event[slot];
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
	bperf_leader__delete(cmd->leader);
	cmd->leader = NULL;
	attr_map__delete(cmd->attr_map);
	cmd->attr_map = NULL;
	return err;
}

/* Add each event once. verify_cmd() makes the twins from them. */
static int add_events(struct bperf_cmd *cmd, struct evlist *evlist)
{
	int err;

	if (cmd->events)
		return add_text(cmd, evlist, cmd->events);
	err = add_shared(cmd, evlist);
	if (err || evlist->nr)
		return err;
	return add_text(cmd, evlist,
			pmus__nr_core(cmd->pmus) ?
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

		printable__put(stdout, -32, evlist->evsels[i]->name);
		if (result->verdict == VERDICT_UNSUPPORTED)
			printf(" %18s %18s %18s  ", "-", "-", "-");
		else
			printf(" %18llu %18llu %18llu  ", result->inner, result->plain,
			       result->outer);
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
	static const struct target target = {.system_wide = true};
	struct counter_plan plan = {
		.evlist = evlist,
		.target = &target,
		.otherwise = "nothing can be compared",
		.attr_map_path = cmd->path,
		.trusted_owners = cmd->settings.trusted,
	};
	struct sigaction action = {.sa_handler = on_signal};
	struct verified *results __cleanup(free_ptr) = calloc(evlist->nr, sizeof(*results));
	int err;

	if (!results)
		return STATUS_FAILED;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	err = verify(&plan, cmd->ms, &got_signal, results);
	if (!err)
		return print_verified(evlist, results);
	/* A callee has already printed a more precise message, or a warning that nothing can be shared. */
	if (err != -EINTR && err != COUNT_OTHERWISE && !msg__nr_errors())
		pr_err("nothing can be compared: %s", strerror(-err));
	return STATUS_FAILED;
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
	{"list", list, list_rows, "perf bperf list [--bpf-attr-map <path>] [-j]",
	 "List what is shared now, and by which sessions"},
	{"prune", prune, prune_rows, "perf bperf prune [--bpf-attr-map <path>]",
	 "Remove what dead sessions have left"},
	{"verify", verify_cmd, verify_rows,
	 "perf bperf verify [--bpf-attr-map <path>] [-e <events>] [--time <ms>]",
	 "Compare shared with plain counts"},
};

static int usage(void)
{
	pr_text("\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		char *line __cleanup(free_ptr) = program__rename(commands[i].usage);

		pr_text(" %s %s\n", i ? "      " : "Usage:", line ? line : "");
	}
	pr_text("\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		pr_text("    %-10s %s\n", commands[i].name, commands[i].help);
	pr_text("\n See '%s bperf COMMAND --help' for a command's options.\n\n", program__name());
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
	first = parse_options__parse(commands[c].rows, commands[c].usage, &cmd, argc, argv);
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
	bperf_leader__delete(cmd.leader);
	attr_map__delete(cmd.attr_map);
	pmus__delete(cmd.pmus);
	config__clear(&cmd.settings);
	return status;
}

static void report_unknown(const char *name)
{
	const char *names[ARRAY_SIZE(commands) + 1] = {}, *near;

	for (size_t c = 0; c < ARRAY_SIZE(commands); c++)
		names[c] = commands[c].name;
	near = nearest_name(name, names);
	if (near)
		pr_err("unknown command '%s': did you mean '%s'?", name, near);
	else
		pr_err("unknown command '%s'", name);
}

int cmd_bperf(int argc, char **argv)
{
	int status;

	msg__init("perf bperf");
	/* The capabilities stay raised: all parts of the command find, open or compare events. */
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
		report_unknown(argv[1]);
	return usage();
}
