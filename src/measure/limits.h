/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a measurement's values. Workers, journals and profiles all keep to them, so that what
 * one accepts the next does not refuse. */
#ifndef AT_MEASURE_LIMITS_H
#define AT_MEASURE_LIMITS_H

#include <stdint.h>

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

#endif
