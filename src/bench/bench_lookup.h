/* SPDX-License-Identifier: Apache-2.0 */
/* `autotune bench --lookup`: the config that a profile gives for a problem, tuned or not. */
#ifndef AT_BENCH_BENCH_LOOKUP_H
#define AT_BENCH_BENCH_LOOKUP_H

#include "lookup/lookup.h"

struct at_bench_lookup {
    struct at_profiles profiles;
    struct at_lookup *lookup; /* NULL: not open */
};

/* Read the profile at path. Families are borrowed. Close it even after a failure. */
enum at_status at_bench_lookup_open(struct at_bench_lookup *lookup, const char *path,
                                    struct at_family *const *families, size_t family_count,
                                    struct at_error *err);
void at_bench_lookup_close(struct at_bench_lookup *lookup);

enum at_status at_bench_lookup_config(const struct at_bench_lookup *lookup,
                                      const struct at_problem *problem,
                                      const struct at_device_info *device, const char *policy,
                                      struct at_config *config, struct at_error *err);

#endif
