// SPDX-License-Identifier: GPL-2.0
/*
 * The pair of probes at one BPF program, for the events of all sessions.
 *
 * on_enter reads the leader's events, and on_leave adds the differences. Documentation/design.md
 * has the picture; util/bperf/prog_pair.c finds and loads pairs.
 */
#include "leader_events.bpf.h"
#include "prog_pair.h"

#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "GPL";

struct task_struct {
	unsigned long nvcsw;
	unsigned long nivcsw;
} __attribute__((preserve_access_index));

/* The counts. The programs on each CPU write it, user space reads it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32); /* CPU */
	__type(value, struct prog_cpu);
	__uint(max_entries, 1); /* nr_cpus, set before load */
} prog_cpus SEC(".maps");

/*
 * Executions that are under way, besides the last to begin on each CPU. The key is the address of
 * the trampoline's context on the stack. It is the same when an execution enters and leaves. No
 * two executions have the same at a time, even if one preempts or interrupts another.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u64);
	__type(value, struct prog_frame);
	__uint(max_entries, 1); /* MAX_FRAMES, set before load */
} prog_frames SEC(".maps");

/* The events to read. User space writes it under the lock. */
struct prog_columns plan;

/*
 * Read an event. A failed read zeroes the buffer, and an event's enabled time is never 0, so a 0
 * shows the failure. The time also never goes back, so a smaller one shows another event in its
 * place, which began later. It only stands still for long if the event is dead since its CPU was
 * offline.
 */
static __always_inline void read_event(__u32 first, __u32 cpu, struct sum *now)
{
	(void)bpf_perf_event_read_value(&events, first + cpu, (void *)now, sizeof(*now));
}

/* Read an event that may belong to another leader on this CPU. */
static __attribute__((noinline)) int read_any(__u32 i, __u32 cpu, struct sum *now)
{
	struct prog_column *column = &plan.column[i % MAX_COLUMNS];
	struct cpu_state *state = bpf_map_lookup_elem(&cpus, &cpu);
	__u32 slot = column->slot;
	struct event_base *base;
	void *inner;

	if (!state || slot >= MAX_EVENTS)
		return 0;
	base = &state->base[slot];
	inner = base->flags & EVENT_FOREIGN ? bpf_map_lookup_elem(&foreign, &slot) : NULL;
	/* As in read_event(): a failed read shows by its zeros. */
	if (inner)
		(void)bpf_perf_event_read_value(inner, base->foreign_idx, (void *)now,
						sizeof(*now));
	else
		read_event(column->first, cpu, now);
	return 0;
}

/* State of the loops over the columns that are not quick. */
struct rest {
	struct prog_cpu *state;
	struct prog_frame *frame;
	struct sum *to;
	__u32 from; /* the first of them */
	__u32 cpu;
};

/*
 * Do something for the quick columns @i below @nr, at the end of a function. It is unrolled by
 * hand. If anything follows, clang makes a loop of it, and Linux 6.1 refuses loops that are
 * entered by falling into them.
 */
#define ONE_QUICK(nr, n, what)                                                                     \
	do {                                                                                       \
		const __u32 i = n;                                                                 \
                                                                                                   \
		if (i >= (nr))                                                                     \
			return;                                                                    \
		what;                                                                              \
	} while (0)
#define EACH_QUICK(nr, what)                                                                       \
	do {                                                                                       \
		_Static_assert(QUICK_COLUMNS == 8, "so many lines follow");                        \
		ONE_QUICK(nr, 0, what);                                                            \
		ONE_QUICK(nr, 1, what);                                                            \
		ONE_QUICK(nr, 2, what);                                                            \
		ONE_QUICK(nr, 3, what);                                                            \
		ONE_QUICK(nr, 4, what);                                                            \
		ONE_QUICK(nr, 5, what);                                                            \
		ONE_QUICK(nr, 6, what);                                                            \
		ONE_QUICK(nr, 7, what);                                                            \
	} while (0)

static __always_inline void enter_one(struct prog_frame *frame, __u32 i, __u32 cpu)
{
	__u32 first = plan.column[i].first;

	frame->first[i] = first;
	read_event(first, cpu, &frame->event[i]);
}

static long enter_next(__u32 i, struct rest *rest)
{
	i += rest->from;
	if (i >= MAX_COLUMNS)
		return 1;
	rest->frame->first[i] = plan.column[i].first;
	read_any(i, rest->cpu, &rest->frame->event[i]);
	return 0;
}

