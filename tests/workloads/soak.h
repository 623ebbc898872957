/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SOAK_H
#define SOAK_H

/* The memory that all processes of the soak share, and random numbers; see soak.c. */

#include "soak_stamp.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#define MAX_ACTORS 16
#define MAX_DOUBTS 1024
#define MAX_PIDS   (1 + SOAK_CHILDREN)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Tallies of sessions: their troubles, and the verdicts on them. */
enum tally {
	SESSIONS,
	SAMPLED,
	STOPPED,
	KILLED,
	STARVED,
	REFUSED,
	PRIVATE,
	EXACT,
	HIDDEN,
	SHORT,
	WRONG,
	NR_TALLIES
};

static const char *const tally_names[] = {
	[SESSIONS] = "sessions run",
	[SAMPLED] = "  of these, sampling",
	[STOPPED] = "  stopped for a while",
	[KILLED] = "  killed",
	[STARVED] = "  short of memory or descriptors",
	[REFUSED] = "    that ended with a message",
	[PRIVATE] = "counted privately: no lock",
	[EXACT] = "counts exact",
	[HIDDEN] = "  but for switches hidden from BPF",
	[SHORT] = "reported short",
	[WRONG] = "WRONG",
};

enum wait { START, END, START_ASLEEP, END_ASLEEP, NR_WAITS };

/* Two counts that differ. At the end of the round, the witness shows if hidden switches are why. */
struct doubt {
	long expected, most, got;
	pid_t pids[MAX_PIDS];
	const char *comm;
	char words[900], err[600], out[4000];
};

struct soak_shared {
	int is_over;		     /* the round is over */
	unsigned long long round_ns; /* when it began */
	long runs_left;		     /* LONG_MAX if time decides */
	unsigned long nr[NR_TALLIES];
	unsigned long long longest_ns[NR_WAITS];
	unsigned nr_doubts;
	struct doubt doubt[MAX_DOUBTS];
};

struct soak {
	const char *dir;     /* for files; removed if all went well */
	const char *map;     /* the attr map */
	const char *cgroups; /* directory of this soak's cgroups */
	char workloads[512];
	unsigned seed, nr_actors;
	unsigned seconds, round_seconds;
	long runs;
	unsigned stops, kills; /* percentages */
	bool is_calm;	       /* no disturbances but stops and kills */
	bool has_witness, has_progs, has_samples, has_hotplug;
	bool has_others; /* -o: never hold the protocol's lock: it would disturb other tests */
	long fixed_least, fixed_most; /* page faults of a command that touches no pages */
	unsigned round;
};

static struct soak soak;
static struct soak_shared *shared;

static inline unsigned chance_of(uint64_t *state, unsigned below)
{
	/* xorshift */
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state >> 16) % below;
}

static inline void tally(enum tally which)
{
	__atomic_fetch_add(&shared->nr[which], 1, __ATOMIC_RELAXED);
}

static inline void note_wait(enum wait which, unsigned long long ns)
{
	unsigned long long *longest = &shared->longest_ns[which], was = *longest;

	while (ns > was && !__atomic_compare_exchange_n(longest, &was, ns, false, __ATOMIC_RELAXED,
							__ATOMIC_RELAXED))
		;
}

/* Write a line to the log, in one piece. */
__attribute__((format(printf, 1, 2))) static inline void say(const char *fmt, ...)
{
	char line[6000];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(line, sizeof(line) - 1, fmt, args);
	va_end(args);
	if (len > (int)sizeof(line) - 2)
		len = sizeof(line) - 2;
	line[len++] = '\n';
	if (write(STDOUT_FILENO, line, len) < 0)
		exit(1);
}

static inline void sleep_ms(unsigned ms)
{
	struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	nanosleep(&time, NULL);
}

static inline bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

static inline size_t read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? 0 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	return len > 0 ? len : 0;
}

static inline const char *workload(const char *name)
{
	static char path[4][600];
	static int nr;

	nr = (nr + 1) % 4;
	snprintf(path[nr], sizeof(path[nr]), "%s/%s", soak.workloads, name);
	return path[nr];
}

#endif
