// SPDX-License-Identifier: GPL-2.0
/* From the text of -b to programs. */
#include "bpf_target.h"

#include "bpf_others.h"
#include "msg.h"
#include "util.h"

#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define TAG_DIGITS 16

static bool parse_id(const char *text, __u32 *id)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	*id = value;
	return !errno && !*end && value && value == *id;
}

static bool parse_tag(const char *text, unsigned char *tag)
{
	char digits[3] = "";

	if (strlen(text) != TAG_DIGITS || strspn(text, "0123456789abcdefABCDEF") != TAG_DIGITS)
		return false;
	for (int i = 0; i < TAG_DIGITS / 2; i++) {
		memcpy(digits, text + 2 * i, 2);
		tag[i] = strtoul(digits, NULL, 16);
	}
	return true;
}

/* What follows a prefix; NULL: the word does not begin so. */
static const char *after(const char *word, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(word, prefix, len) ? NULL : word + len;
}

int bpf_spec__parse(const char *word, struct bpf_spec *spec)
{
	const char *rest;

	memset(spec, 0, sizeof(*spec));
	if (!strcmp(word, "all")) {
		spec->kind = BPF_SPEC_ALL;
		return 0;
	}
	if ((rest = after(word, "name:"))) {
		spec->kind = BPF_SPEC_NAME;
		spec->text = rest;
		return *rest ? 0 : -EINVAL;
	}
	if ((rest = after(word, "pinned:"))) {
		spec->kind = BPF_SPEC_PINNED;
		spec->text = rest;
		return *rest ? 0 : -EINVAL;
	}
	if ((rest = after(word, "tag:"))) {
		spec->kind = BPF_SPEC_TAG;
		return parse_tag(rest, spec->tag) ? 0 : -EINVAL;
	}
	rest = after(word, "id:");
	spec->kind = BPF_SPEC_ID;
	return parse_id(rest ? rest : word, &spec->id) ? 0 : -EINVAL;
}

struct finder {
	struct bpf_targets *targets;
	const char *word;
	struct bpf_spec spec;
	struct bpf_others others;
	int nr_matches;
	char *why_not;		/* of the last that matched and cannot be counted */
	struct bpf_target refused;	/* that: id, type, name */
};

static bool has_target(const struct bpf_targets *targets, __u32 id)
{
	for (int i = 0; i < targets->nr; i++) {
		if (targets->target[i].id == id)
			return true;
	}
	return false;
}

