// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/debug_info.h"

#include <errno.h>

#ifndef HAVE_LIBDW

#include "util/lib/util.h"

bool debug_info__init(void)
{
	return false;
}

struct debug_info *debug_info__open(int fd __unused, int alt_fd __unused)
{
	errno = ENOSYS;
	return NULL;
}

void debug_info__close(struct debug_info *info __unused)
{
}

void debug_info__begin(struct debug_info *info __unused)
{
}

bool debug_info__missing(struct debug_info *info __unused, uint64_t address __unused,
			 struct debug_split *split __unused)
{
	return false;
}

void debug_info__add(struct debug_info *info __unused, int nr __unused, int fd __unused)
{
}

uint64_t debug_info__split(const struct debug_info *info __unused, uint64_t address __unused)
{
	return 0;
}

int debug_info__nr_added(const struct debug_info *info __unused)
{
	return 0;
}

int debug_info__frames(struct debug_info *info __unused, uint64_t address __unused,
		       struct debug_frame *frames __unused)
{
	return 0;
}

#else

#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/symbol/demangle.h"
#include "util/symbol/life_sign.h"
#include "util/symbol/nested_ranges.h"
#include "util/symbol/sandbox.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Load the library only when needed: its text is larger than that of perf, and its use is rare. */
#define SONAME "libdw.so.1"
#define FUNCTIONS(fn)                                                                              \
	fn(elf_version) fn(elf_begin) fn(elf_end) fn(dwarf_begin_elf) fn(dwarf_end)                \
		fn(dwarf_new_oom_handler) fn(dwarf_get_units) fn(dwarf_ranges) fn(dwarf_child)     \
			fn(dwarf_siblingof) fn(dwarf_tag) fn(dwarf_dieoffset) fn(dwarf_offdie) fn( \
				dwarf_attr_integrate) fn(dwarf_formstring) fn(dwarf_formudata)     \
				fn(dwarf_getsrc_die) fn(dwarf_linesrc) fn(dwarf_lineno)            \
					fn(dwarf_getsrcfiles) fn(dwarf_filesrc) fn(dwarf_setalt)   \
						fn(dwarf_cu_info) fn(dwarf_cu_getdwarf)            \
							fn(dwarf_getelf) fn(elf_nextscn)           \
								fn(elf_getdata) fn(dwarf_getalt)

/* Set once by debug_info__init(). The library stays loaded. */
static struct {
	bool is_loaded;
#define DECLARE(name) __typeof__(&name) name;
	FUNCTIONS(DECLARE)
} lib;

/* A file has no more ranges of units and functions, unless it is made to fill the memory. */
#define MAX_RANGES    (8 << 20)
/* Blocks and functions in each other. */
#define MAX_DEPTH     256

/* A function with code of its own, or a place where one is inlined. */
struct function {
	Dwarf_Off die;
	int caller; /* position of the function around an inlined one; -1: this one is not inlined */
	bool has_name;
	char *name; /* owned */
};

struct unit {
	Dwarf_Die die;
	Dwarf_Die functions_die; /* the same, or that of the file with the functions */
	Dwarf *dwarf;		 /* of the functions */
	bool has_no_split;	 /* all functions are in this file */
	uint64_t named;		 /* the request that named the file with the functions; 0: none */
	uint64_t split;		 /* id of the unit if that file was added; 0: it was not */
	bool is_read;
	struct function *functions;
	int nr_functions;
	struct nested_ranges ranges; /* of functions */
	Dwarf_Off last;		     /* the DIE that was read last */
};

struct debug_file {
	int fd;
	Elf *elf;
	Dwarf *dwarf;
};

struct debug_info {
	struct debug_file file, alt;
	Dwarf *dwarf; /* of file */
	struct unit *units;
	int nr_units;
	struct nested_ranges ranges; /* of units */
	int nr_ranges;		     /* of units and functions */
	int nr_added;		     /* files with functions */
	uint64_t nr_requests;
};

/* --- begin and end --- */

