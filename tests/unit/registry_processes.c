// SPDX-License-Identifier: GPL-2.0
/*
 * The registry in memory that many processes share, with the lock that sessions take. They join and leave
 * the same events, and SIGKILL ends many of them, at any instruction and at any step. tests/unit/registry.c
 * has each step by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/bperf/attr_lock.h"
#include "util/bperf/registry.h"
#include "util/lib/util.h"

#define NR_PROCESSES 10	 /* at the same time */
#define NR_LIVES     300 /* in all */
#define NR_ROUNDS    12	 /* joins and leaves of each */
#define NR_KEYS	     5
#define MAX_JOINED   3

/* The memory that all processes map. */
static struct shared {
	struct registry reg;
	int has_event[MAX_EVENTS]; /* the fake kernel's perf events: who opened it; 0: none */
	bool is_announced[MAX_EVENTS], is_barred[MAX_EVENTS];
	int nr_joins, nr_opens,
		nr_repairs; /* of events that were there, of new ones, of the dead */
	char wrong[256];    /* the first violation */
} * shared;

static struct {
	char lock[64], tokens[72];
} paths;

/* One process. */
static struct process {
	__u32 token; /* the byte of the file of tokens that it has locked */
	int tokens_fd;
	struct attr_lock lock;
	unsigned int seed;
	int session;
	bool may_die;
} me;

/* A group that this process counts. */
struct joined {
	struct attr_key keys[2];
	int nr, first;
};

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			give_up(__LINE__, #condition);                                             \
	} while (0)

static void give_up(int line, const char *text)
{
	int unset = 0;
	static int is_taken;

	if (__atomic_compare_exchange_n(&is_taken, &unset, 1, false, __ATOMIC_SEQ_CST,
					__ATOMIC_SEQ_CST) &&
	    !shared->wrong[0])
		snprintf(shared->wrong, sizeof(shared->wrong), "line %d: %s", line, text);
	_exit(1);
}

static int random_below(int n)
{
	return rand_r(&me.seed) % n;
}

static void count(int *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

/* --- what the registry asks for --- */

static bool is_alive(void *ctx, __u32 token)
{
	struct flock lock = {.l_type = F_WRLCK, .l_start = token, .l_len = 1};

	(void)ctx;
	/* The kernel gives back what a process has locked when it ends. */
	CHECK(!fcntl(me.tokens_fd, F_GETLK, &lock));
	if (token == me.token || lock.l_type != F_UNLCK)
		return true;
	count(&shared->nr_repairs);
	return false;
}

static void step(const char *name)
{
	(void)name;
	if (me.may_die && !random_below(150))
		raise(SIGKILL);
	if (!random_below(4))
		sched_yield();
}

static int open_events(void *ctx, int first, int nr)
{
	(void)ctx;
	for (int i = 0; i < nr; i++) {
		/* The process that claimed the slot is alone with it. */
		CHECK(!__atomic_exchange_n(&shared->has_event[first + i], getpid(),
					   __ATOMIC_SEQ_CST));
		step("some-opened");
		if (!random_below(40))
			return -EMFILE;
	}
	count(&shared->nr_opens);
	return 0;
}

static void announce(void *ctx, int first, int nr)
{
	(void)ctx;
	for (int i = 0; i < nr; i++) {
		CHECK(shared->has_event[first + i]);
		shared->is_announced[first + i] = true;
	}
}

static bool withdraw(void *ctx, int first, int nr)
{
	bool *is_barred = &shared->is_barred[first];

	(void)ctx;
	for (int i = 0; i < nr; i++) {
		shared->is_announced[first + i] = false;
		step("some-silent");
	}
	/* In vain, sometimes: somebody may just have found them. A second time it is not. */
	*is_barred = !*is_barred && !random_below(4);
	return !*is_barred;
}

static void close_events(void *ctx, int first, int nr)
{
	(void)ctx;
	for (int i = 0; i < nr; i++) {
		CHECK(!shared->is_announced[first + i]);
		CHECK(shared->reg.event[first + i].state == REG_CHANGING);
		shared->has_event[first + i] = 0;
		step("some-closed");
	}
}

static const struct registry_io io = {
	.is_alive = is_alive,
	.open = open_events,
	.announce = announce,
	.withdraw = withdraw,
	.close = close_events,
	.step = step,
};

/* --- what must always hold --- */

static bool has_session(const struct reg_event *event)
{
	bool has_some = false;

	for (int i = 0; i < MAX_SESSIONS; i++) {
		if (!(event->users[i / 64] >> i % 64 & 1))
			continue;
		CHECK(shared->reg.session[i].token);
		has_some = true;
	}
	return has_some;
}

static void check_sessions(void)
{
	for (int i = 0; i < MAX_SESSIONS; i++) {
		__u32 token = shared->reg.session[i].token;

		for (int j = 0; token && j < i; j++)
			CHECK(shared->reg.session[j].token != token);
	}
}

/*
 * Under the lock. Others may finish opening and closing meanwhile, but a slot that is ready or free
 * stays so.
 */
static void check_events(void)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		const struct reg_event *event = &shared->reg.event[slot], *leader;
		__u32 state = __atomic_load_n(&event->state, __ATOMIC_ACQUIRE);

		if (state == REG_FREE) {
			CHECK(!shared->has_event[slot] && !shared->is_announced[slot]);
			continue;
		}
		if (state != REG_READY)
			continue;
		CHECK(shared->has_event[slot]);
		CHECK(event->leader <= (__u32)slot);
		leader = &shared->reg.event[event->leader];
		/* The leader of a group becomes ready after its members. */
		if (__atomic_load_n(&leader->state, __ATOMIC_ACQUIRE) != REG_READY)
			continue;
		CHECK(slot < (int)(event->leader + leader->nr_members));
		if (leader == event)
			CHECK(has_session(event));
	}
}

