// SPDX-License-Identifier: GPL-2.0
/* Any bytes are a package of split debug information, or are refused, and what is unpacked is an ELF file. */
#include <assert.h>
#include <errno.h>
#include <gelf.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/lib/byte_buffer.h"
#include "util/symbol/dwp_file.h"
#include "util/symbol/elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_file(const struct byte_buffer *file)
{
	Elf *elf = elf_memory(file->data, file->len);
	Elf_Scn *section = elf_file__section(elf, ".debug_str.dwo");
	size_t nr;

	assert(section && elf_kind(elf) == ELF_K_ELF && !elf_getshdrnum(elf, &nr) && nr > 2);
	while ((section = elf_nextscn(elf, section)))
		assert(elf_rawdata(section, NULL));
	elf_end(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("dwp", MFD_CLOEXEC), err;

	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	/* Every number of the file may be an id. The ids of the index are on such places. */
	for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint32_t)) {
		struct byte_buffer file = {};
		uint64_t id;

		memcpy(&id, data + i, sizeof(id));
		err = dwp_file__unit(fd, id, &file);
		assert(!err || err == -ENOENT || err == -EBADMSG);
		if (!err)
			check_file(&file);
		byte_buffer__clear(&file);
	}
	close(fd);
	return 0;
}
