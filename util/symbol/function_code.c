// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/function_code.h"

#include "util/lib/util.h"
#include "util/symbol/bpf_code.h"
#include "util/symbol/image.h"
#include "util/symbol/image_files.h"
#include "util/symbol/kernel_code.h"
#include "util/symbol/kernel_file.h"
#include "util/symbol/symbol_process.h"
#include "util/symbol/symbol_table.h"
#include "util/symbol/symbols.h"

#include <elf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

void function_code__clear(struct function_code *code)
{
	instructions__clear(&code->instructions);
	instructions__clear(&code->bpf);
	free(code->notes);
	blob_set__clear(&code->texts);
	*code = (struct function_code){};
}

const char *function_code__text(const struct function_code *code, int nr)
{
	return nr < 0 ? NULL : blob_set__get(&code->texts, nr, NULL);
}

int function_code__add_text(struct function_code *code, const char *text)
{
	return *text ? blob_set__add(&code->texts, text, strlen(text) + 1) : -1;
}

static int disassemble(struct function_code *code, const struct code *bytes)
{
	int err = disassembler__read(bytes, &code->instructions);

	if (err)
		return err;
	code->notes = calloc(code->instructions.nr, sizeof(*code->notes));
	if (!code->notes)
		return -ENOMEM;
	for (int i = 0; i < code->instructions.nr; i++)
		code->notes[i] = (struct instruction_note){-1, 0, -1, -1, -1, 0, 0};
	return 0;
}

/* --- files --- */

/* Instructions that a request asks about, with the positions in the file. */
struct question {
	struct function_code *code;
	int *instructions;
	uint64_t *positions;
	int nr, err;
};

static void take_line(void *ctx, int idx, const struct symbol_line *line)
{
	struct question *question = ctx;
	struct function_code *code = question->code;
	struct instruction_note *note = &code->notes[idx];

	/* The innermost frame comes last. */
	note->file = function_code__add_text(code, line->file);
	note->line = line->line;
	note->inlined = line->depth ? function_code__add_text(code, line->name) : -1;
	if (note->file == -ENOMEM || note->inlined == -ENOMEM)
		question->err = -ENOMEM;
}

/* Name only a target that is a function's first instruction: another one may belong to no function. */
static void take_target(void *ctx, int idx, const char *name, uint64_t offset)
{
	struct question *question = ctx;
	struct instruction_note *note = &question->code->notes[question->instructions[idx]];

	if (offset)
		return;
	note->target = function_code__add_text(question->code, name);
	if (note->target == -ENOMEM)
		question->err = -ENOMEM;
}

/* Return: 0, also if there are no lines; -ENOMEM. */
static int ask(struct question *question, const struct function_place *place,
	       struct symbol_process *reader, const struct symbol_files *files)
{
	const struct instructions *instructions = &question->code->instructions;
	struct symbol_files names = *files;

	names.kind = files->kind == SYMBOL_FILE_JIT_LINES ? SYMBOL_FILE_JIT_DUMP : SYMBOL_FILE_ELF;
	for (int i = 0; i < instructions->nr; i++)
		question->positions[i] =
			instructions->list[i].address - place->address + place->start;
	(void)symbol_process__lines(reader, files, question->positions, instructions->nr, take_line,
				    question); /* without debug information there are none */
	for (int i = 0; i < instructions->nr; i++) {
		if (!instructions->list[i].target)
			continue;
		question->positions[question->nr] =
			instructions->list[i].target - place->address + place->start;
		question->instructions[question->nr++] = i;
	}
	(void)symbol_process__name(reader, &names, question->positions, question->nr, take_target,
				   question);
	return question->err;
}

/* @files: as for lines */
static int add_notes(struct function_code *code, const struct function_place *place,
		     struct symbol_process *reader, const struct symbol_files *files)
{
	struct question question = {
		.code = code,
		.instructions = calloc(code->instructions.nr, sizeof(int)),
		.positions = calloc(code->instructions.nr, sizeof(uint64_t)),
	};
	int err = -ENOMEM;

	if (question.instructions && question.positions)
		err = ask(&question, place, reader, files);
	free(question.instructions);
	free(question.positions);
	return err;
}

