// SPDX-License-Identifier: GPL-2.0
#include "util/profile/annotation.h"

#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/profile/profile_ranges.h"
#include "util/profile/samples.h"
#include "util/profile/source_text.h"
#include "util/symbol/bpf_code.h"
#include "util/symbol/image.h"
#include "util/symbol/image_files.h"
#include "util/symbol/kallsyms.h"
#include "util/symbol/symbol_process.h"
#include "util/symbol/symbol_table.h"
#include "util/symbol/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A file has so many functions of a name at most: its reader may be in hostile hands. */
#define MAX_FUNCTIONS 256
/* Bytes of all functions that are printed. */
#define MAX_CODE (16 << 20)

void annotation__clear(struct annotation *annotation)
{
	for (int i = 0; i < annotation->nr; i++) {
		function_code__clear(&annotation->functions[i].code);
		free(annotation->functions[i].problem);
	}
	free(annotation->functions);
	symbol_table__clear(&annotation->kernel);
	free(annotation->hits);
	*annotation = (struct annotation){};
}

/* --- samples by address --- */

static int compare_hits(const void *a, const void *b)
{
	const struct annotation_hit *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

static void merge_hits(struct annotation *annotation)
{
	struct annotation_hit *hits = annotation->hits;
	int nr = 0;

	for (int i = 0; i < annotation->nr_hits; i++) {
		if (nr && !compare_hits(&hits[nr - 1], &hits[i])) {
			hits[nr - 1].nr += hits[i].nr;
			hits[nr - 1].weight += hits[i].weight;
		} else {
			hits[nr++] = hits[i];
		}
	}
	annotation->nr_hits = nr;
}

/* Samples without an address are in the total only. */
static void add_hit(struct annotation *annotation, const struct samples *samples, int nr)
{
	const int *places;
	const struct samples_key *key = samples__get(samples, nr, &places);
	struct annotation_hit *hit = &annotation->hits[annotation->nr_hits++];
	struct place_name name;

	*hit = (struct annotation_hit){
		.event = key->event,
		.image = -1,
		.place = -1,
		.nr = samples->sums[nr].nr,
		.weight = samples->sums[nr].weight,
	};
	if (!key->nr_kernel && !key->nr_user)
		return;
	hit->place = places[0];
	symbols__image(samples->symbols, places[0], &hit->image);
	symbols__name(samples->symbols, places[0], &name);
	hit->position = name.position;
}

static int add_hits(struct annotation *annotation, const struct samples *samples)
{
	annotation->hits = calloc(samples->keys.nr + 1, sizeof(*annotation->hits));
	if (!annotation->hits)
		return -ENOMEM;
	for (int i = 0; i < samples->keys.nr; i++)
		add_hit(annotation, samples, i);
	qsort(annotation->hits, annotation->nr_hits, sizeof(*annotation->hits), compare_hits);
	merge_hits(annotation);
	return 0;
}

const struct annotation_hit *annotation__hits(const struct annotation *annotation,
					      const struct annotated_function *function, int event,
					      int *nr)
{
	const struct function_place *place = &function->place;
	int first = 0, end;

	while (first < annotation->nr_hits) {
		const struct annotation_hit *hit = &annotation->hits[first];

		if (hit->event == event && hit->image == place->image &&
		    hit->position >= place->start && hit->position < place->end)
			break;
		first++;
	}
	for (end = first; end < annotation->nr_hits; end++) {
		const struct annotation_hit *hit = &annotation->hits[end];

		if (hit->event != event || hit->image != place->image ||
		    hit->position >= place->end)
			break;
	}
	*nr = end - first;
	return annotation->hits + first;
}

uint64_t annotation__total(const struct annotation *annotation, int event)
{
	uint64_t total = 0;

	for (int i = 0; i < annotation->nr_hits; i++)
		total += annotation->hits[i].event == event ? annotation->hits[i].weight : 0;
	return total;
}

/* --- functions --- */

struct search {
	struct annotation *annotation;
	struct symbols *symbols;
	const char *function;
	char *file; /* only images of this name; NULL: all */
	int image;  /* that is searched now */
	const char *path;
	int err;
	/* An image that has no such function, or could not be opened, for a message; NULL: none. */
	const char *unread;
	int unread_err;
};

static bool is_sampled(const struct annotation *annotation, const struct function_place *place)
{
	for (int i = 0; i < annotation->nr_hits; i++) {
		const struct annotation_hit *hit = &annotation->hits[i];

		if (hit->image == place->image && hit->position >= place->start &&
		    hit->position < place->end)
			return true;
	}
	return false;
}

/* Symbols of one address are one function, and so are those that overlap. */
static struct annotated_function *add_function(struct search *search,
					       const struct function_place *place)
{
	struct annotation *annotation = search->annotation;
	struct annotated_function *function;

	for (int i = 0; i < annotation->nr; i++) {
		const struct function_place *other = &annotation->functions[i].place;

		if (other->image == place->image && place->start < other->end &&
		    other->start < place->end)
			return NULL;
	}
	if (annotation->nr == MAX_FUNCTIONS)
		return NULL;
	function = array__add(annotation->functions, annotation->nr);
	if (!function) {
		search->err = -ENOMEM;
		return NULL;
	}
	function->place = *place;
	function->name = search->function;
	function->path = search->path;
	function->is_sampled = is_sampled(annotation, place);
	return function;
}

static void take_place(void *ctx, uint64_t start, uint64_t end, uint64_t address)
{
	struct search *search = ctx;
	const struct function_place place = {start, end, address, 0, search->image};

	if (end > start)
		(void)add_function(search, &place);
}

static void note_unread(struct search *search, int err)
{
	if (err != -ETIMEDOUT && err != -EINTR && err != -EBADMSG && err != -EPIPE)
		return;
	search->unread = search->path;
	search->unread_err = -err;
}

static void search_file(struct search *search)
{
	const struct image *image = symbols__open(search->symbols, search->image);
	struct symbol_files files;
	int err;

	if (!image) {
		search->unread = search->path;
		search->unread_err = errno;
		return;
	}
	files = image_files__read_as(SYMBOL_FILE_FIND, image);
	err = symbol_process__find(symbols__reader(search->symbols), &files, search->function,
				   take_place, search);
	note_unread(search, err);
}

static void take_jit_place(void *ctx, uint64_t start, uint64_t end, uint64_t code)
{
	struct search *search = ctx;
	const struct function_place place = {start, end, start, code, search->image};
	struct annotated_function *function = end > start ? add_function(search, &place) : NULL;

	if (function)
		function->is_jit = true;
}

/* Memory without a jitdump has no code to read. */
static void search_jit(struct search *search)
{
	const struct image *dump = symbols__open_jit(search->symbols, search->image);
	struct symbol_files files;

	if (!dump || !symbols__start_reader(search->symbols))
		return;
	search->path = "[jit]";
	files = image_files__read_as(SYMBOL_FILE_JIT_FIND, dump);
	note_unread(search, symbol_process__find(symbols__reader(search->symbols), &files,
						 search->function, take_jit_place, search));
}

/* A program also has the name without its tag. */
static bool is_kernel_name(const char *name, const char *wanted)
{
	const char *of_prog = bpf_code__prog_name(name);

	return !strcmp(name, wanted) || (of_prog && !strcmp(of_prog, wanted));
}

/* A kernel that was started again has its functions elsewhere. */
static bool is_still_there(const struct search *search, const struct symbol_table *table,
			   const struct symbol *symbol)
{
	const struct annotation *annotation = search->annotation;

	for (int i = 0; i < annotation->nr_hits; i++) {
		const struct annotation_hit *hit = &annotation->hits[i];
		struct place_name name;

		if (hit->image || hit->place < 0 || hit->position < symbol->start ||
		    hit->position >= symbol->end)
			continue;
		symbols__name(search->symbols, hit->place, &name);
		return name.position - name.offset == symbol->start &&
		       !strcmp(name.name, symbol_table__name(table, symbol));
	}
	return true;
}

static bool is_owner(const char *owner, const char *file)
{
	size_t len = strlen(file);

	owner = *owner ? owner : "[kernel]";
	return !strcmp(owner, file) ||
	       (!strncmp(owner + 1, file, len) && !strcmp(owner + 1 + len, "]"));
}

static void search_kernel(struct search *search, const struct symbol_table *table)
{
	for (size_t i = 0; i < table->nr; i++) {
		const struct symbol *symbol = &table->symbols[i];
		const char *owner = table->names + symbol->owner;
		const struct function_place place = {
			.start = symbol->start, .end = symbol->end, .address = symbol->start};
		struct annotated_function *function;

		if (symbol->is_data || (search->file && !is_owner(owner, search->file)) ||
		    !is_kernel_name(symbol_table__name(table, symbol), search->function) ||
		    !is_still_there(search, table, symbol))
			continue;
		search->path = *owner ? owner : "[kernel]";
		function = add_function(search, &place);
		if (!function)
			continue;
		function->is_kernel = true;
		function->name = symbol_table__name(table, symbol);
	}
}

static const struct symbol_table *kernel_of(const struct search *search)
{
	const struct symbol_table *own = &search->annotation->kernel;

	return own->nr ? own : symbols__kernel(search->symbols);
}

/* Kernels and files that were sampled come one after the other, with all their samples. */
static void search_image(struct search *search, const struct image *image)
{
	search->path = image->path;
	if (image->kind == IMAGE_KERNEL) {
		search->unread = image->path;
		search->unread_err = ESRCH;
		search_kernel(search, kernel_of(search));
	} else if (image->kind == IMAGE_JIT) {
		if (!search->file || !strcmp(search->file, "[jit]"))
			search_jit(search);
	} else if ((!search->file ||
		    !strcmp(strchr(search->file, '/') ? image->path : image__name(image),
			    search->file))) {
		search_file(search);
	}
}

/* Return: whether a sampled function of an image has the name as it is printed. */
static bool has_name(const struct search *search, const struct annotation_hit *hit)
{
	struct place_name name;

	symbols__name(search->symbols, hit->place, &name);
	return is_kernel_name(name.name, search->function);
}

/* @only_named: search only images of which a function of that name was sampled */
static void search_all(struct search *search, bool only_named)
{
	const struct annotation *annotation = search->annotation;
	int done = -1;

	for (int i = 0; i < annotation->nr_hits; i++) {
		const struct annotation_hit *hit = &annotation->hits[i];

		if (hit->place < 0 || hit->image == done || (only_named && !has_name(search, hit)))
			continue;
		done = hit->image;
		search->image = done;
		search_image(search, symbols__image(search->symbols, hit->place, &done));
	}
}

/* Compilers leave the name and put ".isra.0", ".constprop.0", ".part.0" or ".cold" behind it. */
static bool is_variant(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);

	return !strncmp(name, wanted, len) && name[len] == '.';
}

