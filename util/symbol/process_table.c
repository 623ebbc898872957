// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/process_table.h"

#include "util/host/proc_stat.h"
#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/symbol/jit_dump.h"
#include "util/symbol/maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* --- images --- */

static int add_image(struct process_table *table, const struct image *image)
{
	struct image *added = array__add(table->images, table->nr_images);

	if (!added)
		return -ENOMEM;
	*added = *image;
	added->fd = added->debug_fd = added->alt_fd = added->jit_dump = -1;
	if (!added->path) {
		table->nr_images--;
		return -ENOMEM;
	}
	return table->nr_images - 1;
}

/* @id: one more part of the key; NULL: none. Return: the image of a file, the same for the same key. */
static int keyed_image(struct process_table *table, const struct new_mapping *mapping,
		       const struct build_id *id)
{
	bool is_vdso = mapping->path_len == 6 && !strncmp(mapping->path, "[vdso]", 6);
	/* That of processes of 32 bits is another one, below 4 GiB. */
	bool is_low = is_vdso && !(mapping->start >> 32);
	char *of_id __cleanup(free_ptr) = id ? build_id__debug_path(id) : NULL;
	char *key __cleanup(free_ptr) =
		xasprintf("%x:%x:%llx:%s:%d:%.*s", mapping->major, mapping->minor,
			  (unsigned long long)mapping->inode, of_id ? of_id : "", is_low,
			  (int)mapping->path_len, mapping->path);
	int nr = key && (of_id || !id) ? blob_set__add(&table->image_keys, key, strlen(key)) :
					 -ENOMEM;

	/* Keys and images of files are added together; a JIT's image has its pid as key. */
	return nr != table->nr_images ?
		       nr :
		       add_image(table, &(struct image){
						.kind = is_vdso ? IMAGE_VDSO : IMAGE_FILE,
						.path = strndup(mapping->path, mapping->path_len),
						.major = mapping->major,
						.minor = mapping->minor,
						.inode = mapping->inode,
					});
}

/* Return: the image of a file. One that was overwritten has an image for each build id. */
static int identified_image(struct process_table *table, const struct new_mapping *mapping)
{
	int nr = keyed_image(table, mapping, NULL);
	const struct build_id *known;

	if (nr < 0 || !mapping->id.len)
		return nr;
	known = table->images[nr].sampled_id.len ? &table->images[nr].sampled_id :
						   &table->images[nr].build_id;
	if (known->len && !build_id__are_equal(known, &mapping->id))
		nr = keyed_image(table, mapping, &mapping->id);
	if (nr >= 0)
		table->images[nr].sampled_id = mapping->id;
	return nr;
}

static int file_image(struct process_table *table, pid_t pid, const struct new_mapping *mapping)
{
	int nr = identified_image(table, mapping);
	struct image *image;

	if (nr < 0)
		return nr;
	image = &table->images[nr];
	image->is_split |= image->user.end && image->user.offset != mapping->offset;
	image->user = (struct image_user){pid, mapping->start, mapping->end, mapping->offset};
	return nr;
}

static uid_t uid_of(pid_t pid)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%d/status", procfs_root(), pid);
	char *text __cleanup(free_ptr) = path ? read_file(path, NULL) : NULL;
	const char *line = text ? strstr(text, "\nUid:\t") : NULL;
	unsigned int uid;

	return line && sscanf(line, "\nUid:\t%*u\t%u", &uid) == 1 ? uid : (uid_t)-1;
}

/* Each process with code that no file has has one, for good: their number must have an end. */
#define MAX_IMAGES (1 << 18)

static int jit_image(struct process_table *table, int process)
{
	struct process *p = &table->processes[process];
	char *key;
	int nr;

	if (p->jit >= 0)
		return p->jit;
	if (table->nr_images >= MAX_IMAGES)
		return -ENOMEM;
	key = xasprintf("jit %d", table->nr_images);
	nr = key ? blob_set__add(&table->image_keys, key, strlen(key)) : -ENOMEM;
	free(key);
	if (nr < 0)
		return nr;
	nr = add_image(table, &(struct image){
				      .kind = IMAGE_JIT,
				      .path = strdup("[anon]"),
				      .pid = p->pid,
				      .uid = uid_of(p->pid),
			      });
	if (nr >= 0)
		p->jit = nr;
	return nr;
}

