// SPDX-License-Identifier: GPL-2.0
#include "util/run/control_cmds.h"

#include "util/counter/counter.h"
#include "util/event/evlist.h"
#include "util/host/perf_event.h"
#include "util/host/perf_event_print.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/run/cgroups.h"
#include "util/run/control.h"
#include "util/run/interval.h"
#include "util/run/pass.h"

#include <string.h>

/* -D -1 with --control also prints an interval at each change. */
static int print_at_change(struct stat_pass *pass)
{
	const struct stat_run *run = pass->run;

	return run->delay_ms < 0 && run->config.options.interval_ms ?
		       stat_pass__print_interval(pass) :
		       0;
}

/* Times and intervals start at the end of a delay (-D MS). */
static int begin(struct stat_pass *pass)
{
	if (pass->enable_at_ns)
		stat_pass__start_clock(pass);
	pass->enable_at_ns = 0;
	return pass->stays_disabled ? 0 : stat_pass__enable(pass);
}

int stat_pass__end_delay(struct stat_pass *pass)
{
	return pass->stays_disabled ? begin(pass) : stat_pass__set_enabled(pass, true);
}

/* Always apply: individual events may have been toggled. */
int stat_pass__set_enabled(struct stat_pass *pass, bool is_enabled)
{
	bool is_change = pass->is_enabled != is_enabled;
	int err;

	pass->stays_disabled = !is_enabled;
	if (is_change)
		stat_pass__add_last_cgroups(pass, is_enabled);
	err = is_enabled ? begin(pass) : stat_pass__disable(pass);
	pr_note("Events %s\n", is_enabled ? "enabled" : "disabled");
	return is_change && !err ? print_at_change(pass) : err;
}

static bool is_named(const struct evsel *evsel, const char *name)
{
	return !evsel->hidden && !strcmp(evsel->name, name);
}

/* Toggle all events of that name. */
static int set_events(struct stat_pass *pass, const char *name, bool counts)
{
	bool is_any = false;
	struct evsel *evsel;
	int i, err = 0;

	evlist__for_each(pass->run->plan.evlist, evsel, i) {
		if (err || !is_named(evsel, name) || !evsel->counter)
			continue;
		is_any = true;
		if (counts)
			stat_pass__note_begin(pass);
		err = evsel->counter->ops->set_event(evsel->counter, evsel, counts);
	}
	if (!is_any) {
		pr_err("--control: '%s': no event of that name is counted (evlist lists them)",
		       name);
		return err;
	}
	pr_note("Event %s %s\n", name, counts ? "enabled" : "disabled");
	return err ? err : print_at_change(pass);
}

static int set(struct stat_pass *pass, const char *name, bool counts)
{
	return name ? set_events(pass, name, counts) : stat_pass__set_enabled(pass, counts);
}

static void list_groups(const struct evlist *list)
{
	for (int i = 0; i < list->nr; i++) {
		const struct evsel *leader = list->evsels[i];

		if (leader->hidden || !evsel__is_leader(leader))
			continue;
		if (leader->nr_members < 2) {
			pr_text("%s\n", leader->name);
			continue;
		}
		pr_text("%s{", leader->group_name ? leader->group_name : "");
		for (int m = i; m < i + leader->nr_members; m++)
			pr_text("%s%s", m > i ? "," : "", list->evsels[m]->name);
		pr_text("}\n");
	}
}

/* @what: "-g", "-F", "-v"; NULL: names */
static void list_events(const struct evlist *list, const char *what)
{
	char letter = !what ? 'n' : what[0] == '-' && what[1] && !what[2] ? what[1] : '?';
	struct evsel *evsel;
	int i;

	if (!strchr("ngFv", letter)) {
		pr_err("--control: evlist: '%s' is none of -g, -F, -v", what);
		return;
	}
	if (letter == 'g') {
		list_groups(list);
		return;
	}
	evlist__for_each(list, evsel, i) {
		if (evsel->hidden)
			continue;
		pr_text("%s", evsel->name);
		/* perf stat never samples. */
		if (letter == 'F')
			pr_text(": sample_period=0");
		if (letter == 'v')
			perf_event__print_attr(&evsel->attr);
		pr_text("\n");
	}
}

int stat_pass__obey(struct stat_pass *pass)
{
	struct stat_run *run = pass->run;
	struct control *control = run->control;
	enum control_command command;
	int err = 0;

	while (!err && control && (command = control__next(control)) != CONTROL_NONE) {
		switch (command) {
		case CONTROL_ENABLE:
		case CONTROL_DISABLE:
			err = set(pass, control->arg, command == CONTROL_ENABLE);
			break;
		case CONTROL_EVLIST:
			list_events(run->plan.evlist, control->arg);
			break;
		case CONTROL_STOP:
			pass->is_over = true;
			break;
		case CONTROL_PING:
			break;
		case CONTROL_UNKNOWN:
		case CONTROL_NONE:
			continue;
		}
		control__ack(control);
	}
	return err;
}
