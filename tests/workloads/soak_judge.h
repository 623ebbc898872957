/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SOAK_JUDGE_H
#define SOAK_JUDGE_H

/* Judge a session by its exit status, its messages, and its counts. */

#include "soak_session.h"

#define MAX_ROWS 64

/* The counts of one target in all intervals; -1 for none. */
struct row {
	char name[160];
	long plain, shared;
};

struct rows {
	struct row row[MAX_ROWS];
	int nr;
	bool is_partial; /* not counted all the time */
};

/* The counts that a session should have of its target. */
struct expected {
	long least, most;    /* if there is no plain count to compare with */
	bool is_lower_bound; /* others are also counted: plain and shared need not agree */
	bool is_from_birth;  /* for cgroups that come: private perf events cannot count them */
	bool sums;	     /* the row with the shortest name is the sum of all others */
};

static const char *const short_words[] = {
	"counts may be short",	       "counts are short", "were missed", "went unseen",
	"new cgroups were found late",
};

static bool says(const char *text, const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (strstr(text, words[i]))
			return true;
	}
	return false;
}

/* Return: true if the session reports that it did not get the lock, with the consequence. */
static bool is_private(const char *text)
{
	static const char *const words[] = {
		"events of this session's own",
		"BPF programs cannot be counted",
		"nothing can be compared",
	};

	return says(text, words, COUNT_OF(words));
}

/* Messages of a session, without its answers to --control: a long one has thousands of these. */
static void read_messages(const struct session *s, char *text, size_t size)
{
	FILE *file = fopen(s->err, "re");
	char line[600];
	size_t len = 0;

	*text = '\0';
	while (file && fgets(line, sizeof(line), file) && len + 1 < size) {
		if (strcmp(line, "Events enabled\n") && strcmp(line, "Events disabled\n"))
			len += snprintf(text + len, size - len, "%s", line);
	}
	if (file)
		fclose(file);
}

/* Perf events of one's own on a CPU that goes count no more, and this is so for those on all CPUs. */
static bool has_lost_cpu(const char *text, const struct expected *expected)
{
	return soak.has_hotplug && expected->is_lower_bound && is_private(text);
}

static void condemn(const struct session *s, const char *why)
{
	char text[2000];

	tally(WRONG);
	say("WRONG: %s (seed %u, round %u, status %#x)\n  %s", why, soak.seed, soak.round,
	    s->status, s->words);
	read_messages(s, text, sizeof(text));
	say("  stderr: %s", text);
	read_file(s->out, text, sizeof(text));
	say("  counts: %s", text);
}

/* --- rows --- */

static struct row *find_row(struct rows *rows, const char *name)
{
	for (int i = 0; i < rows->nr; i++) {
		if (!strcmp(rows->row[i].name, name))
			return &rows->row[i];
	}
	if (rows->nr == MAX_ROWS)
		return NULL;
	rows->row[rows->nr] = (struct row){.plain = -1, .shared = -1};
	snprintf(rows->row[rows->nr].name, sizeof(rows->row[0].name), "%s", name);
	return &rows->row[rows->nr++];
}

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Add a row: VALUE,UNIT,EVENT[,CGROUP][,VARIANCE],TIME,SHARE, after a time or a thread. */
static void add_row(struct rows *rows, char *line, const char *event, bool all_is_shared)
{
	char *field[16], name[160];
	int nr = 0, at;
	struct row *row;
	long *sum;

	for (char *rest = line; nr < 16 && (field[nr] = strsep(&rest, ",")); nr++)
		;
	for (at = 2; at < nr && strncmp(field[at], event, strlen(event)); at++)
		;
	if (at + 2 >= nr)
		return;
	snprintf(name, sizeof(name), "%s/%s", at > 2 && !strchr(field[0], '.') ? field[0] : "",
		 is_number(field[at + 1]) || strchr(field[at + 1], '%') ? "" : field[at + 1]);
	row = find_row(rows, name);
	if (!row)
		return;
	sum = all_is_shared || field[at][strlen(field[at]) - 1] == 'b' ? &row->shared : &row->plain;
	/* "<not counted>" means that the target did not run in this interval. */
	*sum = (*sum < 0 ? 0 : *sum) + (is_number(field[at - 2]) ? atol(field[at - 2]) : 0);
	/* The share follows the time; other fields are a variance and metrics. */
	while (at + 1 < nr && !is_number(field[at]))
		at++;
	if (at + 1 < nr && strcmp(field[at + 1], "100.00"))
		rows->is_partial = true;
}

static void read_rows(const struct session *s, const char *event, bool all_is_shared,
		      struct rows *rows)
{
	FILE *file = fopen(s->out, "re");
	char line[1024];

	memset(rows, 0, sizeof(*rows));
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line != '#')
			add_row(rows, line, event, all_is_shared);
	}
	if (file)
		fclose(file);
}

