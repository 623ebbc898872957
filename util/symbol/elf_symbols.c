// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/elf_symbols.h"

#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/symbol/life_sign.h"
#include "util/symbol/symbol_table.h"
#include "util/symbol/xz_data.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Without a memory mapping: a file that is truncated meanwhile gives an error, and no SIGBUS. */
static Elf *open_elf(int fd)
{
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return NULL;
	}
	return elf;
}

static void find_build_id(Elf *elf, struct build_id *id)
{
	size_t nr = 0;

	if (elf_getphdrnum(elf, &nr))
		return;
	for (size_t i = 0; i < nr && !id->len; i++) {
		Elf_Data *notes;
		GElf_Phdr header;

		if (!gelf_getphdr(elf, i, &header) || header.p_type != PT_NOTE)
			continue;
		notes = elf_getdata_rawchunk(elf, header.p_offset, header.p_filesz, ELF_T_BYTE);
		if (notes && notes->d_buf)
			build_id__find(notes->d_buf, notes->d_size, header.p_align, id);
	}
}

/* Files that are never mapped, such as those of dwz, have no segments. */
static void find_build_id_in_section(Elf_Scn *section, const GElf_Shdr *header, struct build_id *id)
{
	const Elf_Data *notes =
		header->sh_type == SHT_NOTE && !id->len ? elf_rawdata(section, NULL) : NULL;

	if (notes && notes->d_buf)
		build_id__find(notes->d_buf, notes->d_size, header->sh_addralign, id);
}

static Elf_Scn *find_section(Elf *elf, GElf_Word type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	}
	return NULL;
}

/* A name, NULs up to a multiple of 4 bytes, and the checksum. */
static void read_link(Elf_Scn *section, struct elf_description *file)
{
	const Elf_Data *data = elf_rawdata(section, NULL);
	size_t len = data && data->d_buf ? strnlen(data->d_buf, data->d_size) : 0;
	size_t at = (len + 4) & ~(size_t)3;

	if (!len || len >= sizeof(file->debug_link) || at + sizeof(file->link_crc) > data->d_size)
		return;
	memcpy(file->debug_link, data->d_buf, len);
	memcpy(&file->link_crc, (const char *)data->d_buf + at, sizeof(file->link_crc));
}

/* A path, a NUL, and the build id. */
static void read_alt_link(Elf_Scn *section, struct elf_description *file)
{
	const Elf_Data *data = elf_rawdata(section, NULL);
	size_t len = data && data->d_buf ? strnlen(data->d_buf, data->d_size) : 0;
	size_t id_len = len ? data->d_size - len : 0;

	/* With the NUL. */
	if (id_len < 2 || id_len > BUILD_ID_MAX + 1 || len >= sizeof(file->alt_link))
		return;
	memcpy(file->alt_link, data->d_buf, len);
	file->alt_id.len = id_len - 1;
	memcpy(file->alt_id.bytes, (const char *)data->d_buf + len + 1, file->alt_id.len);
}

static void describe_section(Elf *elf, size_t names, Elf_Scn *section, struct elf_description *file)
{
	GElf_Shdr header;
	const char *name =
		gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

	if (!name || header.sh_type == SHT_NOBITS)
		return;
	find_build_id_in_section(section, &header, &file->id);
	file->has_symtab |= header.sh_type == SHT_SYMTAB;
	file->has_lines |= !strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info");
	if (!strcmp(name, ".gnu_debuglink"))
		read_link(section, file);
	if (!strcmp(name, ".gnu_debugaltlink"))
		read_alt_link(section, file);
}

static void describe_machine(Elf *elf, struct elf_description *file)
{
	GElf_Ehdr head;

	if (!gelf_getehdr(elf, &head))
		return;
	file->machine = head.e_machine;
	file->is_64bit = head.e_ident[EI_CLASS] == ELFCLASS64;
}

int elf_symbols__describe(int fd, struct elf_description *file)
{
	Elf *elf = open_elf(fd);
	Elf_Scn *section = NULL;
	size_t names = 0;

	*file = (struct elf_description){};
	if (!elf)
		return -ENOEXEC;
	describe_machine(elf, file);
	find_build_id(elf, &file->id);
	(void)elf_getshdrstrndx(elf, &names); /* without it sections have no names */
	while ((section = elf_nextscn(elf, section)))
		describe_section(elf, names, section, file);
	elf_end(elf);
	return 0;
}

static bool has_checksum(int fd, uint32_t wanted)
{
	char buf[1 << 14];
	uint32_t crc = 0;
	off_t at = 0;
	ssize_t len;

	while ((len = pread(fd, buf, sizeof(buf), at)) > 0) {
		life_sign__show();
		crc = crc32(crc, (const Bytef *)buf, len);
		at += len;
	}
	return !len && crc == wanted;
}

