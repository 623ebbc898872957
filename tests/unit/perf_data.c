// SPDX-License-Identifier: GPL-2.0
/* Writing and reading perf.data: bytes, features, own texts, files and streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "own_dir.h"
#include "util/data/annotations.h"
#include "util/data/reader.h"
#include "util/data/replay.h"
#include "util/data/writer.h"
#include "util/event/counts.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/host/topology.h"
#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"
#include "util/target/cgroup_list.h"

static void what_was_put_can_be_got(void **state __unused)
{
	struct byte_buffer bytes = {};
	struct byte_reader r;

	byte_buffer__put_u16(&bytes, 0x1234);
	byte_buffer__put_u32(&bytes, 0x56789abc);
	byte_buffer__put_u64(&bytes, 0x123456789abcdef0);
	byte_buffer__put_text(&bytes, "text");
	byte_buffer__put_string(&bytes, "string");
	byte_buffer__pad(&bytes, 8);
	assert_false(bytes.has_failed);
	assert_int_equal(bytes.len % 8, 0);
	r = (struct byte_reader){.at = bytes.data, .left = bytes.len};
	assert_int_equal(byte_reader__u16(&r), 0x1234);
	assert_int_equal(byte_reader__u32(&r), 0x56789abc);
	assert_int_equal(byte_reader__u64(&r), 0x123456789abcdef0);
	assert_string_equal(byte_reader__text(&r), "text");
	assert_string_equal(byte_reader__string(&r), "string");
	assert_false(r.is_short);
	assert_true(r.left < 8);
	byte_buffer__clear(&bytes);
}

static void what_is_not_there_is_not_read(void **state __unused)
{
	static const char data[] = {5, 0, 0, 0, 'a', 'b', 'c', 'd', 'e'};
	struct byte_reader r = {.at = data, .left = sizeof(data)};

	/* a string without an end, text without one */
	assert_null(byte_reader__string(&r));
	assert_true(r.is_short);
	r = (struct byte_reader){.at = data + 4, .left = 5};
	assert_null(byte_reader__text(&r));
	assert_true(r.is_short);
	/* a length beyond the rest of the data */
	r = (struct byte_reader){.at = data, .left = 7};
	assert_null(byte_reader__string(&r));
	r = (struct byte_reader){.at = data, .left = 3};
	assert_int_equal(byte_reader__u32(&r), 0);
	assert_true(r.is_short);
	assert_null(byte_reader__skip(&r, SIZE_MAX));
}

static int add(struct header_fields *facts, enum data_feature feature, struct byte_buffer *bytes)
{
	int err = header_fields__add(facts, feature, bytes->data, bytes->len);

	byte_buffer__clear(bytes);
	return err;
}

/* Write a machine of two CPUs, each a core and a cluster. CPU 1 is on another socket and node. */
static void put_machine(struct byte_buffer *nr, struct byte_buffer *topology,
			struct byte_buffer *nodes, struct byte_buffer *caches)
{
	byte_buffer__put_u32(nr, 2);
	byte_buffer__put_u32(nr, 2);
	byte_buffer__put_u32(topology, 0);
	byte_buffer__put_u32(topology, 1);
	byte_buffer__put_string(topology, "0");
	for (int i = 0; i < 4; i++)
		byte_buffer__put_u32(topology, i + 3);
	byte_buffer__put_u32(nodes, 1);
	byte_buffer__put_u32(nodes, 9);
	byte_buffer__put_u64(nodes, 0);
	byte_buffer__put_u64(nodes, 0);
	byte_buffer__put_string(nodes, "1");
	byte_buffer__put_u32(caches, 1);
	byte_buffer__put_u32(caches, 1);
	byte_buffer__put_u32(caches, 2);
	for (int i = 0; i < 3; i++)
		byte_buffer__put_u32(caches, 64);
	byte_buffer__put_string(caches, "Unified");
	byte_buffer__put_string(caches, "1M");
	byte_buffer__put_string(caches, "0-1");
}

