/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_CONFIG_EDIT_H
#define PERF_HOST_CONFIG_EDIT_H

/* Changes of configuration files, which keep all other lines and comments. */

/**
 * config_edit__set() - give a key a value, in place of its last one or at the end of its section
 * @path: of the file; it is made if it is absent
 * @name: SECTION.KEY in lower case
 *
 * The file is complete at any time: the new text is written beside it and renamed.
 * Return: 0 or -errno after a message.
 */
int config_edit__set(const char *path, const char *name, const char *value);

#endif
