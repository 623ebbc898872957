// SPDX-License-Identifier: GPL-2.0
/*
 * Any two texts are folded stacks, or are refused. | stands for a line break, and the first byte 1 ends the
 * text before and begins that after. Trees that are complete can be drawn, whatever the names are.
 */
#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/profile/flame_svg.h"
#include "util/profile/flame_tree.h"
#include "util/profile/folded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_text(struct flame_tree *tree, const char *text, size_t size, bool is_after)
{
	int fd = memfd_create("folded", MFD_CLOEXEC), err;
	char path[64];

	assert(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = folded__read(tree, path, is_after);
	close(fd);
	return err;
}

/* The sum of the numbers at the ends of the lines of an accepted text. */
static uint64_t sum_of(const char *text, size_t size)
{
	const char *end = text + size, *next;
	uint64_t sum = 0;

	for (const char *line = text; line < end; line = next) {
		const char *stop = memchr(line, '\n', end - line);
		uint64_t unit = 1;

		stop = stop ? stop : end;
		next = stop + 1;
		if (stop > line && stop[-1] == '\r')
			stop--;
		for (; stop > line && isdigit((unsigned char)stop[-1]); stop--, unit *= 10)
			sum += unit * (stop[-1] - '0');
	}
	return sum;
}

/* Each node weighs as much as all below it, or more: that of the stacks that end there. */
static void check(const struct call_tree *calls)
{
	for (int i = 0; i < calls->nr; i++) {
		uint64_t before = 0, after = 0;

		for (int c = calls->nodes[i].first; c >= 0; c = calls->nodes[c].next) {
			assert(c > 0 && c < calls->nr);
			before += calls->nodes[c].nr;
			after += calls->nodes[c].weight;
		}
		assert(before <= calls->nodes[i].nr && after <= calls->nodes[i].weight);
	}
}

static void draw(struct flame_tree *tree, bool is_html)
{
	const struct flame_graph graph = {
		.tree = tree,
		.title = "fuzz",
		.notes = "",
		.event = "cycles",
		.is_diff = true,
		.is_html = is_html,
	};
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert(out && !flame_svg__write(out, &graph) && !fclose(out));
	for (size_t i = 0; i < len; i++)
		assert((unsigned char)text[i] >= ' ' || text[i] == '\n' || text[i] == '\t');
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flame_tree tree = {};
	char *text = malloc(size + 1), *after;
	size_t len;

	assert(text);
	for (size_t i = 0; i < size; i++)
		text[i] = data[i] == '|' ? '\n' : (char)data[i];
	after = memchr(text, 1, size);
	len = after ? (size_t)(after - text) : size;
	if (!read_text(&tree, text, len, false)) {
		assert(tree.calls.nodes[0].nr == sum_of(text, len));
		if (after && !read_text(&tree, after + 1, size - len - 1, true))
			assert(tree.calls.nodes[0].weight == sum_of(after + 1, size - len - 1));
		check(&tree.calls);
		draw(&tree, size % 2);
	}
	flame_tree__clear(&tree);
	free(text);
	return 0;
}
