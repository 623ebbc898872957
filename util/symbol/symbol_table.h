/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_SYMBOL_TABLE_H
#define PERF_SYMBOL_SYMBOL_TABLE_H

/* Names of ranges of addresses, found by address. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Preference among names of one address, better ones last. */
enum symbol_rank { SYMBOL_LOCAL, SYMBOL_WEAK, SYMBOL_GLOBAL };

struct symbol {
	uint64_t start;
	uint64_t end;	/* 0 until symbol_table__sort(): up to the next symbol */
	uint32_t name;	/* position in names */
	uint32_t owner; /* position in names of the module; 0: none */
	uint8_t rank;
	bool is_data; /* only bounds the symbol before it */
};

/* All zero: empty. */
struct symbol_table {
	struct symbol *symbols;
	size_t nr, cap;
	size_t nr_sorted; /* so many are in their order; those behind are new */
	char *names;	  /* texts one behind the other; the first is empty */
	size_t names_len, names_cap;
	bool has_failed; /* out of memory: symbols are missing */
};

/* A function to add. */
struct new_symbol {
	uint64_t start;
	uint64_t size;	  /* of its range; 0: unknown */
	const char *name; /* name_len bytes */
	size_t name_len;
	uint32_t owner; /* position of a module's name, from symbol_table__add_name(); 0: none */
	enum symbol_rank rank;
};

/** symbol_table__add() - add a symbol, with a copy of its name */
void symbol_table__add(struct symbol_table *table, const struct new_symbol *added);

/** symbol_table__add_data() - add the start of something that is no function */
void symbol_table__add_data(struct symbol_table *table, uint64_t start);

/** symbol_table__drop() - remove all symbols whose range has an address from @start on, before @end */
void symbol_table__drop(struct symbol_table *table, uint64_t start, uint64_t end);

/** symbol_table__add_name() - keep a text; return its position, 0 without memory */
uint32_t symbol_table__add_name(struct symbol_table *table, const char *name, size_t len);

/**
 * symbol_table__sort() - make the table ready for symbol_table__find()
 *
 * Symbols that come in the order of their addresses, as those of the kernel do, cost a comparison each. New ones are
 * merged into a sorted table.
 *
 * Keeps one symbol for each address: the highest rank, then the fewest leading underscores, then the
 * longest range, then the first in the alphabet. A symbol without a size reaches up to the next
 * symbol, the last one SYMBOL_LAST_SIZE bytes. The last one of a module is no longer.
 */
#define SYMBOL_LAST_SIZE 4096
void symbol_table__sort(struct symbol_table *table);

/** symbol_table__find() - the symbol whose range has this address, borrowed; NULL: none */
const struct symbol *symbol_table__find(const struct symbol_table *table, uint64_t address);

/** symbol_table__name() - the name of a symbol, borrowed */
static inline const char *symbol_table__name(const struct symbol_table *table,
					     const struct symbol *symbol)
{
	return table->names + symbol->name;
}

void symbol_table__clear(struct symbol_table *table);

#endif
