// SPDX-License-Identifier: GPL-2.0
/*
 * leader_words PATH: print a line "CPU SEQ BUSY READING SEEN CHILD" for each possible CPU: where in the kernel's memory
 * the leader of the attr map at PATH has the words that its programs write when they charge, while they change that CPU's
 * state, and when they read its events. SEEN is the word that each sample of the first slot writes, 0 if nobody samples.
 * CHILD is the one that they read at each fork of a task in scope set 1, the same for all CPUs, 0 before a session has
 * counted tasks.
 */
#include "leader_tables.h"
#include "../../bpf_skel/sample.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* Return: the address of the first element of a map of the leader, an array. @size receives that of an element. */
static __u64 find_array(__u32 map_id, __u32 *size)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path));
	int array = fd_by_id(map_id);
	struct bpf_object *object;
	struct bpf_map_info info;
	__u64 address = 0;
	__u32 zero = 0;

	if (array < 0 || map_info(array, &info))
		die("map %u", map_id);
	*size = info.value_size;
	if (len < 0)
		die("/proc/self/exe");
	snprintf(path + len - strlen("leader_words"), 32, "element.bpf.o");
	object = bpf_object__open_file(path, NULL);
	if (!object || bpf_map__reuse_fd(bpf_object__find_map_by_name(object, "array"), array) ||
	    bpf_object__load(object))
		die("%s", path);
	if (bpf_prog_test_run_opts(
		    bpf_program__fd(bpf_object__find_program_by_name(object, "find_element")),
		    &run) ||
	    bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(object, "address"), &zero,
				&address))
		die("find_element");
	bpf_object__close(object);
	return address;
}

int main(int argc, char **argv)
{
	const struct registry *reg;
	__u32 size, row_size, sample_size = 0;
	__u64 state, row, sample = 0, child = 0;

	usage_unless(argc == 2, "PATH");
	reg = find_leader(argv[1]);
	row = find_array(reg->map_ids[LEADER_READINGS], &row_size);
	if (reg->sample.prog_id)
		sample = find_array(reg->sample.map_ids[SAMPLE_CPUS], &sample_size) +
			 offsetof(struct sample_cpu, slot[0].seen.all.nr);
	if (reg->map_ids[LEADER_SCOPE_SETS])
		child = find_array(reg->map_ids[LEADER_SCOPE_SETS], &size) + size +
			offsetof(struct reg_scope_set, child);
	state = find_array(reg->map_ids[LEADER_CPUS], &size);
	for (__u32 cpu = 0; cpu < reg->nr_cpus; cpu++) {
		printf("%u %#llx %#llx %#llx %#llx %#llx\n", cpu,
		       state + offsetof(struct cpu_state, seq),
		       state + offsetof(struct cpu_state, busy),
		       row + offsetof(struct cpu_readings, seq), sample, child);
		state += size;
		row += row_size;
		sample += sample_size;
	}
	return 0;
}
