// SPDX-License-Identifier: GPL-2.0
#include "json_string.h"

#include "util.h"

#include <json-c/json.h>
#include <string.h>

/* Length of the UTF-8 sequence at @s, 0 when there is none. */
static int utf8_len(const unsigned char *s)
{
	/* First byte, and the range of the second one: no overlong forms, no surrogates. */
	static const struct {
		unsigned char first, last, low, high;
		int len;
	} forms[] = {
		{ 0x01, 0x7f, 0x00, 0xff, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	size_t i;
	int j;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		if (s[0] < forms[i].first || s[0] > forms[i].last)
			continue;
		if (forms[i].len > 1 && (s[1] < forms[i].low || s[1] > forms[i].high))
			return 0;
		for (j = 2; j < forms[i].len; j++) {
			if ((s[j] & 0xc0) != 0x80)
				return 0;
		}
		return forms[i].len;
	}
	return 0;
}

/* The same text, what is no UTF-8 replaced; owned, NULL without memory. */
static char *make_valid(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	const unsigned char *s = (const unsigned char *)text;
	char *valid = malloc(strlen(text) * strlen(replacement) + 1), *end = valid;

	while (valid && *s) {
		int len = utf8_len(s);

		if (len)
			end = mempcpy(end, s, len);
		else
			end = mempcpy(end, replacement, strlen(replacement));
		s += len ? len : 1;
	}
	if (valid)
		*end = '\0';
	return valid;
}

void json_string__print(FILE *out, const char *text)
{
	char *valid __cleanup(free_ptr) = make_valid(text);
	struct json_object *string = valid ? json_object_new_string(valid) : NULL;
	const char *quoted = NULL;

	if (string)
		quoted = json_object_to_json_string_ext(string, JSON_C_TO_STRING_PLAIN |
								JSON_C_TO_STRING_NOSLASHESCAPE);
	fputs(quoted ? quoted : "\"\"", out);
	json_object_put(string);
}