int process_table__begin(struct process_table *table)
{
	int nr = blob_set__add(&table->image_keys, "kernel", 6);

	if (nr >= 0)
		nr = add_image(table, &(struct image){.kind = IMAGE_KERNEL,
						      .path = strdup("[kernel.kallsyms]")});
	return nr < 0 ? nr : 0;
}

int process_table__store_image(struct process_table *table, enum image_kind kind, const char *path)
{
	return add_image(table, &(struct image){.kind = kind, .path = strdup(path)});
}

/* --- processes --- */

static void clear_process(struct process *process)
{
	for (int i = 0; i < process->nr_generations; i++)
		maps__put(process->generations[i].maps);
	free(process->generations);
}

void process_table__clear(struct process_table *table)
{
	for (int i = 0; i < table->nr; i++)
		clear_process(&table->processes[i]);
	for (int i = 0; i < table->nr_images; i++) {
		image__close(&table->images[i]);
		free(table->images[i].path);
	}
	free(table->processes);
	free(table->images);
	id_map__clear(&table->newest);
	blob_set__clear(&table->image_keys);
	*table = (struct process_table){};
}

static struct process *newest(const struct process_table *table, pid_t pid)
{
	int at = pid ? id_map__get(&table->newest, pid) : -1;

	return at < 0 ? NULL : &table->processes[at];
}

static struct generation *latest(struct process *process)
{
	return &process->generations[process->nr_generations - 1];
}

static int add_generation(struct process *process, const char *comm, struct maps *maps,
			  bool is_read)
{
	struct generation *generation = array__add(process->generations, process->nr_generations);

	if (!generation) {
		maps__put(maps);
		return -ENOMEM;
	}
	snprintf(generation->comm, sizeof(generation->comm), "%s", comm);
	generation->maps = maps;
	generation->is_read = is_read;
	return 0;
}

/* Add a process with one generation, of unknown mappings. NULL: no memory */
static struct process *add_process(struct process_table *table, pid_t pid)
{
	int older = id_map__get(&table->newest, pid);
	struct process *process = array__add(table->processes, table->nr);

	if (!process)
		return NULL;
	*process = (struct process){.pid = pid, .first_exec_id = -1, .older = older, .jit = -1};
	if (add_generation(process, "", NULL, false) ||
	    id_map__set(&table->newest, pid, table->nr - 1)) {
		clear_process(process);
		table->nr--;
		return NULL;
	}
	return process;
}

/* --- /proc --- */

/* Return: a time in clock ticks. */
static uint64_t ticks(uint64_t ns)
{
	return ns / proc_stat__ticks_ns(1);
}

/* @tick: receives the start of the process that has the pid now */
static bool is_that_process(const struct process *process, uint64_t *tick)
{
	struct proc_stat stat;

	if (proc_stat__read(process->pid, &stat))
		return false;
	*tick = ticks(stat.start_ns);
	if (process->start_tick)
		return process->start_tick == *tick;
	return !process->start_ns || ticks(process->start_ns) == *tick;
}

/* Return: whether a mapping is of a file that can be opened by its path, other than memory of the kernel's files. */
static bool is_file(const char *path)
{
	static const char *const memory[] = {"//", "/memfd:", "/dev/zero", "/anon_hugepage",
					     "/SYSV"};

	for (size_t i = 0; i < ARRAY_SIZE(memory); i++) {
		if (!strncmp(path, memory[i], strlen(memory[i])))
			return false;
	}
	return *path == '/';
}

