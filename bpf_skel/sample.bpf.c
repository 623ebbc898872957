// SPDX-License-Identifier: GPL-2.0
/*
 * Sampling: on_sample runs at each overflow of a sampling event, and counts the sample in the tables of
 * all sessions that want it. util/sample/sample_object.c loads it, with the leader's maps in place of
 * those in leader_events.bpf.h and leader_scopes.bpf.h.
 *
 * on_sample can run in an NMI, between any two instructions of other programs. It only looks up elements of
 * arrays and writes memory that no other program writes. The kernel drops overflows that occur while
 * one is handled (bpf_prog_active), so on one CPU it never interrupts itself.
 *
 * Each slot has an instance of on_sample of its own, since the kernel passes no number of the event. The
 * events hold their program. So it must not use `sample_events`, which holds the events: neither would
 * ever be freed.
 */
#include "kernel_types.bpf.h"
#include "leader_events.bpf.h"
#include "leader_scopes.bpf.h"
#include "sample.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 nr_cpus = 1;

/* Of this instance of on_sample. One variable, so that programs load its address once. */
const volatile struct {
	__u32 slot;
	__u32 gen;
	bool weighs_count; /* samples weigh what the event counted since the last one */
} own;

/* The sampling events, at slot * nr_cpus + CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(map_flags, BPF_F_PRESERVE_ELEMS);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, MAX_SAMPLE_SLOTS); /* times nr_cpus, set before load */
} sample_events SEC(".maps");

/* The only variable of its map, `.bss`: programs reach it without a lookup. */
struct sample_plan sample_plan;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32); /* CPU */
	__type(value, struct sample_cpu);
	__uint(max_entries, 1); /* nr_cpus, set before load */
} sample_cpus SEC(".maps");

struct sample_table_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32)); /* CPU */
	__uint(value_size, sizeof(struct sample_table));
	__uint(max_entries, 1); /* nr_cpus, set before load */
};

/* The tables of each sampler. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, MAX_SAMPLERS);
	__array(values, struct sample_table_map);
} sample_tables SEC(".maps");

struct sample_record_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags,
	       BPF_F_MMAPABLE | BPF_F_INNER_MAP); /* sessions have maps of different sizes */
	__uint(key_size, sizeof(__u32)); /* (CPU * 2 + half) * max_records + number of the record */
	__uint(value_size, sizeof(struct sample_record));
	__uint(max_entries, 1);
};

/* The single samples of those samplers that want them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, MAX_SAMPLERS);
	__array(values, struct sample_record_map);
} sample_records SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* As much of it as only samples need. */
struct task_struct___sample {
	unsigned int flags;
	int prio;
	int pid;
	int tgid;
	__u64 start_boottime;
	__u64 self_exec_id;
	struct task_struct___sample *group_leader;
	char comm[16];
};

struct user_pt_regs { /* of arm64 only */
	__u64 pc;
};

/* The context. Its registers come first; their number depends on the architecture. */
struct bpf_perf_event_data {
	__u64 sample_period;
	__u64 addr;
};

#pragma clang attribute pop

#define PF_KTHREAD 0x00200000

/* A sample, with all that any session's key has. The key comes first: a pointer to it is one to the sample. */
struct sample {
	struct sample_key key;
	struct sample_cpu *here;
	__u64 hash[2]; /* of the key in SAMPLE_FORM_IP and SAMPLE_FORM_STACKS; 0: not needed yet */
	__u64 want;    /* bit per sampler, from `next` on */
	__u64 weight;
	__u32 next;
	__u32 cpu;
	__u32 is_idle;
	__u32 slot; /* a copy of `slot`, which is volatile */
};

/* --- whose sample --- */

/* The scopes of a scope set, from the highest on. */
struct scope_walk {
	__u64 found; /* bit per sampler */
	struct registry *reg;
	__u32 scope_set;
};

static long visit_scope(__u32 i __attribute__((unused)), struct scope_walk *walk)
{
	struct reg_scope_set *set = bpf_map_lookup_elem(&scope_sets, &walk->scope_set);
	__u32 scope, session, sampler;

	if (!set || !walk->scope_set)
		return 1;
	scope = set->scope;
	walk->scope_set = set->parent;
	if (scope >= MAX_SCOPES)
		return 1;
	session = walk->reg->scope[scope].session - 1;
	if (session >= MAX_SESSIONS)
		return 0;
	sampler = sample_plan.sampler_of[session];
	if (sampler)
		walk->found |= 1ULL << ((sampler - 1) % MAX_SAMPLERS);
	return 0;
}

