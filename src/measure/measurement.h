/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_MEASURE_MEASUREMENT_H
#define AT_MEASURE_MEASUREMENT_H

#include "base/error.h"
#include "base/outcome.h"

#include <stddef.h>
#include <stdint.h>

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

/* Check the values against measure/limits.h. AT_USAGE names the bad column. */
enum at_status at_measurement_check(const struct at_measurement *measurement, struct at_error *err);

/* Frees the samples. */
void at_measurement_clear(struct at_measurement *measurement);

#endif
