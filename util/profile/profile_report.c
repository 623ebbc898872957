// SPDX-License-Identifier: GPL-2.0
#include "util/profile/profile_report.h"

#include "util/event/evlist.h"
#include "util/lib/json_string.h"
#include "util/lib/msg.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"
#include "util/profile/account.h"
#include "util/profile/print_annotation.h"
#include "util/profile/print_rows.h"
#include "util/profile/print_stacks.h"
#include "util/profile/profile_options.h"
#include "util/profile/rows.h"
#include "util/profile/samples.h"
#include "util/sample/sampler.h"
#include "util/symbol/symbols.h"

#include <errno.h>
#include <string.h>

bool profile_report__has_flat_stacks(const struct samples *samples)
{
	uint64_t nr = 0, nr_flat = 0;

	for (int i = 0; i < samples->keys.nr; i++) {
		const int *places;
		const struct samples_key *sample = samples__get(samples, i, &places);

		nr += sample->nr_user ? samples->sums[i].nr : 0;
		nr_flat += sample->nr_user == 1 ? samples->sums[i].nr : 0;
	}
	return nr && 2 * nr_flat > nr;
}

void profile_report__put_title(FILE *out, const struct profile_report *report, int event)
{
	const struct evsel *evsel = report->events->evsels[event];
	const struct sample_account *account = &report->accounts[event];
	char nr[32];

	if (report->options->has_interval)
		fprintf(out, "%.9f s: ", (double)report->time_ns / NSEC_PER_SEC);
	fprintf(out, "%s sample%s of ", account__group_digits(account->kept.nr, nr),
		account->kept.nr == 1 ? "" : "s");
	printable__put(out, 0, evsel->name);
	fprintf(out, ", %s, ", report->rate);
	printable__put(out, 0, report->target);
	fprintf(out, ", %.3f s", (double)report->elapsed_ns / NSEC_PER_SEC);
}

static void print_title(FILE *out, const struct profile_report *report, int event)
{
	fprintf(out, "# ");
	profile_report__put_title(out, report, event);
	fprintf(out, "\n");
}

static void print_account(FILE *out, const struct profile_report *report, const struct evsel *evsel,
			  const struct sample_account *account)
{
	const struct profile_options *options = report->options;

	if (options->format == FORMAT_TEXT && options->view != VIEW_FOLDED) {
		fprintf(out, "#\n");
		account__print_text(out, evsel, account);
		fprintf(out, "\n");
	} else if (options->format == FORMAT_JSON) {
		fprintf(out, "{");
		if (options->has_interval)
			fprintf(out, "\"interval\": %.9f, ",
				(double)report->time_ns / NSEC_PER_SEC);
		fprintf(out, "\"event\": ");
		json_string__print(out, evsel->name);
		fprintf(out, ", \"account\": {");
		account__print_json(out, account);
		fprintf(out, "}}\n");
	}
}

static struct print_context context_of(FILE *out, const struct profile_report *report, int event)
{
	return (struct print_context){
		.out = out,
		.options = report->options,
		.symbols = report->samples->symbols,
		.event = report->events->evsels[event]->name,
		.time_ns = report->time_ns,
	};
}

static int print_event(FILE *out, const struct profile_report *report, int event)
{
	const struct profile_options *options = report->options;
	const struct evsel *evsel = report->events->evsels[event];
	const struct print_context context = context_of(out, report, event);
	const struct sample_account *account = &report->accounts[event];
	int err = 0;

	if (options->format == FORMAT_TEXT && options->view != VIEW_FOLDED) {
		print_title(out, report, event);
		fprintf(out, "#\n");
	}
	if (options->view == VIEW_STACKS || options->view == VIEW_FOLDED)
		err = print_stacks(&context, report->samples, event);
	else if (options->view == VIEW_ANNOTATION)
		print_annotation(&context, report->annotation, event);
	else
		err = print_rows(&context, report->samples, event);
	if (!err)
		print_account(out, report, evsel, account);
	return err;
}

int profile_report__print_page(FILE *out, const struct profile_report *report, int event)
{
	const struct evsel *evsel = report->events->evsels[event];
	const struct print_context context = context_of(out, report, event);

	print_title(out, report, event);
	account__print_text(out, evsel, &report->accounts[event]);
	fprintf(out, "#\n");
	return print_rows(&context, report->samples, event);
}

/* A reader that has gone knows why. */
static int flush(FILE *out)
{
	int err = fflush(out) ? -errno : ferror(out) ? -EIO : 0;

	if (err && err != -EPIPE)
		pr_err("writing the profile failed: %s", strerror(-err));
	return err;
}

int profile_report__print(FILE *out, const struct profile_report *report)
{
	int err = 0;

	for (int i = 0; i < report->events->nr && !err; i++)
		err = print_event(out, report, i);
	return err ? err : flush(out);
}
