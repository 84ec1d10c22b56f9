/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/nearest.h"

#include "base/memory.h"
#include "profile/facts.h"
#include "profile/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ranking ---- */

/* What a place is to a query. */
struct standing {
    uint64_t key;     /* decides first, less is better; for a candidate of another problem */
    bool same_device; /* so that a candidate of the same problem is exact */
    bool alike;       /* what is legal there is legal here */
    size_t conflicts; /* of the software; decide where the distance is the same too */
};

/* Fields of a key, the first to decide the highest. */
enum { OTHER_PROBLEM_SHIFT, POLICY_SHIFT, PREDICTED_SHIFT, GAP_SHIFT, TIER_SHIFT = 32 };

static enum at_tier tier_of(enum at_relation relation)
{
    switch (relation) {
    case AT_SAME_DEVICE:
        return AT_TIER_SHAPE;
    case AT_SAME_CHIP:
        return AT_TIER_CHIP;
    case AT_SAME_ARCHITECTURE:
        return AT_TIER_ARCHITECTURE;
    default:
        return AT_TIER_OTHER;
    }
}

static struct standing standing_of(const struct at_place *place, const struct at_query *query)
{
    const struct at_device_info *home = &place->record->device;
    enum at_relation relation = at_device_relation(home, query->device);
    uint64_t gap = (uint64_t)at_architecture_gap(home, query->device) & 0xffffff;
    uint64_t other_policy = strcmp(place->record->policy.name, query->policy) != 0;

    return (struct standing){
        .key = (uint64_t)tier_of(relation) << TIER_SHIFT | gap << GAP_SHIFT |
               (uint64_t)at_device_is_emulated(home) << PREDICTED_SHIFT |
               other_policy << POLICY_SHIFT | (uint64_t)1 << OTHER_PROBLEM_SHIFT,
        .same_device = relation == AT_SAME_DEVICE,
        .alike = at_point_devices_alike(home, query->device),
        .conflicts = at_facts_conflicts(query->environment, &place->record->environment),
    };
}

