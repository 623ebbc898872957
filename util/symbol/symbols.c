// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/symbols.h"

#include "util/lib/blob_set.h"
#include "util/lib/end_signals.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/symbol/debuginfod.h"
#include "util/symbol/image_files.h"
#include "util/symbol/kallsyms.h"
#include "util/symbol/map_events.h"
#include "util/symbol/maps.h"
#include "util/symbol/package_files.h"
#include "util/symbol/symbol_process.h"
#include "util/symbol/symbol_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The position of IMAGE_KERNEL among the images. */
#define KERNEL 0
/* So many files stay open, which keeps deleted ones readable. */
#define MAX_OPEN 256
/* Each reading adds some megabytes to the table of the kernel. */
#define MAX_READ_AGAIN 16
/* Signals that end perf cut short what lasts longer: Ctrl-C is to leave a quick report as it is. */
#define UNINTERRUPTED_NS NSEC_PER_SEC

/* The key of a place. */
struct place_key {
	uint64_t offset; /* in the image; an address of the kernel or of JIT code */
	int32_t image;
	uint16_t is_return; /* only if lines are wanted */
	uint16_t depth;	    /* of an inlined function; 0: not inlined */
};

struct place {
	int function; /* -1: not looked for yet */
	uint64_t offset;
	int inner;     /* the place of the function that is inlined here; -1: none */
	int outermost; /* of an inlined function: the place that has its code; -1: this one */
	int file;      /* of the source; -1: unknown */
	int line;
	int frame; /* number of struct frame_key; -1: not looked for yet, or not wanted */
	bool is_unknown;
};

static const struct place new_place = {
	.function = -1, .inner = -1, .outermost = -1, .file = -1, .frame = -1};

struct frame_key {
	int function, file, line;
};

/* A place takes two steps if its line is wanted, too. */
struct progress {
	progress_fn fn; /* NULL: nobody watches */
	void *ctx;
	const char *image;
	int done, end, of; /* steps; those of this image end at @end */
};

struct symbols {
	bool is_stored; /* the names are from elsewhere */
	struct process_table processes;
	struct image_files files;
	struct map_events *events; /* NULL: not followed */
	struct symbol_table kernel;
	bool is_kernel_hidden; /* and nobody was warned yet */
	int kernel_err;
	bool is_kernel_unsorted;  /* programs were loaded since it was read */
	struct blob_set mappings; /* struct symbols_mapping; number 1 is at position 0 */
	struct blob_set place_keys;
	struct place *places; /* nr_places <= place_keys.nr */
	int nr_places, cap_places;
	struct blob_set functions; /* image, a NUL, owner, a NUL, name */
	struct blob_set sources;   /* names of their files */
	struct blob_set frames;	   /* struct frame_key */
	enum symbols_depth depth;
	bool has_no_lines; /* there is no libdw, and the user was told */
	bool is_cut_short; /* by a signal, and the user was not told yet */
	int nr_open, nr_read_again;
	struct progress progress; /* of symbols__resolve() */
};

/* --- begin and end --- */

/* Warn when the first function of the kernel has no name: profiles of user space need none. */
static void warn_of_kernel(struct symbols *symbols)
{
	int err = symbols->kernel_err;

	if (symbols->is_kernel_hidden)
		pr_warn("functions of the kernel have no names: their addresses are hidden (run as root, or set kernel.kptr_restrict=0 and kernel.perf_event_paranoid=1)");
	else if (err)
		pr_warn("functions of the kernel have no names: %s/kallsyms: %s", procfs_root(),
			strerror(-err));
	symbols->is_kernel_hidden = false;
	symbols->kernel_err = 0;
}

struct symbols *symbols__new(enum symbols_depth depth)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols || process_table__begin(&symbols->processes)) {
		pr_err("out of memory");
		symbols__delete(symbols);
		return NULL;
	}
	symbols->depth = depth == SYMBOLS_FILES ? SYMBOLS_NAMES : depth;
	symbols->files.has_debug_files = depth != SYMBOLS_NAMES;
	symbols->files.reader = symbol_process__start(depth != SYMBOLS_NAMES);
	if (!symbols->files.reader)
		pr_warn("functions of programs have no names: cannot start a process that reads files: %s",
			strerror(errno));
	symbols->kernel_err = kallsyms__read(&symbols->kernel, &symbols->is_kernel_hidden);
	return symbols;
}

