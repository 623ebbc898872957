// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/symbols.h"

#include "util/lib/blob_set.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/symbol/build_id.h"
#include "util/symbol/kallsyms.h"
#include "util/symbol/map_events.h"
#include "util/symbol/maps.h"
#include "util/symbol/symbol_process.h"
#include "util/symbol/symbol_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The position of IMAGE_KERNEL among the images. */
#define KERNEL 0
/* So many files stay open, which keeps deleted ones readable. */
#define MAX_OPEN 256
/* Each reading adds some megabytes to the table of the kernel. */
#define MAX_READ_AGAIN 16

/* The key of a place. */
struct place_key {
	uint64_t offset; /* in the image; an address of the kernel or of JIT code */
	int32_t image;
	int32_t pad;
};

struct place {
	int function; /* -1: not looked for yet */
	uint64_t offset;
	bool is_unknown;
};

struct symbols {
	struct process_table processes;
	struct symbol_process *process; /* NULL: could not be started */
	struct map_events *events;	/* NULL: not followed */
	struct symbol_table kernel;
	bool is_kernel_hidden; /* and nobody was warned yet */
	int kernel_err;
	bool is_kernel_unsorted;  /* programs were loaded since it was read */
	struct blob_set mappings; /* struct symbols_mapping; number 1 is at position 0 */
	struct blob_set place_keys;
	struct place *places; /* nr_places <= place_keys.nr */
	int nr_places, cap_places;
	struct blob_set functions; /* image, a NUL, owner, a NUL, name */
	int nr_open, nr_read_again;
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

struct symbols *symbols__new(void)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols || process_table__begin(&symbols->processes)) {
		pr_err("out of memory");
		symbols__delete(symbols);
		return NULL;
	}
	symbols->process = symbol_process__start();
	if (!symbols->process)
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
	symbol_process__stop(symbols->process);
	process_table__clear(&symbols->processes);
	symbol_table__clear(&symbols->kernel);
	blob_set__clear(&symbols->mappings);
	blob_set__clear(&symbols->place_keys);
	blob_set__clear(&symbols->functions);
	free(symbols->places);
	free(symbols);
}

void symbols__follow(struct symbols *symbols)
{
	symbols->events = map_events__open();
	if (!symbols->events)
		pr_warn("processes that end soon have no names: cannot follow new mappings: %s",
			strerror(errno));
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
	return symbols->process;
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

/* Return: the number of a place, which has no name yet if it is new; -ENOMEM. */
static int add_place(struct symbols *symbols, const struct place_key *place, bool *is_new)
{
	int nr;

	if (symbols->nr_places == symbols->cap_places && grow_places(symbols))
		return -ENOMEM;
	nr = blob_set__add(&symbols->place_keys, place, sizeof(*place));
	*is_new = nr == symbols->nr_places;
	if (*is_new)
		symbols->places[symbols->nr_places++] = (struct place){.function = -1};
	return nr;
}

int symbols__place(struct symbols *symbols, int process, const struct process_key *key,
		   uint64_t address, bool is_kernel)
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
	nr = add_place(symbols, &place, &is_new);
	if (nr >= 0 && is_new)
		open_early(symbols, &symbols->processes.images[place.image]);
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

	if (symbols && !process_table__begin(&symbols->processes))
		return symbols;
	pr_err("out of memory");
	symbols__delete(symbols);
	return NULL;
}

int symbols__store_image(struct symbols *symbols, enum image_kind kind, const char *path)
{
	return process_table__store_image(&symbols->processes, kind, path);
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

struct answers {
	struct symbols *symbols;
	const int *places;
	int err;
};

static void take_name(void *ctx, int idx, const char *name, uint64_t offset)
{
	struct answers *answers = ctx;
	int err = set_name(answers->symbols, answers->places[idx], "", name, offset);

	if (err)
		answers->err = err;
}

static int describe(const struct symbols *symbols, struct image *image)
{
	char *path __cleanup(free_ptr) = NULL;
	bool has_symtab;
	int err;

	if (image->is_described || image->kind != IMAGE_FILE)
		return 0;
	err = symbol_process__describe(symbols->process, image->fd, &image->build_id, &has_symtab);
	if (err)
		return err;
	image->is_described = true;
	path = has_symtab ? NULL : build_id__debug_path(&image->build_id);
	if (path)
		image->debug_fd = image__open_debug(image, path);
	if (image->debug_fd < 0)
		image->debug_fd = -1;
	return 0;
}

int symbols__describe(const struct symbols *symbols, struct image *image)
{
	int err = symbols->process ? image__open(image) : -EPIPE;

	return err ? err : describe(symbols, image);
}

static int ask_names(struct symbols *symbols, struct image *image, const int *places, int nr)
{
	struct answers answers = {.symbols = symbols, .places = places};
	enum symbol_file_kind kind =
		image->kind == IMAGE_JIT ? SYMBOL_FILE_PERF_MAP : SYMBOL_FILE_ELF;
	uint64_t *addresses __cleanup(free_ptr) = calloc(nr, sizeof(*addresses));
	int err;

	if (!addresses)
		return -ENOMEM;
	for (int i = 0; i < nr; i++)
		addresses[i] = key_of(symbols, places[i])->offset;
	err = symbol_process__name(symbols->process, kind, image->fd, image->debug_fd, addresses,
				   nr, take_name, &answers);
	return answers.err ? answers.err : err;
}

static const char *reason(int err)
{
	return err == -EBADMSG ? "reading it fails every time" :
	       err == -ENOEXEC ? "not an ELF file" :
	       err == -EPIPE   ? "the process that reads files has ended" :
				 strerror(-err);
}

/* Return: 0, also if there are no names; -ENOMEM. */
static int resolve_image(struct symbols *symbols, struct image *image, const int *places, int nr)
{
	int err = symbols__describe(symbols, image);

	if (!err)
		err = ask_names(symbols, image, places, nr);
	if (!err)
		return 0;
	if (image->kind == IMAGE_FILE && !image->is_unreadable)
		pr_verbose("%s: its functions have no names: %s", image->path, reason(err));
	/* Without a perf map most memory is no JIT compiler's; one may still appear. */
	image->is_unreadable = image->kind != IMAGE_JIT || err != -ENOENT;
	return err == -ENOMEM ? err : 0;
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

int symbols__resolve(struct symbols *symbols, progress_fn progress, void *ctx)
{
	int nr, end, err = 0;
	int *places __cleanup(free_ptr) = find_new(symbols, &nr);

	if (!places)
		return -ENOMEM;
	for (int i = 0; i < nr && !err; i = end) {
		int image = key_of(symbols, places[i])->image;

		for (end = i + 1; end < nr && key_of(symbols, places[end])->image == image; end++)
			;
		if (progress)
			progress(ctx, image__name(&symbols->processes.images[image]), i, nr);
		err = resolve_run(symbols, places + i, end - i);
	}
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
		.name = owner + strlen(owner) + 1,
		.offset = p->offset,
		.position = key_of(symbols, place)->offset,
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
