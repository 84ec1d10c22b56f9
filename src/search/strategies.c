/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/text_stream.h"
#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>

const struct at_strategy *const at_strategies[] = {
    &at_strategy_guided,    &at_strategy_exhaustive, &at_strategy_random,  &at_strategy_local,
    &at_strategy_annealing, &at_strategy_genetic,    &at_strategy_halving, NULL,
};

enum at_status at_strategy_find(const struct at_strategy **strategy, const char *name,
                                struct at_error *err)
{
    const char *names[AT_COUNT(at_strategies)];
    size_t count = 0;
    char *known;

    for (; at_strategies[count]; count++) {
        names[count] = at_strategies[count]->name;
        if (strcmp(names[count], name) == 0) {
            *strategy = at_strategies[count];
            return AT_OK;
        }
    }
    known = at_join(names, count);
    at_fail(err, AT_USAGE, "unknown search \"%s\"; known are %s", name, known);
    free(known);
    return AT_USAGE;
}
