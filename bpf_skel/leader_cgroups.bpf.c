// SPDX-License-Identifier: GPL-2.0
/*
 * The leader's object for counting by cgroup, loaded when the first session counts cgroups.
 *
 * At a switch a CPU compares the number of the cgroup, and the epoch in which it looked up the
 * cgroup's scope set. The kernel never uses a number twice. So data kept by number stays correct
 * when cgroups come and go, and nothing has to be deleted then.
 */
#include "kernel_types.bpf.h"
#include "leader_irq.bpf.h"
#include "leader_slices.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* User space writes `epoch` under the lock; on_mkdir and on_above write the rest. */
struct cgroup_clock cgroup_clock;

/* The slice of each CPU's cgroup. The programs on that CPU write them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32); /* CPU */
	__type(value, struct cgroup_slice);
	__uint(max_entries, 1); /* nr_cpus, set before load */
} cgroup_slices SEC(".maps");

/* Cgroups with a scope set of their own. User space writes it under the lock of tasks. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct reg_cgroup);
	__uint(max_entries, MAX_CGROUPS);
} cgroups SEC(".maps");

/*
 * Their positions, by their numbers. User space writes it under the lock of tasks, on_mkdir without it.
 * on_mkdir must not depend on free memory. So the elements are allocated with the map (1.3 MB).
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u64);
	__type(value, __u32);
	__uint(max_entries, MAX_CGROUPS);
} cgroup_ids SEC(".maps");

/* The cgroup pool. User space fills entries under the lock of tasks; on_mkdir takes them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct pool_entry);
	__uint(max_entries, MAX_POOL_ENTRIES);
} pool SEC(".maps");

/* Wakeups, as `wakeups`, only for the sessions that watch for new cgroups. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1); /* a page, set before load */
} created SEC(".maps");

/* --- the scope set of a cgroup --- */

/*
 * Offsets of the fields that lead to the parent. Programs compute them and pass them on: in a
 * global function, the loader would search for the types even if no loaded program calls it.
 */
static __always_inline __u64 cgroup_offsets(void)
{
	return (__u64)bpf_core_field_offset(struct cgroup_subsys_state, cgroup) |
	       (__u64)bpf_core_field_offset(struct cgroup, kn) << 16 |
	       (__u64)bpf_core_field_offset(struct kernfs_node, id) << 32 |
	       (__u64)bpf_core_field_offset(struct cgroup_subsys_state, parent) << 48;
}

struct climb {
	__u64 css; /* address of the cgroup's struct cgroup_subsys_state */
	__u64 offsets;
	__u32 scope_set;
};

static __always_inline __u64 read_at(__u64 address, __u64 offset)
{
	__u64 value = 0;

	/* A failed read leaves 0, which ends the climb. */
	(void)bpf_probe_read_kernel(&value, sizeof(value), (void *)(address + (offset & 0xffff)));
	return value;
}

/* Look for the nearest cgroup with a scope set, from here upwards. Return: 1 to end the search. */
static long climb(__u32 i __attribute__((unused)), struct climb *climb)
{
	__u64 kn = read_at(read_at(climb->css, climb->offsets), climb->offsets >> 16);
	__u64 id = read_at(kn, climb->offsets >> 32);
	__u32 *pos = bpf_map_lookup_elem(&cgroup_ids, &id);
	struct reg_cgroup *cgroup = pos ? bpf_map_lookup_elem(&cgroups, pos) : NULL;

	if (cgroup) {
		climb->scope_set = cgroup->scope_set;
		return 1;
	}
	climb->css = read_at(climb->css, climb->offsets >> 48);
	return !climb->css;
}

/* Deeper than any tree: the kernel's own limit is far lower, unless an administrator raises it. */
#define MAX_DEPTH 4096

/* Not static, so that the verifier walks it only once. */
__attribute__((noinline)) int look_up_cgroup(__u64 css, __u64 offsets)
{
	struct climb at = {.css = css, .offsets = offsets};

	bpf_loop(MAX_DEPTH, climb, &at, 0);
	return at.scope_set;
}

static __always_inline __u32 cgroup_scope_set(struct cpu_state *state, struct cgroup_slice *own,
					      struct cgroup_subsys_state *css, __u64 id,
					      __u32 epoch)
{
	/* The kernel numbers cgroups upwards, so these bits spread them. */
	__u32 idx = id % (1 << SEEN_BITS);
	struct seen_cgroup *seen = &own->seen[idx];

	if (seen->id == id && seen->epoch == epoch)
		return seen->scope_set;
	/* The other place of the pair, which has the older one. */
	seen = &own->seen[idx ^ 1];
	if (seen->id == id && seen->epoch == epoch)
		return seen->scope_set;
	*seen = own->seen[idx];
	seen = &own->seen[idx];
	/* A full barrier: read no scope set before the epoch that it is kept for. */
	__sync_lock_test_and_set(&seen->id, id);
	seen->scope_set = look_up_cgroup(address_of(css, &state->next), cgroup_offsets());
	seen->epoch = epoch;
	return seen->scope_set;
}