void symbols__delete(struct symbols *symbols)
{
	if (!symbols)
		return;
	map_events__close(symbols->events);
	symbol_process__stop(symbols->files.reader);
	debuginfod__stop(symbols->files.debuginfod);
	process_table__clear(&symbols->processes);
	symbol_table__clear(&symbols->kernel);
	blob_set__clear(&symbols->mappings);
	blob_set__clear(&symbols->place_keys);
	blob_set__clear(&symbols->functions);
	blob_set__clear(&symbols->sources);
	blob_set__clear(&symbols->frames);
	free(symbols->places);
	free(symbols);
}

void symbols__use_debuginfod(struct symbols *symbols, const char *urls)
{
	symbols->files.debuginfod = debuginfod__start(urls);
	if (!symbols->files.debuginfod)
		pr_warn("debuginfod: cannot start the process that fetches files: %s",
			strerror(errno));
}

void symbols__follow(struct symbols *symbols)
{
	symbols->events = map_events__open();
	if (!symbols->events)
		pr_warn("processes that end soon have no names: cannot follow new mappings: %s",
			strerror(errno));
}

void symbols__unfollow(struct symbols *symbols)
{
	map_events__close(symbols->events);
	symbols->events = NULL;
}

/* --- places --- */

int symbols__update(struct symbols *symbols)
{
	bool has_symbols = false;
	int err;

	if (!symbols->events)
		return 0;
	err = map_events__take(symbols->events, &symbols->processes, &symbols->kernel,
			       &has_symbols);
	if (has_symbols)
		symbol_table__sort(&symbols->kernel);
	return err;
}

int symbols__apply(struct symbols *symbols, const void *record, size_t len)
{
	bool has_symbols = false;
	int err =
		map_events__apply(record, len, &symbols->processes, &symbols->kernel, &has_symbols);

	if (has_symbols)
		symbol_table__sort(&symbols->kernel);
	return err == -EBADMSG ? 0 : err;
}

uint64_t symbols__nr_lost(const struct symbols *symbols)
{
	return symbols->events ? map_events__nr_lost(symbols->events) : 0;
}

const struct symbol_table *symbols__kernel(const struct symbols *symbols)
{
	return &symbols->kernel;
}

struct symbol_process *symbols__reader(const struct symbols *symbols)
{
	return symbols->files.reader;
}

struct symbol_process *symbols__start_reader(struct symbols *symbols)
{
	errno = EPIPE;
	if (symbols->is_stored && !symbols->files.reader)
		symbols->files.reader = symbol_process__start(true);
	return symbols->files.reader;
}

int symbols__forget_ended(struct symbols *symbols)
{
	return process_table__forget_ended(&symbols->processes);
}

int symbols__process(struct symbols *symbols, const struct process_key *key)
{
	return process_table__find(&symbols->processes, key);
}

static int grow_places(struct symbols *symbols)
{
	int cap = symbols->cap_places ? 2 * symbols->cap_places : 1024;
	struct place *places = reallocarray(symbols->places, cap, sizeof(*places));

	if (!places)
		return -ENOMEM;
	symbols->places = places;
	symbols->cap_places = cap;
	return 0;
}

/* Open a file as soon as it was sampled: later it may be out of reach. */
static void open_early(struct symbols *symbols, struct image *image)
{
	if (image->kind == IMAGE_KERNEL || image->fd >= 0 || symbols->nr_open >= MAX_OPEN)
		return;
	symbols->nr_open += !image__open(image);
}

static void open_images(struct symbols *symbols, int image)
{
	int jit_dump = symbols->processes.images[image].jit_dump;

	open_early(symbols, &symbols->processes.images[image]);
	if (jit_dump >= 0)
		open_early(symbols, &symbols->processes.images[jit_dump]);
}

/* Return: the number of a place, which has no name yet if it is new; -ENOMEM. */
static int add_place(struct symbols *symbols, const struct place_key *place, bool *is_new)
{
	int nr;

	if (symbols->nr_places == symbols->cap_places && grow_places(symbols))
		return -ENOMEM;
	nr = blob_set__add(&symbols->place_keys, place, sizeof(*place));
	*is_new = nr == symbols->nr_places;
	if (*is_new)
		symbols->places[symbols->nr_places++] = new_place;
	return nr;
}

