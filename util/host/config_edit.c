// SPDX-License-Identifier: GPL-2.0
#include "util/host/config_edit.h"

#include "util/host/config_file.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The search for the place of a key. */
struct place {
	const char *name;
	size_t section_len; /* bytes of the name of the section */
	bool is_found;
	size_t start, end;  /* of the key */
	size_t section_end; /* behind the last key or the header of the section; 0: there is none */
};

static bool is_of_section(const struct place *place, const char *section, size_t len)
{
	return len == place->section_len && !strncmp(section, place->name, len);
}

static int find_key(void *ctx, const struct config_entry *entry)
{
	struct place *place = ctx;

	if (is_of_section(place, entry->name, strcspn(entry->name, ".")))
		place->section_end = entry->end;
	if (strcmp(entry->name, place->name))
		return 0;
	place->is_found = true;
	place->start = entry->start;
	place->end = entry->end;
	return 0;
}

static void find_section(void *ctx, const char *section, size_t end)
{
	struct place *place = ctx;

	if (is_of_section(place, section, strlen(section)))
		place->section_end = end;
}

/* Print a value as it must stand in a file to be read as it is. */
static void print_value(FILE *out, const char *value)
{
	size_t len = strlen(value);
	bool quote =
		!len || strpbrk(value, "#;\"\\\n\t") || value[0] == ' ' || value[len - 1] == ' ';

	if (quote)
		fputc('"', out);
	for (; *value; value++) {
		if (*value == '\n' || *value == '\t')
			fputs(*value == '\n' ? "\\n" : "\\t", out);
		else
			fprintf(out, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
	}
	if (quote)
		fputc('"', out);
}

static void print_key(FILE *out, const struct place *place, const char *value)
{
	fprintf(out, "%s = ", place->name + place->section_len + 1);
	print_value(out, value);
}

/* Return: the new text of a file, owned; NULL without memory. */
static char *edited(const char *text, const struct place *place, const char *value)
{
	char *new = NULL;
	size_t size, len = strlen(text);
	FILE *out = open_memstream(&new, &size);

	if (!out)
		return NULL;
	if (place->is_found) {
		fwrite(text, 1, place->start, out);
		print_key(out, place, value);
		fputs(text + place->end, out);
	} else if (place->section_end) {
		/* Behind the line, and the comment, of the section's last key. */
		size_t end = place->section_end + strcspn(text + place->section_end, "\n");

		fwrite(text, 1, end, out);
		fputs("\n\t", out);
		print_key(out, place, value);
		fputs(text[end] ? text + end : "\n", out);
	} else {
		fprintf(out, "%s%s[%.*s]\n\t", text, len && text[len - 1] != '\n' ? "\n" : "",
			(int)place->section_len, place->name);
		print_key(out, place, value);
		fputc('\n', out);
	}
	if (fclose(out))
		free_ptr(&new);
	return new;
}

/* Replace a file, with the mode of the old one. Return: 0 or -errno. */
static int replace(const char *path, const char *text)
{
	char *beside __cleanup(free_ptr) = xasprintf("%s.%d", path, getpid());
	FILE *file = beside ? fopen(beside, "wxe") : NULL;
	struct stat st;
	int err = 0;

	if (!file)
		return -errno;
	if (!stat(path, &st) &&
	    (fchmod(fileno(file), st.st_mode & 07777) ||
	     (st.st_uid != geteuid() && fchown(fileno(file), st.st_uid, st.st_gid))))
		err = -errno;
	if (fputs(text, file) < 0 && !err)
		err = -errno;
	if (fclose(file) && !err)
		err = -errno;
	if (!err && rename(beside, path))
		err = -errno;
	if (err)
		unlink(beside);
	return err;
}

int config_edit__set(const char *path, const char *name, const char *value)
{
	struct place place = {.name = name, .section_len = strcspn(name, ".")};
	/* A link stays a link. */
	char target[PATH_MAX], *file = realpath(path, target);
	char *text __cleanup(free_ptr) = read_file(file ? file : path, NULL),
		   *new __cleanup(free_ptr) = NULL;
	int err;

	if (!text && errno == ENOENT)
		text = strdup("");
	err = text ? config_file__read_text(path, text, find_key, find_section, &place) : -errno;
	new = err ? NULL : edited(text, &place, value);
	if (!err)
		err = new ? replace(file ? file : path, new) : -ENOMEM;
	if (err)
		pr_err("cannot write %s: %s", path, strerror(-err));
	return err;
}
