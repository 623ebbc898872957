// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/kernel_lookup.h"

#include "util/host/capability.h"
#include "util/lib/util.h"
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

static int no_print(enum libbpf_print_level level __unused, const char *fmt __unused,
		    va_list ap __unused)
{
	return 0;
}

/* Return: NULL with errno. */
static struct kernel_lookup_bpf *load(void)
{
	libbpf_print_fn_t print = libbpf_set_print(no_print);
	struct kernel_lookup_bpf *skel = kernel_lookup_bpf__open_and_load();
	int err = errno;

	libbpf_set_print(print);
	if (!skel) {
		errno = err;
		return NULL;
	}
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

/*
 * The kernel prints no owner for code of BPF. No function of the kernel has such a name. (It has a
 * bpf_prog_alloc and a bpf_trampoline_get.) There is one dispatcher.
 */
static bool is_bpf(const char *name, size_t len)
{
	static const char prog[] = "bpf_prog_", trampoline[] = "bpf_trampoline_",
			  dispatcher[] = "bpf_dispatcher_xdp+", operation[] = "bpf__";

	if (!strncmp(name, prog, strlen(prog)))
		return len >= strlen(prog) + 16 &&
		       strspn(name + strlen(prog), "0123456789abcdef") >= 16;
	if (!strncmp(name, trampoline, strlen(trampoline)))
		return strspn(name + strlen(trampoline), "0123456789") == len - strlen(trampoline);
	return !strncmp(name, dispatcher, strlen(dispatcher)) ||
	       !strncmp(name, operation, strlen(operation));
}

void kernel_lookup__parse(struct symbol_table *table, uint64_t address, const char *text)
{
	const char *module = strstr(text, " ["), *end = module ? module : text + strlen(text);
	const char *plus = memrchr(text, '+', end - text), *owner = "";
	uint64_t offset, size;
	char *slash, *behind;

	/* The kernel prints the number of an address without a function. */
	if (!plus || plus == text)
		return;
	errno = 0;
	offset = strtoull(plus + 1, &slash, 16);
	if (*slash != '/')
		return;
	size = strtoull(slash + 1, &behind, 16);
	/* Behind its last symbol it prints that one. */
	if (errno || behind != end || offset > address || offset >= size)
		return;
	if (module)
		owner = module + 1;
	else if (is_bpf(text, plus - text))
		owner = "[bpf]";
	symbol_table__add(
		table,
		&(struct new_symbol){
			.start = address - offset,
			.size = size,
			.name = text,
			.name_len = plus - text,
			.owner = *owner ? symbol_table__add_name(table, owner, strlen(owner)) : 0,
			.rank = SYMBOL_GLOBAL,
		});
}

static bool is_in_last(const struct symbol_table *table, size_t nr_before, uint64_t address)
{
	const struct symbol *last = table->nr > nr_before ? &table->symbols[table->nr - 1] : NULL;

	return last && address >= last->start && address < last->end;
}

int kernel_lookup__add(struct kernel_lookup *lookup, struct symbol_table *table,
		       const uint64_t *addresses, int nr)
{
	struct kernel_query *query = &lookup->skel->bss->query;
	int fd = bpf_program__fd(lookup->skel->progs.on_lookup), err = 0;
	size_t nr_before = table->nr;

	capability__raise();
	for (int i = 0; i < nr && !err; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);

		if (is_in_last(table, nr_before, addresses[i]))
			continue;
		query->address = addresses[i];
		err = bpf_prog_test_run_opts(fd, &opts) ? -errno : 0;
		if (!err)
			kernel_lookup__parse(table, addresses[i], query->text);
	}
	capability__lower();
	return table->has_failed ? -ENOMEM : err;
}
