// SPDX-License-Identifier: GPL-2.0
#include "util/target/bpf_prog_spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
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

/* Return: the text after a prefix; NULL: the word does not begin with it. */
static const char *after(const char *word, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(word, prefix, len) ? NULL : word + len;
}

int bpf_prog_spec__parse(const char *word, struct bpf_prog_spec *spec)
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
