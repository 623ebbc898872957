// SPDX-License-Identifier: GPL-2.0
#include "util/profile/folded.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/profile/flame_tree.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Drawing goes so deep. Longer stacks are no profile. */
#define MAX_FRAMES 1024

struct reading {
	struct flame_tree *tree;
	const char *path;
	int line;
	bool is_after;
	uint64_t sum; /* of all weights */
};

static int refuse(const struct reading *reading, const char *why)
{
	pr_err("%s: line %d: %s", reading->path, reading->line, why);
	return -EINVAL;
}

/* Cut the weight off. Return: whether there is one. */
static bool take_weight(char *line, uint64_t *weight)
{
	char *space = strrchr(line, ' '), *end;

	if (!space || space == line || !isdigit((unsigned char)space[1]))
		return false;
	errno = 0;
	*weight = strtoull(space + 1, &end, 10);
	*space = '\0';
	return !*end && !errno;
}

static int add_stack(struct reading *reading, char *line, uint64_t weight)
{
	struct call_frame path[MAX_FRAMES];
	char *rest = line, *name;
	int nr = 0;

	while ((name = strsep(&rest, ";"))) {
		const struct flame_frame frame = {
			.kind = nr ? FRAME_USER : FRAME_COMMAND,
			.name = name,
			.image = "",
		};
		int function = nr < MAX_FRAMES ? flame_tree__add_frame(reading->tree, &frame) : 0;

		if (nr == MAX_FRAMES)
			return refuse(reading, "more than 1024 frames");
		if (function < 0)
			return function;
		path[nr++] = (struct call_frame){function, function};
	}
	return call_tree__add(&reading->tree->calls, path, nr, reading->is_after ? 0 : weight,
			      reading->is_after ? weight : 0);
}

/* A carriage return elsewhere is part of a name. */
static void cut_line_end(char *line, size_t len)
{
	if (len && line[len - 1] == '\n')
		line[--len] = '\0';
	if (len && line[len - 1] == '\r')
		line[--len] = '\0';
}

static int add_line(struct reading *reading, char *line, size_t len)
{
	uint64_t weight;

	if (strlen(line) != len)
		return refuse(reading, "not a text (NUL byte)");
	cut_line_end(line, len);
	if (!*line)
		return 0;
	if (!take_weight(line, &weight))
		return refuse(reading,
			      "not a folded stack (names separated by ';', a space, a number)");
	if (__builtin_add_overflow(reading->sum, weight, &reading->sum))
		return refuse(reading, "the sum of the numbers is too large");
	return add_stack(reading, line, weight);
}

static int read_lines(struct reading *reading, FILE *file)
{
	char *line __cleanup(free_ptr) = NULL;
	size_t cap = 0;
	ssize_t len;
	int err = 0;

	errno = 0;
	while (!err && (len = getline(&line, &cap, file)) >= 0) {
		reading->line++;
		err = add_line(reading, line, len);
	}
	if (!err && ferror(file))
		err = -errno;
	if (err && err != -EINVAL)
		pr_err("%s: %s", reading->path, strerror(-err));
	return err;
}

int folded__read(struct flame_tree *tree, const char *path, bool is_after)
{
	struct reading reading = {.tree = tree, .path = path, .is_after = is_after};
	FILE *file = fopen(path, "re");
	int err;

	if (!file) {
		err = -errno;
		pr_err("%s: %s", path, strerror(errno));
		return err;
	}
	err = read_lines(&reading, file);
	fclose(file);
	if (!err && !reading.sum) {
		pr_err("%s: no folded stacks", path);
		err = -EINVAL;
	}
	return err;
}
