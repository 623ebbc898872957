// SPDX-License-Identifier: GPL-2.0
/* Any text has symbols with names in it, sorted and without duplicates, or none. | stands for a line break. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/symbol/kallsyms.h"
#include "util/symbol/symbol_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct symbol_table *table, size_t i)
{
	const struct symbol *symbol = &table->symbols[i], *found;
	const char *name = symbol_table__name(table, symbol), *owner = table->names + symbol->owner;

	assert(symbol->start && (!i || symbol[-1].start < symbol->start));
	if (symbol->is_data)
		return;
	assert(symbol->name && symbol->name < table->names_len);
	assert(*name && !strpbrk(name, " \t\n"));
	assert(!symbol->owner || (*owner == '[' && !strchr(owner, '\n')));
	found = symbol_table__find(table, symbol->start);
	assert(found == symbol || symbol->end < symbol->start);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_table table = {};
	char *text = malloc(size + 1);
	bool is_hidden;

	assert(text);
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < size; i++)
		text[i] = text[i] == '|' ? '\n' : text[i];
	is_hidden = kallsyms__parse(text, size, &table);
	assert(!table.has_failed);
	symbol_table__sort(&table);
	for (size_t i = 0; i < table.nr; i++) {
		check(&table, i);
		assert(!is_hidden || table.symbols[i].is_data);
	}
	symbol_table__clear(&table);
	free(text);
	return 0;
}
