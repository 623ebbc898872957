// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/jit_dump.h"

#include "util/lib/array.h"
#include "util/lib/id_map.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"
#include "util/symbol/life_sign.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAGIC	    0x4a695444 /* in the byte order of the machine that wrote it */
#define VERSION	    1
#define HEADER_SIZE 40

/* Longer names are cut off, and longer records of lines as well. */
#define MAX_NAME  1024
#define MAX_LINES (16 << 20) /* bytes */
/* No program has more functions or lines, unless it is made to fill the memory. */
#define MAX_NR (16 << 20)
/* Longer functions are not disassembled. Longer lists of lines are cut off. */
#define MAX_PUT_CODE  (4 << 20)
#define MAX_PUT_LINES (1 << 20)

/* In place of the file of a line */
#define NO_FILE UINT32_MAX

enum record_kind { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO };

struct record {
	uint32_t kind;
	uint32_t size; /* of the whole record */
	uint64_t time;
};

struct load_record {
	struct record head;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
	char name[MAX_NAME]; /* with a NUL; the code follows */
};

struct move_record {
	struct record head;
	uint32_t pid, tid;
	uint64_t vma, old_address, address, size, index;
};

struct lines_record {
	struct record head;
	uint64_t address, nr; /* of the entries that follow */
};

struct jit_function {
	uint32_t name;		  /* position in texts */
	uint64_t code, code_len;  /* position in the file; length 0: the file does not have it */
	int first_line, nr_lines; /* sorted by offset */
};

struct jit_line {
	uint64_t offset; /* in the function */
	uint32_t line, file;
};

struct reader {
	int fd;
	struct jit_dump *dump;
	struct id_map by_index; /* of functions, plus 1: their positions */
	/* Lines come before their function. */
	uint64_t lines_of; /* its address */
	int first_line;	   /* those from here on have no function yet */
};

/* --- texts --- */

static uint32_t add_text(struct jit_dump *dump, const char *text, size_t len)
{
	size_t at = dump->texts.len;

	if (at + len >= UINT32_MAX)
		return 0;
	byte_buffer__put(&dump->texts, text, len);
	byte_buffer__put(&dump->texts, "", 1);
	return at;
}

static const char *text_at(const struct jit_dump *dump, uint32_t at)
{
	return dump->texts.data + at;
}

/* --- records --- */

/* Read @least bytes at least, @most at most. Return: their number; -ENODATA: there are fewer; other -errno. */
static ssize_t read_least(int fd, void *data, size_t least, size_t most, uint64_t at)
{
	ssize_t len = read_up_to(fd, data, most, at);

	return len >= 0 && (size_t)len < least ? -ENODATA : len;
}

