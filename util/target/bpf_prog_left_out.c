// SPDX-License-Identifier: GPL-2.0
#include "util/target/bpf_prog_left_out.h"

#include "util/lib/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum of names with one reason in the line; -v prints all. */
#define MAX_NAMES 4

int bpf_prog_left_out__add(struct bpf_prog_left_out *left_out, const char *name, __u32 id,
			   const char *why)
{
	struct bpf_prog_left_out_name *to;

	for (int i = 0; i < left_out->nr; i++) {
		struct bpf_prog_left_out_name *known = &left_out->name[i];

		if (!strcmp(known->name, name) && !strcmp(known->why, why)) {
			/* Two words of a list can name the same program. */
			known->nr += known->id != id;
			return 0;
		}
	}
	to = array__add(left_out->name, left_out->nr);
	if (!to)
		return -ENOMEM;
	*to = (struct bpf_prog_left_out_name){
		.name = strdup(name), .why = strdup(why), .id = id, .nr = 1};
	if (!to->name || !to->why) {
		free(to->name);
		free(to->why);
		left_out->nr--;
		return -ENOMEM;
	}
	return 0;
}

/* Print all new names with this reason. */
static void print_reason(FILE *out, struct bpf_prog_left_out *left_out, const char *why)
{
	int nr = 0, nr_unnamed = 0;

	for (int i = 0; i < left_out->nr; i++) {
		struct bpf_prog_left_out_name *name = &left_out->name[i];

		if (name->is_printed || strcmp(name->why, why))
			continue;
		name->is_printed = true;
		if (nr++ >= MAX_NAMES) {
			nr_unnamed += name->nr;
			continue;
		}
		fprintf(out, "%s'%s' (id %u", nr > 1 ? ", " : "", name->name, name->id);
		if (name->nr > 1)
			fprintf(out, " and %d more", name->nr - 1);
		fputc(')', out);
	}
	if (nr_unnamed)
		fprintf(out, " and %d others", nr_unnamed);
	fprintf(out, ": %s", why);
}

char *bpf_prog_left_out__text(struct bpf_prog_left_out *left_out)
{
	const char *separator = " left out: ";
	char *text = NULL;
	size_t size;
	FILE *out;
	int nr = 0;

	for (int i = 0; i < left_out->nr; i++)
		nr += left_out->name[i].is_printed ? 0 : left_out->name[i].nr;
	out = nr ? open_memstream(&text, &size) : NULL;
	if (!out)
		return NULL;
	fprintf(out, "%d program%s", nr, nr > 1 ? "s" : "");
	for (int i = 0; i < left_out->nr; i++) {
		if (left_out->name[i].is_printed)
			continue;
		fputs(separator, out);
		separator = "; ";
		print_reason(out, left_out, left_out->name[i].why);
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

void bpf_prog_left_out__clear(struct bpf_prog_left_out *left_out)
{
	for (int i = 0; i < left_out->nr; i++) {
		free(left_out->name[i].name);
		free(left_out->name[i].why);
	}
	free(left_out->name);
	*left_out = (struct bpf_prog_left_out){};
}
