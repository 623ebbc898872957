/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_SAMPLE_STACKS_H
#define PERF_BPF_SAMPLE_STACKS_H

/* Part of sample.bpf.c, not a header: stacks, each once in the ring of a CPU. */

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

static __always_inline bool differ(const __u64 *left, const __u64 *right)
{
	return (left[0] ^ right[0]) | (left[1] ^ right[1]) | (left[2] ^ right[2]) |
	       (left[3] ^ right[3]);
}

/* Not static, as in enter_stack(): the verifier walks it only once. Positions are those of words. */
__attribute__((noinline)) int is_same_stack(const struct sample_cpu *here, __u32 a, __u32 b)
{
	const __u64 *left, *right;
	__u32 nr, i;

	if (!here)
		return 0;
	left = &here->words[a % STORE_WORDS];
	right = &here->words[b % STORE_WORDS];
	if (left[0] != right[0] || left[1] != right[1])
		return 0;
	nr = nr_frames(left);
	left += STACK_HEADER;
	right += STACK_HEADER;
	/* Four in a turn: the ends of turns cost as much as the comparisons. */
	for (i = 0; i < STACK_FRAMES / 4 * 4 && i + 4 <= nr; i += 4) {
		if (differ(left + i, right + i))
			return 0;
	}
	for (; i < STACK_FRAMES && i < nr; i++) {
		if (left[i] != right[i])
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
	__u32 nr, i;

	if (!here)
		return 0;
	words = &here->words[here->head % STORE_WORDS];
	nr = nr_frames(words);
	words += STACK_HEADER;
	/* Four in a turn, as above. */
	for (i = 0; i < STACK_FRAMES / 4 * 4 && i + 4 <= nr; i += 4)
		hash = mix(mix(mix(mix(hash, words[i]), words[i + 1]), words[i + 2]), words[i + 3]);
	for (; i < STACK_FRAMES && i < nr; i++)
		hash = mix(hash, words[i]);
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

#endif
