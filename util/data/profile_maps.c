// SPDX-License-Identifier: GPL-2.0
#include "util/data/profile_maps.h"

#include "util/data/profile_format.h"
#include "util/data/profile_names.h"
#include "util/data/writer.h"
#include "util/lib/array.h"
#include "util/lib/id_map.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/profile/samples.h"
#include "util/symbol/kallsyms.h"
#include "util/symbol/kernel_file.h"
#include "util/symbol/symbol_table.h"
#include "util/symbol/symbols.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Names of files are padded to this size in the list of build ids. */
#define BUILD_ID_NAME_ALIGN 64
/* Every reader takes memory of this size at the address of a JIT's code as such. */
#define JIT_BYTES 4096

static int no_memory(void)
{
	pr_err("out of memory");
	return -ENOMEM;
}

/* The fields of the kernel's records, in the order of theirs in samples. */
int profile_maps__end(const struct profile_maps *maps, uint32_t type, uint16_t misc,
		      const struct samples_key *key, struct byte_buffer *body)
{
	if (maps->has_times) {
		byte_buffer__pad(body, sizeof(uint64_t));
		byte_buffer__put_u32(body, key ? key->pid : -1);
		byte_buffer__put_u32(body, key ? key->tid : -1);
		byte_buffer__put_u64(body, maps->time_ns);
		if (maps->has_cpus)
			byte_buffer__put_u64(body, key ? key->cpu : 0);
		byte_buffer__put_u64(body, PROFILE_FIRST_ID + (key ? key->event : 0));
	}
	return data_writer__put(maps->writer, type, misc, body);
}

/* --- build ids --- */

/* The size of the id is in the byte behind it. */
static void put_build_id(struct byte_buffer *out, uint16_t misc, const struct build_id *id,
			 const char *path)
{
	struct byte_buffer name = {};
	struct perf_event_header header = {.misc = misc | DATA_MISC_BUILD_ID_SIZE};
	uint8_t bytes[24] = {};

	byte_buffer__put_text(&name, path);
	byte_buffer__pad(&name, BUILD_ID_NAME_ALIGN);
	header.size = sizeof(header) + sizeof(uint32_t) + sizeof(bytes) + name.len;
	memcpy(bytes, id->bytes, id->len);
	bytes[BUILD_ID_MAX] = id->len;
	byte_buffer__put(out, &header, sizeof(header));
	byte_buffer__put_u32(out, -1); /* of all processes */
	byte_buffer__put(out, bytes, sizeof(bytes));
	byte_buffer__put(out, name.data, name.len);
	out->has_failed |= name.has_failed;
	byte_buffer__clear(&name);
}

static void put_kernel_build_id(struct byte_buffer *out)
{
	struct build_id id;

	kernel_file__build_id(&id);
	if (id.len)
		put_build_id(out, PERF_RECORD_MISC_KERNEL, &id, "[kernel.kallsyms]");
}

void profile_maps__put_build_ids(const struct profile_maps *maps, struct byte_buffer *feature)
{
	put_kernel_build_id(feature);
	for (int i = 0; i < maps->names->nr_images; i++) {
		int unused;
		const struct image *image =
			symbols__image(maps->samples->symbols, maps->names->images[i], &unused);

		if (image->build_id.len)
			put_build_id(feature, PERF_RECORD_MISC_USER, &image->build_id, image->path);
	}
}

/* --- the kernel --- */

/* Code of the kernel with a name of its own: its own text, or a module. */
struct kernel_part {
	const char *name; /* "[kernel]", "[ext4]"; borrowed */
	uint64_t start, end;
};

static int put_kernel_map(struct profile_maps *maps, const struct kernel_part *part,
			  const char *name, uint64_t text)
{
	struct byte_buffer body = {};

	byte_buffer__put_u32(&body, -1); /* of all processes */
	byte_buffer__put_u32(&body, 0);
	byte_buffer__put_u64(&body, part->start);
	byte_buffer__put_u64(&body, part->end - part->start);
	byte_buffer__put_u64(&body, text);
	byte_buffer__put_text(&body, name);
	return profile_maps__end(maps, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, NULL, &body);
}

/* Let a part have a function with one of its addresses. Return: 0 or -ENOMEM. */
static int widen(struct kernel_part **parts, int *nr, const struct place_name *name)
{
	uint64_t start = name->position - name->offset;
	struct kernel_part *part = NULL;

	for (int i = 0; i < *nr && !part; i++) {
		if (!strcmp((*parts)[i].name, name->image))
			part = &(*parts)[i];
	}
	if (!part) {
		part = array__add(*parts, *nr);
		if (!part)
			return -ENOMEM;
		*part = (struct kernel_part){name->image, start, start};
	}
	part->start = start < part->start ? start : part->start;
	part->end = name->position >= part->end ? name->position + 1 : part->end;
	return 0;
}

