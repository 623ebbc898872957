/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_CGROUPS_H
#define PERF_BPF_LEADER_CGROUPS_H

/*
 * The part of leader.bpf.c that follows cgroups. It is loaded when the first run counts them: it
 * needs more of the kernel's types, and so takes longer to load than all the rest.
 *
 * What a CPU compares at a switch is the number of the cgroup, and the epoch in which its class was
 * looked up. Numbers are never used twice, so nothing that is kept by number can be mistaken for
 * something else when cgroups come and go; and nothing has to be deleted when they do.
 */
#include "kernel_types.bpf.h"
#include "leader_tasks.bpf.h"

/* epoch is written by user space under the lock, the others by on_mkdir. */
struct cgroup_clock cgroup_clock;

/* Cgroups with a class of their own. Written by user space under the lock. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct reg_cgroup);
	__uint(max_entries, MAX_CGROUPS);
} cgroups SEC(".maps");

/* Where they are, by their numbers. Written by user space under the lock. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u32);
	__uint(max_entries, MAX_CGROUPS);
} cgroup_ids SEC(".maps");

/* Written by user space under the lock where offered, by on_mkdir when taken. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct newborn);
	__uint(max_entries, MAX_NEWBORNS);
} newborns SEC(".maps");

/* --- the class of a cgroup --- */

/*
 * Where the fields are that lead upwards: worked out by programs and handed on. In a function of its
 * own the loader would search for the types also when no program is loaded that calls it.
 */
static __always_inline __u64 cgroup_offsets(void)
{
	return (__u64)bpf_core_field_offset(struct cgroup_subsys_state, cgroup) |
	       (__u64)bpf_core_field_offset(struct cgroup, kn) << 16 |
	       (__u64)bpf_core_field_offset(struct kernfs_node, id) << 32 |
	       (__u64)bpf_core_field_offset(struct cgroup_subsys_state, parent) << 48;
}

struct climb {
	__u64 css;		/* address of the cgroup's struct cgroup_subsys_state */
	__u64 offsets;
	__u32 class;
};

static __always_inline __u64 read_at(__u64 address, __u64 offset)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)(address + (offset & 0xffff)));
	return value;
}

/* The nearest cgroup with a class, from here upwards. Return: 1 when the search is over. */
static long climb(__u32 i __attribute__((unused)), struct climb *climb)
{
	__u64 kn = read_at(read_at(climb->css, climb->offsets), climb->offsets >> 16);
	__u64 id = read_at(kn, climb->offsets >> 32);
	__u32 *pos = bpf_map_lookup_elem(&cgroup_ids, &id);
	struct reg_cgroup *cgroup = pos ? bpf_map_lookup_elem(&cgroups, pos) : NULL;

	if (cgroup) {
		climb->class = cgroup->class;
		return 1;
	}
	climb->css = read_at(climb->css, climb->offsets >> 48);
	return !climb->css;
}

/* Deeper than any tree: the kernel's own limit is far below unless it is raised. */
#define MAX_DEPTH 4096

/* Not static: so the verifier walks it once. */
__attribute__((noinline)) int look_up_cgroup(__u64 css, __u64 offsets)
{
	struct climb at = { .css = css, .offsets = offsets };

	bpf_loop(MAX_DEPTH, climb, &at, 0);
	return at.class;
}

static __always_inline __u32 cgroup_class(struct cpu_state *state, struct cgroup_subsys_state *css,
					  __u64 id, __u32 epoch)
{
	/* The kernel counts them up. */
	__u32 idx = id % (1 << SEEN_BITS);
	struct seen_cgroup *seen = &state->seen[idx];

	if (seen->id == id && seen->epoch == epoch)
		return seen->class;
	/* The other one of the pair, which the older of the two is in. */
	seen = &state->seen[idx ^ 1];
	if (seen->id == id && seen->epoch == epoch)
		return seen->class;
	*seen = state->seen[idx];
	seen = &state->seen[idx];
	/* A full barrier: classes are not read before the epoch that they are kept for. */
	__sync_lock_test_and_set(&seen->id, id);
	seen->class = look_up_cgroup(address_of((void *)css, &state->next), cgroup_offsets());
	seen->epoch = epoch;
	return seen->class;
}

/* --- charging --- */

/*
 * At one switch the task's class may have changed, too, and on_switch been before us: what it read
 * is in its snapshot, with what is missing, and need not be read again.
 */
