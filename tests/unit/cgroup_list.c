// SPDX-License-Identifier: GPL-2.0
/* LISTs of cgroups in an invented tree with invented mounts: util/target/cgroup_list.c, cgroup_fs.c. */
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

#include "said.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/cgroup_list.h"

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2 "0123ffff89abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char top[] = "/tmp/perf-cgroup-XXXXXX";
static char *tree, *proc;

static void make_dir(const char *path)
{
	char *dir __cleanup(free_ptr) = xasprintf("%s/%s", top, path);

	assert_int_equal(mkdir(dir, 0700), 0);
}

static void write_file(const char *path, const char *text)
{
	char *file __cleanup(free_ptr) = xasprintf("%s/%s", top, path);
	FILE *out = fopen(file, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* Describe a mount. @type: of the mount; @options: of the file system; @root: its top cgroup */
static void mount_as(const char *type, const char *options, const char *root, int hierarchy)
{
	char *mounts __cleanup(free_ptr) =
		xasprintf("22 1 0:2 / /proc rw - proc proc rw\n"
			  "30 22 0:26 %s %s rw,nosuid shared:4 - %s cgroup %s\n",
			  root, tree, type, options);
	char *controllers __cleanup(free_ptr) = xasprintf(
		"#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t1\t1\t1\nperf_event\t%d\t1\t1\n",
		hierarchy);

	write_file("proc/self/mountinfo", mounts);
	write_file("proc/cgroups", controllers);
}

static int set_up(void **state)
{
	static const char *const dirs[] = {
		"proc",
		"proc/self",
		"proc/7",
		"proc/8",
		"tree",
		"tree/a",
		"tree/a/b",
		"tree/a/c.slice",
		"tree/a/c.slice/b",
		"tree/z",
		"tree/glob:x",
		"tree/docker-" ID ".scope",
		("tree/docker-" ID ".scope/init"),
		"tree/libpod-conmon-" ID ".scope",
		"tree/m",
		"tree/m/" ID2,
	};

	(void)state;
	msg__init("perf stat");
	assert_non_null(mkdtemp(top));
	tree = xasprintf("%s/tree", top);
	proc = xasprintf("%s/proc", top);
	setenv("PROCFS_PATH", proc, 1);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		make_dir(dirs[i]);
	write_file("tree/a/cgroup.procs", "");
	write_file("proc/self/cgroup", "4:memory:/x\n0::/a/b\n");
	write_file("proc/7/cgroup", "5:cpu,perf_event:/z\n0::/\n");
	write_file("proc/8/cgroup", "5:cpu,perf_event:/../out\n0::/../out\n");
	return 0;
}

static int tear_down(void **state)
{
	char *command __cleanup(free_ptr) = xasprintf("rm -r %s", top);

	(void)state;
	free(tree);
	free(proc);
	return system(command);
}

/* Return: the names in a list, in order, and the messages; owned by the caller. */
static char *names_of(struct cgroup_list *list)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (int i = 0; i < list->nr; i++) {
		if (list->cgroups[i]->state != CGROUP_FREE)
			fprintf(out, "%s%s%s", i ? " " : "", list->cgroups[i]->name,
				list->cgroups[i]->state == CGROUP_GONE ? "(gone)" : "");
	}
	fclose(out);
	return text;
}

static void assert_names(struct cgroup_list *list, const char *want)
{
	char *names __cleanup(free_ptr) = names_of(list);

	assert_string_equal(names, want);
}

struct list_case {
	const char *text;
	const char *names; /* separated by blanks */
	const char *said;  /* the message: %s is the mount; "" for none */
	int ret;
	bool may_wait;
};

static const struct list_case list_cases[] = {
	/* names keep their order, once each; an empty name is the root */
	{.text = "z,a/b,/a/b,a,z", "z a/b a", ""},
	{.text = ",a", "/ a", ""},
	{.text = "/", "/", ""},
	{.text = "a,none,a/b/none",
	 "a",
	 "perf stat: no access to cgroup %s/none: No such file or directory: skipped\n"
	 "perf stat: no access to cgroup %s/a/b/none: No such file or directory: skipped\n"},
	{.text = "none",
	 "",
	 "perf stat: no access to cgroup %s/none: No such file or directory: skipped\n"
	 "perf stat: no cgroup matched: none\n",
	 -EINVAL},
	{.text = "a/../z",
	 "",
	 "perf stat: no access to cgroup %s/a/../z: No such file or directory: skipped\n"
	 "perf stat: no cgroup matched: a/../z\n",
	 -EINVAL},
	{.text = "a/cgroup.procs",
	 "",
	 "perf stat: no access to cgroup %s/a/cgroup.procs: Not a directory: skipped\n"
	 "perf stat: no cgroup matched: a/cgroup.procs\n",
	 -EINVAL},
	/* a single expression makes all elements expressions; matches are in the order of the walk */
	{.text = "^a", "a a/b a/c.slice a/c.slice/b", ""},
	{.text = "b$", "a/b a/c.slice/b", ""},
	{.text = "^/$", "/", ""},
	{.text = "slice$,z", "a/c.slice z", ""},
	{.text = "^a/b$,", "a/b /", ""},
	{.text = "[x",
	 "",
	 "perf stat: --for-each-cgroup: '[x' is not a valid basic regular expression: %e\n",
	 -EINVAL},
	{.text = "q$",
	 "",
	 "perf stat: no cgroup matches 'q$'\nperf stat: no cgroup matched: q$\n",
	 -EINVAL},
	{.text = "q$", "", "perf stat: no cgroup matches 'q$' yet: waiting for one\n", 0, true},
	{.text = "none",
	 "",
	 "perf stat: no access to cgroup %s/none: No such file or directory: skipped\n"
	 "perf stat: no cgroup matched: none\n",
	 -EINVAL,
	 true},
	/* prefixes do not make names expressions */
	{.text = "glob:*.slice,a", "a/c.slice a", ""},
	{.text = "glob:b", "a/b a/c.slice/b", ""},
	{.text = "glob:a/*", "a/b a/c.slice", ""},
	{.text = "glob:/?", "a m z", ""},
	{.text = "glob:/", "/", ""},
	{.text = "glob:", "", "perf stat: --for-each-cgroup: 'glob:' needs a value\n", -EINVAL},
	{.text = "/glob:x", "glob:x", ""},
	{.text = "ctr:01234", "docker-" ID ".scope", ""},
	{.text = "ctr:" ID2, "m/" ID2, ""},
	{.text = "ctr:0123",
	 "",
	 "perf stat: --for-each-cgroup ctr:0123: several container IDs begin with it: give more digits\n",
	 -EINVAL},
	{.text = "ctr:9",
	 "",
	 "perf stat: no cgroup matches 'ctr:9'\nperf stat: no cgroup matched: ctr:9\n",
	 -EINVAL},
	{.text = "@self,a", "a/b a", ""},
	{.text = "pid:7", "/", ""},
	{.text = "pid:6,@self", "a/b", "perf stat: pid:6: no such process: skipped\n"},
	{.text = "pid:8,@self",
	 "a/b",
	 "perf stat: pid:8: its cgroup is outside of what is mounted here: skipped\n"},
	{.text = "pid:x",
	 "",
	 "perf stat: --for-each-cgroup pid:x: not the number of a process\n",
	 -EINVAL},
	{.text = "z,@all",
	 "z / a a/b a/c.slice a/c.slice/b docker-" ID ".scope docker-" ID
	 ".scope/init glob:x libpod-conmon-" ID ".scope m m/" ID2,
	 ""},
};

/* Return: true if a message is as expected: %s stands for the mount, %e for regcomp()'s message. */
static bool is_said(const char *text, const char *said)
{
	char *want __cleanup(free_ptr) = NULL;

	if (strstr(text, "%e"))
		return !strncmp(text, said, strstr(text, "%e") - text);
	want = xasprintf(text, tree, tree);
	return !strcmp(want, said);
}

static void each_list_selects_its_cgroups(void **state)
{
	(void)state;
	mount_as("cgroup2", "rw", "/", 0);
	for (size_t i = 0; i < ARRAY_SIZE(list_cases); i++) {
		const struct list_case *c = &list_cases[i];
		struct cgroup_list *list = cgroup_list__new();
		char *said, *names;
		struct said capture;
		int ret;

		said__begin(&capture);
		ret = cgroup_list__parse(list, c->text, c->may_wait);
		said = said__end(&capture);
		names = names_of(list);
		if (ret != c->ret || strcmp(names, c->names) || !is_said(c->said, said))
			fail_msg("%s: %d, %s, said: %s", c->text, ret, names, said);
		free(said);
		free(names);
		cgroup_list__delete(list);
	}
}

struct mount_case {
	const char *type, *options, *root;
	int hierarchy;
	const char *own;  /* path of process 7 there; NULL: unknown */
	const char *said; /* the message in that case */
};

static const struct mount_case mount_cases[] = {
	{"cgroup2", "rw", "/", 0, "/", NULL},
	{"cgroup", "rw,cpu,perf_event", "/", 5, "z", NULL},
	{"cgroup", "rw,perf_event", "/z", 5, "/", NULL},
	{"cgroup", "rw,perf_event", "/y", 5, NULL, NULL},
	{"cgroup", "rw,cpu", "/", 0, NULL,
	 "perf stat: cannot count by cgroup: no cgroups are mounted (mount -t cgroup2 cgroup2 /sys/fs/cgroup)\n"},
	{"cgroup2", "rw", "/", 3, NULL,
	 "perf stat: cannot count by cgroup: the perf_event controller has a v1 hierarchy, which is not mounted (mount -t cgroup -o perf_event cgroup DIRECTORY)\n"},
};

static void hierarchy_of_the_controller_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mount_cases); i++) {
		const struct mount_case *c = &mount_cases[i];
		struct cgroup_fs fs;
		struct said capture;
		char *said, *own;

		mount_as(c->type, c->options, c->root, c->hierarchy);
		said__begin(&capture);
		cgroup_fs__find(&fs);
		said = said__end(&capture);
		assert_string_equal(said, c->said ? c->said : "");
		free(said);
		if (c->said)
			continue;
		assert_string_equal(fs.mount, tree);
		assert_int_equal(fs.is_v1, !strcmp(c->type, "cgroup"));
		own = cgroup_fs__of_task(&fs, 7);
		if (c->own)
			assert_string_equal(own, c->own);
		else
			assert_null(own);
		free(own);
		cgroup_fs__clear(&fs);
	}
	write_file("proc/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t1\t1\t1\n");
	{
		struct cgroup_fs fs;
		struct said capture;

		said__begin(&capture);
		assert_int_equal(cgroup_fs__find(&fs), -EOPNOTSUPP);
		free(said__end(&capture));
	}
}

