/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/learnt.h"

#include "base/memory.h"
#include "device/relation.h"
#include "lib/process.h"
#include "profile/merge.h"
#include "space/config.h"
#include "space/named.h"
#include "system/output.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct autotune_learnt {
    struct autotune_learnt *next; /* in the store */
    atomic_int holders;
    struct at_device_record record; /* without problems */
    struct at_entry entry;
};

static struct autotune_learnt *first; /* under the library's lock */

struct autotune_learnt *autotune_learnt_new(struct at_device_record record, struct at_entry entry)
{
    struct autotune_learnt *learnt = at_alloc(sizeof *learnt);

    learnt->holders = 1;
    learnt->record = record;
    learnt->entry = entry;
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
    return at_device_relation(&learnt->record.device, &answer->device) == AT_SAME_DEVICE &&
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
        at_config_require_inherent(&made.config, &answer->problem, &err) != AT_OK ||
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

/* Copy all entries into a profile, which the caller clears: one record for each; merging joins
 * them. Returns how many there are. */
static size_t copy_all(struct at_profile *profile)
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

/* ---- saving ---- */

/* The file is a profile; at_profiles_add_path reads it. */

static void close_output(void *output)
{
    at_output_close(output);
}

/* Add what the file has, if it is there. */
static enum at_status add_file(struct at_profiles *profiles, const char *path, struct at_error *err)
{
    struct stat info;

    if (stat(path, &info) != 0 && errno == ENOENT)
        return AT_OK;
    return at_profiles_add(profiles, path, err);
}

/* Replace the file, which is locked, by its merger with what was learnt. */
static enum at_status merge_into(struct at_output *output, const char *path,
                                 struct at_profile *learnt, struct at_error *err)
{
    struct at_profile_file mine = {.path = at_strdup("what this process has learnt"),
                                   .profile = *learnt};
    struct at_profiles profiles = {.whole = true};
    struct at_merge merge;
    enum at_status status = add_file(&profiles, path, err);

    AT_PUSH(profiles.files, profiles.count, profiles.capacity, mine);
    *learnt = (struct at_profile){0}; /* moved */
    if (status == AT_OK)
        status = at_merge_make(&merge, &profiles, err);
    at_profiles_clear(&profiles);
    if (status != AT_OK)
        return status;
    status = at_profile_write(&merge.profile, output, err);
    at_merge_clear(&merge);
    return status;
}

static enum at_status save(void *data, struct at_error *err)
{
    const char *path = data;
    struct at_cleanup cleanup;
    struct at_output *output = NULL;
    struct at_profile learnt;
    enum at_status status;

    if (copy_all(&learnt) == 0)
        return AT_OK;
    status = at_output_open(&output, path, AT_OUTPUT_WAIT_BRIEFLY, NULL, err);
    if (status == AT_OK) {
        at_cleanup_push(&cleanup, close_output, output);
        status = merge_into(output, path, &learnt, err);
        at_cleanup_pop(&cleanup);
        at_output_close(output);
    }
    at_profile_clear(&learnt);
    return status;
}

autotune_status autotune_wisdom_save(const char *path, autotune_error **error)
{
    struct at_error err;

    if (!path)
        path = getenv("AUTOTUNE_WISDOM");
    if (!path) {
        at_fail(&err, AT_USAGE, "the argument \"path\" is NULL, and AUTOTUNE_WISDOM is not set");
        return autotune_fail(error, &err);
    }
    return autotune_call(save, (void *)path, error);
}