bool debug_info__init(void)
{
	void *library;

	/* Loading libdw loads the client of debuginfod if this is set. */
	unsetenv("DEBUGINFOD_URLS");
	library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
#define LOOK_UP(name)                                                                              \
	lib.name = (__typeof__(&name))dlsym(library, #name);                                       \
	if (!lib.name)                                                                             \
		return false;
	FUNCTIONS(LOOK_UP)
	lib.is_loaded = true;
	return true;
}

/* libdw's own handler prints a message. The next worker has all memory. */
__attribute__((noreturn)) static void end_without_memory(void)
{
	_exit(1);
}

static void close_unit(struct unit *unit)
{
	for (int i = 0; i < unit->nr_functions; i++)
		free(unit->functions[i].name);
	free(unit->functions);
	free(unit->ranges.ranges);
}

static void close_file(struct debug_file *file)
{
	if (file->dwarf)
		lib.dwarf_end(file->dwarf);
	if (file->elf)
		lib.elf_end(file->elf);
	close_fd(&file->fd);
}

void debug_info__close(struct debug_info *info)
{
	if (!info)
		return;
	for (int i = 0; i < info->nr_units; i++)
		close_unit(&info->units[i]);
	free(info->units);
	free(info->ranges.ranges);
	close_file(&info->file);
	close_file(&info->alt);
	free(info);
}

/* --- ranges --- */

/* Linkers leave code that they drop at the address 0. */
static int add_ranges(struct debug_info *info, Dwarf_Die *die, struct nested_ranges *ranges,
		      int owner)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int err = 0;

	while (!err && info->nr_ranges < MAX_RANGES &&
	       (at = lib.dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (!start)
			continue;
		info->nr_ranges++;
		err = nested_ranges__add(ranges, start, end, owner);
	}
	return err;
}

static int add_unit(struct debug_info *info, const Dwarf_Die *die)
{
	struct unit *unit = array__add(info->units, info->nr_units);

	life_sign__show();
	if (!unit)
		return -ENOMEM;
	unit->die = unit->functions_die = *die;
	unit->dwarf = info->dwarf;
	return add_ranges(info, &unit->die, &info->ranges, info->nr_units - 1);
}

/* .debug_aranges would be shorter, but clang writes none. */
static int list_units(struct debug_info *info)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	int err = 0;

	while (!err && !lib.dwarf_get_units(info->dwarf, cu, &cu, NULL, NULL, &die, NULL))
		err = add_unit(info, &die);
	nested_ranges__sort(&info->ranges);
	return !err && !info->ranges.nr ? -ENODATA : err;
}

static int open_file(struct debug_file *file, int fd)
{
	file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (file->fd < 0)
		return -errno;
	/*
	 * Map the file: libdw reads beyond a text without an end, and so reads more of the same file only. A file
	 * that is truncated meanwhile ends this process, and then has no lines.
	 */
	file->elf = lib.elf_version(EV_CURRENT) == EV_NONE ?
			    NULL :
			    lib.elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (!file->elf)
		return -ENOEXEC;
	file->dwarf = lib.dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!file->dwarf)
		return -ENODATA;
	(void)lib.dwarf_new_oom_handler(file->dwarf, end_without_memory);
	return 0;
}

static int open_info(struct debug_info *info, int fd, int alt_fd)
{
	int err = open_file(&info->file, fd);

	info->dwarf = info->file.dwarf;
	/* Without the shared part, some functions have no names. */
	if (!err && alt_fd >= 0 && !open_file(&info->alt, alt_fd))
		lib.dwarf_setalt(info->dwarf, info->alt.dwarf);
	return err ? err : list_units(info);
}

struct debug_info *debug_info__open(int fd, int alt_fd)
{
	struct debug_info *info = lib.is_loaded ? calloc(1, sizeof(*info)) : NULL;
	int err;

	if (!info) {
		errno = lib.is_loaded ? ENOMEM : ENOSYS;
		return NULL;
	}
	info->file.fd = info->alt.fd = -1;
	err = open_info(info, fd, alt_fd);
	if (!err)
		return info;
	debug_info__close(info);
	errno = -err;
	return NULL;
}

/* --- functions of a unit --- */

/*
 * Step to the first DIE below another, or to the next beside it. A hostile file may lead back: each DIE
 * must come after all that were read before. Return: whether there is one.
 */
static bool step(struct unit *unit, int (*way)(Dwarf_Die *, Dwarf_Die *), Dwarf_Die *from,
		 Dwarf_Die *die)
{
	if (way(from, die) || lib.dwarf_dieoffset(die) <= unit->last)
		return false;
	unit->last = lib.dwarf_dieoffset(die);
	return true;
}

