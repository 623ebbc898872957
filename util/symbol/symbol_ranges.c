// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/symbol_ranges.h"

#include "util/lib/address_ranges.h"
#include "util/lib/util.h"
#include "util/symbol/image_files.h"
#include "util/symbol/maps.h"
#include "util/symbol/process_table.h"
#include "util/symbol/symbol_process.h"
#include "util/symbol/symbol_table.h"
#include "util/symbol/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- the kernel --- */

/* Modules are in brackets. */
static bool is_module(const char *owner, const char *name)
{
	size_t len = strlen(name);

	return owner[0] == '[' && !strncmp(owner + 1, name, len) && !strcmp(owner + 1 + len, "]");
}

int symbol_ranges__kernel(struct symbols *symbols, const char *name, struct address_ranges *ranges)
{
	const struct symbol_table *table = symbols__kernel(symbols);
	int nr = 0;

	for (size_t i = 0; i < table->nr; i++) {
		const struct symbol *symbol = &table->symbols[i];

		if (symbol->is_data || (strcmp(symbol_table__name(table, symbol), name) &&
					!is_module(table->names + symbol->owner, name)))
			continue;
		if (address_ranges__add(ranges, symbol->start, symbol->end))
			return -ENOMEM;
		nr++;
	}
	return nr;
}

/* --- processes --- */

/* A file has so many functions of a name at most: its reader may be in hostile hands. */
#define MAX_PLACES 1024

/* The places of the function in a file. */
struct places {
	bool is_known;
	struct address_ranges list;
	int err;
};

struct search {
	struct symbols *symbols;
	const struct process_code *wanted;
	struct process_table
		table;	       /* of its own: samples must not find processes as they are now */
	struct places *places; /* of each image */
	struct address_ranges *ranges;
	int nr; /* that were added */
};

static void add_place(void *ctx, uint64_t start, uint64_t end, uint64_t address __unused)
{
	struct places *places = ctx;

	if (!places->err && places->list.nr < MAX_PLACES)
		places->err = address_ranges__add(&places->list, start, end);
}

/* A file that cannot be read has no functions. */
static void find_places(const struct search *search, int image, struct places *places)
{
	struct image *file = &search->table.images[image];
	struct symbol_files files;

	places->is_known = true;
	if (!search->wanted->function) {
		add_place(places, 0, UINT64_MAX, 0);
		return;
	}
	if (symbols__describe(search->symbols, file))
		return;
	files = image_files__read_as(SYMBOL_FILE_FIND, file);
	(void)symbol_process__find(symbols__reader(search->symbols), &files,
				   search->wanted->function, add_place, places);
}

/* @place: positions in the file */
static int add_part(struct search *search, const struct map_range *map,
		    const struct address_range *place)
{
	uint64_t map_end = map->offset + (map->end - map->start);
	uint64_t start = place->start > map->offset ? place->start : map->offset;
	uint64_t end = place->end < map_end ? place->end : map_end;

	if (start >= end)
		return 0;
	search->nr++;
	return address_ranges__add(search->ranges, start - map->offset + map->start,
				   end - map->offset + map->start);
}

static bool is_file(const struct image *image, const char *file)
{
	if (image->kind != IMAGE_FILE)
		return false;
	return !file || !strcmp(strchr(file, '/') ? image->path : image__name(image), file);
}

static int search_map(struct search *search, const struct map_range *map)
{
	struct places *places = &search->places[map->image];
	int err = 0;

	if (!is_file(&search->table.images[map->image], search->wanted->file))
		return 0;
	if (!places->is_known)
		find_places(search, map->image, places);
	for (int i = 0; i < places->list.nr && !err; i++)
		err = add_part(search, map, &places->list.ranges[i]);
	return err ? err : places->err;
}

static int search_all(struct search *search)
{
	int err = 0;

	search->places = calloc(search->table.nr_images, sizeof(*search->places));
	for (int i = 0; search->places && i < search->table.nr && !err; i++) {
		const struct maps *maps = search->table.processes[i].generations[0].maps;

		for (int j = 0; maps && j < maps->nr && !err; j++)
			err = search_map(search, &maps->ranges[j]);
	}
	for (int i = 0; search->places && i < search->table.nr_images; i++)
		address_ranges__clear(&search->places[i].list);
	err = search->places ? err : -ENOMEM;
	free(search->places);
	return err;
}

int symbol_ranges__processes(struct symbols *symbols, const struct process_code *wanted,
			     struct address_ranges *ranges)
{
	struct search search = {.symbols = symbols, .wanted = wanted, .ranges = ranges};
	int err = process_table__begin(&search.table);

	for (int i = 0; i < wanted->nr_pids && err >= 0; i++) {
		const struct process_key key = {
			.pid = wanted->pids[i], .exec_id = EXEC_ID_LATEST, .comm = ""};

		err = process_table__find(&search.table, &key);
	}
	if (err >= 0)
		err = search_all(&search);
	process_table__clear(&search.table);
	return err < 0 ? err : search.nr;
}
