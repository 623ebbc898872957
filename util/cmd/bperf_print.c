// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/bperf_print.h"

#include "util/bperf/foreign_pins.h"
#include "util/bperf/registry.h"
#include "util/bperf/snapshot.h"
#include "util/event/attr_text.h"
#include "util/host/cpumap.h"
#include "util/host/wide_attr.h"
#include "util/lib/array.h"
#include "util/lib/json_string.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"

#include <errno.h>
#include <json-c/json.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

/* Print only the first few of many processes; the JSON has all. */
#define TEXT_PIDS 8

/* One event, as both formats print it. */
struct event_row {
	char *name, *pmu;
	int *pids;
	int nr_pids;
	bool in_group, leads;
	unsigned int nr_perf_events; /* of foreign leaders: unknown, 0 */
	double age_s, counted_pct;   /* negative: unknown */
	const char *leader;	     /* "own", "foreign" or "unlisted" */
	__u32 link_id;
	int nr_followers;
};

struct rows {
	struct event_row *row;
	int nr;
};

static int add_pid(struct event_row *row, int pid)
{
	int *added = array__add(row->pids, row->nr_pids);

	if (!added)
		return -ENOMEM;
	*added = pid;
	return 0;
}

static struct event_row *add_row(struct rows *rows, const struct attr_key *key, struct pmus *pmus)
{
	struct event_row *row = array__add(rows->row, rows->nr);
	union wide_attr wide;

	if (!row)
		return NULL;
	*row = (struct event_row){.age_s = -1, .counted_pct = -1};
	memcpy(&wide, key->bytes, sizeof(wide));
	row->name = attr_text(&wide.attr, pmus);
	row->pmu = attr_pmu_text(&wide.attr, pmus);
	return row->name && row->pmu ? row : NULL;
}

static void clear_rows(struct rows *rows)
{
	for (int i = 0; i < rows->nr; i++) {
		free(rows->row[i].name);
		free(rows->row[i].pmu);
		free(rows->row[i].pids);
	}
	free(rows->row);
}

static int add_users(struct event_row *row, const struct registry *reg,
		     const struct reg_event *event)
{
	int err = 0;

	for (int session = 0; session < MAX_SESSIONS && !err; session++) {
		if (event->users[session / 64] >> session % 64 & 1)
			err = add_pid(row, reg->session[session].pid);
	}
	return err;
}

/* Note the age of the oldest perf event and the lowest share of all CPUs. */
static void add_samples(struct event_row *row, const struct snapshot *list, int slot)
{
	for (int cpu = 0; cpu < list->nr_cpus; cpu++) {
		const struct shared_sample *sample = snapshot__at(list, cpu, slot);
		double age_s = sample->age_ns / 1e9, pct;

		if (!sample->is_open || !sample->enabled_ns)
			continue;
		pct = 100.0 * sample->running_ns / sample->enabled_ns;
		if (age_s > row->age_s)
			row->age_s = age_s;
		if (row->counted_pct < 0 || pct < row->counted_pct)
			row->counted_pct = pct;
	}
}

static int own_rows(struct rows *rows, const struct snapshot *list, struct pmus *pmus)
{
	const struct registry *reg = list->registry;

	for (int slot = 0; reg && slot < MAX_EVENTS; slot++) {
		const struct reg_event *event = &reg->event[slot];
		const struct reg_event *first = &reg->event[event->leader % MAX_EVENTS];
		const struct shared_entry *entry;
		struct event_row *row;

		if (event->state != REG_READY)
			continue;
		row = add_row(rows, &event->key, pmus);
		if (!row || add_users(row, reg, first))
			return -ENOMEM;
		row->in_group = first->nr_members > 1;
		row->leads = first == event;
		row->nr_perf_events = event->nr_open;
		add_samples(row, list, slot);
		entry = snapshot__entry(list, slot);
		row->leader = !entry ? "unlisted" : entry->kind == ENTRY_OWN ? "own" : "foreign";
		row->link_id = entry ? entry->link_id : reg->link_id;
		row->nr_followers = entry ? entry->nr_followers : 0;
		for (int i = 0; entry && i < entry->nr_pids; i++) {
			if (add_pid(row, entry->pids[i]))
				return -ENOMEM;
		}
	}
	return 0;
}

static bool is_in_registry(const struct snapshot *list, const struct shared_entry *entry)
{
	for (int slot = 0; list->registry && slot < MAX_EVENTS; slot++) {
		if (list->registry->event[slot].state == REG_READY &&
		    snapshot__entry(list, slot) == entry)
			return true;
	}
	return false;
}

