/* SPDX-License-Identifier: Apache-2.0 */
/* Monotonic time, for deadlines and budgets, and processor time. */
#ifndef AT_BASE_CLOCK_H
#define AT_BASE_CLOCK_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

static inline int64_t at_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The processor time that a process has used; 0 if unknown. */
static inline int64_t at_cpu_time_ns(pid_t pid)
{
    struct timespec taken;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &taken) != 0)
        return 0;
    return (int64_t)taken.tv_sec * 1000000000 + taken.tv_nsec;
}

#endif
