// SPDX-License-Identifier: GPL-2.0
/*
 * The grammar of event lists, parsed by recursive descent:
 *
 *	list  = item { "," item }
 *	item  = event | [ NAME ] "{" event { "," event } "}" [ ":" MODS ]
 *	event = NAME | NAME/terms/ | TYPE:CONFIG | mem:ADDR[/LEN][:RWX] | SUBSYS:NAME, and modifiers
 *
 * Blanks may surround events, names of groups and braces, but not occur inside events.
 */
#include "util/event/parse_events.h"

#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

#include "util/event/event_expand.h"
#include "util/event/evlist.h"
#include "util/event/group_split.h"
#include "util/event/modifiers.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

/* The events of one member of a group and the modifiers typed behind it. */
struct member {
	int first, nr;
	struct modifiers mods;
};

struct parser {
	struct event_expansion c;
	const char *const *metric_ids; /* of the events in the text; NULL: none */
	const char *text;
	const char *p;		/* next character */
	struct member *members; /* of the group being read */
	int nr_members;
	int nr_events;	/* read so far */
	bool regrouped; /* in a way to warn the user of */
};

static int column_of(const struct parser *parser, const char *p)
{
	return p - parser->text;
}

static int fail(struct parser *parser, const char *p, const char *reason)
{
	return parse_error__set(parser->c.err, column_of(parser, p), strdup(reason), NULL);
}

static int unrecognized(struct parser *parser)
{
	return fail(parser, parser->p, "Unrecognized input");
}

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->p))
		parser->p++;
}

static size_t name_len(const char *p)
{
	size_t len = 0;

	while (event_char__is_name(p[len], false))
		len++;
	return len;
}

/* Parse a number of digits, letters and 'x' at the parser's place. */
static int parse_number(struct parser *parser, uint64_t *value)
{
	size_t len = name_len(parser->p);
	char *word __cleanup(free_ptr) = strndup(parser->p, len);
	int err = word ? event_number__parse(word, value) : -ENOMEM;

	if (err == -ERANGE)
		return fail(parser, parser->p, "value too big: more than 64 bits");
	if (err == -EINVAL)
		return fail(parser, parser->p, "expected numeric value");
	if (!err)
		parser->p += len;
	return err;
}

/* Parse "/" terms "/" at the parser's place. */
static int parse_terms(struct parser *parser, struct event_spec *spec)
{
	size_t len;
	int err;

	parser->p++;
	err = event_terms__parse(parser->p, column_of(parser, parser->p), '/', &spec->terms, &len,
				 parser->c.err);
	if (err)
		return err;
	parser->p += len + 1;
	return 0;
}

/* Parse "r", "w", "x" at the parser's place, each once. */
static int parse_access(struct parser *parser, struct perf_event_attr *attr)
{
	static const struct {
		char letter;
		uint32_t access;
	} accesses[] = {
		{'r', HW_BREAKPOINT_R},
		{'w', HW_BREAKPOINT_W},
		{'x', HW_BREAKPOINT_X},
	};
	size_t i;

	for (; isalnum((unsigned char)*parser->p); parser->p++) {
		for (i = 0; i < ARRAY_SIZE(accesses) && accesses[i].letter != *parser->p; i++)
			;
		if (i == ARRAY_SIZE(accesses))
			return fail(parser, parser->p, "Bad breakpoint access, expected r, w, x");
		if (attr->bp_type & accesses[i].access)
			return fail(parser, parser->p, "Duplicate breakpoint access");
		attr->bp_type |= accesses[i].access;
	}
	return 0;
}

/* Parse the rest behind "mem:". */
static int parse_breakpoint(struct parser *parser, struct event_spec *spec)
{
	struct perf_event_attr *attr = &spec->attr;
	uint64_t value, len = 0;
	size_t digits;
	int err = parse_number(parser, &value);

	if (err)
		return err;
	spec->form = EVENT_BREAKPOINT;
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->bp_addr = value;
	/* a plain number behind a slash is a length, anything else is terms */
	digits = parser->p[0] == '/' ? name_len(parser->p + 1) : 0;
	if (digits && isdigit((unsigned char)parser->p[1]) && parser->p[1 + digits] != '=') {
		parser->p++;
		err = parse_number(parser, &len);
		if (!err && !len)
			err = fail(parser, parser->p - 1, "Bad breakpoint length");
		if (err)
			return err;
	}
	if (*parser->p == ':' && parser->p[1] && strchr("rwx", parser->p[1])) {
		parser->p++;
		err = parse_access(parser, attr);
		if (err)
			return err;
	}
	if (!attr->bp_type)
		attr->bp_type = HW_BREAKPOINT_RW;
	if (!len) {
		len = HW_BREAKPOINT_LEN_4;
#ifndef __aarch64__
		/* the kernel only accepts words here, except where instructions are shorter */
		if (attr->bp_type == HW_BREAKPOINT_X)
			len = sizeof(long);
#endif
	}
	attr->bp_len = len;
	return *parser->p == '/' ? parse_terms(parser, spec) : 0;
}