/* --- charging --- */

/*
 * Reuse a reading of on_task_switch. If the task's scope set also changed at this switch, on_task_switch has
 * run before us. Its snapshot then has the readings, with what the kernel counts later already
 * added.
 */
static __always_inline bool is_fresh(struct slice *slice, __u32 slot, __u32 gen,
				     struct bpf_perf_event_value *now)
{
	struct event_reading *fresh = &slice->task->snapshot[slot];
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

	if (i >= SET_EVENTS)
		return 1;
	slot = slice->from->slot[i] % MAX_EVENTS;
	gen = slice->state->base[slot].gen;
	if (slice->from->is_switches[i] == SWITCH_EVENT_CGROUP || !is_fresh(slice, slot, gen, &now))
		return end_one(i, slice, false);
	snap = &slice->snapshot[slot];
	if (snap->gen == gen)
		add_difference(slice, i, snap, &now);
	else
		note_dead(slice);
	set_snapshot(snap, &now, gen);
	return 0;
}

static long begin_fresh(__u32 i, struct slice *slice)
{
	__u32 slot, gen;
	struct bpf_perf_event_value now;

	if (i >= SET_EVENTS)
		return 1;
	slot = slice->to->slot[i] % MAX_EVENTS;
	gen = slice->state->base[slot].gen;
	if (slice->from->mask[slot / 64] >> slot % 64 & 1 ||
	    slice->to->is_switches[i] == SWITCH_EVENT_CGROUP || !is_fresh(slice, slot, gen, &now))
		return begin_one(i, slice, false);
	set_snapshot(&slice->snapshot[slot], &now, gen);
	return 0;
}

static __always_inline struct reg_set *set_of(__u32 id)
{
	struct reg_scope_set *scope_set = bpf_map_lookup_elem(&scope_sets, &id);

	return scope_set ? bpf_map_lookup_elem(&sets, &scope_set->set) : NULL;
}

/* As charge(), with the task's readings. Not static, so that the verifier walks it only once. */
__attribute__((noinline)) int charge_fresh(struct cpu_state *state, __u32 cpu, __u32 new,
					   __u32 missing)
{
	struct slice slice = {
		.state = state,
		.cpu = cpu,
		.task = bpf_map_lookup_elem(&task_slices, &cpu),
	};
	struct cgroup_slice *own = bpf_map_lookup_elem(&cgroup_slices, &cpu);
	bool is_same;

	if (!state || !own || !slice.task)
		return 0;
	slice.snapshot = own->snapshot;
	slice.fresh[0] = set_of(state->fresh[0]);
	slice.fresh[1] = set_of(state->fresh[1]);
	if (!slice.fresh[0] || !slice.fresh[1] ||
	    !find_sets(&slice, state->scope_set[SCOPE_SET_CGROUP], new, missing, &is_same))
		return 0;
	raise_seq(&state->seq);
	if (slice.block)
		bpf_loop(slice.from->nr, end_fresh, &slice, 0);
	if (!is_same)
		bpf_loop(slice.to->nr, begin_fresh, &slice, 0);
	state->scope_set[SCOPE_SET_CGROUP] = new;
	raise_seq(&state->seq);
	return 0;
}

/* --- programs --- */

/* Attached to sched_switch while a session counts cgroups, beside on_task_switch for tasks. */
SEC("raw_tp")
int on_cgroup_switch(void *ctx __attribute__((unused)))
{
	__u32 cpu = bpf_get_smp_processor_id(), epoch, scope_set, missing;
	struct cpu_state *state = bpf_map_lookup_elem(&cpus, &cpu);
	struct cgroup_slice *own;
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
	own = bpf_map_lookup_elem(&cgroup_slices, &cpu);
	if (!own)
		return 0;
	scope_set = cgroup_scope_set(state, own, css, id, epoch);
	missing = state->cgroup == id ? SAME_CGROUP : OTHER_CGROUP;
	state->charged_cgroup_set = scope_set;
	barrier();
	state->cgroup = id;
	state->cgroup_epoch = epoch;
	if (state->scope_set[SCOPE_SET_CGROUP] == scope_set)
		return 0;
	/* on_task_switch may also run after us: then these readings are of an earlier switch's task. */
	if (fresh_task && fresh_task == address_of(task, &state->next))
		charge_fresh(state, cpu, scope_set, missing);
	else
		charge(state, own->snapshot, cpu, SCOPE_SET_CGROUP, scope_set, true, missing);
	return 0;
}

/*
 * Charge the old cgroup scope set and begin with the new one. The current task may have another
 * cgroup than at the last switch, or the cgroup another scope set. The CPU is busy.
 */