/* --- verdicts --- */

/* Return: true if a count is as expected. Otherwise keep a doubt, for the witness to resolve. */
static bool is_exact(const struct session *s, long got, long least, long most)
{
	struct doubt *doubt;
	unsigned nr;

	if (got >= least && got <= most)
		return true;
	nr = __atomic_fetch_add(&shared->nr_doubts, 1, __ATOMIC_RELAXED);
	if (nr >= MAX_DOUBTS)
		return false;
	doubt = &shared->doubt[nr];
	*doubt = (struct doubt){.got = got, .expected = least, .most = most};
	memcpy(doubt->pids, s->pids, sizeof(doubt->pids));
	doubt->comm = s->comm;
	snprintf(doubt->words, sizeof(doubt->words), "%s", s->words);
	read_messages(s, doubt->err, sizeof(doubt->err));
	read_file(s->out, doubt->out, sizeof(doubt->out));
	return false;
}

static bool rows_are_exact(const struct session *s, const struct rows *rows,
			   const struct expected *e)
{
	const struct row *top = &rows->row[0];
	bool exact = true;
	long sum = 0;

	for (int i = 0; i < rows->nr; i++) {
		const struct row *row = &rows->row[i];

		if (row->plain >= 0 && !e->is_lower_bound)
			exact &= is_exact(s, row->shared, row->plain, row->plain);
		sum += row->shared;
		if (strlen(row->name) < strlen(top->name))
			top = row;
	}
	if (e->sums) {
		exact &= is_exact(s, sum - top->shared, top->shared, top->shared);
		sum = top->shared;
	}
	return exact & is_exact(s, sum, e->least, e->most);
}

/* Return: true if no count is too high, as far as that is known. */
static bool rows_are_bounded(const struct session *s, const struct rows *rows,
			     const struct expected *e)
{
	bool bounded = true;

	for (int i = 0; i < rows->nr && !e->is_lower_bound; i++) {
		const struct row *row = &rows->row[i];
		long most = row->plain >= 0 ? row->plain : e->sums ? LONG_MAX : e->most;

		bounded &= is_exact(s, row->shared, 0, most);
	}
	return bounded;
}

/* Return: true if the session reports that counts can be too low; or, in @is_high, too high */
static bool reports_losses(const char *text, const struct expected *expected, bool *is_high)
{
	static const char *const high_words[] = {
		"counted only for those above",
		"may be counted from before",
	};

	*is_high = says(text, high_words, COUNT_OF(high_words));
	return *is_high || (expected->is_from_birth && is_private(text)) ||
	       has_lost_cpu(text, expected) || says(text, short_words, COUNT_OF(short_words));
}

static bool is_starved(const struct session *s)
{
	return s->trouble == LITTLE_MEMORY || s->trouble == FEW_FILES;
}

static void note_trouble(const struct session *s)
{
	if (s->trouble == STOPS || s->trouble == STOPS_AT_STEP)
		tally(STOPPED);
	if (is_starved(s))
		tally(STARVED);
}

/* Return: true if the session came to its end, so that there are counts. Otherwise note the reason. */
static bool came_to_its_end(const struct session *s)
{
	char text[100];
	bool was_killed = WIFSIGNALED(s->status) && WTERMSIG(s->status) == SIGKILL;
	int status = WIFEXITED(s->status) ? WEXITSTATUS(s->status) : -1;

	if (s->hangs) {
		condemn(s, "it hangs");
		return false;
	}
	if (was_killed && s->trouble != CALM && s->trouble != STOPS &&
	    s->trouble != STOPS_AT_STEP) {
		tally(KILLED);
		return false;
	}
	if (status == s->expected_status ||
	    (s->has_control && (status == 130 || WIFSIGNALED(s->status))))
		return true;
	if (is_starved(s) && read_file(s->err, text, sizeof(text))) {
		tally(REFUSED);
		return false;
	}
	condemn(s, "its exit status");
	return false;
}

static void judge(const struct session *s, const char *event, bool all_is_shared,
		  const struct expected *expected)
{
	bool is_short, is_high;
	struct rows rows;
	char text[4000];

	tally(SESSIONS);
	note_trouble(s);
	if (!came_to_its_end(s))
		return;
	read_messages(s, text, sizeof(text));
	if (is_private(text))
		tally(PRIVATE);
	read_rows(s, event, all_is_shared, &rows);
	if (!rows.nr) {
		condemn(s, "no counts");
		return;
	}
	is_short = reports_losses(text, expected, &is_high);
	if (rows.is_partial && !is_short && !is_private(text)) {
		condemn(s, "not counted all the time, without a word");
	} else if (rows.is_partial || is_short) {
		if (is_high || rows_are_bounded(s, &rows, expected))
			tally(SHORT);
	} else if (rows_are_exact(s, &rows, expected)) {
		tally(EXACT);
	}
}

#endif
