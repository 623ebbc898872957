// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "said.h"
#include "util/event/evlist.h"
#include "util/host/proc_stat.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/profile/account.h"
#include "util/profile/call_tree.h"
#include "util/profile/profile_options.h"
#include "util/profile/profile_report.h"
#include "util/profile/rows.h"
#include "util/profile/samples.h"
#include "util/profile/sort_keys.h"
#include "util/sample/sampler.h"
#include "util/symbol/symbols.h"

/* Functions of this program, whose addresses the samples have. */
#define FUNCTION(name)                                                                             \
	__attribute__((noinline)) void name(void);                                                 \
	void name(void)                                                                            \
	{                                                                                          \
		__asm__ volatile("nop; nop; nop; nop");                                            \
	}
FUNCTION(prog_main)
FUNCTION(alpha)
FUNCTION(beta)
FUNCTION(gamma_fn)

/* Not the first byte: the one before a return address is in the function that called. */
#define AT(function) ((uintptr_t)(function) + 1)

struct world {
	struct symbols *symbols;
	struct samples samples;
	struct profile_options options;
	struct evlist *events;
	struct sample_account account;
};

static uint64_t start_ns(void)
{
	struct proc_stat stat;

	assert_int_equal(proc_stat__read(getpid(), &stat), 0);
	return stat.start_ns;
}

static struct world *begin(enum profile_view view, const char *sort, uint32_t key)
{
	struct world *world = calloc(1, sizeof(*world));
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE};

	world->symbols = symbols__new(SYMBOLS_NAMES, false);
	world->samples.symbols = world->symbols;
	world->options.view = view;
	world->options.csv_sep = ",";
	assert_int_equal(sort_keys__parse(&world->options.sort, sort), 0);
	world->samples.key = sort_keys__sample_key(&world->options.sort) | key;
	world->events = evlist__new();
	evlist__add(world->events, evsel__new(&attr, "cycles"));
	return world;
}

static void end(struct world *world)
{
	samples__reset(&world->samples);
	symbols__delete(world->symbols);
	evlist__delete(world->events);
	free(world);
}

static struct sample_entry entry(uint64_t nr, uint64_t weight)
{
	return (struct sample_entry){
		.pid = getpid(),
		.tid = getpid(),
		.start_ns = start_ns(),
		.is_user = true,
		.comm = "prog",
		.nr_samples = nr,
		.weight = weight,
	};
}

/* A sample of one instruction of user space. */
static void add_ip(struct world *world, uint64_t ip, uint64_t nr, uint64_t weight)
{
	struct sample_entry sample = entry(nr, weight);

	sample.ip = ip;
	assert_int_equal(samples__add(&world->samples, &sample), 0);
}

/* A sample with a user stack, innermost first, 0 at its end. */
static void add_stack(struct world *world, uint64_t nr, const uint64_t *ips)
{
	struct sample_entry sample = entry(nr, 100 * nr);

	sample.user_ips = ips;
	while (ips[sample.nr_user])
		sample.nr_user++;
	assert_int_equal(samples__add(&world->samples, &sample), 0);
}

