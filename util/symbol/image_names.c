// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/image_names.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/symbol/image.h"
#include "util/symbol/image_files.h"
#include "util/symbol/place_table.h"
#include "util/symbol/symbol_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Return: where a place is in the file, or if there is only its debug file, in the mapping of its code. A return
 * address stands for the byte before it: a call that does not return may end its function.
 */
static uint64_t position(const struct image_names *names, const struct image *image, int place,
			 bool is_exact)
{
	const struct place_key *key = place_table__key(names->places, place);

	return key->offset - (image->is_debug_file ? image->user.offset : 0) -
	       (is_exact ? 0 : key->is_return);
}

/* --- answers --- */

struct answers {
	struct image_names *names;
	const int *places;
	int first;     /* step of the first place */
	bool is_exact; /* asked about return addresses as such */
	int err;
};

/* Some images are asked about more often than their steps are, and a worker that died begins again. */
static void advance(struct image_names *names, int done)
{
	if (done > names->done && done <= names->end)
		names->done = done;
}

static void take_name(void *ctx, int idx, const char *name, uint64_t offset)
{
	struct answers *answers = ctx;
	struct place_table *places = answers->names->places;
	int place = answers->places[idx];
	int back = answers->is_exact ? 0 : place_table__key(places, place)->is_return;
	int err = place_table__set_name(places, place, "", name, offset + back);

	advance(answers->names, answers->first + idx);
	if (err)
		answers->err = err;
}

static const char *reason(int err)
{
	return err == -EBADMSG	 ? "reading it fails every time" :
	       err == -ENOEXEC	 ? "not an ELF file" :
	       err == -EPIPE	 ? "the process that reads files has ended" :
	       err == -ETIMEDOUT ? "reading it takes too long" :
	       err == -EINTR	 ? "interrupted" :
				   strerror(-err);
}

/* --- source lines --- */

static void take_line(void *ctx, int idx, const struct symbol_line *line)
{
	struct answers *answers = ctx;
	int err = place_table__set_line(answers->names->places, answers->places[idx], line,
					answers->names->wants_inlined);

	advance(answers->names, answers->first + idx);
	if (err)
		answers->err = err;
}

static void warn_of_lines(struct image_names *names, const struct image *image, int err)
{
	if (err == -ENOSYS && !names->has_no_lines)
		pr_warn("there are no source lines and no inlined functions: libdw.so.1 cannot be loaded (elfutils), or this build lacks it");
	else if (err != -ENOSYS)
		pr_verbose("%s: no source lines: %s", image->path,
			   err == -ENODATA ? "no debug information" : reason(err));
	names->has_no_lines |= err == -ENOSYS;
}

/* Return: 0, also if there are no lines; -ENOMEM. */
static int ask_lines(struct image_names *names, enum symbol_file_kind kind, struct image *image,
		     const int *places, int nr)
{
	struct answers answers = {names, places, .first = names->done};
	const struct symbol_files files = image_files__read_as(kind, image);
	uint64_t *addresses __cleanup(free_ptr) = calloc(nr, sizeof(*addresses));
	int err;

	if (!addresses)
		return -ENOMEM;
	for (int i = 0; i < nr; i++)
		addresses[i] = position(names, image, places[i], false);
	err = symbol_process__lines(names->files->reader, &files, addresses, nr, take_line,
				    &answers);
	if (err)
		warn_of_lines(names, image, err);
	names->is_cut_short |= err == -EINTR;
	/* A file that makes its readers hang takes its time: only once. */
	image->has_no_lines = err;
	return answers.err;
}

/* --- ways to names --- */

/* How a file tells names and lines. */
struct way {
	enum symbol_file_kind names, lines;
	bool has_lines;
	bool grows; /* what it lacks may still come */
};

