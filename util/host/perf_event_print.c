// SPDX-License-Identifier: GPL-2.0
#include "util/host/perf_event_print.h"

#include "util/host/wide_attr.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <stdio.h>

/* Members that are printed unless they are 0. */
#define MEMBERS(fn)                                                                                \
	fn(disabled) fn(inherit) fn(pinned) fn(exclusive) fn(exclude_user) fn(exclude_kernel)      \
		fn(exclude_hv) fn(exclude_idle) fn(enable_on_exec) fn(precise_ip) fn(exclude_host) \
			fn(exclude_guest) fn(bp_type) fn(config1) fn(config2)

struct flag {
	unsigned long long bit;
	const char *name;
};

static const struct flag sample_types[] = {{PERF_SAMPLE_IDENTIFIER, "IDENTIFIER"}, {}};
static const struct flag read_formats[] = {
	{PERF_FORMAT_TOTAL_TIME_ENABLED, "TOTAL_TIME_ENABLED"},
	{PERF_FORMAT_TOTAL_TIME_RUNNING, "TOTAL_TIME_RUNNING"},
	{PERF_FORMAT_ID, "ID"},
	{PERF_FORMAT_GROUP, "GROUP"},
	{},
};

static void print_flags(FILE *out, const char *name, unsigned long long value,
			const struct flag *flag)
{
	const char *before = "";

	if (!value)
		return;
	fprintf(out, "  %-32s ", name);
	for (; flag->name; flag++) {
		if (value & flag->bit) {
			fprintf(out, "%s%s", before, flag->name);
			before = "|";
		}
	}
	fputc('\n', out);
}

static void print_member(FILE *out, const char *name, unsigned long long value)
{
	if (value)
		fprintf(out, value < 10 ? "  %-32s %llu\n" : "  %-32s %#llx\n", name, value);
}

static const char *const more_names[NR_MORE_CONFIG] = {"config3", "config4"};

void perf_event__dump(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		      unsigned long flags, int result)
{
	static const char line[] = "------------------------------------------------------------";
	char *text __cleanup(free_ptr) = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	fprintf(out, "%s\nperf_event_attr:\n", line);
	fprintf(out, "  %-32s %u\n  %-32s %u\n  %-32s %#llx\n", "type", attr->type, "size",
		attr->size, "config", (unsigned long long)attr->config);
	print_flags(out, "sample_type", attr->sample_type, sample_types);
	print_flags(out, "read_format", attr->read_format, read_formats);
#define PRINT(member) print_member(out, #member, attr->member);
	MEMBERS(PRINT)
	for (int i = 0; i < NR_MORE_CONFIG; i++)
		print_member(out, more_names[i], wide_attr__more(attr, i));
	fprintf(out, "%s\nsys_perf_event_open: pid %d  cpu %d  group_fd %d  flags %#lx = %d\n",
		line, pid, cpu, group_fd, flags, result);
	if (!fclose(out))
		pr_lines(text);
}

void perf_event__print_attr(const struct perf_event_attr *attr)
{
	pr_text(": type: %u, size: %zu, config: %#llx", attr->type, sizeof(*attr),
		(unsigned long long)attr->config);
#define PRINT_SHORT(member)                                                                        \
	if (attr->member)                                                                          \
		pr_text(attr->member < 10 ? ", " #member ": %llu" : ", " #member ": %#llx",        \
			(unsigned long long)attr->member);
	MEMBERS(PRINT_SHORT)
}
