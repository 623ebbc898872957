/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SOAK_SESSION_H
#define SOAK_SESSION_H

/* Start, disturb, control and await one session of perf. soak_judge.h judges it. */

#include "soak.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define SESSION_SECONDS                                                                            \
	120 /* then it hangs: no wait is longer than a second, but CPUs may be few */
#define MAX_WORDS   48
#define STOP_MS	    3000 /* the longest stop */
#define FIRST_FILES 8	 /* fewer descriptors let no session begin */

enum trouble {
	CALM,
	STOPS,
	STOPS_AT_STEP,
	KILLED_BY_SIGNAL,
	KILLED_AT_STEP,
	LITTLE_MEMORY,
	FEW_FILES
};

/* A process that works on request: soak_work serve. */
struct server {
	pid_t pid;
	int in, out;
	char cgroup[300]; /* below soak.cgroups */
};

struct actor {
	unsigned nr;
	uint64_t chance;
	unsigned nr_sessions;
	struct server server[2];
	char progs[200]; /* where its BPF programs are pinned */
};

struct session {
	struct actor *actor;
	enum trouble trouble;
	unsigned step;		 /* the step of perf at which it is stopped or killed */
	unsigned stop_ms, go_ms; /* after its start; the first signal is sent once */
	bool has_stopped, hangs;
	const char *argv[MAX_WORDS];
	int argc;
	char words[900]; /* argv as one text */
	char text[10][320];
	int nr_texts;
	char out[300], err[300];
	pid_t pid;
	int pidfd, stamps[2], ctl[2], ack[2];
	bool has_control;
	bool prints_counts; /* on standard output, which is then `out` */
	int status, expected_status;
	struct soak_stamp started, begun, ended; /* begun: counting; ended: the end was asked for */
	pid_t pids[MAX_PIDS];			 /* the processes that it counts */
	int nr_pids;
	const char *comm; /* and the name of others that it counts, or NULL */
};

static unsigned chance(struct actor *actor, unsigned below)
{
	return chance_of(&actor->chance, below);
}

/* --- words --- */

static void add_word(struct session *s, const char *word)
{
	if (s->argc == MAX_WORDS - 1)
		die("too many words");
	s->argv[s->argc++] = word;
}

static void add_words(struct session *s, const char *first, ...)
{
	va_list args;

	va_start(args, first);
	for (const char *word = first; word; word = va_arg(args, const char *))
		add_word(s, word);
	va_end(args);
}

__attribute__((format(printf, 2, 3))) static void add_text(struct session *s, const char *fmt, ...)
{
	char *text = s->text[s->nr_texts++];
	va_list args;

	if (s->nr_texts > (int)COUNT_OF(s->text))
		die("too many texts");
	va_start(args, fmt);
	vsnprintf(text, sizeof(s->text[0]), fmt, args);
	va_end(args);
	add_word(s, text);
}

/* Print a session's place in its actor's list, and its trouble. Return: the length. */
static size_t print_trouble(const struct session *s, char *text, size_t size)
{
	size_t len =
		snprintf(text, size, "actor %u, session %u: ", s->actor->nr, s->actor->nr_sessions);

	text += len;
	size -= len;
	switch (s->trouble) {
	case STOPS:
		return len + snprintf(text, size,
				      "to be stopped after %u ms until %u ms: ", s->stop_ms,
				      s->go_ms);
	case STOPS_AT_STEP:
		return len + snprintf(text, size, "continued after %u ms: PERF_TEST_STOP_AT=%u ",
				      s->go_ms, s->step);
	case KILLED_BY_SIGNAL:
		return len + snprintf(text, size, "to be killed after %u ms: ", s->stop_ms);
	case KILLED_AT_STEP:
		return len + snprintf(text, size, "PERF_TEST_KILL_AT=%u ", s->step);
	case LITTLE_MEMORY:
		return len + snprintf(text, size, "with little memory: ");
	case FEW_FILES:
		return len + snprintf(text, size, "with %u files: ", FIRST_FILES + s->step);
	default:
		return len;
	}
}

static void join_words(struct session *s)
{
	size_t len = print_trouble(s, s->words, sizeof(s->words));

	for (int i = 0; i < s->argc && len < sizeof(s->words); i++)
		len += snprintf(s->words + len, sizeof(s->words) - len, "%s ", s->argv[i]);
}

/* --- troubles --- */