static int add_mapping(struct process_table *table, pid_t pid, struct maps **maps,
		       const struct new_mapping *mapping)
{
	struct map_range range = {mapping->start, mapping->end, mapping->offset, -1};

	int err;

	/* Memory without a file, or with one that nobody can open, replaces what was there. */
	if (is_file(mapping->path) || !strncmp(mapping->path, "[vdso]", 6)) {
		range.image = file_image(table, pid, mapping);
		if (range.image < 0)
			return range.image;
	}
	err = maps__insert(maps, &range);
	if (!err && range.image >= 0 && jit_dump__is_name(mapping->path, mapping->path_len))
		(*maps)->jit_dump = range.image;
	return err;
}

static int parse_maps(struct process_table *table, pid_t pid, const char *text, struct maps **maps)
{
	int err = 0;

	while (*text && !err) {
		struct map_line line;

		if (!map_line__parse(text, &line, &text) || !line.is_code)
			continue;
		err = add_mapping(table, pid, maps,
				  &(struct new_mapping){
					  .start = line.start,
					  .end = line.end,
					  .offset = line.offset,
					  .major = line.major,
					  .minor = line.minor,
					  .inode = line.inode,
					  .path = line.path_len ? line.path : "",
					  .path_len = line.path_len,
				  });
	}
	return err;
}

static void read_comm(pid_t pid, char *comm, size_t size)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%d/comm", procfs_root(), pid);
	char *text __cleanup(free_ptr) = path ? read_file_line(path) : NULL;

	if (text)
		snprintf(comm, size, "%s", text);
}

/* Read the mappings of the latest generation, if the process is still there. */
static int read_maps(struct process_table *table, struct process *process)
{
	struct generation *generation = latest(process);
	char *path __cleanup(free_ptr) = xasprintf("%s/%d/maps", procfs_root(), process->pid);
	char *text __cleanup(free_ptr) = NULL;
	struct maps *maps;
	uint64_t tick;
	int err;

	if (!path)
		return -ENOMEM;
	/* Try once: a process that has ended does not return. */
	generation->is_read = true;
	if (!is_that_process(process, &tick) || !(text = read_file(path, NULL)) || !*text)
		return 0;
	maps = maps__new();
	if (!maps)
		return -ENOMEM;
	err = parse_maps(table, process->pid, text, &maps);
	/* It may have ended, and its pid have another owner, while the file was read. */
	process->start_tick = tick;
	if (err || !is_that_process(process, &tick)) {
		maps__put(maps);
		return err;
	}
	if (!*generation->comm)
		read_comm(process->pid, generation->comm, sizeof(generation->comm));
	maps__put(generation->maps);
	generation->maps = maps;
	return 0;
}

/* --- records --- */

int process_table__forked(struct process_table *table, pid_t pid, pid_t parent, uint64_t time_ns)
{
	struct process *process, *from = newest(table, parent);
	struct generation *old;
	int err = 0;

	/* A parent outside of our pid namespace has no number. */
	if (!from && parent) {
		from = add_process(table, parent);
		err = from ? 0 : -ENOMEM;
	}
	if (!err && from && !latest(from)->is_read)
		err = read_maps(table, from);
	if (err)
		return err;
	process = add_process(table, pid);
	if (!process)
		return -ENOMEM;
	process->fork_ns = time_ns;
	from = newest(table, parent); /* the array may have moved */
	old = from ? latest(from) : NULL;
	if (old && old->maps) {
		latest(process)->maps = maps__get(old->maps);
		latest(process)->is_read = true;
		memcpy(latest(process)->comm, old->comm, sizeof(old->comm));
	}
	return 0;
}

int process_table__renamed(struct process_table *table, pid_t pid, const char *comm, bool is_exec)
{
	struct process *process = newest(table, pid);
	struct maps *maps;

	if (!process)
		process = add_process(table, pid);
	if (!process)
		return -ENOMEM;
	if (!is_exec) {
		snprintf(latest(process)->comm, sizeof(latest(process)->comm), "%s", comm);
		return 0;
	}
	/* The mappings in /proc are not of the time before this exec. */
	latest(process)->is_read = true;
	maps = maps__new();
	return maps ? add_generation(process, comm, maps, true) : -ENOMEM;
}