static bool is_same_file(int fd, int other)
{
	struct stat a, b;

	return fstat(fd, &a) || fstat(other, &b) || (a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

bool elf_symbols__is_debug_file(int fd, int debug_fd)
{
	struct elf_description file, debug;

	if (is_same_file(fd, debug_fd) || elf_symbols__describe(fd, &file) ||
	    elf_symbols__describe(debug_fd, &debug))
		return false;
	if (!file.id.len)
		return *file.debug_link && has_checksum(debug_fd, file.link_crc);
	return build_id__are_equal(&file.id, &debug.id);
}

static enum symbol_rank rank_of(unsigned char binding)
{
	return binding == STB_GLOBAL ? SYMBOL_GLOBAL :
	       binding == STB_WEAK   ? SYMBOL_WEAK :
				       SYMBOL_LOCAL;
}

/* Return: whether a symbol is a function, or a label in code written in assembly. */
static bool is_function(Elf *elf, const GElf_Sym *symbol, const char *name)
{
	unsigned char type = GELF_ST_TYPE(symbol->st_info);
	Elf_Scn *section;
	GElf_Shdr header;

	if (symbol->st_shndx == SHN_UNDEF || !*name)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	/* Compilers' own labels and arm's marks of code and data are no names. */
	if (type != STT_NOTYPE || *name == '$' || *name == '.' || symbol->st_shndx >= SHN_LORESERVE)
		return false;
	section = elf_getscn(elf, symbol->st_shndx);
	return section && gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR;
}

/* Bit 0 of the address of a function of 32-bit arm tells the instruction set. */
static uint64_t address_of(const GElf_Ehdr *file, const GElf_Sym *symbol)
{
	return file->e_machine == EM_ARM ? symbol->st_value & ~1ULL : symbol->st_value;
}

static void add_section(Elf *elf, const GElf_Ehdr *file, GElf_Word type, struct symbol_table *table)
{
	GElf_Shdr header;
	Elf_Scn *section = find_section(elf, type, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t nr = data && header.sh_entsize ? data->d_size / header.sh_entsize : 0;

	for (size_t i = 0; i < nr && !table->has_failed; i++) {
		const char *name;
		GElf_Sym symbol;

		life_sign__show();
		if (!gelf_getsym(data, i, &symbol))
			continue;
		name = elf_strptr(elf, header.sh_link, symbol.st_name);
		if (name && is_function(elf, &symbol, name))
			symbol_table__add(table, address_of(file, &symbol), symbol.st_size, name,
					  strlen(name), 0, rank_of(GELF_ST_BIND(symbol.st_info)));
	}
}

static Elf_Scn *find_named(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	size_t names = 0;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) ?
					   elf_strptr(elf, names, header.sh_name) :
					   NULL;

		if (name && !strcmp(name, wanted))
			return section;
	}
	return NULL;
}

/* --- calls of other files --- */

/* How a machine lays out the section with an entry for each function that is called in another file. */
struct plt {
	GElf_Half machine;
	const char *name;
	unsigned int head, entry; /* bytes */
};

/* The first that a file has counts. Processors that check branches have a second section. */
static const struct plt plts[] = {
	{EM_X86_64, ".plt.sec", 0, 16},
	{EM_X86_64, ".plt", 16, 16},
	{EM_AARCH64, ".plt", 32, 16},
	{EM_AARCH64, ".plt", 32, 24}, /* with authenticated pointers */
};

/* Return: the layout of a file whose relocations are as many as its entries; NULL: unknown */
static const struct plt *find_plt(Elf *elf, const GElf_Ehdr *file, size_t nr, GElf_Shdr *header)
{
	for (size_t i = 0; i < ARRAY_SIZE(plts); i++) {
		const struct plt *plt = &plts[i];
		Elf_Scn *section =
			file->e_machine == plt->machine ? find_named(elf, plt->name) : NULL;

		if (section && gelf_getshdr(section, header) &&
		    header->sh_size == plt->head + nr * plt->entry)
			return plt;
	}
	return NULL;
}

/* "NAME@plt", as debuggers have it. Return: its length; 0: none */
static size_t plt_name(Elf *elf, Elf_Scn *relocations, const GElf_Shdr *header, size_t nr,
		       char *text, size_t size)
{
	Elf_Scn *section = elf_getscn(elf, header->sh_link);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Shdr symbols;
	const char *name;
	GElf_Rela entry;
	GElf_Sym symbol;
	int len;

	if (!data || !gelf_getshdr(section, &symbols) || symbols.sh_type != SHT_DYNSYM ||
	    !gelf_getrela(elf_getdata(relocations, NULL), nr, &entry) ||
	    !gelf_getsym(data, GELF_R_SYM(entry.r_info), &symbol))
		return 0;
	name = elf_strptr(elf, symbols.sh_link, symbol.st_name);
	len = name && *name ? snprintf(text, size, "%s@plt", name) : 0;
	return len > 0 && (size_t)len < size ? len : 0;
}

/* Entries have no symbols of their own. They come in the order of their relocations. */
static void add_plt(Elf *elf, const GElf_Ehdr *file, struct symbol_table *table)
{
	Elf_Scn *section = find_named(elf, ".rela.plt");
	const Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Shdr header, code;
	const struct plt *plt;
	size_t nr;

	if (!data || !gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
	    !header.sh_entsize)
		return;
	nr = data->d_size / header.sh_entsize;
	plt = find_plt(elf, file, nr, &code);
	for (size_t i = 0; plt && i < nr && !table->has_failed; i++) {
		char name[1024];
		size_t len = plt_name(elf, section, &header, i, name, sizeof(name));

		life_sign__show();
		if (len)
			symbol_table__add(table, code.sh_addr + plt->head + i * plt->entry,
					  plt->entry, name, len, 0, SYMBOL_LOCAL);
	}
}

/* Distributions leave the symbols that .dynsym lacks in a stripped file, as an ELF file compressed by xz. */
static void add_packed(Elf *elf, struct symbol_table *table)
{
	Elf_Scn *section = find_named(elf, ".gnu_debugdata");
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	size_t len = data ? data->d_size : 0;
	char *unpacked __cleanup(free_ptr) =
		data && data->d_buf ? xz_data__unpack(data->d_buf, &len) : NULL;
	Elf *inner = unpacked ? elf_memory(unpacked, len) : NULL;
	GElf_Ehdr file;

	if (inner && elf_kind(inner) == ELF_K_ELF && gelf_getehdr(inner, &file))
		add_section(inner, &file, SHT_SYMTAB, table);
	elf_end(inner);
}

int elf_symbols__add(int fd, struct symbol_table *table)
{
	Elf *elf = open_elf(fd);
	GElf_Ehdr file;

	if (!elf)
		return -ENOEXEC;
	if (gelf_getehdr(elf, &file)) {
		add_section(elf, &file, SHT_SYMTAB, table);
		add_section(elf, &file, SHT_DYNSYM, table);
		add_plt(elf, &file, table);
		add_packed(elf, table);
	}
	elf_end(elf);
	return table->has_failed ? -ENOMEM : 0;
}

static int add_segment(struct elf_segments *segments, const GElf_Phdr *header)
{
	struct elf_segment *segment = array__add(segments->segments, segments->nr);

	if (!segment)
		return -ENOMEM;
	*segment = (struct elf_segment){
		.offset = header->p_offset,
		.size = header->p_filesz,
		.address = header->p_vaddr,
		.is_code = header->p_flags & PF_X,
	};
	return 0;
}

int elf_symbols__segments(int fd, struct elf_segments *segments)
{
	Elf *elf = open_elf(fd);
	size_t nr = 0;
	int err = 0;

	*segments = (struct elf_segments){};
	if (!elf)
		return -ENOEXEC;
	if (elf_getphdrnum(elf, &nr))
		err = -ENOEXEC;
	for (size_t i = 0; i < nr && !err; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(elf, i, &header) && header.p_type == PT_LOAD)
			err = add_segment(segments, &header);
	}
	elf_end(elf);
	return err;
}

/* A page at a border belongs to two segments; what was executed is of the one with code. */
bool elf_segments__address(const struct elf_segments *segments, uint64_t offset, uint64_t *address)
{
	const struct elf_segment *found = NULL;

	for (int i = 0; i < segments->nr; i++) {
		const struct elf_segment *segment = &segments->segments[i];

		if (offset < segment->offset || offset - segment->offset >= segment->size)
			continue;
		if (!found || (segment->is_code && !found->is_code))
			found = segment;
	}
	if (found)
		*address = offset - found->offset + found->address;
	return found != NULL;
}

bool elf_segments__offset(const struct elf_segments *segments, uint64_t address, uint64_t *offset)
{
	for (int i = 0; i < segments->nr; i++) {
		const struct elf_segment *segment = &segments->segments[i];

		if (address < segment->address || address - segment->address >= segment->size)
			continue;
		*offset = address - segment->address + segment->offset;
		return true;
	}
	return false;
}
