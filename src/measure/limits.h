/* SPDX-License-Identifier: Apache-2.0 */
/* What a measurement can be. All that is read of one keeps to it, whether a worker, a journal or a
 * profile says so: what one of them takes, the next one does not refuse. */
#ifndef AT_MEASURE_LIMITS_H
#define AT_MEASURE_LIMITS_H

#include <stdint.h>

enum {
    AT_REGISTERS_MAX = 1024, /* a thread */
    AT_SPILL_BYTES_MAX = 1 << 24,
    AT_SHARED_BYTES_MAX = 1 << 24, /* a block */
    AT_SAMPLES_MAX = 1000,
};

/* Of one launch. */
#define AT_TIME_NS_MIN 1e-3
#define AT_TIME_NS_MAX INT64_C(1000000000000)

#endif
