/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_IO_PORTS_H
#define PERF_EVENT_IO_PORTS_H

/* Root ports of PCI Express that PMUs of Intel's and HiSilicon's servers count for: --iostat. */

struct evlist;
struct pmu;
struct pmus;

/*
 * A port: what one PMU uncore_iio_N counts on one die, or what one PMU hisi_pcieN_coreM counts for one
 * PCI device.
 */
struct io_port {
	char name[16];	       /* as printed: 0000:17, segment and bus; or 0000:17:00.0, a device */
	char part[16];	       /* the term of events that chooses the port */
	const char *format;    /* of values that are not 0 */
	const struct pmu *pmu; /* borrowed */
	int kind, die;	       /* of PMU; the die of uncore_iio */
};

struct io_ports {
	struct io_port *ports; /* owned */
	int nr;
	const char *unnamed; /* a PMU, and why it may have no ports; NULL: there is no such PMU */
};

/**
 * io_ports__find() - find the ports of all PMUs, PMU by PMU and die by die
 * @out: zeroed; released by io_ports__clear(), also on failure
 * @pmus: must live as long as the ports
 * @sysfs: root of sysfs
 *
 * Return: 0, -ENODEV: no such PMU, -ENOENT: the kernel names no port, or -ENOMEM.
 */
int io_ports__find(struct io_ports *out, struct pmus *pmus, const char *sysfs);
void io_ports__clear(struct io_ports *ports);

/**
 * io_ports__keep() - drop all ports but those of a list
 * @list: ports separated by commas, 0000:17,0:3a or 0000:17:00.0
 *
 * Return: 0, or -EINVAL after a message: not a list, or there is no such port.
 */
int io_ports__keep(struct io_ports *ports, const char *list);

/** io_ports__print() - print the ports, their PMUs and dies to stderr, in the format of Linux's perf */
void io_ports__print(const struct io_ports *ports);

/**
 * io_ports__add_events() - add the events of all ports, a group for each
 *
 * Events borrow their ports. Return: 0, or -errno, after a message if the PMU lacks a term of the events.
 */
int io_ports__add_events(const struct io_ports *ports, struct evlist *evlist, struct pmus *pmus);

#endif
