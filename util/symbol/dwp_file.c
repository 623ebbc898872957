// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/dwp_file.h"

#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"
#include "util/symbol/elf_file.h"
#include "util/symbol/life_sign.h"
#include "util/symbol/symbol_wire.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

/* Parts of a unit; the first word of a column is its number. */
#define MAX_COLUMNS 16
#define MAX_PARTS   8

struct column {
	uint32_t version, nr;
	const char *section;
};

/* Macros and places of variables are not needed. The index of DWARF 4 is of version 2. */
static const struct column columns[] = {
	{2, 1, ".debug_info.dwo"},     {2, 3, ".debug_abbrev.dwo"},
	{2, 4, ".debug_line.dwo"},     {2, 6, ".debug_str_offsets.dwo"},
	{5, 1, ".debug_info.dwo"},     {5, 3, ".debug_abbrev.dwo"},
	{5, 4, ".debug_line.dwo"},     {5, 6, ".debug_str_offsets.dwo"},
	{5, 8, ".debug_rnglists.dwo"},
};

struct text_range {
	const char *bytes;
	size_t len;
};

struct part {
	const char *name; /* of the section */
	struct text_range bytes;
};

struct package {
	Elf *elf;
	uint32_t version;
	struct part parts[MAX_PARTS];
	int nr;
	/* The texts of the unit alone. */
	struct byte_buffer texts, offsets;
};

/* --- the package --- */

static uint32_t u32_at(const char *bytes, uint64_t at)
{
	uint32_t value;

	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

/* Return: the bytes of a section that is not compressed; length 0: there is none. */
static struct text_range section_bytes(Elf *elf, const char *name)
{
	Elf_Scn *section = elf_file__section(elf, name);
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	GElf_Shdr header;

	if (!data || !data->d_buf || !gelf_getshdr(section, &header) ||
	    header.sh_flags & SHF_COMPRESSED)
		return (struct text_range){};
	return (struct text_range){data->d_buf, data->d_size};
}

/* The index of a package: a table of ids, one of rows + 1, the columns, and offsets and sizes of each row. */
struct index {
	struct text_range bytes;
	uint32_t nr_columns, nr_rows, nr_slots;
	uint64_t rows, columns, offsets, sizes; /* positions */
};

static int read_index(struct package *package, struct index *index)
{
	const char *bytes;
	uint64_t table;

	index->bytes = section_bytes(package->elf, ".debug_cu_index");
	bytes = index->bytes.bytes;
	if (index->bytes.len < 16)
		return -ENOENT;
	package->version = u32_at(bytes, 0) & UINT16_MAX;
	index->nr_columns = u32_at(bytes, 4);
	index->nr_rows = u32_at(bytes, 8);
	index->nr_slots = u32_at(bytes, 12);
	if (index->nr_columns > MAX_COLUMNS)
		return -EBADMSG;
	table = (uint64_t)index->nr_rows * index->nr_columns * sizeof(uint32_t);
	index->rows = 16 + (uint64_t)index->nr_slots * sizeof(uint64_t);
	index->columns = index->rows + (uint64_t)index->nr_slots * sizeof(uint32_t);
	index->offsets = index->columns + index->nr_columns * sizeof(uint32_t);
	index->sizes = index->offsets + table;
	return index->sizes + table > index->bytes.len ? -EBADMSG : 0;
}

/* Return: the row of a unit; -ENOENT; -EBADMSG */
static int64_t find_row(const struct index *index, uint64_t id)
{
	for (uint32_t i = 0; i < index->nr_slots; i++) {
		uint64_t found;
		uint32_t row = u32_at(index->bytes.bytes, index->rows + i * sizeof(uint32_t));

		memcpy(&found, index->bytes.bytes + 16 + i * sizeof(found), sizeof(found));
		if (found == id && row)
			return row <= index->nr_rows ? (int64_t)row - 1 : -EBADMSG;
	}
	return -ENOENT;
}

static const char *section_of(uint32_t version, uint32_t nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		if (columns[i].version == version && columns[i].nr == nr)
			return columns[i].section;
	}
	return NULL;
}

static int add_part(struct package *package, const char *name, uint32_t offset, uint32_t size)
{
	struct text_range all = section_bytes(package->elf, name);

	if (offset > all.len || size > all.len - offset || package->nr == MAX_PARTS)
		return -EBADMSG;
	if (size)
		package->parts[package->nr++] = (struct part){name, {all.bytes + offset, size}};
	return 0;
}

static int find_parts(struct package *package, uint64_t id)
{
	struct index index;
	int err = read_index(package, &index);
	int64_t row = err ? err : find_row(&index, id);

	if (row < 0)
		return row;
	for (uint32_t i = 0; i < index.nr_columns && !err; i++) {
		uint64_t at = (row * index.nr_columns + i) * sizeof(uint32_t);
		const char *bytes = index.bytes.bytes, *name;

		name = section_of(package->version, u32_at(bytes, index.columns + 4 * i));
		if (name)
			err = add_part(package, name, u32_at(bytes, index.offsets + at),
				       u32_at(bytes, index.sizes + at));
	}
	return err;
}