/* Parse the rest behind "TYPE:"; the type is known to be digits. */
static int parse_numeric(struct parser *parser, const char *start, struct event_spec *spec)
{
	uint64_t type, config;
	int err;

	if (event_number__parse(spec->word, &type) || type > UINT32_MAX)
		return fail(parser, start, "value too big: event types have 32 bits");
	err = parse_number(parser, &config);
	if (err)
		return err;
	spec->form = EVENT_NUMERIC;
	spec->attr.type = type;
	spec->attr.config = config;
	return *parser->p == '/' ? parse_terms(parser, spec) : 0;
}

static int parse_base(struct parser *parser, struct event_spec *spec)
{
	const char *start = parser->p, *after;
	size_t len = name_len(start), rest;
	uint64_t number;

	if (!len)
		return unrecognized(parser);
	spec->column = column_of(parser, start);
	spec->word = strndup(start, len);
	if (!spec->word)
		return -ENOMEM;
	parser->p += len;
	spec->form = EVENT_NAME;
	if (*parser->p == '/') {
		spec->form = EVENT_SLASHES;
		return parse_terms(parser, spec);
	}
	if (*parser->p != ':')
		return 0;
	after = parser->p + 1;
	if (!strcmp(spec->word, "mem") && isdigit((unsigned char)*after)) {
		parser->p = after;
		return parse_breakpoint(parser, spec);
	}
	if (event_number__parse(spec->word, &number) != -EINVAL && isdigit((unsigned char)*after)) {
		parser->p = after;
		return parse_numeric(parser, start, spec);
	}
	rest = name_len(after);
	if (modifiers__is_word(after, rest))
		return 0;
	spec->form = EVENT_TRACEPOINT;
	spec->tracepoint = strndup(after, rest);
	if (!spec->tracepoint)
		return -ENOMEM;
	parser->p = after + rest;
	return *parser->p == '/' ? parse_terms(parser, spec) : 0;
}

static int parse_modifiers(struct parser *parser, bool in_group, struct modifiers *mods)
{
	char *reason = NULL;
	size_t len;

	if (!modifiers__parse(parser->p, in_group, mods, &len, &reason)) {
		parser->p += len;
		return 0;
	}
	return parse_error__set(parser->c.err, column_of(parser, parser->p + len), reason,
				strdup(modifiers_help));
}

/* Set the metric id of the events from @first on, which one event of the text became. */
static int set_metric_id(struct parser *parser, int first)
{
	const char *id = parser->metric_ids ? parser->metric_ids[parser->nr_events] : NULL;
	struct evlist *list = parser->c.list;

	parser->nr_events++;
	for (; id && first < list->nr; first++) {
		free(list->evsels[first]->metric_id);
		list->evsels[first]->metric_id = strdup(id);
		if (!list->evsels[first]->metric_id)
			return -ENOMEM;
	}
	return 0;
}

/* If the missing tracepoint is a known event with a bad modifier, blame the modifier. */
static int blame_modifiers(struct parser *parser, const struct event_spec *spec)
{
	struct parse_error *err = parser->c.err;
	char *reason = NULL;
	struct modifiers mods;
	size_t len;

	if (!spec->is_missing || !parse_events__is_known(parser->c.pmus, spec->word) ||
	    !modifiers__parse(spec->tracepoint, false, &mods, &len, &reason))
		return -EINVAL;
	free_ptr(&err->reason);
	free_ptr(&err->help);
	free_ptr(&err->suggestion);
	return parse_error__set(err, spec->column + (int)(strlen(spec->word) + 1 + len), reason,
				strdup(modifiers_help));
}

/* Parse one event; its modifiers are returned, not applied yet. */
static int parse_event(struct parser *parser, struct modifiers *mods)
{
	struct event_spec spec = {.word = NULL};
	int first = parser->c.list->nr, err;
	const char *start, *end;

	memset(mods, 0, sizeof(*mods));
	skip_blanks(parser);
	start = parser->p;
	err = parse_base(parser, &spec);
	if (err)
		goto out;
	/* there is no colon behind a slash; a colon without letters is accepted */
	if (parser->p[-1] == '/') {
		err = parse_modifiers(parser, false, mods);
	} else if (*parser->p == ':') {
		parser->p++;
		err = parse_modifiers(parser, false, mods);
	}
	end = parser->p;
	skip_blanks(parser);
	if (!err && *parser->p && !strchr(",}", *parser->p))
		err = unrecognized(parser);
	if (err)
		goto out;
	spec.text = strndup(start, end - start);
	err = spec.text ? event_spec__create(&spec, &parser->c) : -ENOMEM;
	if (!err)
		err = set_metric_id(parser, first);
	else if (err == -EINVAL)
		err = blame_modifiers(parser, &spec);
out:
	event_spec__clear(&spec);
	return err;
}