static void the_topology_of_another_machine(void **state __unused)
{
	struct byte_buffer nr = {}, topology = {}, nodes = {}, caches = {};
	struct header_fields facts = {};
	struct cpu_topology place;

	put_machine(&nr, &topology, &nodes, &caches);
	assert_int_equal(add(&facts, FEATURE_NRCPUS, &nr), 0);
	assert_int_equal(add(&facts, FEATURE_CPU_TOPOLOGY, &topology), 0);
	assert_int_equal(add(&facts, FEATURE_NUMA_TOPOLOGY, &nodes), 0);
	assert_int_equal(add(&facts, FEATURE_CACHE, &caches), 0);
	topology__find(facts.topology, 1, 0, &place);
	assert_int_equal(place.core, 5);
	assert_int_equal(place.socket, 6);
	assert_int_equal(place.die, 0);
	assert_int_equal(place.node, 9);
	assert_int_equal(place.cache_level, 2);
	assert_int_equal(place.cache, 0);
	topology__find(facts.topology, 0, 3, &place);
	assert_int_equal(place.node, 0);
	assert_int_equal(place.cache_level, 3);
	/* a CPU that the machine does not have */
	topology__find(facts.topology, 7, 0, &place);
	assert_int_equal(place.core, 0);
	header_fields__clear(&facts);
}

static void features_that_lie_about_their_size(void **state __unused)
{
	static const enum data_feature all[] = {FEATURE_NRCPUS, FEATURE_CPU_TOPOLOGY,
						FEATURE_NUMA_TOPOLOGY, FEATURE_CACHE};
	struct byte_buffer bytes[4] = {};
	struct header_fields facts;

	put_machine(&bytes[0], &bytes[1], &bytes[2], &bytes[3]);
	for (size_t f = 0; f < ARRAY_SIZE(all); f++) {
		/* Cut the data anywhere. Older perfs do not write a part of the topology. */
		for (size_t len = 0; len < bytes[f].len; len++) {
			memset(&facts, 0, sizeof(facts));
			if (f)
				header_fields__add(&facts, FEATURE_NRCPUS, bytes[0].data,
						   bytes[0].len);
			assert_int_equal(header_fields__add(&facts, all[f], bytes[f].data, len),
					 -EINVAL);
			header_fields__clear(&facts);
		}
	}
	/* Too many CPUs; names of more events than there are bytes. */
	memset(&facts, 0, sizeof(facts));
	assert_int_equal(header_fields__add(&facts, FEATURE_NRCPUS, "\xff\xff\xff\xff\1\0\0\0", 8),
			 -EINVAL);
	assert_int_equal(
		header_fields__add(&facts, FEATURE_EVENT_DESC, "\xff\xff\xff\xff\x40\0\0\0", 8),
		-EINVAL);
	assert_int_equal(header_fields__add(&facts, FEATURE_PMU_MAPPINGS, "\xff\xff\xff\xff", 4),
			 -EINVAL);
	header_fields__clear(&facts);
	for (size_t f = 0; f < ARRAY_SIZE(all); f++)
		byte_buffer__clear(&bytes[f]);
}

static void texts_stay_as_they_are_in_the_file(void **state __unused)
{
	struct header_fields facts = {};
	struct byte_buffer command = {};

	byte_buffer__put_u32(&command, 2);
	byte_buffer__put_string(&command, "a\033");
	byte_buffer__put_string(&command, "\rb\xff");
	assert_int_equal(add(&facts, FEATURE_CMDLINE, &command), 0);
	assert_string_equal(facts.command, "a\033 \rb\xff");
	header_fields__clear(&facts);
}

static struct evlist *three_events(void)
{
	struct evlist *list = evlist__new();
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY};

	assert_non_null(list);
	for (int i = 0; i < 3; i++) {
		struct evsel *evsel = evsel__new(&attr, "event");

		assert_non_null(evsel);
		assert_int_equal(evlist__add(list, evsel), 0);
	}
	return list;
}

