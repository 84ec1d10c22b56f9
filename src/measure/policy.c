/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/policy.h"
#include "device/kind.h"

/* spread_*: the place of a source in memory changes times by 2 to 3 % if rows are a large power of
 * two apart (doc/measurement.md, "Cold and warm"). So a reported time is the mean of several
 * places.
 *
 * *_train_ns: events resolve half a microsecond (cuda.h, cuEventElapsedTime). So the time of a
 * train of 300 us is known to 0.4 %, both ends together, and of 1 ms, for reported times, to 0.1 %.
 */
const struct at_policy at_policies[AT_POLICIES] = {
    {
        .name = "cold",
        .summary = "launches cycle through buffers of at least 3 x L2, so data comes from DRAM",
        .l2_multiple = 3,
        .spread_sets = 4,
        .spread_bytes = INT64_C(1) << 30,
        .search_train_ns = 300000,
        .search_samples = 5,
        .shootout_train_ns = 1000000,
        .shootout_samples = 15,
    },
    {
        .name = "warm",
        .summary = "one pair of buffers, so what fits in L2 comes from there",
        .l2_multiple = 0,
        .search_train_ns = 300000,
        .search_samples = 5,
        .shootout_train_ns = 1000000,
        .shootout_samples = 15,
    },
};

/* A train has at most this many launches, so more sets would not all be used. Only matrices of a
 * few kilobytes need more sets to exceed 3 x L2. */
static const int64_t sets_max = 1024;

struct at_choice at_policy_choice(size_t index)
{
    if (index >= AT_POLICIES)
        return (struct at_choice){0};
    return (struct at_choice){at_policies[index].name, at_policies[index].summary,
                              &at_policies[index]};
}

enum at_status at_policy_find(const struct at_policy **policy, const char *name,
                              struct at_error *err)
{
    size_t index;
    enum at_status status = at_choose(&index, "policy", name, at_policy_choice, err);

    if (status == AT_OK)
        *policy = &at_policies[index];
    return status;
}

/* The bytes that a launch reads and writes; in place it is one buffer. */
static int64_t set_bytes(const struct at_problem *problem)
{
    return at_problem_bytes(problem) / (problem->in_place ? 2 : 1);
}

int64_t at_policy_search_sets(const struct at_policy *policy, const struct at_problem *problem,
                              const struct at_device_info *device)
{
    int64_t set = set_bytes(problem), wanted = policy->l2_multiple * device->l2_bytes;
    int64_t sets = (wanted + set - 1) / set;

    if (!at_device_kind(device)->keeps_l2) /* the emulated L2 keeps nothing between launches */
        return 1;
    return sets < 1 ? 1 : sets > sets_max ? sets_max : sets;
}

int64_t at_policy_buffer_sets(const struct at_policy *policy, const struct at_problem *problem,
                              const struct at_device_info *device)
{
    int64_t sets = at_policy_search_sets(policy, problem, device);
    int64_t spread = policy->spread_bytes / set_bytes(problem);

    if (spread > policy->spread_sets)
        spread = policy->spread_sets;
    return sets < spread && at_device_kind(device)->keeps_l2 ? spread : sets;
}
