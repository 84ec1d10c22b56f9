/* SPDX-License-Identifier: Apache-2.0 */
#include "search/strategy.h"

/* One line per strategy, in the order in which --help names them; the first is the default. */
/* clang-format off */
#define EACH_STRATEGY(each) \
    each(guided) \
    each(exhaustive) \
    each(random) \
    each(local) \
    each(annealing) \
    each(genetic) \
    each(halving)
/* clang-format on */

#define DECLARE(name) extern const struct at_strategy at_strategy_##name;
EACH_STRATEGY(DECLARE)

#define ADDRESS(name) &at_strategy_##name,
const struct at_strategy *const at_strategies[] = {EACH_STRATEGY(ADDRESS) NULL};

struct at_choice at_strategy_choice(size_t index)
{
    const struct at_strategy *strategy = at_strategies[index];

    return (struct at_choice){.name = strategy ? strategy->name : NULL, .entry = strategy};
}
