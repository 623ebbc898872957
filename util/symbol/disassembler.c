// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/disassembler.h"

#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/symbol/tool_process.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Output is shorter than this for each byte of code, and a head. */
#define MAX_OUTPUT(len) (256UL * (len) + (64 << 10))

/* In the order of preference: binutils knows all instructions of its machine, LLVM most machines. */
static const char *const tools[] = {"objdump", "llvm-objdump"};

bool disassembler__is_there(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		char *path __cleanup(free_ptr) = tool_process__find(tools[i]);

		if (path)
			return true;
	}
	return false;
}

void instructions__clear(struct instructions *instructions)
{
	free(instructions->list);
	byte_buffer__clear(&instructions->texts);
	*instructions = (struct instructions){};
}

const char *instructions__text(const struct instructions *instructions, int nr)
{
	return instructions->texts.data + instructions->list[nr].text;
}

int instructions__find(const struct instructions *instructions, uint64_t address)
{
	int first = 0, nr = instructions->nr;

	while (nr > 0) {
		int half = nr / 2;

		if (instructions->list[first + half].address <= address) {
			first += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	return first - 1;
}

/* --- lines --- */

struct reading {
	const struct code *code;
	struct instructions *instructions;
};

static bool is_inside(const struct code *code, uint64_t address)
{
	return address >= code->address && address - code->address < code->len;
}

/* Blanks and tabs become single blanks; those at the ends go. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (!isspace((unsigned char)*from))
			*to++ = *from;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	}
	while (to > text && to[-1] == ' ')
		to--;
	*to = '\0';
}

/*
 * Tools add "<f+0x12>" to an address, since the code has a symbol. Cut that off. Return: the address; 0: the text has
 * none.
 */
static uint64_t take_target(char *text)
{
	char *mark = strstr(text, " <" CODE_FILE_SYMBOL), *at = mark, *end;
	uint64_t address;

	if (!mark || !strchr("+->", mark[2 + strlen(CODE_FILE_SYMBOL)]))
		return 0;
	/* "goto +4" has the distance already. */
	if (at > text && isdigit((unsigned char)at[-1]) && strstr(text, "goto ")) {
		*mark = '\0';
		return 0;
	}
	while (at > text && isxdigit((unsigned char)at[-1]))
		at--;
	address = strtoull(at, &end, 16);
	if (end != mark)
		return 0;
	*mark = '\0';
	return address;
}

/* The text has the offset of targets inside of the code. */
static void put_text(struct instructions *instructions, const struct code *code, const char *text,
		     uint64_t target)
{
	char offset[32] = "";

	if (target && is_inside(code, target))
		snprintf(offset, sizeof(offset), " <+0x%" PRIx64 ">", target - code->address);
	byte_buffer__put(&instructions->texts, text, strlen(text));
	byte_buffer__put_text(&instructions->texts, offset);
}

static int add(struct reading *reading, uint64_t address, char *text)
{
	struct instructions *instructions = reading->instructions;
	struct instruction *instruction;
	uint64_t target;

	squeeze(text);
	target = take_target(text);
	instruction = array__add(instructions->list, instructions->nr);
	if (!instruction)
		return -ENOMEM;
	instruction->address = address;
	instruction->text = instructions->texts.len;
	instruction->target = is_inside(reading->code, target) ? 0 : target;
	put_text(instructions, reading->code, text, target);
	return instructions->texts.has_failed ? -ENOMEM : 0;
}

/* Lines of instructions are "  401136:\tTEXT". A tool that was taken over may print anything. */
static int take_line(void *ctx, char *line)
{
	struct reading *reading = ctx;
	const struct instructions *instructions = reading->instructions;
	char *at = line + strspn(line, " "), *end;
	uint64_t address;

	if (!isxdigit((unsigned char)*at))
		return 0;
	address = strtoull(at, &end, reading->code->machine == EM_BPF ? 10 : 16);
	if (*end != ':' || !is_inside(reading->code, address))
		return 0;
	if (instructions->nr && address <= instructions->list[instructions->nr - 1].address)
		return 0;
	return add(reading, address, end + 1);
}

/* --- tools --- */

static int read_with(const char *name, int fd, struct reading *reading)
{
	char *path __cleanup(free_ptr) = tool_process__find(name);
	const char *const argv[] = {path, "-d", "-z", "-w", "--no-show-raw-insn", TOOL_INPUT, NULL};

	return path ? tool_process__run(argv, fd, MAX_OUTPUT(reading->code->len), take_line,
					reading) :
		      -ENOENT;
}

int disassembler__read(const struct code *code, struct instructions *instructions)
{
	struct reading reading = {.code = code, .instructions = instructions};
	int fd __cleanup(close_fd) = -1;
	int err = -ENOENT;

	*instructions = (struct instructions){};
	if (code->len > DISASSEMBLER_MAX_BYTES)
		return -E2BIG;
	fd = code_file__make(code);
	if (fd < 0)
		return fd;
	for (size_t i = code->machine == EM_BPF; i < ARRAY_SIZE(tools); i++) {
		int ret = read_with(tools[i], fd, &reading);

		if (!ret && instructions->nr)
			return 0;
		instructions__clear(instructions);
		/* Tools that do not know the machine fail, or print nothing. */
		if (ret != -ENOENT)
			err = !ret || ret == -ECHILD ? -EOPNOTSUPP : ret;
		if (err == -ETIMEDOUT || err == -EFBIG || err == -ENOMEM || err == -EINTR)
			break;
	}
	return err;
}
