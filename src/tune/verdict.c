/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/verdict.h"

#include "base/stats.h"

#include <math.h>
#include <stdint.h>

const double at_equal_at_most = 1.005;

static bool is_equal(const struct at_contestant *contestant, const struct at_contestant *fastest,
                     size_t samples)
{
    double low, high;

    at_median_ratio_interval(contestant->samples_ns, fastest->samples_ns, samples, &low, &high);
    return low <= 1 && contestant->time_ns <= at_equal_at_most * fastest->time_ns;
}

static int64_t parameters_off_default(const struct at_config *config)
{
    const struct at_config usual = at_family_default(config->family);
    int64_t count = 0;

    for (size_t i = 0; i < config->family->param_count; i++)
        count += config->values[i] != usual.values[i];
    return count;
}

/* What makes a kernel simple, the weightiest first; less is simpler. */
enum { MEASURES = 5 };

static void measure_simplicity(const struct at_contestant *contestant, bool is_fallback,
                               int64_t measures[MEASURES])
{
    const struct at_launch *launch = &contestant->launch;

    measures[0] = !is_fallback;
    measures[1] = contestant->config->family->preference;
    measures[2] = parameters_off_default(contestant->config);
    measures[3] = contestant->kernel.registers;
    measures[4] = contestant->kernel.shared_bytes + launch->field[AT_SHARED_BYTES];
}

static bool is_simpler(const struct at_contestant *contestants, size_t a, size_t b, size_t fallback)
{
    int64_t of_a[MEASURES], of_b[MEASURES];

    measure_simplicity(&contestants[a], a == fallback, of_a);
    measure_simplicity(&contestants[b], b == fallback, of_b);
    for (size_t i = 0; i < MEASURES; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i];
    return contestants[a].time_ns < contestants[b].time_ns;
}

size_t at_verdict(const struct at_contestant *contestants, size_t count, size_t samples,
                  const bool *refused, size_t fallback)
{
    size_t fastest = SIZE_MAX, winner;
    double most_ns;

    for (size_t i = 0; i < count; i++)
        if (!refused[i] &&
            (fastest == SIZE_MAX || contestants[i].time_ns < contestants[fastest].time_ns))
            fastest = i;
    if (fastest == SIZE_MAX)
        return SIZE_MAX;
    /* No profile may name a winner that is slower than the default. */
    most_ns = fallback == SIZE_MAX ? INFINITY : contestants[fallback].time_ns;
    winner = fastest;
    for (size_t i = 0; i < count; i++)
        if (!refused[i] && contestants[i].time_ns <= most_ns &&
            is_equal(&contestants[i], &contestants[fastest], samples) &&
            is_simpler(contestants, i, winner, fallback))
            winner = i;
    return winner;
}