int process_table__mapped(struct process_table *table, pid_t pid, const struct new_mapping *mapping)
{
	struct process *process = newest(table, pid);
	struct new_mapping identified_mapping;
	struct generation *generation;
	int err = 0;

	/* For a process that was not sampled yet, /proc also has this mapping. */
	if (!process)
		process = add_process(table, pid);
	if (!process)
		return -ENOMEM;
	generation = latest(process);
	if (!generation->is_read)
		err = read_maps(table, process);
	if (!err && !generation->maps && !(generation->maps = maps__new()))
		err = -ENOMEM;
	if (err)
		return err;
	identified_mapping = *mapping;
	if (process->identified.start == mapping->start &&
	    process->identified.end == mapping->end &&
	    process->identified.offset == mapping->offset)
		identified_mapping.id = process->identified.id;
	process->identified.id.len = 0;
	return add_mapping(table, pid, &generation->maps, &identified_mapping);
}

int process_table__identified(struct process_table *table, pid_t pid,
			      const struct identified *identified)
{
	struct process *process = newest(table, pid);

	if (!process)
		process = add_process(table, pid);
	if (!process)
		return -ENOMEM;
	process->identified = *identified;
	return 0;
}

void process_table__lost(struct process_table *table)
{
	for (int i = 0; i < table->nr; i++)
		latest(&table->processes[i])->is_read = false;
}

/* --- processes that have ended --- */

/* So many processes take no memory worth the search. */
#define FEW_PROCESSES 1024

static void mark_ended(struct process_table *table)
{
	for (int i = 0; i < table->nr; i++) {
		struct process *process = &table->processes[i];
		uint64_t tick;

		process->has_ended =
			newest(table, process->pid) != process || !is_that_process(process, &tick);
	}
}

/* Return: 0, or -ENOMEM: some processes are not found any more, and read again. */
static int remove_marked(struct process_table *table)
{
	int nr = table->nr, err = 0;

	id_map__clear(&table->newest);
	table->nr = 0;
	for (int i = 0; i < nr; i++) {
		struct process process = table->processes[i];

		if (process.has_ended) {
			clear_process(&process);
			continue;
		}
		/* Processes that began since have no marks. */
		process.older = id_map__get(&table->newest, process.pid);
		if (!err)
			err = id_map__set(&table->newest, process.pid, table->nr);
		table->processes[table->nr++] = process;
	}
	return err;
}

int process_table__forget_ended(struct process_table *table)
{
	int err = 0;

	if (table->has_marks) {
		err = remove_marked(table);
		table->nr_left = table->nr;
		table->has_marks = false;
	} else if (table->nr > FEW_PROCESSES && table->nr > 2 * table->nr_left) {
		mark_ended(table);
		table->has_marks = true;
	}
	return err;
}

/* --- samples --- */

/* The kernel notes the start before it reports the fork. */
static bool may_have_started(const struct process *process, uint64_t start_ns)
{
	if (process->start_ns || (process->start_tick && process->start_tick != ticks(start_ns)))
		return false;
	return !process->fork_ns || process->fork_ns >= start_ns;
}

/* Return: the process of a pid that started then; NULL: none that is known */
static struct process *find_started(struct process_table *table, pid_t pid, uint64_t start_ns)
{
	struct process *process = newest(table, pid), *found = NULL;

	if (!start_ns)
		return process;
	for (; process; process = process->older < 0 ? NULL : &table->processes[process->older]) {
		if (process->start_ns == start_ns)
			return process;
		/* Take the first fork after the start. */
		if (may_have_started(process, start_ns))
			found = process;
	}
	/* One that nobody saw fork is older than all that were seen. */
	if (found)
		found->start_ns = start_ns;
	return found;
}

int process_table__find(struct process_table *table, const struct process_key *key)
{
	struct process *process = find_started(table, key->pid, key->start_ns);
	int err = 0;

	if (!process) {
		process = add_process(table, key->pid);
		if (!process)
			return -ENOMEM;
		process->start_ns = key->start_ns;
	}
	if (!latest(process)->is_read)
		err = read_maps(table, process);
	return err ? err : process - table->processes;
}

