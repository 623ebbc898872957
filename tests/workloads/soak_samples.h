/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SOAK_SAMPLES_H
#define SOAK_SAMPLES_H

/*
 * Sessions that sample (perf profile). With a period of 1, each page fault is a sample: those of a process are its
 * faults, but for the losses that the session reports.
 */
#include "soak_command.h"

/* The output of a sampling session: JSON, with an account of each interval. */
struct samples {
	long wanted;	/* samples of the session's processes */
	long rows;	/* of all rows */
	long kept;	/* the same, by the account */
	long lost;	/* samples that the account reports as lost */
	double weight;	/* of samples of all kinds and of losses */
	double begun;	/* weight of periods that were under way */
	double counted; /* the event's own count */
	bool is_gone;	/* a part of the count or its time is unknown */
	int nr_accounts;
};

/* Return: the number behind this name, or 0. */
static double member(const char *line, const char *name)
{
	char text[64];
	const char *at;

	snprintf(text, sizeof(text), "\"%s\": ", name);
	at = strstr(line, text);
	return at ? strtod(at + strlen(text), NULL) : 0;
}

/* Return: a member of the object of this name. */
static double member_of(const char *line, const char *object, const char *name)
{
	char text[64];
	const char *at;

	snprintf(text, sizeof(text), "\"%s\": {", object);
	at = strstr(line, text);
	return at ? member(at, name) : 0;
}

static void add_account(struct samples *samples, const char *line)
{
	static const char *const losses[] = {"table", "late", "blind", "throttle"};
	static const char *const left_out[] = {"idle", "mode", "other", "elsewhere"};

	samples->nr_accounts++;
	samples->kept += member_of(line, "account", "samples");
	samples->weight += member_of(line, "account", "weight");
	samples->begun += member(line, "thinned");
	samples->counted += member(line, "counted");
	samples->is_gone |=
		member(line, "unseen") || member(line, "absent_ns") || member(line, "failed_reads");
	for (size_t i = 0; i < COUNT_OF(left_out); i++)
		samples->weight += member_of(line, left_out[i], "weight");
	for (size_t i = 0; i < COUNT_OF(losses); i++) {
		samples->weight += member_of(line, losses[i], "weight");
		samples->lost += member_of(line, losses[i], "samples");
	}
	/* An estimate of what is others' */
	samples->lost += member_of(line, "elsewhere", "samples");
	/* The rest of a report's count. Faults have no timer: the kernel counted them, and took no sample. */
	samples->lost += member_of(line, "timer", "samples");
}

static bool has_pid(const struct session *s, pid_t pid)
{
	for (int i = 0; i < s->nr_pids; i++) {
		if (s->pids[i] == pid)
			return true;
	}
	return false;
}

static void read_samples(const struct session *s, struct samples *samples)
{
	FILE *file = fopen(s->out, "re");
	char *line = NULL;
	size_t size = 0;

	memset(samples, 0, sizeof(*samples));
	while (file && getline(&line, &size, file) > 0) {
		long nr = member(line, "samples");

		if (strstr(line, "\"account\": {")) {
			add_account(samples, line);
			continue;
		}
		samples->rows += nr;
		if (has_pid(s, member(line, "pid")))
			samples->wanted += nr;
	}
	free(line);
	if (file)
		fclose(file);
}

/*
 * Return: whether samples of all kinds and losses are the count. On each CPU, the first period may have begun before
 * the session, and the last one is under way. An event of the session's own has one on each CPU for each task,
 * and its reports have these, and late timers, more than once.
 */
static bool adds_up(const struct session *s, const struct samples *samples, long period,
		    bool is_own)
{
	double slack = 2.0 * period * sysconf(_SC_NPROCESSORS_CONF);
	double more = samples->weight + (is_own ? 0 : samples->begun) - samples->counted;
	char why[100];

	if (more <= slack && (is_own || more >= -slack))
		return true;
	snprintf(why, sizeof(why), "its samples and losses are %.0f of %.0f",
		 samples->counted + more, samples->counted);
	condemn(s, why);
	return false;
}

/*
 * @period: that was asked for
 * @expected: samples of the session's processes; NULL: any
 */
