// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/symbols.h"

#include "util/lib/blob_set.h"
#include "util/lib/end_signals.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/symbol/debuginfod.h"
#include "util/symbol/image_files.h"
#include "util/symbol/image_names.h"
#include "util/symbol/kernel_names.h"
#include "util/symbol/map_events.h"
#include "util/symbol/maps.h"
#include "util/symbol/place_table.h"
#include "util/symbol/symbol_process.h"

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
/* Signals that end perf cut short what lasts longer: Ctrl-C is to leave a quick report as it is. */
#define UNINTERRUPTED_NS NSEC_PER_SEC

struct progress {
	progress_fn fn; /* NULL: nobody watches */
	void *ctx;
	const struct image *image;
	int of; /* steps of all images */
};

struct symbols {
	bool is_stored; /* the names are from elsewhere */
	enum symbols_depth depth;
	struct process_table processes;
	struct image_files files;
	struct map_events *events; /* NULL: not followed */
	struct kernel_names kernel;
	struct blob_set mappings; /* struct symbols_mapping; number 1 is at position 0 */
	struct place_table places;
	struct image_names names;
	int nr_open;
	struct progress progress; /* of symbols__resolve() */
};

/* --- begin and end --- */

/* Return: NULL after a message. */
static struct symbols *new_symbols(void)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols || process_table__begin(&symbols->processes)) {
		pr_err("out of memory");
		symbols__delete(symbols);
		return NULL;
	}
	symbols->names.files = &symbols->files;
	symbols->names.places = &symbols->places;
	return symbols;
}

struct symbols *symbols__new(enum symbols_depth depth, bool may_use_bpf)
{
	struct symbols *symbols = new_symbols();

	if (!symbols)
		return NULL;
	symbols->depth = depth;
	symbols->names.wants_lines = depth == SYMBOLS_LINES || depth == SYMBOLS_INLINES;
	symbols->names.wants_inlined = depth == SYMBOLS_INLINES;
	if (depth == SYMBOLS_NONE)
		return symbols;
	symbols->files.has_debug_files = depth != SYMBOLS_NAMES;
	symbols->files.reader = symbol_process__start(depth != SYMBOLS_NAMES);
	if (!symbols->files.reader)
		pr_warn("functions of programs have no names: cannot start a process that reads files: %s",
			strerror(errno));
	kernel_names__begin(&symbols->kernel, may_use_bpf);
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
	kernel_names__clear(&symbols->kernel);
	blob_set__clear(&symbols->mappings);
	place_table__clear(&symbols->places);
	free(symbols);
}

void symbols__use_debuginfod(struct symbols *symbols, const char *urls)
{
	symbols->files.debuginfod = debuginfod__start(urls);
	if (!symbols->files.debuginfod)
		pr_warn("debuginfod: cannot start the process that fetches files: %s",
			strerror(errno));
}

bool symbols__makes_places(const struct symbols *symbols)
{
	return symbols->depth != SYMBOLS_NONE;
}

void symbols__follow(struct symbols *symbols)
{
	if (!symbols__makes_places(symbols))
		return;
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
	if (!symbols->events)
		return 0;
	return map_events__take(symbols->events, &symbols->processes, &symbols->kernel.table);
}

int symbols__apply(struct symbols *symbols, const void *record, size_t len)
{
	int err;

	if (!symbols__makes_places(symbols))
		return 0;
	err = map_events__apply(record, len, &symbols->processes, &symbols->kernel.table);

	return err == -EBADMSG ? 0 : err;
}

int symbols__apply_id(struct symbols *symbols, const void *record, size_t len)
{
	int err = map_events__apply_id(record, len, &symbols->processes);

	return err == -EBADMSG ? 0 : err;
}

uint64_t symbols__nr_lost(const struct symbols *symbols)
{
	return symbols->events ? map_events__nr_lost(symbols->events) : 0;
}

bool symbols__has_lines(const struct symbols *symbols)
{
	return symbols->names.wants_lines;
}

const struct symbol *symbols__kernel_function(struct symbols *symbols, uint64_t address)
{
	symbol_table__sort(&symbols->kernel.table);
	return symbol_table__find(&symbols->kernel.table, address);
}

const struct symbol_table *symbols__kernel(struct symbols *symbols)
{
	if (symbols__makes_places(symbols))
		kernel_names__read(&symbols->kernel);
	symbol_table__sort(&symbols->kernel.table);
	return &symbols->kernel.table;
}

