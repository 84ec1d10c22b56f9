/* SPDX-License-Identifier: Apache-2.0 */
/* A profile: what the tuner found, per device and problem, with every number's unit in its name.
 * doc/profile-format.md describes the file; the tables in tables.c are that description. */
#ifndef AT_PROFILE_PROFILE_H
#define AT_PROFILE_PROFILE_H

#include "base/outcome.h"
#include "device/info.h"
#include "schema/schema.h"

#include <stdint.h>

struct at_output;

enum { AT_PROFILE_SCHEMA = 1 };

/* Of one device, and of one run. An entry takes about 1.7 KB of the file, of which a reader takes
 * no more than AT_SCHEMA_BYTES_MAX. */
enum { AT_PROFILE_PROBLEMS_MAX = 2400 };

/* What produced the numbers, besides the device. */
struct at_environment {
    char autotune[32];    /* version of this program */
    char driver[32];      /* "580.159.04" */
    char cuda_driver[16]; /* CUDA version the driver speaks: "13.0" */
    char nvrtc[16];       /* "13.0" */
    char
        nvrtc_identity[48]; /* hash of the library's build: tells apart what the version does not */
    char templates[40];     /* hash of the families' templates and launches */
};

/* How times were taken. doc/measurement.md explains. */
struct at_policy_record {
    char name[16];            /* "cold", "warm" */
    int64_t buffer_bytes;     /* least bytes that a train of launches cycles through */
    int64_t train_ns;         /* least time of a train */
    int64_t search_samples;   /* trains a config during the search */
    int64_t shootout_samples; /* trains a finalist, interleaved */
};

/* What NVML saw from the first measurement to the last. 0 or empty where NVML has no answer. */
struct at_conditions {
    int64_t clock_sm_min_khz, clock_sm_max_khz;
    int64_t clock_memory_khz;
    int64_t power_max_mw;
    int64_t temperature_max_c;
    char throttle[128]; /* reasons seen, by NVML's names, space-separated: "sw_power_cap"; "none" */
    int64_t capped_ms, slowed_ms; /* clocks held down by the power limit; by heat or the supply */
    int64_t other_processes;      /* seen on the device, at most */
    int64_t discarded_samples;    /* taken again, since the clocks were low */
    int64_t drifts;               /* times that the canary had changed */
    int64_t remeasured;           /* configs that were measured again for that */
};

/* One kernel, how it is launched, and how long it took. */
struct at_result_record {
    char family[64];
    struct at_list parameters; /* of struct at_named_int, sorted by name */
    struct at_list grid;       /* 3 of int64_t */
    struct at_list block;      /* 3 of int64_t */
    int64_t clock_sm_khz;      /* median over its samples; 0: not known */
    int64_t registers;         /* a thread */
    int64_t spill_bytes;       /* local memory a thread */
    int64_t shared_bytes;      /* a block, static and dynamic */
    int64_t time_ns;           /* median over the shoot-out's samples, of one launch */
    int64_t time_low_ns;       /* 95 % interval of that median; 0: not known */
    int64_t time_high_ns;
    int64_t spread_permille; /* interquartile range over median */
    int64_t samples;
    int64_t bandwidth_mbps;   /* bytes read plus bytes written, once each, over time_ns; 10^6 B/s */
    int64_t of_copy_permille; /* of the copy limit's bandwidth */
};

/* The best same-bytes copy: the faster of the driver's and the tuned copy kernel. */
struct at_copy_record {
    char method[160]; /* "memcpy", or the config: "copy ITEMS=1 THREADS=256 VEC=16" */
    int64_t time_ns;
    int64_t bandwidth_mbps;
    int64_t memcpy_ns; /* the driver's copy alone */
};

/* How the evaluations ended. */
struct at_evaluations {
    int64_t space;               /* legal configs */
    int64_t raw;                 /* points before the rules, which refused raw - space of them */
    int64_t counts[AT_OUTCOMES]; /* of legal configs, so 0 for AT_CONSTRAINT */
};

/* Return how many configs were evaluated. */
int64_t at_evaluations_total(const struct at_evaluations *evaluations);

struct at_entry {
    char problem[160]; /* at_problem_format */
    struct at_result_record winner;
    struct at_result_record
        fallback; /* the default config; "default" in the file; zero: has no time */
    struct at_copy_record copy;
    struct at_evaluations evaluations;
    char search[32];
    int64_t seed;
    int64_t from_l2;  /* 1: the winner's bandwidth is above DRAM's peak, so it came from L2 */
    int64_t complete; /* 0: interrupted or out of budget before every config was measured */
    int64_t settled;  /* 1: the search ended by itself, neither interrupted nor out of budget */
};

struct at_device_record {
    struct at_device_info device;
    struct at_environment environment;
    struct at_policy_record policy;
    struct at_conditions conditions;
    struct at_list problems; /* of struct at_entry, sorted by problem */
};

struct at_profile {
    int64_t schema;         /* AT_PROFILE_SCHEMA */
    struct at_list devices; /* of struct at_device_record */
};

extern const struct at_schema at_profile_schema;
extern const struct at_schema at_entry_schema; /* of struct at_entry */

/* Reads and checks a profile: schema version, problems that parse, times and shares that agree with
 * each other. An unknown schema version is AT_USAGE and says which are known. */
enum at_status at_profile_read(struct at_profile *profile, const char *path, struct at_error *err);
void at_profile_clear(struct at_profile *profile);

/* Writes it there (NULL: to stdout). Sorts devices, problems and parameters first. */
enum at_status at_profile_write(struct at_profile *profile, struct at_output *output,
                                struct at_error *err);

/* The table for people. `color` allows ANSI attributes. */
void at_profile_show(const struct at_profile *profile, bool color, FILE *out);

#endif