/*
 * Return: the samplers of the scopes of a scope set. No more scopes than there are sessions: a wrong
 * parent must not keep the CPU in the loop.
 */
static __always_inline __u64 samplers_of(__u32 scope_set)
{
	struct scope_walk walk = {.scope_set = scope_set};
	__u32 zero = 0;

	if (!scope_set)
		return 0;
	walk.reg = bpf_map_lookup_elem(&registry, &zero);
	if (walk.reg)
		bpf_loop(MAX_SESSIONS, visit_scope, &walk, 0);
	return walk.found;
}

/* Return: the samplers that want a sample, by the scope sets that this CPU is charged to. */
static __always_inline __u64 find_samplers(const struct sample_plan *plan, __u64 users, __u32 cpu)
{
	__u64 of_tasks = users & plan->of_tasks, of_cgroups = users & plan->of_cgroups;
	__u64 want = users & ~(of_tasks | of_cgroups);
	struct cpu_state *state;

	if (want == users)
		return want;
	state = bpf_map_lookup_elem(&cpus, &cpu);
	if (!state)
		return want;
	if (of_tasks)
		want |= samplers_of(state->scope_set[SCOPE_SET_TASK]) & of_tasks;
	if (of_cgroups)
		want |= samplers_of(state->scope_set[SCOPE_SET_CGROUP]) & of_cgroups;
	return want;
}

/* --- ranges --- */

#define BORDER_BYTES sizeof(struct sample_border)

/*
 * Return: the samplers that have an address in their ranges. Positions are in bytes. No address is before
 * the first border, which is at 0.
 */
static __always_inline __u64 samplers_at(const struct sample_plan *plan, __u64 address)
{
	const volatile struct sample_ranges *ranges = &plan->ranges;
	const struct sample_range_half *half = (const void *)&ranges->half[ranges->in_use & 1];
	const void *borders = half->border;
	const struct sample_border *border;
	__u32 low = 0, next;

	asm volatile("" : "+r"(borders)); /* not another address in each turn */
	/* The verifier sees that the step is 0 in the end. */
	for (__u32 step = half->step % (2 * MAX_SAMPLE_BORDERS * BORDER_BYTES);
	     step >= BORDER_BYTES; step >>= 1) {
		next = (low + step) & ((MAX_SAMPLE_BORDERS - 1) * BORDER_BYTES);
		border = borders + next;
		if (border->start <= address)
			low = next;
	}
	border = borders + low;
	return border->samplers;
}

/* --- stacks --- */

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/* The verifier learns bounds from comparisons, and would walk what follows once for each value. */
static __always_inline __u32 nr_frames(const __u64 *stack)
{
	return STACK_NR(*(const volatile __u64 *)&stack[1]);
}

/* Not static, as in enter_stack(): the verifier walks it only once. Positions are those of words. */
__attribute__((noinline)) int is_same_stack(const struct sample_cpu *here, __u32 a, __u32 b)
{
	const __u64 *left, *right;
	__u32 nr;

	if (!here)
		return 0;
	left = &here->words[a % STORE_WORDS];
	right = &here->words[b % STORE_WORDS];
	if (left[0] != right[0] || left[1] != right[1])
		return 0;
	nr = nr_frames(left);
	for (__u32 i = 0; i < STACK_FRAMES; i++) {
		if (i >= nr)
			break;
		if (left[STACK_HEADER + i] != right[STACK_HEADER + i])
			return 0;
	}
	return 1;
}

/*
 * Enter the stack behind the head into the store, unless it is there. One that is there in the older
 * half of the ring is entered again, so that readers have at least half a round's time. One that is found
 * becomes the first to be looked at.
 *
 * Return: how far behind the head it is in the store.
 */