static bool is_found(const struct annotation *annotation, const struct annotation_hit *hit)
{
	for (int i = 0; i < annotation->nr; i++) {
		const struct function_place *place = &annotation->functions[i].place;

		if (place->image == hit->image && hit->position >= place->start &&
		    hit->position < place->end)
			return true;
	}
	return false;
}

/* Search for what compilers made of a function that is nowhere under its name. */
static void search_variants(struct search *search)
{
	const struct annotation *annotation = search->annotation;
	const char *wanted = search->function;

	for (int i = 0; i < annotation->nr_hits; i++) {
		const struct annotation_hit *hit = &annotation->hits[i];
		struct place_name name;

		if (hit->place < 0 || is_found(annotation, hit))
			continue;
		symbols__name(search->symbols, hit->place, &name);
		if (!is_variant(name.name, wanted))
			continue;
		search->function = name.name;
		search_image(search, symbols__image(search->symbols, hit->place, &search->image));
	}
	search->function = wanted;
}

/* --- functions that have no code of their own --- */

struct inlined {
	const char *function;
	int first; /* index of the first address that has it inlined; -1: none */
};

static void take_frame(void *ctx, int idx, const struct symbol_line *line)
{
	struct inlined *inlined = ctx;

	if (inlined->first < 0 && line->depth && !strcmp(line->name, inlined->function))
		inlined->first = idx;
}

