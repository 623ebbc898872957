// SPDX-License-Identifier: GPL-2.0
#include "util/lib/json_string.h"

#include "util/lib/printable.h"

#include <json-c/json.h>

/* json-c escapes characters below U+0020 in strings; remaining ones are its own line breaks. */
void json_string__print_all(FILE *out, const char *json)
{
	struct printable_char c;

	for (; *json; json += c.len) {
		c = printable__char(json);
		if (!c.is_valid)
			fputs("\xef\xbf\xbd", out);
		else if (c.is_plain || c.code < ' ')
			fwrite(json, 1, c.len, out);
		else
			fprintf(out, "\\u%04x", c.code);
	}
}

void json_string__print(FILE *out, const char *text)
{
	struct json_object *string = json_object_new_string(text);
	const char *quoted = NULL;

	if (string)
		quoted = json_object_to_json_string_ext(
			string, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	json_string__print_all(out, quoted ? quoted : "\"\"");
	json_object_put(string);
}