static void what_perf_data_has_no_record_for(void **state __unused)
{
	struct annotations extra = {.is_workload = true,
				    .metrics.names = "a,b",
				    .metrics.td_level = 2,
				    .clusters = "0 1"};
	struct evlist *from = three_events(), *to = three_events();
	struct cgroup cgroup = {.name = "a/b=c"};
	struct pmus *pmus = pmus__new("/nonexistent");
	struct annotations read = {};
	struct byte_buffer bytes = {};

	evlist__group(from, 0, 2);
	from->evsels[0]->is_default = from->evsels[0]->hidden = true;
	from->evsels[1]->metric_id = strdup("id");
	from->evsels[1]->metric_set = 4;
	from->evsels[1]->cgroup = from->evsels[2]->cgroup = &cgroup;
	from->evsels[2]->tool = TOOL_DURATION_TIME;
	from->evsels[2]->auto_merge = from->evsels[2]->threads_as_one = true;
	from->evsels[2]->merge_leader = from->evsels[0];
	annotations__put(&bytes, &extra);
	for (int i = 0; i < 3; i++)
		annotations__put_event(&bytes, from, i);
	assert_int_equal(annotations__read(&read, to, pmus, bytes.data, bytes.len), 0);
	assert_true(read.is_workload);
	assert_false(read.is_system_wide);
	assert_string_equal(read.metrics.names, "a,b");
	assert_string_equal(read.clusters, "0 1");
	assert_int_equal(read.metrics.td_level, 2);
	assert_int_equal(to->evsels[0]->nr_members, 2);
	assert_ptr_equal(to->evsels[1]->leader, to->evsels[0]);
	assert_true(to->evsels[0]->is_default && to->evsels[0]->hidden);
	assert_false(to->evsels[1]->is_default);
	assert_string_equal(to->evsels[1]->metric_id, "id");
	assert_int_equal(to->evsels[1]->metric_set, 4);
	assert_string_equal(to->evsels[1]->cgroup->name, "a/b=c");
	assert_ptr_equal(to->evsels[2]->cgroup, to->evsels[1]->cgroup);
	assert_int_equal(to->evsels[2]->tool, TOOL_DURATION_TIME);
	assert_ptr_equal(to->evsels[2]->merge_leader, to->evsels[0]);
	assert_true(to->evsels[2]->threads_as_one && !to->evsels[0]->threads_as_one);
	annotations__clear(&read);
	byte_buffer__clear(&bytes);
	evlist__delete(from);
	evlist__delete(to);
	pmus__delete(pmus);
}

static void texts_that_cannot_be_meant(void **state __unused)
{
	static const char *const bad[] = {
		"event=3",
		"event=-1",
		"event=",
		"event=x",
		"td-level=-1",
		"td-level=99999999999",
		"event=1|merge=1",
		"event=1|merge=2",
		"event=1|merge=x",
		"event=1|members=3",
		"event=0|members=0",
		"event=0|members=2|event=1|members=2",
		"event=1|members=2|event=0|members=2",
		"event=1|auto-merge|merge=0|event=2|merge=1",
		"event=1|metric-set=-3",
	};
	static const char *const good[] = {"later=1", "event=0|later", "event=1|tool=later",
					   "event=1|pmu=none"};
	struct pmus *pmus = pmus__new("/nonexistent");

	for (size_t i = 0; i < ARRAY_SIZE(bad) + ARRAY_SIZE(good); i++) {
		bool is_good = i >= ARRAY_SIZE(bad);
		char *text = strdup(is_good ? good[i - ARRAY_SIZE(bad)] : bad[i]);
		struct evlist *list = three_events();
		struct annotations extra = {};
		size_t len = strlen(text) + 1;

		for (size_t c = 0; c < len; c++)
			text[c] = text[c] == '|' ? '\0' : text[c];
		if (annotations__read(&extra, list, pmus, text, len) != (is_good ? 0 : -EINVAL))
			fail_msg("%s", is_good ? good[i - ARRAY_SIZE(bad)] : bad[i]);
		/* a last text without its end */
		assert_int_equal(annotations__read(&extra, list, pmus, text, len - 1), -EINVAL);
		annotations__clear(&extra);
		evlist__delete(list);
		free(text);
	}
	pmus__delete(pmus);
}