__attribute__((noinline)) __u64 enter_stack(struct sample_cpu *here)
{
	__u64 head, oldest = ~0ULL, next;
	__u32 off, first, victim;

	if (!here)
		return 0;
	head = here->head;
	off = head % STORE_WORDS;
	first = victim = (here->words[off] >> (64 - STORE_INDEX_BITS)) & -STORE_WAYS;
	for (__u32 way = 0; way < STORE_WAYS; way++) {
		__u32 place = first + way;
		__u64 pos = here->index[place];

		/* Another stack may be in its place, or it is too old. */
		if (pos && head - pos <= STORE_WORDS / 2 && is_same_stack(here, off, pos)) {
			here->index[place] = here->index[first];
			here->index[first] = pos;
			return head - pos;
		}
		if (pos < oldest) {
			oldest = pos;
			victim = place;
		}
	}
	here->index[victim % (1 << STORE_INDEX_BITS)] = head;
	next = head + STACK_HEADER + nr_frames(&here->words[off]);
	if (next - head > STORE_WORDS - off)
		next = (head | (STORE_WORDS - 1)) + 1;
	/* A full barrier: a reader that sees the next stack's words also sees this head. */
	__sync_lock_test_and_set(&here->head, next);
	return 0;
}

/* Hash the stack behind the head, which is one of a level. Not static, as in enter_stack(). */
__attribute__((noinline)) __u64 hash_stack(const struct sample_cpu *here, __u64 of)
{
	const __u64 *words;
	__u64 hash = of;
	__u32 nr;

	if (!here)
		return 0;
	words = &here->words[here->head % STORE_WORDS];
	nr = nr_frames(words);
	for (__u32 i = 0; i < STACK_FRAMES; i++) {
		if (i >= nr)
			break;
		hash = mix(hash, words[STACK_HEADER + i]);
	}
	return hash;
}

/* Return: the position of the current stack of a level; 0: none, or it could not be read. */
static __attribute__((noinline)) __u64 store_stack(struct bpf_perf_event_data *ctx,
						   struct sample_cpu *here, __u64 of)
{
	__u64 head, *words;
	long size;

	if (!here->head)
		here->head = STACK_FIRST;
	head = here->head;
	words = &here->words[head % STORE_WORDS];
	size = bpf_get_stack(ctx, words + STACK_HEADER, STACK_FRAMES * sizeof(__u64),
			     of == STACK_OF_USER ? BPF_F_USER_STACK : 0);
	if (size <= 0)
		return 0;
	words[1] = STACK_HEAD(size / sizeof(__u64), of);
	words[0] = hash_stack(here, of);
	return head - enter_stack(here);
}

/* --- tables --- */

#define IN_FORM(words, i) ((words) >> (i)&1)

/* Without branches: the verifier would walk what follows once for each. */
static __always_inline __u64 difference(const struct sample_key *a, const struct sample_key *b,
					__u32 words)
{
	const __u64 *left = (const void *)a, *right = (const void *)b;
	__u64 bits = 0;

#pragma clang loop unroll(full)
	for (__u32 i = 0; i < SAMPLE_KEY_WORDS; i++)
		bits |= IN_FORM(words, i) ? left[i] ^ right[i] : 0;
	return bits;
}

static __always_inline __u64 hash_of(const struct sample_key *key, __u32 words)
{
	const __u64 *word = (const void *)key;
	__u64 hash = 0;

#pragma clang loop unroll(full)
	for (__u32 i = 0; i < SAMPLE_KEY_WORDS; i++)
		hash = IN_FORM(words, i) ? (hash ^ word[i]) * 0x9e3779b97f4a7c15ULL : hash;
	return hash ^ hash >> 32;
}

/* Make a session's key of all that a sample has. */
static __always_inline void make_key(struct sample_key *key, const struct sample_key *all,
				     const __u64 *mask)
{
	const __u64 *from = (const void *)all;
	__u64 *to = (void *)key;

#pragma clang loop unroll(full)
	for (__u32 i = 0; i < SAMPLE_KEY_WORDS; i++)
		to[i] = from[i] & mask[i];
}

static __always_inline struct sample_row *row_of(struct sample_table *table, __u64 hash)
{
	return &table->rows[table->half & 1][hash % SAMPLE_ROWS];
}

static __always_inline bool is_row_of(const struct sample_row *row, const struct sample_key *key,
				      __u32 words)
{
	return row->nr && !difference(&row->key, key, words);
}

/*
 * Add a sample to one of the first two rows that its hash leads to, if that is the row of its key.
 *
 * @hash: of the sample's key in the table's form, which has these words; 0: not known yet
 */
static __always_inline bool add_to_first(struct sample *sample, struct sample_table *table,
					 __u64 weight, __u64 *hash, __u32 words)
{
	struct sample_row *row;

	if (!*hash)
		*hash = hash_of(&sample->key, words);
	row = row_of(table, *hash);
	asm volatile("" : "+r"(row)); /* not another address for each word */
	if (!is_row_of(row, &sample->key, words)) {
		if (!row->nr)
			return false;
		row = row_of(table, *hash + 1);
		asm volatile("" : "+r"(row));
		if (!is_row_of(row, &sample->key, words))
			return false;
	}
	row->nr++;
	row->weight += weight;
	return true;
}