static __always_inline bool is_fresh(struct slice *slice, __u32 slot, __u32 gen,
				     struct bpf_perf_event_value *now)
{
	struct event_reading *fresh = &slice->state->snapshot[OF_TASK][slot];
	__u64 mask = slice->fresh[0]->mask[slot / 64] | slice->fresh[1]->mask[slot / 64];

	if (!(mask >> slot % 64 & 1) || fresh->gen != gen)
		return false;
	now->counter = fresh->counter;
	now->enabled = fresh->enabled_ns;
	now->running = fresh->running_ns;
	return true;
}

static long end_fresh(__u32 i, struct slice *slice)
{
	__u32 slot, gen;
	struct event_reading *snap;
	struct bpf_perf_event_value now;

	i %= SET_EVENTS;
	slot = slice->from->slot[i] % MAX_EVENTS;
	gen = slice->state->base[slot].gen;
	if (slice->from->is_switches[i] == CGROUP_SWITCHES || !is_fresh(slice, slot, gen, &now))
		return end_one(i, slice, false);
	snap = &slice->snapshot[slot];
	if (snap->gen == gen)
		add_difference(slice, i, snap, &now);
	set_snapshot(snap, &now, gen);
	return 0;
}

static long begin_fresh(__u32 i, struct slice *slice)
{
	__u32 slot, gen;
	struct bpf_perf_event_value now;

	i %= SET_EVENTS;
	slot = slice->to->slot[i] % MAX_EVENTS;
	gen = slice->state->base[slot].gen;
	if (slice->from->mask[slot / 64] >> slot % 64 & 1 ||
	    slice->to->is_switches[i] == CGROUP_SWITCHES || !is_fresh(slice, slot, gen, &now))
		return begin_one(i, slice, false);
	set_snapshot(&slice->snapshot[slot], &now, gen);
	return 0;
}

static __always_inline struct reg_set *set_of(__u32 id)
{
	struct reg_class *class = bpf_map_lookup_elem(&classes, &id);

	return class ? bpf_map_lookup_elem(&sets, &class->set) : NULL;
}

/* As charge(), with what was read for the task. Not static: so the verifier walks it once. */
__attribute__((noinline)) int charge_fresh(struct cpu_state *state, __u32 cpu, __u32 new,
					   __u32 missing)
{
	struct slice slice = {
		.state = state, .cpu = cpu,
	};
	bool is_same;

	if (!state)
		return 0;
	slice.snapshot = state->snapshot[OF_CGROUP];
	slice.fresh[0] = set_of(state->fresh[0]);
	slice.fresh[1] = set_of(state->fresh[1]);
	if (!slice.fresh[0] || !slice.fresh[1] ||
	    !find_sets(&slice, state->class[OF_CGROUP], new, missing, &is_same))
		return 0;
	raise_seq(&state->seq);
	if (slice.block)
		bpf_loop(slice.from->nr, end_fresh, &slice, 0);
	if (!is_same)
		bpf_loop(slice.to->nr, begin_fresh, &slice, 0);
	state->class[OF_CGROUP] = new;
	raise_seq(&state->seq);
	return 0;
}

/* --- programs --- */

/* Attached to sched_switch while somebody counts cgroups, beside on_switch for tasks. */
SEC("?raw_tp")
int on_cgroup_switch(void *ctx __attribute__((unused)))
{
	__u32 cpu = bpf_get_smp_processor_id(), epoch, class, missing;
	struct cpu_state *state = bpf_map_lookup_elem(&cpus, &cpu);
	struct task_struct *task;
	struct cgroup_subsys_state *css;
	__u64 id, fresh_task;

	if (!state)
		return 0;
	task = next_task(bpf_get_current_task_btf());
	css = cgroup_of(task);
	id = css->cgroup->kn->id;
	epoch = *(volatile __u32 *)&cgroup_clock.epoch;
	fresh_task = state->fresh_task;
	state->fresh_task = 0;
	if (state->cgroup == id && state->cgroup_epoch == epoch)
		return 0;
	if (state->busy) {
		state->lost++;
		return 0;
	}
	class = cgroup_class(state, css, id, epoch);
	missing = state->cgroup == id ? SAME_CGROUP : OTHER_CGROUP;
	state->cgroup = id;
	state->cgroup_epoch = epoch;
	if (state->class[OF_CGROUP] == class)
		return 0;
	/* That of the last switch was another task: on_switch may come behind us, too. */
	if (fresh_task && fresh_task == address_of(task, &state->next))
		charge_fresh(state, cpu, class, missing);
	else
		charge(state, cpu, OF_CGROUP, state->class[OF_CGROUP], class, true, missing);
	return 0;
}

