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
#include <stdlib.h>
#include <string.h>

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
	errno = err;
	return skel;
}

void kernel_lookup__parse(struct symbol_table *table, uint64_t address, const char *text)
{
	const char *module = strstr(text, " ["), *end = module ? module : text + strlen(text);
	const char *plus = memrchr(text, '+', end - text);
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
	if (errno || behind != end || offset > address)
		return;
	symbol_table__add(table,
			  &(struct new_symbol){
				  .start = address - offset,
				  .size = size,
				  .name = text,
				  .name_len = plus - text,
				  .owner = module ? symbol_table__add_name(table, module + 1,
									   strlen(module + 1)) :
						    0,
				  .rank = SYMBOL_GLOBAL,
			  });
}

/* Return: 0 or -errno. */
static int ask(struct kernel_lookup_bpf *skel, const uint64_t *addresses, int nr)
{
	__u64 args[] = {nr};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

	for (int i = 0; i < nr; i++)
		skel->bss->queries[i].address = addresses[i];
	return bpf_prog_test_run_opts(bpf_program__fd(skel->progs.on_lookup), &opts) ? -errno : 0;
}

int kernel_lookup__add(struct symbol_table *table, const uint64_t *addresses, int nr)
{
	struct kernel_lookup_bpf *skel;
	int err;

	capability__raise();
	skel = load();
	err = skel ? 0 : -errno;
	for (int i = 0, of_run; i < nr && !err; i += of_run) {
		of_run = nr - i < MAX_KERNEL_QUERIES ? nr - i : MAX_KERNEL_QUERIES;
		err = ask(skel, addresses + i, of_run);
		for (int j = 0; j < of_run && !err; j++)
			kernel_lookup__parse(table, addresses[i + j], skel->bss->queries[j].text);
	}
	kernel_lookup_bpf__destroy(skel);
	capability__lower();
	return table->has_failed ? -ENOMEM : err;
}
