// SPDX-License-Identifier: GPL-2.0
/*
 * soak [OPTION...] DIR MAP CGROUPS: run sessions of perf at random for a time, disturb some of them, and
 * check the counts of all. scripts/soak starts it. DIR is for files, MAP is the path of a new attr map,
 * and soak makes CGROUPS, a directory of cgroups.
 *
 *	-t SECONDS	how long to run (60)
 *	-r SECONDS	length of a round (20); each round must leave nothing
 *	-n SESSIONS	how many sessions to run, instead of -t
 *	-a ACTORS	how many sessions at a time (4), beside two or, with -m, three long ones
 *	-s SEED		of the random numbers (1): each actor's sessions and troubles depend only on it
 *	-S PERCENT	sessions to stop for up to 3 s, at any step or time, and to continue then (10)
 *	-K PERCENT	sessions to kill at any step or time (10)
 *	-c		calm: no other disturbances
 *	-w		let a witness explain switches that are hidden from BPF programs
 *	-p		also count BPF programs (-b)
 *	-m		also sample (perf profile)
 *	-h		take CPU 1 offline and back
 *	-o		do not hold the lock of the protocol, which would disturb other tests
 *	-l MS		the longest that a session may sleep at its start, and at its end (on the host
 *			there is no limit)
 *
 * Every session counts the same thing twice, or something with a known count, or samples each of its faults.
 * An undisturbed session must end with its command's status and exact counts, or report that they are short.
 * After a round with a wrong session, all sessions of the round are printed. Exit status 1: a session was
 * wrong, or left something.
 */
#include "soak_kinds.h"
#include "soak_storm.h"

#include <sys/mman.h>
#include <sys/prctl.h>

#define CALIBRATIONS 15

static unsigned limit_ms;

/* --- children --- */

static pid_t run_process(void (*fn)(unsigned nr), unsigned nr)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		/* No child may outlive the soak. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fn(nr);
		exit(0);
	}
	return pid;
}

static void start_server(struct actor *actor, unsigned nr)
{
	struct server *server = &actor->server[nr];
	char path[700], threads[12];
	int in[2], out[2];

	snprintf(server->cgroup, sizeof(server->cgroup), "%s/a%u/s%u",
		 strrchr(soak.cgroups, '/') + 1, actor->nr, nr);
	snprintf(path, sizeof(path), "%s/a%u", soak.cgroups, actor->nr);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/a%u/s%u", soak.cgroups, actor->nr, nr);
	mkdir(path, 0755);
	strcat(path, "/cgroup.procs");
	snprintf(threads, sizeof(threads), "%u", nr ? 0 : SERVER_THREADS);
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		die("pipe");
	server->pid = fork();
	if (!server->pid) {
		char pages[12];

		if (!write_file(path, "0"))
			die("%s", path);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		snprintf(pages, sizeof(pages), "%u", SERVER_PAGES);
		execl(workload("soak_work"), "soak_work", "serve", pages, threads, NULL);
		die("soak_work");
	}
	close(in[0]);
	close(out[1]);
	server->in = in[1];
	server->out = out[0];
	/* The first works have additional faults. */
	for (int i = 0; i < 3; i++)
		serve(server);
}

static void act(unsigned nr)
{
	struct actor actor = {.nr = nr};

	actor.chance =
		(soak.seed * 1000003ULL + soak.round * 1009ULL + nr + 1) * 0x9e3779b97f4a7c15ULL;
	signal(SIGPIPE, SIG_IGN);
	for (unsigned i = 0; i < COUNT_OF(actor.server); i++)
		start_server(&actor, i);
	if (nr >= soak.nr_actors)
		run_long_session(&actor, nr - soak.nr_actors);
	while (!shared->is_over && nr < soak.nr_actors) {
		if (__atomic_fetch_sub(&shared->runs_left, 1, __ATOMIC_RELAXED) <= 0)
			break;
		run_session(&actor);
	}
	for (unsigned i = 0; i < COUNT_OF(actor.server); i++) {
		close(actor.server[i].in);
		waitpid(actor.server[i].pid, NULL, 0);
	}
	unload_progs(&actor);
}

