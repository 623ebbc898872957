// SPDX-License-Identifier: GPL-2.0
/* Profiles in perf.data: what other readers find in it, and the same profile read again. */
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
#include "refused_profile.h"
#include "util/data/profile_format.h"
#include "util/data/profile_record.h"
#include "util/data/profile_replay.h"
#include "util/data/reader.h"
#include "util/data/writer.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"
#include "util/profile/each_sample.h"
#include "util/profile/profile_files.h"
#include "util/profile/profile_options.h"
#include "util/profile/profile_report.h"
#include "util/profile/samples.h"
#include "util/sample/sampler.h"
#include "util/symbol/symbols.h"

/* No process has this number, so all that is known about it comes from records. */
#define PID 4999999

/* --- a profile of two programs --- */

struct world {
	struct pmus *pmus;
	struct symbols *symbols;
	struct samples samples;
	struct cgroup_names cgroups;
	struct profile_options options;
	struct evlist *events;
	struct sample_account accounts[2];
	struct each_sample *each; /* NULL: none */
	const char *target;	  /* NULL: all CPUs */
};

static struct world *begin(void)
{
	static const uint64_t accounts[] = {12, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1};
	struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK};
	struct perf_event_attr cycles = {.type = PERF_TYPE_HARDWARE};
	struct world *world = calloc(1, sizeof(*world));

	world->pmus = pmus__new("/nonexistent");
	world->symbols = symbols__new(SYMBOLS_NAMES, false);
	world->samples.symbols = world->symbols;
	world->samples.has_mappings = true;
	world->samples.key = SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK | SAMPLE_COMM |
			     SAMPLE_PROCESS | SAMPLE_THREAD | SAMPLE_CGROUP | SAMPLE_CPU |
			     SAMPLE_PRIO | SAMPLE_ADDR;
	world->options.cgroups = &world->cgroups;
	world->options.csv_sep = ",";
	world->events = evlist__new();
	evlist__add(world->events, evsel__new(&clock, "cpu-clock"));
	evlist__add(world->events, evsel__new(&cycles, "cycles"));
	assert_int_equal(cgroup_names__add(&world->cgroups, 77, "/web"), 0);
	memcpy(&world->accounts[0], accounts, sizeof(accounts));
	memcpy(&world->accounts[1], accounts, sizeof(accounts));
	return world;
}

static void end(struct world *world)
{
	each_sample__delete(world->each);
	samples__reset(&world->samples);
	symbols__delete(world->symbols);
	evlist__delete(world->events);
	cgroup_names__clear(&world->cgroups);
	pmus__delete(world->pmus);
	free(world);
}

static void apply(struct world *world, uint32_t type, uint16_t misc, struct byte_buffer *body)
{
	struct byte_buffer record = {};
	struct perf_event_header header = {.type = type, .misc = misc};

	byte_buffer__pad(body, 8);
	header.size = sizeof(header) + body->len;
	byte_buffer__put(&record, &header, sizeof(header));
	byte_buffer__put(&record, body->data, body->len);
	assert_int_equal(symbols__apply(world->symbols, record.data, record.len), 0);
	byte_buffer__clear(&record);
	byte_buffer__clear(body);
}

/* A program is executed, whose code is at 0x400000 as that of any other. */
static void exec(struct world *world, const char *comm, const char *path)
{
	struct byte_buffer body = {};

	byte_buffer__put_u32(&body, PID);
	byte_buffer__put_u32(&body, PID);
	byte_buffer__put_text(&body, comm);
	apply(world, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, &body);
	byte_buffer__put_u32(&body, PID);
	byte_buffer__put_u32(&body, PID);
	byte_buffer__put_u64(&body, 0x400000);
	byte_buffer__put_u64(&body, 0x10000);
	byte_buffer__put_u64(&body, 0x1000);
	byte_buffer__put_u64(&body, 0); /* device */
	byte_buffer__put_u64(&body, 4711);
	byte_buffer__put_u64(&body, 0);
	byte_buffer__put_u64(&body, 0); /* protection and flags */
	byte_buffer__put_text(&body, path);
	apply(world, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, &body);
}