/* The name of the task that runs, or that a switch has chosen. */
static __always_inline void read_comm(void *comm)
{
	struct task_struct___sample *task = (void *)next_task(bpf_get_current_task_btf());

	/* A name that cannot be read is empty. */
	(void)bpf_probe_read_kernel(comm, sizeof(task->comm), task->comm);
}

static __always_inline void begin_row(struct sample_row *row, const struct sample_key *key,
				      __u64 weight)
{
	row->key = *key;
	read_comm(row->comm);
	row->weight = weight;
	row->nr = 1;
}

/*
 * Add a sample to a row of its key, or begin one. Not static, as in enter_stack().
 *
 * @all: all parts of the sample
 * @hash: of its key in the table's form; 0: the form is SAMPLE_FORM_ANY
 *
 * Return: the number of the row plus 1; 0: there was no room.
 */
__attribute__((noinline)) int add_to_any(struct sample_table *table, const struct sample_key *all,
					 __u64 hash, __u64 weight)
{
	__u64 comm[2] = {}, has_comm = 0;
	struct sample_key key;

	if (!table || !all)
		return 0;
	make_key(&key, all, table->mask);
	if (!hash)
		hash = hash_of(&key, SAMPLE_WORDS_ANY);
	if (table->needs & SAMPLE_NEEDS_COMM) {
		read_comm(comm);
		hash = mix(hash ^ comm[0], comm[1]);
		has_comm = -1;
	}
	for (__u32 i = 0; i < SAMPLE_PROBES; i++) {
		struct sample_row *row = row_of(table, hash + i);
		const __u64 *name = (const __u64 *)row->comm;

		if (!row->nr) {
			begin_row(row, &key, weight);
			return (hash + i) % SAMPLE_ROWS + 1;
		}
		if (difference(&row->key, &key, SAMPLE_WORDS_ANY) |
		    (((name[0] ^ comm[0]) | (name[1] ^ comm[1])) & has_comm))
			continue;
		row->nr++;
		row->weight += weight;
		return (hash + i) % SAMPLE_ROWS + 1;
	}
	return 0;
}

/*
 * Write the record of a single sample, if there is room. The session misses those without a record itself: their
 * row counts them. Not static, as in enter_stack().
 */
__attribute__((noinline)) int add_record(struct sample_table *table, __u32 sampler, __u32 row,
					 __u64 weight)
{
	__u32 cpu = bpf_get_smp_processor_id(), half, nr, at;
	struct sample_record *record;
	void *records;

	if (!table)
		return 0;
	half = table->half & 1;
	nr = table->nr_records[half];
	if (nr >= table->max_records)
		return 0;
	records = bpf_map_lookup_elem(&sample_records, &sampler);
	if (!records)
		return 0;
	at = (cpu * 2 + half) * table->max_records + nr;
	record = bpf_map_lookup_elem(records, &at);
	if (!record)
		return 0;
	record->time_ns = bpf_ktime_get_ns();
	record->weight = weight;
	record->row = row;
	table->nr_records[half] = nr + 1;
	return 1;
}

/* Mostly a row of the key is there, and is one of the first two that its hash leads to. */
static __always_inline void add_to_rows(struct sample *sample, struct sample_table *table,
					struct sample_event *event, __u32 sampler, __u64 weight)
{
	__u64 hash = 0;
	__u32 row;

	if (table->form == SAMPLE_FORM_IP) {
		if (add_to_first(sample, table, weight, &sample->hash[0], SAMPLE_WORDS_IP))
			return;
		hash = sample->hash[0];
	} else if (table->form == SAMPLE_FORM_STACKS) {
		if (add_to_first(sample, table, weight, &sample->hash[1], SAMPLE_WORDS_STACKS))
			return;
		hash = sample->hash[1];
	}
	row = add_to_any(table, &sample->key, hash, weight);
	if (!row) {
		event->lost.nr++;
		event->lost.weight += weight;
	} else if (table->max_records) {
		add_record(table, sampler, row - 1, weight);
	}
}

/*
 * Return: the weight of a sample for a session that wants them less often than the event makes them; 0:
 * this one is left out.
 */
