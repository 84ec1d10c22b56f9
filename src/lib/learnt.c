/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/learnt.h"

#include "base/memory.h"
#include "device/cuda/driver.h"
#include "device/relation.h"
#include "lib/process.h"
#include "profile/entry.h"
#include "space/named.h"
#include "space/point.h"

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

/* The space is not enumerated: it counts as the configs that were tried. */
static void record_evaluations(struct at_evaluations *record, const struct autotune_trial *trial)
{
    for (size_t i = 0; i < trial->count; i++)
        record->counts[trial->contestants[i].outcome] += trial->contestants[i].tried;
    record->configs = record->points = at_evaluations_total(record);
}

static void record_entry(struct at_entry *entry, const struct autotune_trial *trial)
{
    const struct autotune_contestant *winner = &trial->contestants[trial->winner];
    const struct at_timed copy = {
        .problem = trial->problem, .samples_ns = trial->copies_ns, .samples = trial->rounds};
    const struct at_timed timed = {
        .config = &winner->answer->config,
        .problem = trial->problem,
        .launch = &winner->answer->launch,
        .kernel = {.registers = winner->resources.registers,
                   .spill_bytes = winner->resources.spill_bytes,
                   .shared_bytes = winner->resources.shared_bytes},
        .samples_ns = winner->ns,
        .samples = trial->rounds,
    };

    entry->problem = at_problem_format(trial->problem);
    entry->copy = at_copy_of(&copy, &copy);
    entry->winner = at_result_of(&timed, entry->copy.time_ns);
    record_evaluations(&entry->evaluations, trial);
    snprintf(entry->search, sizeof entry->search, "plan");
    entry->ended = AT_ENDED_BUDGET;
    entry->from_l2 = at_result_is_from_l2(&entry->winner, trial->device);
}

static struct at_environment environment_of(const struct at_compiler *compiler)
{
    char cuda_driver[16] = "";
    int version = 0;

    at_cuda.cuDriverGetVersion(&version);
    if (version > 0)
        snprintf(cuda_driver, sizeof cuda_driver, "%d.%d", version / 1000, version % 1000 / 10);
    return at_environment_of("", cuda_driver, compiler, "");
}

struct autotune_learnt *autotune_learnt_make(const struct autotune_trial *trial,
                                             const struct at_compiler *compiler)
{
    struct autotune_learnt *learnt = at_alloc(sizeof *learnt);
    struct at_policy_record *policy = &learnt->record.policy;

    learnt->holders = 1;
    learnt->record.device = *trial->device;
    learnt->record.environment = environment_of(compiler);
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
