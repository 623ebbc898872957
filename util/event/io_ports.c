// SPDX-License-Identifier: GPL-2.0
#include "util/event/io_ports.h"

#include "util/event/evlist.h"
#include "util/event/evsel.h"
#include "util/event/parse_error.h"
#include "util/event/parse_events.h"
#include "util/event/pmu.h"
#include "util/host/cpumap.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "uncore_iio_";

/* Bytes of each count: the PMU counts words of 4 bytes. */
#define WORD_MB (4.0 / (1024 * 1024))

/* The PMU's codes for requests, and for data that CPUs ask for; of reads and writes. */
static const struct {
	const char *name;
	int event, umask;
} columns[] = {
	{"Inbound Read(MB)", 0x83, 0x4},
	{"Inbound Write(MB)", 0x83, 0x1},
	{"Outbound Read(MB)", 0xc0, 0x4},
	{"Outbound Write(MB)", 0xc0, 0x1},
};

/* Return: the number of a PMU of ports, -1: another PMU. */
static int pmu_number(const struct pmu *pmu)
{
	unsigned int number;
	char rest;

	if (strncmp(pmu->name, prefix, strlen(prefix)) ||
	    sscanf(pmu->name + strlen(prefix), "%9u%c", &number, &rest) != 1)
		return -1;
	return number;
}

/* Add the port that the PMU counts for on a die, if the kernel names one. */
static int add_port(struct io_ports *out, const struct pmu *pmu, const char *sysfs, int die)
{
	char *path __cleanup(free_ptr) =
		xasprintf("%s/bus/event_source/devices/%s/die%d", sysfs, pmu->name, die);
	char *line __cleanup(free_ptr) = path ? read_file_line(path) : NULL, rest;
	struct io_port *port, found = {
				      .pmu = pmu_number(pmu),
				      .die = die,
				      .cpu = pmu->cpus ? pmu->cpus->cpu[die] : 0,
			      };

	if (!path)
		return -ENOMEM;
	if (!line || sscanf(line, "%4x:%2x%c", &found.segment, &found.bus, &rest) != 2)
		return 0;
	snprintf(found.name, sizeof(found.name), "%04x:%02x", found.segment, found.bus);
	port = array__add(out->ports, out->nr);
	if (!port)
		return -ENOMEM;
	*port = found;
	return 0;
}

int io_ports__find(struct io_ports *out, struct pmus *pmus, const char *sysfs)
{
	const struct pmu *pmu = NULL;
	bool has_pmu = false;
	int die, err = 0;

	while ((pmu = pmus__next(pmus, pmu)) && !err) {
		if (pmu_number(pmu) < 0)
			continue;
		has_pmu = true;
		/* cpumask has a CPU of each die. */
		for (die = 0; die < (pmu->cpus ? pmu->cpus->nr : 1) && !err; die++)
			err = add_port(out, pmu, sysfs, die);
	}
	if (err)
		return err;
	if (!has_pmu)
		return -ENODEV;
	return out->nr ? 0 : -ENOENT;
}

void io_ports__clear(struct io_ports *ports)
{
	free(ports->ports);
	memset(ports, 0, sizeof(*ports));
}

/* Move the ports of this name behind those that are kept already. Return: their number. */
static int keep_port(struct io_ports *ports, int *nr_kept, unsigned int segment, unsigned int bus)
{
	int i, nr = 0;

	for (i = *nr_kept; i < ports->nr; i++) {
		struct io_port port = ports->ports[i];

		if (port.segment != segment || port.bus != bus)
			continue;
		memmove(&ports->ports[*nr_kept + 1], &ports->ports[*nr_kept],
			(i - *nr_kept) * sizeof(port));
		ports->ports[(*nr_kept)++] = port;
		nr++;
	}
	return nr;
}

int io_ports__keep(struct io_ports *ports, const char *list)
{
	char *copy __cleanup(free_ptr) = strdup(list), *rest = copy, *word, end;
	unsigned int segment, bus;
	int nr_kept = 0;

	while (rest && (word = strsep(&rest, ","))) {
		if (sscanf(word, "%4x:%2x%c", &segment, &bus, &end) != 2) {
			pr_err("--iostat=%s: neither 'list' nor ports such as 0000:17,0:3a", list);
			return -EINVAL;
		}
		if (!keep_port(ports, &nr_kept, segment, bus)) {
			pr_err("--iostat: there is no port %s, or it is there twice (--iostat=list)",
			       word);
			return -EINVAL;
		}
	}
	ports->nr = nr_kept;
	return copy ? 0 : -ENOMEM;
}

void io_ports__print(const struct io_ports *ports)
{
	for (int i = 0; i < ports->nr; i++)
		pr_text("S%d-%s%d<%s>\n", ports->ports[i].die, prefix, ports->ports[i].pmu,
			ports->ports[i].name);
}

static int add_group(const struct io_port *port, struct evlist *evlist, struct pmus *pmus)
{
	static const struct parse_events_options options = {};
	struct parse_error error = {};
	char *text __cleanup(free_ptr) = NULL;
	int first = evlist->nr, err;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		fprintf(out, "%c%s%d/event=%#x,umask=%#x,ch_mask=0xf,fc_mask=0x7,cpu=%d/",
			i ? ',' : '{', prefix, port->pmu, columns[i].event, columns[i].umask,
			port->cpu);
	fputc('}', out);
	if (fclose(out))
		return -ENOMEM;
	err = parse_events_opts(evlist, pmus, text, &options, &error);
	if (err == -EINVAL)
		parse_error__print(&error);
	parse_error__clear(&error);
	for (i = 0; i < ARRAY_SIZE(columns) && !err; i++) {
		struct evsel *evsel = evlist->evsels[first + i];

		free(evsel->name);
		evsel->name = strdup(columns[i].name);
		evsel->named = true;
		evsel->scale = WORD_MB;
		evsel->port = port;
		err = evsel->name ? 0 : -ENOMEM;
	}
	return err;
}

int io_ports__add_events(const struct io_ports *ports, struct evlist *evlist, struct pmus *pmus)
{
	int err = 0;

	for (int i = 0; i < ports->nr && !err; i++)
		err = add_group(&ports->ports[i], evlist, pmus);
	return err;
}