static void judge_samples(const struct session *s, long period, const struct expected *expected)
{
	struct samples samples;
	char text[4000];
	bool is_short;

	tally(SESSIONS);
	tally(SAMPLED);
	note_trouble(s);
	if (!came_to_its_end(s))
		return;
	read_messages(s, text, sizeof(text));
	if (is_private(text))
		tally(PRIVATE);
	read_samples(s, &samples);
	if (!samples.nr_accounts) {
		condemn(s, "no account");
		return;
	}
	if (samples.rows != samples.kept) {
		condemn(s, "its rows are not the samples of its account");
		return;
	}
	if (!adds_up(s, &samples, period, is_private(text)))
		return;
	if (!expected) {
		tally(EXACT);
		return;
	}
	is_short = samples.lost || samples.is_gone;
	if (expected->is_from_birth && is_private(text))
		tally(SHORT);
	else if (is_short && samples.wanted < expected->least &&
		 (samples.is_gone || samples.wanted >= expected->least - samples.lost))
		tally(SHORT);
	else if (is_exact(s, samples.wanted, expected->least, expected->most))
		tally(EXACT);
}

/* --- kinds --- */

/* Sample each fault. Rows tell processes apart, and sometimes more. */
static void add_sampling(struct session *s)
{
	static const char *const keys[] = {"pid", "pid,cpu", "pid,tid,comm", "pid,ip", "pid,sym"};

	s->prints_counts = true;
	add_words(s, "perf", "profile", "--bpf-attr-map", soak.map, "-j", "-e", "page-faults:u",
		  "-c", "1", "-s", keys[chance(s->actor, COUNT_OF(keys))], NULL);
	if (chance(s->actor, 3) == 0)
		add_words(s, "-I", "50", NULL);
}

static void sampled_command(struct session *s)
{
	struct expected expected;
	long pages;

	add_sampling(s);
	pages = add_command(s, false);
	expected = of_pages(pages, true);
	count_command(s);
	judge_samples(s, 1, &expected);
}

/* The faults of the process that becomes the command are also those before its exec. */
static void sampled_system(struct session *s)
{
	struct expected expected;

	add_sampling(s);
	add_word(s, "-a");
	expected = of_pages(add_command(s, false), false);
	count_command(s);
	judge_samples(s, 1, &expected);
}

/* Sample all CPUs by a clock, or at a period that others may make shorter: only the account is known. */
static void sampled_rates(struct session *s)
{
	static const struct {
		const char *event, *option, *rate;
		long period;
	} rates[] = {
		{"cpu-clock", "-F", "499", 1000000000 / 499},
		{"cpu-clock", "-F", "1999", 1000000000 / 1999},
		{"task-clock", "-c", "1000003", 1000003},
		{"page-faults:u", "-c", "7", 7},
		{"cpu-clock,page-faults:u", "-c", "100003", 100003},
	};
	unsigned i = chance(s->actor, COUNT_OF(rates));

	s->prints_counts = true;
	add_words(s, "perf", "profile", "--bpf-attr-map", soak.map, "-j", "-a", "-e",
		  rates[i].event, rates[i].option, rates[i].rate,
		  chance(s->actor, 2) ? "--ip" : "--stacks", NULL);
	add_command(s, true);
	count_command(s);
	judge_samples(s, rates[i].period, NULL);
}

/* --- windows on the actor's servers --- */

/* @expected: what is special about it */
static void sample_windows(struct session *s, bool both, bool is_long, struct expected expected)
{
	struct server *server = s->actor->server;
	long nr_works = 0;

	add_pid(s, server[0].pid);
	if (both)
		add_pid(s, server[1].pid);
	add_control(s);
	count_windows(s, is_long, &nr_works);
	expected.least =
		(nr_works - nr_works / 2) * FIRST_FAULTS + (both ? nr_works / 2 * SERVER_PAGES : 0);
	expected.most = expected.least;
	judge_samples(s, 1, &expected);
}

static void sample_servers(struct session *s, bool is_long)
{
	struct server *server = s->actor->server;
	bool both = chance(s->actor, 2);

	add_sampling(s);
	add_word(s, "-p");
	if (both)
		add_text(s, "%d,%d", server[0].pid, server[1].pid);
	else
		add_text(s, "%d", server[0].pid);
	sample_windows(s, both, is_long, (struct expected){});
}

static void sampled_processes(struct session *s)
{
	sample_servers(s, false);
}

static void sampled_cgroups(struct session *s)
{
	struct server *server = s->actor->server;
	bool both = chance(s->actor, 2);

	add_sampling(s);
	add_words(s, "-a", chance(s->actor, 2) ? "--for-each-cgroup" : "-G", NULL);
	if (both)
		add_text(s, "%s,%s", server[0].cgroup, server[1].cgroup);
	else
		add_text(s, "%s", server[0].cgroup);
	/* Events of one's own count from the next switch between cgroups on. */
	sample_windows(s, both, false, (struct expected){.is_from_birth = true});
}

#endif
