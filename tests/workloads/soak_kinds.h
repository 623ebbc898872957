/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SOAK_KINDS_H
#define SOAK_KINDS_H

/* The kinds of sessions. Each has one function that makes up a session at random, runs and judges it. */

#include "soak_samples.h"

#include <dirent.h>
#include <sys/stat.h>

/* Choose pairs of events that one session counts plainly and shared, or only shared ones. */
static const char *choose_events(struct session *s, bool *all_is_shared)
{
	static const char *const pairs[] = {
		"page-faults:u,page-faults:ub",
		"page-faults:ub,cs:b,page-faults:u",
		"cpu-clock:b,page-faults:u,page-faults:ub",
		"{page-faults:ub,minor-faults:ub},page-faults:u",
	};

	*all_is_shared = chance(s->actor, 3) == 0;
	if (*all_is_shared)
		return "--bpf-counters";
	return pairs[chance(s->actor, COUNT_OF(pairs))];
}

static bool add_events(struct session *s)
{
	bool all_is_shared;
	const char *events = choose_events(s, &all_is_shared);

	add_words(s, "perf", "stat", "--bpf-attr-map", soak.map, "-x,", "-o", s->out, NULL);
	if (all_is_shared)
		add_word(s, events);
	add_words(s, "-e", all_is_shared ? "page-faults:u" : events, NULL);
	return all_is_shared;
}

static void command(struct session *s)
{
	bool all_is_shared = add_events(s);
	struct expected expected;

	if (chance(s->actor, 3) == 0)
		add_words(s, "-I", "10", NULL);
	expected = of_pages(add_command(s, !all_is_shared), all_is_shared);
	count_command(s);
	judge(s, "page-faults", all_is_shared, &expected);
}

/* Count repeats: the rows are means. */
static void repeated(struct session *s)
{
	bool all_is_shared = add_events(s);
	struct expected expected;

	add_words(s, "-r", "3", NULL);
	expected = of_pages(add_command(s, false), all_is_shared);
	s->expected_status = 0;
	s->argv[s->argc - 3] = "0";
	start(s);
	for (int i = 0; i < 6 && take_stamp(s, i ? &s->ended : &s->begun); i++) {
		if (i % 2 == 0)
			add_pid(s, i ? s->ended.pid : s->begun.pid);
	}
	end(s);
	judge(s, "page-faults", all_is_shared, &expected);
}

static void system_wide(struct session *s)
{
	bool all_is_shared = add_events(s);
	struct expected expected;

	add_words(s, chance(s->actor, 2) ? "-A" : "-a", "-a", NULL);
	expected = of_pages(add_command(s, false), false);
	expected.is_lower_bound = true;
	count_command(s);
	judge(s, "page-faults", all_is_shared, &expected);
}

/* Return: true if perf refused the session without the lock, as it cannot count programs privately. */
static bool is_refused(struct session *s)
{
	char text[1000];

	read_file(s->err, text, sizeof(text));
	if (!is_private(text) || !WIFEXITED(s->status) || WEXITSTATUS(s->status) != 1)
		return false;
	tally(SESSIONS);
	note_trouble(s);
	tally(PRIVATE);
	return true;
}

/* Run perf bperf verify. Status 3: not all events could be compared. */
static void verified(struct session *s)
{
	add_words(s, "perf", "bperf", "verify", "--bpf-attr-map", soak.map, "-e",
		  "page-faults,context-switches", "--time", "100", NULL);
	start(s);
	end(s);
	if (is_refused(s))
		return;
	tally(SESSIONS);
	note_trouble(s);
	if (WIFEXITED(s->status) && WEXITSTATUS(s->status) == 3)
		tally(SHORT);
	else if (came_to_its_end(s))
		tally(EXACT);
}

/* --- windows on the actor's servers --- */

static void of_servers(struct session *s, bool is_long)
{
	struct server *server = s->actor->server;
	bool all_is_shared = add_events(s), both = chance(s->actor, 2),
	     by_thread = chance(s->actor, 3) == 0;
	struct expected expected = {};
	long nr_works = 0, first;

	if (is_long || chance(s->actor, 3) == 0)
		add_words(s, "-I", "100", NULL);
	if (by_thread)
		add_word(s, "--per-thread");
	add_word(s, "-p");
	if (both)
		add_text(s, "%d,%d", server[0].pid, server[1].pid);
	else
		add_text(s, "%d", server[0].pid);
	add_pid(s, server[0].pid);
	if (both)
		add_pid(s, server[1].pid);
	add_control(s);
	count_windows(s, is_long, &nr_works);
	first = nr_works - nr_works / 2;
	expected.least = first * FIRST_FAULTS + (both ? nr_works / 2 * SERVER_PAGES : 0);
	expected.most = expected.least;
	judge(s, "page-faults", all_is_shared, &expected);
}

static void processes(struct session *s)
{
	of_servers(s, false);
}

/* Count cgroups. The first row of a pair is the upper cgroup. */
static void of_cgroups(struct session *s, bool is_long)
{
	const struct server *server = s->actor->server;
	struct expected expected = {.most = LONG_MAX, .sums = true};
	bool all_is_shared = add_events(s);
	long nr_works = 0;

	if (is_long || chance(s->actor, 2) == 0)
		add_words(s, "-I", "100", NULL);
	add_words(s, "-a", "--for-each-cgroup", NULL);
	if (chance(s->actor, 2))
		add_text(s, "%s/a%u,%s,%s", strrchr(soak.cgroups, '/') + 1, s->actor->nr,
			 server[0].cgroup, server[1].cgroup);
	else
		add_text(s, "^%s/a%u$,^%s/a%u/s", strrchr(soak.cgroups, '/') + 1, s->actor->nr,
			 strrchr(soak.cgroups, '/') + 1, s->actor->nr);
	add_pid(s, server[0].pid);
	add_pid(s, server[1].pid);
	add_control(s);
	count_windows(s, is_long, &nr_works);
	expected.least = nr_works * SERVER_PAGES;
	/* Plain perf events of a CPU that goes offline stay dead; shared ones are opened again. */
	expected.is_lower_bound = soak.has_hotplug;
	judge(s, "page-faults", all_is_shared, &expected);
}