static void scan_finds_new_and_removed_cgroups(void **state)
{
	struct cgroup_list *list = cgroup_list__new();
	uint64_t first;

	(void)state;
	mount_as("cgroup2", "rw", "/", 0);
	assert_int_equal(cgroup_list__parse(list, "glob:/z*,a", true), 0);
	for (int i = 0; i < list->nr; i++)
		list->cgroups[i]->state = CGROUP_LIVE;
	first = list->cgroups[0]->id;
	assert_true(first);
	make_dir("tree/z1");
	assert_int_equal(cgroup_list__scan(list), 0);
	assert_names(list, "z a z1");
	assert_int_equal(list->cgroups[2]->state, CGROUP_NEW);
	list->cgroups[2]->state = CGROUP_LIVE;
	/* Create it before removing the other: file systems other than cgroupfs reuse inode numbers. */
	make_dir("tree/z2");
	assert_int_equal(rmdir(list->cgroups[2]->dir), 0);
	assert_int_equal(cgroup_list__scan(list), 0);
	assert_names(list, "z a z1(gone) z2");
	assert_int_equal(cgroup_list__scan(list), 0);
	assert_names(list, "z a z1(gone) z2");
	cgroup_list__free(list, 2);
	make_dir("tree/z3");
	assert_int_equal(cgroup_list__scan(list), 0);
	assert_names(list, "z a z3 z2");
	assert_int_equal(list->cgroups[0]->id, first);
	cgroup_list__delete(list);
}

