// SPDX-License-Identifier: GPL-2.0
/*
 * scribble ATTR_MAP SECONDS [SEED]: write wrong numbers into all mappable memory of the leader of that
 * attr map, the tables of sampling sessions included, and of every leader that follows it, until the time is over. It finds the leaders by their
 * records. Print how many words it wrote, in how many leaders. Needs root.
 *
 * Ids of BPF objects become numbers that name nothing, because other ids would lead to other users'
 * objects. The header stays intact: sessions use it to decide if a leader is theirs at all.
 */
#include "leader_tables.h"
#include "../../bpf_skel/sample.h"
#include <time.h>

#define MAX_SAMPLE_TABLES (NR_SAMPLE_MAPS + 2 * MAX_SAMPLERS)
#define MAX_TABLES                                                                                 \
	(NR_LEADER_MAPS + MAX_CHUNKS + MAX_CARRIES + MAX_PAIRS * NR_PAIR_MAPS + MAX_SAMPLE_TABLES)

struct memory {
	__u32 *words;
	size_t nr; /* words */
};

struct leader_memory {
	struct memory table[MAX_TABLES];
	int nr;
};

static __u64 seed;

static __u32 pick(__u32 nr)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % nr;
}

static __u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

/* Return: the id of the registry that the record names, or 0 if there is no record. */
static __u32 recorded(const char *attr_map)
{
	char path[512], text[256];
	const char *at;
	ssize_t len;

	snprintf(path, sizeof(path), "%s_lock/leader_%d", attr_map, LEADER_LAYOUT);
	len = readlink(path, text, sizeof(text) - 1);
	if (len < 0)
		return 0;
	text[len] = '\0';
	at = strstr(text, "registry=");
	return at ? strtoul(at + strlen("registry="), NULL, 10) : 0;
}

static void add_table(struct leader_memory *memory, __u32 id)
{
	struct bpf_map_info info;
	int fd = id ? fd_by_id(id) : -1;
	size_t size;

	if (fd < 0)
		return;
	if (!map_info(fd, &info) && info.map_flags & BPF_F_MMAPABLE && memory->nr < MAX_TABLES) {
		size = (size_t)((info.value_size + 7) / 8 * 8) * info.max_entries;
		memory->table[memory->nr++] = (struct memory){
			map_memory(fd, size, PROT_READ | PROT_WRITE),
			size / sizeof(__u32),
		};
	}
	close(fd);
}

/* Map what sampling sessions have in an array of maps: each its own table. */
static void add_samplers(struct leader_memory *memory, __u32 outer_id)
{
	int outer = outer_id ? fd_by_id(outer_id) : -1;

	for (__u32 i = 0; outer >= 0 && i < MAX_SAMPLERS; i++) {
		__u32 id = 0;
		union bpf_attr attr = {
			.map_fd = outer,
			.key = (unsigned long)&i,
			.value = (unsigned long)&id,
		};

		if (!bpf(BPF_MAP_LOOKUP_ELEM, &attr))
			add_table(memory, id);
	}
	if (outer >= 0)
		close(outer);
}

/* Map the tables, the registry first. Return: true if there is a leader, complete or not. */
static int map_leader(struct leader_memory *memory, __u32 registry_id)
{
	const struct registry *reg;

	memory->nr = 0;
	add_table(memory, registry_id);
	if (!memory->nr || memory->table[0].nr * sizeof(__u32) != sizeof(*reg))
		return 0;
	reg = (const struct registry *)memory->table[0].words;
	for (int i = 0; i < NR_LEADER_MAPS; i++) {
		if (i != LEADER_REGISTRY)
			add_table(memory, reg->map_ids[i]);
	}
	for (int i = 0; i < MAX_CHUNKS; i++)
		add_table(memory, reg->chunk_ids[i]);
	for (int i = 0; i < MAX_CARRIES; i++)
		add_table(memory, reg->carry_ids[i]);
	for (int i = 0; i < MAX_PAIRS * NR_PAIR_MAPS; i++)
		add_table(memory, reg->pair[i / NR_PAIR_MAPS].map_ids[i % NR_PAIR_MAPS]);
	for (int i = 0; i < NR_SAMPLE_MAPS; i++)
		add_table(memory, reg->sample.map_ids[i]);
	add_samplers(memory, reg->sample.map_ids[SAMPLE_TABLES]);
	add_samplers(memory, reg->sample.map_ids[SAMPLE_RECORDS]);
	return reg->layout == LEADER_LAYOUT;
}

