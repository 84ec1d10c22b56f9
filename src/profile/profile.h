/* SPDX-License-Identifier: Apache-2.0 */
/* A profile: what the tuner found, per device and problem. The names of numbers contain their
 * units. doc/profile-format.md describes the file; tables.c has its keys and bounds. */
#ifndef AT_PROFILE_PROFILE_H
#define AT_PROFILE_PROFILE_H

#include "base/hash.h"
#include "base/outcome.h"
#include "device/info.h"
#include "schema/print.h"

#include <stdint.h>

struct at_output;

/* The version of the format. */
enum { AT_PROFILE_SCHEMA = 4 };

/* Problems of one device in a profile, and problems of one run. An entry takes about 1.4 KB of a
 * file of at most AT_SCHEMA_BYTES_MAX. */
enum { AT_PROFILE_PROBLEMS_MAX = 2400 };

/* Records of a profile: models of devices, each with its policies and software. */
enum { AT_DEVICES_MAX = 64 };

/* Problems of one device in a profile that have no measurements: 30 to 60 bytes of a file each. */
enum { AT_PROFILE_ANSWERS_MAX = 20000 };

/* What produced the numbers, besides the device. */
struct at_environment {
    char autotune[32];       /* version of this program */
    char driver[32];         /* "580.159.04" */
    char cuda_driver[16];    /* CUDA version of the driver: "13.0" */
    char nvrtc[16];          /* "13.0" */
    char nvrtc_identity[48]; /* hash of the library's build: one version has several */
};

/* How times were measured. doc/measurement.md explains. */
struct at_policy_record {
    char name[16];            /* "cold", "warm" */
    int64_t buffer_bytes;     /* a train of launches cycles through at least as many */
    int64_t train_ns;         /* a train takes at least as long */
    int64_t search_samples;   /* trains per config during the search */
    int64_t shootout_samples; /* trains per finalist, interleaved */
};

/* What NVML reported from the first measurement to the last. 0 or "": unknown. */
struct at_conditions {
    int64_t clock_sm_min_khz, clock_sm_max_khz;
    int64_t clock_memory_khz;
    int64_t power_max_mW;
    int64_t temperature_max_c;
    char throttle[128]; /* NVML's names of the reasons seen, "sw_power_cap", with blanks; or "none"
                         */
    int64_t capped_ms,
        slowed_ms;             /* clocks lowered by the power limit; by heat or the power supply */
    int64_t other_processes;   /* on the device, at most */
    int64_t discarded_samples; /* measured again because the clocks were low */
    int64_t drifts;            /* changes of the canary's time */
    int64_t remeasured;        /* configs measured again after a drift */
};

/* A family's default config. */
struct at_default_record {
    char family[64];
    struct at_list parameters; /* of struct at_named_int, sorted by name */
};

/* A launch of a result after its first one. */
struct at_further_launch {
    char family[64];
    struct at_list parameters, grid, block; /* as in a result */
    int64_t registers, spill_bytes, shared_bytes;
    char kernel[AT_SHORT_HASH_CHARS];
};

/* A kernel, its launch, and its time; or several launches, one after the other, and the time of
 * all.
 */
struct at_result_record {
    char family[64];
    struct at_list parameters;        /* of struct at_named_int, sorted by name */
    struct at_list grid;              /* 3 of int64_t */
    struct at_list block;             /* 3 of int64_t */
    int64_t clock_sm_khz;             /* median over its samples; 0: unknown */
    int64_t registers;                /* per thread */
    int64_t spill_bytes;              /* local memory per thread */
    int64_t shared_bytes;             /* per block, static and dynamic */
    char kernel[AT_SHORT_HASH_CHARS]; /* at_kernel_hash; "": unknown */
    struct at_list further_launches;  /* of struct at_further_launch; refused so far */
    int64_t scratch_bytes;            /* device memory that the launches share */
    int64_t time_ns;                  /* median over the shoot-out's samples, of one launch */
    int64_t time_low_ns;              /* 95 % interval of that median; 0: unknown */
    int64_t time_high_ns;
    int64_t spread_permille; /* interquartile range over median */
    int64_t samples;
    int64_t
        bandwidth_MB_per_s;   /* bytes read plus bytes written, once each, over time_ns; 10^6 B/s */
    int64_t of_copy_permille; /* of the copy limit's bandwidth */
};

/* The best same-bytes copy: the faster of the driver's and the tuned copy kernel. */
struct at_copy_record {
    char method[160]; /* "memcpy", or the config: "copy ITEMS=1 THREADS=256 VEC=16" */
    int64_t time_ns;
    int64_t bandwidth_MB_per_s;
    int64_t memcpy_ns;                /* the driver's copy alone */
    char kernel[AT_SHORT_HASH_CHARS]; /* at_kernel_hash; "": unknown, or the driver's */
};

/* How the evaluations ended. */
struct at_evaluations {
    int64_t points;              /* combinations of parameter values */
    int64_t configs;             /* legal points; the rules refused points - configs of them */
    int64_t counts[AT_OUTCOMES]; /* of legal configs, so 0 for AT_CONSTRAINT */
};

/* Return how many configs were evaluated. */
int64_t at_evaluations_total(const struct at_evaluations *evaluations);

