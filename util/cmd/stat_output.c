// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/stat_output.h"

#include "util/cmd/stat_cmd.h"
#include "util/host/config.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * Truncate the file when the first text is flushed, which is a table's. A refused run leaves the file
 * as it was, or none.
 */
static ssize_t write_text(void *cookie, const char *text, size_t len)
{
	struct stat_output *output = cookie;
	size_t done = 0;

	if (output->is_over)
		return len;
	if (output->replaces && ftruncate(output->fd, 0))
		goto fail;
	output->replaces = output->is_new = false;
	while (done < len) {
		ssize_t nr = write(output->fd, text + done, len - done);

		if (nr < 0)
			goto fail;
		done += nr;
	}
	return len;
fail:
	if (!output->err)
		output->err = -errno;
	return 0;
}

static int close_text(void *cookie)
{
	struct stat_output *output = cookie;
	int fd = output->fd;

	output->fd = -1;
	return close(fd);
}

static FILE *open_text(struct stat_output *output)
{
	static const cookie_io_functions_t functions = {.write = write_text, .close = close_text};

	return fopencookie(output, "w", functions);
}

static FILE *open_log_fd(struct stat_cmd *cmd)
{
	struct stat_output *output = &cmd->output;
	FILE *file = NULL;
	int flags;

	/* A copy can be closed at the end. */
	output->fd = fcntl(cmd->log_fd, F_DUPFD_CLOEXEC, 3);
	flags = output->fd < 0 ? -1 : fcntl(output->fd, F_GETFL);
	if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) {
		flags = -1;
		errno = EINVAL;
	}
	if (flags >= 0 && (!cmd->append || !fcntl(output->fd, F_SETFL, flags | O_APPEND)))
		file = open_text(output);
	if (!file) {
		pr_err("--log-fd %d: %s", cmd->log_fd, strerror(errno));
		close_fd(&output->fd);
	}
	return file;
}

static FILE *open_file(struct stat_cmd *cmd)
{
	struct stat_output *output = &cmd->output;
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (cmd->append ? O_APPEND : 0);
	time_t now = time(NULL);
	FILE *file = NULL;
	struct stat st;

	output->fd = open(cmd->output_path, flags | O_EXCL, 0666);
	output->is_new = output->fd >= 0;
	if (output->fd < 0 && errno == EEXIST)
		output->fd = open(cmd->output_path, flags, 0666);
	if (output->fd >= 0) {
		output->replaces = !cmd->append && !fstat(output->fd, &st) && S_ISREG(st.st_mode);
		file = open_text(output);
	}
	if (!file) {
		pr_err("cannot create the output file '%s': %s", cmd->output_path, strerror(errno));
		close_fd(&output->fd);
	} else if (!cmd->run.config.options.json) {
		fprintf(file, "# started on %s\n", ctime(&now));
	}
	return file;
}

/* Remove the file that this run has made, if the name still refers to it. */
static void remove_new(const struct stat_cmd *cmd)
{
	struct stat here, there;

	if (!fstat(cmd->output.fd, &here) && !lstat(cmd->output_path, &there) &&
	    here.st_dev == there.st_dev && here.st_ino == there.st_ino)
		unlink(cmd->output_path);
}

int stat_cmd__open_output(struct stat_cmd *cmd)
{
	struct stat_config *config = &cmd->run.config;
	int fd;

	config->env.output = stderr;
	cmd->output.fd = -1;
	if (cmd->quiet) {
		cmd->file = fopen("/dev/null", "we");
		if (!cmd->file)
			return -EIO;
		config->options.interval_clear = false;
	} else if (cmd->output_path && strcmp(cmd->output_path, "-")) {
		cmd->file = open_file(cmd);
		if (!cmd->file)
			return -EIO;
	} else if (cmd->log_fd > 0) { /* perf treats 0 as none */
		cmd->file = open_log_fd(cmd);
		if (!cmd->file)
			return -EINVAL;
	}
	if (cmd->file)
		config->env.output = cmd->file;
	else
		config->env.keeps_warnings = config->options.csv_sep || config->options.json;
	fd = cmd->file ? cmd->output.fd : STDERR_FILENO;
	config->env.color = config__has_color(&cmd->settings, fd);
	if (config->options.interval_clear && !isatty(fd)) {
		pr_err("--interval-clear: the output is no terminal");
		return -ENOTTY;
	}
	return 0;
}

int stat_cmd__close_output(struct stat_cmd *cmd)
{
	struct stat_output *output = &cmd->output;
	int err = output->err;

	/* All tables are flushed: drop the beginning of one that never came. */
	output->is_over = true;
	if (output->is_new && !err)
		remove_new(cmd);
	if (!err && ferror(cmd->run.config.env.output))
		err = -EIO;
	if (cmd->file && fclose(cmd->file) && !err)
		err = -errno;
	cmd->file = NULL;
	if (err)
		pr_err("writing the counts failed: %s", strerror(-err));
	return err;
}
