// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/symbol_table.h"

#include "util/lib/sorted.h"

#include <stdlib.h>
#include <string.h>

/* Positions in names are 32 bits wide. */
#define MAX_NAMES_BYTES UINT32_MAX

static bool grow(void **array, size_t *cap, size_t needed, size_t size)
{
	size_t bigger = *cap ? *cap : 1024;
	void *moved;

	if (needed <= *cap)
		return true;
	while (bigger < needed)
		bigger *= 2;
	moved = reallocarray(*array, bigger, size);
	if (!moved)
		return false;
	*array = moved;
	*cap = bigger;
	return true;
}

uint32_t symbol_table__add_name(struct symbol_table *table, const char *name, size_t len)
{
	size_t at = table->names_len ? table->names_len : 1;

	if (len >= MAX_NAMES_BYTES - at ||
	    !grow((void **)&table->names, &table->names_cap, at + len + 1, 1)) {
		table->has_failed = true;
		return 0;
	}
	table->names[0] = '\0';
	memcpy(table->names + at, name, len);
	table->names[at + len] = '\0';
	table->names_len = at + len + 1;
	return at;
}

static struct symbol *add(struct symbol_table *table)
{
	if (!grow((void **)&table->symbols, &table->cap, table->nr + 1, sizeof(struct symbol))) {
		table->has_failed = true;
		return NULL;
	}
	table->symbols[table->nr] = (struct symbol){};
	return &table->symbols[table->nr++];
}

void symbol_table__add(struct symbol_table *table, const struct new_symbol *added)
{
	uint32_t at = symbol_table__add_name(table, added->name, added->name_len);
	struct symbol *symbol = at ? add(table) : NULL;
	uint64_t end = added->start + added->size;

	if (!symbol)
		return;
	symbol->start = added->start;
	symbol->end = end > added->start ? end : 0;
	symbol->name = at;
	symbol->owner = added->owner;
	symbol->rank = added->rank;
}

void symbol_table__drop(struct symbol_table *table, uint64_t start, uint64_t end)
{
	size_t nr = 0, nr_sorted = 0;

	for (size_t i = 0; i < table->nr; i++) {
		if (table->symbols[i].start < end && table->symbols[i].end > start)
			continue;
		nr_sorted += i < table->nr_sorted;
		table->symbols[nr++] = table->symbols[i];
	}
	table->nr = nr;
	table->nr_sorted = nr_sorted;
}

void symbol_table__add_data(struct symbol_table *table, uint64_t start)
{
	struct symbol *symbol = add(table);

	if (!symbol)
		return;
	symbol->start = start;
	symbol->is_data = true;
}

static int nr_underscores(const char *name)
{
	return strspn(name, "_");
}

/* Order by address, better names first. */
static int compare(const void *a, const void *b, void *names)
{
	const struct symbol *x = a, *y = b;
	const char *x_name = (char *)names + x->name, *y_name = (char *)names + y->name;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->is_data != y->is_data)
		return x->is_data - y->is_data;
	if (x->rank != y->rank)
		return y->rank - x->rank;
	if (nr_underscores(x_name) != nr_underscores(y_name))
		return nr_underscores(x_name) - nr_underscores(y_name);
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return strcmp(x_name, y_name);
}

/* Memory behind a module may be anybody's. Programs, which are large, are mostly next to each other. */
static uint64_t end_of(const struct symbol_table *table, const struct symbol *symbol,
		       const struct symbol *next)
{
	const char *owner = table->names + symbol->owner;
	uint64_t last = symbol->start + SYMBOL_LAST_SIZE;

	if (!next)
		return last;
	if (next->is_data || next->start < last || !strcmp(owner, "[bpf]") ||
	    !strcmp(owner, table->names + next->owner))
		return next->start;
	return last;
}

static void sort_range(struct symbol_table *table, size_t from, size_t to)
{
	if (to - from > 1)
		qsort_r(table->symbols + from, to - from, sizeof(*table->symbols), compare,
			table->names);
}

/* Sort those of each address from a symbol on, as long as addresses do not fall. Return: where they fall, or nr */
static size_t sort_rising(struct symbol_table *table, size_t from)
{
	const struct symbol *symbols = table->symbols;
	size_t i = from + 1;

	for (; i < table->nr && symbols[i].start >= symbols[i - 1].start; i++) {
		if (symbols[i].start == symbols[from].start)
			continue;
		sort_range(table, from, i);
		from = i;
	}
	sort_range(table, from, i);
	return i;
}

/* Merge the two sorted parts of a table, from the end. Without memory for a copy of the second, sort all. */
static void merge(struct symbol_table *table, size_t middle)
{
	size_t nr_new = table->nr - middle, old = middle, to = table->nr;
	struct symbol *added = calloc(nr_new, sizeof(*added));

	if (!added) {
		sort_range(table, 0, table->nr);
		return;
	}
	memcpy(added, table->symbols + middle, nr_new * sizeof(*added));
	while (nr_new) {
		bool is_old = old && compare(&table->symbols[old - 1], &added[nr_new - 1],
					     table->names) > 0;

		table->symbols[--to] = is_old ? table->symbols[--old] : added[--nr_new];
	}
	free(added);
}

void symbol_table__sort(struct symbol_table *table)
{
	size_t nr = 0, middle;

	if (table->nr_sorted == table->nr)
		return;
	if (!table->names)
		(void)symbol_table__add_name(table, "", 0); /* data alone: no name is read */
	middle = sort_rising(table, table->nr_sorted ? table->nr_sorted - 1 : 0);
	if (middle < table->nr) {
		if (sort_rising(table, middle) < table->nr)
			sort_range(table, middle, table->nr);
		merge(table, middle);
	}
	for (size_t i = 0; i < table->nr; i++) {
		if (!nr || table->symbols[i].start != table->symbols[nr - 1].start)
			table->symbols[nr++] = table->symbols[i];
	}
	table->nr = table->nr_sorted = nr;
	for (size_t i = 0; i < nr; i++) {
		struct symbol *symbol = &table->symbols[i];

		if (!symbol->end)
			symbol->end = end_of(table, symbol, i + 1 < nr ? symbol + 1 : NULL);
	}
}

/* Return: the last symbol that starts at or before an address; -1: none */
static ssize_t last_before(const struct symbol_table *table, uint64_t address)
{
	return (ssize_t)array__nr_up_to(table->symbols, table->nr, start, address) - 1;
}

/* How many symbols before an address may be inside of the one around it, as labels of assembly are. */
#define MAX_NESTED 16

const struct symbol *symbol_table__find(const struct symbol_table *table, uint64_t address)
{
	ssize_t last = last_before(table, address);

	for (ssize_t i = last; i >= 0 && i > last - MAX_NESTED; i--) {
		const struct symbol *symbol = &table->symbols[i];

		if (address < symbol->end && !symbol->is_data)
			return symbol;
		/* Data without a size also ends the function before it. */
		if (symbol->is_data && address < symbol->end)
			return NULL;
	}
	return NULL;
}

void symbol_table__clear(struct symbol_table *table)
{
	free(table->symbols);
	free(table->names);
	*table = (struct symbol_table){};
}
