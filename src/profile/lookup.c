/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/lookup.h"

#include "base/memory.h"
#include "profile/facts.h"
#include "profile/identity.h"
#include "space/named.h"
#include "space/space.h"

#include <stdlib.h>
#include <string.h>

const char *const at_tier_names[AT_TIERS] = {
    "exact", "shape", "chip", "architecture", "other architecture", "default",
};

/* An entry that can be compared. */
struct candidate {
    const char *path;
    const struct at_device_record *record;
    const struct at_entry *entry;
    struct at_problem problem;
    struct at_config config;
    struct at_traits traits; /* at home: its own problem, device and launch */
};

struct at_lookup {
    struct candidate *candidates;
    size_t count, capacity;
    struct at_family *const *families;
    size_t family_count;
    size_t unusable;     /* entries that are not in the spaces */
    char *unusable_note; /* the first of them */
};

/* ---- candidates ---- */

static enum at_status make_candidate(const struct at_lookup *lookup, struct candidate *candidate,
                                     struct at_error *err)
{
    const struct at_result_record *winner = &candidate->entry->winner;
    const struct at_device_info *home = &candidate->record->device;
    struct at_launch launch;
    enum at_status status = at_problem_parse(&candidate->problem, candidate->entry->problem, err);

    if (status == AT_OK)
        status = at_config_from_names(&candidate->config, lookup->families, lookup->family_count,
                                      winner->family, &winner->parameters, err);
    if (status == AT_OK)
        status = at_config_launch(&candidate->config, &candidate->problem, home, &launch, err);
    if (status != AT_OK)
        return status;
    candidate->traits = at_traits_of(&candidate->problem, home->l2_bytes);
    at_traits_launch(&candidate->traits, &candidate->problem, &launch.field[AT_GRID_X],
                     &launch.field[AT_BLOCK_X]);
    return AT_OK;
}

static void add_entry(struct at_lookup *lookup, const struct at_profile_file *file,
                      const struct at_device_record *record, const struct at_entry *entry)
{
    struct candidate candidate = {.path = file->path, .record = record, .entry = entry};
    struct at_error err;

    if (make_candidate(lookup, &candidate, &err) == AT_OK) {
        AT_PUSH(lookup->candidates, lookup->count, lookup->capacity, candidate);
        return;
    }
    if (lookup->unusable++ == 0)
        lookup->unusable_note = at_format("%s: %s: %s", file->path, entry->problem, err.message);
}

struct at_lookup *at_lookup_open(const struct at_profiles *profiles,
                                 struct at_family *const *families, size_t family_count)
{
    struct at_lookup *lookup = at_alloc(sizeof *lookup);

    lookup->families = families;
    lookup->family_count = family_count;
    for (size_t i = 0; i < profiles->count; i++) {
        const struct at_profile_file *file = &profiles->files[i];
        const struct at_device_record *records = file->profile.devices.items;

        for (size_t j = 0; j < file->profile.devices.count; j++) {
            const struct at_entry *entries = records[j].problems.items;

            for (size_t k = 0; k < records[j].problems.count; k++)
                add_entry(lookup, file, &records[j], &entries[k]);
        }
    }
    return lookup;
}

void at_lookup_close(struct at_lookup *lookup)
{
    if (!lookup)
        return;
    free(lookup->candidates);
    free(lookup->unusable_note);
    free(lookup);
}

/* ---- ranking ---- */

/* What decides between two candidates, the first difference first; less is better. */
enum { RANK_TIER, RANK_GAP, RANK_PREDICTED, RANK_POLICY, RANK_OTHER_PROBLEM, RANKS };

struct rank {
    int64_t keys[RANKS];
    struct at_distance distance; /* decides where all keys are alike */
    size_t conflicts;            /* of the software; decide where the distance is the same too */
};

static bool is_less(const struct rank *a, const struct rank *b)
{
    for (int i = 0; i < RANKS; i++)
        if (a->keys[i] != b->keys[i])
            return a->keys[i] < b->keys[i];
    if (a->distance.total != b->distance.total)
        return a->distance.total < b->distance.total;
    return a->conflicts < b->conflicts;
}

/* The name of the type tells nothing that the size of an element does not. */
static bool same_problem(const struct at_problem *a, const struct at_problem *b)
{
    return a->elem_size == b->elem_size && a->rows == b->rows && a->cols == b->cols &&
           a->ld_src == b->ld_src && a->ld_dst == b->ld_dst && a->batch == b->batch &&
           a->stride_src == b->stride_src && a->stride_dst == b->stride_dst &&
           a->offset_src == b->offset_src && a->offset_dst == b->offset_dst &&
           a->in_place == b->in_place;
}

static enum at_tier tier_of(const struct candidate *candidate, const struct at_query *query)
{
    switch (at_device_relation(&candidate->record->device, query->device)) {
    case AT_SAME_DEVICE:
        return same_problem(&candidate->problem, query->problem) ? AT_TIER_EXACT : AT_TIER_SHAPE;
    case AT_SAME_CHIP:
        return AT_TIER_CHIP;
    case AT_SAME_ARCHITECTURE:
        return AT_TIER_ARCHITECTURE;
    default:
        return AT_TIER_OTHER;
    }
}

/* traits: the query's, without a launch until the candidate is known to be legal. */
static struct rank rank_of(const struct candidate *candidate, const struct at_query *query,
                           const struct at_traits *traits)
{
    const struct at_device_record *record = candidate->record;

    return (struct rank){
        .keys = {[RANK_TIER] = tier_of(candidate, query),
                 [RANK_GAP] = at_architecture_gap(&record->device, query->device),
                 [RANK_PREDICTED] = at_device_is_emulated(&record->device),
                 [RANK_POLICY] = strcmp(record->policy.name, query->policy) != 0,
                 [RANK_OTHER_PROBLEM] = !same_problem(&candidate->problem, query->problem)},
        .distance = at_distance_between(&candidate->traits, traits),
        .conflicts = at_facts_conflicts(query->environment, &record->environment),
    };
}

