// SPDX-License-Identifier: GPL-2.0
#include "util/data/profile_names.h"

#include "util/data/profile_format.h"
#include "util/data/writer.h"
#include "util/lib/array.h"
#include "util/profile/samples.h"
#include "util/symbol/symbols.h"

#include <errno.h>

/* Start another record after so many bytes; a name and a path have less than the rest of a record. */
#define LIST_BYTES 32768

/* --- numbers --- */

/* Append @value, which is number @id of something. Return: 0 or -ENOMEM. */
static int number(struct id_map *nrs, int **list, int *nr, int id, int value)
{
	int *added;

	if (id_map__get(nrs, id + 1) >= 0)
		return 0;
	added = array__add(*list, *nr);
	if (!added)
		return -ENOMEM;
	*added = value;
	return id_map__set(nrs, id + 1, *nr - 1);
}

static int add_place(struct profile_names *names, int place)
{
	int image;
	int err = number(&names->place_nrs, &names->places, &names->nr_places, place, place);

	if (err || symbols__image(names->symbols, place, &image)->kind == IMAGE_KERNEL)
		return err;
	return number(&names->image_nrs, &names->images, &names->nr_images, image, place);
}

int profile_names__collect(struct profile_names *names, const struct samples *samples)
{
	int err = 0;

	names->symbols = samples->symbols;
	for (int i = 0; i < samples->keys.nr; i++) {
		const int *places;
		const struct samples_key *key = samples__get(samples, i, &places);

		for (int f = 0; f < key->nr_kernel + key->nr_user && !err; f++)
			err = add_place(names, places[f]);
	}
	return err;
}

void profile_names__clear(struct profile_names *names)
{
	free(names->places);
	free(names->images);
	id_map__clear(&names->place_nrs);
	id_map__clear(&names->image_nrs);
	*names = (struct profile_names){};
}

int profile_names__nr(const struct profile_names *names, int place)
{
	return id_map__get(&names->place_nrs, place + 1);
}

/* --- records --- */

static void put_image(const struct profile_names *names, int nr, struct byte_buffer *list)
{
	int unused;
	const struct image *image = symbols__image(names->symbols, names->images[nr], &unused);

	byte_buffer__put_u64(list, image->kind);
	byte_buffer__put_text(list, image->path);
}

static void put_build_id(const struct profile_names *names, int nr, struct byte_buffer *list)
{
	int unused;
	const struct image *image = symbols__image(names->symbols, names->images[nr], &unused);

	byte_buffer__put_u32(list, nr + 1);
	byte_buffer__put_u32(list, image->build_id.len);
	byte_buffer__put(list, image->build_id.bytes, sizeof(image->build_id.bytes));
}

static void put_place(const struct profile_names *names, int nr, struct byte_buffer *list)
{
	struct place_name name;
	int image;

	symbols__name(names->symbols, names->places[nr], &name);
	symbols__image(names->symbols, names->places[nr], &image);
	byte_buffer__put_u64(list, name.position);
	byte_buffer__put_u64(list, name.offset);
	byte_buffer__put_u32(list, id_map__get(&names->image_nrs, image + 1) + 1);
	byte_buffer__put_u32(list, (name.is_unknown ? PROFILE_PLACE_UNKNOWN : 0) |
					   (name.is_return ? PROFILE_PLACE_RETURN : 0));
	byte_buffer__put_text(list, name.is_kernel ? name.image : "");
	byte_buffer__put_text(list, name.name);
}

/* Write a list in as many records as it takes. Return: 0 or -errno after a message. */
static int put_list(const struct profile_names *names, struct data_writer *writer, uint64_t id,
		    enum data_update type, int nr,
		    void (*put)(const struct profile_names *names, int nr,
				struct byte_buffer *list))
{
	struct byte_buffer list = {};
	int err = 0;

	for (int i = 0; i < nr && !err; i++) {
		if (!list.len) {
			byte_buffer__put_u64(&list, type);
			byte_buffer__put_u64(&list, id);
		}
		put(names, i, &list);
		if (list.len > LIST_BYTES || i == nr - 1)
			err = data_writer__put(writer, RECORD_EVENT_UPDATE, 0, &list);
	}
	byte_buffer__clear(&list);
	return err;
}

int profile_names__put(const struct profile_names *names, struct data_writer *writer, uint64_t id)
{
	int err = put_list(names, writer, id, UPDATE_IMAGES, names->nr_images, put_image);

	if (!err)
		err = put_list(names, writer, id, UPDATE_BUILD_IDS, names->nr_images, put_build_id);
	return err ? err : put_list(names, writer, id, UPDATE_PLACES, names->nr_places, put_place);
}