/* Print events that only foreign leaders count. */
static int foreign_rows(struct rows *rows, const struct snapshot *list, struct pmus *pmus)
{
	for (int e = 0; e < list->nr_entries; e++) {
		const struct shared_entry *entry = &list->entries[e];
		struct event_row *row;

		if (entry->kind != ENTRY_FOREIGN || is_in_registry(list, entry))
			continue;
		row = add_row(rows, &entry->key, pmus);
		if (!row)
			return -ENOMEM;
		row->leader = "foreign";
		row->link_id = entry->link_id;
		row->nr_followers = entry->nr_followers;
		for (int i = 0; i < entry->nr_pids; i++) {
			if (add_pid(row, entry->pids[i]))
				return -ENOMEM;
		}
	}
	return 0;
}

static int make_rows(struct rows *rows, const struct snapshot *list, struct pmus *pmus)
{
	int err = own_rows(rows, list, pmus);

	return err ? err : foreign_rows(rows, list, pmus);
}

/* --- perf events of each PMU on each CPU --- */

struct pmu_row {
	char *pmu;
	struct cpumap *cpus;
	int nr_events;
};

/* Perf events of a PMU on a CPU; each needs a counter there, except software events. */
static int nr_on_cpu(const struct snapshot *list, const struct rows *rows, const char *pmu, int cpu)
{
	int nr = 0, row = 0;

	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (list->registry->event[slot].state != REG_READY)
			continue;
		nr += snapshot__at(list, cpu, slot)->is_open && !strcmp(rows->row[row].pmu, pmu);
		row++;
	}
	return nr;
}

static bool is_first_of_pmu(const struct rows *rows, int row)
{
	for (int i = 0; i < row; i++) {
		if (!strcmp(rows->row[i].pmu, rows->row[row].pmu))
			return false;
	}
	return true;
}

static int for_each_pmu(const struct snapshot *list, const struct rows *rows,
			int (*fn)(void *ctx, const struct pmu_row *row), void *ctx)
{
	int *cpus __cleanup(free_ptr) = calloc(list->nr_cpus ? list->nr_cpus : 1, sizeof(*cpus));
	int err = cpus ? 0 : -ENOMEM;

	for (int r = 0; list->registry && r < rows->nr && !err; r++) {
		struct pmu_row row = {.pmu = rows->row[r].pmu};

		if (!rows->row[r].nr_perf_events || !is_first_of_pmu(rows, r))
			continue;
		/* Print a row for each different number of events; most machines have one. */
		for (row.nr_events = 1; row.nr_events <= MAX_EVENTS && !err; row.nr_events++) {
			int nr = 0;

			for (int cpu = 0; cpu < list->nr_cpus; cpu++) {
				if (nr_on_cpu(list, rows, row.pmu, cpu) == row.nr_events)
					cpus[nr++] = cpu;
			}
			if (!nr)
				continue;
			row.cpus = cpumap__new(cpus, nr);
			err = row.cpus ? fn(ctx, &row) : -ENOMEM;
			cpumap__delete(row.cpus);
		}
	}
	return err;
}

/* --- text --- */

static void print_sessions(const struct snapshot *list)
{
	const struct registry *reg = list->registry;

	printf("%-8s %-16s %10s\n", "PID", "COMMAND", "SECONDS");
	for (int i = 0; reg && i < MAX_SESSIONS; i++) {
		const struct reg_session *session = &reg->session[i];
		char comm[sizeof(session->comm) + 1];

		if (!session->token)
			continue;
		/* comm may lack the final NUL. */
		snprintf(comm, sizeof(comm), "%.*s", (int)sizeof(session->comm), session->comm);
		printf("%-8u ", session->pid);
		printable__put(stdout, -16, comm);
		printf(" %10.1f\n", (list->taken_ns - session->start_ns) / 1e9);
	}
}

static void print_number(double value, const char *unit)
{
	if (value < 0)
		printf(" %10s", "-");
	else
		printf(" %*.1f%s", 10 - (int)strlen(unit), value, unit);
}

static void print_pids(const int *pids, int nr)
{
	for (int i = 0; i < nr && i < TEXT_PIDS; i++)
		printf("%s%d", i ? "," : "", pids[i]);
	printf("%s\n", nr > TEXT_PIDS ? ",..." : nr ? "" : "-");
}

static void print_row(const struct event_row *row)
{
	/* Members of a group stand together, as in {a,b}. */
	fputs(row->in_group ? row->leads ? "{" : " " : "", stdout);
	printable__put(stdout, row->in_group ? -31 : -32, row->name);
	printf(" %8d ", row->nr_pids);
	if (row->nr_perf_events)
		printf("%12u", row->nr_perf_events);
	else
		printf("%12s", "-");
	print_number(row->age_s, "");
	print_number(row->counted_pct, "%");
	printf("  %-8s ", row->leader);
	print_pids(row->pids, row->nr_pids);
}