/* @hits: of one event and one image. Return: the first that has the function inlined; -1: none. */
static int find_inlined_in(const struct search *search, const struct annotation_hit *hits, int nr)
{
	struct inlined inlined = {.function = search->function, .first = -1};
	const struct image *image = symbols__open(search->symbols, hits->image);
	uint64_t *positions __cleanup(free_ptr) = calloc(nr, sizeof(*positions));
	struct symbol_files files;

	if (!image || !positions)
		return -1;
	for (int i = 0; i < nr; i++)
		positions[i] = hits[i].position;
	files = image_files__read_as(SYMBOL_FILE_LINES, image);
	(void)symbol_process__lines(symbols__reader(search->symbols), &files, positions, nr,
				    take_frame, &inlined);
	return inlined.first;
}

/* Return: the place of a function that has the searched one inlined where it was sampled; -1: none. */
static int find_inlined(const struct search *search)
{
	const struct annotation_hit *hits = search->annotation->hits;
	int nr = search->annotation->nr_hits, found = -1, unused, end;

	for (int i = 0; i < nr && found < 0; i = end) {
		for (end = i + 1; end < nr && hits[end].image == hits[i].image &&
				  hits[end].event == hits[i].event;
		     end++)
			;
		if (hits[i].place < 0 ||
		    symbols__image(search->symbols, hits[i].place, &unused)->kind != IMAGE_FILE)
			continue;
		found = find_inlined_in(search, hits + i, end - i);
		found = found < 0 ? -1 : hits[i + found].place;
	}
	return found;
}

