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

/* The name of the type tells nothing that the size of an element does not. */
static bool same_problem(const struct at_problem *a, const struct at_problem *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->elem_size == b->elem_size &&
           a->ld_src == b->ld_src && a->ld_dst == b->ld_dst && a->batch == b->batch &&
           a->stride_src == b->stride_src && a->stride_dst == b->stride_dst &&
           a->offset_src == b->offset_src && a->offset_dst == b->offset_dst &&
           a->in_place == b->in_place;
}

static uint64_t key_of(const struct at_candidate *candidate, const struct standing *standing,
                       const struct at_problem *problem)
{
    uint64_t key = standing->key;

    if (!same_problem(&candidate->problem, problem))
        return key;
    key &= ~((uint64_t)1 << OTHER_PROBLEM_SHIFT);
    if (standing->same_device)
        key -= (uint64_t)(AT_TIER_SHAPE - AT_TIER_EXACT) << TIER_SHIFT;
    return key;
}

/* ---- the nearest ---- */

/* A candidate that is not settled yet. */
struct ranked {
    uint64_t key;
    double bound; /* of its distance, from below; INFINITY once it has been looked at */
};

struct search {
    const struct at_lookup *lookup;
    const struct at_query *query;
    struct standing *standings; /* of the places */
    struct ranked *ranked;      /* the candidates */
    struct at_traits asked;
};

static size_t conflicts_of(const struct search *search, size_t candidate)
{
    return search->standings[search->lookup->candidates[candidate].place].conflicts;
}

/* The candidate of this key with the lowest bound; the count if none is left. */
static size_t nearest(const struct search *search, uint64_t key)
{
    const struct ranked *ranked = search->ranked;
    size_t count = search->lookup->count, best = count;

    for (size_t i = 0; i < count; i++)
        if (ranked[i].key == key && ranked[i].bound < INFINITY &&
            (best == count || ranked[i].bound < ranked[best].bound ||
             (ranked[i].bound == ranked[best].bound &&
              conflicts_of(search, i) < conflicts_of(search, best))))
            best = i;
    return best;
}

static void take(const struct search *search, size_t index, const struct at_config *config,
                 const struct at_launch *launch, struct at_answer *answer)
{
    const struct at_candidate *candidate = &search->lookup->candidates[index];
    const struct at_place *place = &search->lookup->places[candidate->place];

    answer->tier = (enum at_tier)(search->ranked[index].key >> TIER_SHIFT);
    answer->config = *config;
    answer->launch = *launch;
    answer->path = place->path;
    answer->record = place->record;
    answer->entry = candidate->entry;
    answer->predicted = at_device_is_emulated(&place->record->device);
    answer->expected_of_copy_permille = candidate->entry->winner.of_copy_permille;
}

static void note_refusal(const struct search *search, size_t index, struct at_answer *answer)
{
    const struct at_candidate *candidate = &search->lookup->candidates[index];
    struct at_error err = {AT_OK, ""};

    if (search->ranked[index].key >> TIER_SHIFT != AT_TIER_EXACT)
        return;
    (void)at_config_require(&candidate->fit.config, search->query->problem, search->query->device,
                            NULL, &err);
    snprintf(answer->refused, sizeof answer->refused,
             "%s: the entry for this problem is not legal here: %.160s",
             search->lookup->places[candidate->place].path, err.message);
}

/* The nearest legal candidate of this key. What takes time is to ask a candidate's rules, so that
 * comes last: candidates are taken in the order of their bounds, and the search ends where none is
 * below what has been found. */
static bool take_nearest(const struct search *search, uint64_t key, struct at_answer *answer)
{
    const struct at_query *query = search->query;
    struct at_traits here = search->asked;
    double least = INFINITY;
    size_t next, conflicts = 0, count = search->lookup->count, found = count;

    while ((next = nearest(search, key)) < count && search->ranked[next].bound <= least) {
        const struct at_candidate *candidate = &search->lookup->candidates[next];
        double distance = search->ranked[next].bound;
        struct at_config config;
        struct at_launch launch;

        search->ranked[next].bound = INFINITY;
        if (!at_fit_try(&candidate->fit, query->problem, query->device,
                        search->standings[candidate->place].alike, &config, &launch)) {
            note_refusal(search, next, answer);
            continue;
        }
        at_traits_launch(&here, &launch);
        distance += at_distance_of_launches(&candidate->traits, &here);
        if (distance > least || (distance == least && conflicts_of(search, next) >= conflicts))
            continue;
        least = distance;
        conflicts = conflicts_of(search, next);
        found = next;
        take(search, next, &config, &launch, answer);
    }
    if (found == count)
        return false;
    at_traits_launch(&here, &answer->launch);
    answer->distance = at_distance_between(&search->lookup->candidates[found].traits, &here);
    return true;
}

/* The least key above `last`, whose candidates get their bounds; UINT64_MAX if there is none. */
static uint64_t next_key(const struct search *search, uint64_t last)
{
    const struct at_candidate *candidates = search->lookup->candidates;
    uint64_t key = UINT64_MAX;

    for (size_t i = 0; i < search->lookup->count; i++)
        if (search->ranked[i].key > last && search->ranked[i].key < key)
            key = search->ranked[i].key;
    for (size_t i = 0; i < search->lookup->count; i++)
        if (search->ranked[i].key == key)
            search->ranked[i].bound =
                at_distance_of_problems(&candidates[i].traits, &search->asked);
    return key;
}

bool at_nearest_find(const struct at_lookup *lookup, const struct at_query *query,
                     struct at_answer *answer)
{
    struct search search = {
        .lookup = lookup,
        .query = query,
        .standings = at_alloc_array(lookup->place_count, sizeof *search.standings),
        .ranked = at_alloc_array(lookup->count, sizeof *search.ranked),
        .asked = at_traits_of(query->problem, query->device->l2_bytes),
    };
    uint64_t key = 0; /* of a candidate that is better than any */
    bool found = false;

    for (size_t i = 0; i < lookup->place_count; i++)
        search.standings[i] = standing_of(&lookup->places[i], query);
    for (size_t i = 0; i < lookup->count; i++) {
        const struct at_candidate *candidate = &lookup->candidates[i];

        search.ranked[i].key =
            1 + key_of(candidate, &search.standings[candidate->place], query->problem);
    }
    while (!found && (key = next_key(&search, key)) < UINT64_MAX)
        found = take_nearest(&search, key, answer);
    free(search.ranked);
    free(search.standings);
    return found;
}
