// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/kallsyms.h"

#include "util/lib/util.h"
#include "util/symbol/bpf_code.h"
#include "util/symbol/symbol_table.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MAX_READS 3

/* One line of the text. */
struct line {
	uint64_t address;
	char type;
	const char *name, *module; /* module: with its brackets, or NULL */
	size_t name_len, module_len;
};

/* Return: the value of a hexadecimal digit; -1: it is none. */
static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* @end: behind the line. Return: whether the line has the form of a symbol. */
static bool parse_line(const char *at, const char *end, struct line *line)
{
	const char *digits = at;

	*line = (struct line){};
	for (; at < end && digit(*at) >= 0; at++)
		line->address = line->address << 4 | digit(*at);
	if (at == digits || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	line->type = at[1];
	line->name = at + 3;
	line->name_len = strcspn(line->name, " \t\n");
	at = line->name + line->name_len;
	at += strspn(at, " \t");
	if (at < end && *at == '[') {
		line->module = at;
		line->module_len = strcspn(at, "\n");
	}
	return line->name_len > 0;
}

static enum symbol_rank rank_of(char type)
{
	return type == 'T' ? SYMBOL_GLOBAL : type == 't' ? SYMBOL_LOCAL : SYMBOL_WEAK;
}

/* arm64 marks code and data inside of functions by $x, $d and the like; older kernels list them. */
static bool is_mapping_symbol(const struct line *line)
{
	return line->name_len > 1 && line->name[0] == '$' && strchr("adtx", line->name[1]) &&
	       (line->name_len == 2 || line->name[2] == '.');
}

bool kallsyms__parse(const char *text, size_t len, struct symbol_table *table)
{
	const char *end = text + len, *next;
	size_t nr_functions = 0, nr_hidden = 0, owner_len = 0;
	const char *owner_name = NULL;
	uint32_t owner = 0;

	for (const char *at = text; at < end; at = next) {
		struct line line;

		next = memchr(at, '\n', end - at);
		next = next ? next + 1 : end;
		if (!parse_line(at, next, &line) || is_mapping_symbol(&line))
			continue;
		nr_functions += !!strchr("tTwW", line.type);
		nr_hidden += strchr("tTwW", line.type) && !line.address;
		if (!line.address)
			continue;
		if (!strchr("tTwW", line.type)) {
			symbol_table__add_data(table, line.address);
			continue;
		}
		/* A module's symbols follow each other. */
		if (line.module &&
		    (line.module_len != owner_len || memcmp(line.module, owner_name, owner_len))) {
			owner_name = line.module;
			owner_len = line.module_len;
			owner = symbol_table__add_name(table, owner_name, owner_len);
		}
		symbol_table__add(table, &(struct new_symbol){
						 .start = line.address,
						 .name = line.name,
						 .name_len = line.name_len,
						 .owner = line.module ? owner : 0,
						 .rank = rank_of(line.type),
					 });
	}
	return nr_functions && nr_hidden == nr_functions;
}

static int read_text(struct symbol_table *table, bool *is_hidden)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/kallsyms", procfs_root());
	char *text __cleanup(free_ptr) = NULL;
	size_t len;

	*is_hidden = false;
	text = path ? read_file(path, &len) : NULL;
	if (!text)
		return -errno;
	*is_hidden = kallsyms__parse(text, len, table);
	symbol_table__sort(table);
	return table->has_failed ? -ENOMEM : 0;
}

/* Sums of the addresses of functions of BPF programs: they differ if the functions do. */
struct bpf_functions {
	uint64_t loaded;
	uint64_t missing; /* of those, in a table; 0: none is known to be missing */
};

static struct bpf_functions find_missing(const struct symbol_table *table)
{
	uint64_t *addresses __cleanup(free_ptr) = NULL;
	struct bpf_functions functions = {};
	int nr = bpf_code__functions(&addresses);

	for (int i = 0; i < nr; i++) {
		const struct symbol *symbol = symbol_table__find(table, addresses[i]);

		functions.loaded += addresses[i];
		if (!symbol || symbol->start != addresses[i])
			functions.missing += addresses[i];
	}
	return functions;
}

/*
 * The kernel finds the next line by its number, so it passes over a line if one before that goes
 * meanwhile. Only BPF programs and trampolines come and go often. Their functions have no lines at
 * all with net.core.bpf_jit_harden, or if their owner lacks CAP_BPF: nothing changes then.
 */
int kallsyms__read(struct symbol_table *table, bool *is_hidden)
{
	struct bpf_functions before, now = {};
	int err, nr = 0;

	do {
		before = now;
		err = read_text(table, is_hidden);
		now = err || *is_hidden ? (struct bpf_functions){} : find_missing(table);
	} while (now.missing && memcmp(&now, &before, sizeof(now)) && ++nr < MAX_READS);
	return err;
}

static bool is_named(const struct line *line, const char *name)
{
	return line->name_len == strlen(name) && !memcmp(line->name, name, line->name_len);
}

void kallsyms__text(uint64_t *start, uint64_t *end)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/kallsyms", procfs_root());
	char *text __cleanup(free_ptr) = NULL;
	size_t len;

	*start = *end = 0;
	text = path ? read_file(path, &len) : NULL;
	for (const char *at = text, *next; at && *at && !(*start && *end); at = next) {
		struct line line;

		next = strchrnul(at, '\n');
		next += *next == '\n';
		if (!parse_line(at, next, &line) || line.module)
			continue;
		if (is_named(&line, "_text"))
			*start = line.address;
		else if (is_named(&line, "_etext"))
			*end = line.address;
	}
	if (*end <= *start)
		*start = *end = 0;
}
