// SPDX-License-Identifier: GPL-2.0
#include "util/profile/account.h"

#include "util/event/evsel.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"
#include "util/sample/sampler.h"

#include <inttypes.h>
#include <string.h>

static const struct {
	const char *name, *text; /* NULL: it depends on the event */
} losses[NR_SAMPLE_LOSSES] = {
	[SAMPLE_LOST_TABLE] = {"table", "more distinct samples than the tables hold"},
	[SAMPLE_LOST_LATE] = {"late", "stacks that were collected too late"},
	[SAMPLE_LOST_BLIND] = {"blind", NULL},
	[SAMPLE_LOST_THROTTLE] = {"throttle", "the kernel throttled the event"},
	[SAMPLE_LOST_TIMER] = {"timer", NULL},
};

/* Only clocks have timers. Events of hardware interrupt. Other software events are their own interrupt. */
static const char *text_of(enum sample_loss loss, const struct evsel *evsel)
{
	const struct perf_event_attr *attr = &evsel->attr;

	if (losses[loss].text)
		return losses[loss].text;
	if (evsel__is_clock(evsel))
		return loss == SAMPLE_LOST_TIMER ?
			       "its timer was late" :
			       "the kernel took no sample (beside other BPF programs, or its timer was late)";
	if (attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_BREAKPOINT)
		return loss == SAMPLE_LOST_TIMER ?
			       "the kernel took no sample" :
			       "the kernel took no sample (beside other BPF programs)";
	return loss == SAMPLE_LOST_TIMER ?
		       "its interrupt was late" :
		       "the kernel took no sample (beside other BPF programs, or its interrupt was late)";
}

/* All members are counts, but for the period. */
#define NR_COUNTS (sizeof(struct sample_account) / sizeof(uint64_t))

struct sample_account account__advance(const struct sample_account *now,
				       struct sample_account *before)
{
	struct sample_account part;
	const uint64_t *from = (const uint64_t *)now;
	uint64_t *to = (uint64_t *)&part, *old = (uint64_t *)before;

	for (size_t i = 0; i < NR_COUNTS; i++) {
		to[i] = from[i] > old[i] ? from[i] - old[i] : 0;
		old[i] += to[i];
	}
	part.period = now->period;
	return part;
}

/* Return: the count without what the profile leaves out on purpose. */
static uint64_t wanted(const struct sample_account *account)
{
	uint64_t left_out = account->idle.weight + account->mode.weight + account->other.weight +
			    account->elsewhere.weight;

	return account->counted > left_out ? account->counted - left_out : 0;
}

static double percent(uint64_t weight, uint64_t all)
{
	return all ? 100.0 * weight / all : 0;
}

/* All percentages but those of what is left out add up to 100: they are of the first line's count. */
static double percent_of_count(const struct sample_account *account, uint64_t weight)
{
	return percent(weight, wanted(account));
}

double account__share(const struct sample_account *account)
{
	return percent_of_count(account, account->kept.weight);
}

char *account__group_digits(uint64_t number, char *buf)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, number), to = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[to++] = ',';
		buf[to++] = digits[i];
	}
	buf[to] = '\0';
	return buf;
}

/* Return: a weight as it is printed: nanoseconds of clocks as milliseconds. */
static uint64_t in_units(const struct evsel *evsel, uint64_t weight)
{
	return evsel__is_clock(evsel) ? (weight + NSEC_PER_MSEC / 2) / NSEC_PER_MSEC : weight;
}

static const char *plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

static void print_share(FILE *out, const struct evsel *evsel, const struct sample_account *account)
{
	char nr[32], weight[32], all[32];

	fprintf(out, "# %s sample%s ", account__group_digits(account->kept.nr, nr),
		plural(account->kept.nr));
	if (!account->counted) {
		fprintf(out, "of ");
		printable__put(out, 0, evsel->name);
		fprintf(out, ", which counted nothing\n");
		return;
	}
	fprintf(out, "stand%s for %.1f %% of ", account->kept.nr == 1 ? "s" : "",
		account__share(account));
	printable__put(out, 0, evsel->name);
	fprintf(out, " (%s of %s%s)\n",
		account__group_digits(in_units(evsel, account->kept.weight), weight),
		account__group_digits(in_units(evsel, wanted(account)), all),
		evsel__is_clock(evsel) ? " msec" : "");
}

static void print_left_out(FILE *out, const char *what, const struct sample_account *account,
			   const struct sample_sum *sum)
{
	char nr[32];

	if (sum->nr || sum->weight)
		fprintf(out, "# left out: %s: %s sample%s, %.1f %% of all that was counted\n", what,
			account__group_digits(sum->nr, nr), plural(sum->nr),
			percent(sum->weight, account->counted));
}

static void print_sum(FILE *out, const char *what, const struct sample_account *account,
		      const struct sample_sum *sum)
{
	char nr[32];

	if (sum->nr || sum->weight)
		fprintf(out, "# %s: %s sample%s, %.1f %% of the count\n", what,
			account__group_digits(sum->nr, nr), plural(sum->nr),
			percent_of_count(account, sum->weight));
}

static void print_loss(FILE *out, const char *text, const struct sample_account *account,
		       const struct sample_sum *lost)
{
	char nr[32];

	fprintf(out, "# lost: %s, %s sample%s, %.1f %% of the count\n", text,
		account__group_digits(lost->nr, nr), plural(lost->nr),
		percent_of_count(account, lost->weight));
}

