/* SPDX-License-Identifier: Apache-2.0 */
#include "search/strategy.h"

#include <string.h>

const struct at_strategy *const at_strategies[] = {
    &at_strategy_exhaustive,
    &at_strategy_random,
    NULL,
};

const struct at_strategy *at_strategy_find(const char *name)
{
    for (size_t i = 0; at_strategies[i]; i++)
        if (strcmp(at_strategies[i]->name, name) == 0)
            return at_strategies[i];
    return NULL;
}
