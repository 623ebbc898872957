// SPDX-License-Identifier: GPL-2.0
#include "util/host/next_perf.h"

#include "util/lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* "PID DEPTH DEV:INO; DEV:INO;...": who executed a wrapper, how often that happened, and the wrappers. */
#define VARIABLE "PERF_PASSED_ON"
/* Wrappers that start us as a child of theirs show in no list: limit how deep they can nest. */
#define MAX_DEPTH  16
#define MAX_ANSWER (64 << 10)

/* Every program of ours contains this text, whatever its name, place and version. */
static const char our_mark[] = "\npassed-on-by: perf stat with shared counters\n";

/* Where we come from, as next_perf__init() found it. */
static struct {
	int depth;
	char *wrappers; /* of this process: " DEV:INO; DEV:INO;"; NULL: none */
} past;

void next_perf__init(void)
{
	const char *value = getenv(VARIABLE);
	int pid, depth, len = 0;

	if (!value)
		return;
	if (sscanf(value, "%d %d%n", &pid, &depth, &len) == 2 && len) {
		past.depth = depth;
		/* A wrapper that another process executed may be needed again here. */
		if (pid == getpid())
			past.wrappers = strdup(value + len);
	}
	unsetenv(VARIABLE);
}

static char *file_key(unsigned long long dev, unsigned long long ino)
{
	return xasprintf(" %llx:%llx;", dev, ino);
}

static bool has_led_here(const struct next_perf *next)
{
	char *key __cleanup(free_ptr) = file_key(next->dev, next->ino);

	return past.wrappers && key && strstr(past.wrappers, key);
}

static bool contains(const char *text, size_t len, const char *word)
{
	return memmem(text, len, word, strlen(word)) != NULL;
}

enum origin { ORIGIN_OURS, ORIGIN_LINUX, ORIGIN_UNKNOWN };

/* Tell by the content whose program a file is. */
static enum origin origin_of(const char *path)
{
	/* The variable with the path of its helpers, the file of its data, and a command. */
	static const char *const of_linux[] = {"PERF_EXEC_PATH", "perf.data", "buildid-cache"};
	int fd __cleanup(close_fd) = open(path, O_RDONLY | O_CLOEXEC);
	enum origin origin = ORIGIN_LINUX;
	struct stat st;
	char *text;

	if (fd < 0 || fstat(fd, &st) || st.st_size < 4)
		return ORIGIN_UNKNOWN;
	text = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return ORIGIN_UNKNOWN;
	if (memcmp(text, "\177ELF", 4))
		origin = ORIGIN_UNKNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(of_linux); i++) {
		if (!contains(text, st.st_size, of_linux[i]))
			origin = ORIGIN_UNKNOWN;
	}
	if (!memcmp(text, "\177ELF", 4) && contains(text, st.st_size, our_mark))
		origin = ORIGIN_OURS;
	munmap(text, st.st_size);
	return origin;
}

/* Return: whether this is our own file, by whatever link. */
static bool is_self(const struct stat *st)
{
	struct stat self;

	return !stat("/proc/self/exe", &self) && self.st_dev == st->st_dev &&
	       self.st_ino == st->st_ino;
}

/* Return: the perf of a directory of PATH, executable, owned; NULL: none. An empty one is the current. */
static char *perf_in(const char *dir, size_t len, struct stat *st)
{
	char *path = len ? xasprintf("%.*s/perf", (int)len, dir) : strdup("./perf");

	if (path && !stat(path, st) && S_ISREG(st->st_mode) && !access(path, X_OK))
		return path;
	free(path);
	return NULL;
}

/*
 * Take the first good perf of the directories from @dirs to @end.
 * Return: 0; -ENOENT; -ELOOP: only wrappers that led here.
 */
static int search(const char *dirs, const char *end, struct next_perf *out)
{
	int err = -ENOENT;

	for (const char *dir = dirs; dir <= end; dir += strcspn(dir, ":") + 1) {
		struct stat st;
		char *path __cleanup(free_ptr) = perf_in(dir, strcspn(dir, ":"), &st);
		enum origin origin;

		if (!path || is_self(&st))
			continue;
		origin = origin_of(path);
		if (origin == ORIGIN_OURS)
			continue;
		out->dev = st.st_dev;
		out->ino = st.st_ino;
		if (has_led_here(out)) {
			err = -ELOOP;
			continue;
		}
		out->is_linux = origin == ORIGIN_LINUX;
		out->path = path;
		path = NULL;
		return 0;
	}
	return err;
}

