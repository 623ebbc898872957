// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/code_file.h"

#include "util/lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#define NATIVE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE EM_AARCH64
#elif defined(__riscv)
#define NATIVE EM_RISCV
#elif defined(__s390x__)
#define NATIVE EM_S390
#elif defined(__powerpc64__)
#define NATIVE EM_PPC64
#else
#define NATIVE EM_NONE
#endif

/* Sections, and the positions of their names and of the symbol's in the table of texts. */
enum { TEXT = 1, SYMTAB, STRTAB };
static const char texts[] = "\0.text\0.symtab\0.strtab\0" CODE_FILE_SYMBOL;
enum { TEXT_NAME = 1, SYMTAB_NAME = 7, STRTAB_NAME = 15, SYMBOL_NAME = 23 };

uint16_t code_file__native(void)
{
	return NATIVE;
}

/* Return: whether the section was added. */
static bool add_section(Elf *elf, const GElf_Shdr *wanted, const void *bytes, size_t len,
			Elf_Type type)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = section ? elf_newdata(section) : NULL;
	GElf_Shdr header;

	if (!data || !gelf_getshdr(section, &header))
		return false;
	data->d_buf = (void *)bytes;
	data->d_size = len;
	data->d_type = type;
	data->d_align = 1;
	header.sh_name = wanted->sh_name;
	header.sh_type = wanted->sh_type;
	header.sh_flags = wanted->sh_flags;
	header.sh_addr = wanted->sh_addr;
	header.sh_link = wanted->sh_link;
	header.sh_info = wanted->sh_info;
	header.sh_entsize = wanted->sh_entsize;
	return gelf_update_shdr(section, &header);
}

static bool add_head(Elf *elf, const struct code *code)
{
	GElf_Ehdr head;

	if (!gelf_newehdr(elf, code->is_64bit ? ELFCLASS64 : ELFCLASS32) ||
	    !gelf_getehdr(elf, &head))
		return false;
	head.e_type = ET_EXEC;
	head.e_machine = code->machine;
	head.e_version = EV_CURRENT;
	head.e_shstrndx = STRTAB;
	head.e_ident[EI_DATA] =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	return gelf_update_ehdr(elf, &head);
}

/* The first symbol of a table is none. */
static bool add_symbols(Elf *elf, const struct code *code, void *room)
{
	const GElf_Sym symbol = {
		.st_name = SYMBOL_NAME,
		.st_info = GELF_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = TEXT,
		.st_value = code->address,
		.st_size = code->len,
	};
	size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	const GElf_Shdr header = {
		.sh_name = SYMTAB_NAME,
		.sh_type = SHT_SYMTAB,
		.sh_link = STRTAB,
		.sh_info = 1,
		.sh_entsize = size,
	};

	if (!add_section(elf, &header, room, 2 * size, ELF_T_SYM))
		return false;
	return gelf_update_sym(elf_getdata(elf_getscn(elf, SYMTAB), NULL), 1, (GElf_Sym *)&symbol);
}

static bool write_elf(int fd, const struct code *code)
{
	const GElf_Shdr text = {.sh_name = TEXT_NAME,
				.sh_type = SHT_PROGBITS,
				.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				.sh_addr = code->address};
	const GElf_Shdr strings = {.sh_name = STRTAB_NAME, .sh_type = SHT_STRTAB};
	Elf64_Sym symbols[2] = {}; /* as large as those of either class */
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_WRITE, NULL);
	bool is_written = elf && add_head(elf, code) &&
			  add_section(elf, &text, code->bytes, code->len, ELF_T_BYTE) &&
			  add_symbols(elf, code, symbols) &&
			  add_section(elf, &strings, texts, sizeof(texts), ELF_T_BYTE) &&
			  elf_update(elf, ELF_C_WRITE) > 0;

	elf_end(elf);
	return is_written;
}

int code_file__make(const struct code *code)
{
	int fd = memfd_create("code", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	/* Two tools read it, one after the other: the first must not change it. */
	if (write_elf(fd, code) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
		return fd;
	close(fd);
	return -EIO;
}
