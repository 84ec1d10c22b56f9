/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/sampling.h"

#include "base/memory.h"
#include "base/stats.h"

#include <math.h>

/* Warm samples of a kernel of 3 us agree to half a percent (H200, CUDA 13.0). */
static const double warm_share = 0.01;
enum { WARM_UPS_MAX = 4 };

/* Boost clocks change in steps of 15 MHz, less than a percent; a step or two is not low. */
static const double low_share = 0.03;
enum { CLOCKS_LEAST = 8 }; /* with fewer samples the usual clock is unknown */

static bool is_low(const struct at_clocks *clocks, int64_t clock_khz)
{
    return clock_khz > 0 && clocks->count >= CLOCKS_LEAST &&
           (double)clock_khz < (1 - low_share) * at_median(clocks->recent_khz, clocks->count);
}

static void remember(struct at_clocks *clocks, int64_t clock_khz)
{
    if (clock_khz <= 0)
        return;
    clocks->recent_khz[clocks->next] = (double)clock_khz;
    clocks->next = (clocks->next + 1) % AT_CLOCKS_MAX;
    clocks->count += clocks->count < AT_CLOCKS_MAX;
    if (clocks->least_khz == 0 || clock_khz < clocks->least_khz)
        clocks->least_khz = clock_khz;
    if (clock_khz > clocks->most_khz)
        clocks->most_khz = clock_khz;
}

enum at_outcome at_sample_once(struct at_bench *bench, struct at_train *train, int64_t launches,
                               int64_t *again, struct at_train_time *sample, struct at_error *err)
{
    for (;;) {
        enum at_outcome outcome = bench->ops->time_train(bench->device, train, sample, err);
        bool low;

        if (outcome != AT_CORRECT)
            return outcome;
        low = is_low(&bench->clocks, sample->clock_sm_khz);
        remember(&bench->clocks, sample->clock_sm_khz);
        sample->ns /= (double)launches;
        if (!low || *again == 0)
            return AT_CORRECT;
        --*again;
        bench->discarded++;
    }
}

/* Take the second sample. While it does not agree with the first, it becomes the first. */
static enum at_outcome warm_up(struct at_bench *bench, struct at_train *train, int64_t launches,
                               int64_t *again, struct at_train_time samples[2],
                               struct at_error *err)
{
    enum at_outcome outcome = at_sample_once(bench, train, launches, again, &samples[1], err);

    for (int i = 0; i < WARM_UPS_MAX && outcome == AT_CORRECT; i++) {
        if (fabs(samples[0].ns - samples[1].ns) <= warm_share * samples[1].ns)
            break;
        samples[0] = samples[1];
        outcome = at_sample_once(bench, train, launches, again, &samples[1], err);
    }
    return outcome;
}

/* A launch needs no more samples if all of them are slower than the best by this factor. Samples
 * repeat to half a percent. A config 3 % behind will not be timed again; one behind three times is
 * known well enough to choose the configs that will. Of 32,271 configs in tests/recordings the
 * first sample was 5 % above the others 21 times. */
static const struct {
    int64_t samples;
    double factor;
} enough[] = {{1, 1.05}, {2, 1.03}, {3, 1.005}};

static bool is_enough(const struct at_sampling *wanted, const struct at_train_time *samples,
                      int64_t taken)
{
    double least_ns = samples[0].ns;

    for (int64_t i = 1; i < taken; i++)
        least_ns = fmin(least_ns, samples[i].ns);
    for (size_t i = 0; i < AT_COUNT(enough); i++)
        if (taken == enough[i].samples && wanted->best_ns > 0 &&
            least_ns > enough[i].factor * (double)wanted->best_ns)
            return true;
    return false;
}

enum at_outcome at_sample(struct at_bench *bench, const struct at_sampling *wanted,
                          struct at_train_time *samples, int64_t *taken, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;
    int64_t again = wanted->samples, most = wanted->samples;

    *taken = 0;
    if (most >= 2)
        outcome = at_sample_once(bench, wanted->train, wanted->launches, &again,
                                 &samples[(*taken)++], err);
    if (most >= 2 && outcome == AT_CORRECT && !is_enough(wanted, samples, 1)) {
        outcome = warm_up(bench, wanted->train, wanted->launches, &again, samples, err);
        *taken = 2;
    }
    for (; *taken < most && outcome == AT_CORRECT && !is_enough(wanted, samples, *taken); ++*taken)
        outcome =
            at_sample_once(bench, wanted->train, wanted->launches, &again, &samples[*taken], err);
    return outcome;
}
