// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/elf_file.h"

#include <gelf.h>
#include <string.h>

Elf *elf_file__open(int fd, Elf_Cmd command)
{
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	elf = elf_begin(fd, command, NULL);
	if (elf && elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return NULL;
	}
	return elf;
}

Elf_Scn *elf_file__section(Elf *elf, const char *wanted)
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
