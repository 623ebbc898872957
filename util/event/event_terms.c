// SPDX-License-Identifier: GPL-2.0
#include "util/event/event_terms.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "util/event/parse_error.h"
#include "util/lib/array.h"
#include "util/lib/util.h"

bool event_char__is_name(char c, bool in_terms)
{
	if (isalnum((unsigned char)c))
		return true;
	return c && (strchr("_*?.[]!-", c) || (in_terms && c == ':'));
}

int event_number__parse(const char *text, uint64_t *value)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = text + (hex ? 2 : 0);
	size_t i;

	for (i = 0; digits[i]; i++) {
		if (hex ? !isxdigit((unsigned char)digits[i]) : !isdigit((unsigned char)digits[i]))
			return -EINVAL;
	}
	if (!i)
		return -EINVAL;
	errno = 0;
	*value = strtoull(digits, NULL, hex ? 16 : 10);
	return errno ? -ERANGE : 0;
}

int event_raw__parse(const char *text, bool prefix, uint64_t *value)
{
	size_t len;

	if (*text++ != 'r')
		return -EINVAL;
	if (prefix && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	len = strspn(text, "0123456789abcdefABCDEF");
	if (!len || text[len])
		return -EINVAL;
	if (len > 16)
		return -ERANGE;
	*value = strtoull(text, NULL, 16);
	return 0;
}

void event_terms__clear(struct event_terms *terms)
{
	int i;

	for (i = 0; i < terms->nr; i++) {
		free(terms->terms[i].name);
		free(terms->terms[i].value);
	}
	free(terms->terms);
	memset(terms, 0, sizeof(*terms));
}

int event_terms__add(struct event_terms *terms, const char *name, int column)
{
	struct event_term *term = array__add(terms->terms, terms->nr);

	if (!term)
		return -ENOMEM;
	term->column = column;
	term->name = strdup(name);
	return term->name ? 0 : -ENOMEM;
}

static int unrecognized(struct parse_error *err, int column)
{
	return parse_error__set(err, column, strdup("Unrecognized input"), NULL);
}

/* Parse a word or 'quoted word' at @text. *@len receives its length. */
static int parse_word(const char *text, bool quotes, char **word, size_t *len)
{
	const char *p = text;

	if (quotes && *p == '\'') {
		for (p++; event_char__is_name(*p, true) || (*p && strchr(",=", *p)); p++)
			;
		if (*p != '\'' || p == text + 1)
			goto bad;
		*word = strndup(text + 1, p - text - 1);
		*len = p + 1 - text;
	} else {
		while (event_char__is_name(*p, true))
			p++;
		if (p == text)
			goto bad;
		*word = strndup(text, p - text);
		*len = p - text;
	}
	return *word ? 0 : -ENOMEM;
bad:
	*len = p - text;
	return -EINVAL;
}

static int parse_term(const char *text, int column, struct event_term *term, size_t *len,
		      struct parse_error *err)
{
	size_t part;
	int ret;

	*len = 0;
	while (text[*len] == ' ' || text[*len] == '\t')
		(*len)++;
	term->is_driver = text[*len] == '@';
	*len += term->is_driver;
	term->column = column + *len;
	ret = parse_word(text + *len, false, &term->name, &part);
	if (ret)
		return ret == -EINVAL ? unrecognized(err, column + *len + part) : ret;
	*len += part;
	if (text[*len] != '=')
		return 0;
	(*len)++;
	term->value_column = column + *len;
	ret = parse_word(text + *len, true, &term->value, &part);
	if (ret)
		return ret == -EINVAL ? unrecognized(err, column + *len + part) : ret;
	*len += part;
	return 0;
}

int event_terms__parse(const char *text, int column, char end, struct event_terms *terms,
		       size_t *len, struct parse_error *err)
{
	*len = 0;
	if (text[0] == end)
		return 0;
	for (;; (*len)++) {
		struct event_term *term = array__add(terms->terms, terms->nr);
		size_t part;
		int ret;

		if (!term)
			return -ENOMEM;
		ret = parse_term(text + *len, column < 0 ? 0 : column + (int)*len, term, &part,
				 err);
		if (ret)
			return ret;
		*len += part;
		if (text[*len] == end)
			return 0;
		if (text[*len] != ',')
			return unrecognized(err, column < 0 ? 0 : column + (int)*len);
	}
}