static void add(struct world *world, const char *comm, uint32_t exec_id, uint64_t first,
		uint64_t nr)
{
	static const uint64_t kernel[] = {0x30, 0x20};
	const uint64_t user[] = {first, 0x400800, 0x9000};
	const struct sample_entry sample = {
		.event = nr % 2,
		.cpu = nr % 3,
		.pid = PID,
		.tid = PID,
		.exec_id = exec_id,
		.comm = comm,
		.prio = 120,
		.cgroup = nr % 2 ? 77 : 78,
		.addr = 0x1000 * nr,
		.kernel_ips = kernel,
		.nr_kernel = nr % 2 ? 2 : 0,
		.user_ips = user,
		.nr_user = 3,
		.is_truncated = nr % 4 == 0,
		.nr_samples = nr,
		.weight = 100 * nr,
	};

	assert_int_equal(samples__add(&world->samples, &sample), 0);
}

/* Samples of two programs of one process, in turn. */
static struct world *two_programs(void)
{
	struct world *world = begin();

	exec(world, "first", "/bin/first");
	exec(world, "second", "/bin/second");
	for (uint64_t i = 0; i < 8; i++) {
		add(world, "first", 5, 0x400100 + i, 2 * i + 1);
		add(world, "second", 6, 0x400100 + i, 2 * i + 2);
	}
	assert_int_equal(symbols__resolve(world->symbols, NULL, NULL), 0);
	return world;
}

/* A stack of user space can have what callchains have as marks: the kernel's, and some without a meaning. */
static void test_a_stack_ends_where_a_frame_is_no_address(void **state __unused)
{
	static const uint64_t marks[] = {PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER, PERF_CONTEXT_MAX,
					 -1ULL};
	const uint64_t kernel[] = {0xffffffff81000000};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		/* The second is an address: that of vsyscall. */
		const uint64_t user[] = {0x400100, 0xffffffffff600000, marks[i], 0x1234};
		struct world *world = begin();
		struct sample_entry sample = {
			.pid = PID,
			.comm = "first",
			.kernel_ips = kernel,
			.nr_kernel = 1,
			.user_ips = user,
			.nr_user = 4,
			.nr_samples = 1,
		};
		const struct samples_key *key;
		const int *places;

		exec(world, "first", "/bin/first");
		assert_int_equal(samples__add(&world->samples, &sample), 0);
		key = samples__get(&world->samples, 0, &places);
		assert_int_equal(key->nr_kernel, 1);
		assert_int_equal(key->nr_user, 2);
		assert_int_equal(samples__mappings(&world->samples, 0)[1], 0);
		end(world);
	}
}

/* The samples of all entries take turns. */
static uint64_t time_of(int entry, uint64_t nr)
{
	return 1000000 + 1000 * nr + 10 * entry;
}

/* Keep single samples of two_programs(), but for @nr_lost of each entry that has more. */
static void keep_each(struct world *world, uint64_t nr_lost)
{
	world->each = each_sample__new(2);
	assert_non_null(world->each);
	memset(world->accounts, 0, sizeof(world->accounts));
	for (int i = 0; i < world->samples.keys.nr; i++) {
		struct samples_sum sum = world->samples.sums[i];
		uint32_t nr = sum.nr > nr_lost ? sum.nr - nr_lost : sum.nr;
		struct sample_single *singles = calloc(nr, sizeof(*singles));
		const int *unused;
		int event = samples__get(&world->samples, i, &unused)->event;
		const struct sample_entry entry = {
			.event = event, .singles = singles, .nr_singles = nr};

		for (uint32_t s = 0; s < nr; s++)
			singles[s] = (struct sample_single){time_of(i, s), sum.weight / sum.nr};
		each_sample__add(world->each, i, &entry);
		free(singles);
		world->accounts[event].kept.nr += sum.nr;
		world->accounts[event].kept.weight += sum.weight;
	}
	for (int i = 0; i < 2; i++)
		each_sample__account(world->each, i, &world->accounts[i]);
}