static __always_inline __u64 thin(struct sample_event *event, __u64 weight)
{
	__u64 credit = event->credit + weight, nr;

	if (credit < event->period) {
		event->credit = credit;
		return 0;
	}
	nr = credit / event->period;
	event->credit = credit - nr * event->period;
	return nr * event->period;
}

/* The position of the only set bit, by the upper six bits of its product with DE_BRUIJN. */
static const __u8 positions[64] = {
	0,  1,	48, 2,	57, 49, 28, 3,	61, 58, 50, 42, 38, 29, 17, 4,	62, 55, 59, 36, 53, 51,
	43, 22, 45, 39, 33, 30, 24, 18, 12, 5,	63, 47, 56, 27, 60, 41, 37, 16, 54, 35, 52, 21,
	44, 32, 23, 11, 46, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19, 9,	13, 8,	7,  6,
};

#define DE_BRUIJN 0x03f79d71b4cb0a89ULL

/* clang 14 crashes on __builtin_ctzll(). */
static __always_inline __u32 lowest_bit(__u64 word)
{
	/* Samplers take the lowest places, so mostly the next one is the one behind the last. */
	if (word & 1)
		return 0;
	return positions[(word & -word) * DE_BRUIJN >> 58];
}

static __always_inline void give_to(struct sample *sample, __u32 sampler)
{
	struct sample_table *table;
	struct sample_event *event;
	__u64 weight = sample->weight;
	void *inner;

	inner = bpf_map_lookup_elem(&sample_tables, &sampler);
	table = inner ? bpf_map_lookup_elem(inner, &sample->cpu) : NULL;
	if (!table || !table->is_on)
		return;
	event = &table->event[sample->slot % MAX_SAMPLE_SLOTS];
	if (sample->is_idle && !event->takes_idle)
		return;
	if (event->period > weight || event->credit) {
		weight = thin(event, weight);
		if (!weight)
			return;
	}
	add_to_rows(sample, table, event, sampler, weight);
}

#define GIVEN_TO 4

/* Give the sample to some of the samplers that want it: to several, since a call costs. Not static, as in enter_stack(). */
__attribute__((noinline)) int give(struct sample *sample)
{
	__u32 next, skipped;
	__u64 want;

	if (!sample)
		return 0;
	want = sample->want;
	next = sample->next;
#pragma clang loop unroll(full)
	for (__u32 nr = 0; nr < GIVEN_TO; nr++) {
		skipped = lowest_bit(want);
		next += skipped;
		give_to(sample, next++);
		want = want >> skipped >> 1;
		if (!want)
			break;
	}
	sample->want = want;
	sample->next = next;
	return 0;
}

/* --- the sample --- */

/*
 * Return: the address of the sampled instruction. The offsets are the kernel's interface. In C the
 * compiler would add them to the context, which the verifier refuses.
 */
static __always_inline __u64 ip_of(const struct bpf_perf_event_data *ctx)
{
	__u64 ip;

	if (bpf_core_type_exists(struct user_pt_regs))
		asm volatile("%0 = *(u64 *)(%1 + 256)" : "=r"(ip) : "r"(ctx)); /* arm64: pc */
	else
		asm volatile("%0 = *(u64 *)(%1 + 128)" : "=r"(ip) : "r"(ctx)); /* x86-64: rip */
	return ip;
}

/* The upper half of the address space is the kernel's, on both architectures. */
static __always_inline bool is_user_address(__u64 ip)
{
	return !(ip >> 63);
}

/*
 * Return: whether this CPU is between the tracepoint of a switch and the change of the current task. User
 * mode never is.
 */
static __always_inline bool is_in_switch(struct task_struct *current)
{
	return next_task(current) != current;
}

/* The next task's, by a function of its own: the kernel checks each load from it, but not from the current. */
static __attribute__((noinline)) bool is_next_idle(struct task_struct *current)
{
	return !next_task(current)->pid;
}

static __always_inline void describe_task(struct sample *sample, struct task_struct___sample *task)
{
	struct task_struct___sample *leader = task->group_leader;

	sample->key.pid = task->tgid;
	sample->key.exec_id = task->self_exec_id;
	sample->key.start_ns = leader->start_boottime;
}

static __attribute__((noinline)) void describe_next(struct sample *sample,
						    struct task_struct *current)
{
	describe_task(sample, (void *)next_task(current));
}