static int add_member(struct parser *parser, int first, const struct modifiers *mods)
{
	struct member *member = array__add(parser->members, parser->nr_members);

	if (!member)
		return -ENOMEM;
	*member = (struct member){first, parser->c.list->nr - first, *mods};
	return 0;
}

static int too_precise(struct parser *parser, const struct evsel *evsel, const char *mods)
{
	return parse_error__set(
		parser->c.err, column_of(parser, mods),
		xasprintf("Maximum combined precise value is %d, adding precision to '%s'",
			  MODIFIERS_MAX_PRECISE, evsel->name),
		NULL);
}

/* @text: place of @mods, the group's modifiers */
static int finish_group(struct parser *parser, int first, const char *name,
			const struct modifiers *mods, const char *text)
{
	struct evlist *list = parser->c.list;
	bool several_pmus = false, changed = false;
	int i, j, err;

	for (i = 0; i < parser->nr_members; i++) {
		const struct member *member = &parser->members[i];

		if (modifiers__precise(&member->mods, mods) > MODIFIERS_MAX_PRECISE)
			return too_precise(parser, list->evsels[member->first], text);
		/* with a name on several PMUs, several groups are expected */
		several_pmus |= member->nr > 1;
		for (j = member->first; j < member->first + member->nr; j++)
			modifiers__apply(list->evsels[j], &member->mods, mods, j == first);
	}
	err = group_split__split(list, first, modifiers__is_weak(mods), name, &changed);
	parser->regrouped |= changed && !several_pmus;
	return err;
}

/* Parse a group; the parser is at its '{'. */
static int parse_group(struct parser *parser, const char *name)
{
	int first = parser->c.list->nr, err;
	struct modifiers mods = {0};
	const char *text;

	parser->nr_members = 0;
	do {
		struct modifiers own;
		int before = parser->c.list->nr;

		parser->p++;
		err = parse_event(parser, &own);
		if (!err)
			err = add_member(parser, before, &own);
		if (err)
			return err;
	} while (*parser->p == ',');
	if (*parser->p != '}')
		return fail(parser, parser->p, "Unrecognized input, expected '}'");
	parser->p++;
	skip_blanks(parser);
	text = parser->p;
	if (*parser->p == ':') {
		text = ++parser->p;
		err = parse_modifiers(parser, true, &mods);
		if (err)
			return err;
		skip_blanks(parser);
	}
	return finish_group(parser, first, name, &mods, text);
}

static int parse_item(struct parser *parser)
{
	struct evlist *list = parser->c.list;
	struct modifiers mods;
	int first = list->nr, err;
	size_t len;

	skip_blanks(parser);
	len = name_len(parser->p);
	if (parser->p[len + strspn(parser->p + len, " \t\n")] == '{') {
		char *name __cleanup(free_ptr) = len ? strndup(parser->p, len) : NULL;

		parser->p += len;
		skip_blanks(parser);
		return parse_group(parser, name);
	}
	err = parse_event(parser, &mods);
	for (; !err && first < list->nr; first++)
		modifiers__apply(list->evsels[first], &mods, NULL, true);
	return err;
}

static int parse_list(struct parser *parser)
{
	int err = parse_item(parser);

	while (!err && *parser->p == ',') {
		parser->p++;
		err = parse_item(parser);
	}
	if (!err && *parser->p)
		err = unrecognized(parser);
	return err;
}

int parse_events_opts(struct evlist *list, struct pmus *pmus, const char *text,
		      const struct parse_events_options *options, struct parse_error *err)
{
	struct parser parser = {
		.c = {.list = list,
		      .pmus = pmus,
		      .hybrid_merge = options && options->hybrid_merge,
		      .quiet = options && options->quiet,
		      .err = err},
		.metric_ids = options ? options->metric_ids : NULL,
		.text = text,
		.p = text,
	};
	int first = list->nr, ret;

	memset(err, 0, sizeof(*err));
	err->text = strdup(text);
	if (!err->text)
		return -ENOMEM;
	ret = parse_list(&parser);
	if (!ret)
		ret = group_split__topdown(&parser.c, first);
	free(parser.members);
	if (ret) {
		evlist__truncate(list, first);
		return ret;
	}
	if (parser.regrouped && !parser.c.quiet)
		pr_warn("events were regrouped to match PMUs");
	parse_error__clear(err);
	return 0;
}

int parse_events(struct evlist *list, struct pmus *pmus, const char *text, struct parse_error *err)
{
	return parse_events_opts(list, pmus, text, NULL, err);
}

bool parse_events__is_known(struct pmus *pmus, const char *text)
{
	static const struct parse_events_options quiet = {.quiet = true};
	struct evlist *list = evlist__new();
	struct parse_error err = {.text = NULL};
	bool known = list && !parse_events_opts(list, pmus, text, &quiet, &err);

	parse_error__clear(&err);
	evlist__delete(list);
	return known;
}