/*
 * A file may have any machine in its head, and disassemblers of rare ones are the least tested. The two instruction
 * sets of 32-bit arm are not told apart.
 */
static bool is_known(uint16_t machine)
{
	static const uint16_t known[] = {EM_X86_64, EM_386,  EM_AARCH64,
					 EM_RISCV,  EM_S390, EM_PPC64};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (machine == known[i])
			return true;
	}
	return false;
}

/* Return: 0 or -errno; -EOPNOTSUPP: another machine. */
static int find_machine(struct symbol_process *reader, const struct image *image,
			struct code *bytes)
{
	struct elf_description file;
	bool unused;
	int err = symbol_process__describe(reader, image->fd, -1, &file, &unused);

	if (err)
		return err;
	bytes->machine = file.machine;
	bytes->is_64bit = file.is_64bit;
	return is_known(file.machine) ? 0 : -EOPNOTSUPP;
}

int function_code__read_file(struct function_code *code, struct symbols *symbols,
			     const struct function_place *place)
{
	const struct image *image = symbols__open(symbols, place->image);
	struct code bytes = {.address = place->address, .len = place->end - place->start};
	void *buf __cleanup(free_ptr) = NULL;
	struct symbol_process *reader = symbols__reader(symbols);
	struct symbol_files files;
	int err;

	if (!image)
		return -errno;
	if (bytes.len > DISASSEMBLER_MAX_BYTES)
		return -E2BIG;
	err = find_machine(reader, image, &bytes);
	bytes.bytes = buf = malloc(bytes.len + 1);
	if (!err && !buf)
		err = -ENOMEM;
	if (!err)
		err = read_exactly(image->fd, buf, bytes.len, place->start);
	if (!err)
		err = disassemble(code, &bytes);
	if (!err)
		files = image_files__read_as(SYMBOL_FILE_LINES, image);
	if (!err)
		err = add_notes(code, place, reader, &files);
	return err;
}

/* --- JIT compilers --- */

/* The head of a jitdump has its machine. */
#define JIT_MACHINE_AT 12

static int find_jit_machine(int fd, struct code *bytes)
{
	uint32_t machine;
	int err = read_exactly(fd, &machine, sizeof(machine), JIT_MACHINE_AT);

	if (err)
		return err;
	bytes->machine = machine;
	bytes->is_64bit = machine != EM_386;
	return machine <= UINT16_MAX && is_known(machine) ? 0 : -EOPNOTSUPP;
}

int function_code__read_jit(struct function_code *code, struct symbols *symbols,
			    const struct function_place *place)
{
	const struct image *dump = symbols__open_jit(symbols, place->image);
	struct code bytes = {.address = place->address, .len = place->end - place->start};
	void *buf __cleanup(free_ptr) = NULL;
	struct symbol_files files;
	int err;

	if (!dump)
		return -errno;
	if (bytes.len > DISASSEMBLER_MAX_BYTES)
		return -E2BIG;
	err = find_jit_machine(dump->fd, &bytes);
	bytes.bytes = buf = malloc(bytes.len + 1);
	if (!err && !buf)
		err = -ENOMEM;
	if (!err)
		err = read_exactly(dump->fd, buf, bytes.len, place->code);
	if (!err)
		err = disassemble(code, &bytes);
	if (!err)
		files = image_files__read_as(SYMBOL_FILE_JIT_LINES, dump);
	if (!err)
		err = add_notes(code, place, symbols__reader(symbols), &files);
	return err;
}

/* --- the kernel --- */

