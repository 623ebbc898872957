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

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of each count: the PMUs count words of 4 bytes. */
#define WORD_MB (4.0 / (1024 * 1024))

#define MAX_COLUMNS 6

struct column {
	const char *name, *terms;
};

/* Kinds of PMUs that count for ports */
enum { INTEL_IIO, HISI_PCIE };

static const struct port_kind {
	const char *prefix;  /* of the PMUs' names */
	const char *unnamed; /* why there may be no port */
	const char *format;  /* of values that are not 0 */
	struct column columns[MAX_COLUMNS];
} kinds[] = {
	/* The codes of requests of devices, and of CPUs, for data; of reads and writes. */
	[INTEL_IIO] = {"uncore_iio_",
		       "uncore_iio (no files uncore_iio_0/die0 and the like)",
		       "%8.0f",
		       {{"Inbound Read(MB)", "event=0x83,umask=0x4,ch_mask=0xf,fc_mask=0x7"},
			{"Inbound Write(MB)", "event=0x83,umask=0x1,ch_mask=0xf,fc_mask=0x7"},
			{"Outbound Read(MB)", "event=0xc0,umask=0x4,ch_mask=0xf,fc_mask=0x7"},
			{"Outbound Write(MB)", "event=0xc0,umask=0x1,ch_mask=0xf,fc_mask=0x7"}}},
	/* The codes of writes to memory, reads of memory, and completions, in both directions. */
	[HISI_PCIE] =
		{"hisi_pcie",
		 "hisi_pcie (no file hisi_pcie0_core0/bus, or no device of this bus below bus/pci/devices)",
		 "%8.2f",
		 {{"Inbound MWR(MB)", "event=0x104"},
		  {"Inbound MRD(MB)", "event=0x804"},
		  {"Inbound CPL(MB)", "event=0x2004"},
		  {"Outbound MWR(MB)", "event=0x105"},
		  {"Outbound MRD(MB)", "event=0x405"},
		  {"Outbound CPL(MB)", "event=0x1005"}}},
};

/* Return: the kind of a PMU of ports, -1: another PMU. */
static int kind_of(const struct pmu *pmu)
{
	unsigned int a, b;
	char rest;

	if (sscanf(pmu->name, "uncore_iio_%9u%c", &a, &rest) == 1)
		return INTEL_IIO;
	if (sscanf(pmu->name, "hisi_pcie%9u_core%9u%c", &a, &b, &rest) == 2)
		return HISI_PCIE;
	return -1;
}

/* Return: a line of a PMU's file; owned, NULL if it has none. */
static char *pmu_line(const struct pmu *pmu, const char *sysfs, const char *file)
{
	char *path __cleanup(free_ptr) =
		xasprintf("%s/bus/event_source/devices/%s/%s", sysfs, pmu->name, file);

	return path ? read_file_line(path) : NULL;
}

/* Return: a new port of the PMU, NULL without memory. */
static struct io_port *add_port(struct io_ports *out, const struct pmu *pmu, int kind)
{
	struct io_port *port = array__add(out->ports, out->nr);

	if (!port)
		return NULL;
	port->pmu = pmu;
	port->format = kinds[kind].format;
	port->kind = kind;
	return port;
}

/* Add the port that the PMU counts for on a die, if the kernel names one. */
static int add_die(struct io_ports *out, const struct pmu *pmu, const char *sysfs, int die)
{
	char file[16], *line __cleanup(free_ptr) = NULL, rest;
	unsigned int segment, bus;
	struct io_port *port;

	snprintf(file, sizeof(file), "die%d", die);
	line = pmu_line(pmu, sysfs, file);
	if (!line || sscanf(line, "%4x:%2x%c", &segment, &bus, &rest) != 2)
		return 0;
	port = add_port(out, pmu, INTEL_IIO);
	if (!port)
		return -ENOMEM;
	snprintf(port->name, sizeof(port->name), "%04x:%02x", segment, bus);
	/* cpumask has a CPU of each die. */
	snprintf(port->part, sizeof(port->part), "cpu=%d", pmu->cpus ? pmu->cpus->cpu[die] : 0);
	port->die = die;
	return 0;
}

static int add_dies(struct io_ports *out, const struct pmu *pmu, const char *sysfs)
{
	int err = 0;

	for (int die = 0; die < (pmu->cpus ? pmu->cpus->nr : 1) && !err; die++)
		err = add_die(out, pmu, sysfs, die);
	return err;
}

/* Return: the number in a PMU's file, otherwise @missing. */
static long pmu_number(const struct pmu *pmu, const char *sysfs, const char *file, long missing)
{
	char *line __cleanup(free_ptr) = pmu_line(pmu, sysfs, file), *end;
	long number = line ? strtol(line, &end, 0) : missing;

	return line && (end == line || *end) ? missing : number;
}

/* Bits of the terms "port" that the PMU has: two for each device. */
#define PORT_BITS 16

