/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_CONFIG_FILE_H
#define PERF_HOST_CONFIG_FILE_H

/* The form of configuration files: sections, keys and values, and the places of the files. */

#include <stddef.h>

#include "util/lib/util.h"

#define CONFIG_SYSTEM_FILE "/etc/perfconfig"

struct config_reader;

/* A key of a file; all texts are borrowed. */
struct config_entry {
	struct config_reader *reader;
	const char *path;  /* of the file */
	int line;	   /* from 1 */
	const char *name;  /* SECTION.KEY in lower case */
	const char *value; /* NULL: none */
	size_t start,
		end; /* the bytes of the text with the key, its value and a comment behind it */
};

/** config_entry_fn - called for each key; returns 0, -EINVAL after config_file__complain(), or -ENOMEM */
typedef int (*config_entry_fn)(void *ctx, const struct config_entry *entry);

/** config_section_fn - called for each header of a section; @end: of the header in the text */
typedef void (*config_section_fn)(void *ctx, const char *section, size_t end);

/**
 * config_file__read() - call a function for each key of a file
 * @path: of the file; an absent one has no keys
 * @on_entry: called for each key
 * @on_section: called for each header, may be NULL
 *
 * Warns of bad lines and skips them. Files of other users than root and ourselves are ignored with a
 * warning. Return: 0, or -ENOMEM after a message.
 */
int config_file__read(const char *path, config_entry_fn on_entry, config_section_fn on_section,
		      void *ctx);

/** config_file__read_text() - the same for a text; messages contain @path */
int config_file__read_text(const char *path, const char *text, config_entry_fn on_entry,
			   config_section_fn on_section, void *ctx);

/** config_file__complain() - warn of the line of an entry. Return: -EINVAL */
int config_file__complain(const struct config_entry *entry, const char *fmt, ...) __printf(2, 3);

/** config_file__of_user() - the path of the user's file, owned by the caller; NULL: no $HOME, or no memory */
char *config_file__of_user(void);

#endif