static int put_bpf_prog(struct profile_maps *maps, const struct place_name *name)
{
	const struct symbol *symbol =
		symbols__kernel_function(maps->samples->symbols, name->position - name->offset);
	struct byte_buffer body = {};

	if (!symbol)
		return 0;
	byte_buffer__put_u64(&body, symbol->start);
	byte_buffer__put_u32(&body, symbol->end - symbol->start);
	byte_buffer__put_u16(&body, PERF_RECORD_KSYMBOL_TYPE_BPF);
	byte_buffer__put_u16(&body, 0);
	byte_buffer__put_text(&body, name->name);
	return profile_maps__end(maps, PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL, NULL, &body);
}

/* Write a BPF program, once. @known: functions + 1 that are written */
static int add_bpf_prog(struct profile_maps *maps, struct id_map *known,
			const struct place_name *name)
{
	uint64_t id = (uint64_t)name->function + 1;

	if (id_map__get(known, id) >= 0)
		return 0;
	return id_map__set(known, id, 0) ? no_memory() : put_bpf_prog(maps, name);
}

/* Find the parts that have samples; BPF programs are written at once. */
static int find_parts(struct profile_maps *maps, struct kernel_part **parts, int *nr)
{
	struct id_map known = {};
	int err = 0;

	for (int i = 0; i < maps->names->nr_places && !err; i++) {
		struct place_name name;

		symbols__name(maps->samples->symbols, maps->names->places[i], &name);
		if (!name.is_kernel || name.is_unknown)
			continue;
		if (!strcmp(name.image, "[bpf]"))
			err = add_bpf_prog(maps, &known, &name);
		else if (widen(parts, nr, &name))
			err = no_memory();
	}
	id_map__clear(&known);
	return err;
}

/* The address of _text tells readers by how much the kernel was moved. */
static int put_text(struct profile_maps *maps, struct kernel_part text)
{
	uint64_t start, end;

	kallsyms__text(&start, &end);
	if (!text.end || (start && start < text.start))
		text.start = start;
	text.end = end > text.end ? end : text.end;
	if (!text.end)
		return 0;
	return put_kernel_map(maps, &text, start ? "[kernel.kallsyms]_text" : "[kernel.kallsyms]",
			      start);
}

int profile_maps__put_kernel(struct profile_maps *maps)
{
	struct kernel_part *parts __cleanup(free_ptr) = NULL;
	struct kernel_part text = {};
	int nr = 0, err = find_parts(maps, &parts, &nr);

	for (int i = 0; i < nr && !err; i++) {
		if (!strcmp(parts[i].name, "[kernel]"))
			text = parts[i];
		else
			err = put_kernel_map(maps, &parts[i], parts[i].name, 0);
	}
	/* Without it, readers warn that the kernel's addresses were hidden. */
	return err ? err : put_text(maps, text);
}

/* --- processes --- */

/* Name a thread, unless it has that name by the records up to now. */
static int need_name(struct profile_maps *maps, const struct samples_key *key)
{
	int ret = thread_names__set(&maps->threads, key->pid, key->tid, key->comm);
	struct byte_buffer body = {};

	if (ret <= 0)
		return ret ? no_memory() : 0;
	byte_buffer__put_u32(&body, key->pid);
	byte_buffer__put_u32(&body, key->tid);
	byte_buffer__put_text(&body, key->comm);
	return profile_maps__end(maps, PERF_RECORD_COMM, 0, key, &body);
}

/* The identity of a file: its build id if that is known, otherwise its inode. */
static uint16_t put_identity(struct byte_buffer *body, const struct image *image)
{
	const struct build_id *id = &image->build_id;

	if (id->len) {
		byte_buffer__put_u32(body, id->len);
		byte_buffer__put(body, id->bytes, sizeof(id->bytes));
		return PERF_RECORD_MISC_MMAP_BUILD_ID;
	}
	byte_buffer__put_u32(body, image->major);
	byte_buffer__put_u32(body, image->minor);
	byte_buffer__put_u64(body, image->inode);
	byte_buffer__put_u64(body, 0); /* generation */
	return 0;
}

