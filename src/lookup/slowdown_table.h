/* SPDX-License-Identifier: Apache-2.0 */
/* The networks' weights. contrib/library/train-slowdown makes slowdown_table.c. */
#ifndef AT_LOOKUP_SLOWDOWN_TABLE_H
#define AT_LOOKUP_SLOWDOWN_TABLE_H

#include "lookup/network.h"

enum { AT_SLOWDOWN_INPUTS_MAX = 128, AT_SLOWDOWN_NETWORKS_MAX = 5 };

/* An input counts as (value - mean) * scale, at most 5 either way, and as 0 where it is NAN. */
struct at_slowdown_scale {
    const char *name; /* of an own input, "family NAME", or of a parameter */
    float mean, scale;
};

struct at_slowdown_table {
    int input_count;
    struct at_slowdown_scale inputs[AT_SLOWDOWN_INPUTS_MAX];
    int network_count; /* the first is small and estimates; the others predict */
    struct at_network_table networks[AT_SLOWDOWN_NETWORKS_MAX];
};

extern const struct at_slowdown_table at_slowdown_table;

#endif
