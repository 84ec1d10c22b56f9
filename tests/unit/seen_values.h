/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that draw configs of a family: draws prefer configs with parameter values that have not
 * been drawn yet, so that a few of them cover most values. */
#ifndef AT_TESTS_UNIT_SEEN_VALUES_H
#define AT_TESTS_UNIT_SEEN_VALUES_H

#include "base/rng.h"
#include "space/family.h"

enum { SEEN_CANDIDATES = 256 }; /* the best of this many is drawn */

struct seen {
    bool value[AT_PARAMS_MAX][AT_PARAM_VALUES_MAX];
};

/* Has the config's value of a parameter been seen? */
static inline bool *seen_value(struct seen *seen, const struct at_config *config, size_t param)
{
    return &seen->value[param]
                       [at_param_level(&config->family->params[param], config->values[param])];
}

/* The number of the config's values that have not been seen. */
static inline size_t count_news(struct seen *seen, const struct at_config *config)
{
    size_t news = 0;

    for (size_t i = 0; i < config->family->param_count; i++)
        news += !*seen_value(seen, config, i);
    return news;
}

static inline void see(struct seen *seen, const struct at_config *config)
{
    for (size_t i = 0; i < config->family->param_count; i++)
        *seen_value(seen, config, i) = true;
}

/* Draw an item from a list; each item of `size` bytes begins with a config. Returns its index.
 * *news is the sum, over all `seen`, of its values that have not been seen. */
static inline size_t draw_news(const void *items, size_t count, size_t size,
                               struct seen *const *seen, size_t seen_count, struct at_rng *rng,
                               size_t *news)
{
    size_t best = 0;

    *news = 0;
    for (int i = 0; i < SEEN_CANDIDATES; i++) {
        size_t drawn = (size_t)at_rng_below(rng, count), found = 0;
        const struct at_config *config = (const void *)((const char *)items + drawn * size);

        for (size_t k = 0; k < seen_count; k++)
            found += count_news(seen[k], config);
        if (i == 0 || found > *news) {
            best = drawn;
            *news = found;
        }
    }
    for (size_t k = 0; k < seen_count; k++)
        see(seen[k], (const void *)((const char *)items + best * size));
    return best;
}

#endif
