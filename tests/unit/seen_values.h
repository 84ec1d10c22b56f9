/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that draw configs of a family: those that have most values of its parameters that have
 * not been drawn yet, so that few show what many would that chance alone had drawn. */
#ifndef AT_TESTS_UNIT_SEEN_VALUES_H
#define AT_TESTS_UNIT_SEEN_VALUES_H

#include "base/rng.h"
#include "space/family.h"

enum { SEEN_CANDIDATES = 256 }; /* of as many the best one is drawn */

struct seen {
    bool value[AT_PARAMS_MAX][AT_PARAM_VALUES_MAX];
};

/* The place that the family's values have for the config's one. */
static inline bool *seen_value(struct seen *seen, const struct at_config *config, size_t param)
{
    const struct at_param *values = &config->family->params[param];
    size_t k = 0;

    while (values->values[k] != config->values[param])
        k++;
    return &seen->value[param][k];
}

/* How many of the config's values have not been seen. */
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

/* Draws from a list of items of some size, which begin with a config, as an index; *news is how
 * many of its values have not been seen, in each of so many. */
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
