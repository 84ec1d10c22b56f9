/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/entry.h"

#include "base/memory.h"
#include "base/stats.h"
#include "space/named.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t at_whole_ns(double ns)
{
    return ns < 1 ? 1 : llround(ns);
}

/* Computed from the rounded time beside it, so that a reader who divides gets the same. */
static int64_t bandwidth_MB_per_s(const struct at_problem *problem, int64_t time_ns)
{
    return llround(1000.0 * (double)at_problem_bytes(problem) / (double)time_ns);
}

struct at_list at_extents_list(const int64_t extents[3])
{
    return (struct at_list){at_memdup(extents, 3 * sizeof *extents), 3};
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct at_named_int *)left)->name,
                  ((const struct at_named_int *)right)->name);
}

static int64_t time_ns(const struct at_timed *timed)
{
    return at_whole_ns(at_median(timed->samples_ns, timed->samples));
}

struct at_result_record at_result_of(const struct at_timed *timed, int64_t copy_ns)
{
    const int64_t *launch = timed->launch->field;
    struct at_result_record record = {
        .parameters = at_config_to_names(timed->config),
        .grid = at_extents_list(&launch[AT_GRID_X]),
        .block = at_extents_list(&launch[AT_BLOCK_X]),
        .clock_sm_khz = timed->kernel.clock_sm_khz,
        .registers = timed->kernel.registers,
        .spill_bytes = timed->kernel.spill_bytes,
        .shared_bytes = timed->kernel.shared_bytes + launch[AT_SHARED_BYTES],
        .time_ns = time_ns(timed),
        .spread_permille = at_spread_permille(timed->samples_ns, timed->samples),
        .samples = (int64_t)timed->samples,
    };
    double low_ns, high_ns;

    snprintf(record.family, sizeof record.family, "%s", timed->config->family->name);
    strcpy(record.kernel, timed->hash);
    qsort(record.parameters.items, record.parameters.count, sizeof(struct at_named_int), by_name);
    if (!timed->predicted) {
        at_median_interval(timed->samples_ns, timed->samples, &low_ns, &high_ns);
        record.time_low_ns = at_whole_ns(low_ns);
        record.time_high_ns = at_whole_ns(high_ns);
    }
    record.bandwidth_MB_per_s = bandwidth_MB_per_s(timed->problem, record.time_ns);
    record.of_copy_permille = llround(1000.0 * (double)copy_ns / (double)record.time_ns);
    return record;
}

struct at_copy_record at_copy_of(const struct at_timed *best, const struct at_timed *driver)
{
    struct at_copy_record record = {
        .method = "memcpy", .time_ns = time_ns(best), .memcpy_ns = time_ns(driver)};

    if (best->config) {
        char *config = at_config_format(best->config);

        snprintf(record.method, sizeof record.method, "%s %s", best->config->family->name, config);
        strcpy(record.kernel, best->hash);
        at_free(config);
    }
    record.bandwidth_MB_per_s = bandwidth_MB_per_s(best->problem, record.time_ns);
    return record;
}

struct at_environment at_environment_of(const char *driver, const char *cuda_driver,
                                        const struct at_compiler *compiler)
{
    struct at_environment environment = {.autotune = PACKAGE_VERSION};

    snprintf(environment.driver, sizeof environment.driver, "%s", driver);
    snprintf(environment.cuda_driver, sizeof environment.cuda_driver, "%s", cuda_driver);
    if (!compiler)
        return environment;
    snprintf(environment.nvrtc, sizeof environment.nvrtc, "%s", compiler->version);
    snprintf(environment.nvrtc_identity, sizeof environment.nvrtc_identity, "%s",
             compiler->identity);
    return environment;
}

bool at_result_is_from_l2(const struct at_result_record *winner,
                          const struct at_device_info *device)
{
    int64_t peak_MB_per_s = device->peak_bandwidth_MB_per_s;

    return peak_MB_per_s > 0 && winner->bandwidth_MB_per_s > peak_MB_per_s;
}
