// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/kernel_lookup.h"

#include "util/host/capability.h"
#include "util/lib/util.h"
#include "util/symbol/bpf_code.h"
#include "util/symbol/symbol_table.h"

#include "bpf_skel/kernel_lookup.h"
#include "bpf_skel/kernel_lookup.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct kernel_lookup {
	struct kernel_lookup_bpf *skel;
};

/* Return: NULL with errno. */
static struct kernel_lookup_bpf *load(void)
{
	struct kernel_lookup_bpf *skel = kernel_lookup_bpf__open_and_load();

	if (!skel)
		return NULL;
	/* Where this fails, perf stat -b has one program more. */
	(void)bpf_prog_bind_map(bpf_program__fd(skel->progs.on_lookup),
				bpf_map__fd(skel->maps.no_events), NULL);
	return skel;
}

struct kernel_lookup *kernel_lookup__new(void)
{
	struct kernel_lookup *lookup = calloc(1, sizeof(*lookup));

	if (!lookup)
		return NULL;
	capability__raise();
	lookup->skel = load();
	capability__lower();
	if (lookup->skel)
		return lookup;
	free(lookup);
	return NULL;
}

void kernel_lookup__delete(struct kernel_lookup *lookup)
{
	if (!lookup)
		return;
	kernel_lookup_bpf__destroy(lookup->skel);
	free(lookup);
}

static bool has_prefix(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/* The kernel prints no owner for code of BPF. Functions of the kernel, such as bpf_trampoline_get, have no such names. */
static bool is_bpf(const char *name)
{
	static const char trampoline[] = "bpf_trampoline_";

	if (has_prefix(name, trampoline))
		return !name[strlen(trampoline) + strspn(name + strlen(trampoline), "0123456789")];
	return bpf_code__prog_name(name) || !strcmp(name, "bpf_dispatcher_xdp") ||
	       has_prefix(name, "bpf__");
}

void kernel_lookup__parse(struct symbol_table *table, uint64_t address, char *text)
{
	char *module = strstr(text, " ["), *plus, *slash, *behind;
	struct new_symbol symbol = {.name = text, .rank = SYMBOL_GLOBAL};
	uint64_t offset;

	if (module)
		*module++ = '\0';
	/* The kernel prints the number of an address without a function. */
	plus = strrchr(text, '+');
	if (!plus || plus == text)
		return;
	*plus = '\0';
	errno = 0;
	offset = strtoull(plus + 1, &slash, 16);
	if (*slash != '/')
		return;
	symbol.size = strtoull(slash + 1, &behind, 16);
	/* Behind its last symbol it prints that one. */
	if (errno || *behind || offset > address || offset >= symbol.size)
		return;
	if (!module && is_bpf(text))
		module = "[bpf]";
	if (module)
		symbol.owner = symbol_table__add_name(table, module, strlen(module));
	symbol.start = address - offset;
	symbol.name_len = plus - text;
	symbol_table__add(table, &symbol);
}

static bool is_in_last(const struct symbol_table *table, size_t nr_before, uint64_t address)
{
	const struct symbol *last = table->nr > nr_before ? &table->symbols[table->nr - 1] : NULL;

	return last && address >= last->start && address < last->end;
}

int kernel_lookup__add(struct kernel_lookup *lookup, struct symbol_table *table,
		       const uint64_t *addresses, int nr, uint64_t limit_ns)
{
	struct kernel_query *query = &lookup->skel->bss->query;
	int fd = bpf_program__fd(lookup->skel->progs.on_lookup), err = 0;
	uint64_t end_ns = clock_ns() + limit_ns;
	size_t nr_before = table->nr;

	capability__raise();
	for (int i = 0; i < nr; i++) {
		char text[sizeof(query->text)];
		LIBBPF_OPTS(bpf_test_run_opts, opts);

		if (is_in_last(table, nr_before, addresses[i]))
			continue;
		if (limit_ns && clock_ns() >= end_ns) {
			err = -ETIME;
			break;
		}
		query->address = addresses[i];
		if (bpf_prog_test_run_opts(fd, &opts)) {
			err = -errno;
			break;
		}
		/* Others may write into the map, too. */
		memcpy(text, query->text, sizeof(text));
		text[sizeof(text) - 1] = '\0';
		kernel_lookup__parse(table, addresses[i], text);
	}
	capability__lower();
	return table->has_failed ? -ENOMEM : err;
}
