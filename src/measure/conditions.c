/* SPDX-License-Identifier: Apache-2.0 */
/* Combines what was seen of the device's state. */
#include "measure/gpu_protocol.h"

struct at_gpu_conditions at_gpu_conditions_none(void)
{
    return (struct at_gpu_conditions){.clock_sm_min_khz = -1,
                                      .clock_sm_max_khz = -1,
                                      .clock_memory_khz = -1,
                                      .power_max_mW = -1,
                                      .temperature_max_c = -1,
                                      .other_processes = -1};
}

static void keep_least(int64_t *least, int64_t value)
{
    if (value >= 0 && (*least < 0 || value < *least))
        *least = value;
}

static void keep_most(int64_t *most, int64_t value)
{
    if (value > *most)
        *most = value;
}

void at_gpu_conditions_discount(struct at_gpu_conditions *seen, int64_t own)
{
    if (seen->other_processes >= 0)
        seen->other_processes = seen->other_processes > own ? seen->other_processes - own : 0;
}

void at_gpu_conditions_widen(struct at_gpu_conditions *seen, const struct at_gpu_conditions *more)
{
    keep_least(&seen->clock_sm_min_khz, more->clock_sm_min_khz);
    keep_most(&seen->clock_sm_max_khz, more->clock_sm_max_khz);
    keep_most(&seen->clock_memory_khz, more->clock_memory_khz);
    keep_most(&seen->power_max_mW, more->power_max_mW);
    keep_most(&seen->temperature_max_c, more->temperature_max_c);
    keep_most(&seen->other_processes, more->other_processes);
    seen->throttle_known |= more->throttle_known;
    seen->throttle |= more->throttle;
    seen->capped_ns += more->capped_ns;
    seen->slowed_ns += more->slowed_ns;
    seen->discarded += more->discarded;
    seen->busy_ns += more->busy_ns;
}
