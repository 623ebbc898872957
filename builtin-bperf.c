// SPDX-License-Identifier: GPL-2.0
/* perf bperf: what is shared, for administrators. */
#include "builtin.h"

#include "bpf_skel/leader.h"
#include "util/attr_map.h"
#include "util/capability.h"
#include "util/config.h"
#include "util/event_tables.h"
#include "util/leader.h"
#include "util/msg.h"
#include "util/options.h"
#include "util/registry.h"
#include "util/util.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#define STATUS_FAILED 1

static const char usage[] = "perf bperf list [--bpf-attr-map <path>]";

struct bperf_cmd {
	const char *path;
	struct config settings;
};

static const struct option_row rows[] = {
	{ 0, "bpf-attr-map", OPT_STRING, offsetof(struct bperf_cmd, path), .arg = "path",
	  .help = "where the map of shared events is pinned" },
	{},
};

/* The generic name of an attr, as far as there is one. */
static char *base_name(const struct perf_event_attr *attr)
{
	const struct event_name *table = attr->type == PERF_TYPE_HARDWARE ? hw_events :
					 attr->type == PERF_TYPE_SOFTWARE ? sw_events : NULL;
	char name[CACHE_NAME_MAX];
	uint64_t config;
	int pos = 0;

	for (; table && table->name; table++) {
		if (table->config == attr->config)
			return strdup(table->name);
	}
	while (attr->type == PERF_TYPE_HW_CACHE && cache_event__next(&pos, name, &config)) {
		if (config == attr->config)
			return strdup(name);
	}
	if (attr->type == PERF_TYPE_RAW)
		return xasprintf("r%llx", attr->config);
	return xasprintf("%u:0x%llx", attr->type, attr->config);
}

static char *event_text(const struct attr_key *key)
{
	struct perf_event_attr attr;
	char *base __cleanup(free_ptr) = NULL;
	char mods[16], *m = mods;

	memcpy(&attr, key->bytes, sizeof(attr));
	base = base_name(&attr);
	*m++ = ':';
	if (attr.exclude_user || attr.exclude_kernel) {
		if (!attr.exclude_user)
			*m++ = 'u';
		if (!attr.exclude_kernel)
			*m++ = 'k';
		if (!attr.exclude_hv)
			*m++ = 'h';
	}
	if (attr.exclude_host)
		*m++ = 'G';
	if (attr.exclude_guest)
		*m++ = 'H';
	if (attr.exclude_idle)
		*m++ = 'I';
	for (unsigned int p = 0; p < attr.precise_ip; p++)
		*m++ = 'p';
	if (attr.pinned)
		*m++ = 'D';
	if (attr.exclusive)
		*m++ = 'e';
	*m = '\0';
	return base ? xasprintf("%s%s", base, mods[1] ? mods : "") : NULL;
}

static int nr_users(const struct reg_event *event)
{
	int nr = 0;

	for (int w = 0; w < MAX_RUNS / 64; w++)
		nr += __builtin_popcountll(event->users[w]);
	return nr;
}

static void print_leader(const struct leader *leader)
{
	const struct registry *reg = leader->registry;
	uint64_t now_ns = clock_ns();
	int nr_perf_events = 0, nr_events = 0;

	printf("%-8s %-16s %10s\n", "PID", "COMMAND", "SECONDS");
	for (int i = 0; i < MAX_RUNS; i++) {
		const struct reg_run *run = &reg->run[i];

		if (run->token)
			printf("%-8u %-16.16s %10.1f\n", run->pid, run->comm,
			       (now_ns - run->start_ns) / 1e9);
	}
	printf("\n%-32s %6s %12s\n", "EVENT", "RUNS", "PERF EVENTS");
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		const struct reg_event *event = &reg->event[slot];
		const struct reg_event *first = &reg->event[event->leader % MAX_EVENTS];
		char *text __cleanup(free_ptr) = NULL;

		if (event->state != REG_READY)
			continue;
		text = event_text(&event->key);
		/* Members of a group stand together, as in {a,b}. */
		printf("%s%-*s %6d %12u\n", first->nr_members > 1 ? first == event ? "{" : " " : "",
		       first->nr_members > 1 ? 31 : 32, text ? text : "?", nr_users(first),
		       event->nr_open);
		nr_events++;
		nr_perf_events += event->nr_open;
	}
	printf("\n%d runs share %d perf events for %d events\n", registry__nr_runs(reg),
	       nr_perf_events, nr_events);
}

static int list(const struct bperf_cmd *cmd)
{
	char *path __cleanup(free_ptr) = cmd->path ? strdup(cmd->path) : attr_map__path();
	char *missing __cleanup(free_ptr) = NULL;
	struct attr_map *attr_map = NULL;
	struct leader *leader = NULL;
	int err;

	if (!path)
		return STATUS_FAILED;
	if (access(path, F_OK) && errno == ENOENT) {
		printf("no events are shared: there is no %s\n", path);
		return 0;
	}
	missing = capability__missing_to_share();
	if (missing) {
		pr_err("not permitted: lacks %s (run as root)", missing);
		return STATUS_FAILED;
	}
	err = attr_map__lock(path, cmd->settings.trusted, &attr_map);
	if (!err) {
		err = leader__find(attr_map, &leader);
		if (err)
			pr_err("cannot look for the leader: %s%s", strerror(-err),
			       err == -EPERM ? " (needs CAP_SYS_ADMIN: run as root)" : "");
	}
	if (!err && !leader)
		printf("no events are shared through %s\n", path);
	if (leader) {
		leader__repair(leader);
		print_leader(leader);
	}
	leader__delete(leader);
	attr_map__delete(attr_map);
	return err ? STATUS_FAILED : 0;
}

int cmd_bperf(int argc, char **argv)
{
	struct bperf_cmd cmd = {};
	int first, status = STATUS_FAILED;

	msg__init("perf bperf");
	if (argc < 2 || strcmp(argv[1], "list")) {
		if (argc >= 2 && strcmp(argv[1], "--help") && strcmp(argv[1], "-h"))
			pr_err("unknown command '%s'", argv[1]);
		options__usage(rows, usage);
		return OPTIONS_USAGE_STATUS;
	}
	if (config__load(&cmd.settings))
		goto out;
	cmd.path = cmd.settings.attr_map;
	first = options__parse(rows, usage, &cmd, argc - 1, argv + 1);
	if (first >= 0 && first < argc - 1) {
		pr_err("list takes no argument '%s'", argv[1 + first]);
		first = -OPTIONS_USAGE_STATUS;
	}
	status = first < 0 ? -first : list(&cmd);
out:
	config__clear(&cmd.settings);
	return status;
}