/* Return: what is printed, owned by the caller. */
static char *print(struct world *world)
{
	const struct profile_report report = {
		.options = &world->options,
		.samples = &world->samples,
		.events = world->events,
		.accounts = &world->account,
		.target = "system wide",
		.rate = "99 Hz",
		.time_ns = 1500000000,
		.elapsed_ns = 1500000000,
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(symbols__resolve(world->symbols, NULL, NULL), 0);
	assert_int_equal(profile_report__print(out, &report), 0);
	fclose(out);
	return text;
}

static void assert_prints(struct world *world, const char *want)
{
	char *text = print(world);

	assert_string_equal(text, want);
	free(text);
}

/* --- sort keys --- */

static void test_sort_keys_are_read_once_each(void **state __unused)
{
	struct sort_keys keys;

	assert_int_equal(sort_keys__parse(&keys, "comm,symbol,sym,comm,prio"), 0);
	assert_int_equal(keys.nr, 3);
	assert_int_equal(keys.keys[0], SORT_COMM);
	assert_int_equal(keys.keys[1], SORT_SYM);
	assert_int_equal(keys.keys[2], SORT_PRIO);
	sort_keys__add_first(&keys, SORT_CGROUP);
	sort_keys__add_first(&keys, SORT_PRIO);
	assert_int_equal(keys.nr, 4);
	assert_int_equal(keys.keys[0], SORT_CGROUP);
}

static void test_a_sort_key_that_does_not_exist_is_named(void **state __unused)
{
	struct sort_keys keys;
	struct said said;
	char *text;

	msg__init("perf profile");
	said__begin(&said);
	assert_int_equal(sort_keys__parse(&keys, "comm,colour"), -EINVAL);
	text = said__end(&said);
	assert_string_equal(
		text,
		"perf profile: -s comm,colour: 'colour' is not a sort key (comm, pid, tid, cpu, cgroup, prio, dso, sym, ip, page, daddr, srcline)\n");
	free(text);
}

static void test_the_sampler_gets_only_the_keys_that_are_needed(void **state __unused)
{
	struct sort_keys keys;

	assert_int_equal(sort_keys__parse(&keys, "comm,cpu"), 0);
	assert_int_equal(sort_keys__sample_key(&keys), SAMPLE_COMM | SAMPLE_CPU);
	assert_int_equal(sort_keys__parse(&keys, "sym"), 0);
	assert_int_equal(sort_keys__sample_key(&keys), SAMPLE_IP | SAMPLE_PROCESS);
}

/* --- rows --- */

static void test_instructions_of_one_function_are_one_row(void **state __unused)
{
	struct world *world = begin(VIEW_LIST, "sym", 0);

	add_ip(world, AT(alpha), 1, 100);
	add_ip(world, AT(beta), 2, 200);
	add_ip(world, AT(alpha) + 1, 1, 100);
	add_ip(world, AT(alpha), 1, 100);
	add_ip(world, AT(gamma_fn), 1, 100);
	world->account.kept = (struct sample_sum){6, 600};
	world->account.counted = 1000;
	world->account.idle = (struct sample_sum){2, 200};
	assert_prints(world,
		      "# 6 samples of cycles, 99 Hz, system wide, 1.500 s\n"
		      "#\n"
		      "# Overhead  Samples  Symbol\n"
		      "    50.00%        3  [.] alpha\n"
		      "    33.33%        2  [.] beta\n"
		      "    16.67%        1  [.] gamma_fn\n"
		      "#\n"
		      "# 6 samples stand for 75.0 % of cycles (600 of 800)\n"
		      "# left out: the idle task: 2 samples, 20.0 % of all that was counted\n"
		      "\n");
	end(world);
}

static void test_columns_tell_rows_apart_and_are_aligned(void **state __unused)
{
	struct world *world = begin(VIEW_LIST, "comm,cpu,sym", 0);
	struct sample_entry sample = entry(1, 10);

	sample.ip = AT(alpha);
	sample.cpu = 11;
	sample.comm = "x";
	assert_int_equal(samples__add(&world->samples, &sample), 0);
	sample.cpu = 0;
	sample.comm = "long name";
	sample.weight = 30;
	assert_int_equal(samples__add(&world->samples, &sample), 0);
	world->options.format = FORMAT_TEXT;
	{
		char *text = print(world);

		assert_non_null(strstr(text, "# Overhead  Samples  Command    CPU  Symbol\n"
					     "    75.00%        1  long name    0  [.] alpha\n"
					     "    25.00%        1  x           11  [.] alpha\n"));
		free(text);
	}
	end(world);
}

static void test_an_unknown_address_is_a_row(void **state __unused)
{
	struct world *world = begin(VIEW_LIST, "dso,sym", 0);
	struct sample_entry sample = entry(1, 10);

	sample.ip = 0x10;
	assert_int_equal(samples__add(&world->samples, &sample), 0);
	sample.is_user = false;
	sample.ip = 0x20;
	assert_int_equal(samples__add(&world->samples, &sample), 0);
	world->options.format = FORMAT_CSV;
	assert_prints(world, "cycles,50.0000,1,10,[anon],[anon]+0x10\n"
			     "cycles,50.0000,1,10,[kernel],[kernel]+0x20\n");
	end(world);
}

static void test_names_with_control_characters_cannot_harm_a_terminal(void **state __unused)
{
	struct world *world = begin(VIEW_LIST, "comm", 0);
	struct sample_entry sample = entry(1, 10);
	char *text;

	sample.comm = "a\033[2J,\"b";
	assert_int_equal(samples__add(&world->samples, &sample), 0);
	text = print(world);
	assert_non_null(strstr(text, "a\\033[2J,\"b\n"));
	free(text);
	world->options.format = FORMAT_CSV;
	assert_prints(world, "cycles,100.0000,1,10,\"a\\033[2J,\"\"b\"\n");
	end(world);
}

static void test_levels_can_be_left_out(void **state __unused)
{
	static const uint64_t user[] = {1, 0}, kernel[] = {2, 3};
	struct world *world = begin(VIEW_STACKS, "sym", SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK);
	struct sample_entry sample = entry(1, 10);
	const int *places;

	sample.user_ips = user;
	sample.nr_user = 1;
	sample.kernel_ips = kernel;
	sample.nr_kernel = 2;
	world->samples.no_kernel = true;
	assert_int_equal(samples__add(&world->samples, &sample), 0);
	assert_int_equal(samples__get(&world->samples, 0, &places)->nr_kernel, 0);
	assert_int_equal(samples__get(&world->samples, 0, &places)->nr_user, 1);
	samples__reset(&world->samples);
	world->samples.no_kernel = false;
	world->samples.no_user = true;
	assert_int_equal(samples__add(&world->samples, &sample), 0);
	assert_int_equal(samples__get(&world->samples, 0, &places)->nr_kernel, 2);
	assert_int_equal(samples__get(&world->samples, 0, &places)->nr_user, 0);
	end(world);
}

static void test_light_rows_are_counted_when_they_are_left_out(void **state __unused)
{
	struct world *world = begin(VIEW_LIST, "sym", 0);
	char *text;

	add_ip(world, AT(alpha), 1, 98);
	add_ip(world, AT(beta), 1, 1);
	add_ip(world, AT(gamma_fn), 1, 1);
	world->options.percent_limit = 2;
	text = print(world);
	assert_null(strstr(text, "beta"));
	assert_non_null(strstr(text, "# 2 rows below 2 %\n"));
	free(text);
	end(world);
}

/* --- trees --- */

/* main calls alpha, which calls beta, and beta itself. */
static struct world *calls(enum profile_view view, const char *sort)
{
	struct world *world = begin(
		view, sort, SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK | SAMPLE_COMM | SAMPLE_PROCESS);

	add_stack(world, 4, (uint64_t[]){AT(beta), AT(alpha), AT(prog_main), 0});
	add_stack(world, 2, (uint64_t[]){AT(beta) + 1, AT(alpha) + 1, AT(prog_main), 0});
	add_stack(world, 3, (uint64_t[]){AT(beta), AT(prog_main), 0});
	add_stack(world, 1, (uint64_t[]){AT(alpha), AT(prog_main), 0});
	return world;
}

static char *body(const char *text)
{
	const char *from = strstr(text, "Symbol\n") + strlen("Symbol\n"),
		   *to = strstr(from, "#\n# ");

	return strndup(from, to - from);
}

static void assert_body(struct world *world, const char *want)
{
	char *text = print(world), *part = body(text);

	assert_string_equal(part, want);
	free(part);
	free(text);
}

static void test_a_tree_of_callees_has_what_each_function_called(void **state __unused)
{
	struct world *world = calls(VIEW_TREE, "sym");

	world->options.is_caller = true;
	assert_body(world, "   100.00%     0.00%        0  [.] prog_main\n"
			   "            |--70.00%--alpha\n"
			   "            |   --60.00%--beta\n"
			   "             --30.00%--beta\n"
			   "\n"
			   "    90.00%    90.00%        9  [.] beta\n"
			   "    70.00%    10.00%        1  [.] alpha\n"
			   "             --60.00%--beta\n"
			   "\n");
	end(world);
}

static void test_a_tree_of_callers_has_what_called_each_function(void **state __unused)
{
	struct world *world = calls(VIEW_TREE, "sym");

	world->options.no_children = true;
	assert_body(world, "    90.00%        9  [.] beta\n"
			   "            |--60.00%--alpha\n"
			   "            |           prog_main\n"
			   "             --30.00%--prog_main\n"
			   "\n"
			   "    10.00%        1  [.] alpha\n"
			   "             --10.00%--prog_main\n"
			   "\n");
	end(world);
}

static void test_branches_below_the_limit_are_left_out(void **state __unused)
{
	static const struct limit {
		double percent;
		const char *body;
	} limits[] = {
		/* none: half a percent for branches */
		{0, "   100.00%     0.00%        0  [.] prog_main\n"
		    "            |--60.00%--alpha\n"
		    "             --39.70%--beta\n"
		    "\n"
		    "    60.00%    60.00%      600  [.] alpha\n"
		    "    39.70%    39.70%      397  [.] beta\n"
		    "     0.30%     0.30%        3  [.] gamma_fn\n"},
		{0.2, "   100.00%     0.00%        0  [.] prog_main\n"
		      "            |--60.00%--alpha\n"
		      "            |--39.70%--beta\n"
		      "             -- 0.30%--gamma_fn\n"
		      "\n"
		      "    60.00%    60.00%      600  [.] alpha\n"
		      "    39.70%    39.70%      397  [.] beta\n"
		      "     0.30%     0.30%        3  [.] gamma_fn\n"},
		{50, "   100.00%     0.00%        0  [.] prog_main\n"
		     "             --60.00%--alpha\n"
		     "\n"
		     "    60.00%    60.00%      600  [.] alpha\n"
		     "# 2 rows below 50 %\n"},
		{70, "   100.00%     0.00%        0  [.] prog_main\n"
		     "# 3 rows below 70 %\n"},
	};
	struct world *world = begin(VIEW_TREE, "sym", SAMPLE_USER_STACK);

	add_stack(world, 600, (uint64_t[]){AT(alpha), AT(prog_main), 0});
	add_stack(world, 397, (uint64_t[]){AT(beta), AT(prog_main), 0});
	add_stack(world, 3, (uint64_t[]){AT(gamma_fn), AT(prog_main), 0});
	world->options.is_caller = true;
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		world->options.percent_limit = limits[i].percent;
		assert_body(world, limits[i].body);
	}
	end(world);
}

