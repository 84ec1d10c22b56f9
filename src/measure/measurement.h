/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_MEASURE_MEASUREMENT_H
#define AT_MEASURE_MEASUREMENT_H

#include "base/choice.h"
#include "base/error.h"
#include "base/outcome.h"
#include "device/info.h"
#include "problem/problem.h"

#include <stddef.h>
#include <stdint.h>

/* Limits of a measurement's values. Workers, journals and profiles all keep to them, so that what
 * one accepts the next does not refuse. */
enum {
    AT_REGISTERS_MAX = 1024, /* per thread */
    AT_SPILL_BYTES_MAX = 1 << 24,
    AT_SHARED_BYTES_MAX = 1 << 24, /* per block */
    AT_SAMPLES_MAX = 1000,
    AT_POWER_MW_MAX = 100000000,
    AT_TEMPERATURE_C_MAX = 1000,
};

/* The time of one launch. */
#define AT_TIME_NS_MIN 1e-3
#define AT_TIME_NS_MAX INT64_C(1000000000000)

/* What NVML said of the device at one moment; for reports. Each is 0 if it is unknown. */
struct at_look {
    int64_t power_mw, temperature_c;
    int64_t throttle_known;
    uint64_t throttle; /* bits of enum at_throttle */
};

/* A kernel's figures, and the device's while it was timed. */
struct at_gpu_kernel {
    int64_t registers; /* per thread */
    int64_t spill_bytes;
    int64_t shared_bytes;     /* static */
    int64_t clock_sm_khz;     /* median over its samples; 0: unknown */
    int64_t clock_memory_khz; /* NVML's answer during its evaluation; 0: unknown, or not asked */
    struct at_look look;      /* the same; zeroes: not asked */
};

struct at_measurement {
    enum at_outcome outcome;
    char message[256]; /* the reason, if not correct */
    struct at_gpu_kernel kernel;
    double *samples_ns; /* time per launch, one value per train; owned */
    size_t sample_count;
};

/* Check the values against these limits. AT_USAGE names the bad column. */
enum at_status at_measurement_check(const struct at_measurement *measurement, struct at_error *err);

/* Frees the samples. */
void at_measurement_clear(struct at_measurement *measurement);

/* What was seen of the device. First the extremes that NVML has reported in this process; -1 if it
 * reported nothing. Then sums since the last answer. */
struct at_gpu_conditions {
    int64_t clock_sm_min_khz, clock_sm_max_khz, clock_memory_khz;
    int64_t power_max_mW, temperature_max_c;
    int64_t other_processes;
    int64_t throttle_known; /* 0: NVML does not report it, or was not asked yet */
    uint64_t throttle;      /* set of enum at_throttle, all seen */

    int64_t capped_ns, slowed_ns; /* as in at_device_state */
    int64_t discarded;            /* samples taken again: measure/race.h */
    int64_t busy_ns;              /* time in which the worker had work */
};

/* Conditions with nothing seen. */
struct at_gpu_conditions at_gpu_conditions_none(void);

/* Do not count this many of the other processes: they are this run's own. */
void at_gpu_conditions_discount(struct at_gpu_conditions *seen, int64_t own);

/* Merge `more` into `seen`. */
void at_gpu_conditions_widen(struct at_gpu_conditions *seen, const struct at_gpu_conditions *more);

/* ---- policies ---- */

/* How times are taken. Two policies answer two questions: what does a transpose cost if its data
 * comes from DRAM (cold), and if its data may still be in L2 (warm)? Times are compared only within
 * one policy. */
struct at_policy {
    const char *name;
    const char *summary;
    int64_t l2_multiple;       /* launches cycle through buffers of at least l2_multiple * L2; */
    int64_t spread_sets;       /* finalists' launches through at least this many pairs, */
    int64_t spread_bytes;      /* if all pairs together take no more than this */
    int64_t search_train_ns;   /* least duration of a train in the search */
    int64_t search_samples;    /* trains per config */
    int64_t shootout_train_ns; /* the same for finalists, whose times are reported */
    int64_t shootout_samples;
};

enum { AT_POLICIES = 2 };
extern const struct at_policy at_policies[AT_POLICIES]; /* the first is the default */
at_choice_fn at_policy_choice;

/* Find a policy by name. AT_USAGE lists the known names. */
enum at_status at_policy_find(const struct at_policy **policy, const char *name,
                              struct at_error *err);

/* Return how many pairs of source and destination the launches cycle through: for finalists, and
 * for the search, which has no more. */
int64_t at_policy_buffer_sets(const struct at_policy *policy, const struct at_problem *problem,
                              const struct at_device_info *device);

int64_t at_policy_search_sets(const struct at_policy *policy, const struct at_problem *problem,
                              const struct at_device_info *device);

#endif