static struct profile_report report_of(const struct world *world)
{
	return (struct profile_report){
		.options = &world->options,
		.samples = &world->samples,
		.events = world->events,
		.accounts = world->accounts,
		.target = world->target ? world->target : "system wide",
		.rate = "99 Hz",
		.time_ns = 1500000000,
		.elapsed_ns = 1400000000,
	};
}

static int try_to_write(struct world *world, const char *path)
{
	static char *argv[] = {"profile"};
	const struct profile_report report = report_of(world);
	const struct profile_source source = {
		.report = &report,
		.each = world->each,
		.key = world->samples.key,
		.rate_kind = SAMPLE_BY_FREQ,
		.rate = 99,
		.pmus = world->pmus,
		.argc = 1,
		.argv = argv,
	};
	struct profile_record *record;
	int err;

	assert_int_equal(profile_record__new(path, &record), 0);
	err = profile_record__write(record, &source);
	profile_record__delete(record);
	return err;
}

static void write_profile(struct world *world, const char *path)
{
	assert_int_equal(try_to_write(world, path), 0);
}

/* --- as others read it --- */

/* The mappings, of which the last one with an address counts, and the name of the thread. */
struct state {
	struct {
		uint64_t start, end;
		char path[16];
	} mappings[256];
	int nr_mappings;
	char comm[16];
	int nr_samples;
	uint64_t weight;
	/* The parts of single samples. */
	bool has_times;
	uint64_t last_ns;
	uint64_t nr_lost;
};

static void take_mapping(struct state *state, struct byte_reader body)
{
	int nr = state->nr_mappings++;

	assert_in_range(state->nr_mappings, 1, 256);
	assert_int_equal(byte_reader__u32(&body), PID);
	byte_reader__u32(&body);
	state->mappings[nr].start = byte_reader__u64(&body);
	state->mappings[nr].end = state->mappings[nr].start + byte_reader__u64(&body);
	assert_int_equal(byte_reader__u64(&body), 0x1000);
	byte_reader__skip(&body, 24 + 8);
	snprintf(state->mappings[nr].path, sizeof(state->mappings[nr].path), "%s",
		 byte_reader__text(&body));
}

static const char *mapped_at(const struct state *state, uint64_t address)
{
	for (int i = state->nr_mappings - 1; i >= 0; i--) {
		if (state->mappings[i].start <= address && address < state->mappings[i].end)
			return state->mappings[i].path;
	}
	return "";
}

/* Check that the code of a sample is of the program that the thread is named after. */
static void take_sample(struct state *state, struct byte_reader body)
{
	uint64_t nr_frames, ip;
	bool is_user = false;

	byte_reader__u64(&body);
	ip = byte_reader__u64(&body);
	byte_reader__u64(&body); /* thread */
	if (state->has_times) {
		uint64_t time_ns = byte_reader__u64(&body);

		assert_true(time_ns > state->last_ns);
		state->last_ns = time_ns;
	}
	byte_reader__skip(&body, 2 * sizeof(uint64_t)); /* data address, CPU */
	state->weight += byte_reader__u64(&body);
	nr_frames = byte_reader__u64(&body);
	for (uint64_t i = 0; i < nr_frames; i++) {
		uint64_t frame = byte_reader__u64(&body);

		is_user |= frame == PERF_CONTEXT_USER;
		if (i == 1)
			assert_int_equal(frame, ip);
		if (is_user && frame >> 16 == 0x40)
			assert_string_equal(mapped_at(state, frame) + strlen("/bin/"), state->comm);
	}
	assert_true(is_user);
	state->nr_samples++;
}

static void take_comm(struct state *state, struct byte_reader body)
{
	assert_int_equal(byte_reader__u32(&body), PID);
	assert_int_equal(byte_reader__u32(&body), PID);
	snprintf(state->comm, sizeof(state->comm), "%s", byte_reader__text(&body));
}

