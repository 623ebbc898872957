// SPDX-License-Identifier: GPL-2.0
/* Where perf stat prints its counts: stderr, the file of -o, the descriptor of --log-fd. */
#include "stat_cmd.h"

#include "msg.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static FILE *open_log_fd(const struct stat_cmd *cmd)
{
	/* A copy, so that closing it at the end is ours alone. */
	int fd = fcntl(cmd->log_fd, F_DUPFD_CLOEXEC, 3);
	FILE *file = fd < 0 ? NULL : fdopen(fd, cmd->append ? "a" : "w");

	if (!file) {
		pr_err("--log-fd %d: %s", cmd->log_fd, strerror(errno));
		close_fd(&fd);
	}
	return file;
}

static FILE *open_file(const struct stat_cmd *cmd)
{
	FILE *file = fopen(cmd->output_path, cmd->append ? "ae" : "we");
	time_t now = time(NULL);

	if (!file)
		pr_err("cannot create the output file '%s': %s", cmd->output_path, strerror(errno));
	else if (!cmd->run.config.json)
		fprintf(file, "# started on %s\n", ctime(&now));
	return file;
}

int stat_cmd__open_output(struct stat_cmd *cmd)
{
	struct stat_config *config = &cmd->run.config;

	config->output = stderr;
	if (cmd->quiet) {
		cmd->file = fopen("/dev/null", "we");
		if (!cmd->file)
			return STATUS_FAILED;
		config->interval_clear = false;
	} else if (cmd->output_path && strcmp(cmd->output_path, "-")) {
		cmd->file = open_file(cmd);
		if (!cmd->file)
			return STATUS_FAILED;
	} else if (cmd->log_fd >= 0) {
		cmd->file = open_log_fd(cmd);
		if (!cmd->file)
			return STATUS_INVALID;
	}
	if (cmd->file)
		config->output = cmd->file;
	config->color = isatty(fileno(config->output));
	if (config->interval_clear && !config->color) {
		pr_err("--interval-clear: the output is no terminal");
		return STATUS_FAILED;
	}
	return 0;
}

int stat_cmd__close_output(struct stat_cmd *cmd)
{
	int err = 0;

	fflush(cmd->run.config.output);
	if (ferror(cmd->run.config.output))
		err = -EIO;
	if (cmd->file && fclose(cmd->file) && !err)
		err = -errno;
	cmd->file = NULL;
	if (err)
		pr_err("writing the counts failed: %s", strerror(-err));
	return err;
}
