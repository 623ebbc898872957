// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "said.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/run/control.h"

/* A control and the other ends of its pipes. */
struct pipes {
	int ctl[2], ack[2];
	struct control control;
};

static void pipes__open(struct pipes *pipes)
{
	char spec[64];

	assert_int_equal(pipe2(pipes->ctl, O_NONBLOCK), 0);
	assert_int_equal(pipe2(pipes->ack, O_NONBLOCK), 0);
	snprintf(spec, sizeof(spec), "fd:%d,%d", pipes->ctl[0], pipes->ack[1]);
	assert_int_equal(control__open(&pipes->control, spec), 0);
}

static void pipes__close(struct pipes *pipes)
{
	control__close(&pipes->control);
	for (int i = 0; i < 2; i++) {
		close_fd(&pipes->ctl[i]);
		close_fd(&pipes->ack[i]);
	}
}

static void say(struct pipes *pipes, const char *text)
{
	assert_int_equal(write(pipes->ctl[1], text, strlen(text)), strlen(text));
}

static void words_are_commands(void **state)
{
	struct pipes pipes;

	(void)state;
	pipes__open(&pipes);
	assert_int_equal(control__next(&pipes.control), CONTROL_NONE);
	say(&pipes, "enable\ndisable\n\nping\nstop\n");
	assert_int_equal(control__next(&pipes.control), CONTROL_ENABLE);
	assert_int_equal(control__next(&pipes.control), CONTROL_DISABLE);
	assert_int_equal(control__next(&pipes.control), CONTROL_PING);
	assert_int_equal(control__next(&pipes.control), CONTROL_STOP);
	assert_int_equal(control__next(&pipes.control), CONTROL_NONE);
	pipes__close(&pipes);
}

static void a_command_may_come_in_pieces(void **state)
{
	struct pipes pipes;

	(void)state;
	pipes__open(&pipes);
	say(&pipes, "ena");
	assert_int_equal(control__next(&pipes.control), CONTROL_NONE);
	say(&pipes, "bl");
	assert_int_equal(control__next(&pipes.control), CONTROL_NONE);
	say(&pipes, "e\nst");
	assert_int_equal(control__next(&pipes.control), CONTROL_ENABLE);
	assert_int_equal(control__next(&pipes.control), CONTROL_NONE);
	/* Clients of Linux's perf also end words with a NUL. */
	assert_int_equal(write(pipes.ctl[1], "op", 3), 3);
	assert_int_equal(control__next(&pipes.control), CONTROL_STOP);
	pipes__close(&pipes);
}

static void a_word_without_end_is_one_when_nothing_follows(void **state)
{
	struct pipes pipes;

	(void)state;
	pipes__open(&pipes);
	say(&pipes, "disable\nenable");
	assert_int_equal(control__next(&pipes.control), CONTROL_DISABLE);
	assert_int_equal(control__next(&pipes.control), CONTROL_ENABLE);
	assert_int_equal(control__next(&pipes.control), CONTROL_NONE);
	/* The end of a word may come late. */
	say(&pipes, "\nping");
	close_fd(&pipes.ctl[1]);
	assert_int_equal(control__next(&pipes.control), CONTROL_PING);
	assert_int_equal(control__next(&pipes.control), CONTROL_NONE);
	pipes__close(&pipes);
}

static void some_words_take_something(void **state)
{
	struct pipes pipes;

	(void)state;
	pipes__open(&pipes);
	say(&pipes, "enable cpu/a b/\ndisable\nevlist -g\n");
	assert_int_equal(control__next(&pipes.control), CONTROL_ENABLE);
	assert_string_equal(pipes.control.arg, "cpu/a b/");
	assert_int_equal(control__next(&pipes.control), CONTROL_DISABLE);
	assert_null(pipes.control.arg);
	assert_int_equal(control__next(&pipes.control), CONTROL_EVLIST);
	assert_string_equal(pipes.control.arg, "-g");
	pipes__close(&pipes);
}

static void unknown_words_are_named(void **state)
{
	struct pipes pipes;
	struct said capture;
	char *said, lengthy[5000];

	(void)state;
	msg__init("perf stat");
	pipes__open(&pipes);
	say(&pipes, "frob\nping\n");
	said__begin(&capture);
	assert_int_equal(control__next(&pipes.control), CONTROL_UNKNOWN);
	said = said__end(&capture);
	assert_string_equal(
		said,
		"perf stat: --control: unknown command 'frob' (enable [EVENT], disable [EVENT], evlist [-g|-F|-v], ping, stop)\n");
	free(said);
	assert_int_equal(control__next(&pipes.control), CONTROL_PING);
	/* A word that is longer than any buffer is still one word. */
	memset(lengthy, 'x', sizeof(lengthy));
	lengthy[sizeof(lengthy) - 1] = '\0';
	say(&pipes, lengthy);
	say(&pipes, "\nstop\n");
	said__begin(&capture);
	assert_int_equal(control__next(&pipes.control), CONTROL_UNKNOWN);
	free(said__end(&capture));
	assert_int_equal(control__next(&pipes.control), CONTROL_STOP);
	pipes__close(&pipes);
}

