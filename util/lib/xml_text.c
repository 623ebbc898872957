// SPDX-License-Identifier: GPL-2.0
#include "util/lib/xml_text.h"

#include "util/lib/printable.h"
#include "util/lib/util.h"

#include <string.h>

static const char *entity(char c)
{
	return c == '&'	 ? "&amp;" :
	       c == '<'	 ? "&lt;" :
	       c == '>'	 ? "&gt;" :
	       c == '"'	 ? "&quot;" :
	       c == '\'' ? "&#39;" :
			   NULL;
}

/* XML 1.0 forbids U+FFFE and U+FFFF, which printable.h lets pass. */
static bool is_forbidden(uint32_t code)
{
	return code == 0xfffe || code == 0xffff;
}

void xml_text__put(FILE *out, const char *text)
{
	char *escaped __cleanup(free_ptr) = printable__text(text, NULL);
	struct printable_char c;

	for (const char *s = escaped ? escaped : "?"; *s; s += c.len) {
		const char *special = entity(*s);

		c = printable__char(s);
		if (special)
			fputs(special, out);
		else if (is_forbidden(c.code))
			fprintf(out, "U+%X", c.code);
		else
			fwrite(s, 1, c.len, out);
	}
}