/* The events that a session counts are open, and nobody changes them. */
static void check_joined(const struct joined *joined, int nr)
{
	for (int i = 0; i < nr; i++) {
		for (int k = 0; k < joined[i].nr; k++) {
			const struct reg_event *event = &shared->reg.event[joined[i].first + k];

			CHECK(event->state == REG_READY);
			CHECK(event->leader == (__u32)joined[i].first);
			CHECK(!memcmp(&event->key, &joined[i].keys[k], sizeof(event->key)));
			CHECK(shared->has_event[joined[i].first + k]);
		}
	}
}

/* --- a life --- */

static void lock(void)
{
	struct lock_wait wait = {.left_ns = 100 * NSEC_PER_SEC};

	CHECK(!attr_lock__take(&me.lock, paths.lock, &wait));
}

static void unlock(void)
{
	attr_lock__release(&me.lock);
	if (me.session >= 0)
		registry__close(&shared->reg, &io, me.session);
}

/* Under the lock. A dead session was seen without it. */
static void repair(int dead, __u32 token)
{
	if (token && shared->reg.session[dead].token == token)
		registry__forget_some(&shared->reg, &io, dead);
	registry__repair(&shared->reg, &io, me.session);
	check_sessions();
	check_events();
}

/* Each dead session in a holding of its own. */
static void repair_all(void)
{
	__u32 token;
	int dead = -1;

	do {
		token = registry__find_dead(&shared->reg, &io, &dead);
		lock();
		repair(dead, token);
		unlock();
	} while (token);
}

static void begin(__u32 token)
{
	struct flock own = {.l_type = F_WRLCK, .l_start = token, .l_len = 1};

	me = (struct process){.token = token, .seed = token, .session = -1, .may_die = true};
	me.tokens_fd = open(paths.tokens, O_RDWR | O_CLOEXEC);
	me.lock.fd = open(paths.lock, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(me.tokens_fd >= 0 && me.lock.fd >= 0);
	CHECK(!fcntl(me.tokens_fd, F_SETLK, &own));
}

/* Return: whether the group is open now. */
static bool join(struct joined *joined)
{
	bool is_new;

	*joined = (struct joined){.nr = 1 + random_below(2)};
	for (int i = 0; i < joined->nr; i++)
		joined->keys[i].bytes[0] = 1 + random_below(NR_KEYS);
	lock();
	joined->first =
		registry__claim(&shared->reg, &io, me.session, joined->keys, joined->nr, &is_new);
	CHECK(joined->first >= 0);
	/* Not unlock(): what is claimed would be closed. */
	attr_lock__release(&me.lock);
	if (!is_new)
		count(&shared->nr_joins);
	return !is_new || !registry__open(&shared->reg, &io, joined->first);
}

static void leave(const struct joined *joined, int nr, int which)
{
	/* A session joins a group once, so the same one leaves with the last of its entries. */
	for (int i = 0; i < nr; i++) {
		if (i != which && joined[i].first == joined[which].first)
			return;
	}
	lock();
	check_joined(joined, nr);
	registry__leave(&shared->reg, &io, me.session, joined[which].first);
	unlock();
}

static void live(__u32 token)
{
	const struct reg_session session = {.token = token, .pid = getpid()};
	struct joined joined[MAX_JOINED];
	int nr = 0;

	begin(token);
	lock();
	me.session = registry__add_session(&shared->reg, &io, &session);
	CHECK(me.session >= 0);
	unlock();
	repair_all();
	for (int i = 0; i < NR_ROUNDS; i++) {
		if (!random_below(4)) {
			repair_all();
		} else if (nr < MAX_JOINED && random_below(2)) {
			nr += join(&joined[nr]);
		} else if (nr) {
			leave(joined, nr, nr - 1);
			nr--;
		}
		check_joined(joined, nr);
	}
	lock();
	check_joined(joined, nr);
	while (!registry__leave_some(&shared->reg, &io, me.session)) {
		unlock();
		lock();
	}
	unlock();
	registry__remove(&shared->reg, &io, me.session);
	_exit(0);
}

/* --- all lives --- */

static pid_t start(__u32 token)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		live(token);
	return pid;
}

