// SPDX-License-Identifier: GPL-2.0
#include "util/profile/profile_ranges.h"

#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/symbol/kernel_names.h"
#include "util/symbol/symbol_ranges.h"
#include "util/symbol/symbols.h"
#include "util/target/pid_list.h"
#include "util/target/target.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Return: whether a text is START-END, in hexadecimal digits. */
static bool parse_numbers(const char *text, uint64_t *start, uint64_t *end)
{
	char *rest;

	if (!isxdigit((unsigned char)*text))
		return false;
	errno = 0;
	*start = strtoull(text, &rest, 16);
	if (*rest != '-' || !isxdigit((unsigned char)rest[1]))
		return false;
	*end = strtoull(rest + 1, &rest, 16);
	return !*rest && !errno;
}

int profile_ranges__add(struct profile_ranges *ranges, const char *text)
{
	struct range_name *name;
	uint64_t start, end;

	if (!*text) {
		pr_err("--range: an empty name");
		return -EINVAL;
	}
	if (parse_numbers(text, &start, &end) && start >= end) {
		pr_err("--range %s: the end, which is not part of it, is not after the start",
		       text);
		return -EINVAL;
	}
	name = array__add(ranges->names, ranges->nr);
	if (!name)
		return -ENOMEM;
	name->text = text;
	return 0;
}

bool profile_ranges__has_all(const struct profile_ranges *ranges)
{
	for (int i = 0; i < ranges->nr; i++) {
		if (!ranges->names[i].is_found)
			return false;
	}
	return true;
}

void profile_ranges__clear(struct profile_ranges *ranges)
{
	free(ranges->names);
	address_ranges__clear(&ranges->found);
	*ranges = (struct profile_ranges){};
}

/* --- numbers and the kernel --- */

static int find_kernel(struct profile_ranges *ranges, struct symbols *symbols,
		       struct range_name *name)
{
	uint64_t start, end;
	int nr = 1;

	if (!parse_numbers(name->text, &start, &end))
		nr = symbol_ranges__kernel(symbols, name->text, &ranges->found);
	else if (address_ranges__add(&ranges->found, start, end))
		nr = -ENOMEM;
	name->is_found = nr > 0;
	return nr < 0 ? nr : 0;
}

int profile_ranges__find_kernel(struct profile_ranges *ranges, struct symbols *symbols)
{
	int err = 0;

	for (int i = 0; i < ranges->nr && !err; i++)
		err = find_kernel(ranges, symbols, &ranges->names[i]);
	address_ranges__sort(&ranges->found);
	return err;
}

/* --- processes --- */

const char *profile_ranges__colon(const char *text)
{
	for (const char *at = text; (at = strchr(at, ':')); at += 2) {
		if (at[1] != ':')
			return at;
	}
	return NULL;
}

static int find_code(struct profile_ranges *ranges, struct symbols *symbols,
		     const struct pid_list *pids, const char *file, const char *function)
{
	struct process_code code = {
		.pids = pids->pids,
		.nr_pids = pids->nr,
		.file = file,
		.function = function,
	};

	return symbol_ranges__processes(symbols, &code, &ranges->found);
}

/* FILE:FUNCTION, where FILE and FUNCTION can have colons. */
static int find_in_file(struct profile_ranges *ranges, struct symbols *symbols,
			const struct pid_list *pids, const char *text)
{
	int nr = 0;

	for (const char *at = text; !nr && (at = profile_ranges__colon(at)); at++) {
		char *file __cleanup(free_ptr) = strndup(text, at - text);

		nr = file ? find_code(ranges, symbols, pids, file, at + 1) : -ENOMEM;
	}
	return nr;
}

/* A name alone is that of a file, or of a function in any file of the target. */
static int find_name(struct profile_ranges *ranges, struct symbols *symbols,
		     const struct pid_list *pids, const char *text, bool is_everybody)
{
	int nr = find_in_file(ranges, symbols, pids, text);

	if (!nr)
		nr = find_code(ranges, symbols, pids, text, NULL);
	if (!nr && !strchr(text, '/') && !is_everybody)
		nr = find_code(ranges, symbols, pids, NULL, text);
	return nr;
}

static int report_missing(const struct symbols *symbols, const char *text, bool is_everybody,
			  pid_t workload)
{
	const char *where =
		is_everybody ?
			"nothing of this name in the kernel, and no process has such a file (FILE:FUNCTION is a function of a program)" :
		workload ?
			"nothing of this name in the kernel and in the program of the command (libraries are not mapped yet: use -p)" :
			"nothing of this name in the kernel and in the files of the target";

	if (symbols__hides_kernel(symbols) && !strchr(text, ':'))
		pr_err("--range %s: no such function in a program, and those of the kernel are hidden (" KERNEL_NAMES_REMEDY
		       ")",
		       text);
	else
		pr_err("--range %s: %s", text, where);
	return -EINVAL;
}

static int find_user(struct profile_ranges *ranges, struct symbols *symbols,
		     const struct pid_list *pids, bool is_everybody, pid_t workload)
{
	for (int i = 0; i < ranges->nr; i++) {
		const char *text = ranges->names[i].text;
		int nr = ranges->names[i].is_found ?
				 1 :
				 find_name(ranges, symbols, pids, text, is_everybody);

		if (nr < 0)
			return nr;
		if (!nr)
			return report_missing(symbols, text, is_everybody, workload);
		ranges->names[i].is_found = true;
	}
	address_ranges__sort(&ranges->found);
	return 0;
}

int profile_ranges__find_user(struct profile_ranges *ranges, struct symbols *symbols,
			      const struct target *target, pid_t workload)
{
	struct pid_list pids = {};
	int err;

	err = workload ? pid_list__add(&pids, workload) : pid_list__find(&pids, target);
	if (!err)
		err = find_user(ranges, symbols, &pids, !workload && !target__is_attached(target),
				workload);
	pid_list__clear(&pids);
	return err;
}
