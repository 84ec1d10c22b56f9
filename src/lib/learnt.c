/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/learnt.h"

#include "base/memory.h"
#include "base/stats.h"
#include "device/cuda/driver.h"
#include "device/relation.h"
#include "lib/process.h"
#include "space/named.h"
#include "space/point.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

struct autotune_learnt {
    struct autotune_learnt *next; /* in the store */
    atomic_int holders;
    struct at_device_record record; /* without problems */
    struct at_entry entry;
};

static struct autotune_learnt *first; /* under the library's lock */

/* ---- entries ---- */

static int64_t whole_ns(double ns)
{
    return ns < 1 ? 1 : llround(ns);
}

static int64_t bandwidth_MB_per_s(const struct at_problem *problem, int64_t time_ns)
{
    return llround(1000.0 * (double)at_problem_bytes(problem) / (double)time_ns);
}

static struct at_list extents(const int64_t values[3])
{
    return (struct at_list){at_memdup(values, 3 * sizeof *values), 3};
}

static void record_winner(struct at_result_record *record, const struct autotune_trial *trial,
                          int64_t copy_ns)
{
    const struct autotune_contestant *winner = &trial->contestants[trial->winner];
    const int64_t *launch = winner->answer->launch.field;
    double low_ns, high_ns;

    snprintf(record->family, sizeof record->family, "%s", winner->answer->config.family->name);
    record->parameters = at_config_to_names(&winner->answer->config);
    record->grid = extents(&launch[AT_GRID_X]);
    record->block = extents(&launch[AT_BLOCK_X]);
    record->registers = winner->resources.registers;
    record->spill_bytes = winner->resources.spill_bytes;
    record->shared_bytes = winner->resources.shared_bytes + launch[AT_SHARED_BYTES];
    record->time_ns = whole_ns(winner->time_ns);
    at_median_interval(winner->ns, trial->rounds, &low_ns, &high_ns);
    record->time_low_ns = whole_ns(low_ns);
    record->time_high_ns = whole_ns(high_ns);
    record->spread_permille = at_spread_permille(winner->ns, trial->rounds);
    record->samples = (int64_t)trial->rounds;
    record->bandwidth_MB_per_s = bandwidth_MB_per_s(trial->problem, record->time_ns);
    record->of_copy_permille = llround(1000.0 * (double)copy_ns / (double)record->time_ns);
}

/* The space is not enumerated: it counts as the configs that were tried. */
static void record_evaluations(struct at_evaluations *record, const struct autotune_trial *trial)
{
    for (size_t i = 0; i < trial->count; i++)
        record->counts[trial->contestants[i].outcome] += trial->contestants[i].tried;
    record->configs = record->points = at_evaluations_total(record);
}

static void record_entry(struct at_entry *entry, const struct autotune_trial *trial)
{
    int64_t copy_ns = whole_ns(trial->copy_ns), peak = trial->device->peak_bandwidth_MB_per_s;

    entry->problem = at_problem_format(trial->problem);
    snprintf(entry->copy.method, sizeof entry->copy.method, "memcpy");
    entry->copy.time_ns = entry->copy.memcpy_ns = copy_ns;
    entry->copy.bandwidth_MB_per_s = bandwidth_MB_per_s(trial->problem, copy_ns);
    record_winner(&entry->winner, trial, copy_ns);
    record_evaluations(&entry->evaluations, trial);
    snprintf(entry->search, sizeof entry->search, "plan");
    entry->ended = AT_ENDED_BUDGET;
    entry->from_l2 = peak > 0 && entry->winner.bandwidth_MB_per_s > peak;
}

static void record_environment(struct at_environment *environment,
                               const struct at_compiler *compiler)
{
    int version = 0;

    at_cuda.cuDriverGetVersion(&version);
    snprintf(environment->autotune, sizeof environment->autotune, "%s", PACKAGE_VERSION);
    if (version > 0)
        snprintf(environment->cuda_driver, sizeof environment->cuda_driver, "%d.%d", version / 1000,
                 version % 1000 / 10);
    snprintf(environment->nvrtc, sizeof environment->nvrtc, "%s", compiler->version);
    snprintf(environment->nvrtc_identity, sizeof environment->nvrtc_identity, "%s",
             compiler->identity);
}

struct autotune_learnt *autotune_learnt_make(const struct autotune_trial *trial,
                                             const struct at_compiler *compiler)
{
    struct autotune_learnt *learnt = at_alloc(sizeof *learnt);
    struct at_policy_record *policy = &learnt->record.policy;

    learnt->holders = 1;
    learnt->record.device = *trial->device;
    record_environment(&learnt->record.environment, compiler);
    snprintf(policy->name, sizeof policy->name, "%s", trial->policy->name);
    policy->buffer_bytes = trial->policy->l2_multiple * trial->device->l2_bytes;
    policy->train_ns = trial->policy->search_train_ns;
    policy->search_samples = policy->shootout_samples = AUTOTUNE_ROUNDS_MAX;
    record_entry(&learnt->entry, trial);
    return learnt;
}

