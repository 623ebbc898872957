// SPDX-License-Identifier: GPL-2.0
#include "util/lib/printable.h"

#include "util/lib/util.h"

#include <string.h>

/* Control characters and characters that change how others are displayed. */
static bool is_plain(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} specials[] = {
		{0x00, 0x1f},	  {0x7f, 0x9f}, /* C0, DEL and C1 */
		{0x061c, 0x061c},		/* Arabic letter mark */
		{0x200e, 0x200f},		/* left-to-right and right-to-left marks */
		{0x2028, 0x202e},		/* separators, embeddings and overrides */
		{0x2066, 0x2069},		/* isolates */
	};

	for (size_t i = 0; i < ARRAY_SIZE(specials); i++) {
		if (code >= specials[i].first && code <= specials[i].last)
			return false;
	}
	return true;
}

struct printable_char printable__char(const char *text)
{
	/* First byte, and the range of the second one: no overlong forms, no surrogates. */
	static const struct {
		unsigned char first, last, low, high;
		int len;
	} forms[] = {
		{0x00, 0x7f, 0x00, 0xff, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	const unsigned char *s = (const unsigned char *)text;
	struct printable_char c = {.len = 1, .code = s[0]};
	size_t form = 0;

	while (form < ARRAY_SIZE(forms) && (s[0] < forms[form].first || s[0] > forms[form].last))
		form++;
	if (form == ARRAY_SIZE(forms))
		return c;
	if (forms[form].len > 1) {
		if (s[1] < forms[form].low || s[1] > forms[form].high)
			return c;
		c.code &= 0x7f >> forms[form].len;
	}
	for (int i = 1; i < forms[form].len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return (struct printable_char){.len = 1, .code = s[0]};
		c.code = c.code << 6 | (s[i] & 0x3f);
	}
	c.len = forms[form].len;
	c.is_valid = true;
	c.is_plain = is_plain(c.code);
	return c;
}

/* Append the escape of a byte. Return: its end. */
static char *escape(char *to, unsigned char byte)
{
	static const char letters[] = "abtnvfr"; /* from 7 on */

	*to++ = '\\';
	if (byte >= '\a' && byte <= '\r') {
		*to++ = letters[byte - '\a'];
		return to;
	}
	*to++ = '0' + (byte >> 6);
	*to++ = '0' + (byte >> 3 & 7);
	*to++ = '0' + (byte & 7);
	return to;
}

char *printable__text(const char *text, const char *twin)
{
	char *escaped = malloc(4 * strlen(text) + 1), *to = escaped;
	struct printable_char c;

	for (const char *s = text; escaped && *s; s += c.len) {
		c = printable__char(s);
		if (c.is_plain || (twin && twin[s - text] != *s)) {
			to = mempcpy(to, s, c.len);
			continue;
		}
		for (int i = 0; i < c.len; i++)
			to = escape(to, s[i]);
	}
	if (escaped)
		*to = '\0';
	return escaped;
}

int printable__len(const char *text)
{
	struct printable_char c;
	char buf[4];
	int len = 0;

	for (; *text; text += c.len) {
		c = printable__char(text);
		if (c.is_plain)
			len += c.len;
		for (int i = 0; !c.is_plain && i < c.len; i++)
			len += escape(buf, text[i]) - buf;
	}
	return len;
}

void printable__put(FILE *out, int width, const char *text)
{
	char *escaped __cleanup(free_ptr) = printable__text(text, NULL);

	fprintf(out, "%*s", width, escaped ? escaped : "?");
}

/* Return: whether a separator starts in the field, also one that would overlap the real separator. */
static bool holds_separator(const char *field, const char *sep)
{
	char *both __cleanup(free_ptr) = *sep ? xasprintf("%s%s", field, sep) : NULL;

	return both && strstr(both, sep) < both + strlen(field);
}

void printable__put_csv(FILE *out, const char *text, const char *sep)
{
	char *field __cleanup(free_ptr) = printable__text(text, NULL);

	if (!field) {
		fputc('?', out);
		return;
	}
	if (!strchr(field, '"') && !holds_separator(field, sep)) {
		fputs(field, out);
		return;
	}
	fputc('"', out);
	for (const char *s = field; *s; s++)
		fputs(*s == '"' ? "\"\"" : (const char[]){*s, '\0'}, out);
	fputc('"', out);
}
