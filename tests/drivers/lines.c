// SPDX-License-Identifier: GPL-2.0
/*
 * Print source lines and inlined functions as `addr2line -a -f -i` does, read by the confined process.
 *
 *	lines FILE [DEBUG-FILE [ALT-FILE]] <ADDRESSES
 *
 * Addresses are hexadecimal, one on a line.
 */
#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/symbol/elf_symbols.h"
#include "util/symbol/symbol_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct frame {
	char *name, *file;
	int line;
};

struct answer {
	uint64_t address;
	char *name;
	struct frame frames[SYMBOL_MAX_INLINED];
	int nr;
};

static struct answer *answers;
static uint64_t *offsets;
static int nr_answers;

static void take_name(void *ctx __unused, int idx, const char *name, uint64_t offset __unused)
{
	free(answers[idx].name);
	answers[idx].name = strdup(name);
}

static void take_line(void *ctx __unused, int idx, const struct symbol_line *line)
{
	struct frame *frame = &answers[idx].frames[line->depth];

	free(frame->name);
	free(frame->file);
	*frame = (struct frame){strdup(line->name), strdup(line->file), line->line};
	answers[idx].nr = line->depth + 1;
}

static int read_addresses(int fd)
{
	struct elf_segments segments;
	char line[64];
	int err = elf_symbols__segments(fd, &segments);

	while (!err && fgets(line, sizeof(line), stdin)) {
		int nr = nr_answers;
		struct answer *answer = array__add(answers, nr_answers);
		uint64_t *offset = array__add(offsets, nr);

		if (!answer || !offset)
			return -ENOMEM;
		answer->address = strtoull(line, NULL, 16);
		if (!elf_segments__offset(&segments, answer->address, offset))
			*offset = UINT64_MAX;
	}
	free(segments.segments);
	return err;
}

static void print(const struct answer *answer)
{
	printf("0x%016" PRIx64 "\n", answer->address);
	for (int i = answer->nr - 1; i >= 0; i--) {
		const struct frame *frame = &answer->frames[i];

		printf("%s\n", i ? frame->name : answer->name ? answer->name : "??");
		printf(frame->line ? "%s:%d\n" : "%s:?\n", *frame->file ? frame->file : "??",
		       frame->line);
	}
	if (!answer->nr)
		printf("%s\n??:0\n", answer->name ? answer->name : "??");
}

static void clear(struct answer *answer)
{
	for (int i = 0; i < SYMBOL_MAX_INLINED; i++) {
		free(answer->frames[i].name);
		free(answer->frames[i].file);
	}
	free(answer->name);
}

static int open_packages(void *ctx, int *fds)
{
	char *path __cleanup(free_ptr) = xasprintf("%s.dwp", (const char *)ctx);

	fds[0] = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	return fds[0] >= 0;
}

static int open_split(void *ctx __unused, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int main(int argc, char **argv)
{
	struct symbol_process *process = symbol_process__start(true);
	int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	int debug_fd = argc > 2 ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;
	int alt_fd = argc > 3 ? open(argv[3], O_RDONLY | O_CLOEXEC) : -1;
	const struct symbol_files names = {SYMBOL_FILE_ELF, fd, debug_fd, -1, NULL, NULL, NULL};
	const struct symbol_files lines = {SYMBOL_FILE_LINES, fd,	  debug_fd, alt_fd,
					   open_packages,     open_split, argv[1]};
	int err = process && fd >= 0 ? read_addresses(fd) : -EINVAL;

	if (!err)
		err = symbol_process__name(process, &names, offsets, nr_answers, take_name, NULL);
	if (!err)
		err = symbol_process__lines(process, &lines, offsets, nr_answers, take_line, NULL);
	for (int i = 0; i < nr_answers; i++) {
		if (!err)
			print(&answers[i]);
		clear(&answers[i]);
	}
	if (err)
		fprintf(stderr, "lines: %s\n", strerror(-err));
	free(answers);
	free(offsets);
	symbol_process__stop(process);
	return err ? 1 : 0;
}