static void read_as_others(struct state *seen)
{
	struct data_reader *reader;
	struct data_record record;

	assert_int_equal(data_reader__open("x", &reader), 0);
	while (data_reader__next(reader, &record) == 1) {
		if (record.type == PERF_RECORD_MMAP2)
			take_mapping(seen, record.body);
		else if (record.type == PERF_RECORD_COMM)
			take_comm(seen, record.body);
		else if (record.type == PERF_RECORD_SAMPLE)
			take_sample(seen, record.body);
		else if (record.type == PERF_RECORD_LOST_SAMPLES)
			seen->nr_lost += byte_reader__u64(&record.body);
	}
	data_reader__delete(reader);
}

static void test_two_programs_of_one_process_are_told_apart(void **state __unused)
{
	struct world *world = two_programs();
	struct state seen = {};

	write_profile(world, "x");
	read_as_others(&seen);
	assert_int_equal(seen.nr_samples, 16);
	assert_int_equal(seen.weight, 13600);
	/* The programs take turns at one address. */
	assert_int_equal(seen.nr_mappings, 16);
	end(world);
}

static void test_single_samples_come_by_time(void **state __unused)
{
	struct world *world = two_programs();
	struct state seen = {.has_times = true};

	keep_each(world, 0);
	write_profile(world, "x");
	read_as_others(&seen);
	assert_int_equal(seen.nr_samples, 136);
	assert_int_equal(seen.weight, 13600);
	assert_int_equal(seen.last_ns, time_of(15, 15));
	assert_int_equal(seen.nr_lost, 0);
	end(world);
}

static void test_samples_without_a_record_are_counted_as_lost(void **state __unused)
{
	struct world *world = two_programs();
	struct state seen = {.has_times = true};

	keep_each(world, 4);
	write_profile(world, "x");
	read_as_others(&seen);
	/* Entries of 5 to 16 samples lack 4 each. */
	assert_int_equal(seen.nr_lost, 12 * 4);
	assert_int_equal(seen.nr_samples, 136 - 12 * 4);
	assert_int_equal(seen.weight, 100 * (136 - 12 * 4));
	assert_int_equal(world->accounts[0].unrecorded.nr + world->accounts[1].unrecorded.nr,
			 12 * 4);
	end(world);
}

static int store(struct symbols *symbols, uint64_t function, uint64_t offset, const char *module)
{
	const struct place_name name = {
		.position = function + offset,
		.offset = offset,
		.name = "function",
		.image = module,
	};

	return symbols__store(symbols, 0, &name);
}

/* Functions of the kernel, at the end of two modules. */
static void add_modules(struct samples *samples)
{
	const struct samples_key key = {.nr_kernel = 4};
	const int places[] = {
		store(samples->symbols, 0xffffffffc0001100, 0x10, "[ext4]"),
		store(samples->symbols, 0xffffffffc0008000, 0x20, "[jbd2]"),
		store(samples->symbols, 0xffffffffc0000100, 0x30, "[ext4]"),
		store(samples->symbols, 0xffffffff81000100, 0x40, "[kernel]"),
	};

	for (int i = 0; i < 4; i++)
		assert_int_equal(places[i], i);
	assert_int_equal(samples__put(samples, &key, places, (struct samples_sum){1, 1}), 0);
}

static void test_modules_have_the_functions_that_were_sampled(void **state __unused)
{
	struct world *world = begin();
	struct data_reader *reader;
	struct data_record record;
	int nr = 0;

	symbols__delete(world->symbols);
	world->symbols = world->samples.symbols = symbols__new_stored();
	add_modules(&world->samples);
	write_profile(world, "x");
	assert_int_equal(data_reader__open("x", &reader), 0);
	while (data_reader__next(reader, &record) == 1) {
		uint64_t start, len;
		const char *name;

		if (record.type != PERF_RECORD_MMAP)
			continue;
		byte_reader__u64(&record.body);
		start = byte_reader__u64(&record.body);
		len = byte_reader__u64(&record.body);
		byte_reader__u64(&record.body);
		name = byte_reader__text(&record.body);
		nr++;
		if (!strcmp(name, "[ext4]")) {
			assert_int_equal(start, 0xffffffffc0000100);
			assert_int_equal(start + len, 0xffffffffc0001111);
		} else if (!strcmp(name, "[jbd2]")) {
			assert_int_equal(start, 0xffffffffc0008000);
			assert_int_equal(len, 0x21);
		} else {
			assert_int_equal(strncmp(name, "[kernel.kallsyms]", 17), 0);
			assert_true(start <= 0xffffffff81000100 &&
				    start + len > 0xffffffff81000140);
		}
	}
	assert_int_equal(nr, 3);
	data_reader__delete(reader);
	end(world);
}