static void test_a_function_that_calls_itself_counts_once(void **state __unused)
{
	struct world *world = begin(VIEW_TREE, "sym", SAMPLE_USER_STACK);
	const uint64_t deep[] = {AT(alpha), AT(alpha), AT(alpha), AT(prog_main), 0};

	add_stack(world, 5, deep);
	add_stack(world, 5, (uint64_t[]){AT(prog_main), 0});
	world->options.is_caller = true;
	assert_body(world, "   100.00%    50.00%        5  [.] prog_main\n"
			   "             --50.00%--alpha\n"
			   "                        alpha\n"
			   "                        alpha\n"
			   "\n"
			   "    50.00%    50.00%        5  [.] alpha\n"
			   "             --50.00%--alpha\n"
			   "                        alpha\n"
			   "\n");
	end(world);
}

/* One whose samples are in another function that it called. */
static void test_a_caller_that_calls_itself_counts_once(void **state __unused)
{
	struct world *world = begin(VIEW_TREE, "sym", SAMPLE_USER_STACK);

	add_stack(world, 5, (uint64_t[]){AT(beta), AT(alpha), AT(alpha), AT(prog_main), 0});
	add_stack(world, 5, (uint64_t[]){AT(prog_main), 0});
	assert_body(world, "   100.00%    50.00%        5  [.] prog_main\n"
			   "    50.00%     0.00%        0  [.] alpha\n"
			   "             --50.00%--alpha\n"
			   "                        prog_main\n"
			   "\n"
			   "    50.00%    50.00%        5  [.] beta\n"
			   "             --50.00%--alpha\n"
			   "                        alpha\n"
			   "                        prog_main\n"
			   "\n");
	end(world);
}