static void unmap_leader(struct leader_memory *memory)
{
	for (int i = 0; i < memory->nr; i++)
		munmap(memory->table[i].words, memory->table[i].nr * sizeof(__u32));
	memory->nr = 0;
}

static int is_in(size_t at, size_t begin, size_t size)
{
	return at >= begin && at < begin + size;
}

/* Return: the use of a word of the registry: 0 may be overwritten, 1 is an id, 2 must stay. */
static int kind_of(size_t at)
{
	if (at < offsetof(struct registry, task_link_ids) ||
	    is_in(at, offsetof(struct registry, lock_dev), 32))
		return 2;
	if (is_in(at, offsetof(struct registry, pair), sizeof(((struct registry *)0)->pair)))
		return (at - offsetof(struct registry, pair)) % sizeof(struct reg_pair) <
				       offsetof(struct reg_pair, users) ?
			       2 :
			       0;
	if (is_in(at, offsetof(struct registry, sample), sizeof(((struct registry *)0)->sample)))
		return 1;
	return is_in(at, offsetof(struct registry, task_link_ids),
		     offsetof(struct registry, is_serving) -
			     offsetof(struct registry, task_link_ids));
}

static __u32 wrong_number(__u32 old)
{
	static const __u32 edges[] = {
		0,
		1,
		2,
		0x7fffffff,
		0x80000000,
		~0U,
		~0U - 1,
		MAX_SCOPE_SETS,
		MAX_SCOPE_SETS - 1,
		MAX_SCOPES,
		MAX_SETS,
		MAX_CELLS,
		MAX_CELLS - 1,
		MAX_EVENTS,
		MAX_EVENTS - 1,
		SET_EVENTS,
		SET_EVENTS + 1,
		REG_CHANGING,
		CHUNK_CELLS - 1,
		MAX_CGROUPS,
		MAX_SAMPLERS,
		MAX_SAMPLE_SLOTS,
		SAMPLE_ROWS,
		STORE_WORDS,
		MAX_SAMPLE_BORDERS,
	};

	switch (pick(4)) {
	case 0:
		return old ^ 1U << pick(32);
	case 1:
		return edges[pick(sizeof(edges) / sizeof(*edges))];
	case 2:
		return pick(MAX_SCOPE_SETS);
	default:
		return seed >> 32;
	}
}

static void scribble(const struct leader_memory *memory)
{
	int t = pick(3) ? pick(memory->nr) : 0;
	const struct memory *table = &memory->table[t];
	/* Prefer the front: nearly all tables have their used entries there. */
	__u32 at = pick(2) ? pick(table->nr) : pick(table->nr < 256 ? table->nr : 256);
	int kind = t ? 0 : kind_of(at * sizeof(__u32));
	__u32 value = wrong_number(table->words[at]);

	if (kind == 2)
		return;
	if (kind == 1)
		value = pick(2) ? 0 : value | 0x40000000;
	__atomic_store_n(&table->words[at], value, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	static struct leader_memory memory;
	__u32 id = 0, nr_leaders = 0, nr_looks = 0;
	__u64 end_ms, nr_words = 0;

	if (argc < 3)
		die("usage: scribble ATTR_MAP SECONDS [SEED]");
	seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	for (end_ms = now_ms() + 1000ULL * strtoul(argv[2], NULL, 10); now_ms() < end_ms;
	     nr_looks++) {
		__u32 now = nr_looks % 16 ? id : recorded(argv[1]);

		/* Look again now and then: sessions add chunks and probes later. */
		if (now != id || !memory.nr || !(nr_looks % 64)) {
			nr_leaders += now && now != id;

			unmap_leader(&memory);
			id = now;
			if (!id || !map_leader(&memory, id))
				unmap_leader(&memory);
		}
		/* Few words at a time leave most numbers correct, so that sessions get far; many do not. */
		for (__u32 i = nr_looks / 512 % 4 < 3 ? 98 : 0; i < 100 && memory.nr;
		     i++, nr_words++)
			scribble(&memory);
		usleep(500 + pick(2000));
	}
	printf("%llu words in %u leaders\n", nr_words, nr_leaders);
	return 0;
}
