/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_FORMAT_H
#define PERF_DATA_FORMAT_H

/*
 * The format of perf.data, as far as perf writes and reads it: counts, and profiles.
 *
 * A file: header, ids, attrs (each with the place of its ids), data (records), then a section per
 * feature. The header has a bit for each feature, and the places of their sections follow the data
 * directly. A stream (pipe) has the short header, and then only records: HEADER_ATTR and HEADER_FEATURE
 * replace the sections. All numbers are in the byte order of the machine that wrote them.
 *
 * perf never sets the feature COMPRESSED: Linux's perf refuses files that have it and no compression.
 */

#include "util/event/counts.h"

#include <assert.h>
#include <linux/perf_event.h>
#include <stdint.h>

#define DATA_MAGIC	   "PERFILE2"
#define DATA_MAGIC_SWAPPED "2ELIFREP" /* written on a machine of the other byte order */
#define DATA_STREAM_HEADER 16	      /* bytes of the header of a stream */
#define DATA_ATTR_MIN	   64	      /* PERF_ATTR_SIZE_VER0 */

struct data_section {
	uint64_t offset; /* from the start of the file */
	uint64_t size;
};

struct data_header {
	char magic[8];
	uint64_t size;	    /* of this header */
	uint64_t attr_size; /* of an attr and of the section of its ids behind it */
	struct data_section attrs, data, event_types;
	uint64_t features[4]; /* a bit each */
};
static_assert(sizeof(struct data_header) == 104, "as on disk");

enum data_feature {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME,
	FEATURE_OSRELEASE,
	FEATURE_VERSION,
	FEATURE_ARCH,
	FEATURE_NRCPUS,
	FEATURE_CPUDESC,
	FEATURE_TOTAL_MEM = 10,
	FEATURE_CMDLINE,
	FEATURE_EVENT_DESC,
	FEATURE_CPU_TOPOLOGY,
	FEATURE_NUMA_TOPOLOGY,
	FEATURE_PMU_MAPPINGS = 16,
	FEATURE_GROUP_DESC,
	FEATURE_STAT = 19,
	FEATURE_CACHE,
	NR_FEATURES /* that we know */
};

/* Records; all sizes are multiples of 8. Each begins with a struct perf_event_header. */
enum data_record_type {
	RECORD_HEADER_ATTR = 64,    /* attr, u64 ids[] */
	RECORD_FINISHED_ROUND = 68, /* nothing */
	RECORD_THREAD_MAP = 73,	    /* u64 nr, nr times {u64 tid, char comm[16]} */
	RECORD_CPU_MAP,		    /* CPUs */
	RECORD_STAT_CONFIG,	    /* u64 nr, nr times {u64 tag, u64 value} */
	RECORD_STAT,		    /* struct data_stat */
	RECORD_STAT_ROUND,	    /* u64 type, u64 ns; of ours also u64 user, system ns */
	RECORD_EVENT_UPDATE,	    /* u64 type, u64 id, payload */
	RECORD_HEADER_FEATURE = 80, /* u64 feature, the section */
};

/* In misc of a build id: the byte behind the id is its size. Not in linux/perf_event.h. */
#define DATA_MISC_BUILD_ID_SIZE (1 << 15)

#define DATA_RECORD_MAX 65528 /* bytes: the size has 16 bits */

/* How CPUs are written: u16 kind, then */
enum data_cpus {
	CPUS_LIST,  /* u16 nr, u16 cpus[]; 0xffff: any */
	CPUS_MASK,  /* u16 nr, u16 bytes of a word (4, 8), words */
	CPUS_RANGE, /* u8 any too, u8 unused, u16 first, u16 last */
};

enum data_config_tag {
	CONFIG_AGGR_MODE,
	CONFIG_INTERVAL_MS,
	CONFIG_SCALE,
	CONFIG_CACHE_LEVEL,
};

enum data_round {
	ROUND_INTERVAL,
	ROUND_FINAL,
};

enum data_update {
	UPDATE_UNIT,  /* text */
	UPDATE_SCALE, /* double */
	UPDATE_NAME,  /* text */
	UPDATE_CPUS,  /* CPUs */
	/* Ours; Linux's perf passes over them. */
	UPDATE_EXTRA = 100, /* see annotations.h */
	UPDATE_PROFILE,	    /* the others: see profile_format.h */
	UPDATE_ACCOUNT,
	UPDATE_IMAGES,
	UPDATE_PLACES,
	UPDATE_ENTRY,
	UPDATE_BUILD_IDS,
	UPDATE_JIT_CODE,
};

/* The count of one counter since the start. */
struct data_stat {
	uint64_t id;
	uint32_t cpu;	 /* UINT32_MAX: any */
	uint32_t thread; /* index into the thread map */
	struct counts_values count;
};
static_assert(sizeof(struct data_stat) == 40, "as on disk");

/* One event. */
struct data_attr {
	struct perf_event_attr attr;
	uint64_t *ids; /* owned; by which records name it; none: not supported */
	int nr_ids;
};

#endif