/* --- texts --- */

static int add_text(struct package *package, const struct text_range *all, uint32_t offset)
{
	const char *text = offset < all->len ? all->bytes + offset : NULL;
	const char *end = text ? memchr(text, '\0', all->len - offset) : NULL;

	if (!end)
		return -EBADMSG;
	byte_buffer__put_u32(&package->offsets, package->texts.len);
	byte_buffer__put(&package->texts, text, end - text + 1);
	return package->texts.len > SYMBOL_MAX_BYTES ? -EFBIG : 0;
}

/* All units share the texts of a package, which may be as large as the program. */
static int take_texts(struct package *package, struct part *offsets)
{
	struct text_range all = section_bytes(package->elf, ".debug_str.dwo");
	const char *bytes = offsets->bytes.bytes;
	size_t head = package->version == 5 ? 8 : 0, len = offsets->bytes.len;
	int err = len < head ? -EBADMSG : 0;

	if (!err)
		byte_buffer__put(&package->offsets, bytes, head);
	for (size_t at = head; at + sizeof(uint32_t) <= len && !err; at += sizeof(uint32_t)) {
		life_sign__show();
		err = add_text(package, &all, u32_at(bytes, at));
	}
	if (!err && (package->texts.has_failed || package->offsets.has_failed))
		err = -ENOMEM;
	offsets->bytes = (struct text_range){package->offsets.data, package->offsets.len};
	return err;
}

static int find_texts(struct package *package)
{
	for (int i = 0; i < package->nr; i++) {
		if (!strcmp(package->parts[i].name, ".debug_str_offsets.dwo"))
			return take_texts(package, &package->parts[i]);
	}
	return 0;
}

/* --- the file --- */

static void put_section(struct byte_buffer *headers, uint32_t name, uint32_t type, uint64_t at,
			uint64_t len)
{
	const Elf64_Shdr header = {.sh_name = name,
				   .sh_type = type,
				   .sh_flags = SHF_EXCLUDE,
				   .sh_offset = at,
				   .sh_size = len,
				   .sh_addralign = 1};

	byte_buffer__put(headers, &header, sizeof(header));
}

static void put_part(const char *name, struct text_range bytes, struct byte_buffer *headers,
		     struct byte_buffer *names, struct byte_buffer *file)
{
	put_section(headers, names->len, SHT_PROGBITS, file->len, bytes.len);
	byte_buffer__put_text(names, name);
	byte_buffer__put(file, bytes.bytes, bytes.len);
}

static int put_file(const struct package *package, const Elf64_Ehdr *of, struct byte_buffer *file)
{
	struct byte_buffer headers = {}, names = {};
	Elf64_Ehdr head = *of;
	int err = -ENOMEM;

	byte_buffer__put(file, &head, sizeof(head)); /* its place */
	byte_buffer__put(&headers, &(Elf64_Shdr){}, sizeof(Elf64_Shdr));
	byte_buffer__put_text(&names, "");
	for (int i = 0; i < package->nr; i++)
		put_part(package->parts[i].name, package->parts[i].bytes, &headers, &names, file);
	put_part(".debug_str.dwo", (struct text_range){package->texts.data, package->texts.len},
		 &headers, &names, file);
	put_section(&headers, names.len, SHT_STRTAB, file->len, names.len + sizeof(".shstrtab"));
	byte_buffer__put_text(&names, ".shstrtab");
	byte_buffer__put(file, names.data, names.len);
	byte_buffer__pad(file, sizeof(uint64_t));
	head.e_phoff = head.e_phnum = 0;
	head.e_shoff = file->len;
	head.e_shentsize = sizeof(Elf64_Shdr);
	head.e_shnum = headers.len / sizeof(Elf64_Shdr);
	head.e_shstrndx = head.e_shnum - 1;
	byte_buffer__put(file, headers.data, headers.len);
	if (!headers.has_failed && !names.has_failed && !file->has_failed) {
		memcpy(file->data, &head, sizeof(head));
		err = 0;
	}
	byte_buffer__clear(&headers);
	byte_buffer__clear(&names);
	return err;
}

static int make_file(struct package *package, uint64_t id, struct byte_buffer *file)
{
	const Elf64_Ehdr *head = elf64_getehdr(package->elf);
	int native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	size_t len = 0;
	int err;

	if (!head || head->e_ident[EI_DATA] != native)
		return -EBADMSG;
	err = find_parts(package, id);
	if (!err)
		err = find_texts(package);
	for (int i = 0; i < package->nr; i++)
		len += package->parts[i].bytes.len;
	if (!err && len + package->texts.len > SYMBOL_MAX_BYTES - 4096)
		err = -EFBIG;
	return err ? err : put_file(package, head, file);
}

int dwp_file__unit(int fd, uint64_t id, struct byte_buffer *file)
{
	struct package package = {.elf = elf_file__open(fd, ELF_C_READ_MMAP)};
	int err = package.elf ? make_file(&package, id, file) : -ENOENT;

	elf_end(package.elf);
	byte_buffer__clear(&package.texts);
	byte_buffer__clear(&package.offsets);
	return err;
}