/* Wait for one of them, and put it out of the list. Return: whether it was killed. */
static bool await_one(pid_t *pids, int *nr)
{
	int status, i;
	pid_t pid = wait(&status);

	for (i = 0; i < *nr && pids[i] != pid; i++)
		;
	assert_true(i < *nr);
	pids[i] = pids[--*nr];
	if (shared->wrong[0])
		return false;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return true;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return false;
}

static int setup(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	strcpy(paths.lock, "/tmp/perf_registry_XXXXXX");
	assert_non_null(mkdtemp(paths.lock));
	snprintf(paths.tokens, sizeof(paths.tokens), "%s/tokens", paths.lock);
	close(open(paths.tokens, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(paths.tokens);
	rmdir(paths.lock);
	munmap(shared, sizeof(*shared));
	return 0;
}

static void what_the_dead_leave_is_repaired(void)
{
	begin(NR_LIVES + 1);
	me.may_die = false;
	me.session =
		registry__add_session(&shared->reg, &io, &(struct reg_session){.token = me.token});
	/* Twice, because a first try to close may be in vain. */
	for (int i = 0; i < 2; i++)
		repair_all();
	registry__remove(&shared->reg, &io, me.session);
	close(me.tokens_fd);
	close(me.lock.fd);
}

static void processes_that_die_anywhere_leave_a_sound_registry(void **state)
{
	pid_t pids[NR_PROCESSES];
	unsigned int seed = 1;
	int nr = 0, nr_killed = 0;

	(void)state;
	for (int life = 1; life <= NR_LIVES || nr; life++) {
		if (life <= NR_LIVES)
			pids[nr++] = start(life);
		if (nr < NR_PROCESSES && life < NR_LIVES)
			continue;
		/* At any instruction, and not only at steps. It may have ended just now. */
		if (!(rand_r(&seed) % 4))
			kill(pids[rand_r(&seed) % nr], SIGKILL);
		nr_killed += await_one(pids, &nr);
	}
	if (shared->wrong[0])
		fail_msg("%s", shared->wrong);
	what_the_dead_leave_is_repaired();
	if (shared->wrong[0])
		fail_msg("%s", shared->wrong);
	assert_int_equal(registry__nr_sessions(&shared->reg), 0);
	assert_false(registry__has_unclosed(&shared->reg));
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		assert_int_equal(shared->reg.event[slot].state, REG_FREE);
		assert_int_equal(shared->has_event[slot], 0);
		assert_false(shared->is_announced[slot]);
	}
	print_message("%d lives, %d killed, %d joins, %d opens, %d sessions repaired\n", NR_LIVES,
		      nr_killed, shared->nr_joins, shared->nr_opens, shared->nr_repairs);
	/* It has happened, several times. */
	assert_true(nr_killed >= NR_LIVES / 10 && shared->nr_repairs >= NR_LIVES / 10);
	assert_true(shared->nr_joins >= NR_LIVES / 10 && shared->nr_opens >= NR_LIVES / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(processes_that_die_anywhere_leave_a_sound_registry,
						setup, teardown),
	};

	return cmocka_run_group_tests_name("registry_processes", tests, NULL, NULL);
}