/* Those parts that only keys of SAMPLE_FORM_ANY have. */
static __attribute__((noinline)) void describe_rest(struct bpf_perf_event_data *ctx,
						    struct sample *sample, __u32 needs)
{
	struct task_struct___sample *task = (void *)next_task(bpf_get_current_task_btf());

	sample->key.tid = task->pid;
	sample->key.prio = task->prio;
	if (needs & SAMPLE_NEEDS_ADDR)
		sample->key.addr = ctx->addr;
	if (needs & SAMPLE_NEEDS_CGROUP)
		sample->key.cgroup = bpf_get_current_cgroup_id();
}

/* Empty those parts that few sessions need. */
static __always_inline void begin_key(struct sample_key *key)
{
	key->kernel_stack = 0;
	key->user_stack = 0;
	key->cgroup = 0;
	key->addr = 0;
	key->tid = 0;
	key->prio = 0;
}

static __always_inline void take_stacks(struct bpf_perf_event_data *ctx, struct sample *sample,
					bool is_user, bool has_user, __u32 needs)
{
	struct sample_cpu *here = sample->here;

	if (needs & SAMPLE_NEEDS_KERNEL_STACK && !is_user)
		sample->key.kernel_stack = store_stack(ctx, here, 0);
	if (needs & SAMPLE_NEEDS_USER_STACK && has_user) {
		sample->key.user_stack = store_stack(ctx, here, STACK_OF_USER);
		if (!sample->key.user_stack)
			sample->key.user_stack = STACK_NO_USER;
	}
}

/*
 * Return: the weight of a sample: its period. In frequency mode software events sample with periods that
 * are not those that have passed (page-faults on 6.18: 3.6 times the count), so count.
 */
static __always_inline __u64 weigh(struct bpf_perf_event_data *ctx, struct sample_base *base)
{
	struct bpf_perf_event_value now;
	__u64 weight;

	if (!own.weighs_count || bpf_perf_prog_read_value(ctx, &now, sizeof(now)))
		return ctx->sample_period;
	weight = now.counter - base->last;
	base->last = now.counter;
	return weight;
}

/* Count the sample for the account of the slot. */
static __always_inline void note(struct sample_seen *seen, __u64 weight, bool is_idle)
{
	seen->all.nr++;
	seen->all.weight += weight;
	if (!is_idle)
		return;
	seen->idle.nr++;
	seen->idle.weight += weight;
}

/*
 * Return: 0, of which the verifier does not know that it is. It walks what follows once for each value that it
 * knows, so loading would take a half longer (kernel 7.3: more than the second that sessions wait for a lock).
 */
static __always_inline __u64 zero_of(__u64 any)
{
	__u64 zero = ~any;

	asm volatile("%0 &= %1" : "+r"(zero) : "r"(any));
	return zero;
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_struct___sample *task = (void *)current;
	__u32 cpu = bpf_get_smp_processor_id(), slot = own.slot % MAX_SAMPLE_SLOTS, needs;
	__u64 users, want, ip = ip_of(ctx), weight;
	struct sample_cpu *here = bpf_map_lookup_elem(&sample_cpus, &cpu);
	bool is_user = is_user_address(ip), is_between = false, is_idle = false;
	struct sample sample; /* what is not wanted costs nothing */
	struct sample_cpu_slot *there;
	struct sample_plan *plan;
	struct sample_slot *of;

	if (!here)
		return 0;
	there = &here->slot[slot];
	if (there->base.gen != own.gen)
		return 0;
	weight = weigh(ctx, &there->base);
	if (!is_user) {
		is_between = is_in_switch(current);
		is_idle = is_between ? is_next_idle(current) : !task->pid;
	}
	note(&there->seen, weight, is_idle);
	plan = &sample_plan;
	asm volatile("" : "+r"(plan)); /* its address is loaded once */
	of = &plan->slot[slot];
	users = of->users;
	if (users & plan->of_ranges) {
		users &= ~plan->of_ranges | samplers_at(plan, ip);
		if (!users)
			return 0;
	}
	want = find_samplers(plan, users, cpu);
	if (!want)
		return 0;
	sample.slot = slot;
	sample.weight = weight;
	sample.is_idle = is_idle;
	sample.here = here;
	sample.cpu = cpu;
	sample.hash[0] = sample.hash[1] = zero_of(weight);
	begin_key(&sample.key);
	sample.key.ip = ip;
	sample.key.flags = slot | (is_user ? SAMPLED_USER : 0);
	if (is_between)
		describe_next(&sample, current);
	else
		describe_task(&sample, task);
	needs = of->needs;
	if (needs & SAMPLE_NEEDS_REST)
		describe_rest(ctx, &sample, needs);
	/* In the middle of a switch the next task's memory is not there yet. */
	if (needs & (SAMPLE_NEEDS_KERNEL_STACK | SAMPLE_NEEDS_USER_STACK))
		take_stacks(ctx, &sample, is_user, !is_between && !(task->flags & PF_KTHREAD),
			    needs);
	/* Mostly there is one. */
	sample.next = lowest_bit(want);
	sample.want = want >> sample.next >> 1;
	give_to(&sample, sample.next++);
	for (__u32 i = 0; i < MAX_SAMPLERS / GIVEN_TO && sample.want; i++)
		give(&sample);
	return 0;
}

