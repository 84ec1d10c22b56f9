/* SPDX-License-Identifier: Apache-2.0 */
/* A caller's options for a plan. */
#include "lib/planner.h"

/* A day. */
enum { MEASURE_MS_MAX = 24 * 60 * 60 * 1000 };

/* As the driver aligns what it allocates. */
enum { SCRATCH_ALIGN = 256 };

/* The size of the first version. It never changes. */
enum { OPTIONS_LEAST = 40 };
_Static_assert(OPTIONS_LEAST <= sizeof(autotune_plan_options), "members are added only");

static enum at_status check_scratch(const autotune_plan_options *options, struct at_error *err)
{
    if (options->scratch_bytes >= 0 && (!options->scratch) == (options->scratch_bytes == 0) &&
        (uintptr_t)options->scratch % SCRATCH_ALIGN == 0)
        return AT_OK;
    return at_fail(err, AT_USAGE,
                   "scratch has to be a device address that is a multiple of %d, with its length "
                   "in scratch_bytes; or both have to be 0",
                   SCRATCH_ALIGN);
}

enum at_status autotune_take_options(struct autotune_budget *budget,
                                     const autotune_plan_options *options, struct at_error *err)
{
    static const autotune_plan_options none;
    enum at_status status;

    if (!options)
        options = &none;
    status = autotune_check_struct("autotune_plan_options", options, options->struct_size,
                                   OPTIONS_LEAST, sizeof *options, err);
    if (status == AT_OK && (options->measure_ms < 0 || options->measure_ms > MEASURE_MS_MAX))
        status = at_fail(err, AT_USAGE, "measure_ms is %lld, and has to be 0 to %d",
                         (long long)options->measure_ms, MEASURE_MS_MAX);
    if (status == AT_OK)
        status = check_scratch(options, err);
    budget->policy = &at_policies[0];
    if (status == AT_OK && options->policy)
        status = at_policy_find(&budget->policy, options->policy, err);
    budget->limit_ns = status == AT_OK ? options->measure_ms * 1000000 : 0;
    budget->scratch = (uint64_t)(uintptr_t)options->scratch;
    budget->scratch_bytes = options->scratch_bytes;
    return status;
}
