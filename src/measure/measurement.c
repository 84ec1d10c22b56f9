/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/measurement.h"

#include "base/integer.h"
#include "base/memory.h"
#include "device/device.h"
#include "device/kind.h"
#include "device/schema.h"

#include <inttypes.h>

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
    at_free(measurement->samples_ns);
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

void at_gpu_conditions_discount(struct at_gpu_conditions *seen, int64_t own)
{
    if (seen->other_processes >= 0)
        seen->other_processes = at_max(0, seen->other_processes - own);
}

void at_gpu_conditions_widen(struct at_gpu_conditions *seen, const struct at_gpu_conditions *more)
{
    keep_least(&seen->clock_sm_min_khz, more->clock_sm_min_khz);
    seen->clock_sm_max_khz = at_max(seen->clock_sm_max_khz, more->clock_sm_max_khz);
    seen->clock_memory_khz = at_max(seen->clock_memory_khz, more->clock_memory_khz);
    seen->power_max_mW = at_max(seen->power_max_mW, more->power_max_mW);
    seen->temperature_max_c = at_max(seen->temperature_max_c, more->temperature_max_c);
    seen->other_processes = at_max(seen->other_processes, more->other_processes);
    seen->throttle_known |= more->throttle_known;
    seen->throttle |= more->throttle;
    seen->capped_ns += more->capped_ns;
    seen->slowed_ns += more->slowed_ns;
    seen->discarded += more->discarded;
    seen->busy_ns += more->busy_ns;
}

/* ---- policies ---- */

/* spread_*: the place of a source in memory changes times by 2 to 3 % if rows are a large power of
 * two apart (doc/measurement.md, "Cold and warm"). So a reported time is the mean of several
 * places.
 *
 * *_train_ns: events resolve half a microsecond (cuda.h, cuEventElapsedTime). So the time of a
 * train of 300 us is known to 0.4 %, both ends together, and of 1 ms, for reported times, to 0.1 %.
 */
const struct at_policy at_policies[AT_POLICIES] = {
    {
        .name = "cold",
        .summary = "launches cycle through buffers of at least 3 x L2, so data comes from DRAM",
        .l2_multiple = 3,
        .spread_sets = 4,
        .spread_bytes = INT64_C(1) << 30,
        .search_train_ns = 300000,
        .search_samples = 5,
        .shootout_train_ns = 1000000,
        .shootout_samples = 15,
    },
    {
        .name = "warm",
        .summary = "one pair of buffers, so what fits in L2 comes from there",
        .l2_multiple = 0,
        .search_train_ns = 300000,
        .search_samples = 5,
        .shootout_train_ns = 1000000,
        .shootout_samples = 15,
    },
};

/* A train has at most this many launches, so more sets would not all be used. Only matrices of a
 * few kilobytes need more sets to exceed 3 x L2. */
static const int64_t sets_max = 1024;

struct at_choice at_policy_choice(size_t index)
{
    if (index >= AT_POLICIES)
        return (struct at_choice){0};
    return (struct at_choice){at_policies[index].name, at_policies[index].summary,
                              &at_policies[index]};
}

enum at_status at_policy_find(const struct at_policy **policy, const char *name,
                              struct at_error *err)
{
    size_t index;
    enum at_status status = at_choose(&index, "policy", name, at_policy_choice, err);

    if (status == AT_OK)
        *policy = &at_policies[index];
    return status;
}

/* The bytes that a launch reads and writes; in place it is one buffer. */
static int64_t set_bytes(const struct at_problem *problem)
{
    return at_problem_bytes(problem) / (problem->in_place ? 2 : 1);
}

int64_t at_policy_search_sets(const struct at_policy *policy, const struct at_problem *problem,
                              const struct at_device_info *device)
{
    int64_t set = set_bytes(problem), wanted = policy->l2_multiple * device->l2_bytes;
    int64_t sets = (wanted + set - 1) / set;

    if (!at_device_kind(device)->keeps_l2) /* the emulated L2 keeps nothing between launches */
        return 1;
    return at_max(1, at_min(sets, sets_max));
}

int64_t at_policy_buffer_sets(const struct at_policy *policy, const struct at_problem *problem,
                              const struct at_device_info *device)
{
    int64_t sets = at_policy_search_sets(policy, problem, device);
    int64_t spread = at_min(policy->spread_sets, policy->spread_bytes / set_bytes(problem));

    return at_device_kind(device)->keeps_l2 ? at_max(sets, spread) : sets;
}
