/* SPDX-License-Identifier: Apache-2.0 */
/* Configs that a lookup can answer with. */
#ifndef AT_LOOKUP_OPTION_H
#define AT_LOOKUP_OPTION_H

#include "lookup/nearest.h"
#include "space/point.h"

/* A legal config on the problem that is asked for. */
struct at_option {
    const struct at_mark *mark; /* an entry that has it; NULL: it is the default config */
    struct at_config config;
    struct at_launch launch;
};

/* Do the config's inherent rules hold for such elements? They are evaluated once. */
bool at_known_holds(struct at_known *known, int64_t elem_size);

/* Fit a config, by its number, to the point's problem and device. Return false, with a config and a
 * launch that mean nothing, if it is not legal there. */
bool at_known_fit(const struct at_lookup *lookup, uint32_t number, struct at_point *point,
                  struct at_option *option);

/* Find the default config. AT_FAILED, and nothing is found, if none is legal. */
enum at_status at_default_find(const struct at_lookup *lookup, const struct at_query *query,
                               struct at_option *option, struct at_error *err);

/* Answer with the default config: set the tier, the config and the launch. */
void at_default_take(struct at_answer *answer, const struct at_option *option);

#endif
