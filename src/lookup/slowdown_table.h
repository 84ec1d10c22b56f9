/* SPDX-License-Identifier: Apache-2.0 */
/* The networks' weights. They have learnt the same, from other random numbers. */
#ifndef AT_LOOKUP_SLOWDOWN_TABLE_H
#define AT_LOOKUP_SLOWDOWN_TABLE_H

enum {
    AT_SLOWDOWN_NETWORKS = 2,
    AT_SLOWDOWN_INPUTS = 103,
    AT_SLOWDOWN_FIRST = 128,
    AT_SLOWDOWN_SECOND = 64,
};

/* An input counts as (value - mean) * scale, at most 5 either way, and as 0 where it is NAN. */
struct at_slowdown_scale {
    const char *name; /* of an own input, "family NAME", or of a parameter */
    float mean, scale;
};

struct at_slowdown_network {
    float first[AT_SLOWDOWN_INPUTS][AT_SLOWDOWN_FIRST], first_bias[AT_SLOWDOWN_FIRST];
    float second[AT_SLOWDOWN_FIRST][AT_SLOWDOWN_SECOND], second_bias[AT_SLOWDOWN_SECOND];
    float last[AT_SLOWDOWN_SECOND];
};

struct at_slowdown_table {
    struct at_slowdown_scale inputs[AT_SLOWDOWN_INPUTS];
    struct at_slowdown_network networks[AT_SLOWDOWN_NETWORKS];
};

extern const struct at_slowdown_table at_slowdown_table;

#endif
