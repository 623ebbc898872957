// SPDX-License-Identifier: GPL-2.0
#include "util/event/tool_values.h"

#include "util/event/event_names.h"
#include "util/host/cpumap.h"
#include "util/host/proc_stat.h"
#include "util/lib/util.h"
#include "util/target/target.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

int tool__thread_time(pid_t tid, bool is_user, uint64_t *ns)
{
	struct proc_stat stat;
	int err = proc_stat__read(tid, &stat);

	if (!err)
		*ns = is_user ? stat.user_ns : stat.sys_ns;
	return err;
}

int tool__cpu_time(int cpu, bool is_user, uint64_t *ns)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/stat", procfs_root());
	FILE *file = path ? fopen(path, "re") : NULL;
	unsigned long long user, nice, sys;
	char line[512];
	int err = -ENOENT, found;

	if (!file)
		return -errno;
	while (err && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "cpu%d %llu %llu %llu", &found, &user, &nice, &sys) != 4 ||
		    found != cpu)
			continue;
		*ns = proc_stat__ticks_ns(is_user ? user : sys);
		err = 0;
	}
	fclose(file);
	return err;
}

/* Return: the number of different texts in a topology file of all online CPUs. */
static int count_distinct(const char *name, uint64_t *value)
{
	struct cpumap *cpus = cpumap__online();
	char **seen;
	int nr = 0, err = 0;

	if (!cpus)
		return -errno;
	seen = calloc(cpus->nr, sizeof(*seen));
	for (int i = 0; seen && i < cpus->nr; i++) {
		char *path __cleanup(free_ptr) =
			xasprintf("%s/devices/system/cpu/cpu%d/topology/%s", sysfs_root(),
				  cpus->cpu[i], name);
		char *text = path ? read_file_line(path) : NULL;
		bool is_known = false;

		if (!text) {
			err = -ENOENT;
			break;
		}
		for (int s = 0; s < nr && !is_known; s++)
			is_known = !strcmp(seen[s], text);
		if (is_known)
			free(text);
		else
			seen[nr++] = text;
	}
	*value = nr;
	while (nr)
		free(seen[--nr]);
	err = seen ? err : -ENOMEM;
	free(seen);
	cpumap__delete(cpus);
	return err;
}

static int count_cpus(struct cpumap *cpus, uint64_t *value)
{
	if (!cpus)
		return -ENOENT;
	*value = cpus->nr;
	cpumap__delete(cpus);
	return 0;
}

static bool is_smt_on(void)
{
	char *path __cleanup(free_ptr) =
		xasprintf("%s/devices/system/cpu/smt/active", sysfs_root());
	char *text __cleanup(free_ptr) = path ? read_file_line(path) : NULL;

	return text && !strcmp(text, "1");
}

#if defined(__x86_64__) || defined(__i386__)
/* Without CPUID leaf 15H, use the CPU's name: "Intel(R) Xeon(R) CPU @ 2.80GHz". */
static int named_hz(uint64_t *value)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/cpuinfo", procfs_root());
	char *text __cleanup(free_ptr) = path ? read_file(path, NULL) : NULL;
	char *name = text ? strstr(text, "model name") : NULL, *at;
	unsigned int whole, part = 0;
	int digits = 0;

	if (!name)
		return -ENOENT;
	name[strcspn(name, "\n")] = '\0';
	at = strrchr(name, '@');
	if (!at || !strstr(at, "GHz") || sscanf(at, "@ %u.%n%u", &whole, &digits, &part) < 2)
		return -ENOENT;
	for (digits = strspn(at + digits, "0123456789"); digits < 9; digits++)
		part *= 10;
	*value = whole * NSEC_PER_SEC + part;
	return 0;
}

/* The kernel does not export its calibration of the TSC; CPUID leaf 15H has the frequency. */
static int tsc_hz(uint64_t *value)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid(0x15, &a, &b, &c, &d) || !a || !b || !c)
		return named_hz(value);
	*value = (uint64_t)c * b / a;
	return 0;
}
#else
static int tsc_hz(uint64_t *value __unused)
{
	return -ENOENT;
}
#endif

static int arm_slots(uint64_t *value)
{
	/* The PMU is armv8_pmuv3_0 with ACPI, and has the core's name with a device tree. */
	char *pattern __cleanup(free_ptr) =
		xasprintf("%s/bus/event_source/devices/arm*/caps/slots", sysfs_root());
	char *text __cleanup(free_ptr) = NULL;
	glob_t found = {};

	if (pattern && !glob(pattern, 0, NULL, &found))
		text = read_file_line(found.gl_pathv[0]);
	globfree(&found);
	if (!text)
		return -ENOENT;
	*value = strtoull(text, NULL, 0);
	return *value ? 0 : -ENOENT;
}

int tool__value(enum tool_event event, const struct target *target, uint64_t *value)
{
	switch (event) {
	case TOOL_NUM_CPUS:
		return count_cpus(cpumap__present(), value);
	case TOOL_NUM_CPUS_ONLINE:
		return count_cpus(cpumap__online(), value);
	case TOOL_NUM_CORES:
		return count_distinct("core_cpus_list", value);
	case TOOL_NUM_DIES:
		return count_distinct("die_cpus_list", value);
	case TOOL_NUM_PACKAGES:
		return count_distinct("package_cpus_list", value);
	case TOOL_SMT_ON:
		*value = is_smt_on();
		return 0;
	case TOOL_CORE_WIDE:
		*value = target->system_wide;
		return 0;
	case TOOL_TARGET_CPU:
		*value = target->system_wide || target->cpu_list;
		return 0;
	case TOOL_HAS_PMEM: {
		char *path __cleanup(free_ptr) =
			xasprintf("%s/firmware/acpi/tables/NFIT", sysfs_root());

		*value = path && !access(path, F_OK);
		return 0;
	}
	case TOOL_SYSTEM_TSC_FREQ:
		return tsc_hz(value);
	case TOOL_SLOTS:
		return arm_slots(value);
	default:
		return -ENOENT;
	}
}

double tool__literal(const struct target *target, const char *name)
{
	const struct event_name *event = event_name__find(tool_events, name);
	uint64_t value;

	if (!event || tool__value(event->config, target, &value))
		return NAN;
	return value;
}

bool tool__is_watchdog_on(void)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/sys/kernel/nmi_watchdog", procfs_root());
	char *line __cleanup(free_ptr) = path ? read_file_line(path) : NULL;

	return line && atoi(line) > 0;
}