/* --- read again --- */

static char *print(const struct profile_report *report)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(profile_report__print(out, report), 0);
	fclose(out);
	return text;
}

static struct profile_report report_again(const struct world *world,
					  const struct profile_replay *replay,
					  const struct profile_options *options)
{
	struct profile_report report = report_of(world);

	report.options = options;
	report.samples = &replay->samples;
	report.events = replay->events;
	report.accounts = replay->accounts;
	report.target = replay->target;
	report.time_ns = replay->time_ns;
	report.elapsed_ns = replay->elapsed_ns;
	return report;
}

static void same_again(struct world *world, const struct profile_replay *replay, const char *sort)
{
	struct profile_report live = report_of(world), again;
	struct profile_options options;
	char *want, *text;

	assert_int_equal(sort_keys__parse(&world->options.sort, sort), 0);
	options = world->options;
	options.cgroups = &replay->cgroups;
	again = report_again(world, replay, &options);
	want = print(&live);
	text = print(&again);
	assert_true(strlen(want) > 100);
	assert_string_equal(text, want);
	free(want);
	free(text);
}

static void check_views(struct world *world, const char *path)
{
	struct profile_replay replay = {};

	assert_int_equal(profile_replay__read(&replay, path), 0);
	assert_int_equal(replay.key, world->samples.key);
	assert_int_equal(replay.rate, 99);
	for (enum profile_view view = VIEW_LIST; view <= VIEW_FOLDED; view++) {
		for (enum profile_format format = FORMAT_TEXT; format <= FORMAT_JSON; format++) {
			world->options.view = view;
			world->options.format = format;
			same_again(world, &replay, "dso,sym");
			same_again(world, &replay, "comm,pid,tid,cpu,cgroup,prio,ip,page,daddr");
		}
	}
	profile_replay__clear(&replay);
}

static void test_a_profile_that_is_read_prints_the_same(void **state __unused)
{
	struct world *world = two_programs();

	write_profile(world, "x");
	check_views(world, "x");
	end(world);
}

static void test_single_samples_that_are_read_print_the_same(void **state __unused)
{
	for (int nr_lost = 0; nr_lost < 5; nr_lost += 4) {
		struct world *world = two_programs();

		keep_each(world, nr_lost);
		write_profile(world, "x");
		check_views(world, "x");
		end(world);
	}
}

/* Its functions can be two. */
static void test_an_address_can_be_sampled_and_returned_to(void **state __unused)
{
	struct world *world = two_programs();

	add(world, "first", 5, 0x400800, 1);
	assert_int_equal(symbols__resolve(world->symbols, NULL, NULL), 0);
	write_profile(world, "x");
	check_views(world, "x");
	end(world);
}

static void test_a_stream_that_is_read_prints_the_same(void **state __unused)
{
	struct world *world = two_programs();
	int in = dup(STDIN_FILENO), out[2];
	char *path;

	/* The profile fits into the pipe. */
	assert_int_equal(pipe(out), 0);
	assert_int_equal(dup2(out[0], STDIN_FILENO), STDIN_FILENO);
	path = xasprintf("/dev/fd/%d", out[1]);
	write_profile(world, path);
	free(path);
	close(out[1]);
	check_views(world, "-");
	dup2(in, STDIN_FILENO);
	close(in);
	close(out[0]);
	end(world);
}