uint64_t at_nearest_identity(const struct at_problem *problem)
{
    const int64_t numbers[] = {problem->rows,       problem->cols,       problem->elem_size,
                               problem->ld_src,     problem->ld_dst,     problem->batch,
                               problem->stride_src, problem->stride_dst, problem->offset_src,
                               problem->offset_dst, problem->in_place};
    uint64_t identity = 0;

    for (size_t i = 0; i < AT_COUNT(numbers); i++)
        identity = (identity ^ (uint64_t)numbers[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return identity;
}

static bool same_problem(const struct at_problem *a, const struct at_problem *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->elem_size == b->elem_size &&
           a->ld_src == b->ld_src && a->ld_dst == b->ld_dst && a->batch == b->batch &&
           a->stride_src == b->stride_src && a->stride_dst == b->stride_dst &&
           a->offset_src == b->offset_src && a->offset_dst == b->offset_dst &&
           a->in_place == b->in_place;
}

/* ---- the nearest ---- */

struct search {
    const struct at_lookup *lookup;
    const struct at_query *query;
    struct standing *standings; /* of the places */
    uint64_t *keys;             /* of the candidates */
    /* Of their distances, from below; INFINITY for those of other keys than the one whose turn it
     * is, and for those that have been looked at. */
    double *bounds;
    struct at_traits asked;
};

static const struct standing *standing_of_candidate(const struct search *search, size_t candidate)
{
    return &search->standings[search->lookup->spots[candidate].place];
}

static void set_keys(const struct search *search)
{
    const struct at_lookup *lookup = search->lookup;
    uint64_t identity = at_nearest_identity(search->query->problem);

    for (size_t i = 0; i < lookup->count; i++) {
        const struct standing *standing = standing_of_candidate(search, i);

        search->keys[i] = standing->key;
        search->bounds[i] = INFINITY;
        if (lookup->spots[i].identity != identity ||
            !same_problem(&lookup->candidates[i].problem, search->query->problem))
            continue;
        search->keys[i] &= ~((uint64_t)1 << OTHER_PROBLEM_SHIFT);
        if (standing->same_device)
            search->keys[i] -= (uint64_t)(AT_TIER_SHAPE - AT_TIER_EXACT) << TIER_SHIFT;
    }
}

/* The least key from `least` on, whose candidates get their bounds; UINT64_MAX if there is none. */
static uint64_t next_key(const struct search *search, uint64_t least)
{
    const struct at_lookup *lookup = search->lookup;
    uint64_t key = UINT64_MAX;

    for (size_t i = 0; i < lookup->count; i++)
        if (search->keys[i] >= least && search->keys[i] < key)
            key = search->keys[i];
    for (size_t i = 0; i < lookup->count; i++)
        if (search->keys[i] == key)
            search->bounds[i] = at_distance_bound(&lookup->spots[i].traits, &search->asked);
    return key;
}

/* The candidate with the lowest bound, of equal ones that with the fewest conflicts; the count if
 * none is left. */
static size_t nearest(const struct search *search)
{
    size_t count = search->lookup->count, best = count;
    double least = INFINITY;

    for (size_t i = 0; i < count; i++) {
        if (search->bounds[i] > least || search->bounds[i] == INFINITY)
            continue;
        if (search->bounds[i] == least && standing_of_candidate(search, i)->conflicts >=
                                              standing_of_candidate(search, best)->conflicts)
            continue;
        least = search->bounds[i];
        best = i;
    }
    return best;
}

static void take(const struct search *search, size_t index, const struct at_config *config,
                 const struct at_launch *launch, const struct at_distance *distance,
                 struct at_answer *answer)
{
    const struct at_candidate *candidate = &search->lookup->candidates[index];
    const struct at_place *place = &search->lookup->places[search->lookup->spots[index].place];

    answer->tier = (enum at_tier)(search->keys[index] >> TIER_SHIFT);
    answer->config = *config;
    answer->launch = *launch;
    answer->path = place->path;
    answer->record = place->record;
    answer->entry = candidate->entry;
    answer->distance = *distance;
    answer->predicted = at_device_is_emulated(&place->record->device);
    answer->expected_of_copy_permille = candidate->entry->winner.of_copy_permille;
}

static void note_refusal(const struct search *search, size_t index, struct at_answer *answer)
{
    const struct at_candidate *candidate = &search->lookup->candidates[index];
    struct at_error err = {AT_OK, ""};

    if (search->keys[index] >> TIER_SHIFT != AT_TIER_EXACT)
        return;
    (void)at_config_require(&candidate->fit.config, search->query->problem, search->query->device,
                            NULL, &err);
    snprintf(answer->refused, sizeof answer->refused,
             "%s: the entry for this problem is not legal here: %.160s",
             search->lookup->places[search->lookup->spots[index].place].path, err.message);
}

static void note_distance(const struct search *search, size_t index, double distance,
                          struct at_answer *answer)
{
    if (!answer->refused[0])
        snprintf(answer->refused, sizeof answer->refused,
                 "the nearest entry, %.120s, is too far: its distance is %.0f, and from %.0f on "
                 "the default config is safer",
                 search->lookup->candidates[index].entry->problem, distance, at_distance_max);
}

/* The nearest legal candidate among those that have bounds. What takes time is to ask a candidate's
 * rules, so that comes last: candidates are taken in the order of their bounds, and the search ends
 * where none is below what has been found. */
static bool take_nearest(const struct search *search, struct at_answer *answer)
{
    const struct at_query *query = search->query;
    struct at_traits here = search->asked;
    struct at_distance distance, least = {.total = INFINITY};
    size_t next, count = search->lookup->count, found = count;

    while ((next = nearest(search)) < count && search->bounds[next] <= least.total) {
        const struct standing *standing = standing_of_candidate(search, next);
        struct at_config config;
        struct at_launch launch;

        search->bounds[next] = INFINITY;
        if (!at_fit_try(&search->lookup->candidates[next].fit, query->problem, query->device,
                        standing->alike, &config, &launch)) {
            note_refusal(search, next, answer);
            continue;
        }
        at_traits_launch(&here, &launch);
        distance = at_distance_between(&search->lookup->spots[next].traits, &here);
        if (distance.total > least.total ||
            (distance.total == least.total &&
             standing->conflicts >= standing_of_candidate(search, found)->conflicts))
            continue;
        least = distance;
        found = next;
        if (distance.total <= at_distance_max)
            take(search, next, &config, &launch, &distance, answer);
    }
    if (found < count && least.total > at_distance_max)
        note_distance(search, found, least.total, answer);
    return least.total <= at_distance_max;
}

bool at_nearest_find(const struct at_lookup *lookup, const struct at_query *query,
                     struct at_answer *answer)
{
    struct search search = {
        .lookup = lookup,
        .query = query,
        .standings = at_alloc_array(lookup->place_count, sizeof *search.standings),
        .keys = at_alloc_array(lookup->count, sizeof *search.keys),
        .bounds = at_alloc_array(lookup->count, sizeof *search.bounds),
        .asked = at_traits_of(query->problem, query->device),
    };
    uint64_t key = 0;
    bool found = false;

    for (size_t i = 0; i < lookup->place_count; i++)
        search.standings[i] = standing_of(&lookup->places[i], query);
    set_keys(&search);
    for (; !found && (key = next_key(&search, key)) < UINT64_MAX; key++)
        found = take_nearest(&search, answer);
    free(search.bounds);
    free(search.keys);
    free(search.standings);
    return found;
}