/* Return: the place of a JIT compiler's function of that name; -1: none. */
static int find_jit(const struct search *search)
{
	const struct annotation *annotation = search->annotation;

	for (int i = 0; i < annotation->nr_hits; i++) {
		int unused, place = annotation->hits[i].place;

		if (place >= 0 &&
		    symbols__image(search->symbols, place, &unused)->kind == IMAGE_JIT &&
		    has_name(search, &annotation->hits[i]))
			return place;
	}
	return -1;
}

/* Return: -ENODATA after a message. */
static int report_unread(const struct search *search, const char *symbol)
{
	pr_err("--annotate %s: %s: %s", symbol, search->unread,
	       search->unread_err == ESTALE ? "not the file that was sampled" :
	       search->unread_err == ESRCH  ? "the code that was sampled is not loaded any more" :
					      strerror(search->unread_err));
	return -ENODATA;
}

/* Return: -EINVAL after a message. */
static int report_missing(const struct search *search, const char *symbol)
{
	struct place_name name;
	int place = find_inlined(search);

	if (place >= 0) {
		symbols__name(search->symbols, place, &name);
		pr_err("--annotate %s: it is inlined in the sampled code: annotate '%s'", symbol,
		       name.name);
	} else if (find_jit(search) >= 0) {
		pr_err("--annotate %s: its code is not there: JIT compilers write it into a jitdump only",
		       symbol);
	} else {
		pr_err("--annotate %s: no sampled file has such a function, nor has the kernel",
		       symbol);
	}
	return -EINVAL;
}

/* --- code --- */

static const char *reason(int err)
{
	switch (err) {
	case -ENOENT:
		return "there is neither objdump nor llvm-objdump (binutils or llvm)";
	case -EOPNOTSUPP:
		return "objdump and llvm-objdump, if they are there, cannot disassemble it";
	case -E2BIG:
		return "the function is longer than 4 MiB";
	case -ETIMEDOUT:
		return "the disassembler takes too long";
	case -EFBIG:
		return "the disassembler prints more than can be about it";
	case -ECANCELED:
		return "perf cannot take the rights of the disassembler, so it does not run";
	case -ENOPKG:
		return "the disassembler cannot be executed: see if everybody may, and if its interpreter is there";
	case -ESRCH:
		return "the BPF program is not loaded any more";
	case -ENXIO:
		return "/proc/kcore is missing or not readable, and there is no vmlinux with the kernel's build id";
	case -EPERM:
		return "the kernel does not show its code";
	default:
		return strerror(-err);
	}
}