static void test_a_call_tree_is_sorted_and_sums_up(void **state __unused)
{
	static const struct call_frame a[] = {{1, 1}, {2, 2}}, b[] = {{1, 1}, {3, 3}},
				       c[] = {{4, 4}};
	struct call_tree tree = {};
	const struct call_node *node;

	assert_int_equal(call_tree__add(&tree, a, 2, 1, 10), 0);
	assert_int_equal(call_tree__add(&tree, b, 2, 2, 20), 0);
	assert_int_equal(call_tree__add(&tree, c, 1, 4, 40), 0);
	assert_int_equal(call_tree__sort(&tree), 0);
	assert_int_equal(tree.nodes[0].weight, 70);
	node = &tree.nodes[tree.nodes[0].first];
	assert_int_equal(node->function, 4);
	node = &tree.nodes[node->next];
	assert_int_equal(node->function, 1);
	assert_int_equal(node->nr, 3);
	assert_int_equal(node->weight, 30);
	assert_int_equal(node->next, -1);
	node = &tree.nodes[node->first];
	assert_int_equal(node->function, 3);
	assert_int_equal(tree.nodes[node->next].function, 2);
	call_tree__clear(&tree);
}

/* --- stacks --- */

static void test_folded_stacks_begin_with_the_command_and_the_outermost(void **state __unused)
{
	struct world *world = calls(VIEW_FOLDED, "sym");

	assert_prints(world, "prog;prog_main;alpha 100\n"
			     "prog;prog_main;beta 300\n"
			     "prog;prog_main;alpha;beta 600\n");
	end(world);
}

