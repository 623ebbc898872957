// SPDX-License-Identifier: GPL-2.0
#include "util/target/bpf_prog_list.h"

#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/program.h"
#include "util/lib/util.h"
#include "util/target/bpf_prog_spec.h"
#include "util/target/bpf_prog_usage.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* How often new programs wait for further ones. */
#define MAX_DELAYS 4

struct finder {
	struct bpf_prog_list *progs;
	const char *word;
	struct bpf_prog_spec spec;
	/* of this word: */
	int nr_matches, nr_countable;
	char *why_not;		 /* of the last program that matched but cannot be counted */
	struct bpf_prog refused; /* that program: id, type, name */
};

static struct bpf_prog *find_prog(const struct bpf_prog_list *progs, __u32 id)
{
	for (int i = 0; i < progs->nr; i++) {
		if (progs->prog[i].id == id)
			return &progs->prog[i];
	}
	return NULL;
}

/* Return: a place for one more program, new or of a program that is over; NULL: ENOMEM. */
static struct bpf_prog *new_place(struct bpf_prog_list *progs)
{
	for (int i = 0; i < progs->nr && !progs->by_row; i++) {
		if (progs->prog[i].state == BPF_PROG_OVER) {
			bpf_prog__clear(&progs->prog[i]);
			return &progs->prog[i];
		}
	}
	return array__add(progs->prog, progs->nr);
}

static int add(struct finder *finder, const struct bpf_prog *prog)
{
	bool is_named = finder->spec.kind == BPF_SPEC_ID || finder->spec.kind == BPF_SPEC_PINNED;
	struct bpf_prog *to = find_prog(finder->progs, prog->id);
	char *name;
	int fd;

	finder->nr_countable++;
	if (to) {
		to->is_named |= is_named;
		to->is_any &= finder->spec.kind == BPF_SPEC_ALL;
		return 0;
	}
	name = strdup(prog->name);
	fd = fcntl(prog->fd, F_DUPFD_CLOEXEC, 3);
	to = name && fd >= 0 ? new_place(finder->progs) : NULL;
	if (!to) {
		free(name);
		close_fd(&fd);
		return -ENOMEM;
	}
	*to = *prog;
	to->map_ids = NULL;
	to->name = name;
	to->fd = fd;
	to->is_named = is_named;
	to->is_any = finder->spec.kind == BPF_SPEC_ALL;
	return 0;
}

/* Mark older programs as replaced. Programs are visited in the order of their ids. */
static void replace_older(struct bpf_prog_list *progs, const struct bpf_prog *prog)
{
	for (int i = 0; i < progs->nr; i++) {
		struct bpf_prog *older = &progs->prog[i];

		if (older->id < prog->id && older->type == prog->type &&
		    !strcmp(older->name, prog->name))
			older->is_replaced = !older->is_named;
	}
}

static bool matches(const struct bpf_prog_spec *spec, const struct bpf_prog *prog)
{
	switch (spec->kind) {
	case BPF_SPEC_NAME:
		return !strcmp(spec->text, prog->name) || !strcmp(spec->text, prog->kernel_name);
	case BPF_SPEC_TAG:
		return !memcmp(spec->tag, prog->tag, sizeof(spec->tag));
	case BPF_SPEC_ALL:
		return !prog->is_counting;
	default:
		return true;
	}
}

static const char *const is_tool = "a part of a tool that counts";

static void forget_refused(struct finder *finder)
{
	free(finder->why_not);
	free(finder->refused.name);
	finder->why_not = NULL;
	finder->refused.name = NULL;
}

static int leave_out(struct finder *finder, struct bpf_prog *prog, const char *why)
{
	forget_refused(finder);
	finder->why_not = strdup(why);
	finder->refused = *prog;
	finder->refused.map_ids = NULL;
	finder->refused.name = strdup(prog->name);
	bpf_prog_list__leave_out(finder->progs, prog, why);
	return finder->why_not && finder->refused.name ? 0 : -ENOMEM;
}

static int consider(void *ctx, struct bpf_prog *prog)
{
	struct finder *finder = ctx;
	char *why_not __cleanup(free_ptr) = NULL;

	replace_older(finder->progs, prog);
	if (finder->spec.kind == BPF_SPEC_ALL && prog->is_counting) {
		bpf_prog_list__leave_out(finder->progs, prog, is_tool);
		return 0;
	}
	if (!matches(&finder->spec, prog))
		return 0;
	finder->nr_matches++;
	why_not = bpf_prog__why_not(prog);
	return why_not ? leave_out(finder, prog, why_not) : add(finder, prog);
}

