/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/profile_entry.h"

#include "base/memory.h"
#include "base/stats.h"
#include "space/named.h"
#include "system/interrupt.h"
#include "tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t whole_ns(double ns)
{
    return ns < 1 ? 1 : llround(ns);
}

/* Computed from the rounded time beside it, so that a reader who divides gets the same. */
static int64_t bandwidth_MB_per_s(int64_t bytes, int64_t time_ns)
{
    return llround(1000.0 * (double)bytes / (double)time_ns);
}

static struct at_list list_of(const int64_t *values, size_t count)
{
    return (struct at_list){at_memdup(values, count * sizeof *values), count};
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct at_named_int *)left)->name,
                  ((const struct at_named_int *)right)->name);
}

static void record_result(const struct at_contestant *contestant, size_t samples, bool predicted,
                          int64_t copy_time_ns, struct at_result_record *record)
{
    const struct at_launch *launch = &contestant->launch;
    double low_ns, high_ns;

    snprintf(record->family, sizeof record->family, "%s", contestant->config->family->name);
    record->parameters = at_config_to_names(contestant->config);
    qsort(record->parameters.items, record->parameters.count, sizeof(struct at_named_int), by_name);
    record->grid = list_of(&launch->field[AT_GRID_X], 3);
    record->block = list_of(&launch->field[AT_BLOCK_X], 3);
    record->clock_sm_khz = contestant->kernel.clock_sm_khz;
    record->registers = contestant->kernel.registers;
    record->spill_bytes = contestant->kernel.local_bytes;
    record->shared_bytes = contestant->kernel.shared_bytes + launch->field[AT_SHARED_BYTES];
    record->time_ns = whole_ns(contestant->time_ns);
    record->spread_permille = at_spread_permille(contestant->samples_ns, samples);
    record->samples = (int64_t)samples;
    if (!predicted) { /* a prediction has no confidence interval */
        at_median_interval(contestant->samples_ns, samples, &low_ns, &high_ns);
        record->time_low_ns = whole_ns(low_ns);
        record->time_high_ns = whole_ns(high_ns);
    }
    record->bandwidth_MB_per_s =
        bandwidth_MB_per_s(at_problem_bytes(&contestant->problem), record->time_ns);
    record->of_copy_permille = llround(1000.0 * (double)copy_time_ns / (double)record->time_ns);
}

static void record_copy(const struct at_contestant *copies, size_t count,
                        struct at_copy_record *record)
{
    const struct at_contestant *driver = &copies[count - 1], *best = driver;
    char *config;

    for (size_t i = 0; i < count; i++)
        if (copies[i].time_ns < best->time_ns)
            best = &copies[i];
    if (best->config) {
        config = at_config_format(best->config);
        snprintf(record->method, sizeof record->method, "%s %s", best->config->family->name,
                 config);
        free(config);
    } else {
        snprintf(record->method, sizeof record->method, "memcpy");
    }
    record->time_ns = whole_ns(best->time_ns);
    record->bandwidth_MB_per_s =
        bandwidth_MB_per_s(at_problem_bytes(&best->problem), record->time_ns);
    record->memcpy_ns = whole_ns(driver->time_ns);
}

static void record_evaluations(const struct at_search *search, struct at_evaluations *record)
{
    *record = (struct at_evaluations){
        .points = search->space.raw,
        .configs = (int64_t)search->space.count,
    };
    for (int i = 0; i < AT_OUTCOMES; i++)
        record->counts[i] = (int64_t)search->counts[i];
}

static enum at_ended how_ended(const struct at_search *search)
{
    if (search->complete)
        return AT_ENDED_EXHAUSTED;
    if (search->reason)
        return AT_ENDED_SETTLED;
    return at_interrupt_seen() ? AT_ENDED_INTERRUPTED : AT_ENDED_BUDGET;
}

void at_profile_entry_fill(struct at_entry *entry, const struct at_tuning_result *result)
{
    const struct at_search *search = result->search;
    const struct at_session *session = search->session;
    size_t samples = (size_t)session->options.policy->shootout_samples;
    int64_t peak_MB_per_s = at_gpu_info(session->gpu)->peak_bandwidth_MB_per_s;
    bool predicted = at_device_is_emulated(at_gpu_info(session->gpu));

    *entry = (struct at_entry){
        .problem = at_problem_format(&search->problem),
        .seed = (int64_t)session->options.seed,
        .ended = how_ended(search),
    };
    record_copy(result->copies, result->copy_count, &entry->copy);
    record_result(result->winner, samples, predicted, entry->copy.time_ns, &entry->winner);
    if (result->fallback)
        record_result(result->fallback, samples, predicted, entry->copy.time_ns, &entry->fallback);
    record_evaluations(search, &entry->evaluations);
    snprintf(entry->search, sizeof entry->search, "%s", search->strategy->name);
    entry->from_l2 = peak_MB_per_s > 0 && entry->winner.bandwidth_MB_per_s > peak_MB_per_s;
}

static int64_t known(int64_t value)
{
    return value < 0 ? 0 : value;
}

static void record_conditions(const struct at_session *session, struct at_conditions *record)
{
    const struct at_gpu_conditions *seen = at_gpu_conditions(session->gpu);
    size_t used = 0;

    *record = (struct at_conditions){
        .clock_sm_min_khz = known(seen->clock_sm_min_khz),
        .clock_sm_max_khz = known(seen->clock_sm_max_khz),
        .clock_memory_khz = known(seen->clock_memory_khz),
        .power_max_mW = known(seen->power_max_mW),
        .temperature_max_c = known(seen->temperature_max_c),
        .other_processes = known(seen->other_processes),
        .capped_ms = seen->capped_ns / 1000000,
        .slowed_ms = seen->slowed_ns / 1000000,
        .discarded_samples = seen->discarded,
        .drifts = session->drifts,
        .remeasured = session->remeasured,
    };
    if (!seen->throttle_known)
        return;
    strcpy(record->throttle, "none");
    for (size_t i = 0; i < AT_THROTTLES; i++)
        if (seen->throttle >> i & 1)
            used += (size_t)snprintf(record->throttle + used, sizeof record->throttle - used,
                                     "%s%s", used ? " " : "", at_throttle_names[i]);
}

void at_profile_device_fill(struct at_device_record *record, struct at_session *session)
{
    const struct at_compiler *compiler = at_builder_compiler(session->builder);
    const struct at_policy *policy = session->options.policy;
    struct at_environment *environment = &record->environment;

    record->device = *at_gpu_info(session->gpu);
    snprintf(environment->autotune, sizeof environment->autotune, "%s", PACKAGE_VERSION);
    snprintf(environment->driver, sizeof environment->driver, "%s",
             at_gpu_driver_version(session->gpu));
    snprintf(environment->cuda_driver, sizeof environment->cuda_driver, "%s",
             at_gpu_cuda_version(session->gpu));
    snprintf(environment->nvrtc, sizeof environment->nvrtc, "%s", compiler->version);
    snprintf(environment->nvrtc_identity, sizeof environment->nvrtc_identity, "%s",
             compiler->identity);
    snprintf(environment->templates, sizeof environment->templates, "%s", session->templates);
    snprintf(record->policy.name, sizeof record->policy.name, "%s", policy->name);
    record->policy.buffer_bytes =
        at_device_is_emulated(&record->device) ? 0 : policy->l2_multiple * record->device.l2_bytes;
    record->policy.train_ns = policy->shootout_train_ns;
    record->policy.search_samples = policy->search_samples;
    record->policy.shootout_samples = policy->shootout_samples;
    record_conditions(session, &record->conditions);
}