static void test_stacks_are_printed_innermost_first_heaviest_last(void **state __unused)
{
	struct world *world = calls(VIEW_STACKS, "sym");
	char *text = print(world);
	char *want = xasprintf("    beta\n    alpha\n    prog_main\n"
			       "    -                prog (%d)\n        6\n\n#\n",
			       getpid());

	assert_non_null(strstr(text, want));
	free(want);
	free(text);
	end(world);
}

static void test_stacks_of_the_kernel_lie_above_those_of_user_space(void **state __unused)
{
	static const uint64_t kernel[] = {0x30, 0x20};
	struct world *world =
		begin(VIEW_FOLDED, "sym", SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK | SAMPLE_COMM);
	const uint64_t user[] = {AT(alpha), AT(prog_main)};
	struct sample_entry sample = entry(1, 7);

	sample.kernel_ips = kernel;
	sample.nr_kernel = 2;
	sample.user_ips = user;
	sample.nr_user = 2;
	sample.comm = "a;b";
	assert_int_equal(samples__add(&world->samples, &sample), 0);
	assert_prints(world, "a:b;prog_main;alpha;[kernel]+0x20;[kernel]+0x30 7\n");
	end(world);
}

static void test_most_stacks_with_one_frame_are_noticed(void **state __unused)
{
	struct world *world = begin(VIEW_STACKS, "sym", SAMPLE_USER_STACK);

	add_stack(world, 5, (uint64_t[]){AT(alpha), AT(beta), 0});
	assert_false(profile_report__has_flat_stacks(&world->samples));
	add_stack(world, 6, (uint64_t[]){AT(alpha), 0});
	assert_true(profile_report__has_flat_stacks(&world->samples));
	end(world);
}

/* --- JSON --- */

static void test_json_has_an_object_a_line(void **state __unused)
{
	struct world *world = calls(VIEW_TREE, "comm,sym");
	char *text, *rest, *line;
	struct json_object *object;
	int nr = 0;

	world->options.format = FORMAT_JSON;
	world->options.has_interval = true;
	world->options.is_caller = true;
	world->account.kept = (struct sample_sum){10, 1000};
	world->account.counted = 1000;
	world->account.thinned = 42;
	world->account.lost[SAMPLE_LOST_TABLE].nr = 3;
	text = rest = print(world);
	while ((line = strsep(&rest, "\n")) && *line) {
		object = json_tokener_parse(line);
		assert_non_null(object);
		if (!nr)
			assert_string_equal(
				json_object_get_string(json_object_object_get(object, "sym")),
				"prog_main");
		if (nr == 3) {
			struct json_object *account = json_object_object_get(object, "account");
			struct json_object *lost = json_object_object_get(account, "lost");

			assert_int_equal(
				json_object_get_int(json_object_object_get(account, "thinned")),
				42);
			assert_int_equal(json_object_get_int(json_object_object_get(
						 json_object_object_get(lost, "table"), "samples")),
					 3);
			assert_true(json_object_get_double(
					    json_object_object_get(account, "share")) == 100.0);
		}
		json_object_put(object);
		nr++;
	}
	assert_int_equal(nr, 4);
	free(text);
	end(world);
}

