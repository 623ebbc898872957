/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_PROCESS_TABLE_H
#define PERF_SYMBOL_PROCESS_TABLE_H

/*
 * Processes, their executable mappings, and the images in these.
 *
 * A process is a pid and a start time. It has a generation for each exec that was seen. Mappings come
 * from records of the kernel, as far as they arrive, and from /proc.
 */

#include "util/lib/blob_set.h"
#include "util/lib/id_map.h"
#include "util/symbol/image.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct map_range;
struct maps;

/* A process between two execs. */
struct generation {
	struct maps *maps; /* NULL: not known */
	char comm[16];
	bool is_read; /* maps have all of /proc, or all records since the exec */
};

/* The build id of a file that is being mapped. */
struct identified {
	uint64_t start, end, offset;
	struct build_id id;
};

struct process {
	pid_t pid;
	uint64_t start_ns;   /* CLOCK_BOOTTIME, as in samples; 0: not known yet */
	uint64_t start_tick; /* the same in clock ticks, as /proc has it; 0: not read */
	uint64_t fork_ns;    /* of the fork's record; 0: none */
	struct generation *generations;
	int nr_generations;
	int64_t first_exec_id; /* of the first generation; -1: not known */
	uint32_t last_exec_id; /* the highest of a sample */
	int older;	       /* the process that had the pid before; -1: none */
	int jit;	       /* image of code without a file; -1: none yet */
	struct identified identified;
	bool has_ended; /* removed by the next process_table__forget_ended() */
};

/* All zero: empty. */
struct process_table {
	struct process *processes;
	int nr, nr_left;      /* nr_left: after ended ones were removed */
	bool has_marks;	      /* some processes have has_ended */
	struct id_map newest; /* of a pid: position */
	struct image *images;
	int nr_images;
	struct blob_set image_keys;
};

/** process_table__begin() - put IMAGE_KERNEL at position 0. Return: 0 or -ENOMEM */
int process_table__begin(struct process_table *table);
void process_table__clear(struct process_table *table);

/** process_table__store_image() - add an image that no process has. Return: its position, or -ENOMEM */
int process_table__store_image(struct process_table *table, enum image_kind kind, const char *path);

/* A mapping of a record or of /proc. */
struct new_mapping {
	uint64_t start, end, offset;
	uint32_t major, minor;
	uint64_t inode;
	struct build_id id; /* of the file; none: not known */
	const char *path;   /* "" or "//anon": without a file */
	size_t path_len;
};

/* Records of the kernel, in their order. Each returns 0 or -ENOMEM. */
int process_table__forked(struct process_table *table, pid_t pid, pid_t parent, uint64_t time_ns);
int process_table__renamed(struct process_table *table, pid_t pid, const char *comm, bool is_exec);
int process_table__mapped(struct process_table *table, pid_t pid,
			  const struct new_mapping *mapping);

/** process_table__identified() - tell the build id of the file that the next record maps. 0 or -ENOMEM */
int process_table__identified(struct process_table *table, pid_t pid,
			      const struct identified *identified);

/** process_table__lost() - records were lost: read /proc again where samples need it */
void process_table__lost(struct process_table *table);

/**
 * process_table__forget_ended() - free the memory of processes that have ended
 *
 * Call it whenever all samples up to now were looked up: a process is removed by the second call after its
 * end, or later. Positions of processes change, those of images do not. Return: 0 or -ENOMEM.
 */
int process_table__forget_ended(struct process_table *table);

#define EXEC_ID_LATEST UINT32_MAX

/* The process that was sampled. */
struct process_key {
	pid_t pid;
	uint64_t start_ns; /* 0: the latest process of that pid */
	uint32_t exec_id;  /* EXEC_ID_LATEST: as the records up to now leave it */
	const char *comm;
};

/**
 * process_table__expect() - note that there is such a sample
 *
 * Call it for all samples of a collection before process_table__image() for the first of them. The number of their
 * latest exec tells programs of one name apart.
 */
void process_table__expect(struct process_table *table, const struct process_key *key);

/**
 * process_table__find() - the process of a sample
 *
 * Reads /proc if nothing is known about it. Return: its position, or -ENOMEM.
 */
int process_table__find(struct process_table *table, const struct process_key *key);

/** process_table__range() - the mapping of a file that a process has at an address, borrowed; NULL: none */
const struct map_range *process_table__range(const struct process_table *table, int process,
					     const struct process_key *key, uint64_t address);

/**
 * process_table__image() - the image that a process has at an address
 * @process: position of the process
 * @offset: receives the position in the file; of IMAGE_JIT the address
 *
 * Return: position of the image, or -ENOMEM.
 */
int process_table__image(struct process_table *table, int process, const struct process_key *key,
			 uint64_t address, uint64_t *offset);

#endif