static __attribute__((noinline)) int enter_rest(struct prog_cpu *state, __u32 from, __u32 nr,
						__u32 cpu)
{
	struct rest rest = {.frame = &state->frame, .from = from, .cpu = cpu};

	return bpf_loop(nr - from, enter_next, &rest, 0);
}

static __always_inline void enter_quick(struct prog_cpu *state, __u32 nr, __u32 cpu)
{
	EACH_QUICK(nr, enter_one(&state->frame, i, cpu));
}

static __always_inline void enter_all(struct prog_cpu *state, __u32 nr, __u32 cpu)
{
	__u32 nr_quick = plan.nr_quick;

	enter_quick(state, nr_quick, cpu);
	if (nr > nr_quick)
		enter_rest(state, nr_quick, nr, cpu);
}

static long read_next(__u32 i, struct rest *rest)
{
	i += rest->from;
	if (i >= MAX_COLUMNS)
		return 1;
	read_any(i, rest->cpu, &rest->state->now[i]);
	return 0;
}

static __attribute__((noinline)) int read_rest(struct prog_cpu *state, __u32 from, __u32 nr,
					       __u32 cpu)
{
	struct rest rest = {.state = state, .from = from, .cpu = cpu};

	return bpf_loop(nr - from, read_next, &rest, 0);
}

static __always_inline void read_quick(struct prog_cpu *state, __u32 nr, __u32 cpu)
{
	EACH_QUICK(nr, read_event(plan.column[i].first, cpu, &state->now[i]));
}

/* Read all columns into state->now. Return: their number. */
static __always_inline __u32 read_all(struct prog_cpu *state, __u32 cpu)
{
	__u32 nr_quick = plan.nr_quick, nr;

	read_quick(state, nr_quick, cpu);
	nr = plan.nr;
	if (nr > nr_quick)
		read_rest(state, nr_quick, nr, cpu);
	return nr;
}

/*
 * Return: true if a column's event has no valid difference. If its time goes back, it is another
 * event. The time may stand still for as long as a tick, as the kernel's clock does on CPUs with
 * an unstable clock. Otherwise a time that stands still shows a dead event, from before the CPU
 * was offline, or an event that another leader has stopped.
 */
__attribute__((noinline)) int is_dead(__u64 begin_ns, __u64 now_ns, __u32 i)
{
	__u32 cpu = bpf_get_smp_processor_id(), slot = plan.column[i % MAX_COLUMNS].slot;
	struct cpu_state *state = bpf_map_lookup_elem(&cpus, &cpu);

	return now_ns < begin_ns || !state || slot >= MAX_EVENTS ||
	       state->base[slot].epoch != state->epoch + 1 ||
	       state->base[slot].flags & EVENT_FOREIGN;
}

/* Return: true if the CPU lacks the event, so that a failed read is no error. */
__attribute__((noinline)) int is_absent(__u32 i)
{
	__u32 cpu = bpf_get_smp_processor_id(), slot = plan.column[i % MAX_COLUMNS].slot;
	struct cpu_state *state = bpf_map_lookup_elem(&cpus, &cpu);

	return state && slot < MAX_EVENTS && state->base[slot].flags & EVENT_ABSENT;
}

static __always_inline void add_one(struct prog_cpu *state, struct prog_frame *frame,
				    struct sum *sums, __u32 i)
{
	struct sum *begin = &frame->event[i], *now = &state->now[i], *to = &sums[i];
	__u64 enabled = now->enabled_ns;

	/* A read failed at the start or now, or the event is another one by now, or it is dead. */
	if (!begin->enabled_ns || frame->first[i] != plan.column[i].first ||
	    (enabled <= begin->enabled_ns && is_dead(begin->enabled_ns, enabled, i))) {
		state->unread[i] += !is_absent(i);
		return;
	}
	to->counter += now->counter - begin->counter;
	to->enabled_ns += enabled - begin->enabled_ns;
	to->running_ns += now->running_ns - begin->running_ns;
}

static long add_next(__u32 i, struct rest *rest)
{
	i += QUICK_COLUMNS;
	if (i >= MAX_COLUMNS)
		return 1;
	add_one(rest->state, rest->frame, rest->to, i);
	return 0;
}

static __attribute__((noinline)) int add_rest(struct prog_cpu *state, struct sum *to, __u32 nr)
{
	struct rest rest = {.state = state, .frame = &state->frame, .to = to};

	return bpf_loop(nr - QUICK_COLUMNS, add_next, &rest, 0);
}