static void test_a_priority_that_nobody_saw_is_unknown(void **state __unused)
{
	struct world *world = begin(VIEW_LIST, "prio", 0);
	char *text;

	for (int prio = 120; prio; prio = prio == 120 ? SAMPLE_PRIO_UNKNOWN : 0) {
		struct sample_entry sample = entry(1, prio == 120 ? 300 : 100);

		sample.prio = prio;
		assert_int_equal(samples__add(&world->samples, &sample), 0);
	}
	world->options.format = FORMAT_CSV;
	text = print(world);
	assert_non_null(strstr(text, "cycles,75.0000,1,300,120\n"));
	assert_non_null(strstr(text, "cycles,25.0000,1,100,[unknown]\n"));
	free(text);
	world->options.format = FORMAT_JSON;
	text = print(world);
	assert_non_null(strstr(text, "\"prio\": 120}"));
	assert_non_null(strstr(text, "\"prio\": null}"));
	free(text);
	end(world);
}

/* --- memory --- */

#define MANY_STACKS 1000000
#define MANY_FRAMES 20

/* A key with 20 places has 144 bytes; 215 were measured with the rest. Arrays that double may need more. */
#ifdef SANITIZED
#define BYTES_EACH 600 /* and 256 MB of freed memory, which the sanitizer keeps */
#else
#define BYTES_EACH 300
#endif

static long peak_kb(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

/* Each bit of a number is a call of one of two functions. */
static void test_a_million_different_stacks_take_few_bytes_each(void **state __unused)
{
	struct world *world =
		begin(VIEW_STACKS, "comm,sym", SAMPLE_PROCESS | SAMPLE_USER_STACK | SAMPLE_COMM);
	struct sample_entry sample = entry(1, 100);
	uint64_t ips[MANY_FRAMES], sum = 0;
	long before = peak_kb();

	sample.user_ips = ips;
	sample.nr_user = MANY_FRAMES;
	for (int i = 0; i < MANY_STACKS; i++) {
		for (int bit = 0; bit < MANY_FRAMES; bit++)
			ips[bit] = i >> bit & 1 ? AT(alpha) + 1 : AT(beta) + 1;
		assert_int_equal(samples__add(&world->samples, &sample), 0);
	}
	assert_in_range(peak_kb() - before, 0, MANY_STACKS / 1024 * BYTES_EACH);
	assert_int_equal(world->samples.keys.nr, MANY_STACKS);
	for (int i = 0; i < MANY_STACKS; i++)
		sum += world->samples.sums[i].weight;
	assert_int_equal(sum, 100ULL * MANY_STACKS);
	end(world);
}

/* --- accounts --- */

static void test_digits_are_grouped(void **state __unused)
{
	char buf[32];

	assert_string_equal(account__group_digits(0, buf), "0");
	assert_string_equal(account__group_digits(999, buf), "999");
	assert_string_equal(account__group_digits(1000, buf), "1,000");
	assert_string_equal(account__group_digits(12345678, buf), "12,345,678");
	assert_string_equal(account__group_digits(UINT64_MAX, buf), "18,446,744,073,709,551,615");
}

static char *account_text(const struct evsel *evsel, const struct sample_account *account)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	account__print_text(out, evsel, account);
	fclose(out);
	return text;
}

static void test_losses_are_named_with_their_part_of_the_count(void **state __unused)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CPU_CLOCK};
	struct evsel *evsel = evsel__new(&attr, "cpu-clock");
	struct sample_account account = {
		.kept = {12345, 996000000},
		.counted = 1000000000,
		.lost = {[SAMPLE_LOST_TABLE] = {40, 4000000}, [SAMPLE_LOST_THROTTLE] = {1, 0}},
		.truncated = {5, 1000000},
		.thinned = 2000000,
		.enabled_ns = 1000,
		.running_ns = 500,
		.absent_ns = 1234400000,
		.failed_reads = 1,
	};
	char *text = account_text(evsel, &account);

	assert_string_equal(
		text,
		"# 12,345 samples stand for 99.6 % of cpu-clock (996 of 1,000 msec)\n"
		"# not enough for another sample yet: 0.2 % of the count\n"
		"# lost: more distinct samples than the tables hold, 40 samples, 0.4 % of the count\n"
		"# lost: the kernel throttled the event, 1 time\n"
		"# lost: the event was not open, 1,234 msec of CPU time\n"
		"# 1 reading of the count failed: it may be short\n"
		"# stacks cut because they are too deep: 5 samples, 0.1 % of the count\n"
		"# multiplexed: counted 50.0 % of the time\n");
	free(text);
	evsel__delete(evsel);
}