static const struct way elf_way = {SYMBOL_FILE_ELF, SYMBOL_FILE_LINES, true, false};
static const struct way vdso_way = {.names = SYMBOL_FILE_ELF};
static const struct way map_way = {.names = SYMBOL_FILE_PERF_MAP, .grows = true};
static const struct way jit_way = {SYMBOL_FILE_JIT_DUMP, SYMBOL_FILE_JIT_LINES, true, true};

/* Return: 0 or -ENOMEM of perf itself; @err receives that of the file, as of symbol_process__name(). */
static int ask_names(struct image_names *names, enum symbol_file_kind kind,
		     const struct image *image, const int *places, int nr, bool is_exact, int *err)
{
	struct answers answers = {names, places, .first = names->done, .is_exact = is_exact};
	const struct symbol_files files = image_files__read_as(kind, image);
	uint64_t *addresses __cleanup(free_ptr) = calloc(nr, sizeof(*addresses));

	if (!addresses)
		return -ENOMEM;
	for (int i = 0; i < nr; i++)
		addresses[i] = position(names, image, places[i], is_exact);
	*err = symbol_process__name(names->files->reader, &files, addresses, nr, take_name,
				    &answers);
	return answers.err;
}

/* Handlers of signals return to code that nobody called, and before which there may be no function. */
static int ask_unnamed(struct image_names *names, enum symbol_file_kind kind,
		       const struct image *image, const int *places, int nr, int *err)
{
	int *unnamed __cleanup(free_ptr) = calloc(nr, sizeof(*unnamed));
	int nr_unnamed = 0;

	if (!unnamed)
		return -ENOMEM;
	for (int i = 0; i < nr; i++) {
		if (place_table__key(names->places, places[i])->is_return &&
		    names->places->places[places[i]].function < 0)
			unnamed[nr_unnamed++] = places[i];
	}
	return nr_unnamed ? ask_names(names, kind, image, unnamed, nr_unnamed, true, err) : 0;
}

static void give_up(struct image_names *names, const struct way *way, struct image *image, int err)
{
	names->is_cut_short |= err == -EINTR;
	if (image->kind == IMAGE_FILE && !image->is_unreadable)
		pr_verbose("%s: its functions have no names: %s", image->path, reason(err));
	/* Without a perf map most memory is no JIT compiler's; one may still appear. */
	image->is_unreadable = !way->grows || (err != -ENOENT && err != -ENOEXEC);
}

/* Return: 0, also if there are no names; -ENOMEM. */
static int resolve_by(struct image_names *names, const struct way *way, struct image *image,
		      const int *places, int nr)
{
	int lost = 0, err = !names->files->reader ? -EPIPE :
			    way == &elf_way	  ? image_files__describe(names->files, image) :
						    image__open(image);

	if (!err)
		lost = ask_names(names, way->names, image, places, nr, false, &err);
	if (!err && !lost)
		lost = ask_unnamed(names, way->names, image, places, nr, &err);
	if (err)
		give_up(names, way, image, err);
	if (err || lost || !names->wants_lines || !way->has_lines || image->has_no_lines)
		return lost;
	return ask_lines(names, way->lines, image, places, nr);
}

/* Names of a dump replace those of a perf map, which has no lines. */
static int resolve_jit(struct image_names *names, struct image *image, struct image *dump,
		       const int *places, int nr)
{
	int err = resolve_by(names, &map_way, image, places, nr);

	return err || !dump ? err : resolve_by(names, &jit_way, dump, places, nr);
}

int image_names__resolve(struct image_names *names, struct image *images, int image,
			 const int *places, int nr)
{
	struct image *asked = &images[image];

	switch (asked->kind) {
	case IMAGE_JIT:
		return resolve_jit(names, asked,
				   asked->jit_dump < 0 ? NULL : &images[asked->jit_dump], places,
				   nr);
	case IMAGE_VDSO:
		return resolve_by(names, &vdso_way, asked, places, nr);
	default:
		return resolve_by(names, &elf_way, asked, places, nr);
	}
}