static void choose_trouble(struct session *s)
{
	struct actor *actor = s->actor;
	unsigned dice = chance(actor, 100);
	bool by_step = chance(actor, 2);

	s->step = 1 + chance(actor, 90);
	s->stop_ms = s->go_ms = UINT_MAX;
	if (dice < soak.stops) {
		s->trouble = by_step ? STOPS_AT_STEP : STOPS;
		s->stop_ms = by_step ? UINT_MAX : chance(actor, 400);
		s->go_ms = chance(actor, STOP_MS) + (by_step ? 0 : s->stop_ms);
	} else if (dice < soak.stops + soak.kills) {
		s->trouble = by_step ? KILLED_AT_STEP : KILLED_BY_SIGNAL;
		s->stop_ms = by_step ? UINT_MAX : chance(actor, 400);
	} else if (dice >= 90 && !soak.is_calm) {
		s->trouble = dice < 95 ? LITTLE_MEMORY : FEW_FILES;
	}
}

/* Prepare the trouble, in the process that becomes perf. */
static void begin_trouble(const struct session *s)
{
	struct rlimit files = {FIRST_FILES + s->step, FIRST_FILES + s->step};
	char text[600];

	if (s->trouble == STOPS_AT_STEP || s->trouble == KILLED_AT_STEP) {
		snprintf(text, sizeof(text), "%u", s->step);
		setenv(s->trouble == STOPS_AT_STEP ? "PERF_TEST_STOP_AT" : "PERF_TEST_KILL_AT",
		       text, 1);
	} else if (s->trouble == FEW_FILES) {
		setrlimit(RLIMIT_NOFILE, &files);
	} else if (s->trouble == LITTLE_MEMORY) {
		snprintf(text, sizeof(text), "%s/little/cgroup.procs", getenv("SOAK_MEMORY"));
		write_file(text, "0");
	}
}

/* Send the signals that are due. Return: the ms until the next one may be due. */
static int go_on(struct session *s)
{
	unsigned long long ms = (soak_clock() - s->started.clock_ns) / 1000000;

	if (ms >= SESSION_SECONDS * 1000ULL && !s->hangs) {
		s->hangs = true;
		kill(s->pid, SIGKILL);
	}
	if (ms >= s->stop_ms && !s->has_stopped) {
		s->has_stopped = true;
		kill(s->pid, s->trouble == STOPS ? SIGSTOP : SIGKILL);
	}
	/* Repeat this, because perf may reach its step later. */
	if (ms >= s->go_ms) {
		kill(s->pid, SIGCONT);
		s->has_stopped = true;
	}
	if (!s->has_stopped && s->stop_ms != UINT_MAX)
		return s->stop_ms - ms + 1;
	if (s->go_ms != UINT_MAX)
		return ms >= s->go_ms ? 300 : s->go_ms - ms + 1;
	return 1000;
}

/* --- its course --- */

