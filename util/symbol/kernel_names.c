// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/kernel_names.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/symbol/bpf_code.h"
#include "util/symbol/kallsyms.h"
#include "util/symbol/kernel_lookup.h"
#include "util/symbol/place_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Each reading adds some megabytes to the table. */
#define MAX_READ_AGAIN 16

/* To read the list takes as long, or less. Only large modules need so much. */
#define ASK_NS (100 * NSEC_PER_MSEC)

void kernel_names__read(struct kernel_names *names)
{
	if (names->is_whole)
		return;
	names->is_whole = true;
	names->err = kallsyms__read(&names->table, &names->is_hidden);
}

void kernel_names__begin(struct kernel_names *names, bool may_use_bpf)
{
	uint64_t *addresses __cleanup(free_ptr) = NULL;
	int nr = may_use_bpf ? bpf_code__functions(&addresses) : -EPERM;

	if (nr >= 0)
		names->lookup = kernel_lookup__new();
	names->ask_ns = ASK_NS;
	if (!names->lookup)
		kernel_names__read(names);
	else
		(void)kernel_lookup__add(names->lookup, &names->table, addresses, nr,
					 0); /* what fails is asked for again */
}

void kernel_names__clear(struct kernel_names *names)
{
	kernel_lookup__delete(names->lookup);
	symbol_table__clear(&names->table);
}

/* Warn when the first function of the kernel has no name: profiles of user space need none. */
static void warn_if_hidden(struct kernel_names *names)
{
	if (names->is_hidden && !names->has_warned)
		pr_warn("functions of the kernel have no names: their addresses are hidden (" KERNEL_NAMES_REMEDY
			")");
	else if (names->err)
		pr_warn("functions of the kernel have no names: %s/kallsyms: %s", procfs_root(),
			strerror(-names->err));
	names->has_warned = true;
	names->err = 0;
}

static int name_place(const struct kernel_names *names, struct place_table *places, int place)
{
	const struct place_key *key = place_table__key(places, place);
	uint64_t address = key->offset;
	const struct symbol *symbol = symbol_table__find(&names->table, address - key->is_return);

	if (!symbol)
		return 0;
	return place_table__set_name(places, place, names->table.names + symbol->owner,
				     symbol_table__name(&names->table, symbol),
				     address - symbol->start);
}

/* Return: 0 or -ENOMEM. @has_unknown receives whether some are still without a name. */
static int name_places(const struct kernel_names *names, struct place_table *places,
		       const int *numbers, int nr, bool *has_unknown)
{
	int err = 0;

	*has_unknown = false;
	for (int i = 0; i < nr && !err; i++) {
		if (places->places[numbers[i]].function < 0)
			err = name_place(names, places, numbers[i]);
		*has_unknown |= places->places[numbers[i]].function < 0;
	}
	return err;
}

/* Modules and BPF programs without records may have been loaded since the symbols were read. */
static void read_new_modules(struct kernel_names *names)
{
	bool is_hidden;

	if (names->table.nr && names->nr_read_again++ < MAX_READ_AGAIN)
		(void)kallsyms__read(&names->table, &is_hidden); /* what is there stays */
}

/* Return: 0; -errno: some were not asked for. */
static int ask_for_unknown(struct kernel_names *names, const struct place_table *places,
			   const int *numbers, int nr, uint64_t limit_ns)
{
	uint64_t *addresses __cleanup(free_ptr) = calloc(nr, sizeof(*addresses));
	int nr_unknown = 0, err;

	if (!addresses)
		return -ENOMEM;
	for (int i = 0; i < nr; i++) {
		const struct place_key *key = place_table__key(places, numbers[i]);

		if (places->places[numbers[i]].function < 0)
			addresses[nr_unknown++] = key->offset - key->is_return;
	}
	err = kernel_lookup__add(names->lookup, &names->table, addresses, nr_unknown, limit_ns);
	symbol_table__sort(&names->table);
	return err;
}

static void read_list(struct kernel_names *names)
{
	if (names->is_whole)
		read_new_modules(names);
	else
		kernel_names__read(names);
}

int kernel_names__resolve(struct kernel_names *names, struct place_table *places,
			  const int *numbers, int nr)
{
	uint64_t limit_ns = names->is_whole ? 0 : names->ask_ns;
	bool has_unknown, is_asked = false;
	int err;

	symbol_table__sort(&names->table);
	err = name_places(names, places, numbers, nr, &has_unknown);
	if (err || !has_unknown)
		return err;
	if (names->lookup) {
		is_asked = !ask_for_unknown(names, places, numbers, nr, limit_ns);
		err = name_places(names, places, numbers, nr, &has_unknown);
	}
	if (err || !has_unknown || is_asked)
		return err;
	read_list(names);
	err = name_places(names, places, numbers, nr, &has_unknown);
	if (err || !has_unknown)
		return err;
	if (!names->lookup || ask_for_unknown(names, places, numbers, nr, 0)) {
		warn_if_hidden(names);
		return 0;
	}
	return name_places(names, places, numbers, nr, &has_unknown);
}