static __always_inline void update_cgroup(struct cpu_state *state, __u32 cpu, bool if_moved)
{
	/* The current task. A load of `cgroups` from its own pointer costs the verifier much, as in kernel_state(). */
	struct cgroup_subsys_state *css = cgroup_of(next_task(bpf_get_current_task_btf()));
	__u32 epoch = *(volatile __u32 *)&cgroup_clock.epoch,
	      scope_set = state->scope_set[SCOPE_SET_CGROUP];
	struct cgroup_slice *own = bpf_map_lookup_elem(&cgroup_slices, &cpu);
	__u64 id = css->cgroup->kn->id;

	if (!own || (if_moved && state->cgroup == id))
		return;
	if (state->cgroup != id || state->cgroup_epoch != epoch)
		scope_set = cgroup_scope_set(state, own, css, id, epoch);
	charge(state, own->snapshot, cpu, SCOPE_SET_CGROUP, scope_set, false, 0);
	state->cgroup = id;
	state->cgroup_epoch = epoch;
}

/*
 * Bring this CPU's cgroup scope set up to date, as on_sync does for its task scope set. Never
 * attached; only BPF_PROG_TEST_RUN runs it.
 * Return: 1 when done, 0 when the CPU was busy.
 */
SEC("raw_tp")
int on_cgroup_sync(void *ctx __attribute__((unused)))
{
	__u32 cpu;
	struct cpu_state *state = begin_sync(&cpu);

	if (!state)
		return 0;
	update_cgroup(state, cpu, false);
	end_change(state);
	return 1;
}

/* Per-CPU data of two CPUs are as far apart as their words in here. Nothing is stored. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} distances SEC(".maps");

/* Return: the number of a run queue's CPU; all of these are read by helper. */
static __always_inline __u32 cpu_of(struct rq *rq)
{
	return bpf_core_field_exists(rq->cpu) ? BPF_CORE_READ(rq, cpu) : 0;
}

/* Return: the run queue of a CPU; NULL: not found. */
static __always_inline struct rq *rq_of(__u32 cpu)
{
	struct rq *rq = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), se.cfs_rq, rq);
	__u32 key = 0;
	void *from = bpf_map_lookup_percpu_elem(&distances, &key, cpu_of(rq));
	void *to = bpf_map_lookup_percpu_elem(&distances, &key, cpu);
	__u64 distance;

	if (!from || !to)
		return NULL;
	distance = to - from;
	/* Otherwise the compiler adds and subtracts in an order that the verifier refuses. */
	barrier_var(distance);
	rq = (void *)rq + distance;
	return cpu_of(rq) == cpu ? rq : NULL;
}

/*
 * Ask, without an interrupt of that CPU, whether it charges the scope set that the cgroup of its current
 * task has now. Never attached; only BPF_PROG_TEST_RUN runs it. The first argument is the CPU.
 * Return: 1: it does; 0: it does not, or nothing is known.
 */
SEC("raw_tp")
int on_cgroup_look(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = ctx->args[0];
	struct cpu_state *state = bpf_map_lookup_elem(&cpus, &cpu);
	struct rq *rq = rq_of(cpu);
	__u64 css;

	if (!state || !rq)
		return 0;
	css = read_at((__u64)BPF_CORE_READ(rq, curr, cgroups),
		      bpf_core_field_offset(struct css_set, subsys) +
			      bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id) *
				      sizeof(css));
	return css &&
	       (__u32)look_up_cgroup(css, cgroup_offsets()) == state->scope_set[SCOPE_SET_CGROUP];
}

/*
 * End the slice of a process that moved itself to another cgroup. A process that runs on another
 * CPU is charged to its old cgroup until that CPU's next switch or sync.
 */
SEC(SECTION_TRACEPOINT)
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
 * Return: the parent for a pool entry below this scope set. A scope set without a scope belongs to
 * a pool entry itself; then its parent is the answer.
 */
static __always_inline __u32 scope_set_above(__u32 id)
{
	struct reg_scope_set *scope_set = bpf_map_lookup_elem(&scope_sets, &id);

	return scope_set && !scope_set->scope ? scope_set->parent : id;
}

static __always_inline struct pool_entry *pool_entry_of(__u64 created_nr)
{
	__u32 idx = created_nr % MAX_POOL_ENTRIES;

	return bpf_map_lookup_elem(&pool, &idx);
}

static __always_inline bool is_ready(const struct pool_entry *pool_entry)
{
	return pool_entry && pool_entry->state == POOL_READY;
}

/*
 * Give a new cgroup a pool entry. No task has run in it yet, and the kernel serializes mkdir(), so
 * no other CPU is here. A cgroup below a pool entry gets the same parent. A session that finds the
 * upper one adds its scope to both (util/bperf/cgroup_scopes.c).
 */