static int put_mapping(struct profile_maps *maps, const struct samples_key *key,
		       const struct map_range *range, const struct image *image)
{
	struct byte_buffer body = {};
	uint16_t misc;

	byte_buffer__put_u32(&body, key->pid);
	byte_buffer__put_u32(&body, key->pid);
	byte_buffer__put_u64(&body, range->start);
	byte_buffer__put_u64(&body, range->end - range->start);
	byte_buffer__put_u64(&body, range->offset);
	misc = put_identity(&body, image);
	byte_buffer__put_u32(&body, PROT_READ | PROT_EXEC);
	byte_buffer__put_u32(&body, MAP_PRIVATE);
	byte_buffer__put_text(&body, image->kind == IMAGE_JIT ? "//anon" : image->path);
	return profile_maps__end(maps, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | misc, key, &body);
}

/* Return: whether nobody has a name for a place; memory without a file is only of interest for a JIT's. */
static bool is_unknown(const struct profile_maps *maps, int place)
{
	struct place_name name;

	symbols__name(maps->samples->symbols, place, &name);
	return name.is_unknown;
}

/*
 * Write the mapping of an address, unless readers have it from the records up to now.
 *
 * @known: those of the process
 */
static int need_mapping(struct profile_maps *maps, const struct samples_key *key,
			struct maps **known, int place, int nr, uint64_t address)
{
	const struct map_range *old = maps__find(*known, address);
	struct map_range range = {
		.start = address & -(uint64_t)JIT_BYTES,
		.end = (address & -(uint64_t)JIT_BYTES) + JIT_BYTES,
		.offset = address & -(uint64_t)JIT_BYTES,
		.image = nr,
	};
	int unused;

	if (old ? old->image == nr : !nr && is_unknown(maps, place))
		return 0;
	if (nr) {
		const struct symbols_mapping *mapping =
			symbols__get_mapping(maps->samples->symbols, nr);

		range.start = mapping->start;
		range.end = mapping->end;
		range.offset = mapping->offset;
	}
	if (maps__insert(known, &range))
		return no_memory();
	return put_mapping(maps, key, &range,
			   symbols__image(maps->samples->symbols, place, &unused));
}

/* Return: the mappings of a process, by the records up to now; NULL after a message. */
static struct maps **maps_of(struct profile_maps *maps, int32_t pid)
{
	uint64_t id = (uint64_t)(uint32_t)pid + 1;
	int nr = id_map__get(&maps->process_nrs, id);
	struct maps **added;

	if (nr >= 0)
		return &maps->processes[nr];
	added = array__add(maps->processes, maps->nr_processes);
	if (added)
		*added = maps__new();
	if (added && *added && !id_map__set(&maps->process_nrs, id, maps->nr_processes - 1))
		return added;
	no_memory();
	return NULL;
}

static uint64_t position(const struct profile_maps *maps, int place)
{
	struct place_name name;

	symbols__name(maps->samples->symbols, place, &name);
	return name.position;
}

/* The address that a place of user space has in a mapping. */
static uint64_t address_in(const struct profile_maps *maps, int place, int mapping)
{
	const struct symbols_mapping *found;

	if (!mapping)
		return position(maps, place);
	found = symbols__get_mapping(maps->samples->symbols, mapping);
	return position(maps, place) - found->offset + found->start;
}

int profile_maps__put(struct profile_maps *maps, int nr, struct byte_buffer *chain)
{
	const int *places, *mappings = samples__mappings(maps->samples, nr);
	const struct samples_key *key = samples__get(maps->samples, nr, &places);
	struct maps **known = maps_of(maps, key->pid);
	int err = known ? need_name(maps, key) : -ENOMEM;

	if (key->nr_kernel)
		byte_buffer__put_u64(chain, PERF_CONTEXT_KERNEL);
	for (int i = 0; i < key->nr_kernel; i++)
		byte_buffer__put_u64(chain, position(maps, places[i]));
	if (key->nr_user)
		byte_buffer__put_u64(chain, PERF_CONTEXT_USER);
	for (int i = 0; i < key->nr_user && !err; i++) {
		int place = places[key->nr_kernel + i];
		uint64_t address = address_in(maps, place, mappings[i]);

		byte_buffer__put_u64(chain, address);
		err = need_mapping(maps, key, known, place, mappings[i], address);
	}
	return err;
}

void profile_maps__clear(struct profile_maps *maps)
{
	for (int i = 0; i < maps->nr_processes; i++)
		maps__put(maps->processes[i]);
	free(maps->processes);
	id_map__clear(&maps->process_nrs);
	thread_names__clear(&maps->threads);
	*maps = (struct profile_maps){};
}