static int compare_lines(const void *a, const void *b)
{
	const struct jit_line *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Give a function the lines that came before it, if they are its own. */
static void take_lines(struct reader *reader, struct jit_function *function, uint64_t address)
{
	struct jit_dump *dump = reader->dump;

	if (reader->lines_of != address)
		dump->nr_lines = reader->first_line;
	function->first_line = reader->first_line;
	function->nr_lines = dump->nr_lines - reader->first_line;
	if (function->nr_lines)
		qsort(dump->lines + function->first_line, function->nr_lines, sizeof(*dump->lines),
		      compare_lines);
	reader->first_line = dump->nr_lines;
}

static int add_load(struct jit_dump *dump, uint64_t start, uint64_t size, int function)
{
	return dump->loads.nr < MAX_NR ?
		       latest_ranges__add(&dump->loads, start, start + size, function) :
		       0;
}

/* The code follows the name. It is believed if it ends with the record. */
static void set_code(struct jit_function *function, const struct load_record *record,
		     size_t name_len, uint64_t at)
{
	uint64_t head = offsetof(struct load_record, name) + name_len + 1;

	if (head > record->head.size || record->size != record->head.size - head)
		return;
	function->code = at + head;
	function->code_len = record->size;
}

static int take_load(struct reader *reader, const struct load_record *record, size_t len,
		     uint64_t at)
{
	size_t name_len = strnlen(record->name, len - offsetof(struct load_record, name));
	struct jit_dump *dump = reader->dump;
	struct jit_function *function;

	if (dump->nr_functions >= MAX_NR)
		return 0;
	function = array__add(dump->functions, dump->nr_functions);
	if (!function)
		return -ENOMEM;
	function->name = add_text(dump, record->name, name_len);
	set_code(function, record, name_len, at);
	take_lines(reader, function, record->address);
	if (record->index + 1 &&
	    id_map__set(&reader->by_index, record->index + 1, dump->nr_functions - 1))
		return -ENOMEM;
	return add_load(dump, record->address, record->size, dump->nr_functions - 1);
}

static int take_move(struct reader *reader, const struct move_record *record)
{
	int function = record->index + 1 ? id_map__get(&reader->by_index, record->index + 1) : -1;

	return function < 0 ? 0 : add_load(reader->dump, record->address, record->size, function);
}

/* V8 of Node.js 20 writes freed memory in place of names. */
static bool is_name(const char *text)
{
	struct printable_char c;

	for (; *text; text += c.len) {
		c = printable__char(text);
		if (!c.is_valid || c.code < ' ')
			return false;
	}
	return true;
}

/* "\xff" repeats the file of the line before. Return: NO_FILE: what is there is no name */
static uint32_t add_file(struct jit_dump *dump, const char *name, uint32_t before)
{
	if (!strcmp(name, "\xff") ||
	    (before && before != NO_FILE && !strcmp(name, text_at(dump, before))))
		return before;
	return is_name(name) ? add_text(dump, name, strnlen(name, MAX_NAME)) : NO_FILE;
}

static int take_entries(struct reader *reader, const char *data, size_t len)
{
	struct byte_reader bytes = {.at = data, .left = len};
	struct jit_dump *dump = reader->dump;
	uint32_t file = 0;

	while (dump->nr_lines < MAX_NR && !dump->texts.has_failed) {
		uint64_t address = byte_reader__u64(&bytes);
		uint32_t line = byte_reader__u32(&bytes);
		const char *name = byte_reader__skip(&bytes, sizeof(uint32_t)) ?
					   byte_reader__text(&bytes) :
					   NULL;
		struct jit_line *added;

		if (!name)
			break;
		file = add_file(dump, name, file);
		if (address < reader->lines_of || line > INT32_MAX)
			continue;
		added = array__add(dump->lines, dump->nr_lines);
		if (!added)
			return -ENOMEM;
		/* Line 0 is none: the code is not that of the line before. */
		*added = (struct jit_line){.offset = address - reader->lines_of};
		if (file != NO_FILE) {
			added->line = line;
			added->file = file;
		}
	}
	return 0;
}

static int take_debug_info(struct reader *reader, const struct lines_record *record, uint64_t at)
{
	size_t most = record->head.size - sizeof(*record);
	char *data __cleanup(free_ptr) = NULL;
	ssize_t len;

	if (most > MAX_LINES)
		most = MAX_LINES;
	data = malloc(most + 1);
	if (!data)
		return -ENOMEM;
	len = read_up_to(reader->fd, data, most, at + sizeof(*record));
	if (len < 0)
		return len;
	/* Lines without a function were dropped. */
	reader->dump->nr_lines = reader->first_line;
	reader->lines_of = record->address;
	return take_entries(reader, data, len);
}

/* Return: the size of the record at a place; -ENODATA: the last one was before; other -errno. */
static int64_t take_record(struct reader *reader, uint64_t at, uint64_t end)
{
	union {
		struct record head;
		struct load_record load;
		struct move_record move;
		struct lines_record lines;
	} record;
	ssize_t len = read_least(reader->fd, &record, sizeof(record.head), sizeof(record), at);
	int err = 0;

	if (len < 0)
		return len;
	if (record.head.size < sizeof(record.head) || record.head.size > end - at)
		return -ENODATA;
	if ((size_t)len > record.head.size)
		len = record.head.size;
	if (record.head.kind == CODE_LOAD && (size_t)len > offsetof(struct load_record, name))
		err = take_load(reader, &record.load, len, at);
	else if (record.head.kind == CODE_MOVE && (size_t)len >= sizeof(record.move))
		err = take_move(reader, &record.move);
	else if (record.head.kind == CODE_DEBUG_INFO && (size_t)len >= sizeof(record.lines))
		err = take_debug_info(reader, &record.lines, at);
	if (reader->dump->texts.has_failed)
		err = -ENOMEM;
	return err ? err : (int64_t)record.head.size;
}

static int64_t read_header(int fd)
{
	uint32_t header[HEADER_SIZE / sizeof(uint32_t)]; /* magic, version, size, ... */
	ssize_t len = read_least(fd, header, sizeof(header), sizeof(header), 0);

	if (len < 0)
		return len == -ENODATA ? -ENOEXEC : len;
	if (header[0] != MAGIC || header[1] != VERSION || header[2] < HEADER_SIZE)
		return -ENOEXEC;
	return header[2];
}

static int read_records(struct reader *reader)
{
	/* Later records are for the next reading. */
	off_t end = lseek(reader->fd, 0, SEEK_END);
	int64_t at = read_header(reader->fd), size = at;

	if (end < 0 || at < 0)
		return end < 0 ? -errno : at;
	while (size > 0 && at < end) {
		life_sign__show();
		size = take_record(reader, at, end);
		at += size > 0 ? size : 0;
	}
	return size < 0 && size != -ENODATA ? size : 0;
}

/* --- all --- */

bool jit_dump__is_name(const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len), *name = slash ? slash + 1 : path;
	const char *end = path + len, *digits = name + strlen("jit-");

	if (end - name <= (ptrdiff_t)strlen("jit-.dump") || strncmp(name, "jit-", 4))
		return false;
	end -= strlen(".dump");
	while (digits < end && isdigit((unsigned char)*digits))
		digits++;
	return digits == end && !strncmp(end, ".dump", 5);
}

