// SPDX-License-Identifier: GPL-2.0
/* Which files define metrics and events on this machine, and what they define. */
#include "definitions_priv.h"

#include "cpuid.h"
#include "msg.h"
#include "util.h"

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
/* Trees of vendors are two or three levels deep; links could make them endless. */
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
	for (i = 0; i < defs->nr_events; i++) {
		free(defs->events[i].name);
		free(defs->events[i].terms);
	}
	for (i = 0; i < defs->nr_files; i++) {
		free(defs->files[i].path);
		free(defs->files[i].topic);
		json_object_put(defs->files[i].json);
	}
	free(defs->files);
	free(defs->metrics);
	free(defs->events);
	free(defs->standard);
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

/* A file of several mentions counts once. */
static int add_file(struct definitions *defs, const char *path, const char *pmu, bool is_standard)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct definition_file *files;
	int i;

	for (i = 0; i < defs->nr_files; i++) {
		if (!strcmp(defs->files[i].path, path))
			return 0;
	}
	files = realloc(defs->files, (defs->nr_files + 1) * sizeof(*files));
	if (!files)
		return -ENOMEM;
	defs->files = files;
	files[defs->nr_files] = (struct definition_file){
		.path = strdup(path),
		.topic = strndup(name, strlen(name) - (is_json(name) ? 5 : 0)),
		.pmu = pmu,
		.is_standard = is_standard,
	};
	defs->nr_files++;
	return files[defs->nr_files - 1].path && files[defs->nr_files - 1].topic ? 0 : -ENOMEM;
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

/* The files *.json of one directory, in the order of their names. */
static int add_files_of(struct definitions *defs, const char *dir, const char *pmu, bool is_standard)
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

/* The directories called sys below a mapfile: events of PMUs that identify themselves. */
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

/* The next field of a line; the rest of it stays in *line. */
static char *next_field(char **line)
{
	char *field = strsep(line, ",");

	return field ? field : "";
}

/* Some vendors say which kind of core a file is for, in a column of its own. */
static const char *pmu_of_role(const char *role)
{
	if (!strcasecmp(role, "Core"))
		return "cpu_core";
	if (!strcasecmp(role, "Atom"))
		return "cpu_atom";
	return NULL;
}

/* "CPU,version,file or directory,kind[,core type,model,role]" */
static int add_mapped(struct definitions *defs, const char *dir, char *line)
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
		err = add_mapped(defs, dir, line);
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

/* A file that somebody names is meant: what is wrong with it is said, whatever it was to define. */
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
 * The definitions that came with this program: in a tree that was built they are beside it, in an
 * installation that was moved they have moved along. Owned.
 */
static char *shipped_dir(void)
{
	static const char *const places[] = { "metrics", "../share/perf-stat/metrics" };
	char exe[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	size_t i;

	if (len < 0)
		len = 0;
	exe[len] = '\0';
	for (i = 0; strrchr(exe, '/') && i < ARRAY_SIZE(places); i++) {
		char *dir = xasprintf("%.*s/%s", (int)(strrchr(exe, '/') - exe), exe, places[i]);

		if (!dir || is_dir(dir))
			return dir;
		free(dir);
	}
	return strdup(PERF_DATADIR "/metrics");
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
	/* A program without these files still has the metrics that are built in. */
	err = shipped ? add_path(defs, shipped) : -ENOMEM;
	if (err && err != -ENOENT)
		pr_warn("cannot read '%s': %s", shipped ? shipped : "metrics", strerror(-err));
}

void definitions__add_places(struct definitions *defs)
{
	defs->wants_places = true;
}

/* --- what they define --- */

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
	for (i = 0; i < defs->nr_files && !err && kind == DEFINES_EVENTS; i++) {
		/* Templates first: whoever refers to them may stand before them. */
		if (defs->files[i].is_standard)
			err = definition_file__read(defs, &defs->files[i], kind);
	}
	for (i = 0; i < defs->nr_files && !err; i++) {
		if (kind != DEFINES_EVENTS || !defs->files[i].is_standard)
			err = definition_file__read(defs, &defs->files[i], kind);
	}
	if (err)
		pr_warn("out of memory: definitions are left out");
}

/* Those built in come last: files may say it better. */
static void read_metrics(struct definitions *defs)
{
	const struct metric_def *def = NULL;
	struct metric_def *grown;
	int nr_built_in = 0, nr;

	defs->has_metrics = true;
	read_all(defs, DEFINES_METRICS);
	while ((def = metric_defs__next(def)))
		nr_built_in++;
	grown = realloc(defs->metrics, (defs->nr_metrics + nr_built_in) * sizeof(*grown));
	if (!grown)
		return;
	defs->metrics = grown;
	nr = defs->nr_metrics;
	while ((def = metric_defs__next(def))) {
		int i;

		for (i = 0; i < nr && strcasecmp(grown[i].name, def->name); i++)
			;
		if (i == nr)
			grown[defs->nr_metrics++] = *def;
	}
}

const struct metric_def *definitions__next_metric(struct definitions *defs,
						  const struct metric_def *prev)
{
	if (!defs->has_metrics)
		read_metrics(defs);
	prev = prev ? prev + 1 : defs->metrics;
	return prev && prev < defs->metrics + defs->nr_metrics ? prev : NULL;
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
	prev = prev ? prev + 1 : defs->events;
	return prev && prev < defs->events + defs->nr_events ? prev : NULL;
}