static void the_other_side_hears_and_may_go(void **state)
{
	struct pipes pipes;
	char text[16] = "";

	(void)state;
	pipes__open(&pipes);
	control__ack(&pipes.control);
	/* The answer has a NUL: clients read five bytes. */
	assert_int_equal(read(pipes.ack[0], text, sizeof(text)), 5);
	assert_string_equal(text, "ack\n");
	/* Without the other end there is neither SIGPIPE nor an endless stream of empty reads. */
	close_fd(&pipes.ack[0]);
	close_fd(&pipes.ctl[1]);
	control__ack(&pipes.control);
	assert_int_equal(control__next(&pipes.control), CONTROL_NONE);
	assert_int_equal(pipes.control.fd, -1);
	assert_int_equal(control__next(&pipes.control), CONTROL_NONE);
	pipes__close(&pipes);
}

/* Return: the flags of a descriptor that programs would inherit without FD_CLOEXEC. */
static int flags_of(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	assert_true(flags >= 0);
	return flags;
}

static void no_command_inherits_the_descriptors(void **state)
{
	struct pipes pipes;
	struct control control;
	char spec[64];

	(void)state;
	pipes__open(&pipes);
	assert_int_equal(flags_of(pipes.ctl[0]), FD_CLOEXEC);
	assert_int_equal(flags_of(pipes.ack[1]), FD_CLOEXEC);
	/* The other ends are none of its business. */
	assert_int_equal(flags_of(pipes.ctl[1]), 0);
	assert_int_equal(flags_of(pipes.ack[0]), 0);
	snprintf(spec, sizeof(spec), "fd:%d", pipes.ack[0]);
	assert_int_equal(control__open(&control, spec), 0);
	assert_int_equal(flags_of(pipes.ack[0]), FD_CLOEXEC);
	control__close(&control);
	pipes__close(&pipes);
}

static void fifos_wait_for_nobody(void **state)
{
	char dir[] = "/tmp/control.XXXXXX", *ctl, *ack, *spec;
	struct control control;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	ctl = xasprintf("%s/ctl", dir);
	ack = xasprintf("%s/ack", dir);
	spec = xasprintf("fifo:%s,%s", ctl, ack);
	assert_int_equal(mkfifo(ctl, 0600), 0);
	assert_int_equal(mkfifo(ack, 0600), 0);
	assert_int_equal(control__open(&control, spec), 0);
	for (int i = 0; i < 2; i++) {
		/* Writers of a fifo come and go. */
		fd = open(ctl, O_WRONLY | O_NONBLOCK);
		assert_int_equal(write(fd, "ping\n", 5), 5);
		close(fd);
		assert_int_equal(control__next(&control), CONTROL_PING);
		assert_int_equal(control__next(&control), CONTROL_NONE);
	}
	control__close(&control);
	control__close(&control);
	unlink(ctl);
	unlink(ack);
	rmdir(dir);
	free(ctl);
	free(ack);
	free(spec);
}

static void specs_that_are_none_are_refused(void **state)
{
	static const struct {
		const char *spec, *said;
		int err;
	} rows[] = {
		{"", "--control '': neither fd:CTL[,ACK] nor fifo:CTL[,ACK]", -EINVAL},
		{"x:1", "--control x:1: neither fd:CTL[,ACK] nor fifo:CTL[,ACK]", -EINVAL},
		{"fd:", "--control fd:: '' is not an open descriptor", -EINVAL},
		{"fd:x", "--control fd:x: 'x' is not an open descriptor", -EINVAL},
		{"fd:-1", "--control fd:-1: '-1' is not an open descriptor", -EINVAL},
		{"fd:999", "--control fd:999: '999' is not an open descriptor", -EINVAL},
		{"fd:0,", "--control fd:0,: '' is not an open descriptor", -EINVAL},
		{"fifo:", "--control fifo:: cannot open '': No such file or directory", -ENOENT},
		{"fifo:/nonexistent/a",
		 "--control fifo:/nonexistent/a: cannot open '/nonexistent/a': No such file or directory",
		 -ENOENT},
	};

	(void)state;
	msg__init("perf");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct control control;
		struct said capture;
		char *said;
		int err;

		said__begin(&capture);
		err = control__open(&control, rows[i].spec);
		said = said__end(&capture);
		if (err != rows[i].err || strncmp(said, "perf: ", 6) ||
		    strncmp(said + 6, rows[i].said, strlen(rows[i].said)) ||
		    strcmp(said + 6 + strlen(rows[i].said), "\n"))
			fail_msg("'%s': %d %s", rows[i].spec, err, said);
		assert_int_equal(control.fd, -1);
		free(said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_commands),
		cmocka_unit_test(a_command_may_come_in_pieces),
		cmocka_unit_test(a_word_without_end_is_one_when_nothing_follows),
		cmocka_unit_test(some_words_take_something),
		cmocka_unit_test(unknown_words_are_named),
		cmocka_unit_test(the_other_side_hears_and_may_go),
		cmocka_unit_test(no_command_inherits_the_descriptors),
		cmocka_unit_test(fifos_wait_for_nobody),
		cmocka_unit_test(specs_that_are_none_are_refused),
	};

	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
