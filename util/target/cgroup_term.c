// SPDX-License-Identifier: GPL-2.0
#include "util/target/cgroup_term.h"

#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Shortest ID of a container. Most engines use 64 hexadecimal digits, some fewer. */
#define CONTAINER_ID_LEN 32

/* Prefixes and words. The path of a cgroup with such a name needs a leading "/". */
static const struct {
	const char *word;
	enum term_kind kind;
	bool is_prefix;
} words[] = {
	{"glob:", TERM_GLOB, true},  {"ctr:", TERM_CTR, true},	{"pid:", TERM_PID, true},
	{"@self", TERM_SELF, false}, {"@all", TERM_ALL, false},
};

bool cgroup_term__is_pattern(const struct cgroup_term *term)
{
	return term->kind == TERM_REGEX || term->kind == TERM_GLOB || term->kind == TERM_CTR ||
	       term->kind == TERM_ALL;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *cgroup_term__container_id(const char *path, size_t *len)
{
	const char *name = last_part(path), *end = name + strlen(name), *id;

	*len = 0;
	if (end - name > 6 && !strcmp(end - 6, ".scope"))
		end -= 6;
	for (id = end; id > name && id[-1] != '-' && id[-1] != ':'; id--)
		;
	if (!strstr(name, "conmon") && end - id >= CONTAINER_ID_LEN &&
	    strspn(id, "0123456789abcdef") >= (size_t)(end - id))
		*len = end - id;
	return id;
}

bool cgroup_term__matches(const struct cgroup_term *term, const char *path)
{
	const char *id;
	size_t len;

	switch (term->kind) {
	case TERM_REGEX:
		return !regexec(&term->regex, path, 0, NULL, 0);
	case TERM_GLOB:
		/* A pattern may begin with "/"; paths do not. */
		return !fnmatch(term->text + (term->text[0] == '/' && term->text[1]),
				strchr(term->text, '/') ? path : last_part(path), FNM_PATHNAME);
	case TERM_CTR:
		id = cgroup_term__container_id(path, &len);
		return len && !strncmp(id, term->text, strlen(term->text));
	case TERM_ALL:
		return true;
	default:
		return false;
	}
}

const char *cgroup_term__prefix(const struct cgroup_term *term)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (words[i].kind == term->kind)
			return words[i].word;
	}
	return "";
}

static int parse_term(struct cgroup_terms *terms, const char *text, size_t len)
{
	struct cgroup_term *term = array__add(terms->term, terms->nr);

	if (!term)
		return -ENOMEM;
	term->kind = TERM_NAME;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t word_len = strlen(words[i].word);

		if (len < word_len || strncmp(text, words[i].word, word_len) ||
		    (!words[i].is_prefix && len != word_len))
			continue;
		term->kind = words[i].kind;
		text += word_len;
		len -= word_len;
		break;
	}
	term->text = strndup(text, len);
	if (!term->text)
		return -ENOMEM;
	if (!len && (term->kind == TERM_GLOB || term->kind == TERM_CTR || term->kind == TERM_PID)) {
		pr_err("--for-each-cgroup: '%s' needs a value", cgroup_term__prefix(term));
		return -EINVAL;
	}
	return 0;
}

static int compile(struct cgroup_term *term)
{
	char why[128];
	int err = regcomp(&term->regex, term->text, REG_NOSUB);

	if (!err) {
		term->kind = TERM_REGEX;
		return 0;
	}
	if (err == REG_ESPACE)
		return -ENOMEM;
	regerror(err, &term->regex, why, sizeof(why));
	pr_err("--for-each-cgroup: '%s' is not a valid basic regular expression: %s", term->text,
	       why);
	return -EINVAL;
}

int cgroup_terms__parse(struct cgroup_terms *terms, const char *text)
{
	bool is_regex = false;
	int err = 0;

	for (const char *pos = text; !err; pos++) {
		size_t len = strcspn(pos, ",");

		err = parse_term(terms, pos, len);
		pos += len;
		if (!*pos)
			break;
	}
	for (int i = 0; i < terms->nr && !err; i++)
		is_regex |= terms->term[i].kind == TERM_NAME &&
			    strpbrk(terms->term[i].text, "{}[]()|*+?^$");
	/* An empty element stays the root's name: as a pattern it would match everything. */
	for (int i = 0; i < terms->nr && !err; i++) {
		if (is_regex && terms->term[i].kind == TERM_NAME && *terms->term[i].text)
			err = compile(&terms->term[i]);
		terms->has_patterns |= cgroup_term__is_pattern(&terms->term[i]);
	}
	return err;
}

void cgroup_terms__clear(struct cgroup_terms *terms)
{
	for (int i = 0; i < terms->nr; i++) {
		if (terms->term[i].kind == TERM_REGEX)
			regfree(&terms->term[i].regex);
		free(terms->term[i].text);
	}
	free(terms->term);
}
