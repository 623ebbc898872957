// SPDX-License-Identifier: GPL-2.0
#include "util/target/cgroup_fs.h"

#include "util/host/perf_event.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Type of a cgroup's file handle, which contains only the id (since Linux 5.5). */
#define FILEID_KERNFS 0xfe

void cgroup_fs__clear(struct cgroup_fs *fs)
{
	free(fs->mount);
	free(fs->root);
	memset(fs, 0, sizeof(*fs));
}

/* Return: true if a comma list has the word. */
static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (; *list; list += strcspn(list, ","), list += *list == ',') {
		if (strcspn(list, ",") == len && !strncmp(list, word, len))
			return true;
	}
	return false;
}

/* Decode the octal escapes of /proc. Return: owned by the caller. */
static char *unescape(const char *text)
{
	char *out = malloc(strlen(text) + 1), *to = out;

	if (!out)
		return NULL;
	while (*text) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] && text[3]) {
			*to++ = (text[1] - '0') * 64 + (text[2] - '0') * 8 + text[3] - '0';
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
	return out;
}

/* Return: preference of a mount: the v1 hierarchy of the controller before v2, the topmost cgroup first. */
static int rank(const char *type, const char *options, const char *root)
{
	bool is_top = !strcmp(root, "/");

	if (!strcmp(type, "cgroup") && has_word(options, "perf_event"))
		return 3 + is_top;
	return strcmp(type, "cgroup2") ? 0 : 1 + is_top;
}

/* Parse ID PARENT MAJOR:MINOR ROOT MOUNT OPTIONS [FIELD...] - TYPE SOURCE SUPER-OPTIONS. */
static int parse_mount(char *line, int *best, struct cgroup_fs *fs)
{
	char *end = strstr(line, " - "), *type, *options, *root, *mount;
	int this;

	if (!end)
		return 0;
	type = end + 3;
	*end = '\0';
	options = strrchr(type, ' ');
	if (!options)
		return 0;
	options++;
	type[strcspn(type, " ")] = '\0';
	root = line;
	for (int i = 0; i < 3 && root; i++)
		root = strchr(root, ' ') ? strchr(root, ' ') + 1 : NULL;
	mount = root ? strchr(root, ' ') : NULL;
	if (!mount)
		return 0;
	*mount++ = '\0';
	mount[strcspn(mount, " ")] = '\0';
	this = rank(type, options, root);
	if (this <= *best)
		return 0;
	*best = this;
	cgroup_fs__clear(fs);
	fs->is_v1 = !strcmp(type, "cgroup");
	fs->mount = unescape(mount);
	fs->root = unescape(root);
	return fs->mount && fs->root ? 0 : -ENOMEM;
}

/* Read "perf_event HIERARCHY NR ENABLED". Return: the hierarchy, 0 for v2; -1: no controller. */
static int controller_hierarchy(void)
{
	char *file __cleanup(free_ptr) = xasprintf("%s/cgroups", procfs_root());
	char *text __cleanup(free_ptr) = file ? read_file(file, NULL) : NULL;
	const char *row = text ? strstr(text, "\nperf_event") : NULL;
	int hierarchy, nr, enabled;

	if (!row ||
	    sscanf(row + strlen("\nperf_event"), "%d %d %d", &hierarchy, &nr, &enabled) != 3 ||
	    !enabled)
		return -1;
	return hierarchy;
}

int cgroup_fs__find(struct cgroup_fs *fs)
{
	char *file __cleanup(free_ptr) = xasprintf("%s/self/mountinfo", procfs_root());
	char *text __cleanup(free_ptr) = file ? read_file(file, NULL) : NULL;
	int hierarchy = controller_hierarchy(), best = 0, err = 0;
	char *save = NULL;

	memset(fs, 0, sizeof(*fs));
	if (!file)
		return -ENOMEM;
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line && !err;
	     line = strtok_r(NULL, "\n", &save))
		err = parse_mount(line, &best, fs);
	if (err)
		goto out;
	err = -EOPNOTSUPP;
	if (hierarchy < 0) {
		pr_err("cannot count by cgroup: the kernel has no perf_event controller (CONFIG_CGROUP_PERF, cgroup_disable=)");
		goto out;
	}
	err = -ENOENT;
	if (!best) {
		pr_err("cannot count by cgroup: no cgroups are mounted (mount -t cgroup2 cgroup2 /sys/fs/cgroup)");
		goto out;
	}
	err = -ENODEV;
	if (hierarchy && !fs->is_v1) {
		pr_err("cannot count by cgroup: the perf_event controller has a v1 hierarchy, which is not mounted (mount -t cgroup -o perf_event cgroup DIRECTORY)");
		goto out;
	}
	return 0;
out:
	cgroup_fs__clear(fs);
	return err;
}

char *cgroup_fs__dir(const struct cgroup_fs *fs, const char *path)
{
	const char *pos = path;

	while (*pos) {
		size_t len;

		pos += strspn(pos, "/");
		len = strcspn(pos, "/");
		if (len == 2 && pos[0] == '.' && pos[1] == '.') {
			errno = ENOENT;
			return NULL;
		}
		pos += len;
	}
	path += strspn(path, "/");
	return *path ? xasprintf("%s/%s", fs->mount, path) : strdup(fs->mount);
}