bool symbols__hides_kernel(const struct symbols *symbols)
{
	return symbols->kernel.is_hidden;
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

void symbols__expect(struct symbols *symbols, const struct process_key *key)
{
	process_table__expect(&symbols->processes, key);
}

int symbols__process(struct symbols *symbols, const struct process_key *key)
{
	return process_table__find(&symbols->processes, key);
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

/* The process that mapped a file last may have ended, but the sampled one may still be there. */
static void open_of_sampled(struct symbols *symbols, int process, const struct process_key *key,
			    uint64_t address)
{
	const struct map_range *range =
		process_table__range(&symbols->processes, process, key, address);
	struct image *image = range ? &symbols->processes.images[range->image] : NULL;

	if (!image || image->fd >= 0)
		return;
	image->user.pid = key->pid;
	image->user.start = range->start;
	image->user.end = range->end;
	open_early(symbols, image);
}

int symbols__place(struct symbols *symbols, int process, const struct process_key *key,
		   uint64_t address, bool is_kernel, bool is_return)
{
	struct place_key place = {.offset = address, .image = KERNEL, .is_return = is_return};
	bool is_new;
	int nr;

	if (!is_kernel) {
		place.image = process_table__image(&symbols->processes, process, key, address,
						   &place.offset);
		if (place.image < 0)
			return place.image;
	}
	if (symbols->places.nr >= SYMBOLS_MAX_PLACES && !place_table__has(&symbols->places, &place))
		return -ENOMEM;
	nr = place_table__add(&symbols->places, &place, &is_new);
	if (nr < 0 || !is_new)
		return nr;
	open_images(symbols, place.image);
	if (!is_kernel)
		open_of_sampled(symbols, process, key, address);
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

/* --- names --- */

static const struct place_key *key_of(const struct symbols *symbols, int place)
{
	return place_table__key(&symbols->places, place);
}

static int set_unknown(struct symbols *symbols, int place)
{
	const struct place_key *key = key_of(symbols, place);
	const struct image *image = &symbols->processes.images[key->image];
	const char *file = image->kind == IMAGE_KERNEL ? "[kernel]" : image__name(image);
	char *name __cleanup(free_ptr) = xasprintf("%s+0x%" PRIx64, file, key->offset);

	symbols->places.places[place].is_unknown = true;
	return name ? place_table__set_name(&symbols->places, place, "", name, 0) : -ENOMEM;
}

const struct image *symbols__image(const struct symbols *symbols, int place, int *nr)
{
	*nr = key_of(symbols, place)->image;
	return &symbols->processes.images[*nr];
}

/* --- names from elsewhere --- */

struct symbols *symbols__new_stored(void)
{
	struct symbols *symbols = new_symbols();

	if (symbols)
		symbols->is_stored = symbols->files.has_debug_files = true;
	return symbols;
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
	const struct place_key place = {
		.offset = name->position, .image = image, .is_return = name->is_return};
	bool has_owner = image == KERNEL && strcmp(name->image, "[kernel]");
	bool is_new;
	int nr = place_table__add(&symbols->places, &place, &is_new), err;

	if (nr < 0 || !is_new)
		return nr < 0 ? nr : -EEXIST;
	symbols->places.places[nr].is_unknown = name->is_unknown;
	err = place_table__set_name(&symbols->places, nr, has_owner ? name->image : "", name->name,
				    name->offset);
	return err ? err : nr;
}

/* --- resolving --- */

static void show_progress(void *ctx)
{
	const struct symbols *symbols = ctx;
	const struct progress *progress = &symbols->progress;

	progress->fn(progress->ctx, image__name(progress->image), symbols->names.done,
		     progress->of);
}

static int compare_images(const void *a, const void *b, void *symbols)
{
	const struct place_key *x = key_of(symbols, *(const int *)a);
	const struct place_key *y = key_of(symbols, *(const int *)b);

	uint64_t x_at = x->offset - x->is_return, y_at = y->offset - y->is_return;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x_at < y_at ? -1 : x_at > y_at;
}

/* Return: the places without a name yet, by image; NULL without memory. */
static int *find_new(struct symbols *symbols, int *nr)
{
	int *places = calloc(symbols->places.nr + 1, sizeof(*places));

	*nr = 0;
	for (int i = 0; places && i < symbols->places.nr; i++) {
		if (symbols->places.places[i].function < 0)
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
		      kernel_names__resolve(&symbols->kernel, &symbols->places, places, nr) :
		      image_names__resolve(&symbols->names, symbols->processes.images, image,
					   places, nr);
	for (int i = 0; i < nr && !err; i++) {
		if (symbols->places.places[places[i]].function < 0)
			err = set_unknown(symbols, places[i]);
	}
	return err;
}

/* Leave the places without names. Return: 0 or -ENOMEM. */
static int cut_short(struct symbols *symbols, const int *places, int nr)
{
	int err = 0;

	symbols->names.is_cut_short |= nr;
	for (int i = 0; i < nr && !err; i++)
		err = set_unknown(symbols, places[i]);
	return err;
}

static void warn_if_cut_short(struct symbols *symbols)
{
	if (symbols->names.is_cut_short)
		pr_warn("finding names was interrupted: not all functions have one");
	symbols->names.is_cut_short = false;
}

static int resolve_places(struct symbols *symbols, const int *places, int nr)
{
	int steps = symbols->names.wants_lines ? 2 : 1, end, err = 0;
	struct progress *progress = &symbols->progress;
	uint64_t start_ns = clock_ns();

	for (int i = 0; i < nr && !err; i = end) {
		int image = key_of(symbols, places[i])->image;

		for (end = i + 1; end < nr && key_of(symbols, places[end])->image == image; end++)
			;
		progress->image = &symbols->processes.images[image];
		symbols->names.done = i * steps;
		symbols->names.end = end * steps;
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
	image_files__watch(&symbols->files, progress ? show_progress : NULL, symbols);
	err = resolve_places(symbols, places, nr);
	image_files__watch(&symbols->files, NULL, NULL);
	warn_if_cut_short(symbols);
	end_signals__release(&before);
	if (!err && symbols->names.wants_lines)
		err = place_table__number_frames(&symbols->places);
	return err;
}

void symbols__name(const struct symbols *symbols, int place, struct place_name *name)
{
	const struct place *p = &symbols->places.places[place];
	const struct image *image = &symbols->processes.images[key_of(symbols, place)->image];
	const char *owner = place_table__owner(&symbols->places, place);

	*name = (struct place_name){
		.function = p->function,
		.frame = p->frame < 0 ? p->function : p->frame,
		.name = owner + strlen(owner) + 1,
		.offset = p->offset,
		.position = key_of(symbols, place)->offset,
		.file = place_table__file(&symbols->places, place),
		.line = p->line,
		.is_inlined = key_of(symbols, place)->depth,
		.is_return = key_of(symbols, place)->is_return,
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
	return symbols->places.places[place].inner;
}

int symbols__outermost(const struct symbols *symbols, int place)
{
	int outermost = symbols->places.places[place].outermost;

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
