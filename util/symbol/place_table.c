// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/place_table.h"

#include "util/lib/util.h"
#include "util/symbol/symbol_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct place new_place = {
	.function = -1, .inner = -1, .outermost = -1, .file = -1, .frame = -1};

struct frame_key {
	int function, file, line;
};

void place_table__clear(struct place_table *table)
{
	blob_set__clear(&table->keys);
	blob_set__clear(&table->functions);
	blob_set__clear(&table->sources);
	blob_set__clear(&table->frames);
	free(table->places);
	*table = (struct place_table){};
}

static int grow(struct place_table *table)
{
	int cap = table->cap ? 2 * table->cap : 1024;
	struct place *places = reallocarray(table->places, cap, sizeof(*places));

	if (!places)
		return -ENOMEM;
	table->places = places;
	table->cap = cap;
	return 0;
}

int place_table__add(struct place_table *table, const struct place_key *key, bool *is_new)
{
	int nr = blob_set__find(&table->keys, key, sizeof(*key));

	*is_new = nr < 0;
	if (nr >= 0)
		return nr;
	if (table->nr == table->cap && grow(table))
		return -ENOMEM;
	nr = blob_set__add(&table->keys, key, sizeof(*key));
	if (nr >= 0)
		table->places[table->nr++] = new_place;
	return nr;
}

bool place_table__has(const struct place_table *table, const struct place_key *key)
{
	return blob_set__find(&table->keys, key, sizeof(*key)) >= 0;
}

const struct place_key *place_table__key(const struct place_table *table, int place)
{
	return blob_set__get(&table->keys, place, NULL);
}

/* --- names --- */

static int add_function(struct place_table *table, int image, const char *owner, const char *name)
{
	char number[12];
	char *text __cleanup(free_ptr) = NULL;
	size_t number_len, owner_len = strlen(owner), name_len = strlen(name);

	number_len = snprintf(number, sizeof(number), "%d", image);
	text = malloc(number_len + owner_len + name_len + 3);
	if (!text)
		return -ENOMEM;
	memcpy(text, number, number_len + 1);
	memcpy(text + number_len + 1, owner, owner_len + 1);
	memcpy(text + number_len + owner_len + 2, name, name_len + 1);
	return blob_set__add(&table->functions, text, number_len + owner_len + name_len + 3);
}

int place_table__set_name(struct place_table *table, int place, const char *owner, const char *name,
			  uint64_t offset)
{
	int function = add_function(table, place_table__key(table, place)->image, owner, name);

	if (function < 0)
		return function;
	table->places[place].function = function;
	table->places[place].offset = offset;
	return 0;
}

const char *place_table__owner(const struct place_table *table, int place)
{
	const char *image = blob_set__get(&table->functions, table->places[place].function, NULL);

	return image + strlen(image) + 1;
}

/* --- source lines --- */

/* Return: the place of the function inlined at a place, so many levels inside; -1: none; -ENOMEM. */
static int get_inner(struct place_table *table, int place, int depth)
{
	struct place_key key = *place_table__key(table, place);
	int outer = place, inner = place;
	bool is_new;

	for (key.depth = 1; key.depth <= depth && inner >= 0; key.depth++) {
		outer = inner;
		inner = table->places[outer].inner;
	}
	key.depth--;
	/* A worker that sends them in another order has been taken over. */
	if (inner >= 0 || key.depth != depth)
		return inner;
	inner = place_table__add(table, &key, &is_new);
	if (inner < 0)
		return inner;
	table->places[outer].inner = inner;
	table->places[inner].outermost = place;
	return inner;
}

static int set_file(struct place_table *table, int place, const struct symbol_line *line)
{
	int file = *line->file ?
			   blob_set__add(&table->sources, line->file, strlen(line->file) + 1) :
			   -1;

	if (*line->file && file < 0)
		return file;
	table->places[place].file = file;
	table->places[place].line = line->line;
	return 0;
}

static int set_inlined(struct place_table *table, int place, const char *function)
{
	char *name __cleanup(free_ptr) =
		xasprintf("%s (inlined)", *function ? function : "[unknown]");

	return name ? place_table__set_name(table, place, "", name, 0) : -ENOMEM;
}

int place_table__set_line(struct place_table *table, int place, const struct symbol_line *line,
			  bool has_inlined)
{
	int at = place, err = 0;

	if (line->depth && has_inlined) {
		at = get_inner(table, place, line->depth);
		if (at < 0)
			return at == -ENOMEM ? at : 0;
		err = set_inlined(table, at, line->name);
	}
	return err ? err : set_file(table, at, line);
}

const char *place_table__file(const struct place_table *table, int place)
{
	int file = table->places[place].file;

	return file < 0 ? NULL : blob_set__get(&table->sources, file, NULL);
}

int place_table__number_frames(struct place_table *table)
{
	for (int i = 0; i < table->nr; i++) {
		struct place *place = &table->places[i];
		const struct frame_key key = {place->function, place->file, place->line};

		if (place->frame < 0)
			place->frame = blob_set__add(&table->frames, &key, sizeof(key));
		if (place->frame < 0)
			return place->frame;
	}
	return 0;
}