static void print_progs(const struct snapshot *list)
{
	if (list->nr_progs)
		printf("\n%-32s %8s  %-16s %8s %6s  %s\n", "PROGRAM", "ID", "TYPE", "SESSIONS",
		       "EVENTS", "PIDS");
	for (int i = 0; i < list->nr_progs; i++) {
		const struct shared_prog *prog = &list->progs[i];

		printable__put(stdout, -32, prog->name ? prog->name : "-");
		printf(" %8u  %-16s %8d %6d  ", prog->id, prog->name ? prog->type : "-",
		       prog->nr_pids, prog->nr_events);
		print_pids(prog->pids, prog->nr_pids);
	}
}

static int print_pmu(void *ctx, const struct pmu_row *row)
{
	char *cpus __cleanup(free_ptr) = cpumap__str(row->cpus);
	bool *is_first = ctx;

	if (*is_first)
		printf("\n%-32s %-24s %s\n", "PMU", "CPUS", "PERF EVENTS EACH");
	*is_first = false;
	printable__put(stdout, -32, row->pmu);
	printf(" %-24s %16d\n", cpus ? cpus : "?", row->nr_events);
	return 0;
}

/* Print each pinned leader, after an empty line. */
static void print_pins(const struct snapshot *list, const char *path)
{
	for (int i = 0; i < list->nr_pins; i++) {
		const struct foreign_pin *pin = &list->pins[i];
		bool is_one = pin->nr_events == 1;
		char name[LEADER_PIN_NAME];

		foreign_pins__name(pin->link_id, name);
		printf("%s%d event%s open for %d follower%s of other implementations (",
		       i ? "" : "\n", pin->nr_events, is_one ? " stays" : "s stay",
		       pin->nr_followers, pin->nr_followers == 1 ? "" : "s");
		printable__put(stdout, 0, path);
		printf("_lock/%s); %s counters stay taken\n", name, is_one ? "its" : "their");
	}
}

void bperf_print__text(const struct snapshot *list, const char *path, struct pmus *pmus)
{
	int nr_perf_events = 0, nr_own = 0, nr_sessions;
	struct rows rows = {};
	bool is_first = true;

	if (make_rows(&rows, list, pmus)) {
		clear_rows(&rows);
		return;
	}
	if (!rows.nr && !list->registry) {
		printf("no events are shared through ");
		printable__put(stdout, 0, path);
		putchar('\n');
		print_pins(list, path);
		return;
	}
	print_sessions(list);
	printf("\n%-32s %8s %12s %10s %10s  %-8s %s\n", "EVENT", "SESSIONS", "PERF EVENTS",
	       "SECONDS", "COUNTED", "LEADER", "PIDS");
	for (int i = 0; i < rows.nr; i++) {
		print_row(&rows.row[i]);
		nr_perf_events += rows.row[i].nr_perf_events;
		nr_own += rows.row[i].nr_perf_events > 0;
	}
	for_each_pmu(list, &rows, print_pmu, &is_first);
	print_progs(list);
	nr_sessions = list->registry ? registry__nr_sessions(list->registry) : 0;
	printf("\n%d %s %d perf %s for %d %s\n", nr_sessions,
	       nr_sessions == 1 ? "session shares" : "sessions share", nr_perf_events,
	       nr_perf_events == 1 ? "event" : "events", nr_own, nr_own == 1 ? "event" : "events");
	print_pins(list, path);
	clear_rows(&rows);
}

/* --- JSON --- */

static void add(struct json_object *object, const char *name, struct json_object *value)
{
	json_object_object_add(object, name, value);
}

/* Print tenths: they are the same on all machines. */
static struct json_object *tenths(double value)
{
	char text[32];

	if (value < 0)
		return NULL;
	snprintf(text, sizeof(text), "%.1f", value);
	return json_object_new_double_s(value, text);
}

static struct json_object *runs_json(const struct snapshot *list)
{
	struct json_object *runs = json_object_new_array();
	const struct registry *reg = list->registry;

	for (int i = 0; reg && i < MAX_SESSIONS; i++) {
		const struct reg_session *session = &reg->session[i];
		struct json_object *object;

		if (!session->token)
			continue;
		object = json_object_new_object();
		add(object, "pid", json_object_new_int(session->pid));
		add(object, "command",
		    json_object_new_string_len(session->comm,
					       strnlen(session->comm, sizeof(session->comm))));
		add(object, "seconds", tenths((list->taken_ns - session->start_ns) / 1e9));
		json_object_array_add(runs, object);
	}
	return runs;
}

