// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/kernel_code.h"

#include "util/host/capability.h"
#include "util/lib/util.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

/* kcore is a core file of the kernel's memory, with a segment for each range. */

static bool has(const Elf64_Phdr *segment, uint64_t address, size_t len)
{
	return segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
	       address - segment->p_vaddr < segment->p_memsz &&
	       len <= segment->p_memsz - (address - segment->p_vaddr);
}

static int read_kcore(int fd, uint64_t address, void *bytes, size_t len)
{
	Elf64_Phdr segment;
	Elf64_Ehdr head;
	int err = read_exactly(fd, &head, sizeof(head), 0);

	if (!err && (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64))
		err = -ENOEXEC;
	for (int i = 0; !err && i < head.e_phnum; i++) {
		err = read_exactly(fd, &segment, sizeof(segment),
				   head.e_phoff + i * sizeof(segment));
		if (!err && has(&segment, address, len))
			return read_exactly(fd, bytes, len,
					    segment.p_offset + (address - segment.p_vaddr));
	}
	return err ? err : -EFAULT;
}

int kernel_code__read(uint64_t address, void *bytes, size_t len)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/kcore", procfs_root());
	int fd __cleanup(close_fd) = -1;

	if (!path)
		return -ENOMEM;
	capability__raise();
	fd = open(path, O_RDONLY | O_CLOEXEC);
	capability__lower();
	if (fd < 0)
		return errno == ENOENT ? -ENXIO : -errno;
	return read_kcore(fd, address, bytes, len);
}
