// SPDX-License-Identifier: GPL-2.0
#include "util/data/profile_jit.h"

#include "util/data/format.h"
#include "util/data/profile_names.h"
#include "util/data/writer.h"
#include "util/lib/byte_buffer.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/symbol/image.h"
#include "util/symbol/symbol_process.h"
#include "util/symbol/symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a record; it has a few more. */
#define PART_BYTES 32768
/* The head of a jitdump, in words; the third is its length. */
#define HEAD_WORDS 10

struct writing {
	const struct profile_names *names;
	struct symbols *symbols;
	struct data_writer *writer;
	uint64_t id;
	size_t left; /* bytes */
	bool is_cut;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Return: the addresses whose functions were sampled in an image, ascending, owned by the caller; NULL without memory. */
static uint64_t *list_addresses(const struct writing *writing, int image, int *nr)
{
	const struct profile_names *names = writing->names;
	uint64_t *list = calloc(names->nr_places + 1, sizeof(*list));

	*nr = 0;
	for (int i = 0; list && i < names->nr_places; i++) {
		struct place_name name;
		int of;

		symbols__image(names->symbols, names->places[i], &of);
		if (of != image)
			continue;
		symbols__name(names->symbols, names->places[i], &name);
		list[(*nr)++] = name.position - name.is_return;
	}
	if (list)
		qsort(list, *nr, sizeof(*list), compare);
	return list;
}

/* The head tells the machine. Return: whether the file has one. */
static bool put_head(int fd, struct byte_buffer *dump)
{
	uint32_t head[HEAD_WORDS];

	if (pread(fd, head, sizeof(head), 0) != sizeof(head))
		return false;
	head[2] = sizeof(head);
	byte_buffer__put(dump, head, sizeof(head));
	return true;
}

/* @nr: of the image in the file */
static int put_parts(const struct writing *writing, int nr, const struct byte_buffer *dump)
{
	int err = 0;

	for (size_t at = 0; at < dump->len && !err; at += PART_BYTES) {
		size_t len = dump->len - at < PART_BYTES ? dump->len - at : PART_BYTES;
		struct byte_buffer body = {};

		byte_buffer__put_u64(&body, UPDATE_JIT_CODE);
		byte_buffer__put_u64(&body, writing->id);
		byte_buffer__put_u32(&body, nr);
		byte_buffer__put_u32(&body, len);
		byte_buffer__put(&body, dump->data + at, len);
		err = data_writer__put(writing->writer, RECORD_EVENT_UPDATE, 0, &body);
	}
	return err;
}

/* Return: 0, also if there is no code; -ENOMEM. */
static int collect(struct writing *writing, int image, const struct image *file,
		   struct byte_buffer *dump)
{
	struct symbol_process *reader = symbols__reader(writing->symbols);
	struct byte_buffer records = {};
	int nr, err = 0;
	uint64_t *addresses __cleanup(free_ptr) = list_addresses(writing, image, &nr);

	if (!addresses)
		return -ENOMEM;
	if (put_head(file->fd, dump))
		err = symbol_process__jit_code(reader, file->fd, addresses, nr, &records);
	writing->is_cut |= err == -EFBIG || records.len > writing->left;
	if (records.len <= writing->left) {
		writing->left -= records.len;
		byte_buffer__put(dump, records.data, records.len);
	}
	if (err && err != -EFBIG)
		pr_verbose("%s: the code of its functions is not in the file: %s", file->path,
			   strerror(-err));
	dump->has_failed |= records.has_failed;
	byte_buffer__clear(&records);
	return dump->has_failed ? -ENOMEM : 0;
}

static int put_image(struct writing *writing, int nr)
{
	int image;
	struct byte_buffer dump = {};
	const struct image *file = NULL;
	int err;

	symbols__image(writing->names->symbols, writing->names->images[nr], &image);
	file = symbols__open_jit(writing->symbols, image);
	if (!file)
		return 0;
	err = collect(writing, image, file, &dump);
	if (err)
		pr_err("out of memory");
	else if (dump.len > HEAD_WORDS * sizeof(uint32_t))
		err = put_parts(writing, nr + 1, &dump);
	byte_buffer__clear(&dump);
	return err;
}

int profile_jit__put(const struct profile_names *names, struct symbols *symbols,
		     struct data_writer *writer, uint64_t id)
{
	struct writing writing = {
		.names = names,
		.symbols = symbols,
		.writer = writer,
		.id = id,
		.left = SYMBOL_MAX_BYTES,
	};
	int err = 0;

	if (!symbols__reader(symbols))
		return 0;
	for (int i = 0; i < names->nr_images && !err; i++)
		err = put_image(&writing, i);
	if (writing.is_cut)
		pr_warn("the file lacks code of JIT compilers: more than %d MiB of it was sampled",
			SYMBOL_MAX_BYTES >> 20);
	return err;
}