/* Is the candidate legal here? Then *launch is its launch; else *err says why not. */
static bool is_legal(const struct candidate *candidate, const struct at_query *query,
                     struct at_launch *launch, struct at_error *err)
{
    return at_config_require(&candidate->config, query->problem, query->device, NULL, err) ==
               AT_OK &&
           at_config_launch(&candidate->config, query->problem, query->device, launch, err) ==
               AT_OK;
}

/* ---- the answer ---- */

static void take_candidate(struct at_answer *answer, const struct candidate *candidate,
                           const struct rank *rank, const struct at_launch *launch)
{
    answer->tier = (enum at_tier)rank->keys[RANK_TIER];
    answer->config = candidate->config;
    answer->launch = *launch;
    answer->path = candidate->path;
    answer->record = candidate->record;
    answer->entry = candidate->entry;
    answer->distance = rank->distance;
    answer->predicted = at_device_is_emulated(&candidate->record->device);
    answer->expected_of_copy_permille = candidate->entry->winner.of_copy_permille;
}

static enum at_status take_default(const struct at_lookup *lookup, const struct at_query *query,
                                   struct at_answer *answer, struct at_error *err)
{
    enum at_status status =
        at_space_default(&answer->config, lookup->families, lookup->family_count, query->problem,
                         query->device, err);

    if (status == AT_OK)
        status =
            at_config_launch(&answer->config, query->problem, query->device, &answer->launch, err);
    answer->tier = AT_TIER_DEFAULT;
    return status;
}

/* The candidate that ranks first of those left; lookup->count if none is. */
static size_t first_left(const struct rank *ranks, const bool *done, size_t count)
{
    size_t first = count;

    for (size_t i = 0; i < count; i++)
        if (!done[i] && (first == count || is_less(&ranks[i], &ranks[first])))
            first = i;
    return first;
}

static void note_refusal(struct at_answer *answer, const struct candidate *candidate,
                         const struct rank *rank, const struct at_error *err)
{
    if (rank->keys[RANK_TIER] == AT_TIER_EXACT)
        snprintf(answer->refused, sizeof answer->refused,
                 "%s: the entry for this problem is not legal here: %.160s", candidate->path,
                 err->message);
}

/* The best candidate that is legal. What takes time is to look at a candidate's rules, so that
 * comes last: a rank without the waste is a lower bound, candidates are taken in the order of that,
 * and the search ends where no bound is below what has been found. */
static bool find_best(const struct at_lookup *lookup, const struct at_query *query,
                      struct at_answer *answer)
{
    const struct at_traits asked = at_traits_of(query->problem, query->device->l2_bytes);
    struct rank *ranks = at_alloc_array(lookup->count, sizeof *ranks), best = {0};
    bool *done = at_alloc_array(lookup->count, sizeof *done), found = false;
    size_t next;

    for (size_t i = 0; i < lookup->count; i++)
        ranks[i] = rank_of(&lookup->candidates[i], query, &asked);
    while ((next = first_left(ranks, done, lookup->count)) < lookup->count &&
           !(found && !is_less(&ranks[next], &best))) {
        const struct candidate *candidate = &lookup->candidates[next];
        struct rank rank = ranks[next];
        struct at_traits traits = asked;
        struct at_launch launch;
        struct at_error err;

        done[next] = true;
        if (!is_legal(candidate, query, &launch, &err)) {
            note_refusal(answer, candidate, &rank, &err);
            continue;
        }
        at_traits_launch(&traits, query->problem, &launch.field[AT_GRID_X],
                         &launch.field[AT_BLOCK_X]);
        rank.distance = at_distance_between(&candidate->traits, &traits);
        if (found && !is_less(&rank, &best))
            continue;
        take_candidate(answer, candidate, &rank, &launch);
        best = rank;
        found = true;
    }
    free(done);
    free(ranks);
    return found;
}

enum at_status at_lookup_find(const struct at_lookup *lookup, const struct at_query *query,
                              struct at_answer *answer, struct at_error *err)
{
    struct at_answer made = {0};
    enum at_status status = AT_OK;

    if (!find_best(lookup, query, &made))
        status = take_default(lookup, query, &made, err);
    if (status != AT_OK)
        return status;
    if (made.record)
        made.fact_count = at_facts_compare(made.facts, query, made.record);
    if (!made.refused[0] && lookup->unusable > 0)
        snprintf(made.refused, sizeof made.refused, "%zu %s not used: %.200s", lookup->unusable,
                 lookup->unusable == 1 ? "entry" : "entries", lookup->unusable_note);
    *answer = made;
    return AT_OK;
}

enum at_status at_answer_check_device(const struct at_answer *answer, const struct at_query *query,
                                      struct at_error *err)
{
    if (answer->tier == AT_TIER_DEFAULT)
        return at_fail(err, AT_MISMATCH,
                       "no profile has an entry that is legal here: tune this device, or do "
                       "without --strict");
    if (answer->tier > AT_TIER_SHAPE)
        return at_fail(err, AT_MISMATCH,
                       "no profile is for %s with %jd multiprocessors; the nearest, %s, is for %s "
                       "with %jd: tune this device, or do without --strict",
                       query->device->name, (intmax_t)query->device->multiprocessors, answer->path,
                       answer->record->device.name,
                       (intmax_t)answer->record->device.multiprocessors);
    return AT_OK;
}
