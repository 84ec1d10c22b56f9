/* SPDX-License-Identifier: Apache-2.0 */
/* The space: all legal configs of the families for a problem on a device. */
#ifndef AT_SPACE_SPACE_H
#define AT_SPACE_SPACE_H

#include "space/family.h"

/* Larger numbers of points are clamped to this. The points of all problems of a profile can then be
 * added without overflow, and every reader of JSON gets them exactly. */
#define AT_RAW_MAX INT64_C(1000000000000000)

struct at_space {
    struct at_config *configs; /* by family, then in the order of the parameters' values */
    size_t count;
    int64_t raw; /* points of all families, before constraints and needs; at most AT_RAW_MAX */
};

/* Enumerate the legal configs. Each rule is checked as soon as its parameters have values, so that
 * whole subspaces are skipped. More than max_configs legal configs is AT_USAGE. */
enum at_status at_space_build(struct at_space *space, struct at_family *const *families,
                              size_t family_count, const struct at_problem *problem,
                              const struct at_device_info *device, size_t max_configs,
                              struct at_error *err);
void at_space_clear(struct at_space *space);

/* The default config of a problem: among the legal defaults of all families, the one with the
 * lowest preference. Parameters that yield take other values than their default until it is legal.
 * AT_FAILED if none is. */
enum at_status at_space_default(struct at_config *config, struct at_family *const *families,
                                size_t family_count, const struct at_problem *problem,
                                const struct at_device_info *device, struct at_error *err);

#endif