SEC("raw_tp/cgroup_mkdir")
int on_mkdir(struct bpf_raw_tracepoint_args *ctx)
{
	struct cgroup *made = (void *)ctx->args[0];
	struct cgroup_subsys_state *css = css_of(made);
	__u64 created_nr = cgroup_clock.nr_created;
	struct pool_entry *pool_entry = pool_entry_of(created_nr);
	__u32 parent, pool_set = 0;
	struct reg_scope_set *scope_set, *above;
	struct reg_set *room, *below;
	struct reg_cgroup *cgroup;

	/* User space renews the pool by halves: while it takes back one, the other is ready. */
	if (!is_ready(pool_entry)) {
		created_nr += MAX_POOL_ENTRIES / 2;
		pool_entry = pool_entry_of(created_nr);
	}
	/* If few are ready, they are at the beginning of the next half. */
	if (!is_ready(pool_entry)) {
		created_nr -= created_nr % (MAX_POOL_ENTRIES / 2);
		pool_entry = pool_entry_of(created_nr);
	}
	if (!css || !pool_entry)
		return 0;
	/* A full barrier: its other words hold from then on, since who takes it back waits for this program. */
	if (__sync_val_compare_and_swap(&pool_entry->state, POOL_READY, POOL_READY) != POOL_READY) {
		cgroup_clock.missed++;
		goto call;
	}
	parent = look_up_cgroup((__u64)css, cgroup_offsets());
	parent = scope_set_above(parent);
	above = bpf_map_lookup_elem(&scope_sets, &parent);
	scope_set = bpf_map_lookup_elem(&scope_sets, &pool_entry->scope_set);
	cgroup = bpf_map_lookup_elem(&cgroups, &pool_entry->pos);
	if (above)
		pool_set = above->pool_set;
	below = bpf_map_lookup_elem(&sets, &pool_set);
	room = scope_set ? bpf_map_lookup_elem(&sets, &scope_set->set) : NULL;
	if (!above || !scope_set || !cgroup || !below || !room || !below->nr ||
	    below->nr > room->nr) {
		cgroup_clock.missed++;
		goto call;
	}
	pool_entry->id = BPF_CORE_READ(css, cgroup, kn, id);
	pool_entry->parent = BPF_CORE_READ(css, parent, cgroup, kn, id);
	/* A failed read leaves an empty name, which no pattern of a single cgroup matches. */
	(void)bpf_probe_read_kernel_str(pool_entry->name, sizeof(pool_entry->name),
					BPF_CORE_READ(css, cgroup, kn, name));
	scope_set->parent = parent;
	/*
	 * It has cells for the largest set; those that this set does not need are free from now
	 * on.
	 */
	scope_set->set = pool_set;
	cgroup->scope_set = pool_entry->scope_set;
	/*
	 * Full barriers: a program that finds it, or a session that sees it taken, finds it
	 * complete.
	 */
	__sync_lock_test_and_set(&cgroup->id, pool_entry->id);
	if (bpf_map_update_elem(&cgroup_ids, &pool_entry->id, &pool_entry->pos, BPF_ANY)) {
		/*
		 * Nothing leads here: return the place, for the next cgroup that needs no more
		 * cells.
		 */
		__sync_lock_test_and_set(&cgroup->id, CGROUP_RESERVED);
		scope_set->parent = 0;
		cgroup_clock.missed++;
		goto call;
	}
	pool_entry->created_ns = bpf_ktime_get_ns();
	__sync_lock_test_and_set(&pool_entry->created_nr, created_nr + 1);
	__sync_lock_test_and_set(&pool_entry->state, POOL_TAKEN);
	cgroup_clock.nr_created = created_nr + 1;
call:
	/*
	 * A session clears it before it looks, so no wakeup is lost; a full buffer has some in it.
	 */
	if (!__sync_lock_test_and_set(&cgroup_clock.is_woken, 1))
		(void)bpf_ringbuf_output(&created, &parent, sizeof(parent), BPF_RB_FORCE_WAKEUP);
	return 0;
}

struct bpf_iter__cgroup {
	void *meta;
	struct cgroup *cgroup;
};

/*
 * Find the scope set of a cgroup, or of the nearest one above it. A session needs it if its
 * namespace or mount begins there, because it cannot see the cgroups above. The iterator visits
 * this one cgroup, and the program goes upwards itself.
 */
SEC(SECTION_WALK_GROUP)
int on_above(struct bpf_iter__cgroup *ctx)
{
	struct cgroup *cgroup = ctx->cgroup;
	struct cgroup_subsys_state *css;

	if (!cgroup)
		return 0;
	css = css_of(cgroup);
	if (css)
		cgroup_clock.above = scope_set_above(look_up_cgroup((__u64)css, cgroup_offsets()));
	return 0;
}