static void start(struct session *s)
{
	int null;

	join_words(s);
	s->started.clock_ns = soak_clock();
	s->pid = fork();
	if (s->pid < 0)
		die("fork");
	if (!s->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setsid();
		null = open("/dev/null", O_RDONLY);
		dup2(null, STDIN_FILENO);
		dup2(open(s->err, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
		dup2(s->prints_counts ? open(s->out, O_WRONLY | O_CREAT | O_TRUNC, 0600) :
					STDERR_FILENO,
		     STDOUT_FILENO);
		fcntl(s->stamps[1], F_SETFD, 0);
		if (s->has_control) {
			fcntl(s->ctl[0], F_SETFD, 0);
			fcntl(s->ack[1], F_SETFD, 0);
		}
		begin_trouble(s);
		execvp(s->argv[0], (char **)s->argv);
		_exit(126);
	}
	close(s->stamps[1]);
	s->pidfd = syscall(SYS_pidfd_open, s->pid, 0);
	if (s->pidfd < 0)
		die("pidfd_open");
}

/* Wait until @fd is readable. Return: false if perf ended before. @fd -1: wait until it ends. */
static bool await(struct session *s, int fd)
{
	struct pollfd polls[2] = {{.fd = s->pidfd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

	for (;;) {
		if (poll(polls, 2, go_on(s)) < 0 && errno != EINTR)
			die("poll");
		if (polls[1].revents & POLLIN)
			return true;
		if (polls[0].revents)
			return false;
	}
}

static bool take_stamp(struct session *s, struct soak_stamp *stamp)
{
	return await(s, s->stamps[0]) &&
	       read(s->stamps[0], stamp, sizeof(*stamp)) == sizeof(*stamp);
}

/* Send a command of --control. Return: true if perf acknowledged it. */
static bool tell(struct session *s, const char *command)
{
	char answer[64];
	ssize_t len;

	if (write(s->ctl[1], command, strlen(command)) < 0 || !await(s, s->ack[0]))
		return false;
	len = read(s->ack[0], answer, sizeof(answer));
	return len >= 3 && !memcmp(answer, "ack", 3);
}

static void add_pid(struct session *s, pid_t pid)
{
	if (pid && s->nr_pids < MAX_PIDS)
		s->pids[s->nr_pids++] = pid;
}

/* Note a time span, and the part asleep: neither running nor waiting for a CPU. */
static void note_span(enum wait wall, enum wait asleep, const struct soak_stamp *from,
		      const struct soak_stamp *to)
{
	unsigned long long ns = to->clock_ns - from->clock_ns, cpu = to->cpu_ns - from->cpu_ns;

	note_wait(wall, ns);
	note_wait(asleep, to->cpu_ns && ns > cpu ? ns - cpu : 0);
}

/* Add a line to the file of this round's sessions, in one piece: when it ran, and what it was. */
static void note_session(const struct session *s, const struct soak_stamp *gone)
{
	char path[600], line[1200];
	int fd, len;

	snprintf(path, sizeof(path), "%s/sessions", soak.dir);
	len = snprintf(line, sizeof(line), "%6llu to %6llu ms, pid %d, status %#x: %s\n",
		       (s->started.clock_ns - shared->round_ns) / 1000000,
		       (gone->clock_ns - shared->round_ns) / 1000000, s->pid, s->status, s->words);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, line, len) != len)
		die("%s", path);
	close(fd);
}

/* Wait for the end, take the last stamp and the status, and reap the session. */
static void end(struct session *s)
{
	struct soak_stamp gone;
	siginfo_t info;

	await(s, -1);
	if (waitid(P_PID, s->pid, &info, WEXITED | WNOWAIT))
		die("waitid");
	soak_stamp(&gone, s->pid);
	if (waitpid(s->pid, &s->status, 0) != s->pid)
		die("waitpid");
	note_session(s, &gone);
	if (s->trouble == CALM && s->begun.clock_ns && s->ended.clock_ns) {
		note_span(START, START_ASLEEP, &s->started, &s->begun);
		note_span(END, END_ASLEEP, &s->ended, &gone);
	}
	/* The command of a killed perf ends by itself, that of a hanging one must be killed. */
	if (s->hangs)
		kill(-s->pid, SIGKILL);
	close(s->pidfd);
	close(s->stamps[0]);
	if (s->has_control) {
		close(s->ctl[0]);
		close(s->ctl[1]);
		close(s->ack[0]);
		close(s->ack[1]);
	}
}

/* Run a session that counts a command, soak_work run. */
static void count_command(struct session *s)
{
	start(s);
	if (take_stamp(s, &s->begun)) {
		add_pid(s, s->begun.pid);
		if (take_stamp(s, &s->ended)) {
			for (int i = 0; i < SOAK_CHILDREN; i++)
				add_pid(s, s->ended.children[i]);
		}
	}
	end(s);
}

static void serve(struct server *server)
{
	char byte = 0;

	if (write(server->in, &byte, 1) != 1 || read(server->out, &byte, 1) != 1)
		die("server %d has ended", server->pid);
}

/* --- windows --- */

static void add_control(struct session *s)
{
	if (pipe2(s->ctl, O_CLOEXEC) || pipe2(s->ack, O_CLOEXEC))
		die("pipe");
	s->has_control = true;
	add_words(s, "-D", "-1", "--control", NULL);
	add_text(s, "fd:%d,%d", s->ctl[0], s->ack[1]);
}

/* Let servers work in a window. */
static bool count_window(struct session *s, unsigned nr_works, unsigned pause_ms, long *nr_done)
{
	if (!tell(s, "enable\n"))
		return false;
	for (unsigned i = 0; i < nr_works; i++) {
		serve(&s->actor->server[i % 2]);
		*nr_done += 1;
		if (pause_ms)
			sleep_ms(pause_ms);
		go_on(s);
	}
	return tell(s, "disable\n");
}

/* Run a session that counts the actor's servers in windows; @is_long: until the end of the round. */
static void count_windows(struct session *s, bool is_long, long *nr_works)
{
	unsigned nr = 1 + chance(s->actor, 4);

	start(s);
	if (tell(s, "ping\n")) {
		soak_stamp(&s->begun, s->pid);
		for (unsigned i = 0; i < nr || (is_long && !shared->is_over); i++) {
			if (!count_window(s, 2 * (1 + chance(s->actor, 4)),
					  chance(s->actor, is_long ? 30 : 10), nr_works))
				break;
		}
		soak_stamp(&s->ended, s->pid);
		kill(s->pid, SIGINT);
	}
	end(s);
}

#endif
