// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/elf_symbols.h"

#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/symbol/elf_file.h"
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

/* Debug files of objcopy have no sizes of segments, those of eu-strip the sizes of the program. */
static bool has_no_code(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		life_sign__show();
		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR)
			return header.sh_type == SHT_NOBITS;
	}
	return false;
}

int elf_symbols__describe(int fd, struct elf_description *file)
{
	Elf *elf = elf_file__open(fd, ELF_C_READ);
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
	file->has_no_code = has_no_code(elf);
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
			symbol_table__add(table,
					  &(struct new_symbol){
						  .start = address_of(file, &symbol),
						  .size = symbol.st_size,
						  .name = name,
						  .name_len = strlen(name),
						  .rank = rank_of(GELF_ST_BIND(symbol.st_info)),
					  });
	}
}

/* --- calls of other files --- */

/* How a machine lays out the section with an entry for each function that is called in another file. */
struct plt {
	GElf_Half machine;
	const char *name;
	unsigned int head, entry; /* bytes */
	unsigned int
		tail; /* bytes that there may be if variables of threads are found when they are used */
};

/* The first section that a file has counts. Processors that check branches have a second one. */
static const struct plt plts[] = {
	{EM_X86_64, ".plt.sec", 0, 16, 0},
	{EM_X86_64, ".plt", 16, 16, 16},
	{EM_AARCH64, ".plt", 32, 16, 32},
	{EM_AARCH64, ".plt", 32, 24, 32}, /* with authenticated pointers */
};

/* The words with addresses of functions, one for each entry, in the same order. */
struct plt_slots {
	uint64_t first, last; /* addresses */
	size_t nr;
	bool has_tail;
};

static bool is_function_slot(const GElf_Ehdr *file, const GElf_Rela *relocation)
{
	uint64_t type = GELF_R_TYPE(relocation->r_info);

	return file->e_machine == EM_X86_64 ?
		       type == R_X86_64_JUMP_SLOT || type == R_X86_64_IRELATIVE :
		       type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_IRELATIVE;
}

/* Relocations may be in another order. Other kinds, which have no entries, are those of variables of threads. */
static void find_slots(const GElf_Ehdr *file, Elf_Data *relocations, size_t nr,
		       struct plt_slots *slots)
{
	GElf_Rela entry;

	for (size_t i = 0; i < nr && gelf_getrela(relocations, i, &entry); i++) {
		life_sign__show();
		if (!is_function_slot(file, &entry)) {
			slots->has_tail = true;
			continue;
		}
		if (!slots->nr || entry.r_offset < slots->first)
			slots->first = entry.r_offset;
		if (!slots->nr || entry.r_offset > slots->last)
			slots->last = entry.r_offset;
		slots->nr++;
	}
}

static bool has_layout(const struct plt *plt, const struct plt_slots *slots, uint64_t size)
{
	uint64_t needed = plt->head + (uint64_t)slots->nr * plt->entry;

	return size == needed || (slots->has_tail && size == needed + plt->tail);
}

/* Return: the layout of a file; NULL: unknown, also if it may be either of two */
static const struct plt *find_plt(Elf *elf, const GElf_Ehdr *file, const struct plt_slots *slots,
				  uint64_t *address)
{
	const struct plt *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(plts); i++) {
		const struct plt *plt = &plts[i];
		Elf_Scn *section =
			file->e_machine == plt->machine ? elf_file__section(elf, plt->name) : NULL;
		GElf_Shdr header;

		if (!section || !gelf_getshdr(section, &header) ||
		    !has_layout(plt, slots, header.sh_size))
			continue;
		if (found)
			return found->entry == plt->entry ? found : NULL;
		found = plt;
		*address = header.sh_addr;
	}
	return found;
}

/* "NAME@plt", as debuggers have it. Return: its length; 0: none */
static size_t plt_name(Elf *elf, const GElf_Shdr *relocations, const GElf_Rela *entry, char *text,
		       size_t size)
{
	Elf_Scn *section = elf_getscn(elf, relocations->sh_link);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Shdr symbols;
	const char *name;
	GElf_Sym symbol;
	int len;

	if (!data || !gelf_getshdr(section, &symbols) || symbols.sh_type != SHT_DYNSYM ||
	    !gelf_getsym(data, GELF_R_SYM(entry->r_info), &symbol))
		return 0;
	name = elf_strptr(elf, symbols.sh_link, symbol.st_name);
	len = name && *name ? snprintf(text, size, "%s@plt", name) : 0;
	return len > 0 && (size_t)len < size ? len : 0;
}