int jit_dump__read(int fd, struct jit_dump *dump)
{
	struct reader reader = {.fd = fd, .dump = dump};
	int err;

	byte_buffer__put(&dump->texts, "", 1);
	err = dump->texts.has_failed ? -ENOMEM : read_records(&reader);
	id_map__clear(&reader.by_index);
	return err ? err : latest_ranges__sort(&dump->loads);
}

/* Return: the last line that begins at an offset or before; NULL: none */
static const struct jit_line *find_line(const struct jit_dump *dump,
					const struct jit_function *function, uint64_t offset)
{
	int low = function->first_line, high = low + function->nr_lines;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (dump->lines[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low > function->first_line ? &dump->lines[low - 1] : NULL;
}

bool jit_dump__find(const struct jit_dump *dump, uint64_t address, struct jit_place *place)
{
	const struct latest_part *part = latest_ranges__find(&dump->loads, address);
	const struct latest_range *load = part ? &dump->loads.ranges[part->range] : NULL;
	const struct jit_function *function = load ? &dump->functions[load->owner] : NULL;
	const struct jit_line *line;

	if (!function)
		return false;
	line = find_line(dump, function, address - load->start);
	*place = (struct jit_place){
		.name = text_at(dump, function->name),
		.offset = address - load->start,
		.file = text_at(dump, line ? line->file : 0),
		.line = line ? line->line : 0,
	};
	return true;
}

void jit_dump__find_name(const struct jit_dump *dump, const char *name, jit_code_fn fn, void *ctx)
{
	for (int i = 0; i < dump->loads.nr_parts; i++) {
		const struct latest_part *part = &dump->loads.parts[i];
		const struct latest_range *load = &dump->loads.ranges[part->range];
		const struct jit_function *function = &dump->functions[load->owner];

		life_sign__show();
		/* The rest that a later function has left of an earlier one may begin within an instruction. */
		if (part->start == load->start && part->end - part->start <= function->code_len &&
		    !strcmp(text_at(dump, function->name), name))
			fn(ctx, part->start, part->end, function->code);
	}
}

/* --- records for another file --- */

static void put_head(struct byte_buffer *out, uint32_t kind, size_t size)
{
	byte_buffer__put_u32(out, kind);
	byte_buffer__put_u32(out, sizeof(struct record) + size);
	byte_buffer__put_u64(out, 0); /* time */
}

/* The lines of a function up to a length of its code. Return: their number. */
static uint64_t list_lines(const struct jit_dump *dump, const struct latest_part *part,
			   const struct jit_function *function, struct byte_buffer *list)
{
	uint64_t nr = 0;

	for (int i = 0; i < function->nr_lines && list->len < MAX_PUT_LINES; i++) {
		const struct jit_line *line = &dump->lines[function->first_line + i];

		if (line->offset >= part->end - part->start)
			break;
		byte_buffer__put_u64(list, part->start + line->offset);
		byte_buffer__put_u32(list, line->line);
		byte_buffer__put_u32(list, 0);
		byte_buffer__put_text(list, nr && line->file == line[-1].file ?
						    "\xff" :
						    text_at(dump, line->file));
		nr++;
	}
	return nr;
}

static void put_lines(const struct jit_dump *dump, const struct latest_part *part,
		      const struct jit_function *function, struct byte_buffer *out)
{
	struct byte_buffer list = {};
	uint64_t nr = list_lines(dump, part, function, &list);

	if (nr) {
		put_head(out, CODE_DEBUG_INFO, 2 * sizeof(uint64_t) + list.len);
		byte_buffer__put_u64(out, part->start);
		byte_buffer__put_u64(out, nr);
		byte_buffer__put(out, list.data, list.len);
	}
	out->has_failed |= list.has_failed;
	byte_buffer__clear(&list);
}

static void put_load(const struct jit_dump *dump, const struct latest_part *part,
		     const struct jit_function *function, const char *code, struct byte_buffer *out)
{
	const char *name = text_at(dump, function->name);
	uint64_t len = part->end - part->start;

	put_head(out, CODE_LOAD, 5 * sizeof(uint64_t) + strlen(name) + 1 + len);
	byte_buffer__put_u64(out, 0); /* pid and tid */
	byte_buffer__put_u64(out, part->start);
	byte_buffer__put_u64(out, part->start);
	byte_buffer__put_u64(out, len);
	byte_buffer__put_u64(out, -1); /* its number: it is not moved any more */
	byte_buffer__put_text(out, name);
	byte_buffer__put(out, code, len);
}

int jit_dump__put(const struct jit_dump *dump, int fd, uint64_t address, uint64_t *end,
		  struct byte_buffer *out)
{
	const struct latest_part *part = latest_ranges__find(&dump->loads, address);
	const struct latest_range *load = part ? &dump->loads.ranges[part->range] : NULL;
	const struct jit_function *function = load ? &dump->functions[load->owner] : NULL;
	uint64_t len = part ? part->end - part->start : 0;
	char *code __cleanup(free_ptr) = NULL;

	if (!part)
		return 0;
	*end = part->end;
	if (part->start != load->start || len > function->code_len || len > MAX_PUT_CODE)
		return 0;
	code = malloc(len);
	if (!code)
		return -ENOMEM;
	if (read_least(fd, code, len, len, function->code) < 0)
		return 0;
	put_lines(dump, part, function, out);
	put_load(dump, part, function, code, out);
	return out->has_failed ? -ENOMEM : 0;
}

void jit_dump__clear(struct jit_dump *dump)
{
	byte_buffer__clear(&dump->texts);
	free(dump->functions);
	latest_ranges__clear(&dump->loads);
	free(dump->lines);
	*dump = (struct jit_dump){};
}