static int consider_one(struct finder *finder)
{
	struct bpf_prog prog;
	int err;

	err = finder->spec.kind == BPF_SPEC_ID ? bpf_prog__by_id(finder->spec.id, &prog) :
						 bpf_prog__by_path(finder->spec.text, &prog);
	if (err)
		return err;
	bpf_prog_usage__apply(finder->progs->usage, &prog);
	err = consider(finder, &prog);
	bpf_prog__clear(&prog);
	return err;
}

/* Return: whether the list of BPF programs shows what the word could have been. */
static bool is_listed(const struct finder *finder, int err)
{
	return (finder->spec.kind == BPF_SPEC_ID && err == -ENOENT) ||
	       (finder->spec.kind == BPF_SPEC_NAME && !err);
}

static const char *no_match(const struct finder *finder, int err)
{
	if (err == -EPERM)
		return "not permitted: needs CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN (run as root)";
	switch (finder->spec.kind) {
	case BPF_SPEC_ID:
		return err == -ENOENT ? "there is no BPF program with this id" : strerror(-err);
	case BPF_SPEC_NAME:
		return err ? strerror(-err) : "no BPF program has this name";
	case BPF_SPEC_TAG:
		return err ? strerror(-err) : "no BPF program has this tag (bpftool prog)";
	case BPF_SPEC_PINNED:
		return err == -EINVAL || err == -EACCES ? "not a pinned BPF program" :
							  strerror(-err);
	default:
		return err ? strerror(-err) : "there is no BPF program that could be counted";
	}
}

/* Check the syntax of all words before any search, and set progs->follows. */
static int check_words(struct bpf_prog_list *progs)
{
	char *text __cleanup(free_ptr) = strdup(progs->list);
	char *rest = text, *word;
	struct bpf_prog_spec spec;

	if (!text)
		return -ENOMEM;
	while ((word = strsep(&rest, ","))) {
		if (bpf_prog_spec__parse(word, &spec)) {
			pr_err("-b %s: not a BPF program: give its id, id:N, name:NAME, tag:16 hex digits, pinned:PATH, or all",
			       shown_arg(word));
			return -EINVAL;
		}
		progs->follows |= spec.kind != BPF_SPEC_ID && spec.kind != BPF_SPEC_PINNED;
	}
	return 0;
}