/* The event itself was not there, or not read. */
static void print_failures(FILE *out, const struct sample_account *account)
{
	char nr[32];

	if (account->absent_ns)
		fprintf(out, "# lost: the event was not open, %s msec of CPU time\n",
			account__group_digits(
				(account->absent_ns + NSEC_PER_MSEC / 2) / NSEC_PER_MSEC, nr));
	if (account->failed_reads)
		fprintf(out, "# %s reading%s of the count failed: it may be short\n",
			account__group_digits(account->failed_reads, nr),
			plural(account->failed_reads));
}

static void print_losses(FILE *out, const struct evsel *evsel, const struct sample_account *account)
{
	char nr[32];

	for (int i = 0; i < NR_SAMPLE_LOSSES; i++) {
		const struct sample_sum *lost = &account->lost[i];

		if (!lost->nr && !lost->weight)
			continue;
		if (i == SAMPLE_LOST_THROTTLE && !lost->weight)
			fprintf(out, "# lost: %s, %s time%s\n", text_of(i, evsel),
				account__group_digits(lost->nr, nr), plural(lost->nr));
		else
			print_loss(out, text_of(i, evsel), account, lost);
	}
	if (account->unrecorded.nr)
		print_loss(out, "records of single samples without room (--each)", account,
			   &account->unrecorded);
}

static const char *excluded_modes(const struct evsel *evsel)
{
	if (evsel->attr.exclude_kernel)
		return evsel->attr.exclude_user ? "user and kernel mode" : "kernel mode";
	return "user mode";
}

static void print_mode(FILE *out, const struct evsel *evsel, const struct sample_account *account)
{
	print_left_out(out, excluded_modes(evsel), account, &account->mode);
	if (account->unseen)
		fprintf(out, "# %s (not permitted to sample), or lost: %.1f %% of the count\n",
			excluded_modes(evsel), percent_of_count(account, account->unseen));
	if (account->refused)
		fprintf(out, "# left out by the program, or lost: %.1f %% of the count\n",
			percent_of_count(account, account->refused));
}

/* Part of a period on each CPU, which no sample stands for yet. A line only if it can be seen in the first one. */
static void print_thinned(FILE *out, const struct sample_account *account)
{
	double rest = percent_of_count(account, account->thinned);

	if (rest >= 0.05)
		fprintf(out, "# not enough for another sample yet: %.1f %% of the count\n", rest);
}

void account__print_text(FILE *out, const struct evsel *evsel, const struct sample_account *account)
{
	print_share(out, evsel, account);
	print_left_out(out, "the idle task", account, &account->idle);
	print_mode(out, evsel, account);
	print_left_out(out, "not of the target, and missed by the kernel", account,
		       &account->elsewhere);
	print_thinned(out, account);
	print_losses(out, evsel, account);
	print_failures(out, account);
	print_sum(out, "stacks cut because they are too deep", account, &account->truncated);
	print_sum(out, "stacks that the kernel could not read", account, &account->unreadable);
	/* The kernel's two times differ by some microseconds even without multiplexing. */
	if (account->running_ns < account->enabled_ns - account->enabled_ns / 1000)
		fprintf(out, "# multiplexed: counted %.1f %% of the time\n",
			100.0 * account->running_ns / account->enabled_ns);
}

static void print_json_sum(FILE *out, const char *name, const struct sample_sum *sum)
{
	fprintf(out, ", \"%s\": {\"samples\": %" PRIu64 ", \"weight\": %" PRIu64 "}", name, sum->nr,
		sum->weight);
}

void account__print_json(FILE *out, const struct sample_account *account)
{
	fprintf(out, "\"samples\": %" PRIu64 ", \"weight\": %" PRIu64 ", \"counted\": %" PRIu64,
		account->kept.nr, account->kept.weight, account->counted);
	fprintf(out, ", \"share\": %.4f", account__share(account));
	print_json_sum(out, "idle", &account->idle);
	print_json_sum(out, "mode", &account->mode);
	print_json_sum(out, "other", &account->other);
	print_json_sum(out, "elsewhere", &account->elsewhere);
	print_json_sum(out, "truncated", &account->truncated);
	print_json_sum(out, "unreadable", &account->unreadable);
	print_json_sum(out, "unrecorded", &account->unrecorded);
	fprintf(out, ", \"thinned\": %" PRIu64 ", \"lost\": {", account->thinned);
	for (int i = 0; i < NR_SAMPLE_LOSSES; i++)
		fprintf(out, "%s\"%s\": {\"samples\": %" PRIu64 ", \"weight\": %" PRIu64 "}",
			i ? ", " : "", losses[i].name, account->lost[i].nr,
			account->lost[i].weight);
	fprintf(out, "}, \"enabled_ns\": %" PRIu64 ", \"running_ns\": %" PRIu64,
		account->enabled_ns, account->running_ns);
	fprintf(out, ", \"unseen\": %" PRIu64 ", \"refused\": %" PRIu64, account->unseen,
		account->refused);
	fprintf(out, ", \"absent_ns\": %" PRIu64 ", \"failed_reads\": %" PRIu64, account->absent_ns,
		account->failed_reads);
	fprintf(out, ", \"period\": %" PRIu64, account->period);
}