static void test_modes_that_a_clock_excludes_are_no_losses(void **state __unused)
{
	const struct mode {
		unsigned int user, kernel;
		const char *text;
	} modes[] = {{0, 1, "kernel mode"}, {1, 0, "user mode"}, {1, 1, "user and kernel mode"}};
	const struct sample_account account = {
		.kept = {300, 300000000},
		.idle = {200, 200000000},
		.mode = {400, 400000000},
		.counted = 1000000000,
		.unseen = 100000000,
		.thinned = 100000, /* 0.0 % */
	};

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
					       .config = PERF_COUNT_SW_CPU_CLOCK,
					       .exclude_user = modes[i].user,
					       .exclude_kernel = modes[i].kernel};
		struct evsel *evsel = evsel__new(&attr, "clock");
		char *text = account_text(evsel, &account), *expected;

		assert_true(
			asprintf(
				&expected,
				"# 300 samples stand for 75.0 %% of clock (300 of 400 msec)\n"
				"# left out: the idle task: 200 samples, 20.0 %% of all that was counted\n"
				"# left out: %s: 400 samples, 40.0 %% of all that was counted\n"
				"# %s (not permitted to sample), or lost: 25.0 %% of the count\n",
				modes[i].text, modes[i].text) > 0);
		assert_string_equal(text, expected);
		free(expected);
		free(text);
		evsel__delete(evsel);
	}
}

static void test_throttling_has_its_part_of_the_count(void **state __unused)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .config = PERF_COUNT_HW_CPU_CYCLES};
	struct evsel *evsel = evsel__new(&attr, "cycles");
	struct sample_account account = {
		.kept = {54, 5400},
		.counted = 10000,
		.lost = {[SAMPLE_LOST_THROTTLE] = {46, 4600}},
	};
	char *text = account_text(evsel, &account);

	assert_string_equal(
		text, "# 54 samples stand for 54.0 % of cycles (5,400 of 10,000)\n"
		      "# lost: the kernel throttled the event, 46 samples, 46.0 % of the count\n");
	free(text);
	evsel__delete(evsel);
}

static void test_a_loss_has_the_reasons_that_its_event_can_have(void **state __unused)
{
	const struct {
		uint32_t type;
		uint64_t config;
		enum sample_loss loss;
		const char *text;
	} losses[] = {
		{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, SAMPLE_LOST_BLIND,
		 "the kernel took no sample (beside other BPF programs, or its timer was late)"},
		{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, SAMPLE_LOST_TIMER,
		 "its timer was late"},
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, SAMPLE_LOST_BLIND,
		 "the kernel took no sample (beside other BPF programs, or its interrupt was late)"},
		{PERF_TYPE_RAW, 8, SAMPLE_LOST_TIMER, "its interrupt was late"},
		{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, SAMPLE_LOST_BLIND,
		 "the kernel took no sample (beside other BPF programs)"},
		{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, SAMPLE_LOST_TIMER,
		 "the kernel took no sample"},
		{PERF_TYPE_BREAKPOINT, 0, SAMPLE_LOST_BLIND,
		 "the kernel took no sample (beside other BPF programs)"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		struct perf_event_attr attr = {.type = losses[i].type, .config = losses[i].config};
		struct evsel *evsel = evsel__new(&attr, "event");
		struct sample_account account = {.kept = {99, 99000000}, .counted = 100000000};
		char *text, *expected;

		account.lost[losses[i].loss] = (struct sample_sum){1, 1000000};
		text = account_text(evsel, &account);
		assert_true(asprintf(&expected, "\n# lost: %s, 1 sample, 1.0 %% of the count\n",
				     losses[i].text) > 0);
		assert_string_equal(strchr(text, '\n'), expected);
		free(expected);
		free(text);
		evsel__delete(evsel);
	}
}