/* Write an event with two ids, one without ids, and a record. */
static void write_data(const char *path)
{
	uint64_t ids[] = {7, 8}, body[3] = {1, 2, 3};
	struct data_attr attrs[2] = {
		{.attr = {.type = 1, .config = 3, .size = sizeof(struct perf_event_attr)},
		 .ids = ids,
		 .nr_ids = 2},
		{.attr = {.type = 0, .config = 5, .size = sizeof(struct perf_event_attr)}},
	};
	struct byte_buffer features[NR_FEATURES] = {};
	struct data_writer *writer;

	byte_buffer__put_string(&features[FEATURE_VERSION], "1.2");
	assert_int_equal(data_writer__open(path, &writer), 0);
	assert_int_equal(data_writer__begin(writer, attrs, 2, features, true), 0);
	assert_int_equal(data_writer__record(writer, RECORD_STAT_ROUND, body, sizeof(body) - 3), 0);
	assert_int_equal(data_writer__record(writer, RECORD_STAT, body, DATA_RECORD_MAX - 7),
			 -E2BIG);
	/* A file has no name yet; a stream has none at all. */
	assert_int_equal(access("new", F_OK), -1);
	assert_int_equal(data_writer__finish(writer), 0);
	data_writer__delete(writer);
	byte_buffer__clear(&features[FEATURE_VERSION]);
}

static void check_data(const char *path, bool is_stream)
{
	const struct data_attr *attrs;
	struct data_reader *reader;
	struct data_record record;
	int nr;

	assert_int_equal(data_reader__open(path, &reader), 0);
	assert_int_equal(data_reader__is_stream(reader), is_stream);
	assert_int_equal(data_reader__next(reader, &record), 1);
	assert_int_equal(data_reader__check_stat(reader), 0);
	assert_int_equal(record.type, RECORD_STAT_ROUND);
	assert_int_equal(record.body.left, 24);
	assert_int_equal(byte_reader__u64(&record.body), 1);
	attrs = data_reader__attrs(reader, &nr);
	assert_int_equal(nr, 2);
	assert_int_equal(attrs[0].attr.config, 3);
	assert_int_equal(attrs[0].nr_ids, 2);
	assert_int_equal(attrs[0].ids[1], 8);
	assert_int_equal(attrs[1].attr.config, 5);
	assert_int_equal(attrs[1].nr_ids, 0);
	assert_string_equal(data_reader__header_fields(reader)->version, "1.2");
	assert_int_equal(data_reader__next(reader, &record), 0);
	data_reader__delete(reader);
}

