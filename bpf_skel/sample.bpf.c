// SPDX-License-Identifier: GPL-2.0
/*
 * Sampling: on_sample runs at each overflow of a sampling event, and counts the sample in the tables of
 * all sessions that want it. util/sample/sample_object.c loads it, with the leader's maps in place of
 * those in leader_events.bpf.h, leader_scopes.bpf.h and leader_wakeups.bpf.h.
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
#include "leader_calls.h"
#include "leader_events.bpf.h"
#include "leader_scopes.bpf.h"
#include "leader_wakeups.bpf.h"
#include "sample.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 nr_cpus = 1;

/* The parameters of this instance of on_sample. One variable, so that programs load its address once. */
const volatile struct {
	__u32 slot;
	__u32 gen;
	bool is_special;   /* one of these is set; others look only at this */
	bool weighs_count; /* samples weigh what the event counted since the last one */
	bool skips_user;   /* samples of user mode are only noted */
	bool skips_kernel;
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

struct hw_perf_event {
	__u64 interrupts;
};

struct perf_event {
	struct hw_perf_event hw;
};

struct bpf_perf_event_data_kern {
	struct perf_event *event;
};

/* The context. Its registers come first; their number depends on the architecture. */
struct bpf_perf_event_data {
	__u64 sample_period;
	__u64 addr;
};

#pragma clang attribute pop

#define PF_KTHREAD 0x00200000

/* Since Linux 6.2; no call. Only on_sample_gaps needs it. See leader_calls.h. */
static void *(*const bpf_cast_to_kern_ctx)(void *ctx) = (void *)CALL_KERNEL_CONTEXT;

/* hw_perf_event.interrupts of a throttled event */
#define INTERRUPTS_THROTTLED (~0ULL)

/*
 * A sample, with all that any session's key has. The key comes first: a pointer to it is one to the sample. On the stack
 * there is no more room: the kernel gives 512 bytes to a program, give() and add_to_any() together (6.1).
 */
struct sample {
	struct sample_key key;
	struct sample_cpu *here;
	__u64 comm;    /* address of the task's name */
	__u64 name[2]; /* a copy, where a session needs it, with hash[2] */
	__u64 hash[3]; /* of the key in the forms behind SAMPLE_FORM_ANY; 0: not needed yet */
	__u64 want;    /* bit per sampler, from `next` on */
	__u64 weight;
	__u32 cpu;
	__u16 next;
	__u8 is_idle;
	__u8 slot; /* a copy of `slot`, which is volatile */
};

/* --- samples in kernel mode --- */

/* Bits of such a sample. User mode has none. */
#define IN_SWITCH  1 /* between the change of the run queue's task and that of the current one */
#define IDLE	   2 /* it is the idle task's */
#define OF_NEXT	   4 /* within a switch: it is that of the next task, not of the current one */
#define NO_CGROUPS 8 /* within a switch: it is none of sessions that sample cgroups */

/* By helpers: the verifier looks no names up for them, and few samples are within a switch. */
static __always_inline struct task_struct *coming_task(void)
{
	struct task_struct *current = (void *)bpf_get_current_task();

	return BPF_CORE_READ(current, se.cfs_rq, rq, curr);
}

static __always_inline bool has_charged_task(const volatile struct cpu_state *state)
{
	return state->charged_task == (__u64)coming_task() &&
	       state->scope_set[SCOPE_SET_TASK] == state->fresh[1];
}

/* In hierarchies of cgroup v1 numbers are others, so this is true as soon as the cgroup is charged. */
static __always_inline bool has_charged_cgroup(const volatile struct cpu_state *state)
{
	return state->scope_set[SCOPE_SET_CGROUP] == state->charged_cgroup_set &&
	       state->cgroup != bpf_get_current_cgroup_id();
}

/*
 * A sample within a switch belongs to the task to which the CPU's slice is charged at that moment, as counts do.
 * Without a session that follows switches, the current task has it. Two programs charge tasks and cgroups. Between them
 * cgroups lose the sample to "other tasks", since it can only be described as one task's.
 *
 * Return: OF_NEXT and NO_CGROUPS, as they are.
 */
static __attribute__((noinline)) int look_within_switch(__u32 cpu, __u32 slot)
{
	const struct sample_plan *plan = &sample_plan;
	const volatile struct cpu_state *state = bpf_map_lookup_elem(&cpus, &cpu);
	__u64 users = plan->slot[slot % MAX_SAMPLE_SLOTS].takers;
	bool of_cgroups = users & plan->of_cgroups, is_next;

	if (!state)
		return 0;
	if (!(users & plan->of_tasks))
		return of_cgroups && has_charged_cgroup(state) ? OF_NEXT : 0;
	is_next = has_charged_task(state);
	return (is_next ? OF_NEXT : 0) |
	       (of_cgroups && has_charged_cgroup(state) != is_next ? NO_CGROUPS : 0);
}

/*
 * Return: the bits of a sample in kernel mode.
 *
 * Not static, as in enter_stack(): the verifier walks over each load of a pointer from the current task only once. For
 * each it looks three names up among all types of the kernel (6.12: five million instructions).
 */
__attribute__((noinline)) int kernel_state(__u32 cpu, __u32 slot)
{
	struct task_struct *current = bpf_get_current_task_btf(), *next = next_task(current);
	int bits;

	if (next == current)
		return current->pid ? 0 : IDLE;
	bits = look_within_switch(cpu, slot) | IN_SWITCH;
	return bits | ((bits & OF_NEXT ? next->pid : current->pid) ? 0 : IDLE);
}

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
static __always_inline __u64 find_samplers(const struct sample_plan *plan, __u64 users, __u32 cpu,
					   __u32 bits)
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
		want |= samplers_of(state->scope_set[SCOPE_SET_CGROUP]) & of_cgroups &
			-(__u64) !(bits & NO_CGROUPS);
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

#include "sample_stacks.bpf.h"
#include "sample_tables.bpf.h"

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

/* Return: the address of the task's name */
static __always_inline __u64 describe_task(struct sample_key *key,
					   struct task_struct___sample *task, __u32 needs)
{
	struct task_struct___sample *leader = task->group_leader;

	key->pid = task->tgid;
	key->exec_id = task->self_exec_id;
	key->start_ns = leader->start_boottime;
	if (needs & SAMPLE_NEEDS_REST) {
		key->tid = task->pid;
		key->prio = task->prio;
	}
	return (__u64)task->comm;
}

static __attribute__((noinline)) __u64 describe_next(struct sample_key *key)
{
	struct task_struct___sample *next = (void *)coming_task();

	key->pid = BPF_CORE_READ(next, tgid);
	key->exec_id = BPF_CORE_READ(next, self_exec_id);
	key->start_ns = BPF_CORE_READ(next, group_leader, start_boottime);
	key->tid = BPF_CORE_READ(next, pid);
	key->prio = BPF_CORE_READ(next, prio);
	return (__u64)&next->comm;
}

/* Add the parts that only keys of SAMPLE_FORM_ANY have, and that are not the task's. */
static __attribute__((noinline)) void describe_rest(struct bpf_perf_event_data *ctx,
						    struct sample *sample, __u32 needs, __u32 bits)
{
	if (needs & SAMPLE_NEEDS_ADDR)
		sample->key.addr = ctx->addr;
	if (!(needs & SAMPLE_NEEDS_CGROUP))
		return;
	if (bits & OF_NEXT)
		sample->key.cgroup = BPF_CORE_READ(coming_task(), cgroups, dfl_cgrp, kn, id);
	else
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
static __always_inline __u64 weigh(__u64 period, struct bpf_perf_event_data *ctx,
				   struct sample_base *base)
{
	struct bpf_perf_event_value now;
	__u64 weight;

	if (!own.weighs_count || bpf_perf_prog_read_value(ctx, &now, sizeof(now)))
		return period;
	weight = now.counter - base->last;
	base->last = now.counter;
	return weight;
}

static __always_inline void add_to_count(struct sample_count *count, __u64 weight)
{
	count->nr++;
	count->weight += weight;
}

/* Count the sample for the account of the slot. */
static __always_inline void note(struct sample_seen *seen, __u64 weight, bool is_idle)
{
	add_to_count(&seen->all, weight);
	if (is_idle)
		add_to_count(&seen->idle, weight);
}

static __always_inline void note_skipped(struct sample_seen *seen, __u64 weight, bool is_idle)
{
	note(seen, weight, is_idle);
	if (!is_idle)
		add_to_count(&seen->mode, weight);
}

/* --- throttling --- */

/*
 * Return: whether the kernel stops the event with this sample, until the next tick; without a call, since Linux 6.2.
 * Call this once in a program, since the verifier looks names up as in kernel_state().
 */
static __always_inline bool is_throttled(struct bpf_perf_event_data *ctx)
{
	struct bpf_perf_event_data_kern *kern = bpf_cast_to_kern_ctx(ctx);

	return kern->event->hw.interrupts == INTERRUPTS_THROTTLED;
}

/* Add a gap up to now. An idle CPU has no tick: then a gap can be long, and only a tick of it is a loss. */
static __always_inline void add_gap(struct sample_gaps *gaps, const struct sample_throttle *since,
				    __u64 counter, __u64 running_ns)
{
	__u64 ns = running_ns - since->running_ns, ticks = bpf_jiffies64() - since->jiffies;

	gaps->ns += ns;
	gaps->lost_ns += ticks > 2 ? ns / ticks : ns;
	gaps->counter += counter - since->counter;
}

/* Note a sample of the event in place that ends a gap, or begins one, or both. */
static __always_inline void note_edge(struct bpf_perf_event_data *ctx,
				      struct sample_cpu_slot *there, bool begins)
{
	struct sample_throttle *throttle = &there->throttle;
	struct sample_gaps *gaps = &throttle->gaps;
	struct bpf_perf_event_value now;
	__u64 ns;

	if (bpf_perf_prog_read_value(ctx, &now, sizeof(now)))
		return;
	ns = now.running - throttle->running_ns;
	if (there->base.gen & SAMPLE_IN_GAP) {
		add_gap(gaps, throttle, now.counter, now.running);
		gaps->weight += ctx->sample_period;
	} else if (ns <= SAMPLE_MAX_BURST_NS) {
		gaps->burst_ns += ns;
		gaps->burst_counter += now.counter - throttle->counter;
	}
	throttle->counter = now.counter;
	throttle->running_ns = now.running;
	throttle->jiffies = bpf_jiffies64();
	there->base.gen = begins ? own.gen | SAMPLE_IN_GAP : own.gen;
}

static __attribute__((noinline)) int begin_gap(struct bpf_perf_event_data *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), slot = own.slot % MAX_SAMPLE_SLOTS;
	struct sample_cpu *here = bpf_map_lookup_elem(&sample_cpus, &cpu);

	if (here && (here->slot[slot].base.gen & ~SAMPLE_IN_GAP) == own.gen)
		note_edge(ctx, &here->slot[slot], true);
	return 0;
}

/*
 * Return: whether the sample is one of the event in place, although a gap is under way. It ends the gap, unless it
 * begins it.
 */
static __attribute__((noinline)) bool is_in_gap(struct bpf_perf_event_data *ctx,
						struct sample_cpu_slot *there, bool begins)
{
	if (there->base.gen != (own.gen | SAMPLE_IN_GAP))
		return false;
	if (!begins)
		note_edge(ctx, there, false);
	return true;
}

/*
 * Return: 0, as a value that the verifier does not know. It walks the rest once for each value that it knows. So loading would take a half longer (kernel 7.3: more than the second that sessions wait for a lock).
 */
static __always_inline __u64 zero_of(__u64 any)
{
	__u64 zero = ~any;

	asm volatile("%0 &= %1" : "+r"(zero) : "r"(any));
	return zero;
}

/* @begins: the kernel stops the event with this sample */
static __always_inline void take_sample(struct bpf_perf_event_data *ctx, bool sees_gaps,
					bool begins)
{
	__u32 cpu = bpf_get_smp_processor_id(), slot = own.slot % MAX_SAMPLE_SLOTS, needs;
	struct sample_cpu *here = bpf_map_lookup_elem(&sample_cpus, &cpu);
	bool is_user, is_idle;
	__u32 bits = 0;
	struct task_struct___sample *task;
	__u64 users, want, ip, weight;
	struct sample sample; /* what is not wanted costs nothing */
	struct sample_cpu_slot *there;
	struct sample_plan *plan;
	struct sample_slot *of;

	if (!here)
		return;
	there = &here->slot[slot];
	if (there->base.gen != own.gen && !(sees_gaps && is_in_gap(ctx, there, begins)))
		return;
	/* Behind all calls for gaps: while there are calls, registers are few. */
	task = (void *)bpf_get_current_task_btf();
	ip = ip_of(ctx);
	is_user = is_user_address(ip);
	if (!is_user)
		bits = kernel_state(cpu, slot);
	is_idle = bits & IDLE;
	weight = ctx->sample_period;
	if (own.is_special) {
		if (is_user ? own.skips_user : own.skips_kernel) {
			note_skipped(&there->seen, weight, is_idle);
			return;
		}
		weight = weigh(weight, ctx, &there->base);
	}
	note(&there->seen, weight, is_idle);
	plan = &sample_plan;
	asm volatile("" : "+r"(plan)); /* its address is loaded once */
	of = &plan->slot[slot];
	users = of->takers;
	if (users & plan->of_ranges) {
		users &= ~plan->of_ranges | samplers_at(plan, ip);
		if (!users)
			return;
	}
	want = find_samplers(plan, users, cpu, bits);
	if (!want)
		return;
	sample.slot = slot;
	sample.weight = weight;
	sample.is_idle = is_idle;
	sample.here = here;
	sample.cpu = cpu;
	sample.hash[0] = sample.hash[1] = sample.hash[2] = zero_of(weight);
	sample.name[0] = sample.name[1] = 0;
	begin_key(&sample.key);
	sample.key.ip = ip;
	sample.key.flags = slot | (is_user ? SAMPLED_USER : 0);
	needs = of->needs;
	sample.comm = bits & OF_NEXT ? describe_next(&sample.key) :
				       describe_task(&sample.key, task, needs);
	if (needs & SAMPLE_NEEDS_REST)
		describe_rest(ctx, &sample, needs, bits);
	/* In the middle of a switch the next task's memory is not there yet. */
	if (needs & (SAMPLE_NEEDS_KERNEL_STACK | SAMPLE_NEEDS_USER_STACK))
		take_stacks(ctx, &sample, is_user,
			    !((bits & IN_SWITCH) | (task->flags & PF_KTHREAD)), needs);
	if (needs & SAMPLE_NEEDS_COMM)
		find_name(&sample);
	/* Mostly there is one. */
	sample.next = lowest_bit(want);
	sample.want = want >> sample.next >> 1;
	give_to(&sample, sample.next++, &sample.cpu);
	for (__u32 i = 0; i < MAX_SAMPLERS / GIVEN_TO && sample.want; i++)
		give(&sample);
}

/* In place of take_sample() where programs can see throttling. */
static __always_inline void take_with_gaps(struct bpf_perf_event_data *ctx)
{
	/* First, while no registers are in use. */
	bool begins = is_throttled(ctx);

	if (begins)
		begin_gap(ctx);
	take_sample(ctx, true, begins);
}

SEC("?" SECTION_SAMPLE)
int on_sample(struct bpf_perf_event_data *ctx)
{
	take_sample(ctx, false, false);
	return 0;
}

SEC("?" SECTION_SAMPLE)
int on_sample_gaps(struct bpf_perf_event_data *ctx)
{
	take_with_gaps(ctx);
	return 0;
}

/*
 * The same for samples of software events but clocks, and of breakpoints: interrupts are on, so that a sync can come in
 * between. Others do not pay for the mark.
 */
static __always_inline struct sample_cpu *mark_busy(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sample_cpu *here = bpf_map_lookup_elem(&sample_cpus, &cpu);

	if (here)
		*(volatile __u32 *)&here->busy = 1;
	barrier();
	return here;
}

static __always_inline void end_busy(struct sample_cpu *here)
{
	barrier();
	*(volatile __u32 *)&here->busy = 0;
}

SEC("?" SECTION_SAMPLE)
int on_soft_sample(struct bpf_perf_event_data *ctx)
{
	struct sample_cpu *here = mark_busy();

	if (!here)
		return 0;
	take_sample(ctx, false, false);
	end_busy(here);
	return 0;
}

SEC("?" SECTION_SAMPLE)
int on_soft_gaps(struct bpf_perf_event_data *ctx)
{
	struct sample_cpu *here = mark_busy();

	if (!here)
		return 0;
	take_with_gaps(ctx);
	end_busy(here);
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

/* Add the part of a gap that is under way, if there is one. It can take long. */
static __always_inline void add_begun_gap(struct sample_gaps *gaps,
					  const struct sample_cpu_slot *there, __u32 gen,
					  const struct bpf_perf_event_value *sum)
{
	__u64 running_ns = sum->running - there->base.running_ns;

	/* A sample may have come after the event was read. */
	if (gen & SAMPLE_IN_GAP && running_ns >= there->throttle.running_ns)
		add_gap(gaps, &there->throttle, sum->counter - there->base.counter, running_ns);
}

/* From the start samples are ignored, so nothing else writes the gaps. */
static __always_inline void close_slot(struct sample_cpu_slot *there,
				       const struct bpf_perf_event_value *sum, __u64 err)
{
	struct sample_base *base = &there->base;
	__u32 gen = base->gen;

	*(volatile __u32 *)&base->gen = 0;
	barrier();
	base->rate = 0;
	if (err)
		return;
	add_begun_gap(&there->throttle.gaps, there, gen, sum);
	base->counter = sum->counter;
	base->enabled_ns = sum->enabled;
	base->running_ns = sum->running;
}

static long sync_slot(__u32 nr, struct sample_sync *sync)
{
	struct bpf_perf_event_value sum;
	struct sample_cpu_slot *there;
	struct sample_reading *reading;
	__u64 err;

	nr %= MAX_SAMPLE_SLOTS;
	if (!(sync->slots >> nr & 1))
		return 0;
	there = &sync->here->slot[nr];
	err = read_slot(sync, nr, &sum);
	if (!sync->table) {
		close_slot(there, &sum, err);
		return 0;
	}
	reading = &sync->table->reading[nr];
	reading->seen = there->seen;
	reading->err = err;
	if (err)
		return 0;
	reading->counter = sum.counter;
	reading->enabled_ns = sum.enabled;
	reading->running_ns = sum.running;
	reading->gaps = there->throttle.gaps;
	add_begun_gap(&reading->gaps, there, there->base.gen, &sum);
	return 0;
}

/* Return: 1; 0: no such sampler */
static __always_inline __u32 sync_here(const struct bpf_raw_tracepoint_args *ctx,
				       struct sample_cpu *here, __u32 cpu)
{
	__u32 sampler = ctx->args[0], ops = ctx->args[1];
	struct sample_sync sync = {.here = here, .slots = ctx->args[2], .cpu = cpu};
	struct sample_table *table;
	void *inner;

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

/*
 * Bring one CPU up to date for one session. Never attached; only BPF_PROG_TEST_RUN runs it. The arguments
 * are the sampler, operations (SAMPLE_*) and a mask of slots.
 *
 * A sample can interrupt this, but nothing that began before it is still under way when it returns. So a
 * half of a table that was turned away from is still.
 *
 * Return: 1 when done; 0: no such sampler, or a sample or another sync is under way here. (Newer kernels skip a
 * nested execution and also report 0.)
 */
SEC("raw_tp")
int on_sample_sync(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), done;
	struct sample_cpu *here = bpf_map_lookup_elem(&sample_cpus, &cpu);

	if (!here)
		return 0;
	if (ctx->args[1] & SAMPLE_WAKE) {
		wake_sessions(&cpu);
		return 1;
	}
	if (*(volatile __u32 *)&here->busy || *(volatile __u32 *)&here->syncing)
		return 0;
	*(volatile __u32 *)&here->syncing = 1;
	barrier();
	done = sync_here(ctx, here, cpu);
	barrier();
	*(volatile __u32 *)&here->syncing = 0;
	return done;
}