/* A cgroup reported by a BPF program may already be gone, and may have had children. */
static void noted_cgroups_match_though_already_gone(void **state)
{
	struct cgroup_list *list = cgroup_list__new();
	uint64_t top_id;

	(void)state;
	mount_as("cgroup2", "rw", "/", 0);
	assert_int_equal(cgroup_list__parse(list, "glob:m/*/n*,glob:/k", true), 0);
	assert_true(list->follows);
	assert_names(list, "");
	top_id = cgroup_fs__id(tree);
	assert_int_equal(cgroup_list__note(list, 1000001, top_id, "k"), 0);
	assert_int_equal(cgroup_list__note(list, 1000001, top_id, "k"), 0);
	assert_int_equal(cgroup_list__note(list, 1000002, 999, "n0"), 0);
	{
		char *dir __cleanup(free_ptr) = xasprintf("%s/m", tree);

		assert_int_equal(cgroup_list__note(list, 1000003, cgroup_fs__id(dir), "x"), 0);
	}
	assert_int_equal(cgroup_list__note(list, 1000004, 1000003, "n1"), 0);
	assert_int_equal(cgroup_list__note(list, 1000005, 1000003, "other"), 0);
	assert_names(list, "k m/x/n1");
	/* A child of one that was noted before a walk, and was gone when the walk came. */
	assert_int_equal(cgroup_list__scan(list), 0);
	assert_int_equal(cgroup_list__note(list, 1000006, 1000003, "n2"), 0);
	assert_names(list, "k m/x/n1 m/x/n2");
	assert_int_equal(list->cgroups[1]->state, CGROUP_NEW);
	assert_int_equal(list->cgroups[1]->id, 1000004);
	/* Neither exists any longer. */
	cgroup_list__begin(list);
	assert_names(list, "k(gone) m/x/n1(gone) m/x/n2(gone)");
	cgroup_list__delete(list);
}

static void added_names_must_exist(void **state)
{
	struct cgroup_list *list = cgroup_list__new();
	struct said capture;
	char *said;

	(void)state;
	mount_as("cgroup2", "rw", "/", 0);
	assert_string_equal(cgroup_list__add(list, "/a/b")->name, "/a/b");
	assert_ptr_equal(cgroup_list__add(list, "a/b"), cgroup_list__add(list, "a/b"));
	said__begin(&capture);
	assert_null(cgroup_list__add(list, "none"));
	said = said__end(&capture);
	assert_true(is_said("perf stat: no access to cgroup %s/none: No such file or directory\n",
			    said));
	free(said);
	assert_int_equal(list->nr, 1);
	cgroup_list__delete(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_list_selects_its_cgroups),
		cmocka_unit_test(hierarchy_of_the_controller_is_found),
		cmocka_unit_test(scan_finds_new_and_removed_cgroups),
		cmocka_unit_test(noted_cgroups_match_though_already_gone),
		cmocka_unit_test(added_names_must_exist),
	};

	return cmocka_run_group_tests_name("cgroup_list", tests, set_up, tear_down);
}
