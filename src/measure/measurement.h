/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_MEASURE_MEASUREMENT_H
#define AT_MEASURE_MEASUREMENT_H

#include "base/error.h"
#include "base/outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_measurement {
    enum at_outcome outcome;
    char message[256]; /* why, when not correct */
    int64_t registers; /* a thread */
    int64_t spill_bytes;
    int64_t shared_bytes; /* static */
    double *samples_ns;   /* one launch, a value a train; owned */
    size_t sample_count;
    bool again; /* the run has measured it before; written, not read */
};

/* Is it one that can be (measure/limits.h)? AT_USAGE names the column that is not. */
enum at_status at_measurement_check(const struct at_measurement *measurement, struct at_error *err);

/* Frees the samples. */
void at_measurement_clear(struct at_measurement *measurement);

#endif
