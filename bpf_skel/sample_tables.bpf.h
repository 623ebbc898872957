/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_SAMPLE_TABLES_H
#define PERF_BPF_SAMPLE_TABLES_H

/* Part of sample.bpf.c, not a header: rows of samplers, with the keys of samples. */

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

static __always_inline void read_comm(void *comm, const struct sample *sample)
{
	/* A name that cannot be read is empty. */
	(void)bpf_probe_read_kernel(comm, sizeof(((struct sample_row *)NULL)->comm),
				    (const void *)sample->comm);
}

static __always_inline __u64 other_name(const struct sample_row *row, const __u64 *name)
{
	const __u64 *of = (const __u64 *)row->comm;

	return (of[0] ^ name[0]) | (of[1] ^ name[1]);
}

static __always_inline bool is_row_of(const struct sample_row *row, const struct sample *sample,
				      __u32 words, bool has_name)
{
	return row->nr && !(difference(&row->key, &sample->key, words) |
			    (has_name ? other_name(row, sample->name) : 0));
}

/* Read the task's name, for all sessions. Not static, as in enter_stack(). Return: nothing of interest */
__attribute__((noinline)) int find_name(struct sample *sample)
{
	if (!sample)
		return 0;
	read_comm(sample->name, sample);
	sample->hash[2] =
		mix(hash_of(&sample->key, SAMPLE_WORDS_STACKS) ^ sample->name[0], sample->name[1]);
	return 0;
}

/*
 * Add a sample to one of the first two rows that its hash leads to, if that is the row of its key.
 *
 * @hash: of the sample's key in the table's form, which has these words; 0: not known yet, without a name
 */
static __always_inline bool add_to_first(struct sample *sample, struct sample_table *table,
					 __u64 weight, __u64 *hash, __u32 words, bool has_name)
{
	struct sample_row *row;

	if (!has_name && !*hash)
		*hash = hash_of(&sample->key, words);
	row = row_of(table, *hash);
	asm volatile("" : "+r"(row)); /* not another address for each word */
	if (!is_row_of(row, sample, words, has_name)) {
		if (!row->nr)
			return false;
		row = row_of(table, *hash + 1);
		asm volatile("" : "+r"(row));
		if (!is_row_of(row, sample, words, has_name))
			return false;
	}
	row->nr++;
	row->weight += weight;
	return true;
}

static __always_inline void begin_row(struct sample_row *row, const struct sample_key *key,
				      const struct sample *sample, __u64 weight)
{
	row->key = *key;
	read_comm(row->comm, sample);
	row->weight = weight;
	row->nr = 1;
}

/*
 * Add a sample to a row of its key, or begin one. Not static, as in enter_stack().
 *
 * @hash: of its key in the table's form; 0: the form is SAMPLE_FORM_ANY
 *
 * Return: the number of the row plus 1; 0: there was no room.
 */
__attribute__((noinline)) int add_to_any(struct sample_table *table, const struct sample *sample,
					 __u64 hash, __u64 weight)
{
	__u64 has_name = 0;
	struct sample_key key;

	if (!table || !sample)
		return 0;
	make_key(&key, &sample->key, table->mask);
	if (!hash)
		hash = hash_of(&key, SAMPLE_WORDS_ANY);
	if (table->needs & SAMPLE_NEEDS_COMM) {
		if (table->form == SAMPLE_FORM_ANY)
			hash = mix(hash ^ sample->name[0], sample->name[1]);
		has_name = -1;
	}
	for (__u32 i = 0; i < SAMPLE_PROBES; i++) {
		struct sample_row *row = row_of(table, hash + i);

		if (!row->nr) {
			begin_row(row, &key, sample, weight);
			return (hash + i) % SAMPLE_ROWS + 1;
		}
		if (difference(&row->key, &key, SAMPLE_WORDS_ANY) |
		    (other_name(row, sample->name) & has_name))
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
		if (add_to_first(sample, table, weight, &sample->hash[0], SAMPLE_WORDS_IP, false))
			return;
		hash = sample->hash[0];
	} else if (table->form == SAMPLE_FORM_NAMED_STACKS) {
		if (add_to_first(sample, table, weight, &sample->hash[2], SAMPLE_WORDS_STACKS,
				 true))
			return;
		hash = sample->hash[2];
	} else if (table->form == SAMPLE_FORM_STACKS) {
		if (add_to_first(sample, table, weight, &sample->hash[1], SAMPLE_WORDS_STACKS,
				 false))
			return;
		hash = sample->hash[1];
	}
	row = add_to_any(table, sample, hash, weight);
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

/* @cpu: on the caller's stack, since 6.1 takes no memory of another function's for a key */
static __always_inline void give_to(struct sample *sample, __u32 sampler, const __u32 *cpu)
{
	struct sample_table *table;
	struct sample_event *event;
	__u64 weight = sample->weight;
	void *inner;

	inner = bpf_map_lookup_elem(&sample_tables, &sampler);
	table = inner ? bpf_map_lookup_elem(inner, cpu) : NULL;
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
	__u32 next, skipped, cpu;
	__u64 want;

	if (!sample)
		return 0;
	cpu = sample->cpu;
	want = sample->want;
	next = sample->next;
#pragma clang loop unroll(full)
	for (__u32 nr = 0; nr < GIVEN_TO; nr++) {
		skipped = lowest_bit(want);
		next += skipped;
		give_to(sample, next++, &cpu);
		want = want >> skipped >> 1;
		if (!want)
			break;
	}
	sample->want = want;
	sample->next = next;
	return 0;
}

#endif