int symbols__place(struct symbols *symbols, int process, const struct process_key *key,
		   uint64_t address, bool is_kernel, bool is_return)
{
	struct place_key place = {.offset = address, .image = KERNEL};
	bool is_new;
	int nr;

	if (!is_kernel) {
		place.image = process_table__image(&symbols->processes, process, key, address,
						   &place.offset);
		if (place.image < 0)
			return place.image;
	}
	place.is_return = is_return && !is_kernel && symbols->depth != SYMBOLS_NAMES;
	nr = add_place(symbols, &place, &is_new);
	if (nr >= 0 && is_new)
		open_images(symbols, place.image);
	return nr;
}

int symbols__mapping(struct symbols *symbols, int process, const struct process_key *key,
		     uint64_t address)
{
	const struct map_range *range =
		process_table__range(&symbols->processes, process, key, address);
	struct symbols_mapping mapping;
	int nr;

	if (!range)
		return 0;
	mapping = (struct symbols_mapping){range->start, range->end, range->offset, range->image};
	nr = blob_set__add(&symbols->mappings, &mapping, sizeof(mapping));
	return nr < 0 ? nr : nr + 1;
}

const struct symbols_mapping *symbols__get_mapping(const struct symbols *symbols, int nr)
{
	return blob_set__get(&symbols->mappings, nr - 1, NULL);
}

static const struct place_key *key_of(const struct symbols *symbols, int place)
{
	return blob_set__get(&symbols->place_keys, place, NULL);
}

/* --- names --- */

/* @owner: of the kernel: the module; otherwise "" */
static int add_function(struct symbols *symbols, int image, const char *owner, const char *name)
{
	char number[12];
	char *text __cleanup(free_ptr) = NULL;
	size_t number_len, owner_len = strlen(owner), name_len = strlen(name);

	number_len = snprintf(number, sizeof(number), "%d", image);
	text = malloc(number_len + owner_len + name_len + 3);
	if (!text)
		return -ENOMEM;
	memcpy(text, number, number_len + 1);
	memcpy(text + number_len + 1, owner, owner_len + 1);
	memcpy(text + number_len + owner_len + 2, name, name_len + 1);
	return blob_set__add(&symbols->functions, text, number_len + owner_len + name_len + 3);
}

static int set_name(struct symbols *symbols, int place, const char *owner, const char *name,
		    uint64_t offset)
{
	int function = add_function(symbols, key_of(symbols, place)->image, owner, name);

	if (function < 0)
		return function;
	symbols->places[place].function = function;
	symbols->places[place].offset = offset;
	return 0;
}

static int set_unknown(struct symbols *symbols, int place)
{
	const struct place_key *key = key_of(symbols, place);
	const struct image *image = &symbols->processes.images[key->image];
	const char *file = image->kind == IMAGE_KERNEL ? "[kernel]" : image__name(image);
	char *name __cleanup(free_ptr) = xasprintf("%s+0x%" PRIx64, file, key->offset);

	symbols->places[place].is_unknown = true;
	return name ? set_name(symbols, place, "", name, 0) : -ENOMEM;
}

const struct image *symbols__image(const struct symbols *symbols, int place, int *nr)
{
	*nr = key_of(symbols, place)->image;
	return &symbols->processes.images[*nr];
}

/* --- names from elsewhere --- */

struct symbols *symbols__new_stored(void)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (symbols && !process_table__begin(&symbols->processes)) {
		symbols->is_stored = symbols->files.has_debug_files = true;
		return symbols;
	}
	pr_err("out of memory");
	symbols__delete(symbols);
	return NULL;
}

int symbols__store_image(struct symbols *symbols, enum image_kind kind, const char *path)
{
	return process_table__store_image(&symbols->processes, kind, path);
}

void symbols__store_build_id(struct symbols *symbols, int image, const struct build_id *id)
{
	symbols->processes.images[image].build_id = *id;
}

