// SPDX-License-Identifier: GPL-2.0
/* Any text lists functions that can be found, or none. | stands for a line break. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/symbol/perf_map.h"
#include "util/symbol/symbol_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct symbol_table *table, size_t i)
{
	const struct symbol *symbol = &table->symbols[i];
	const char *name = symbol_table__name(table, symbol);

	assert(symbol->start && (!i || symbol[-1].start < symbol->start));
	assert(symbol->name < table->names_len && !strchr(name, '\n'));
	assert(symbol_table__find(table, symbol->start) == symbol || symbol->end < symbol->start);
}

/* A file gives the same table as its text. */
static void check_file(const char *text, size_t size, const struct symbol_table *table)
{
	int fd = memfd_create("perf.map", MFD_CLOEXEC);
	struct symbol_table again = {};

	assert(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	assert(!perf_map__add(fd, &again));
	symbol_table__sort(&again);
	assert(again.nr == table->nr);
	for (size_t i = 0; i < again.nr; i++)
		assert(again.symbols[i].start == table->symbols[i].start &&
		       again.symbols[i].end == table->symbols[i].end);
	symbol_table__clear(&again);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_table table = {};
	char *text = malloc(size + 1);

	assert(text);
	for (size_t i = 0; i < size; i++)
		text[i] = data[i] == '|' ? '\n' : (char)data[i];
	/* Without a NUL: the parser gets the length. */
	text = realloc(text, size ? size : 1);
	assert(text);
	perf_map__parse(text, size, &table);
	assert(!table.has_failed);
	symbol_table__sort(&table);
	for (size_t i = 0; i < table.nr; i++)
		check(&table, i);
	check_file(text, size, &table);
	symbol_table__clear(&table);
	free(text);
	return 0;
}
