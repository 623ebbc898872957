// SPDX-License-Identifier: GPL-2.0
#include "util/defs/definitions.h"

#include "util/defs/cpuid.h"
#include "util/defs/definitions_json.h"
#include "util/defs/metric_builtin.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#ifndef PERF_DATADIR
#define PERF_DATADIR "/usr/local/share/perf-stat"
#endif

#define MAPFILE "mapfile.csv"
/* Vendors' trees have two or three levels; links could make loops. */
#define MAX_DEPTH 6

#if defined(__x86_64__) || defined(__i386__)
#define ARCH_DIR "x86"
#elif defined(__aarch64__)
#define ARCH_DIR "arm64"
#elif defined(__riscv)
#define ARCH_DIR "riscv"
#elif defined(__s390x__)
#define ARCH_DIR "s390"
#elif defined(__powerpc64__)
#define ARCH_DIR "powerpc"
#else
#define ARCH_DIR "common"
#endif

struct definitions {
	struct definition_file *files;
	int nr_files;
	struct definition_tables tables; /* built-in metrics follow those of files */
	bool wants_places;		 /* places without an option are not searched yet */
	bool has_events, has_metrics;	 /* all files have been read for these */
	char *cpuid;
};

struct definitions *definitions__new(void)
{
	struct definitions *defs = calloc(1, sizeof(*defs));

	if (!defs)
		errno = ENOMEM;
	return defs;
}

void definitions__delete(struct definitions *defs)
{
	int i;

	if (!defs)
		return;
	for (i = 0; i < defs->nr_files; i++) {
		free(defs->files[i].path);
		free(defs->files[i].topic);
		json_object_put(defs->files[i].json);
	}
	free(defs->files);
	definition_tables__clear(&defs->tables);
	free(defs->cpuid);
	free(defs);
}

const char *definitions__cpuid(struct definitions *defs)
{
	if (!defs->cpuid)
		defs->cpuid = cpuid__get();
	return defs->cpuid ? defs->cpuid : "";
}

static bool is_json(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && !strcasecmp(name + len - 5, ".json");
}

/* Add a file, once. */
static int add_file(struct definitions *defs, const char *path, const char *pmu, bool is_standard)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct definition_file *file;
	char *c;
	int i;

	for (i = 0; i < defs->nr_files; i++) {
		if (!strcmp(defs->files[i].path, path))
			return 0;
	}
	file = array__add(defs->files, defs->nr_files);
	if (!file)
		return -ENOMEM;
	*file = (struct definition_file){
		.path = strdup(path),
		.topic = strndup(name, strlen(name) - (is_json(name) ? 5 : 0)),
		.pmu = pmu,
		.is_standard = is_standard,
	};
	if (!file->path || !file->topic) {
		free(file->path);
		free(file->topic);
		defs->nr_files--;
		return -ENOMEM;
	}
	for (c = file->topic; *c; c++)
		*c = *c == '-' ? ' ' : *c;
	return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static bool is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Add the *.json of one directory in the order of their names. */
static int add_files_of(struct definitions *defs, const char *dir, const char *pmu,
			bool is_standard)
{
	struct dirent **entries;
	int nr = scandir(dir, &entries, NULL, by_name), err = 0, i;

	if (nr < 0)
		return -errno;
	for (i = 0; i < nr; i++) {
		char *path __cleanup(free_ptr) = NULL;

		if (!err && is_json(entries[i]->d_name)) {
			path = xasprintf("%s/%s", dir, entries[i]->d_name);
			err = path ? add_file(defs, path, pmu, is_standard) : -ENOMEM;
		}
		free(entries[i]);
	}
	free(entries);
	return err;
}

/* Add the directories called sys below a mapfile: events of PMUs that "Compat" finds. */
static int add_sys_of(struct definitions *defs, const char *dir, int depth)
{
	struct dirent **entries;
	int nr = depth < MAX_DEPTH ? scandir(dir, &entries, NULL, by_name) : 0, err = 0, i;

	for (i = 0; i < nr; i++) {
		char *path __cleanup(free_ptr) = xasprintf("%s/%s", dir, entries[i]->d_name);

		if (!path)
			err = -ENOMEM;
		if (!err && entries[i]->d_name[0] != '.' && is_dir(path))
			err = strcmp(entries[i]->d_name, "sys") ?
				      add_sys_of(defs, path, depth + 1) :
				      add_files_of(defs, path, NULL, false);
		free(entries[i]);
	}
	if (nr > 0)
		free(entries);
	return err;
}

/* --- mapfile.csv --- */

