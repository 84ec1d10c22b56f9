/* SPDX-License-Identifier: Apache-2.0 */
/* Time that only moves forward, for deadlines and budgets. */
#ifndef AT_BASE_CLOCK_H
#define AT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t at_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