/* A file's entries with the names that belong to them. */
struct plt_names {
	Elf *elf;
	const GElf_Ehdr *file;
	GElf_Shdr header; /* of the relocations */
	Elf_Data *relocations;
	size_t nr;
	struct plt_slots slots;
	const struct plt *plt;
	uint64_t address; /* of the section with the entries */
};

/* Return: whether a file has entries whose names are certain. */
static bool find_plt_names(struct plt_names *names)
{
	const struct plt_slots *slots = &names->slots;
	Elf_Scn *section = elf_file__section(names->elf, ".rela.plt");

	names->relocations = section ? elf_getdata(section, NULL) : NULL;
	if (!names->relocations || !gelf_getshdr(section, &names->header) ||
	    names->header.sh_type != SHT_RELA || !names->header.sh_entsize)
		return false;
	names->nr = names->relocations->d_size / names->header.sh_entsize;
	find_slots(names->file, names->relocations, names->nr, &names->slots);
	/* A slot without an entry would make the names of others wrong. */
	if (!slots->nr || slots->last - slots->first != (slots->nr - 1) * sizeof(uint64_t))
		return false;
	names->plt = find_plt(names->elf, names->file, slots, &names->address);
	return names->plt;
}

/* Entries have no symbols of their own. */
static void add_plt(Elf *elf, const GElf_Ehdr *file, struct symbol_table *table)
{
	struct plt_names names = {.elf = elf, .file = file};

	if (!find_plt_names(&names))
		return;
	for (size_t i = 0; i < names.nr && !table->has_failed; i++) {
		char name[1024];
		GElf_Rela entry;
		uint64_t at;
		size_t len;

		life_sign__show();
		if (!gelf_getrela(names.relocations, i, &entry) || !is_function_slot(file, &entry))
			continue;
		at = (entry.r_offset - names.slots.first) / sizeof(uint64_t) * names.plt->entry;
		len = plt_name(elf, &names.header, &entry, name, sizeof(name));
		if (len)
			symbol_table__add(table,
					  &(struct new_symbol){
						  .start = names.address + names.plt->head + at,
						  .size = names.plt->entry,
						  .name = name,
						  .name_len = len,
						  .rank = SYMBOL_LOCAL,
					  });
	}
}

/* Distributions leave the symbols that .dynsym lacks in a stripped file, as an ELF file compressed by xz. */
static void add_packed(Elf *elf, struct symbol_table *table)
{
	Elf_Scn *section = elf_file__section(elf, ".gnu_debugdata");
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
	Elf *elf = elf_file__open(fd, ELF_C_READ);
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

static int add_segment(struct elf_segments *segments, const GElf_Phdr *header, bool is_debug_file)
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
	/* A debug file does not tell where the program has its code. */
	if (segment->is_code && (is_debug_file || !segment->size)) {
		segment->offset = segment->address & (sysconf(_SC_PAGESIZE) - 1);
		segment->size = header->p_memsz;
		segments->nr_moved++;
	}
	return 0;
}

/* The mapping of one segment with code is certain. */
static void drop_moved(struct elf_segments *segments)
{
	for (int i = 0; i < segments->nr && segments->nr_moved > 1; i++) {
		if (segments->segments[i].is_code)
			segments->segments[i].size = 0;
	}
}

int elf_symbols__segments(int fd, struct elf_segments *segments)
{
	Elf *elf = elf_file__open(fd, ELF_C_READ);
	bool is_debug_file;
	size_t nr = 0;
	int err = 0;

	*segments = (struct elf_segments){};
	if (!elf)
		return -ENOEXEC;
	if (elf_getphdrnum(elf, &nr))
		err = -ENOEXEC;
	is_debug_file = has_no_code(elf);
	for (size_t i = 0; i < nr && !err; i++) {
		GElf_Phdr header;

		life_sign__show();
		if (gelf_getphdr(elf, i, &header) && header.p_type == PT_LOAD)
			err = add_segment(segments, &header, is_debug_file);
	}
	drop_moved(segments);
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