/* Find PATH in lines HIERARCHY:CONTROLLERS:PATH; v2 is 0 and has no controllers. */
static char *find_path(char *text, bool is_v1)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *controllers = strchr(line, ':'), *path;

		path = controllers ? strchr(++controllers, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		if (is_v1 ? has_word(controllers, "perf_event") : !strncmp(line, "0:", 2))
			return path;
	}
	return NULL;
}

char *cgroup_fs__of_task(const struct cgroup_fs *fs, pid_t pid)
{
	char *file __cleanup(free_ptr) = pid ? xasprintf("%s/%d/cgroup", procfs_root(), pid) :
					       xasprintf("%s/self/cgroup", procfs_root());
	char *text __cleanup(free_ptr) = file ? read_file(file, NULL) : NULL;
	char *path = text ? find_path(text, fs->is_v1) : NULL;
	size_t len = strlen(fs->root);

	if (!text)
		return NULL;
	/* The path of a cgroup outside of our namespace begins with "/..". */
	errno = EXDEV;
	if (!path || !strncmp(path, "/..", 3))
		return NULL;
	if (len > 1) {
		if (strncmp(path, fs->root, len) || (path[len] && path[len] != '/'))
			return NULL;
		path += len;
	}
	path += strspn(path, "/");
	return strdup(*path ? path : "/");
}

uint64_t cgroup_fs__id(const char *dir)
{
	union {
		struct file_handle head;
		char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} handle = {.head.handle_bytes = MAX_HANDLE_SZ};
	struct stat st;
	uint64_t id;
	int mount;

	if (stat(dir, &st))
		return 0;
	if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return 0;
	}
	if (name_to_handle_at(AT_FDCWD, dir, &handle.head, &mount, 0) ||
	    handle.head.handle_type != FILEID_KERNFS || handle.head.handle_bytes != sizeof(id))
		return st.st_ino; /* equals the id if ino_t has 64 bits */
	memcpy(&id, handle.head.f_handle, sizeof(id));
	return id;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Return: true for a shortage of our own, which is no property of the directory. */
static bool is_shortage(int err)
{
	return err == ENOMEM || err == EMFILE || err == ENFILE;
}

/* Read the sorted names of subdirectories. Return: number, 0 if @dir is gone; -errno of a shortage. */
static int subdirs(const char *dir, char ***out)
{
	DIR *stream = opendir(dir);
	char **names = NULL;
	struct dirent *entry;
	int nr = 0, err = 0;

	*out = NULL;
	if (!stream)
		return is_shortage(errno) ? -errno : 0;
	while (!err && (entry = readdir(stream))) {
		char **name;

		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, ".."))
			continue;
		name = array__add(names, nr);
		if (name)
			*name = strdup(entry->d_name);
		err = name && *name ? 0 : -ENOMEM;
	}
	closedir(stream);
	while (err && nr)
		free(names[--nr]);
	if (nr)
		qsort(names, nr, sizeof(*names), compare_names);
	*out = names;
	return err ? err : nr;
}

int cgroup_fs__walk(const struct cgroup_fs *fs, const char *path, cgroup_visit_t visit, void *ctx)
{
	char *dir __cleanup(free_ptr) = cgroup_fs__dir(fs, path);
	bool is_root = !strcmp(path, "/");
	char **names;
	uint64_t id;
	int nr, err;

	if (!dir)
		return -errno;
	id = cgroup_fs__id(dir);
	if (!id)
		return 0; /* removed meanwhile */
	err = visit(ctx, path, id);
	if (err)
		return err;
	nr = subdirs(dir, &names);
	for (int i = 0; i < nr; i++) {
		char *below = is_root ? strdup(names[i]) : xasprintf("%s/%s", path, names[i]);

		if (!err)
			err = below ? cgroup_fs__walk(fs, below, visit, ctx) : -ENOMEM;
		free(below);
		free(names[i]);
	}
	free(names);
	return nr < 0 ? nr : err;
}

int cgroup_fs__chain(const struct cgroup_fs *fs, const char *dir, uint64_t *ids, int max)
{
	char *path __cleanup(free_ptr) = strdup(dir);
	size_t mount_len = strlen(fs->mount);
	int nr = 0;

	if (!path)
		return -ENOMEM;
	for (;;) {
		char *slash;
		uint64_t id = cgroup_fs__id(path);

		if (!id)
			return -errno;
		if (nr == max)
			return -E2BIG;
		ids[nr++] = id;
		slash = strrchr(path, '/');
		if (strlen(path) <= mount_len || !slash)
			return nr;
		*slash = '\0';
		/* "a//b" */
		while (slash > path + mount_len && slash[-1] == '/')
			*--slash = '\0';
	}
}

/*
 * The kernel looks at the cgroup before it refuses the depth of the stack. Opening an event would wait for a
 * grace period, if no event of tasks or cgroups was open in the last second.
 */
bool cgroup_fs__lacks_controller(const char *dir)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.sample_max_stack = UINT16_MAX,
	};
	int cgroup __cleanup(close_fd) = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int event __cleanup(close_fd) = -1;

	if (cgroup < 0)
		return false;
	event = perf_event__open(&attr, cgroup, 0, -1, PERF_FLAG_PID_CGROUP);
	return event == -ENOENT;
}