/* Add a PCI device if it is one of the PMU's ports, those on its bus from @least to @most. */
static int add_device(struct io_ports *out, const struct pmu *pmu, const char *name, long pmu_bus,
		      long least, long most)
{
	unsigned int segment, bus, device, function, place, bit;
	struct io_port *port;
	char rest;

	if (sscanf(name, "%4x:%2x:%2x.%1u%c", &segment, &bus, &device, &function, &rest) != 4)
		return 0;
	place = bus << 8 | device << 3 | function;
	bit = (device - (least >> 3 & 0x1f)) * 2;
	if (bus != pmu_bus || place < least || place > most || bit >= PORT_BITS)
		return 0;
	port = add_port(out, pmu, HISI_PCIE);
	if (!port)
		return -ENOMEM;
	snprintf(port->name, sizeof(port->name), "%04x:%02x:%02x.%u", segment, bus, device,
		 function);
	snprintf(port->part, sizeof(port->part), "port=%#x", 1U << bit);
	return 0;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int add_devices(struct io_ports *out, const struct pmu *pmu, const char *sysfs)
{
	char *dir __cleanup(free_ptr) = xasprintf("%s/bus/pci/devices", sysfs);
	long bus = pmu_number(pmu, sysfs, "bus", -1);
	long least = pmu_number(pmu, sysfs, "bdf_min", 0);
	long most = pmu_number(pmu, sysfs, "bdf_max", 0xffff);
	struct dirent **entries;
	int nr = dir && bus >= 0 ? scandir(dir, &entries, is_visible, alphasort) : 0, err = 0, i;

	if (nr <= 0)
		return dir ? 0 : -ENOMEM;
	for (i = 0; i < nr; i++) {
		err = err ? err : add_device(out, pmu, entries[i]->d_name, bus, least, most);
		free(entries[i]);
	}
	free(entries);
	return err;
}

int io_ports__find(struct io_ports *out, struct pmus *pmus, const char *sysfs)
{
	const struct pmu *pmu = NULL;
	int err = 0;

	while ((pmu = pmus__next(pmus, pmu)) && !err) {
		int kind = kind_of(pmu);

		if (kind < 0)
			continue;
		out->unnamed = kinds[kind].unnamed;
		err = kind == INTEL_IIO ? add_dies(out, pmu, sysfs) : add_devices(out, pmu, sysfs);
	}
	if (err)
		return err;
	if (!out->unnamed)
		return -ENODEV;
	return out->nr ? 0 : -ENOENT;
}

void io_ports__clear(struct io_ports *ports)
{
	free(ports->ports);
	memset(ports, 0, sizeof(*ports));
}

/* Move the ports of this name behind those that are kept already. Return: their number. */
static int keep_port(struct io_ports *ports, int *nr_kept, const char *name)
{
	int i, nr = 0;

	for (i = *nr_kept; i < ports->nr; i++) {
		struct io_port port = ports->ports[i];

		if (strcmp(port.name, name))
			continue;
		memmove(&ports->ports[*nr_kept + 1], &ports->ports[*nr_kept],
			(i - *nr_kept) * sizeof(port));
		ports->ports[(*nr_kept)++] = port;
		nr++;
	}
	return nr;
}

/* Put the name of a port in full. Return: 0 or -EINVAL. */
static int full_name(char *name, size_t size, const char *word)
{
	unsigned int segment, bus, device, function;
	char end;

	if (sscanf(word, "%4x:%2x%c", &segment, &bus, &end) == 2)
		snprintf(name, size, "%04x:%02x", segment, bus);
	else if (sscanf(word, "%4x:%2x:%2x.%1u%c", &segment, &bus, &device, &function, &end) == 4)
		snprintf(name, size, "%04x:%02x:%02x.%u", segment, bus, device, function);
	else
		return -EINVAL;
	return 0;
}

int io_ports__keep(struct io_ports *ports, const char *list)
{
	char *copy __cleanup(free_ptr) = strdup(list), *rest = copy, *word;
	char name[sizeof(ports->ports->name)];
	int nr_kept = 0;

	while (rest && (word = strsep(&rest, ","))) {
		if (full_name(name, sizeof(name), word)) {
			pr_err("--iostat=%s: neither 'list' nor ports such as 0000:17,0:3a", list);
			return -EINVAL;
		}
		if (!keep_port(ports, &nr_kept, name)) {
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
	for (int i = 0; i < ports->nr; i++) {
		const struct io_port *port = &ports->ports[i];

		if (port->kind == INTEL_IIO)
			pr_text("S%d-", port->die);
		pr_text("%s<%s>\n", port->pmu->name, port->name);
	}
}

static int add_group(const struct io_port *port, struct evlist *evlist, struct pmus *pmus)
{
	static const struct parse_events_options options = {};
	const struct column *columns = kinds[port->kind].columns;
	struct parse_error error = {};
	char *text __cleanup(free_ptr) = NULL;
	int first = evlist->nr, nr, err, i;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return -ENOMEM;
	for (nr = 0; nr < MAX_COLUMNS && columns[nr].name; nr++)
		fprintf(out, "%c%s/%s,%s/", nr ? ',' : '{', port->pmu->name, columns[nr].terms,
			port->part);
	fputc('}', out);
	if (fclose(out))
		return -ENOMEM;
	err = parse_events_opts(evlist, pmus, text, &options, &error);
	if (err == -EINVAL)
		parse_error__print(&error);
	parse_error__clear(&error);
	for (i = 0; i < nr && !err; i++) {
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