/* --- the witness --- */

static pid_t start_witness(void)
{
	char path[600], text[16] = "";
	pid_t pid;

	snprintf(path, sizeof(path), "%s/witness", soak.dir);
	pid = fork();
	if (!pid) {
		dup2(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
		execl(workload("witness"), "witness", NULL);
		_exit(1);
	}
	while (!read_file(path, text, sizeof(text)) && !waitpid(pid, NULL, WNOHANG))
		sleep_ms(20);
	if (!*text)
		die("no witness");
	return pid;
}

static bool concerns(const struct doubt *doubt, unsigned pid, const char *comm)
{
	if (doubt->comm && !strcmp(doubt->comm, comm))
		return true;
	for (int i = 0; i < MAX_PIDS; i++) {
		if (doubt->pids[i] && doubt->pids[i] == (pid_t)pid)
			return true;
	}
	return false;
}

/* Find the most that hidden switches can have taken from these counts, and added to them. */
static void ask_witness(const struct doubt *doubt, long *lost, long *gained)
{
	char path[600], line[256], what[16], comm[64];
	unsigned long long ns;
	unsigned pid;
	long hidden, events, between;
	FILE *file;

	*lost = *gained = 0;
	snprintf(path, sizeof(path), "%s/witness", soak.dir);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		/* A task that ran only between hidden switches is named nowhere. */
		if (sscanf(line, "cpu %*d %*u %*d %*u %*d %ld", &between) == 1)
			*lost += between;
		if (sscanf(line, "%15s %u %*u %63s %ld %llu %ld", what, &pid, comm, &hidden, &ns,
			   &events) != 6 ||
		    !concerns(doubt, pid, comm))
			continue;
		/* lost, unborn, gained */
		*(strcmp(what, "gained") ? lost : gained) += events;
	}
	if (file)
		fclose(file);
}

static void resolve_doubts(void)
{
	for (unsigned i = 0; i < shared->nr_doubts && i < MAX_DOUBTS; i++) {
		const struct doubt *doubt = &shared->doubt[i];
		long lost = 0, gained = 0;

		if (soak.has_witness)
			ask_witness(doubt, &lost, &gained);
		if (doubt->got >= doubt->expected - lost && doubt->got - gained <= doubt->most) {
			tally(HIDDEN);
			continue;
		}
		tally(WRONG);
		say("WRONG: counted %ld, not %ld to %ld; hidden %ld, misplaced %ld (seed %u, round "
		    "%u)\n  %s\n  stderr: %s\n  counts: %s",
		    doubt->got, doubt->expected, doubt->most, lost, gained, soak.seed, soak.round,
		    doubt->words, doubt->err, doubt->out);
	}
	if (shared->nr_doubts > MAX_DOUBTS) {
		tally(WRONG);
		say("WRONG: %u counts differ in one round", shared->nr_doubts);
	}
	shared->nr_doubts = 0;
}

/* --- leftovers --- */