/* Return: the next field of a line; *line becomes the rest. */
static char *next_field(char **line)
{
	char *field = strsep(line, ",");

	return field ? field : "";
}

/* A column of some vendors names the kind of core. */
static const char *pmu_of_role(const char *role)
{
	if (!strcasecmp(role, "Core"))
		return "cpu_core";
	if (!strcasecmp(role, "Atom"))
		return "cpu_atom";
	return NULL;
}

/* The kinds of lines that have matched, one a line; "hybridcore" once for each role. */
struct matched_kinds {
	char *text;
};

/* Return: whether this is the first line of its kind that matches, or -ENOMEM. */
static int is_first_of(struct matched_kinds *seen, const char *kind, const char *pmu)
{
	char *word __cleanup(free_ptr) = xasprintf("\n%s:%s\n", kind, pmu ? pmu : "");
	char *all;

	if (!word)
		return -ENOMEM;
	if (seen->text && strstr(seen->text, word))
		return 0;
	all = xasprintf("%s%s", seen->text ? seen->text : "", word);
	if (!all)
		return -ENOMEM;
	free(seen->text);
	seen->text = all;
	return 1;
}

/*
 * "CPU,version,file or directory,kind[,core type,model,role]". Patterns overlap: the first line of
 * a kind counts, as for Linux's perf.
 */
static int add_mapped(struct definitions *defs, const char *dir, char *line,
		      struct matched_kinds *seen)
{
	const char *pattern, *file, *kind, *pmu = NULL;
	char *path __cleanup(free_ptr) = NULL;
	int err;

	line[strcspn(line, "\r\n")] = '\0';
	if (!*line || *line == '#')
		return 0;
	pattern = next_field(&line);
	next_field(&line);
	file = next_field(&line);
	kind = next_field(&line);
	if (!strncmp(kind, "hybrid", 6)) {
		next_field(&line);
		next_field(&line);
		pmu = pmu_of_role(next_field(&line));
	}
	if (!*file || !cpuid__matches(pattern, definitions__cpuid(defs)))
		return 0;
	err = is_first_of(seen, kind, pmu);
	if (err <= 0)
		return err;
	path = xasprintf("%s/%s", dir, file + strspn(file, "/"));
	if (!path)
		return -ENOMEM;
	if (is_dir(path))
		return add_files_of(defs, path, pmu, false);
	err = access(path, R_OK) ? -errno : add_file(defs, path, pmu, false);
	if (err && err != -ENOMEM) {
		pr_verbose("%s/" MAPFILE ": '%s': %s", dir, file, strerror(-err));
		err = 0;
	}
	return err;
}

/* Return: whether there is a mapfile, or -errno. */
static int add_mapfile(struct definitions *defs, const char *dir)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/" MAPFILE, dir);
	struct matched_kinds seen = {};
	char *line = NULL;
	size_t size = 0;
	FILE *file;
	int err = 0;

	if (!path)
		return -ENOMEM;
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	while (!err && getline(&line, &size, file) >= 0)
		err = add_mapped(defs, dir, line, &seen);
	free(seen.text);
	free(line);
	fclose(file);
	return err ? err : 1;
}

static int add_dir(struct definitions *defs, const char *dir)
{
	char *arch __cleanup(free_ptr) = xasprintf("%s/" ARCH_DIR, dir);
	int has_map = arch ? add_mapfile(defs, dir) : -ENOMEM, err = 0;

	if (has_map < 0)
		return has_map;
	if (!has_map && is_dir(arch))
		err = add_dir(defs, arch);
	if (!err)
		err = add_files_of(defs, dir, NULL, has_map);
	if (!err && has_map)
		err = add_sys_of(defs, dir, 0);
	return err;
}

/* Parse a file that the user named at once, to report any error in it. */
static int add_path(struct definitions *defs, const char *path)
{
	int err;

	if (is_dir(path))
		return add_dir(defs, path);
	err = access(path, R_OK) ? -errno : add_file(defs, path, NULL, false);
	if (!err)
		definition_file__parse(&defs->files[defs->nr_files - 1], DEFINES_ANYTHING);
	return err;
}

int definitions__add_file(struct definitions *defs, const char *path)
{
	int err = add_path(defs, path);

	if (err)
		pr_err("cannot read definitions from '%s': %s", path, strerror(-err));
	return err;
}

/*
 * Return: the directory of the shipped definitions: beside the program in a build tree, or relative
 * to it in an installation. An installation may be moved and have another name. Owned.
 */
