/* SPDX-License-Identifier: Apache-2.0 */
/* The choice by prediction, where the nearest entry is far or poor. */
#ifndef AT_LOOKUP_CHOICE_H
#define AT_LOOKUP_CHOICE_H

#include "lookup/option.h"

struct at_choice {
    struct at_option option; /* without a mark, it is the default config */
    size_t of;               /* the number of configs that were compared */
};

/* Choose the default config, if it is predicted to be as fast as the fastest, within 2 %; else, of
 * the configs within 0.5 %, that of the nearest entry. Some legal entry has to be of a family that
 * the networks know. premiums: by place, what its entries count as farther; those with INFINITY are
 * left out. asked: the problem's traits. */
struct at_choice at_choice_make(const struct at_lookup *lookup, const struct at_query *query,
                                const struct at_traits *asked, const float *premiums);

#endif