/* --- syncs --- */

struct sample_sync {
	struct sample_cpu *here;
	struct sample_table *table; /* NULL: close */
	__u64 slots;
	__u32 cpu;
};

/* Read a slot's event, what was in its place before included. Return: errno. */
static __always_inline __u64 read_slot(struct sample_sync *sync, __u32 nr,
				       struct bpf_perf_event_value *sum)
{
	struct sample_base *base = &sync->here->slot[nr].base;
	struct bpf_perf_event_value now = {};
	long err = 0;

	if (base->gen)
		err = bpf_perf_event_read_value(&sample_events, (__u64)nr * nr_cpus + sync->cpu,
						&now, sizeof(now));
	sum->counter = base->counter + now.counter;
	sum->enabled = base->enabled_ns + now.enabled;
	sum->running = base->running_ns + now.running;
	return -err;
}

static long sync_slot(__u32 nr, struct sample_sync *sync)
{
	struct bpf_perf_event_value sum;
	struct sample_reading *reading;
	struct sample_base *base;
	__u64 err;

	nr %= MAX_SAMPLE_SLOTS;
	if (!(sync->slots >> nr & 1))
		return 0;
	base = &sync->here->slot[nr].base;
	err = read_slot(sync, nr, &sum);
	if (!sync->table) {
		if (!err) {
			base->counter = sum.counter;
			base->enabled_ns = sum.enabled;
			base->running_ns = sum.running;
		}
		base->gen = 0;
		base->rate = 0;
		return 0;
	}
	reading = &sync->table->reading[nr];
	reading->seen = sync->here->slot[nr].seen;
	reading->err = err;
	if (err)
		return 0;
	reading->counter = sum.counter;
	reading->enabled_ns = sum.enabled;
	reading->running_ns = sum.running;
	return 0;
}

/*
 * Bring one CPU up to date for one session. Never attached; only BPF_PROG_TEST_RUN runs it. The arguments
 * are the sampler, operations (SAMPLE_*) and a mask of slots.
 *
 * A sample can interrupt this, but nothing that began before it is still under way when it returns. So a
 * half of a table that was turned away from is still.
 *
 * Return: 1 when done; 0: no such sampler. (Newer kernels skip a nested execution and also report 0.)
 */
SEC("raw_tp")
int on_sample_sync(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 sampler = ctx->args[0], ops = ctx->args[1];
	struct sample_sync sync = {.slots = ctx->args[2], .cpu = bpf_get_smp_processor_id()};
	__u32 cpu = sync.cpu;
	struct sample_table *table;
	void *inner;

	sync.here = bpf_map_lookup_elem(&sample_cpus, &cpu);
	if (!sync.here)
		return 0;
	if (ops & SAMPLE_CLOSE) {
		bpf_loop(MAX_SAMPLE_SLOTS, sync_slot, &sync, 0);
		return 1;
	}
	inner = bpf_map_lookup_elem(&sample_tables, &sampler);
	table = inner ? bpf_map_lookup_elem(inner, &cpu) : NULL;
	if (!table)
		return 0;
	sync.table = table;
	if (ops & SAMPLE_OFF)
		*(volatile __u32 *)&table->is_on = 0;
	if (ops & SAMPLE_FLIP)
		*(volatile __u32 *)&table->half ^= 1;
	if (ops & SAMPLE_READ)
		bpf_loop(MAX_SAMPLE_SLOTS, sync_slot, &sync, 0);
	barrier();
	if (ops & SAMPLE_ON)
		*(volatile __u32 *)&table->is_on = 1;
	return 1;
}