static struct json_object *pids_json(const int *pids, int nr)
{
	struct json_object *array = json_object_new_array();

	for (int i = 0; i < nr; i++)
		json_object_array_add(array, json_object_new_int(pids[i]));
	return array;
}

static struct json_object *progs_json(const struct snapshot *list)
{
	struct json_object *progs = json_object_new_array();

	for (int i = 0; i < list->nr_progs; i++) {
		const struct shared_prog *prog = &list->progs[i];
		struct json_object *object = json_object_new_object();

		add(object, "program", prog->name ? json_object_new_string(prog->name) : NULL);
		add(object, "id", json_object_new_int64(prog->id));
		add(object, "type", prog->name ? json_object_new_string(prog->type) : NULL);
		add(object, "runs", json_object_new_int(prog->nr_pids));
		add(object, "pids", pids_json(prog->pids, prog->nr_pids));
		add(object, "events", json_object_new_int(prog->nr_events));
		json_object_array_add(progs, object);
	}
	return progs;
}

static struct json_object *pins_json(const struct snapshot *list, const char *path)
{
	struct json_object *pins = json_object_new_array();

	for (int i = 0; i < list->nr_pins; i++) {
		const struct foreign_pin *pin = &list->pins[i];
		struct json_object *object = json_object_new_object();
		char name[LEADER_PIN_NAME];
		char *file __cleanup(free_ptr) = NULL;

		foreign_pins__name(pin->link_id, name);
		file = xasprintf("%s_lock/%s", path, name);
		add(object, "path", file ? json_object_new_string(file) : NULL);
		add(object, "link-id", json_object_new_int64(pin->link_id));
		add(object, "events", json_object_new_int(pin->nr_events));
		add(object, "foreign-followers", json_object_new_int(pin->nr_followers));
		json_object_array_add(pins, object);
	}
	return pins;
}

static struct json_object *event_json(const struct event_row *row, int group)
{
	struct json_object *object = json_object_new_object();

	add(object, "event", json_object_new_string(row->name));
	add(object, "pmu", json_object_new_string(row->pmu));
	add(object, "group", row->in_group ? json_object_new_int(group) : NULL);
	add(object, "runs", json_object_new_int(row->nr_pids));
	add(object, "pids", pids_json(row->pids, row->nr_pids));
	add(object, "perf-events",
	    row->nr_perf_events ? json_object_new_int(row->nr_perf_events) : NULL);
	add(object, "seconds", tenths(row->age_s));
	add(object, "counted-percent", tenths(row->counted_pct));
	add(object, "multiplexed",
	    row->counted_pct < 0 ? NULL : json_object_new_boolean(row->counted_pct < 100));
	add(object, "leader", json_object_new_string(row->leader));
	add(object, "link-id", json_object_new_int64(row->link_id));
	add(object, "foreign-followers", json_object_new_int(row->nr_followers));
	return object;
}

static int pmu_json(void *ctx, const struct pmu_row *row)
{
	char *cpus __cleanup(free_ptr) = cpumap__str(row->cpus);
	struct json_object *object = json_object_new_object();

	if (!cpus || !object)
		return -ENOMEM;
	add(object, "pmu", json_object_new_string(row->pmu));
	add(object, "cpus", json_object_new_string(cpus));
	add(object, "perf-events", json_object_new_int(row->nr_events));
	return json_object_array_add(ctx, object);
}

int bperf_print__json(const struct snapshot *list, const char *path, struct pmus *pmus)
{
	struct json_object *object = json_object_new_object(), *events = json_object_new_array();
	struct json_object *pmu_array = json_object_new_array();
	struct rows rows = {};
	int err = make_rows(&rows, list, pmus), group = 0;

	if (!object || !events || !pmu_array)
		err = -ENOMEM;
	for (int i = 0; i < rows.nr && !err; i++) {
		group += rows.row[i].in_group && rows.row[i].leads;
		json_object_array_add(events, event_json(&rows.row[i], group));
	}
	if (!err)
		err = for_each_pmu(list, &rows, pmu_json, pmu_array);
	if (!err) {
		add(object, "attr-map", json_object_new_string(path));
		add(object, "runs", runs_json(list));
		add(object, "events", events);
		add(object, "programs", progs_json(list));
		add(object, "pmus", pmu_array);
		add(object, "pins", pins_json(list, path));
		json_string__print_all(
			stdout,
			json_object_to_json_string_ext(
				object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
		putchar('\n');
	} else {
		json_object_put(events);
		json_object_put(pmu_array);
	}
	json_object_put(object);
	clear_rows(&rows);
	return err;
}
