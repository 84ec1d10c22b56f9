/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that draw configs of a family: which values of its parameters they have drawn. */
#ifndef AT_TESTS_UNIT_SEEN_VALUES_H
#define AT_TESTS_UNIT_SEEN_VALUES_H

#include "space/family.h"

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
static inline size_t seen_news(struct seen *seen, const struct at_config *config)
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

#endif
