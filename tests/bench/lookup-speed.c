/* SPDX-License-Identifier: Apache-2.0 */
/* Times the opening of profiles, and lookups among their entries: of different problems, and of
 * some of them again. Needs no GPU.
 *
 *     lookup-speed [PROFILE [DEVICE]]
 */
#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/stats.h"
#include "lib/autotune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOOKUPS = 20000, AGAIN = 500, REPEATS = 5, OPENS = 51 };

static void require_ok(autotune_status status, autotune_error *error)
{
    if (status == AUTOTUNE_OK)
        return;
    fprintf(stderr, "%s\n", autotune_error_message(error));
    exit(1);
}

/* Sides from 64 to 65536, log-uniform, a third of them odd; elements of all sizes. */
static autotune_problem random_problem(struct at_rng *rng, size_t index)
{
    int64_t sides[2];

    for (int i = 0; i < 2; i++) {
        sides[i] = (int64_t)exp2(6 + 1e-6 * (double)at_rng_below(rng, 10000000));
        sides[i] = index % 3 ? (sides[i] + 15) / 16 * 16 : sides[i] | 1;
    }
    return (autotune_problem){
        .elem_size = 1 << at_rng_below(rng, 5), .rows = sides[0], .cols = sides[1]};
}

static double microseconds_since(int64_t start_ns)
{
    return 1e-3 * (double)(at_now_ns() - start_ns);
}

/* Time the opening, and the opening with a first lookup. */
static autotune_profile *open_profiles(const char *path, const autotune_device *device)
{
    const autotune_problem problem = {.elem_size = 4, .rows = 6000, .cols = 6001};
    autotune_profile *profile = NULL;
    autotune_error *error = NULL;
    double us[OPENS], first_us[OPENS];

    for (int i = 0; i < OPENS; i++) {
        autotune_answer *answer;
        int64_t start_ns;

        autotune_profile_free(profile);
        start_ns = at_now_ns();
        require_ok(autotune_profile_open(&profile, path, &error), error);
        us[i] = microseconds_since(start_ns);
        require_ok(autotune_lookup(&answer, profile, device, &problem, NULL, &error), error);
        first_us[i] = microseconds_since(start_ns);
        autotune_answer_free(answer);
    }
    printf("open: median %.2f ms, least %.2f ms; with a first lookup: median %.2f ms\n",
           1e-3 * at_median(us, OPENS), 1e-3 * at_quantile(us, OPENS, 0),
           1e-3 * at_median(first_us, OPENS));
    return profile;
}

static void time_lookups(const char *name, size_t count, const autotune_profile *profile,
                         const autotune_device *device)
{
    static double us[LOOKUPS];
    struct at_rng rng = {1};
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        autotune_problem problem = random_problem(&rng, i);
        autotune_answer *answer;
        autotune_error *error = NULL;
        int64_t start_ns = at_now_ns();

        require_ok(autotune_lookup(&answer, profile, device, &problem, NULL, &error), error);
        autotune_answer_free(answer);
        us[i] = microseconds_since(start_ns);
        sum += us[i];
    }
    printf("%s: median %.2f us, 90th percentile %.2f us, mean %.2f us\n", name,
           at_median(us, count), at_quantile(us, count, 0.9), sum / (double)count);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : NULL;
    autotune_device *device;
    autotune_error *error = NULL;

    require_ok(autotune_device_described(&device, argc > 2 ? argv[2] : "h200", &error), error);
    for (int i = 0; i < REPEATS; i++) {
        autotune_profile *profile = open_profiles(path, device);

        time_lookups("lookup", LOOKUPS, profile, device);
        time_lookups("again", AGAIN, profile, device);
        autotune_profile_free(profile);
    }
    autotune_device_free(device);
    return 0;
}