static int add(struct finder *finder, const struct bpf_target *target)
{
	struct bpf_targets *targets = finder->targets;
	struct bpf_target *grown, *to;

	if (has_target(targets, target->id))
		return 0;
	grown = realloc(targets->target, (targets->nr + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	targets->target = grown;
	to = &grown[targets->nr];
	*to = *target;
	to->map_ids = NULL;
	to->name = strdup(target->name);
	to->fd = fcntl(target->fd, F_DUPFD_CLOEXEC, 3);
	if (!to->name || to->fd < 0) {
		bpf_target__clear(to);
		return -ENOMEM;
	}
	targets->nr++;
	return 0;
}

static bool matches(const struct bpf_spec *spec, const struct bpf_target *target)
{
	switch (spec->kind) {
	case BPF_SPEC_NAME:
		return !strcmp(spec->text, target->name) ||
		       !strcmp(spec->text, target->kernel_name);
	case BPF_SPEC_TAG:
		return !memcmp(spec->tag, target->tag, sizeof(spec->tag));
	case BPF_SPEC_ALL:
		return !target->is_counting;
	default:
		return true;
	}
}

static int consider(void *ctx, struct bpf_target *target)
{
	struct finder *finder = ctx;
	char *why_not;

	if (!matches(&finder->spec, target))
		return 0;
	finder->nr_matches++;
	why_not = bpf_target__why_not(target);
	if (!why_not)
		return add(finder, target);
	pr_verbose("'%s' (id %u) is left out: %s", target->name, target->id, why_not);
	free(finder->why_not);
	free(finder->refused.name);
	finder->why_not = why_not;
	finder->refused = *target;
	finder->refused.map_ids = NULL;
	finder->refused.name = strdup(target->name);
	return 0;
}

static int consider_one(struct finder *finder)
{
	struct bpf_target target;
	int err;

	err = finder->spec.kind == BPF_SPEC_ID ?
		      bpf_target__by_id(finder->spec.id, &target) :
		      bpf_target__by_path(finder->spec.text, &target);
	if (err)
		return err;
	bpf_others__tell(&finder->others, &target);
	err = consider(finder, &target);
	bpf_target__clear(&target);
	return err;
}

static const char *no_match(const struct finder *finder, int err)
{
	if (err == -EPERM)
		return "not permitted: needs CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN (run as root)";
	switch (finder->spec.kind) {
	case BPF_SPEC_ID:
		return err == -ENOENT ? "there is no BPF program with this id (perf list bpf)" :
					strerror(-err);
	case BPF_SPEC_NAME:
		return err ? strerror(-err) : "no BPF program has this name (perf list bpf)";
	case BPF_SPEC_TAG:
		return err ? strerror(-err) : "no BPF program has this tag (bpftool prog)";
	case BPF_SPEC_PINNED:
		return err == -EINVAL || err == -EACCES ? "not a pinned BPF program" : strerror(-err);
	default:
		return err ? strerror(-err) : "there is no BPF program that could be counted";
	}
}

/* Before any of them is looked for. */
static int check_words(const char *list)
{
	char *text __cleanup(free_ptr) = strdup(list);
	char *rest = text, *word;
	struct bpf_spec spec;

	if (!text)
		return -ENOMEM;
	while ((word = strsep(&rest, ","))) {
		if (!bpf_spec__parse(word, &spec))
			continue;
		pr_err("-b %s: not a BPF program: give its id, id:N, name:NAME, tag:16 hex digits, pinned:PATH, or all",
		       word);
		return -EINVAL;
	}
	return 0;
}

static int find(struct finder *finder)
{
	int nr = finder->targets->nr, err;

	finder->nr_matches = 0;
	err = bpf_spec__parse(finder->word, &finder->spec);
	if (err)
		return err;
	if (finder->spec.kind == BPF_SPEC_ALL)
		err = bpf_others__find_kin(&finder->others);
	if (!err)
		err = finder->spec.kind == BPF_SPEC_ID || finder->spec.kind == BPF_SPEC_PINNED ?
			      consider_one(finder) :
			      bpf_others__each(&finder->others, consider, finder);
	if (err || !finder->nr_matches) {
		pr_err("-b %s: %s", finder->word, no_match(finder, err));
		return err ? err : -ENOENT;
	}
	/* Those that match may have been named before; else not one of them can be counted. */
	if (finder->targets->nr == nr && finder->why_not) {
		pr_err("-b %s: '%s' (id %u) cannot be counted: %s", finder->word,
		       finder->refused.name, finder->refused.id, finder->why_not);
		return -EOPNOTSUPP;
	}
	return 0;
}

static void say_tail_calls(const struct bpf_targets *targets)
{
	for (int i = 0; i < targets->nr; i++) {
		const struct bpf_target *target = &targets->target[i];

		if (target->is_tail_called)
			pr_warn("'%s' (id %u) is in a map for tail calls: runs that begin by tail call are not seen",
				target->name, target->id);
		if (target->tail_calls)
			pr_warn("'%s' (id %u) makes tail calls: what it calls so is counted as its own",
				target->name, target->id);
	}
}

static int no_print(enum libbpf_print_level level __unused, const char *fmt __unused,
		    va_list ap __unused)
{
	return 0;
}

int bpf_targets__new(const char *list, struct bpf_targets **out)
{
	char *text __cleanup(free_ptr) = strdup(list);
	struct finder finder = { .targets = calloc(1, sizeof(*finder.targets)) };
	libbpf_print_fn_t print;
	char *rest = text;
	int err;

	if (!text || !finder.targets) {
		free(finder.targets);
		return -ENOMEM;
	}
	err = check_words(list);
	print = libbpf_set_print(no_print);
	bpf_others__find_tail_called(&finder.others);
	while (!err && (finder.word = strsep(&rest, ",")))
		err = find(&finder);
	libbpf_set_print(print);
	bpf_others__clear(&finder.others);
	free(finder.why_not);
	free(finder.refused.name);
	if (err) {
		bpf_targets__delete(finder.targets);
		return err;
	}
	say_tail_calls(finder.targets);
	*out = finder.targets;
	return 0;
}

void bpf_targets__delete(struct bpf_targets *targets)
{
	if (!targets)
		return;
	for (int i = 0; i < targets->nr; i++)
		bpf_target__clear(&targets->target[i]);
	free(targets->target);
	free(targets);
}
