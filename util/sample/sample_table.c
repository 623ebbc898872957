// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_table.h"

#include "util/lib/util.h"
#include "util/sample/sample_types.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* --- keys --- */

static const struct {
	uint32_t part;
	uint32_t need;
	size_t offset, size;
} parts_of_key[] = {
	{SAMPLE_KERNEL_STACK, SAMPLE_NEEDS_KERNEL_STACK, offsetof(struct sample_key, kernel_stack),
	 8},
	{SAMPLE_USER_STACK, SAMPLE_NEEDS_USER_STACK, offsetof(struct sample_key, user_stack), 8},
	{SAMPLE_PROCESS, 0, offsetof(struct sample_key, start_ns), 8},
	{SAMPLE_PROCESS, 0, offsetof(struct sample_key, pid), 4},
	{SAMPLE_PROCESS, 0, offsetof(struct sample_key, exec_id), 4},
	{SAMPLE_THREAD, 0, offsetof(struct sample_key, tid), 4},
	{SAMPLE_CGROUP, SAMPLE_NEEDS_CGROUP, offsetof(struct sample_key, cgroup), 8},
	{SAMPLE_IP, 0, offsetof(struct sample_key, ip), 8},
	{SAMPLE_ADDR, SAMPLE_NEEDS_ADDR, offsetof(struct sample_key, addr), 8},
	{SAMPLE_PRIO, 0, offsetof(struct sample_key, prio), 4},
	{SAMPLE_COMM, SAMPLE_NEEDS_COMM, 0, 0},
};

/* Return: whether a mask has all bits of these words, and no others. */
static bool is_form(const __u64 *mask, uint32_t words)
{
	for (size_t i = 0; i < SAMPLE_KEY_WORDS; i++)
		if (mask[i] != (words >> i & 1 ? ~0ULL : 0))
			return false;
	return true;
}

/* Records of single samples are for SAMPLE_FORM_ANY alone. */
static void set_form(struct sample_table *table)
{
	bool has_name = table->needs & SAMPLE_NEEDS_COMM;

	if (!table->max_records && !has_name && is_form(table->mask, SAMPLE_WORDS_IP))
		table->form = SAMPLE_FORM_IP;
	else if (!table->max_records && is_form(table->mask, SAMPLE_WORDS_STACKS))
		table->form = has_name ? SAMPLE_FORM_NAMED_STACKS : SAMPLE_FORM_STACKS;
	else
		table->form = SAMPLE_FORM_ANY;
	if (table->form == SAMPLE_FORM_ANY)
		table->needs |= SAMPLE_NEEDS_REST;
}

#define WITH_LEVEL (SAMPLE_LEVEL | SAMPLE_IP | SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK)

void sample_table__set_key(struct sample_table *table, uint32_t parts, unsigned int addr_bits)
{
	uint8_t *mask = (uint8_t *)table->mask;
	__u64 flags = parts & WITH_LEVEL ? ~0ULL : SAMPLED_SLOT(~0ULL);

	memset(mask, 0, sizeof(table->mask));
	table->needs = 0;
	for (size_t i = 0; i < ARRAY_SIZE(parts_of_key); i++) {
		if (!(parts & parts_of_key[i].part))
			continue;
		memset(mask + parts_of_key[i].offset, 0xff, parts_of_key[i].size);
		table->needs |= parts_of_key[i].need;
	}
	memcpy(mask + offsetof(struct sample_key, flags), &flags, sizeof(flags));
	table->mask[offsetof(struct sample_key, addr) / 8] &= ~0ULL << addr_bits;
	set_form(table);
}

/* --- stacks --- */

/*
 * Return: whether the words from a position on are intact. Words behind the head are written before the
 * head moves, and a stack reaches STACK_WORDS at most.
 */
static bool is_intact(const struct sample_cpu *cpu, uint64_t pos)
{
	uint64_t head = __atomic_load_n(&cpu->head, __ATOMIC_RELAXED);

	return pos < head && head - pos <= STORE_WORDS - STACK_WORDS;
}

int sample_table__read_stack(const struct sample_cpu *cpu, uint64_t pos, uint64_t *frames)
{
	const uint64_t *words = (const uint64_t *)cpu->words + pos % STORE_WORDS;
	uint32_t nr;

	if (!is_intact(cpu, pos))
		return -ESTALE;
	nr = STACK_NR(__atomic_load_n(&words[1], __ATOMIC_RELAXED));
	if (nr > STACK_FRAMES)
		return -ESTALE;
	for (uint32_t i = 0; i < nr; i++)
		frames[i] = __atomic_load_n(&words[STACK_HEADER + i], __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return is_intact(cpu, pos) ? (int)nr : -ESTALE;
}
