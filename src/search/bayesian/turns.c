/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/turns.h"

/* Before there are gains, each way counts as having had so many. */
enum { ASSUMED = 1 };

bool at_turns_go_around(const struct at_turns *turns)
{
    return turns->taken[AT_WAY_AROUND] * (turns->gained[AT_WAY_MODEL] + ASSUMED) <=
           turns->taken[AT_WAY_MODEL] * (turns->gained[AT_WAY_AROUND] + ASSUMED);
}