static void a_file_there_and_back(void **state __unused)
{
	struct stat st;

	write_data("new");
	check_data("new", false);
	assert_int_equal(stat("new", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(unlink("new"), 0);
}

static void a_stream_there_and_back(void **state __unused)
{
	char path[32];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	write_data(path);
	close(fds[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	check_data(path, true);
	close(fds[0]);
}

static int put_cpu_range(struct data_writer *writer, enum data_record_type type, uint16_t first,
			 uint16_t last)
{
	struct byte_buffer body = {};
	int err;

	if (type == RECORD_EVENT_UPDATE) {
		byte_buffer__put_u64(&body, UPDATE_CPUS);
		byte_buffer__put_u64(&body, 1);
	}
	byte_buffer__put_u16(&body, CPUS_RANGE);
	byte_buffer__put_u16(&body, 0);
	byte_buffer__put_u16(&body, first);
	byte_buffer__put_u16(&body, last);
	err = data_writer__record(writer, type, body.data, body.len);
	byte_buffer__clear(&body);
	return err;
}

/* Write @nr_events events on CPU 0, the first one on @nr_cpus CPUs, and @nr_maps maps of all CPUs. */
static void write_cpus(int nr_events, int nr_cpus, int nr_maps)
{
	static const uint64_t config[] = {1, CONFIG_AGGR_MODE, 0};
	struct data_attr *attrs = calloc(nr_events, sizeof(*attrs));
	struct byte_buffer features[NR_FEATURES] = {};
	struct data_writer *writer;
	uint64_t id = 1;

	assert_non_null(attrs);
	for (int i = 0; i < nr_events; i++)
		attrs[i].attr.size = sizeof(attrs[i].attr);
	attrs[0].ids = &id;
	attrs[0].nr_ids = 1;
	assert_int_equal(data_writer__open("cpus", &writer), 0);
	assert_int_equal(data_writer__begin(writer, attrs, nr_events, features, true), 0);
	assert_int_equal(put_cpu_range(writer, RECORD_EVENT_UPDATE, 0, nr_cpus - 1), 0);
	while (nr_maps--)
		assert_int_equal(put_cpu_range(writer, RECORD_CPU_MAP, 0, 0), 0);
	assert_int_equal(data_writer__record(writer, RECORD_STAT_CONFIG, config, sizeof(config)),
			 0);
	assert_int_equal(data_writer__finish(writer), 0);
	data_writer__delete(writer);
	free(attrs);
}

/* Return: the first part that the reader refuses: 1 a record, 2 the events' counters, 3 rows, 0 none. */
static int read_cpus(void)
{
	struct data_replay events = {.evlist = evlist__new(), .pmus = pmus__new("/nonexistent")};
	struct data_record record;
	int refused = 0;

	assert_int_equal(data_reader__open("cpus", &events.reader), 0);
	while (!refused && data_reader__next(events.reader, &record) == 1)
		refused = data_replay__take(&events, &record) ? 1 : 0;
	if (!refused && data_replay__complete(&events))
		refused = 2;
	if (!refused && data_replay__check_rows(&events, false))
		refused = 3;
	data_replay__clear(&events);
	evlist__delete(events.evlist);
	pmus__delete(events.pmus);
	data_reader__delete(events.reader);
	assert_int_equal(unlink("cpus"), 0);
	return refused;
}

static void small_files_do_not_take_much_memory(void **state __unused)
{
	static const struct {
		int nr_events, nr_cpus, nr_maps, refused;
	} cases[] = {
		{128, 16384, 1, 0}, {129, 16384, 1, 3}, {2000, 1000, 1, 0},
		{1, 16385, 1, 1},   {1, 2, 2, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		write_cpus(cases[i].nr_events, cases[i].nr_cpus, cases[i].nr_maps);
		assert_int_equal(read_cpus(), cases[i].refused);
	}
}

static void put_name(struct data_writer *writer, uint64_t id, const char *name)
{
	struct byte_buffer body = {};

	byte_buffer__put_u64(&body, UPDATE_NAME);
	byte_buffer__put_u64(&body, id);
	byte_buffer__put(&body, name, strlen(name) + 1);
	assert_int_equal(data_writer__record(writer, RECORD_EVENT_UPDATE, body.data, body.len), 0);
	byte_buffer__clear(&body);
}

/* Write data like perf 7.3: its own events have no ids, and are recorded as 0. The last is refused. */
static void write_own(uint16_t cpu)
{
	static const uint64_t config[] = {1, CONFIG_AGGR_MODE, 1};
	static const uint16_t any[] = {CPUS_LIST, 1, UINT16_MAX};
	struct byte_buffer features[NR_FEATURES] = {};
	struct data_writer *writer;
	uint64_t id = 1;
	struct data_attr attrs[] = {
		{.attr = {.type = PMU_TYPE_TOOL, .config = 1}},
		{.attr = {.type = PERF_TYPE_SOFTWARE, .config = 3}, .ids = &id, .nr_ids = 1},
		{.attr = {.type = PMU_TYPE_TOOL, .config = 2}},
		{.attr = {.type = PERF_TYPE_HARDWARE}},
	};
	struct data_stat stat = {};

	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++)
		attrs[i].attr.size = sizeof(attrs[i].attr);
	assert_int_equal(data_writer__open("own", &writer), 0);
	assert_int_equal(data_writer__begin(writer, attrs, ARRAY_SIZE(attrs), features, true), 0);
	put_name(writer, 0, "duration_time");
	assert_int_equal(put_cpu_range(writer, RECORD_EVENT_UPDATE, 0, 1), 0);
	put_name(writer, 1, "cs");
	put_name(writer, 0, "user_time");
	if (cpu == UINT16_MAX)
		assert_int_equal(data_writer__record(writer, RECORD_CPU_MAP, any, sizeof(any)), 0);
	else
		assert_int_equal(put_cpu_range(writer, RECORD_CPU_MAP, 0, cpu), 0);
	assert_int_equal(data_writer__record(writer, RECORD_STAT_CONFIG, config, sizeof(config)),
			 0);
	/* Two rounds, each with one event after the other on both CPUs. */
	for (int n = 0; n < 12; n++) {
		stat.cpu = cpu == UINT16_MAX ? UINT32_MAX : (uint32_t)n % 2;
		stat.id = n / 2 % 3 == 1;
		stat.count.value = n;
		stat.count.enabled_ns = stat.count.running_ns = 1;
		if (cpu != UINT16_MAX || !(n % 2))
			assert_int_equal(
				data_writer__record(writer, RECORD_STAT, &stat, sizeof(stat)), 0);
	}
	assert_int_equal(data_writer__finish(writer), 0);
	data_writer__delete(writer);
}

static void events_without_ids_go_by_their_order(void **state __unused)
{
	static const char *const names[] = {"duration_time", "cs", "user_time"};
	static const uint16_t cpus[] = {1, UINT16_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(cpus); i++) {
		struct data_replay events = {.evlist = evlist__new(),
					     .pmus = pmus__new("/nonexistent")};
		bool is_complete = false, is_of_tasks = cpus[i] == UINT16_MAX;
		struct data_record record;

		write_own(cpus[i]);
		assert_int_equal(data_reader__open("own", &events.reader), 0);
		while (data_reader__next(events.reader, &record) == 1) {
			if (record.type != RECORD_STAT) {
				assert_int_equal(data_replay__take(&events, &record), 0);
				continue;
			}
			if (!is_complete)
				assert_int_equal(data_replay__complete(&events), 0);
			is_complete = true;
			assert_int_equal(data_replay__take_stat(&events, &record), 0);
		}
		/* The CPUs on which a task's event could count mean nothing. */
		assert_int_equal(events.has_cpus, !is_of_tasks);
		for (int e = 0; e < 3; e++) {
			const struct evsel *evsel = events.evlist->evsels[e];

			assert_string_equal(evsel->name, names[e]);
			assert_int_equal(evsel->counts->values[0].value, 6 + 2 * e);
			if (!is_of_tasks)
				assert_int_equal(evsel->counts->values[1].value, 7 + 2 * e);
		}
		assert_int_equal(events.evlist->evsels[3]->state, EVSEL_NOT_SUPPORTED);
		data_replay__clear(&events);
		evlist__delete(events.evlist);
		pmus__delete(events.pmus);
		data_reader__delete(events.reader);
		assert_int_equal(unlink("own"), 0);
	}
}

static void what_is_not_finished_is_not_there(void **state __unused)
{
	struct byte_buffer features[NR_FEATURES] = {};
	struct data_writer *writer;

	assert_int_equal(data_writer__open("new", &writer), 0);
	assert_int_equal(data_writer__begin(writer, NULL, 0, features, true), 0);
	data_writer__delete(writer);
	assert_int_equal(access("new", F_OK), -1);
	/* remove_own_dir() would fail if another file were left */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_can_be_got),
		cmocka_unit_test(what_is_not_there_is_not_read),
		cmocka_unit_test(the_topology_of_another_machine),
		cmocka_unit_test(features_that_lie_about_their_size),
		cmocka_unit_test(texts_stay_as_they_are_in_the_file),
		cmocka_unit_test(what_perf_data_has_no_record_for),
		cmocka_unit_test(texts_that_cannot_be_meant),
		cmocka_unit_test(a_file_there_and_back),
		cmocka_unit_test(a_stream_there_and_back),
		cmocka_unit_test(small_files_do_not_take_much_memory),
		cmocka_unit_test(events_without_ids_go_by_their_order),
		cmocka_unit_test(what_is_not_finished_is_not_there),
	};

	return cmocka_run_group_tests(tests, make_own_dir, remove_own_dir);
}