static int find(struct finder *finder)
{
	struct bpf_prog_list *progs = finder->progs;
	int err;

	finder->nr_matches = finder->nr_countable = 0;
	forget_refused(finder);
	err = bpf_prog_spec__parse(finder->word, &finder->spec);
	if (!err)
		err = finder->spec.kind == BPF_SPEC_ID || finder->spec.kind == BPF_SPEC_PINNED ?
			      consider_one(finder) :
			      bpf_prog_usage__each(progs->usage, 0, consider, finder);
	if (err || !finder->nr_matches) {
		if (is_listed(finder, err))
			pr_err("-b %s: %s (%s list bpf)", finder->word, no_match(finder, err),
			       program__name());
		else
			pr_err("-b %s: %s", finder->word, no_match(finder, err));
		return err ? err : -ENOENT;
	}
	if (!finder->nr_countable) {
		pr_err("-b %s: '%s' (id %u) cannot be counted: %s", finder->word,
		       finder->refused.name, finder->refused.id, finder->why_not);
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Return: true for the first program with this name and type. Tools load programs again and again. */
static bool is_first_of_name(const struct bpf_prog_list *progs, int nr)
{
	for (int i = 0; i < nr; i++) {
		if (!strcmp(progs->prog[i].name, progs->prog[nr].name) &&
		    progs->prog[i].type == progs->prog[nr].type && !progs->prog[nr].is_named)
			return false;
	}
	return true;
}

static void warn_tail_calls(const struct bpf_prog_list *progs, int first)
{
	for (int i = first; i < progs->nr; i++) {
		const struct bpf_prog *prog = &progs->prog[i];

		if (!is_first_of_name(progs, i))
			continue;
		if (prog->is_tail_called)
			pr_warn("'%s' (id %u) is in a map for tail calls: executions that begin by a tail call are not counted",
				prog->name, prog->id);
		if (prog->tail_calls)
			pr_warn("'%s' (id %u) makes tail calls: its callees are counted as part of it",
				prog->name, prog->id);
	}
}

static int find_all(struct bpf_prog_list *progs)
{
	char *text __cleanup(free_ptr) = strdup(progs->list);
	struct finder finder = {.progs = progs};
	char *rest = text;
	int err = text ? 0 : -ENOMEM;

	while (!err && (finder.word = strsep(&rest, ",")))
		err = find(&finder);
	forget_refused(&finder);
	return err;
}

/* Find the highest id, searching from one that was the highest. */
static int find_newest(__u32 from, __u32 *newest)
{
	for (*newest = from; !bpf_prog_get_next_id(*newest, newest);)
		;
	return errno == ENOENT ? 0 : -errno;
}

int bpf_prog_list__new(const char *list, struct bpf_prog_list **out)
{
	struct bpf_prog_list *progs = calloc(1, sizeof(*progs));
	int err;

	if (!progs)
		return -ENOMEM;
	progs->list = strdup(list);
	progs->usage = calloc(1, sizeof(*progs->usage));
	err = progs->list && progs->usage ? check_words(progs) : -ENOMEM;
	/* Done before the search, so the next look includes programs loaded meanwhile. */
	if (!err && progs->follows && find_newest(0, &progs->newest))
		progs->newest = 0; /* find_all() reports the error */
	progs->looked_until = progs->newest;
	if (!err) {
		bpf_prog_usage__find_tail_called(progs->usage);
		if (progs->follows)
			(void)bpf_prog_usage__find_profilers(progs->usage, 0); /* likewise */
		err = find_all(progs);
	}
	if (err) {
		bpf_prog_list__delete(progs);
		return err;
	}
	warn_tail_calls(progs, 0);
	*out = progs;
	return 0;
}

/* Consider a new program. Ignore parts of profilers, whatever their names. */
static int consider_new(void *ctx, struct bpf_prog *prog)
{
	struct finder *finder = ctx;
	char *text __cleanup(free_ptr) = strdup(finder->progs->list);
	char *rest = text;
	int err = text ? 0 : -ENOMEM;

	if (prog->is_counting)
		return 0;
	while (!err && (finder->word = strsep(&rest, ","))) {
		err = bpf_prog_spec__parse(finder->word, &finder->spec);
		if (!err && finder->spec.kind != BPF_SPEC_ID &&
		    finder->spec.kind != BPF_SPEC_PINNED)
			err = consider(finder, prog);
	}
	return err;
}

static int add_new(struct bpf_prog_list *progs)
{
	struct finder finder = {.progs = progs};
	int nr = progs->nr, err;

	bpf_prog_usage__find_tail_called(progs->usage);
	err = bpf_prog_usage__find_profilers(progs->usage, progs->looked_until);
	if (!err)
		err = bpf_prog_usage__each(progs->usage, progs->looked_until, consider_new,
					   &finder);
	forget_refused(&finder);
	warn_tail_calls(progs, nr);
	return err;
}

int bpf_prog_list__look(struct bpf_prog_list *progs)
{
	__u32 newest;
	int err = find_newest(progs->newest, &newest);

	if (err || newest == progs->looked_until)
		return err;
	if (newest != progs->newest && progs->nr_delays < MAX_DELAYS) {
		progs->newest = newest;
		progs->nr_delays++;
		return 0;
	}
	progs->nr_delays = 0;
	err = add_new(progs);
	if (!err)
		progs->looked_until = progs->newest = newest;
	return err;
}

void bpf_prog_list__leave_out(struct bpf_prog_list *progs, struct bpf_prog *prog, const char *why)
{
	pr_verbose("'%s' (id %u) is left out: %s", prog->name, prog->id, why);
	prog->state = BPF_PROG_LEFT_OUT;
	if (bpf_prog_left_out__add(&progs->left_out, prog->name, prog->id, why))
		pr_warn("'%s' (id %u) is left out: %s", prog->name, prog->id, why);
}

void bpf_prog_list__warn_left_out(struct bpf_prog_list *progs)
{
	char *text __cleanup(free_ptr) = bpf_prog_left_out__text(&progs->left_out);

	if (text)
		pr_warn("-b: %s", text);
}

void bpf_prog_list__delete(struct bpf_prog_list *progs)
{
	if (!progs)
		return;
	for (int i = 0; i < progs->nr; i++)
		bpf_prog__clear(&progs->prog[i]);
	free(progs->prog);
	bpf_prog_left_out__clear(&progs->left_out);
	if (progs->usage)
		bpf_prog_usage__clear(progs->usage);
	free(progs->usage);
	free(progs->list);
	free(progs);
}