static int run_quietly(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Retry a command until it succeeds: the kernel frees leftovers of a session a moment later. */
static bool succeeds(const char *fmt, ...)
{
	char command[2048];
	int status = 1;
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	for (int i = 0; i < 100 && status; i++) {
		if (i)
			sleep_ms(50);
		status = run_quietly(command);
	}
	if (status)
		say("LEFT: status %d of: %s", status, command);
	return !status;
}

/*
 * Return: true if the map has no leader. In an emulated machine, no part of any leader may be left; on the
 * host, other maps may have leaders.
 */
static bool has_no_leader(void)
{
	return succeeds("'%1$s/leader_state' %2$s >/dev/null; [ $? = 3 ]", soak.workloads,
			soak.map) &&
	       (!getenv("PLACE") || succeeds("[ -z \"$('%s/leader_objects')\" ]", soak.workloads));
}

/* Return: true if, after one more session, the attr map and the lock directory have no leftovers. */
static bool is_clean(void)
{
	return has_no_leader() &&
	       succeeds("perf stat --bpf-counters --bpf-attr-map %s -x, -o /dev/null -e "
			"page-faults:u true",
			soak.map) &&
	       has_no_leader() &&
	       succeeds("bpftool=$(PATH=$PATH:/usr/sbin command -v bpftool); [ \"$($bpftool -j map "
			"dump pinned %s)\" = '[]' ]",
			soak.map) &&
	       succeeds("[ -z \"$(ls -A %s_lock | grep -v "
			"'^tasks$\\|^leader_[0-9]*$\\|^switch_')\" ]",
			soak.map);
}

static void remove_all(const char *path)
{
	char command[800];

	snprintf(command, sizeof(command),
		 "rm -rf %1$s_lock %1$s; find '%2$s' -depth -type d -exec rmdir {} + 2>/dev/null",
		 path, soak.cgroups);
	run_quietly(command);
}

/* --- rounds --- */

static void sessions_path(char *path, size_t size)
{
	snprintf(path, size, "%s/sessions", soak.dir);
}

/* Print all sessions of the round: what was wrong may be due to any that died before. */
static void print_sessions(void)
{
	char path[600], line[1200];
	FILE *file;

	sessions_path(path, sizeof(path));
	file = fopen(path, "re");
	say("The sessions of round %u, in the order of their ends:", soak.round);
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		say("%s", line);
	}
	if (file)
		fclose(file);
}

/* Return: true if nothing is left behind. */
static bool end_round(unsigned long nr_wrong)
{
	char path[600];

	resolve_doubts();
	if (shared->nr[WRONG] != nr_wrong)
		print_sessions();
	sessions_path(path, sizeof(path));
	unlink(path);
	return is_clean();
}

static bool run_round(unsigned seconds)
{
	unsigned long long until = soak_clock() + seconds * 1000000000ULL;
	unsigned nr = soak.nr_actors +
		      (soak.is_calm ? 0 : COUNT_OF(long_kinds) - !soak.has_samples),
		 nr_left;
	pid_t witness = soak.has_witness ? start_witness() : 0, storm = 0,
	      actor[MAX_ACTORS + COUNT_OF(long_kinds)];
	unsigned long nr_wrong = shared->nr[WRONG];

	shared->is_over = 0;
	shared->round_ns = soak_clock();
	for (unsigned i = 0; i < nr; i++)
		actor[i] = run_process(act, i);
	if (!soak.is_calm)
		storm = run_process(storm_on, 0);
	for (nr_left = soak.nr_actors; soak_clock() < until && nr_left; sleep_ms(50)) {
		nr_left = 0;
		for (unsigned i = 0; i < soak.nr_actors; i++) {
			siginfo_t info = {};

			nr_left += !waitid(P_PID, actor[i], &info, WEXITED | WNOWAIT | WNOHANG) &&
				   !info.si_pid;
		}
	}
	shared->is_over = 1;
	if (storm)
		reap(storm);
	for (unsigned i = 0; i < nr; i++)
		reap(actor[i]);
	if (witness) {
		kill(witness, SIGTERM);
		reap(witness);
	}
	return end_round(nr_wrong);
}

/* Count the page faults of a command that touches no pages, plainly. */
static void calibrate(void)
{
	char command[1200], path[600], text[200];

	snprintf(path, sizeof(path), "%s/calibrated", soak.dir);
	snprintf(command, sizeof(command),
		 "exec 9>/dev/null; perf stat -x, -o %s -e page-faults:u -- %s/soak_work run 9 0 0 "
		 "0",
		 path, soak.workloads);
	soak.fixed_least = LONG_MAX;
	for (int i = 0; i < CALIBRATIONS; i++) {
		char *count;
		long fixed;

		if (run_quietly(command))
			die("cannot calibrate");
		read_file(path, text, sizeof(text));
		count = strstr(text, ",,page-faults");
		while (count && count > text && count[-1] >= '0' && count[-1] <= '9')
			count--;
		fixed = count ? atol(count) : 0;
		/* The first repeat finds fewer pages in the page cache. */
		if (!i)
			continue;
		if (fixed < soak.fixed_least)
			soak.fixed_least = fixed;
		if (fixed > soak.fixed_most)
			soak.fixed_most = fixed;
	}
}