/* Return: the position of the latest generation of a name that a process can have had at that exec; -1: none */
static int find_named(const struct process *process, const struct process_key *key)
{
	for (int at = process->nr_generations - 1; at >= 0; at--) {
		if (at <= (int64_t)key->exec_id &&
		    !strcmp(process->generations[at].comm, key->comm))
			return at;
	}
	return -1;
}

/*
 * Samples number execs from the kernel's start of the process, records only those that were seen. The name
 * tells which is which. If several generations have it, take the latest. A sample of a later exec corrects that:
 * its number leads behind the last generation, or to one of another name. So does an address (maps_of()).
 */
static void number_generations(struct process *process, const struct process_key *key)
{
	int last = process->nr_generations - 1, named;
	int64_t at = (int64_t)key->exec_id - process->first_exec_id;

	if (process->first_exec_id >= 0 && key->exec_id <= process->last_exec_id)
		return;
	if (key->exec_id > process->last_exec_id)
		process->last_exec_id = key->exec_id;
	if (process->first_exec_id >= 0 && at <= last &&
	    !strcmp(process->generations[at].comm, key->comm))
		return;
	named = find_named(process, key);
	if (named >= 0)
		process->first_exec_id = (int64_t)key->exec_id - named;
	/* No sample is of a generation behind the last. */
	if (process->first_exec_id >= 0 && process->last_exec_id - process->first_exec_id > last)
		process->first_exec_id = (int64_t)process->last_exec_id - last;
}

void process_table__expect(struct process_table *table, const struct process_key *key)
{
	struct process *process = find_started(table, key->pid, key->start_ns);

	if (process && key->exec_id != EXEC_ID_LATEST)
		number_generations(process, key);
}

static struct generation *generation_of(struct process *process, const struct process_key *key)
{
	int last = process->nr_generations - 1;
	int64_t at;

	if (key->exec_id == EXEC_ID_LATEST)
		return latest(process);
	number_generations(process, key);
	if (process->first_exec_id < 0)
		return latest(process);
	at = (int64_t)key->exec_id - process->first_exec_id;
	return &process->generations[at < 0 ? 0 : at < last ? at : last];
}

static const struct map_range *range_at(const struct maps *maps, uint64_t address)
{
	return maps ? maps__find(maps, address) : NULL;
}

/*
 * Records are read after the samples, so the latest generation of a name can have begun when the last sample was
 * taken. Then an earlier one of that name has the address.
 *
 * Return: the mappings that a process has in a sample, borrowed; NULL: not known
 */
static const struct maps *maps_of(struct process *process, const struct process_key *key,
				  uint64_t address)
{
	struct generation *generation = generation_of(process, key);

	if (key->exec_id != process->last_exec_id || range_at(generation->maps, address))
		return generation->maps;
	for (int at = generation - process->generations - 1; at >= 0; at--) {
		const struct generation *earlier = &process->generations[at];

		if (strcmp(earlier->comm, generation->comm) || !range_at(earlier->maps, address))
			continue;
		process->first_exec_id = (int64_t)key->exec_id - at;
		return earlier->maps;
	}
	return generation->maps;
}

const struct map_range *process_table__range(const struct process_table *table, int process,
					     const struct process_key *key, uint64_t address)
{
	return range_at(maps_of(&table->processes[process], key, address), address);
}

int process_table__image(struct process_table *table, int process, const struct process_key *key,
			 uint64_t address, uint64_t *offset)
{
	const struct maps *maps = maps_of(&table->processes[process], key, address);
	const struct map_range *range = range_at(maps, address);
	int nr;

	if (range) {
		*offset = address - range->start + range->offset;
		return range->image;
	}
	*offset = address;
	nr = jit_image(table, process);
	if (nr >= 0 && maps && maps->jit_dump >= 0)
		table->images[nr].jit_dump = maps->jit_dump;
	return nr;
}
