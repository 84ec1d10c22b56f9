/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tests/bench/choose-numbers. */
#include "search/numbers.h"

#include <stddef.h>

const struct at_held_out at_held_out[] = {
    {.kind = NULL},
};
