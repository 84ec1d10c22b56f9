/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/profile_entry.h"

#include "profile/entry.h"
#include "system/interrupt.h"
#include "tune/tune.h"

#include <stdio.h>
#include <string.h>

static struct at_timed timed(const struct at_contestant *contestant,
                             const struct at_session *session)
{
    struct at_timed timed = {
        .config = contestant->config,
        .problem = &contestant->problem,
        .launch = &contestant->launch,
        .kernel = contestant->kernel,
        .samples_ns = contestant->samples_ns,
        .samples = (size_t)session->options.policy->shootout_samples,
        .predicted = at_device_is_emulated(at_gpu_info(session->gpu)),
    };

    if (timed.config)
        at_session_hash_kernel(timed.hash, session, timed.config, timed.problem);
    return timed;
}

static struct at_copy_record record_copies(const struct at_tuning_result *result)
{
    const struct at_session *session = result->search->session;
    const struct at_contestant *driver = &result->copies[result->copy_count - 1], *best = driver;
    struct at_timed fastest, drivers;

    for (size_t i = 0; i < result->copy_count; i++)
        if (result->copies[i].time_ns < best->time_ns)
            best = &result->copies[i];
    fastest = timed(best, session);
    drivers = timed(driver, session);
    return at_copy_of(&fastest, &drivers);
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
    const struct at_timed winner = timed(result->winner, session);

    *entry = (struct at_entry){
        .problem = at_problem_format(&search->problem),
        .seed = (int64_t)session->options.seed,
        .ended = how_ended(search),
        .copy = record_copies(result),
    };
    entry->winner = at_result_of(&winner, entry->copy.time_ns);
    if (result->fallback) {
        const struct at_timed fallback = timed(result->fallback, session);

        entry->fallback = at_result_of(&fallback, entry->copy.time_ns);
    }
    record_evaluations(search, &entry->evaluations);
    snprintf(entry->search, sizeof entry->search, "%s", search->strategy->name);
    entry->from_l2 = at_result_is_from_l2(&entry->winner, at_gpu_info(session->gpu));
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
    const struct at_policy *policy = session->options.policy;

    record->device = *at_gpu_info(session->gpu);
    record->environment =
        at_environment_of(at_gpu_driver_version(session->gpu), at_gpu_cuda_version(session->gpu),
                          at_builder_compiler(session->builder));
    snprintf(record->policy.name, sizeof record->policy.name, "%s", policy->name);
    record->policy.buffer_bytes =
        at_device_is_emulated(&record->device) ? 0 : policy->l2_multiple * record->device.l2_bytes;
    record->policy.train_ns = policy->shootout_train_ns;
    record->policy.search_samples = policy->search_samples;
    record->policy.shootout_samples = policy->shootout_samples;
    record_conditions(session, &record->conditions);
}