/* Return: the directory behind the first one of PATH in which we are; @dirs: we are in none. */
static const char *behind_self(const char *dirs, const char *end)
{
	for (const char *dir = dirs; dir <= end;) {
		size_t len = strcspn(dir, ":");
		struct stat st;
		char *path __cleanup(free_ptr) = perf_in(dir, len, &st);

		dir += len + 1;
		if (path && is_self(&st))
			return dir;
	}
	return dirs;
}

int next_perf__find(struct next_perf *out)
{
	/* Without a PATH, the C library searches these. */
	const char *dirs = getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin";
	const char *end = dirs + strlen(dirs), *start = behind_self(dirs, end);
	int err, again;

	*out = (struct next_perf){};
	if (past.depth >= MAX_DEPTH)
		return -ELOOP;
	err = search(start, end, out);
	if (!err || start == dirs)
		return err;
	again = search(dirs, start - 1, out);
	return again == -ENOENT ? err : again;
}

void next_perf__clear(struct next_perf *next)
{
	free_ptr(&next->path);
}

/* Set the variable for a program that may be a wrapper. Return: 0 or -ENOMEM. */
static int mark(const struct next_perf *next, int depth)
{
	char *key __cleanup(free_ptr) = file_key(next->dev, next->ino);
	char *value __cleanup(free_ptr) = xasprintf(
		"%d %d%s%s", getpid(), depth, past.wrappers ? past.wrappers : "", key ? key : "");

	return !key || !value || setenv(VARIABLE, value, 1) ? -ENOMEM : 0;
}

/* A script without its interpreter's name is the shell's, as for execvp(3). */
static int exec_by_shell(const char *path, char **argv)
{
	int argc = 0;
	char **args;

	while (argv[argc])
		argc++;
	args = calloc(argc + 2, sizeof(*args));
	if (!args)
		return -ENOMEM;
	args[0] = "sh";
	args[1] = (char *)path;
	memcpy(args + 2, argv + 1, argc * sizeof(*args));
	execv("/bin/sh", args);
	free(args);
	return -errno;
}

int next_perf__exec(const struct next_perf *next, char **argv)
{
	int err;

	if (!next->is_linux) {
		err = mark(next, past.depth + 1);
		if (err)
			return err;
	}
	execv(next->path, argv);
	err = -errno;
	return err == -ENOEXEC ? exec_by_shell(next->path, argv) : err;
}

/* In the child of next_perf__ask(). */
static void answer(const struct next_perf *next, const char *arg, int out)
{
	char *argv[] = {"perf", (char *)arg, NULL};
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(null, STDERR_FILENO);
	dup2(out, STDOUT_FILENO);
	/* If it is a wrapper of ours, that one must ask nobody. */
	if (!mark(next, MAX_DEPTH))
		execv(next->path, argv);
	_exit(127);
}

char *next_perf__ask(const struct next_perf *next, const char *arg)
{
	char *text __cleanup(free_ptr) = malloc(MAX_ANSWER + 1), *result = NULL;
	int fds[2];
	ssize_t got;
	size_t len = 0;
	pid_t pid;

	if (!text || pipe2(fds, O_CLOEXEC))
		return NULL;
	pid = fork();
	if (!pid)
		answer(next, arg, fds[1]);
	close(fds[1]);
	while (pid > 0 && len < MAX_ANSWER &&
	       ((got = read(fds[0], text + len, MAX_ANSWER - len)) > 0 ||
		(got < 0 && errno == EINTR)))
		len += got > 0 ? got : 0;
	close(fds[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (pid > 0 && len) {
		text[len] = '\0';
		result = text;
		text = NULL;
	}
	return result;
}

const char *next_perf__package(void)
{
	static const struct {
		const char *id; /* a word of ID or ID_LIKE */
		const char *text;
	} packages[] = {
		{"ubuntu", "apt install linux-tools-generic"},
		{"debian", "apt install linux-perf"},
		{"fedora", "dnf install perf"},
		{"rhel", "dnf install perf"},
		{"suse", "zypper install perf"},
		{"arch", "pacman -S perf"},
		{"alpine", "apk add perf"},
	};
	char *text __cleanup(free_ptr) = read_file("/etc/os-release", NULL);

	/* A distribution names itself first, then those that it is like. */
	for (char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "ID=", 3) && strncmp(line, "ID_LIKE=", 8))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(packages); i++) {
			const char *id = strstr(line, packages[i].id);

			if (id && id < line + strcspn(line, "\n"))
				return packages[i].text;
		}
	}
	return "its package is often called perf or linux-tools";
}
