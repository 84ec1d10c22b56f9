/* SPDX-License-Identifier: Apache-2.0 */
#include "space/point.h"

#include "base/memory.h"

#define PROBLEM(member)                                                                            \
    {                                                                                              \
#member, false, offsetof(struct at_problem, member)                                        \
    }
#define DEVICE(member)                                                                             \
    {                                                                                              \
#member, true, offsetof(struct at_device_info, member)                                     \
    }

static const struct {
    const char *name;
    bool of_device;
    size_t offset; /* of an int64_t */
} given[] = {
    PROBLEM(elem_size),
    PROBLEM(rows),
    PROBLEM(cols),
    PROBLEM(ld_src),
    PROBLEM(ld_dst),
    PROBLEM(batch),
    PROBLEM(stride_src),
    PROBLEM(stride_dst),
    PROBLEM(offset_src),
    PROBLEM(offset_dst),
    DEVICE(compute_capability),
    DEVICE(multiprocessors),
    DEVICE(warp_size),
    DEVICE(max_threads_per_block),
    DEVICE(max_threads_per_multiprocessor),
    DEVICE(registers_per_multiprocessor),
    DEVICE(shared_bytes_per_block),
    DEVICE(shared_bytes_per_block_optin),
    DEVICE(shared_bytes_per_multiprocessor),
    DEVICE(l2_bytes),
};

_Static_assert(AT_COUNT(given) == AT_NAMES_GIVEN, "AT_NAMES_GIVEN is the number of names");

size_t at_point_names(const char *names[AT_NAMES_MAX], const struct at_param *params,
                      size_t param_count)
{
    for (size_t i = 0; i < AT_COUNT(given); i++)
        names[i] = given[i].name;
    for (size_t i = 0; i < param_count; i++)
        names[AT_NAME_PARAM_FIRST + i] = params[i].name;
    return AT_COUNT(given) + param_count;
}

struct at_point at_point_make(const struct at_family *family, const struct at_problem *problem,
                              const struct at_device_info *device)
{
    struct at_point point = {.family = family, .device = device, .in_place = problem->in_place};

    for (size_t i = 0; i < AT_COUNT(given); i++) {
        const char *record = given[i].of_device ? (const char *)device : (const char *)problem;

        point.values[i] = *(const int64_t *)(record + given[i].offset);
    }
    return point;
}

void at_point_move(struct at_point *point, const struct at_config *config)
{
    point->family = config->family;
    for (size_t i = 0; i < config->family->param_count; i++)
        point->values[AT_NAME_PARAM_FIRST + i] = config->values[i];
}