static __always_inline void add_quick(struct prog_cpu *state, struct sum *to, __u32 nr)
{
	EACH_QUICK(nr, add_one(state, &state->frame, to, i));
}

static __always_inline void add_all(struct prog_cpu *state, struct sum *to, __u32 nr)
{
	add_quick(state, to, nr);
	if (nr > QUICK_COLUMNS)
		add_rest(state, to, nr);
}

/*
 * While on_leave works on this CPU, the kernel skips it for all others there. An execution that
 * begins in an interrupt meanwhile would leave unseen, so it gets no frame that another one could
 * find. So a frame that was left behind belongs to a task that has been switched out since. It is
 * never taken for that of an execution in one piece.
 */
SEC("fentry")
int on_enter(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), nr = plan.nr;
	struct prog_cpu *state = bpf_map_lookup_elem(&prog_cpus, &cpu);
	struct task_struct *task;

	if (!state || state->is_leaving)
		return 0;
	/*
	 * Save the frame of another one that is under way here. Without room, it ends unmeasured.
	 */
	if (state->frame.key && state->frame.key != (__u64)ctx) {
		state->frame.cpu = cpu;
		(void)bpf_map_update_elem(&prog_frames, &state->frame.key, &state->frame, BPF_ANY);
	}
	task = bpf_get_current_task_btf();
	state->frame.key = (__u64)ctx;
	state->frame.task = (__u64)task;
	state->frame.switches = task->nvcsw + task->nivcsw;
	state->frame.nr = nr;
	enter_all(state, nr, cpu);
	return 0;
}

/* Return: true if the task has kept the CPU since the execution began. */
static __always_inline bool is_in_one_piece(const struct prog_frame *frame)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return frame->task == (__u64)task && frame->switches == task->nvcsw + task->nivcsw;
}

/* Count an execution as unread for columns that came during it. */
static __always_inline void skip_new(struct prog_cpu *state, __u32 nr_begun, __u32 nr)
{
	for (; nr_begun < nr && nr_begun < MAX_COLUMNS; nr_begun++)
		state->unread[nr_begun]++;
}

/* End the execution that began last on this CPU; state->now has the readings. */
static __always_inline void leave_last(struct prog_cpu *state, __u32 nr)
{
	__u32 nr_begun = state->frame.nr;
	struct sum *to = state->sum;

	raise_seq(&state->seq);
	state->runs++;
	if (!is_in_one_piece(&state->frame)) {
		state->preempted++;
		to = state->preempted_sum;
	}
	add_all(state, to, nr_begun < nr ? nr_begun : nr);
	skip_new(state, nr_begun, nr);
	raise_seq(&state->seq);
	state->frame.key = 0;
}

static long add_any(__u32 i, struct rest *rest)
{
	if (i >= MAX_COLUMNS)
		return 1;
	add_one(rest->state, rest->frame, rest->to, i);
	return 0;
}

/* End another execution: it began before the last one, or unseen, or on another CPU. */
static __attribute__((noinline)) int leave_other(struct prog_cpu *state, __u32 cpu, __u32 nr)
{
	struct rest rest = {.state = state, .to = state->sum};
	__u32 nr_begun;

	rest.frame = bpf_map_lookup_elem(&prog_frames, &state->key);
	raise_seq(&state->seq);
	state->runs++;
	if (rest.frame && rest.frame->cpu == cpu) {
		nr_begun = rest.frame->nr;
		if (!is_in_one_piece(rest.frame)) {
			state->preempted++;
			rest.to = state->preempted_sum;
		}
		bpf_loop(nr_begun < nr ? nr_begun : nr, add_any, &rest, 0);
		skip_new(state, nr_begun, nr);
	} else {
		state->unmeasured++;
	}
	raise_seq(&state->seq);
	/* If the frame stays, the next execution with this context overwrites it. */
	if (rest.frame)
		(void)bpf_map_delete_elem(&prog_frames, &state->key);
	return 0;
}

/* It reads the events first, on_enter reads them last: so they count the least of our own work. */
SEC("fexit")
int on_leave(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), nr;
	struct prog_cpu *state = bpf_map_lookup_elem(&prog_cpus, &cpu);

	if (!state)
		return 0;
	*(volatile __u64 *)&state->is_leaving = 1;
	barrier();
	nr = read_all(state, cpu);
	if (state->frame.key == (__u64)ctx) {
		leave_last(state, nr);
	} else {
		state->key = (__u64)ctx;
		leave_other(state, cpu, nr);
	}
	barrier();
	*(volatile __u64 *)&state->is_leaving = 0;
	return 0;
}