/* Return: the number of the image of a new jitdump; 0: there are enough; -errno. */
static int add_jit_dump(struct symbols *symbols, int image)
{
	int fd, nr;

	if (symbols->nr_open >= MAX_OPEN)
		return 0;
	fd = memfd_create("jitdump", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	nr = process_table__store_image(&symbols->processes, IMAGE_FILE, "[jit]");
	if (nr < 0) {
		close(fd);
		return nr;
	}
	symbols->nr_open++;
	symbols->processes.images[nr].fd = fd;
	symbols->processes.images[image].jit_dump = nr;
	return nr;
}

int symbols__store_jit(struct symbols *symbols, int image, const void *bytes, size_t len)
{
	int dump = symbols->processes.images[image].jit_dump;

	if (symbols->processes.images[image].kind != IMAGE_JIT)
		return -EINVAL;
	if (dump < 0)
		dump = add_jit_dump(symbols, image);
	if (dump <= 0)
		return dump;
	for (size_t done = 0; done < len;) {
		ssize_t nr = write(symbols->processes.images[dump].fd, (const char *)bytes + done,
				   len - done);

		if (nr < 0)
			return -errno;
		done += nr;
	}
	return 0;
}

int symbols__store(struct symbols *symbols, int image, const struct place_name *name)
{
	const struct place_key place = {.offset = name->position, .image = image};
	bool has_owner = image == KERNEL && strcmp(name->image, "[kernel]");
	bool is_new;
	int nr = add_place(symbols, &place, &is_new), err;

	if (nr < 0 || !is_new)
		return nr < 0 ? nr : -EEXIST;
	symbols->places[nr].is_unknown = name->is_unknown;
	err = set_name(symbols, nr, has_owner ? name->image : "", name->name, name->offset);
	return err ? err : nr;
}

/* --- the kernel --- */

static int name_kernel(struct symbols *symbols, int place)
{
	uint64_t address = key_of(symbols, place)->offset;
	const struct symbol *symbol = symbol_table__find(&symbols->kernel, address);

	if (!symbol)
		return 0;
	return set_name(symbols, place, symbols->kernel.names + symbol->owner,
			symbol_table__name(&symbols->kernel, symbol), address - symbol->start);
}

/* Modules and BPF programs without records may have been loaded since the symbols were read. */
static void read_new_modules(struct symbols *symbols)
{
	bool is_hidden;

	if (symbols->kernel.nr && symbols->nr_read_again++ < MAX_READ_AGAIN)
		(void)kallsyms__read(&symbols->kernel, &is_hidden); /* what is there stays */
}

static int resolve_kernel(struct symbols *symbols, const int *places, int nr)
{
	bool has_unknown = false;
	int err = 0;

	if (symbols->is_kernel_unsorted)
		symbol_table__sort(&symbols->kernel);
	symbols->is_kernel_unsorted = false;
	for (int i = 0; i < nr && !err; i++) {
		err = name_kernel(symbols, places[i]);
		has_unknown |= symbols->places[places[i]].function < 0;
	}
	if (err || !has_unknown)
		return err;
	warn_of_kernel(symbols);
	read_new_modules(symbols);
	for (int i = 0; i < nr && !err; i++) {
		if (symbols->places[places[i]].function < 0)
			err = name_kernel(symbols, places[i]);
	}
	return err;
}

/* --- images --- */

/* Return: where a place is in the file, or if there is only its debug file, in the mapping of its code */
static uint64_t position(const struct symbols *symbols, const struct image *image, int place)
{
	return key_of(symbols, place)->offset - (image->is_debug_file ? image->user.offset : 0);
}

struct answers {
	struct symbols *symbols;
	const int *places;
	int first; /* step of the first place */
	int err;
};

static void show_progress(void *ctx)
{
	const struct progress *progress = &((const struct symbols *)ctx)->progress;

	progress->fn(progress->ctx, progress->image, progress->done, progress->of);
}

/* Some images are asked about more often than their steps are, and a worker that died begins again. */
static void advance(struct symbols *symbols, int done)
{
	if (done > symbols->progress.done && done <= symbols->progress.end)
		symbols->progress.done = done;
}

static void take_name(void *ctx, int idx, const char *name, uint64_t offset)
{
	struct answers *answers = ctx;
	int err = set_name(answers->symbols, answers->places[idx], "", name, offset);

	advance(answers->symbols, answers->first + idx);
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

/* Return: the place of the function inlined at a place, so many levels inside; -1: none; -ENOMEM. */
static int get_inner(struct symbols *symbols, int place, int depth)
{
	struct place_key key = *key_of(symbols, place);
	int outer = place, inner = place;
	bool is_new;

	for (key.depth = 1; key.depth <= depth && inner >= 0; key.depth++) {
		outer = inner;
		inner = symbols->places[outer].inner;
	}
	key.depth--;
	/* A worker that sends them in another order has been taken over. */
	if (inner >= 0 || key.depth != depth)
		return inner;
	inner = add_place(symbols, &key, &is_new);
	if (inner < 0)
		return inner;
	symbols->places[outer].inner = inner;
	symbols->places[inner].outermost = place;
	return inner;
}

static int set_file(struct symbols *symbols, int place, const struct symbol_line *line)
{
	int file = *line->file ?
			   blob_set__add(&symbols->sources, line->file, strlen(line->file) + 1) :
			   -1;

	if (*line->file && file < 0)
		return file;
	symbols->places[place].file = file;
	symbols->places[place].line = line->line;
	return 0;
}

static int set_inlined(struct symbols *symbols, int place, const char *function)
{
	char *name __cleanup(free_ptr) =
		xasprintf("%s (inlined)", *function ? function : "[unknown]");

	return name ? set_name(symbols, place, "", name, 0) : -ENOMEM;
}

static int set_line(struct symbols *symbols, int place, const struct symbol_line *line)
{
	int at = place, err = 0;

	if (line->depth && symbols->depth == SYMBOLS_INLINES) {
		at = get_inner(symbols, place, line->depth);
		if (at < 0)
			return at == -ENOMEM ? at : 0;
		err = set_inlined(symbols, at, line->name);
	}
	/* Without inlined functions, the innermost line is the place's. */
	return err ? err : set_file(symbols, at, line);
}

static void take_line(void *ctx, int idx, const struct symbol_line *line)
{
	struct answers *answers = ctx;
	int err = set_line(answers->symbols, answers->places[idx], line);

	advance(answers->symbols, answers->first + idx);
	if (err)
		answers->err = err;
}

static void warn_of_lines(struct symbols *symbols, const struct image *image, int err)
{
	if (err == -ENOSYS && !symbols->has_no_lines)
		pr_warn("there are no source lines and no inlined functions: libdw.so.1 cannot be loaded (elfutils), or this build lacks it");
	else if (err != -ENOSYS)
		pr_verbose("%s: no source lines: %s", image->path,
			   err == -ENODATA ? "no debug information" : reason(err));
	symbols->has_no_lines |= err == -ENOSYS;
}

/* The program names the file, so it is no other than that of the same build, or of no use. */
static int open_split(void *ctx, const char *path)
{
	const struct image *image = ctx;
	int fd = *path == '/' ? image__open_debug(image, path) : -ENOENT;

	if (fd < 0)
		pr_verbose("%s: some lines and inlined functions are unknown: %s: %s", image->path,
			   path, strerror(-fd));
	return fd;
}

static int open_packages(void *ctx, int *fds)
{
	return package_files__open(ctx, fds);
}

struct symbol_files symbols__files(const struct image *image)
{
	return (struct symbol_files){image->fd,	    image->debug_fd, image->alt_fd,
				     open_packages, open_split,	     (void *)image};
}

/* Return: 0, also if there are no lines; -ENOMEM. */
static int ask_lines(struct symbols *symbols, enum symbol_file_kind kind, struct image *image,
		     const int *places, int nr)
{
	struct answers answers = {symbols, places, .first = symbols->progress.done};
	const struct symbol_files files = symbols__files(image);
	uint64_t *addresses __cleanup(free_ptr) = calloc(nr, sizeof(*addresses));
	int err;

	if (!addresses)
		return -ENOMEM;
	for (int i = 0; i < nr; i++)
		addresses[i] =
			position(symbols, image, places[i]) - key_of(symbols, places[i])->is_return;
	err = symbol_process__lines(symbols->files.reader, kind, &files, addresses, nr, take_line,
				    &answers);
	if (err)
		warn_of_lines(symbols, image, err);
	symbols->is_cut_short |= err == -EINTR;
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
static int ask_names(struct symbols *symbols, enum symbol_file_kind kind, const struct image *image,
		     const int *places, int nr, int *err)
{
	struct answers answers = {symbols, places, .first = symbols->progress.done};
	uint64_t *addresses __cleanup(free_ptr) = calloc(nr, sizeof(*addresses));

	if (!addresses)
		return -ENOMEM;
	for (int i = 0; i < nr; i++)
		addresses[i] = position(symbols, image, places[i]);
	*err = symbol_process__name(symbols->files.reader, kind, image->fd, image->debug_fd,
				    addresses, nr, take_name, &answers);
	return answers.err;
}

static void give_up(struct symbols *symbols, const struct way *way, struct image *image, int err)
{
	symbols->is_cut_short |= err == -EINTR;
	if (image->kind == IMAGE_FILE && !image->is_unreadable)
		pr_verbose("%s: its functions have no names: %s", image->path, reason(err));
	/* Without a perf map most memory is no JIT compiler's; one may still appear. */
	image->is_unreadable = !way->grows || (err != -ENOENT && err != -ENOEXEC);
}

/* Return: 0, also if there are no names; -ENOMEM. */
static int resolve_by(struct symbols *symbols, const struct way *way, struct image *image,
		      const int *places, int nr)
{
	int lost = 0, err = !symbols->files.reader ? -EPIPE :
			    way == &elf_way	   ? symbols__describe(symbols, image) :
						     image__open(image);

	if (!err)
		lost = ask_names(symbols, way->names, image, places, nr, &err);
	if (err)
		give_up(symbols, way, image, err);
	if (err || lost || symbols->depth == SYMBOLS_NAMES || !way->has_lines ||
	    image->has_no_lines)
		return lost;
	return ask_lines(symbols, way->lines, image, places, nr);
}

/* Names of a dump replace those of a perf map, which has no lines. */
static int resolve_jit(struct symbols *symbols, struct image *image, const int *places, int nr)
{
	int err = resolve_by(symbols, &map_way, image, places, nr);

	if (err || image->jit_dump < 0)
		return err;
	return resolve_by(symbols, &jit_way, &symbols->processes.images[image->jit_dump], places,
			  nr);
}

static int resolve_image(struct symbols *symbols, struct image *image, const int *places, int nr)
{
	return image->kind == IMAGE_JIT	 ? resolve_jit(symbols, image, places, nr) :
	       image->kind == IMAGE_VDSO ? resolve_by(symbols, &vdso_way, image, places, nr) :
					   resolve_by(symbols, &elf_way, image, places, nr);
}

static int compare_images(const void *a, const void *b, void *symbols)
{
	const struct place_key *x = key_of(symbols, *(const int *)a);
	const struct place_key *y = key_of(symbols, *(const int *)b);

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Return: the places without a name yet, by image; NULL without memory. */
static int *find_new(struct symbols *symbols, int *nr)
{
	int *places = calloc(symbols->nr_places + 1, sizeof(*places));

	*nr = 0;
	for (int i = 0; places && i < symbols->nr_places; i++) {
		if (symbols->places[i].function < 0)
			places[(*nr)++] = i;
	}
	if (places)
		qsort_r(places, *nr, sizeof(*places), compare_images, symbols);
	return places;
}

static int resolve_run(struct symbols *symbols, const int *places, int nr)
{
	int image = key_of(symbols, places[0])->image, err;

	err = image == KERNEL ?
		      resolve_kernel(symbols, places, nr) :
		      resolve_image(symbols, &symbols->processes.images[image], places, nr);
	for (int i = 0; i < nr && !err; i++) {
		if (symbols->places[places[i]].function < 0)
			err = set_unknown(symbols, places[i]);
	}
	return err;
}

/* Call it when all functions and lines are known. */
static int number_frames(struct symbols *symbols)
{
	for (int i = 0; i < symbols->nr_places; i++) {
		struct place *place = &symbols->places[i];
		const struct frame_key key = {place->function, place->file, place->line};

		if (place->frame < 0)
			place->frame = blob_set__add(&symbols->frames, &key, sizeof(key));
		if (place->frame < 0)
			return place->frame;
	}
	return 0;
}

/* Leave the places without names. Return: 0 or -ENOMEM. */
static int cut_short(struct symbols *symbols, const int *places, int nr)
{
	int err = 0;

	symbols->is_cut_short |= nr;
	for (int i = 0; i < nr && !err; i++)
		err = set_unknown(symbols, places[i]);
	return err;
}

static void warn_if_cut_short(struct symbols *symbols)
{
	if (symbols->is_cut_short)
		pr_warn("finding names was interrupted: not all functions have one");
	symbols->is_cut_short = false;
}

static int resolve_places(struct symbols *symbols, const int *places, int nr)
{
	int steps = symbols->depth == SYMBOLS_NAMES ? 1 : 2, end, err = 0;
	struct progress *progress = &symbols->progress;
	uint64_t start_ns = clock_ns();

	for (int i = 0; i < nr && !err; i = end) {
		int image = key_of(symbols, places[i])->image;

		for (end = i + 1; end < nr && key_of(symbols, places[end])->image == image; end++)
			;
		progress->image = image__name(&symbols->processes.images[image]);
		progress->done = i * steps;
		progress->end = end * steps;
		progress->of = nr * steps;
		if (progress->fn)
			show_progress(symbols);
		err = resolve_run(symbols, places + i, end - i);
		if (!err && clock_ns() - start_ns >= UNINTERRUPTED_NS && end_signals__has_any())
			return cut_short(symbols, places + end, nr - end);
	}
	return err;
}

int symbols__resolve(struct symbols *symbols, progress_fn progress, void *ctx)
{
	int nr, err;
	int *places __cleanup(free_ptr) = find_new(symbols, &nr);
	sigset_t before;

	if (!places)
		return -ENOMEM;
	end_signals__hold(&before);
	symbols->progress = (struct progress){.fn = progress, .ctx = ctx};
	if (symbols->files.reader)
		symbol_process__watch(symbols->files.reader, progress ? show_progress : NULL,
				      symbols);
	err = resolve_places(symbols, places, nr);
	if (symbols->files.reader)
		symbol_process__watch(symbols->files.reader, NULL, NULL);
	warn_if_cut_short(symbols);
	end_signals__release(&before);
	if (!err && symbols->depth != SYMBOLS_NAMES)
		err = number_frames(symbols);
	return err;
}

void symbols__name(const struct symbols *symbols, int place, struct place_name *name)
{
	const struct place *p = &symbols->places[place];
	const struct image *image = &symbols->processes.images[key_of(symbols, place)->image];
	const char *text = blob_set__get(&symbols->functions, p->function, NULL);
	const char *owner = text + strlen(text) + 1;

	*name = (struct place_name){
		.function = p->function,
		.frame = p->frame < 0 ? p->function : p->frame,
		.name = owner + strlen(owner) + 1,
		.offset = p->offset,
		.position = key_of(symbols, place)->offset,
		.file = p->file < 0 ? NULL : blob_set__get(&symbols->sources, p->file, NULL),
		.line = p->line,
		.is_inlined = key_of(symbols, place)->depth,
		.is_unknown = p->is_unknown,
		.is_kernel = image->kind == IMAGE_KERNEL,
	};
	if (name->is_kernel) {
		name->image = name->path = *owner ? owner : "[kernel]";
		return;
	}
	name->image = image__name(image);
	name->path = image->path;
	if (image->kind == IMAGE_JIT && !p->is_unknown)
		name->image = name->path = "[jit]";
}

int symbols__inner(const struct symbols *symbols, int place)
{
	return symbols->places[place].inner;
}

int symbols__outermost(const struct symbols *symbols, int place)
{
	int outermost = symbols->places[place].outermost;

	return outermost < 0 ? place : outermost;
}

/* --- files, for other uses than names --- */

int symbols__describe(const struct symbols *symbols, struct image *image)
{
	return image_files__describe(&symbols->files, image);
}

const struct image *symbols__open(struct symbols *symbols, int nr)
{
	struct image *image = &symbols->processes.images[nr];
	int err = 0;

	if (!symbols__start_reader(symbols))
		return NULL;
	if (symbols->is_stored && image->kind == IMAGE_FILE && image->fd < 0)
		err = image_files__open_stored(&symbols->files, image);
	if (!err)
		err = symbols__describe(symbols, image);
	/* There is no code in it. */
	if (!err && image->is_debug_file)
		err = -ESTALE;
	errno = -err;
	return err ? NULL : image;
}

const struct image *symbols__open_jit(struct symbols *symbols, int nr)
{
	int dump = symbols->processes.images[nr].jit_dump;
	int err = dump < 0 ? -ENOENT : image__open(&symbols->processes.images[dump]);

	/* The reader must not change what perf reads after it. */
	if (!err && symbols->is_stored &&
	    fcntl(symbols->processes.images[dump].fd, F_ADD_SEALS,
		  F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK))
		err = -errno;
	errno = -err;
	return err ? NULL : &symbols->processes.images[dump];
}