/* Return: the number of the function around what is below the DIE; -1: none; -ENOMEM. */
static int add_function(struct debug_info *info, struct unit *unit, Dwarf_Die *die, int around)
{
	int tag = lib.dwarf_tag(die), nr = unit->nr_functions, err;
	struct function *function;

	if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
		return around;
	err = add_ranges(info, die, &unit->ranges, nr);
	if (err)
		return err;
	function = array__add(unit->functions, unit->nr_functions);
	if (!function)
		return -ENOMEM;
	function->die = lib.dwarf_dieoffset(die);
	function->caller = tag == DW_TAG_subprogram ? -1 : around;
	return nr;
}

static int walk(struct debug_info *info, struct unit *unit, Dwarf_Die *die, int around, int depth)
{
	bool has_next = depth < MAX_DEPTH;
	Dwarf_Die below;

	if (has_next)
		has_next = step(unit, lib.dwarf_child, die, &below);
	while (has_next && info->nr_ranges < MAX_RANGES) {
		int inside = add_function(info, unit, &below, around);
		int err = inside == -ENOMEM ? inside : walk(info, unit, &below, inside, depth + 1);

		life_sign__show();
		if (err)
			return err;
		has_next = step(unit, lib.dwarf_siblingof, &below, &below);
	}
	return 0;
}

static int read_unit(struct debug_info *info, struct unit *unit)
{
	int err;

	if (unit->is_read)
		return 0;
	unit->is_read = true;
	unit->last = lib.dwarf_dieoffset(&unit->functions_die);
	err = walk(info, unit, &unit->functions_die, -1, 0);
	nested_ranges__sort(&unit->ranges);
	return err;
}

/* --- frames --- */

/* Return: whether a text has its end inside of the section of a file that it is in. */
static bool has_end_in(Dwarf *dwarf, const char *text)
{
	Elf *elf = lib.dwarf_getelf(dwarf);
	Elf_Scn *section = NULL;

	while (elf && (section = lib.elf_nextscn(elf, section))) {
		const Elf_Data *data = lib.elf_getdata(section, NULL);
		uintptr_t start = data ? (uintptr_t)data->d_buf : 0, at = (uintptr_t)text - start;

		if (start && at < data->d_size)
			return memchr(text, '\0', data->d_size - at);
	}
	return false;
}

/* libdw 0.188 gives texts without an end, of a table whose section has the type of notes, for one. */
static const char *text_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	const char *text = lib.dwarf_attr_integrate(die, name, &attribute) ?
				   lib.dwarf_formstring(&attribute) :
				   NULL;
	Dwarf *dwarf = text ? lib.dwarf_cu_getdwarf(attribute.cu) : NULL;

	/* It has been looked for, if there was none. */
	if (dwarf && (attribute.form == DW_FORM_GNU_strp_alt || attribute.form == DW_FORM_strp_sup))
		dwarf = lib.dwarf_getalt(dwarf);
	return dwarf && has_end_in(dwarf, text) ? text : NULL;
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	return lib.dwarf_attr_integrate(die, name, &attribute) &&
			       !lib.dwarf_formudata(&attribute, &number) ?
		       number :
		       0;
}

/* The linker's name has the scopes and the arguments of templates. */
static char *make_name(Dwarf_Die *die)
{
	const char *linkage = text_of(die, DW_AT_linkage_name), *name;
	char *readable;

	if (!linkage)
		linkage = text_of(die, DW_AT_MIPS_linkage_name);
	readable = linkage ? demangle__name(linkage) : NULL;
	name = linkage ? linkage : text_of(die, DW_AT_name);
	return readable ? readable : name ? strdup(name) : NULL;
}

static const char *name_of(struct function *function, Dwarf_Die *die)
{
	if (!function->has_name)
		function->name = make_name(die);
	function->has_name = true;
	return function->name;
}