/*
 * The current task's cgroup, or the class of that, may be another than at the last switch: charge
 * the old class, begin with the new one. The CPU is busy.
 */
static __always_inline void update_cgroup(struct cpu_state *state, __u32 cpu, bool if_moved)
{
	struct cgroup_subsys_state *css = cgroup_of(bpf_get_current_task_btf());
	__u32 epoch = *(volatile __u32 *)&cgroup_clock.epoch, class = state->class[OF_CGROUP];
	__u64 id = css->cgroup->kn->id;

	if (if_moved && state->cgroup == id)
		return;
	if (state->cgroup != id || state->cgroup_epoch != epoch)
		class = cgroup_class(state, css, id, epoch);
	charge(state, cpu, OF_CGROUP, state->class[OF_CGROUP], class, false, 0);
	state->cgroup = id;
	state->cgroup_epoch = epoch;
}

/*
 * Bring this CPU's cgroup class up to date, as on_sync does it for its task class. Never attached,
 * run by BPF_PROG_TEST_RUN only; returns 1 when done.
 */
SEC("?raw_tp")
int on_cgroup_sync(void *ctx __attribute__((unused)))
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_state *state = bpf_map_lookup_elem(&cpus, &cpu);

	if (!state)
		return 0;
	if (state->busy) {
		state->nested++;
		return 0;
	}
	begin_change(state);
	update_cgroup(state, cpu, false);
	end_change(state);
	return 1;
}

/*
 * A process was moved: when it moved itself its slice ends here. One that runs on another CPU is
 * charged to its old cgroup up to that CPU's next switch or sync.
 */
SEC("?raw_tp/cgroup_attach_task")
int on_attach(void *ctx __attribute__((unused)))
{
	unsigned long irq_flags;
	__u32 cpu;
	struct cpu_state *state = seize_cpu(&cpu, &irq_flags);

	if (state)
		update_cgroup(state, cpu, true);
	release_cpu(state, &irq_flags);
	return 0;
}

/*
 * A cgroup was made: nothing has run in it yet. mkdir() is serialized by the kernel, so nobody else
 * is here. One below a newborn gets what that one would have had, too: who finds the upper one adds
 * its scope to both (util/leader_cgroups.c).
 */
SEC("?raw_tp/cgroup_mkdir")
int on_mkdir(struct bpf_raw_tracepoint_args *ctx)
{
	struct cgroup *made = (void *)ctx->args[0];
	struct cgroup_subsys_state *css = css_of(made);
	__u32 idx = cgroup_clock.births % MAX_NEWBORNS, base, half;
	struct newborn *newborn = bpf_map_lookup_elem(&newborns, &idx);
	struct reg_class *class, *above;
	struct reg_cgroup *cgroup;

	if (!css || !newborn)
		return 0;
	half = (idx + MAX_NEWBORNS / 2) % MAX_NEWBORNS;
	base = look_up_cgroup((__u64)css, cgroup_offsets());
	above = bpf_map_lookup_elem(&classes, &base);
	class = bpf_map_lookup_elem(&classes, &newborn->class);
	cgroup = bpf_map_lookup_elem(&cgroups, &newborn->pos);
	if (!above || !class || !cgroup || newborn->state != NEWBORN_OFFERED) {
		cgroup_clock.missed++;
		goto call;
	}
	newborn->id = BPF_CORE_READ(css, cgroup, kn, id);
	newborn->parent = BPF_CORE_READ(css, parent, cgroup, kn, id);
	bpf_probe_read_kernel_str(newborn->name, sizeof(newborn->name),
				  BPF_CORE_READ(css, cgroup, kn, name));
	/* A class without a scope is a newborn's. */
	class->base = above->scope ? base : above->base;
	cgroup->class = newborn->class;
	/* Full barriers: whoever finds it finds its class complete; who sees it taken, all of it. */
	__sync_lock_test_and_set(&cgroup->id, newborn->id);
	bpf_map_update_elem(&cgroup_ids, &newborn->id, &newborn->pos, BPF_ANY);
	__sync_lock_test_and_set(&newborn->state, NEWBORN_TAKEN);
	cgroup_clock.births++;
	newborn = bpf_map_lookup_elem(&newborns, &half);
	if (newborn && newborn->state == NEWBORN_OFFERED)
		return 0;
call:
	call_runs(&idx);
	return 0;
}

#endif
