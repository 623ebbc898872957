/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_ELF_FILE_H
#define PERF_SYMBOL_ELF_FILE_H

/* ELF files by libelf, for the confined process. */

#include <libelf.h>

/**
 * elf_file__open() - begin to read a file
 * @command: ELF_C_READ, or ELF_C_READ_MMAP, with which a file that is truncated meanwhile ends this process
 *
 * Return: NULL if it is no ELF file; ended by elf_end().
 */
Elf *elf_file__open(int fd, Elf_Cmd command);

/** elf_file__section() - find a section by its name; NULL: there is none */
Elf_Scn *elf_file__section(Elf *elf, const char *name);

#endif