/* The position from which an inlined function is called. */
static void set_call(struct unit *unit, Dwarf_Die *die, struct debug_frame *frame)
{
	Dwarf_Word file = number_of(die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t nr;

	frame->line = number_of(die, DW_AT_call_line);
	if (!lib.dwarf_getsrcfiles(&unit->functions_die, &files, &nr) && file < nr)
		frame->file = lib.dwarf_filesrc(files, file, NULL, NULL);
}

static void set_line(struct unit *unit, uint64_t address, struct debug_frame *frame)
{
	Dwarf_Line *line = lib.dwarf_getsrc_die(&unit->die, address);
	int number;

	if (!line || lib.dwarf_lineno(line, &number) || number <= 0)
		return;
	frame->line = number;
	frame->file = lib.dwarf_linesrc(line, NULL, NULL);
}

/* Return: the number of functions from the innermost to the one that is not inlined. */
static int depth_of(const struct unit *unit, int innermost)
{
	int nr = 0;

	for (int i = innermost; i >= 0; i = unit->functions[i].caller)
		nr++;
	return nr;
}

static int fill_frames(struct unit *unit, uint64_t address, struct debug_frame *frames)
{
	int innermost = nested_ranges__find(&unit->ranges, address);
	int depth = depth_of(unit, innermost),
	    nr = depth < DEBUG_MAX_FRAMES ? depth : DEBUG_MAX_FRAMES;

	memset(frames, 0, (nr ? nr : 1) * sizeof(*frames));
	for (int at = innermost, i = depth - 1; at >= 0; at = unit->functions[at].caller, i--) {
		Dwarf_Die die;

		if (i >= nr || !lib.dwarf_offdie(unit->dwarf, unit->functions[at].die, &die))
			continue;
		frames[i].name = name_of(&unit->functions[at], &die);
		if (i)
			set_call(unit, &die, &frames[i - 1]);
	}
	if (depth <= nr)
		set_line(unit, address, &frames[nr ? nr - 1 : 0]);
	return nr ? nr : 1;
}

/* --- functions in files of their own --- */

/* Return: the file that a unit names, which libdw opens only if it is given; NULL: none */
static const char *split_name(struct unit *unit)
{
	const char *name = text_of(&unit->die, DW_AT_dwo_name);

	return name ? name : text_of(&unit->die, DW_AT_GNU_dwo_name);
}

void debug_info__begin(struct debug_info *info)
{
	info->nr_requests++;
}

/* Return: whether the unit names a file, and so shortly that it can be opened. */
static bool name_split(struct unit *unit, struct debug_split *split)
{
	const char *name = split_name(unit), *dir = text_of(&unit->die, DW_AT_comp_dir);
	bool is_whole = !dir || (name && *name == '/');
	int len = name ? snprintf(split->path, sizeof(split->path), "%s%s%s", is_whole ? "" : dir,
				  is_whole ? "" : "/", name) :
			 -1;

	if (len < 0 || (size_t)len >= sizeof(split->path))
		return false;
	return !lib.dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, NULL, &split->id, NULL, NULL);
}

bool debug_info__missing(struct debug_info *info, uint64_t address, struct debug_split *split)
{
	int nr = nested_ranges__find(&info->ranges, address);
	struct unit *unit = nr < 0 ? NULL : &info->units[nr];

	*split = (struct debug_split){.nr = nr};
	if (!unit || unit->is_read || unit->has_no_split || info->nr_added >= DEBUG_MAX_ADDED)
		return false;
	if (unit->named)
		return unit->named == info->nr_requests;
	unit->has_no_split = !name_split(unit, split);
	if (!unit->has_no_split)
		unit->named = info->nr_requests;
	return unit->named;
}

uint64_t debug_info__split(const struct debug_info *info, uint64_t address)
{
	int nr = nested_ranges__find(&info->ranges, address);

	return nr < 0 ? 0 : info->units[nr].split;
}

int debug_info__nr_added(const struct debug_info *info)
{
	return info->nr_added;
}

/* libdw compares the ids of both units. */
void debug_info__add(struct debug_info *info, int nr, int fd)
{
	struct unit *unit = nr >= 0 && nr < info->nr_units ? &info->units[nr] : NULL;
	Dwarf_Die die = {};
	uint64_t id;

	if (!unit || unit->is_read || !unit->named) {
		close(fd);
		return;
	}
	sandbox__answer_open(fd);
	(void)lib.dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, &die, &id, NULL, NULL);
	fd = sandbox__answer_open(-1);
	close_fd(&fd);
	if (!die.cu)
		return;
	info->nr_added++;
	unit->split = id;
	unit->functions_die = die;
	unit->dwarf = lib.dwarf_cu_getdwarf(die.cu);
	(void)lib.dwarf_new_oom_handler(unit->dwarf, end_without_memory);
}

int debug_info__frames(struct debug_info *info, uint64_t address, struct debug_frame *frames)
{
	int nr = nested_ranges__find(&info->ranges, address), err;

	if (nr < 0)
		return 0;
	err = read_unit(info, &info->units[nr]);
	return err ? err : fill_frames(&info->units[nr], address, frames);
}

#endif