static int name_targets(struct function_code *code, const struct symbol_table *table)
{
	for (int i = 0; i < code->instructions.nr; i++) {
		uint64_t target = code->instructions.list[i].target;
		const struct symbol *symbol = target ? symbol_table__find(table, target) : NULL;

		if (!symbol || symbol->start != target)
			continue;
		code->notes[i].target =
			function_code__add_text(code, symbol_table__name(table, symbol));
		if (code->notes[i].target == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

static struct code native_code(const struct function_place *place)
{
	return (struct code){
		.address = place->address,
		.len = place->end - place->start,
		.machine = code_file__native(),
		.is_64bit = true,
	};
}

/* The memory has the code as it is executed, with alternatives and patches. */
static int read_kernel_bytes(const struct kernel_file *file, const struct function_place *place,
			     void *bytes, size_t len)
{
	int err = kernel_code__read(place->address, bytes, len);

	if (!err)
		return 0;
	return file->fd < 0 ? -ENXIO : read_exactly(file->fd, bytes, len, place->start);
}

/* @place: the position in the file, if it has the function */
static int read_kernel(struct function_code *code, const struct kernel_file *file,
		       struct symbol_process *reader, const struct function_place *place)
{
	const struct symbol_files files = {
		.kind = SYMBOL_FILE_LINES, .fd = file->fd, .debug_fd = -1, .alt_fd = -1};
	struct code bytes = native_code(place);
	void *buf __cleanup(free_ptr) = NULL;
	int err;

	if (bytes.len > DISASSEMBLER_MAX_BYTES)
		return -E2BIG;
	bytes.bytes = buf = malloc(bytes.len + 1);
	if (!buf)
		return -ENOMEM;
	err = read_kernel_bytes(file, place, buf, bytes.len);
	if (!err)
		err = disassemble(code, &bytes);
	if (!err && file->fd >= 0)
		err = add_notes(code, place, reader, &files);
	return err;
}

int function_code__read_kernel(struct function_code *code, const struct symbol_table *table,
			       struct symbol_process *reader, const struct function_place *place)
{
	struct function_place in_file = *place;
	struct kernel_file file = {.fd = -1};
	int err;

	if (reader)
		kernel_file__open(&file, reader);
	/* It has no modules. */
	if (place->address < file.start || place->address >= file.end)
		kernel_file__close(&file);
	in_file.start = place->address - file.start + file.position;
	in_file.end = in_file.start + (place->end - place->start);
	err = read_kernel(code, &file, reader, &in_file);
	kernel_file__close(&file);
	return err ? err : name_targets(code, table);
}

/* --- BPF programs --- */

/* Without llvm-objdump there are none. Return: 0 or -ENOMEM. */
static int disassemble_bpf(struct function_code *code, const struct bpf_code *program)
{
	const struct code insns = {
		.bytes = program->insns,
		.len = program->nr_insns * sizeof(struct bpf_insn),
		.machine = EM_BPF,
		.is_64bit = true,
	};
	int err = program->insns ? disassembler__read(&insns, &code->bpf) : 0;

	return err == -ENOMEM ? err : 0;
}

/* An instruction that loads 64 bits has two numbers. */
static void note_bpf(const struct function_code *code, const struct bpf_code_line *line,
		     struct instruction_note *note)
{
	const struct instructions *bpf = &code->bpf;
	int first = instructions__find(bpf, line->first);
	int end = line->nr ? instructions__find(bpf, line->first + line->nr - 1) + 1 : 0;

	if (first < 0 || bpf->list[first].address < line->first)
		first++;
	note->bpf = first;
	note->nr_bpf = end > first ? end - first : 0;
}

static int add_bpf_notes(struct function_code *code, const struct bpf_code *program)
{
	for (int i = 0; i < code->instructions.nr; i++) {
		const struct bpf_code_line *line =
			bpf_code__line(program, code->instructions.list[i].address);
		struct instruction_note *note = &code->notes[i];

		if (!line)
			continue;
		note->file = function_code__add_text(code, line->file);
		note->text = function_code__add_text(code, line->text);
		note->line = line->line;
		note_bpf(code, line, note);
		if (note->file == -ENOMEM || note->text == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

int function_code__read_bpf(struct function_code *code, const struct symbol_table *table,
			    const struct function_place *place)
{
	struct code bytes = native_code(place);
	struct bpf_code program;
	int err = bpf_code__read(place->address, &program);

	if (!err) {
		bytes.bytes = program.bytes;
		bytes.len = program.len;
		err = disassemble(code, &bytes);
	}
	if (!err)
		err = disassemble_bpf(code, &program);
	if (!err)
		err = add_bpf_notes(code, &program);
	if (!err)
		err = name_targets(code, table);
	bpf_code__clear(&program);
	return err;
}