static void cgroups(struct session *s)
{
	of_cgroups(s, false);
}

/* Count cgroups that come and go below one that also matches: its counts are the sum of theirs. */
static void new_cgroups(struct session *s)
{
	struct expected expected = {.sums = true, .is_from_birth = true, .most = LONG_MAX};
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/n%u", soak.cgroups, s->actor->nr);
	add_words(s, "perf", "stat", "--bpf-attr-map", soak.map, "-x,", "-o", s->out,
		  "--bpf-counters", "-e", "page-faults", "-a", "-I", "20", "--for-each-cgroup",
		  NULL);
	add_text(s, "^%s/n%u", strrchr(soak.cgroups, '/') + 1, s->actor->nr);
	add_words(s, "--", workload("cgroup_churn"), NULL);
	add_text(s, "%u", 1 + chance(s->actor, 30));
	add_words(s, "1000", NULL);
	add_text(s, "%s", dir);
	/* A process may have written one of its ten pages before it moved. */
	expected.least = 9 * atol(s->text[1]);
	mkdir(dir, 0755);
	s->comm = "cgroup_churn";
	start(s);
	end(s);
	judge(s, "page-faults", true, &expected);
	/* The command of a killed perf ends by itself. */
	for (int i = 0; i < 100 && rmdir(dir) && errno != ENOENT; i++) {
		char sub[400];

		for (int w = 0; w < 30; w++) {
			snprintf(sub, sizeof(sub), "%s/w%d", dir, w);
			rmdir(sub);
		}
		sleep_ms(20);
	}
}

/* --- BPF programs --- */

/* Load the actor's programs again: they are other programs then. */
static void load_progs(struct actor *actor)
{
	char path[600];
	struct dirent *entry;
	DIR *dir;
	pid_t pid;

	snprintf(actor->progs, sizeof(actor->progs), "%s_p%u", soak.map, actor->nr);
	dir = opendir(actor->progs);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", actor->progs, entry->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
	mkdir(actor->progs, 0700);
	pid = fork();
	if (!pid) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execl(workload("progload"), "progload", workload("targets.bpf.o"), actor->progs,
		      NULL);
		_exit(1);
	}
	reap(pid);
}

static void unload_progs(struct actor *actor)
{
	char command[700];

	if (!*actor->progs)
		return;
	snprintf(command, sizeof(command), "rm -rf %s", actor->progs);
	if (system(command))
		die("%s", command);
}

static void programs(struct session *s)
{
	unsigned times = 1 + chance(s->actor, 200);
	struct expected expected = {.least = times, .most = times};

	if (!*s->actor->progs || chance(s->actor, 5) == 0)
		load_progs(s->actor);
	add_words(s, "perf", "stat", "--bpf-attr-map", soak.map, "-x,", "-o", s->out, "-b", NULL);
	add_text(s, "pinned:%s/target_twin", s->actor->progs);
	add_words(s, "-e", "bpf_runs,page-faults", "--", workload("progrun"), NULL);
	add_text(s, "%s/target_twin", s->actor->progs);
	add_text(s, "%u", times);
	start(s);
	end(s);
	if (!is_refused(s))
		judge(s, "bpf_runs", true, &expected);
}

/* --- all --- */

static const struct kind {
	void (*run)(struct session *s);
	const bool *if_wanted; /* NULL: always */
} kinds[] = {
	{command, NULL},
	{command, NULL},
	{command, NULL},
	{repeated, NULL},
	{system_wide, NULL},
	{verified, NULL},
	{processes, NULL},
	{processes, NULL},
	{processes, NULL},
	{cgroups, NULL},
	{cgroups, NULL},
	{new_cgroups, NULL},
	{sampled_command, &soak.has_samples},
	{sampled_system, &soak.has_samples},
	{sampled_rates, &soak.has_samples},
	{sampled_processes, &soak.has_samples},
	{sampled_processes, &soak.has_samples},
	{sampled_cgroups, &soak.has_samples},
	{programs, &soak.has_progs},
};

static void begin_session(struct session *s, struct actor *actor)
{
	*s = (struct session){.actor = actor, .stop_ms = UINT_MAX, .go_ms = UINT_MAX};
	actor->nr_sessions++;
	snprintf(s->out, sizeof(s->out), "%s/out.%u", soak.dir, actor->nr);
	snprintf(s->err, sizeof(s->err), "%s/err.%u", soak.dir, actor->nr);
	unlink(s->out);
	if (pipe2(s->stamps, O_CLOEXEC))
		die("pipe");
}

static void run_session(struct actor *actor)
{
	const struct kind *kind;
	struct session session;

	do {
		kind = &kinds[chance(actor, COUNT_OF(kinds))];
	} while (kind->if_wanted && !*kind->if_wanted);
	begin_session(&session, actor);
	choose_trouble(&session);
	kind->run(&session);
}

/* Sessions that last a round. */
static void (*const long_kinds[])(struct session *s, bool is_long) = {
	of_servers, of_cgroups, sample_servers, /* the last one: only if wanted */
};

static void run_long_session(struct actor *actor, unsigned kind)
{
	struct session session;

	begin_session(&session, actor);
	long_kinds[kind](&session, true);
}

#endif
