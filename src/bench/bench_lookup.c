/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_lookup.h"

enum at_status at_bench_lookup_open(struct at_bench_lookup *lookup, const char *path,
                                    struct at_family *const *families, size_t family_count,
                                    struct at_error *err)
{
    enum at_status status = at_profiles_add(&lookup->profiles, path, err);

    if (status == AT_OK)
        status = at_lookup_open(&lookup->lookup, &lookup->profiles, families, family_count, err);
    return status;
}

void at_bench_lookup_close(struct at_bench_lookup *lookup)
{
    at_lookup_close(lookup->lookup);
    at_profiles_clear(&lookup->profiles);
}

enum at_status at_bench_lookup_config(const struct at_bench_lookup *lookup,
                                      const struct at_problem *problem,
                                      const struct at_device_info *device, const char *policy,
                                      struct at_config *config, struct at_error *err)
{
    static const struct at_environment environment = {.autotune = PACKAGE_VERSION};
    struct at_answer answer;
    enum at_status status = at_lookup_find(
        lookup->lookup,
        &(struct at_query){
            .problem = problem, .device = device, .environment = &environment, .policy = policy},
        &answer, err);

    if (status == AT_OK)
        *config = answer.config;
    return status;
}