/* Return: 0 after a message; -ENOMEM. */
static int leave_out(struct search *search, struct annotated_function *function, int err)
{
	function_code__clear(&function->code);
	search->annotation->has_problem = true;
	function->problem = strdup(reason(err));
	pr_err("--annotate %s: %s: %s", function->name, function->path, reason(err));
	return function->problem ? 0 : -ENOMEM;
}

/* Return: 0, also if there is a problem; -ENOMEM. */
static int read_code(struct search *search, struct annotated_function *function)
{
	const struct image kernel = {.fd = -1};
	struct function_code *code = &function->code;
	bool is_bpf = function->is_kernel && !strcmp(function->path, "[bpf]");
	int err = is_bpf ? function_code__read_bpf(code, kernel_of(search), &function->place) :
		  function->is_jit ?
			   function_code__read_jit(code, search->symbols, &function->place) :
		  function->is_kernel ?
			   function_code__read_kernel(code, kernel_of(search),
						      symbols__start_reader(search->symbols),
						      &function->place) :
			   function_code__read_file(code, search->symbols, &function->place);

	if (!err && !is_bpf)
		err = source_text__add(
			code, function->is_kernel ?
				      &kernel :
			      function->is_jit ?
				      symbols__open_jit(search->symbols, function->place.image) :
				      symbols__open(search->symbols, function->place.image));
	if (!err || err == -ENOMEM || err == -EINTR)
		return err;
	return leave_out(search, function, err);
}

/* JIT compilers give names such as "JS:*run". A sampled function of that name goes before FILE:FUNCTION. */
static int set_name(struct search *search, const char *symbol)
{
	const struct annotation *annotation = search->annotation;
	const char *colon = profile_ranges__colon(symbol);

	search->function = symbol;
	for (int i = 0; colon && i < annotation->nr_hits; i++) {
		if (annotation->hits[i].place >= 0 && has_name(search, &annotation->hits[i]))
			return 0;
	}
	search->function = colon ? colon + 1 : symbol;
	search->file = colon ? strndup(symbol, colon - symbol) : NULL;
	return colon && !search->file ? -ENOMEM : 0;
}

static int search_and_read(struct search *search, const char *symbol)
{
	struct annotation *annotation = search->annotation;
	uint64_t left = MAX_CODE;
	bool unused;
	int err = 0;

	/* Samples from elsewhere have no table of the kernel. */
	if (!symbols__kernel(search->symbols)->nr)
		(void)kallsyms__read(&annotation->kernel, &unused);
	search_all(search, true);
	if (!annotation->nr && search->unread)
		return report_unread(search, symbol);
	if (!annotation->nr)
		search_all(search, false);
	if (!annotation->nr)
		search_variants(search);
	if (search->err)
		return search->err;
	if (!annotation->nr)
		return report_missing(search, symbol);
	for (int i = 0; i < annotation->nr && !err; i++) {
		struct annotated_function *function = &annotation->functions[i];
		uint64_t size = function->place.end - function->place.start;

		if (!function->is_sampled)
			continue;
		left = left > size ? left - size : 0;
		err = left ? read_code(search, function) : leave_out(search, function, -E2BIG);
	}
	return err;
}

int annotation__make(struct annotation *annotation, const struct samples *samples,
		     const char *symbol)
{
	struct search search = {.annotation = annotation, .symbols = samples->symbols};
	int err;

	*annotation = (struct annotation){};
	err = add_hits(annotation, samples);
	if (!err)
		err = set_name(&search, symbol);
	if (!err)
		err = search_and_read(&search, symbol);
	free(search.file);
	return err;
}