/* Why a search ended. */
enum at_ended {
    AT_ENDED_UNKNOWN,
    AT_ENDED_SETTLED,     /* the strategy found it unlikely that another config is better */
    AT_ENDED_BUDGET,      /* out of evaluations or time */
    AT_ENDED_INTERRUPTED, /* by a signal */
    AT_ENDED_EXHAUSTED,   /* every config was measured */
};

/* Where a config comes from. */
enum at_origin {
    AT_ORIGIN_MEASURED,  /* by this record's device */
    AT_ORIGIN_ELSEWHERE, /* measured by another device */
    AT_ORIGIN_PREDICTED,
    AT_ORIGIN_ADAPTED, /* from another problem's */
};

/* An entry without measurements has a problem, an origin, and of the winner family, parameters and
 * share of the copy limit; all else is zero. */
struct at_entry {
    char *problem; /* at_problem_format; owned */
    struct at_result_record winner;
    struct at_result_record fallback; /* the default config, "default" in the file; no time: zero */
    struct at_copy_record copy;
    struct at_evaluations evaluations;
    char search[32]; /* the strategy */
    int64_t seed;
    char *options; /* of tune, that chose or limited the search; "default": none. NULL: unknown */
    enum at_ended ended;
    bool from_l2;    /* the winner's bandwidth is above DRAM's peak, so its data came from L2 */
    char gpu[64];    /* UUID of the GPU that measured it, if it is not the record's; or "" */
    int origin;      /* enum at_origin */
    char *origin_of; /* the device, problem or model that the config comes from; NULL: not told */
};

static inline bool at_entry_is_measured(const struct at_entry *entry)
{
    return entry->winner.time_ns > 0;
}

/* Entries without measurements as a file has them: a config with the problems that it answers. */
struct at_answers_record {
    struct at_located config; /* "tile PAD=1 TILE=32" */
    int origin;               /* as in struct at_entry */
    char *origin_of;
    struct at_list problems; /* of struct at_located: "8192x8192:f32 978" */
};

/* The same, read: for lookups, which need no more, instead of entries. */
struct at_answered {
    char *problem; /* as in struct at_entry */
    int64_t of_copy_permille;
};
struct at_answer_group {
    char family[64];
    struct at_list parameters; /* of struct at_named_int, sorted by name */
    int origin;                /* as in struct at_entry */
    char *origin_of;
    struct at_list problems; /* of struct at_answered */
};

/* Return how many problems the groups have. */
size_t at_groups_problems(const struct at_list *groups);

/* Have both the same family, and the same values for the same parameters? */
bool at_same_config(const struct at_result_record *a, const struct at_result_record *b);

struct at_device_record {
    struct at_device_info device;
    struct at_environment environment;
    struct at_policy_record policy;
    struct at_conditions conditions;
    struct at_list also_correct_on; /* of struct at_device_info: other models, on which all winners
                                     * that are legal there gave the right results, too. All but the
                                     * name and what at_device_relation compares is zero */
    struct at_list defaults; /* of struct at_default_record, sorted by family; only in the file */
    struct at_list answers;  /* of struct at_answers_record; only in the file */
    struct at_list groups;   /* of struct at_answer_group; only from at_profile_read_groups */
    struct at_list problems; /* of struct at_entry, sorted by problem */
};

/* Lists of models of devices. */
bool at_models_have(const struct at_list *models, const struct at_device_info *device);

/* Add the device's model, unless the list has it. */
void at_models_add(struct at_list *models, const struct at_device_info *device);

struct at_profile {
    int64_t schema;         /* AT_PROFILE_SCHEMA */
    struct at_list devices; /* of struct at_device_record */
    int end;                /* 0 */
};

extern const struct at_schema at_profile_schema;
extern const struct at_schema at_entry_schema; /* of struct at_entry */

/* Read and check a profile, and keep each problem's newest entry. AT_USAGE for a file that is not
 * sound: the message tells where and why. */
enum at_status at_profile_read(struct at_profile *profile, const char *path, struct at_error *err);

/* The same with all entries, for who writes the file again. */
enum at_status at_profile_read_whole(struct at_profile *profile, const char *path,
                                     struct at_error *err);

/* The same for lookups in a profile that was checked before: answers become no entries, which would
 * take most of the time, but groups, whose problems are not checked. */
enum at_status at_profile_read_groups(struct at_profile *profile, const char *path,
                                      struct at_error *err);

/* Return the schema that a file's text names; 0: none, so it is no profile. */
int64_t at_profile_schema_of(const char *text);
void at_profile_clear(struct at_profile *profile);

/* Reduce all entries to what a lookup needs. */
void at_profile_drop_measurements(struct at_profile *profile);

/* Sort and write the profile (output NULL: to stdout). */
enum at_status at_profile_write(struct at_profile *profile, struct at_output *output,
                                struct at_error *err);

/* Write the profile as JSON with the same keys. */
enum at_status at_profile_write_json(struct at_profile *profile, FILE *out, struct at_error *err);

struct at_show_options {
    bool color;   /* with ANSI attributes */
    bool configs; /* with each winner's parameters and launch */
};

/* Print the profile: as a table for people, with a row per problem for programs, or as JSON. */
enum at_status at_profile_print(struct at_profile *profile, enum at_output_format format,
                                const struct at_show_options *options, FILE *out,
                                struct at_error *err);

#endif