static char *shipped_dir(void)
{
	char exe[PATH_MAX], *dirs[3] = {}, *found = NULL, *name;
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[len < 0 ? 0 : len] = '\0';
	name = strrchr(exe, '/');
	if (name) {
		*name++ = '\0';
		dirs[0] = xasprintf("%s/metrics", exe);
		dirs[1] = xasprintf("%s/../share/%s/metrics", exe, name);
		dirs[2] = xasprintf("%s/../share/perf-stat/metrics", exe);
	}
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		if (!found && dirs[i] && is_dir(dirs[i]))
			found = dirs[i];
		else
			free(dirs[i]);
	}
	return found ? found : strdup(PERF_DATADIR "/metrics");
}

static void add_places(struct definitions *defs)
{
	const char *given = secure_getenv("PERF_METRICS_PATH");
	char *paths __cleanup(free_ptr) = given ? strdup(given) : NULL;
	char *shipped __cleanup(free_ptr) = shipped_dir(), *rest = paths, *path;
	int err;

	while (rest && (path = strsep(&rest, ":"))) {
		err = *path ? add_path(defs, path) : 0;
		if (err)
			pr_warn("PERF_METRICS_PATH: cannot read '%s': %s", path, strerror(-err));
	}
	/* Without these files, built-in metrics remain. */
	err = shipped ? add_path(defs, shipped) : -ENOMEM;
	if (err && err != -ENOENT)
		pr_warn("cannot read '%s': %s", shipped ? shipped : "metrics", strerror(-err));
}

void definitions__add_places(struct definitions *defs)
{
	defs->wants_places = true;
}

/* --- definitions --- */

static void find_files(struct definitions *defs)
{
	if (defs->wants_places)
		add_places(defs);
	defs->wants_places = false;
}

bool definitions__mentions(struct definitions *defs, const char *text)
{
	bool does = false;
	int i;

	find_files(defs);
	for (i = 0; i < defs->nr_files && !does; i++) {
		char *all __cleanup(free_ptr) = read_file(defs->files[i].path, NULL);

		does = all && strstr(all, text);
	}
	return does;
}

static void read_all(struct definitions *defs, enum definition_kind kind)
{
	int i, err = 0;

	find_files(defs);
	for (i = 0; i < defs->nr_files && !err; i++) {
		/* Templates first: definitions may precede the templates that they refer to. */
		if (defs->files[i].is_standard)
			err = definition_file__read_standard(&defs->tables, &defs->files[i]);
	}
	for (i = 0; i < defs->nr_files && !err; i++) {
		if (kind != DEFINES_EVENTS || !defs->files[i].is_standard)
			err = definition_file__read(&defs->tables, &defs->files[i], kind);
	}
	if (err)
		pr_warn("out of memory: definitions are left out");
}

/* Return: whether one of the first @nr metrics has that name. */
static bool has_metric(const struct definition_tables *tables, int nr, const char *name)
{
	for (int i = 0; i < nr; i++) {
		if (!strcasecmp(tables->metrics[i].name, name))
			return true;
	}
	return false;
}

/* Built-in metrics come last: a file's definition of the same name replaces them. */
static void read_metrics(struct definitions *defs)
{
	struct definition_tables *tables = &defs->tables;
	const struct metric_def *def = NULL;
	struct metric_def *added;
	int nr;

	defs->has_metrics = true;
	read_all(defs, DEFINES_METRICS);
	nr = tables->nr_metrics;
	while ((def = metric_builtin__next(def))) {
		if (has_metric(tables, nr, def->name))
			continue;
		added = array__add(tables->metrics, tables->nr_metrics);
		if (!added)
			return;
		*added = *def;
	}
}

const struct metric_def *definitions__next_metric(struct definitions *defs,
						  const struct metric_def *prev)
{
	if (!defs->has_metrics)
		read_metrics(defs);
	prev = prev ? prev + 1 : defs->tables.metrics;
	return prev && prev < defs->tables.metrics + defs->tables.nr_metrics ? prev : NULL;
}

const struct metric_def *definitions__find_metric(struct definitions *defs, const char *name,
						  const char *pmu)
{
	const struct metric_def *def = NULL, *first = NULL;

	while ((def = definitions__next_metric(defs, def))) {
		if (strcasecmp(def->name, name))
			continue;
		if (!pmu || (def->pmu && !strcmp(def->pmu, pmu)))
			return def;
		first = first ? first : def;
	}
	return first;
}

const struct event_def *definitions__next_event(struct definitions *defs,
						const struct event_def *prev)
{
	if (!defs->has_events) {
		defs->has_events = true;
		read_all(defs, DEFINES_EVENTS);
	}
	prev = prev ? prev + 1 : defs->tables.events;
	return prev && prev < defs->tables.events + defs->tables.nr_events ? prev : NULL;
}
