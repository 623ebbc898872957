// SPDX-License-Identifier: GPL-2.0
#include "util/profile/source_text.h"

#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/symbol/function_code.h"
#include "util/symbol/image.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many bytes of all sources of a function, or of a line, are printed. The rest is left out. */
#define MAX_BYTES (16 << 20)
#define MAX_LINE  200
/* More files than a function has by inlining. */
#define MAX_SOURCES 1000

#define NOBODY 65534

struct source {
	int file;   /* number of its name in the code */
	char *text; /* NULL: not readable */
	char **lines;
	int nr;
};

struct sources {
	struct source *list;
	int nr;
	off_t bytes; /* of all texts */
};

/*
 * The author of the program wrote the path. So root opens it with the rights of nobody, who may enter no
 * directory that is closed to others. Files of a group are closed, too: the groups of perf stay.
 */
static int open_source(const struct image *image, const char *path)
{
	bool is_root = !geteuid();
	struct stat st;
	int fd;

	if (is_root) {
		setfsgid(NOBODY);
		setfsuid(NOBODY);
	}
	fd = image__open_debug(image, path);
	if (is_root) {
		setfsuid(0);
		setfsgid(getegid());
	}
	if (fd >= 0 && is_root && (fstat(fd, &st) || !(st.st_mode & S_IROTH)))
		close_fd(&fd);
	return fd;
}

/* Return: the text, owned by the caller; NULL: it is not readable. */
static char *read_text(struct sources *sources, const struct image *image, const char *path)
{
	int fd __cleanup(close_fd) = *path == '/' ? open_source(image, path) : -1;
	struct stat st;
	char *text;
	ssize_t len;

	if (fd < 0 || fstat(fd, &st) || st.st_size > MAX_BYTES - sources->bytes)
		return NULL;
	sources->bytes += st.st_size;
	text = malloc(st.st_size + 1);
	len = text ? read(fd, text, st.st_size) : -1;
	if (len < 0)
		free_ptr(&text);
	else
		text[len] = '\0';
	return text;
}

/* End each line by a NUL. Return: 0 or -ENOMEM. */
static int split(struct source *source)
{
	char *rest = source->text, *text;

	while (rest && (text = strsep(&rest, "\n"))) {
		char **line = array__add(source->lines, source->nr);

		if (!line)
			return -ENOMEM;
		if (strlen(text) > MAX_LINE)
			text[MAX_LINE] = '\0';
		*line = text;
	}
	return 0;
}

/* Return: NULL without memory. */
static struct source *get_source(struct sources *sources, const struct function_code *code,
				 const struct image *image, int file)
{
	struct source *source;

	for (int i = 0; i < sources->nr; i++) {
		if (sources->list[i].file == file)
			return &sources->list[i];
	}
	source = array__add(sources->list, sources->nr);
	if (!source)
		return NULL;
	source->file = file;
	if (sources->nr <= MAX_SOURCES)
		source->text = read_text(sources, image, function_code__text(code, file));
	return split(source) ? NULL : source;
}

static int add_text(struct sources *sources, struct function_code *code, const struct image *image,
		    struct instruction_note *note)
{
	struct source *source;

	if (note->file < 0 || note->line < 1)
		return 0;
	source = get_source(sources, code, image, note->file);
	if (!source)
		return -ENOMEM;
	note->text = note->line <= source->nr ?
			     function_code__add_text(code, source->lines[note->line - 1]) :
			     -1;
	return note->text == -ENOMEM ? -ENOMEM : 0;
}

int source_text__add(struct function_code *code, const struct image *image)
{
	struct sources sources = {};
	int err = 0;

	for (int i = 0; i < code->instructions.nr && !err; i++)
		err = add_text(&sources, code, image, &code->notes[i]);
	for (int i = 0; i < sources.nr; i++) {
		free(sources.list[i].text);
		free(sources.list[i].lines);
	}
	free(sources.list);
	return err;
}
