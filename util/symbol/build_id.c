// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/build_id.h"

#include "util/lib/util.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static size_t aligned(size_t size, size_t align)
{
	return (size + align - 1) & ~(align - 1);
}

void build_id__find(const void *notes, size_t len, size_t align, struct build_id *id)
{
	const char *at = notes;

	*id = (struct build_id){};
	align = align == 8 ? 8 : 4;
	while (len >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note; /* the same for both classes */
		size_t name, desc;

		memcpy(&note, at, sizeof(note));
		name = aligned(sizeof(note) + (size_t)note.n_namesz, align);
		desc = aligned(note.n_descsz, align);
		if (name > len || note.n_descsz > len - name)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(at + sizeof(note), "GNU", 4) && note.n_descsz >= 2 &&
		    note.n_descsz <= BUILD_ID_MAX) {
			id->len = note.n_descsz;
			memcpy(id->bytes, at + name, id->len);
			return;
		}
		if (desc > len - name)
			return;
		at += name + desc;
		len -= name + desc;
	}
}

bool build_id__are_equal(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

char *build_id__debug_path(const struct build_id *id)
{
	char hex[2 * BUILD_ID_MAX + 1] = "";

	if (!id->len) {
		errno = ENOENT;
		return NULL;
	}
	for (uint32_t i = 0; i < id->len; i++)
		sprintf(hex + 2 * i, "%02x", id->bytes[i]);
	return xasprintf("usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
}
