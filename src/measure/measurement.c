/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/measurement.h"

#include "base/memory.h"
#include "device/device.h"
#include "device/schema.h"

#include <inttypes.h>
#include <stdlib.h>

static enum at_status check_samples(const struct at_measurement *measurement, struct at_error *err)
{
    if (measurement->sample_count > AT_SAMPLES_MAX)
        return at_fail(err, AT_USAGE, "samples_ns has %zu values, more than %d",
                       measurement->sample_count, AT_SAMPLES_MAX);
    for (size_t i = 0; i < measurement->sample_count; i++) {
        double ns = measurement->samples_ns[i];

        if (!(ns >= AT_TIME_NS_MIN && ns <= (double)AT_TIME_NS_MAX)) /* also refuses NAN */
            return at_fail(err, AT_USAGE, "samples_ns has %g, which is not from %g to %g", ns,
                           AT_TIME_NS_MIN, (double)AT_TIME_NS_MAX);
    }
    if (measurement->outcome == AT_CORRECT && measurement->sample_count == 0)
        return at_fail(err, AT_USAGE, "samples_ns is empty, but the config is correct");
    return AT_OK;
}

enum at_status at_measurement_check(const struct at_measurement *measurement, struct at_error *err)
{
    const struct at_gpu_kernel *kernel = &measurement->kernel;
    const struct {
        const char *name;
        int64_t value, most;
    } numbers[] = {
        {"registers", kernel->registers, AT_REGISTERS_MAX},
        {"spill_bytes", kernel->spill_bytes, AT_SPILL_BYTES_MAX},
        {"shared_bytes", kernel->shared_bytes, AT_SHARED_BYTES_MAX},
        {"clock_sm_khz", kernel->clock_sm_khz, AT_DEVICE_CLOCK_KHZ_MAX},
        {"clock_memory_khz", kernel->clock_memory_khz, AT_DEVICE_CLOCK_KHZ_MAX},
        {"power_mw", kernel->look.power_mw, AT_POWER_MW_MAX},
        {"temperature_c", kernel->look.temperature_c, AT_TEMPERATURE_C_MAX},
        {"throttle_known", kernel->look.throttle_known, 1},
    };

    for (size_t i = 0; i < AT_COUNT(numbers); i++)
        if (numbers[i].value < 0 || numbers[i].value > numbers[i].most)
            return at_fail(err, AT_USAGE, "%s is %" PRId64 ", not from 0 to %" PRId64,
                           numbers[i].name, numbers[i].value, numbers[i].most);
    if (kernel->look.throttle >= UINT64_C(1) << AT_THROTTLES)
        return at_fail(err, AT_USAGE, "throttle has bits that mean nothing");
    return check_samples(measurement, err);
}

void at_measurement_clear(struct at_measurement *measurement)
{
    free(measurement->samples_ns);
    *measurement = (struct at_measurement){0};
}

/* ---- conditions ---- */

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
