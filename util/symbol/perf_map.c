// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/perf_map.h"

#include "util/lib/id_map.h"
#include "util/lib/util.h"
#include "util/symbol/life_sign.h"
#include "util/symbol/symbol_table.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Read a hexadecimal number, also with "0x". Return: what is behind it and its blanks; NULL: none */
static const char *parse_hex(const char *at, const char *end, uint64_t *number)
{
	const char *first;

	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	first = at;
	for (*number = 0; at < end; at++) {
		char c = *at | 0x20;

		if (*at >= '0' && *at <= '9')
			*number = *number << 4 | (*at - '0');
		else if (c >= 'a' && c <= 'f')
			*number = *number << 4 | (c - 'a' + 10);
		else
			break;
	}
	if (at == first || at == end || (*at != ' ' && *at != '\t'))
		return NULL;
	return skip_blanks(at, end);
}

/* The last line of each start is the one that counts: take the earlier one away. */
static void add(struct symbol_table *table, struct id_map *by_start, uint64_t start, uint64_t size,
		const char *name, size_t len)
{
	int before = id_map__get(by_start, start);

	if (before >= 0) {
		struct symbol *symbol = &table->symbols[before];

		symbol->end = start + size > start ? start + size : 0;
		symbol->name = symbol_table__add_name(table, name, len);
		return;
	}
	if (table->nr >= INT_MAX)
		return;
	symbol_table__add(table, &(struct new_symbol){
					 .start = start,
					 .size = size,
					 .name = name,
					 .name_len = len,
					 .rank = SYMBOL_GLOBAL,
				 });
	if (!table->has_failed && id_map__set(by_start, start, table->nr - 1))
		table->has_failed = true;
}

void perf_map__parse(const char *text, size_t len, struct symbol_table *table)
{
	const char *end = text + len, *next;
	struct id_map by_start = {};

	for (const char *at = text; at < end && !table->has_failed; at = next) {
		const char *line_end = memchr(at, '\n', end - at), *name;
		uint64_t start, size;

		life_sign__show();
		next = line_end ? line_end + 1 : end;
		if (!line_end)
			line_end = end;
		name = parse_hex(skip_blanks(at, line_end), line_end, &start);
		name = name ? parse_hex(name, line_end, &size) : NULL;
		if (name && name < line_end && start && size)
			add(table, &by_start, start, size, name, line_end - name);
	}
	id_map__clear(&by_start);
}

int perf_map__add(int fd, struct symbol_table *table)
{
	char *text __cleanup(free_ptr) = NULL;
	struct stat st;
	ssize_t len;

	if (fstat(fd, &st))
		return -errno;
	if ((unsigned long)st.st_size > PERF_MAP_MAX_BYTES)
		return -EFBIG;
	text = malloc(st.st_size + 1);
	if (!text)
		return -ENOMEM;
	len = read_up_to(fd, text, st.st_size, 0);
	if (len < 0)
		return len;
	perf_map__parse(text, len, table);
	return table->has_failed ? -ENOMEM : 0;
}
