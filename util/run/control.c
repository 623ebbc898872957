// SPDX-License-Identifier: GPL-2.0
#include "util/run/control.h"

#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *word;
	enum control_command command;
	bool takes_arg;
} words[] = {
	{"enable", CONTROL_ENABLE, true}, {"disable", CONTROL_DISABLE, true},
	{"evlist", CONTROL_EVLIST, true}, {"ping", CONTROL_PING, false},
	{"stop", CONTROL_STOP, false},
};

static int parse_fd(const char *text)
{
	char *end;
	long fd = strtol(text, &end, 10);

	return end != text && !*end && fd >= 0 && fd < 1 << 20 && fcntl(fd, F_GETFD) >= 0 ? fd : -1;
}

int control__open(struct control *control, const char *spec)
{
	char *copy __cleanup(free_ptr) = strdup(spec);
	char *ctl, *ack;
	int err;

	*control = (struct control){.fd = -1, .ack_fd = -1};
	if (!copy)
		return -ENOMEM;
	ctl = strchr(copy, ':');
	if (!ctl || (strncmp(copy, "fd:", 3) && strncmp(copy, "fifo:", 5))) {
		pr_err("--control %s: neither fd:CTL[,ACK] nor fifo:CTL[,ACK]", shown_arg(spec));
		return -EINVAL;
	}
	ctl++;
	ack = strchr(ctl, ',');
	if (ack)
		*ack++ = '\0';
	if (!strncmp(copy, "fd:", 3)) {
		control->fd = parse_fd(ctl);
		control->ack_fd = ack ? parse_fd(ack) : -1;
		if (control->fd < 0 || (ack && control->ack_fd < 0)) {
			pr_err("--control %s: '%s' is not an open descriptor", spec,
			       control->fd < 0 ? ctl : ack);
			control__close(control);
			return -EINVAL;
		}
		/* The workload has no business with them. */
		fcntl(control->fd, F_SETFD, FD_CLOEXEC);
		if (ack)
			fcntl(control->ack_fd, F_SETFD, FD_CLOEXEC);
		return 0;
	}
	control->owns_fds = true;
	/* Both ways, so that it neither blocks until a writer comes nor ends when one goes. */
	control->fd = open(ctl, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (control->fd >= 0 && ack)
		control->ack_fd = open(ack, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (control->fd < 0 || (ack && control->ack_fd < 0)) {
		err = -errno;
		pr_err("--control %s: cannot open '%s': %s", spec, control->fd < 0 ? ctl : ack,
		       strerror(-err));
		control__close(control);
		return err;
	}
	return 0;
}

void control__close(struct control *control)
{
	if (control->owns_fds) {
		close_fd(&control->fd);
		close_fd(&control->ack_fd);
	}
	control->fd = control->ack_fd = -1;
}

/* @arg: what follows a blank */
static enum control_command parse_word(const char *text, const char **arg)
{
	size_t len = strcspn(text, " ");

	*arg = text[len] ? text + len + 1 : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strlen(words[i].word) == len && !strncmp(text, words[i].word, len) &&
		    (!*arg || words[i].takes_arg))
			return words[i].command;
	}
	return CONTROL_UNKNOWN;
}

static enum control_command take_word(struct control *control)
{
	enum control_command command;

	control->buf[control->len] = '\0';
	control->len = 0;
	command = parse_word(control->buf, &control->arg);
	if (command == CONTROL_UNKNOWN)
		pr_err("--control: unknown command '%s' (enable [EVENT], disable [EVENT], evlist [-g|-F|-v], ping, stop)",
		       control->buf);
	return command;
}

/* Clients of the established tool may send a word without any end. */
static bool has_word(struct control *control)
{
	const char *arg;

	control->buf[control->len] = '\0';
	return control->len && parse_word(control->buf, &arg) != CONTROL_UNKNOWN;
}

/*
 * A command ends with a newline, or, if it is one, where nothing follows yet; byte by byte, so that
 * nothing after it is taken.
 */
enum control_command control__next(struct control *control)
{
	struct pollfd pfd = {.fd = control->fd, .events = POLLIN};

	while (control->fd >= 0 && poll(&pfd, 1, 0) == 1) {
		char c;
		ssize_t len = read(control->fd, &c, 1);

		if (len < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (len <= 0) {
			/* The other side has hung up; counting continues. */
			if (control->owns_fds)
				close_fd(&control->fd);
			control->fd = -1;
			break;
		}
		if (c != '\n' && c != '\0') {
			if (control->len < (int)sizeof(control->buf) - 1)
				control->buf[control->len++] = c;
			continue;
		}
		if (control->len)
			return take_word(control);
	}
	return has_word(control) ? take_word(control) : CONTROL_NONE;
}

/* Linux's perf includes the NUL, so its clients read five bytes. */
void control__ack(struct control *control)
{
	static const char handle_wakeup[] = "ack\n";
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction old;

	if (control->ack_fd < 0)
		return;
	/* The asker may be gone by now; still print the counts before the end. */
	sigaction(SIGPIPE, &ignore, &old);
	if (write(control->ack_fd, handle_wakeup, sizeof(handle_wakeup)) != sizeof(handle_wakeup))
		pr_verbose("--control: acknowledging failed: %s", strerror(errno));
	sigaction(SIGPIPE, &old, NULL);
}