static void test_samples_that_a_program_leaves_out_are_a_line(void **state __unused)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE};
	struct evsel *evsel = evsel__new(&attr, "cpu-clock");
	struct sample_account account = {
		.kept = {50, 50000000}, .counted = 100000000, .refused = 50000000};
	char *text = account_text(evsel, &account);

	assert_string_equal(text, "# 50 samples stand for 50.0 % of cpu-clock (50 of 100 msec)\n"
				  "# left out by the program, or lost: 50.0 % of the count\n");
	free(text);
	evsel__delete(evsel);
}

static void test_an_interval_has_its_own_account(void **state __unused)
{
	struct sample_account before = {.kept = {1, 10}, .counted = 20, .enabled_ns = 5};
	const struct sample_account now = {.kept = {4, 70}, .counted = 100, .enabled_ns = 8};
	struct sample_account part = account__advance(&now, &before);

	assert_int_equal(part.kept.nr, 3);
	assert_int_equal(part.kept.weight, 60);
	assert_int_equal(part.counted, 80);
	assert_int_equal(part.enabled_ns, 3);
	assert_true(account__share(&part) == 75.0);
	assert_true(account__share(&(struct sample_account){}) == 0);
}

/* A sample that was on its way has come. */
static void test_losses_that_become_smaller_are_no_losses_of_an_interval(void **state __unused)
{
	const struct sum_of_round {
		uint64_t now, part;
	} rounds[] = {{3, 3}, {2, 0}, {3, 0}, {7, 4}};
	struct sample_account before = {};

	for (size_t i = 0; i < ARRAY_SIZE(rounds); i++) {
		const struct sample_account now = {
			.lost = {[SAMPLE_LOST_BLIND] = {rounds[i].now, 10 * rounds[i].now}},
			.period = 1000,
		};
		struct sample_account part = account__advance(&now, &before);

		assert_int_equal(part.lost[SAMPLE_LOST_BLIND].nr, rounds[i].part);
		assert_int_equal(part.lost[SAMPLE_LOST_BLIND].weight, 10 * rounds[i].part);
		assert_int_equal(part.period, 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort_keys_are_read_once_each),
		cmocka_unit_test(test_a_sort_key_that_does_not_exist_is_named),
		cmocka_unit_test(test_the_sampler_gets_only_the_keys_that_are_needed),
		cmocka_unit_test(test_instructions_of_one_function_are_one_row),
		cmocka_unit_test(test_columns_tell_rows_apart_and_are_aligned),
		cmocka_unit_test(test_an_unknown_address_is_a_row),
		cmocka_unit_test(test_names_with_control_characters_cannot_harm_a_terminal),
		cmocka_unit_test(test_levels_can_be_left_out),
		cmocka_unit_test(test_light_rows_are_counted_when_they_are_left_out),
		cmocka_unit_test(test_a_tree_of_callees_has_what_each_function_called),
		cmocka_unit_test(test_a_tree_of_callers_has_what_called_each_function),
		cmocka_unit_test(test_branches_below_the_limit_are_left_out),
		cmocka_unit_test(test_a_function_that_calls_itself_counts_once),
		cmocka_unit_test(test_a_caller_that_calls_itself_counts_once),
		cmocka_unit_test(test_a_call_tree_is_sorted_and_sums_up),
		cmocka_unit_test(test_folded_stacks_begin_with_the_command_and_the_outermost),
		cmocka_unit_test(test_stacks_are_printed_innermost_first_heaviest_last),
		cmocka_unit_test(test_stacks_of_the_kernel_lie_above_those_of_user_space),
		cmocka_unit_test(test_most_stacks_with_one_frame_are_noticed),
		cmocka_unit_test(test_json_has_an_object_a_line),
		cmocka_unit_test(test_a_priority_that_nobody_saw_is_unknown),
		cmocka_unit_test(test_a_million_different_stacks_take_few_bytes_each),
		cmocka_unit_test(test_digits_are_grouped),
		cmocka_unit_test(test_losses_are_named_with_their_part_of_the_count),
		cmocka_unit_test(test_modes_that_a_clock_excludes_are_no_losses),
		cmocka_unit_test(test_throttling_has_its_part_of_the_count),
		cmocka_unit_test(test_a_loss_has_the_reasons_that_its_event_can_have),
		cmocka_unit_test(test_samples_that_a_program_leaves_out_are_a_line),
		cmocka_unit_test(test_an_interval_has_its_own_account),
		cmocka_unit_test(test_losses_that_become_smaller_are_no_losses_of_an_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
