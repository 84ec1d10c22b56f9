/* SPDX-License-Identifier: Apache-2.0 */
/* A seeded random number generator (SplitMix64: Steele, Lea and Flood, OOPSLA 2014). It is the same
 * on every machine, so that a search can be repeated from its seed. */
#ifndef AT_BASE_RNG_H
#define AT_BASE_RNG_H

#include <stdint.h>

struct at_rng {
    uint64_t state;
};

static inline uint64_t at_rng_next(struct at_rng *rng)
{
    uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Draw uniformly from 0 .. bound - 1 (bound >= 1). Numbers in the last, incomplete range are drawn
 * again: a plain remainder would favour small results. */
static inline uint64_t at_rng_below(struct at_rng *rng, uint64_t bound)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound, drawn;

    do
        drawn = at_rng_next(rng);
    while (drawn >= limit);
    return drawn % bound;
}

#endif
