/* SPDX-License-Identifier: Apache-2.0 */
/* Those that may be the nearest, the likeliest first: a heap. */
#ifndef AT_PROFILE_CONTENDERS_H
#define AT_PROFILE_CONTENDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_contender {
    double bound;  /* it is no nearer than that */
    uint64_t rank; /* of those with one bound the lowest is first; says whose this is, too */
};

struct at_contenders {
    struct at_contender *items;
    size_t count, capacity;
};

void at_contenders_add(struct at_contenders *contenders, struct at_contender contender);

/* False: there is none left. */
bool at_contenders_take(struct at_contenders *contenders, struct at_contender *first);

#endif