static bool summarize(bool clean)
{
	static const char *const waits[] = {
		[START] = "longest start",
		[END] = "longest end",
		[START_ASLEEP] = "  of that without a CPU's work or lack",
		[END_ASLEEP] = "  of that without a CPU's work or lack",
	};
	static const enum wait order[] = {START, START_ASLEEP, END, END_ASLEEP};
	bool late = false;

	say("\nseed %u, %u actors, %u rounds; a command's own faults: %ld to %ld", soak.seed,
	    soak.nr_actors, soak.round, soak.fixed_least, soak.fixed_most);
	for (int i = 0; i < NR_TALLIES; i++)
		say("%-42s %6lu", tally_names[i], shared->nr[i]);
	for (unsigned i = 0; i < COUNT_OF(order); i++) {
		unsigned ms = shared->longest_ns[order[i]] / 1000000;

		late |= limit_ms && order[i] >= START_ASLEEP && ms > limit_ms;
		say("%-42s %6u ms", waits[order[i]], ms);
	}
	if (late)
		say("WRONG: somebody waited longer than %u ms", limit_ms);
	say("%-42s %6s", "left behind", clean ? "none" : "SOMETHING");
	return clean && !late && !shared->nr[WRONG];
}

static void parse(int argc, char **argv)
{
	int option;

	soak = (struct soak){.seed = 1,
			     .nr_actors = 4,
			     .seconds = 60,
			     .round_seconds = 20,
			     .stops = 10,
			     .kills = 10};
	soak.runs = LONG_MAX;
	while ((option = getopt(argc, argv, "t:r:n:a:s:S:K:cwpmhol:")) > 0) {
		long value = optarg ? atol(optarg) : 0;

		switch (option) {
		case 't':
			soak.seconds = value;
			break;
		case 'r':
			soak.round_seconds = value;
			break;
		case 'n':
			soak.runs = value;
			break;
		case 'a':
			soak.nr_actors = value;
			break;
		case 's':
			soak.seed = value;
			break;
		case 'S':
			soak.stops = value;
			break;
		case 'K':
			soak.kills = value;
			break;
		case 'c':
			soak.is_calm = true;
			break;
		case 'w':
			soak.has_witness = true;
			break;
		case 'p':
			soak.has_progs = true;
			break;
		case 'm':
			soak.has_samples = true;
			break;
		case 'h':
			soak.has_hotplug = true;
			break;
		case 'o':
			soak.has_others = true;
			break;
		case 'l':
			limit_ms = value;
			break;
		default:
			usage_unless(0, "[OPTION...] DIR MAP CGROUPS");
		}
	}
	usage_unless(argc - optind == 3 && soak.nr_actors && soak.nr_actors <= MAX_ACTORS,
		     "[OPTION...] DIR MAP CGROUPS");
	soak.dir = argv[optind];
	soak.map = argv[optind + 1];
	soak.cgroups = argv[optind + 2];
	if (readlink("/proc/self/exe", soak.workloads, sizeof(soak.workloads) - 1) < 0)
		die("/proc/self/exe");
	*strrchr(soak.workloads, '/') = '\0';
}

int main(int argc, char **argv)
{
	unsigned long long until;
	bool clean = true;

	parse(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED || (mkdir(soak.cgroups, 0755) && errno != EEXIST))
		die("setup");
	shared->runs_left = soak.runs;
	calibrate();
	until = soak_clock() + soak.seconds * 1000000000ULL;
	while (clean && shared->runs_left > 0 && soak_clock() < until) {
		soak.round++;
		clean = run_round(soak.runs == LONG_MAX ? soak.round_seconds : UINT_MAX / 4);
		say("round %u: %lu sessions, %lu wrong", soak.round, shared->nr[SESSIONS],
		    shared->nr[WRONG]);
	}
	clean = summarize(clean);
	remove_all(soak.map);
	return clean ? 0 : 1;
}
