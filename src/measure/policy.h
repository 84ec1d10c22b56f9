/* SPDX-License-Identifier: Apache-2.0 */
/* How times are taken. Two policies answer two questions: what does a transpose cost if its data
 * comes from DRAM (cold), and if its data may still be in L2 (warm)? Times are compared only within
 * one policy. */
#ifndef AT_MEASURE_POLICY_H
#define AT_MEASURE_POLICY_H

#include "base/choice.h"
#include "device/info.h"
#include "problem/problem.h"

#include <stdint.h>

struct at_policy {
    const char *name;
    const char *summary;
    int64_t l2_multiple;       /* launches cycle through buffers of at least l2_multiple * L2; */
    int64_t spread_sets;       /* finalists' launches through at least this many pairs, */
    int64_t spread_bytes;      /* if all pairs together take no more than this */
    int64_t search_train_ns;   /* least duration of a train in the search */
    int64_t search_samples;    /* trains per config */
    int64_t shootout_train_ns; /* the same for finalists, whose times are reported */
    int64_t shootout_samples;
};

enum { AT_POLICIES = 2 };
extern const struct at_policy at_policies[AT_POLICIES]; /* the first is the default */
at_choice_fn at_policy_choice;

/* Find a policy by name. AT_USAGE lists the known names. */
enum at_status at_policy_find(const struct at_policy **policy, const char *name,
                              struct at_error *err);

/* Return how many pairs of source and destination the launches cycle through: for finalists, and
 * for the search, which has no more. */
int64_t at_policy_buffer_sets(const struct at_policy *policy, const struct at_problem *problem,
                              const struct at_device_info *device);
int64_t at_policy_search_sets(const struct at_policy *policy, const struct at_problem *problem,
                              const struct at_device_info *device);

#endif