static void test_frames_can_be_left_out(void **state __unused)
{
	struct world *world = two_programs();
	struct profile_replay replay = {.samples.no_user = true};
	uint64_t nr = 0;

	write_profile(world, "x");
	assert_int_equal(profile_replay__read(&replay, "x"), 0);
	for (int i = 0; i < replay.samples.keys.nr; i++) {
		const int *places;

		assert_int_equal(samples__get(&replay.samples, i, &places)->nr_user, 0);
		nr += replay.samples.sums[i].nr;
	}
	assert_int_equal(nr, 136);
	profile_replay__clear(&replay);
	end(world);
}

static void test_a_long_target_is_cut(void **state __unused)
{
	char target[100000] = "process id 1";
	struct world *world = two_programs();
	struct profile_replay replay = {};

	memset(target + strlen(target), '2', sizeof(target) - strlen(target) - 1);
	world->target = target;
	write_profile(world, "x");
	assert_int_equal(profile_replay__read(&replay, "x"), 0);
	assert_int_equal(strlen(replay.target), 1023);
	assert_memory_equal(replay.target, "process id 12", 13);
	assert_string_equal(replay.target + 1020, "...");
	profile_replay__clear(&replay);
	end(world);
}

static void test_a_file_that_cannot_be_written_leaves_the_others(void **state __unused)
{
	struct world *world = two_programs();
	const struct profile_report report = report_of(world);
	struct profile_files files = {
		.paths = {[PROFILE_FLAMEGRAPH] = "full.svg", [PROFILE_PPROF] = "x"}};
	struct said said;
	struct stat st;
	char *text;

	unlink("x");
	assert_int_equal(symlink("/dev/full", "full.svg"), 0);
	assert_int_equal(profile_files__open(&files), 0);
	said__begin(&said);
	assert_int_equal(profile_files__write(&files, &report), -ENOSPC);
	text = said__end(&said);
	assert_non_null(strstr(text, "writing full.svg failed: No space left on device\n"));
	free(text);
	profile_files__close(&files);
	assert_int_equal(stat("x", &st), 0);
	unlink("full.svg");
	end(world);
}

/* --- what cannot be written, or is cut off --- */

static void test_a_name_that_fits_into_no_record_is_a_line(void **state __unused)
{
	char name[100000];
	struct world *world = two_programs();
	struct said said;
	char *text;

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(cgroup_names__add(&world->cgroups, 78, name), 0);
	said__begin(&said);
	assert_int_equal(try_to_write(world, "x"), -E2BIG);
	text = said__end(&said);
	assert_non_null(strstr(text, "a name in the profile is too long for perf.data\n"));
	free(text);
	end(world);
}

static void test_a_file_that_was_cut_off_is_refused(void **state __unused)
{
	struct world *world = two_programs();
	struct stat st;

	write_profile(world, "x");
	assert_int_equal(stat("x", &st), 0);
	while (st.st_size) {
		st.st_size -= st.st_size < 13 ? st.st_size : 13;
		assert_int_equal(truncate("x", st.st_size), 0);
		assert_refused("x", "perf");
	}
	end(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stack_ends_where_a_frame_is_no_address),
		cmocka_unit_test(test_two_programs_of_one_process_are_told_apart),
		cmocka_unit_test(test_single_samples_come_by_time),
		cmocka_unit_test(test_samples_without_a_record_are_counted_as_lost),
		cmocka_unit_test(test_modules_have_the_functions_that_were_sampled),
		cmocka_unit_test(test_a_profile_that_is_read_prints_the_same),
		cmocka_unit_test(test_single_samples_that_are_read_print_the_same),
		cmocka_unit_test(test_an_address_can_be_sampled_and_returned_to),
		cmocka_unit_test(test_a_stream_that_is_read_prints_the_same),
		cmocka_unit_test(test_frames_can_be_left_out),
		cmocka_unit_test(test_a_long_target_is_cut),
		cmocka_unit_test(test_a_name_that_fits_into_no_record_is_a_line),
		cmocka_unit_test(test_a_file_that_cannot_be_written_leaves_the_others),
		cmocka_unit_test(test_a_file_that_was_cut_off_is_refused),
	};

	return cmocka_run_group_tests(tests, make_own_dir, remove_own_dir);
}