void autotune_learnt_drop(struct autotune_learnt *learnt)
{
    if (!learnt || --learnt->holders > 0)
        return;
    at_schema_clear(&at_entry_schema, &learnt->entry);
    at_free(learnt);
}

/* ---- the store ---- */

void autotune_learnt_keep(struct autotune_learnt *learnt)
{
    struct at_cleanup lock;

    learnt->holders++;
    autotune_lock_anyway(&lock);
    learnt->next = first;
    first = learnt;
    autotune_unlock(&lock);
}

static bool is_about(const struct autotune_learnt *learnt, const struct autotune_answer *answer,
                     const char *problem)
{
    return strcmp(learnt->record.device.uuid, answer->device.uuid) == 0 &&
           at_device_relation(&learnt->record.device, &answer->device) == AT_SAME_DEVICE &&
           strcmp(learnt->record.policy.name, answer->policy) == 0 &&
           strcmp(learnt->entry.problem, problem) == 0;
}

static bool take(struct autotune_answer *answer, const autotune_profile *profile,
                 const struct autotune_learnt *learnt)
{
    const struct at_result_record *winner = &learnt->entry.winner;
    struct at_answer made = {
        .tier = AT_TIER_EXACT,
        .path = "measured in this process",
        .record = &learnt->record,
        .tuned_problem = learnt->entry.problem,
        .entry = &learnt->entry,
        .expected_of_copy_permille = winner->of_copy_permille,
    };
    struct at_point point = at_point_make(NULL, &answer->problem, &answer->device);
    struct at_error err;

    if (at_config_from_names(&made.config, profile->families, profile->family_count, winner->family,
                             &winner->parameters, &err) != AT_OK ||
        at_config_require_inherent(&made.config, answer->problem.elem_size, &err) != AT_OK ||
        !at_config_adapt(&made.config, &point, &made.launch))
        return false;
    answer->answer = made;
    return true;
}

struct autotune_learnt *autotune_learnt_find(struct autotune_answer *answer,
                                             const autotune_profile *profile)
{
    char *problem = at_problem_format(&answer->problem);
    struct autotune_learnt *learnt;
    struct at_cleanup lock;

    autotune_lock_anyway(&lock);
    learnt = first;
    while (learnt && !(is_about(learnt, answer, problem) && take(answer, profile, learnt)))
        learnt = learnt->next;
    if (learnt)
        learnt->holders++;
    autotune_unlock(&lock);
    at_free(problem);
    return learnt;
}

/* ---- copies ---- */

static struct at_list copy_list(const struct at_list *list, size_t item_size)
{
    return (struct at_list){at_memdup(list->items, list->count * item_size), list->count};
}

static struct at_entry copy_entry(const struct at_entry *entry)
{
    struct at_entry copy = *entry;

    copy.problem = at_strdup(entry->problem);
    copy.winner.grid = copy_list(&entry->winner.grid, sizeof(int64_t));
    copy.winner.block = copy_list(&entry->winner.block, sizeof(int64_t));
    copy.winner.parameters =
        at_named_ints_copy(entry->winner.parameters.items, entry->winner.parameters.count);
    return copy;
}

/* One record for each; merging joins them. */
size_t autotune_learnt_copy(struct at_profile *profile)
{
    struct at_device_record *records = NULL;
    size_t count = 0, capacity = 0;
    struct at_cleanup lock;

    autotune_lock_anyway(&lock);
    for (const struct autotune_learnt *learnt = first; learnt; learnt = learnt->next) {
        struct at_device_record record = learnt->record;
        struct at_entry entry = copy_entry(&learnt->entry);

        record.problems = (struct at_list){at_memdup(&entry, sizeof entry), 1};
        AT_PUSH(records, count, capacity, record);
    }
    autotune_unlock(&lock);
    *profile = (struct at_profile){.schema = AT_PROFILE_SCHEMA, .devices = {records, count}};
    return count;
}

/* ---- forgetting ---- */

static enum at_status forget(void *unused, struct at_error *err)
{
    struct autotune_learnt *all;
    struct at_cleanup lock;

    (void)unused;
    (void)err;
    autotune_lock_anyway(&lock);
    all = first;
    first = NULL;
    autotune_unlock(&lock);
    while (all) {
        struct autotune_learnt *next = all->next;

        autotune_learnt_drop(all);
        all = next;
    }
    return AT_OK;
}

void autotune_wisdom_forget(void)
{
    autotune_call(forget, NULL, NULL);
}
