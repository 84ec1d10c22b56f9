/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/nearest.h"

#include "base/hash.h"
#include "base/memory.h"
#include "device/relation.h"
#include "lookup/facts.h"

#include <math.h>
#include <string.h>

/* ---- ranks: candidates with a lower rank go first, whatever their distance ---- */

/* Fields of a rank, the last to decide first. */
enum { OTHER_PROBLEM_SHIFT, POLICY_SHIFT, PREDICTED_SHIFT, GAP_SHIFT, TIER_SHIFT = 32 };

static enum at_tier tier_of(enum at_relation relation, bool same_problem)
{
    switch (relation) {
    case AT_SAME_DEVICE:
        return same_problem ? AT_TIER_EXACT : AT_TIER_SHAPE;
    case AT_SAME_CHIP:
        return AT_TIER_CHIP;
    case AT_SAME_ARCHITECTURE:
        return AT_TIER_ARCHITECTURE;
    default:
        return AT_TIER_OTHER;
    }
}

static uint64_t rank_of(const struct at_place *place, const struct at_query *query,
                        bool same_problem)
{
    const struct at_device_info *home = &place->record->device;
    enum at_tier tier = tier_of(at_device_relation(home, query->device), same_problem);
    uint64_t gap = (uint64_t)at_architecture_gap(home, query->device) & 0xffffff;
    uint64_t predicted = place->emulated;
    uint64_t other_policy = strcmp(place->record->policy.name, query->policy) != 0;
    uint64_t other_problem = !same_problem;

    return (uint64_t)tier << TIER_SHIFT | gap << GAP_SHIFT | predicted << PREDICTED_SHIFT |
           other_policy << POLICY_SHIFT | other_problem << OTHER_PROBLEM_SHIFT;
}

/* ---- the search ---- */

/* A candidate on the problem that is asked for. */
struct fit {
    const struct at_candidate *candidate;
    float distance; /* INFINITY: there is no candidate yet */
    struct at_config config;
    struct at_launch launch;
};

struct search {
    const struct at_lookup *lookup;
    const struct at_query *query;
    struct at_traits asked; /* with the launch of the last config that was tried */
    uint64_t *ranks; /* by place: of a candidate for the problem itself, if any, and of others */
    size_t first,
        last;      /* candidates from first to last - 1 are seen: those with the nearest keys */
    float *bounds; /* of their distances; NAN: tried; those of others are not set */
    uint64_t rank; /* of the candidates that are searched now */
    struct fit nearest; /* of them */
};

/* The bound of a candidate for the problem itself. */
static const float same_problem = -1;

static enum at_tier tier_of_search(const struct search *search)
{
    return (enum at_tier)(search->rank >> TIER_SHIFT);
}

/* Go to the lowest rank from `least` on. False if there is none. */
static bool next_rank(struct search *search, uint64_t least)
{
    search->rank = UINT64_MAX;
    for (size_t i = 0; i < 2 * search->lookup->place_count; i++)
        if (search->ranks[i] >= least && search->ranks[i] < search->rank)
            search->rank = search->ranks[i];
    return search->rank < UINT64_MAX;
}

static void take(struct search *search, struct at_answer *answer)
{
    const struct fit *nearest = &search->nearest;
    const struct at_candidate *candidate = nearest->candidate;
    const struct at_place *place = &search->lookup->places[candidate->place];

    answer->tier = tier_of_search(search);
    answer->config = nearest->config;
    answer->launch = nearest->launch;
    answer->path = place->path;
    answer->record = place->record;
    answer->entry = candidate->entry;
    at_traits_launch(&search->asked, search->query->problem, &nearest->launch);
    answer->distance = at_distance_between(&candidate->traits, &search->asked);
    answer->predicted = place->emulated;
    answer->expected_of_copy_permille = candidate->entry->winner.of_copy_permille;
}

static void note_refusal(const struct search *search, const struct at_candidate *candidate,
                         struct at_answer *answer)
{
    struct at_error err = {AT_OK, ""};

    (void)at_config_require(&candidate->config, search->query->problem, search->query->device, NULL,
                            &err);
    snprintf(answer->refused, sizeof answer->refused,
             "%s: the entry for this problem is not legal here: %.160s",
             search->lookup->places[candidate->place].path, err.message);
}

static void note_distance(const struct search *search, struct at_answer *answer)
{
    if (!answer->refused[0])
        snprintf(answer->refused, sizeof answer->refused,
                 "the nearest entry, %.120s, is too far: its distance is %.0f, and from %.0f on "
                 "the default config is safer",
                 search->nearest.candidate->entry->problem, search->nearest.distance,
                 at_distance_trusted(&search->asked));
}

static size_t conflicts_of(const struct search *search, const struct at_candidate *candidate)
{
    return at_facts_conflicts(search->query->environment,
                              &search->lookup->places[candidate->place].record->environment);
}

static bool is_before(const struct at_candidate *a, const struct at_candidate *b)
{
    return a->place != b->place ? a->place < b->place : a->entry < b->entry;
}

/* At the same distance the candidate with fewer conflicts is nearer, and then the earlier one. */
static bool is_nearer(const struct search *search, const struct fit *fit)
{
    size_t conflicts, nearest_conflicts;

    if (fit->distance != search->nearest.distance || fit->distance == INFINITY)
        return fit->distance < search->nearest.distance;
    conflicts = conflicts_of(search, fit->candidate);
    nearest_conflicts = conflicts_of(search, search->nearest.candidate);
    return conflicts != nearest_conflicts ? conflicts < nearest_conflicts
                                          : is_before(fit->candidate, search->nearest.candidate);
}

/* Try the candidate on the problem that is asked for. */
static void try_candidate(struct search *search, size_t number, struct at_answer *answer)
{
    const struct at_candidate *candidate = &search->lookup->candidates[number];
    struct fit fit = {candidate, INFINITY, candidate->config, {{0}}};

    search->bounds[number] = NAN;
    if (!at_config_adapt(&fit.config, search->query->problem, search->query->device, &fit.launch)) {
        if (tier_of_search(search) == AT_TIER_EXACT)
            note_refusal(search, candidate, answer);
        return;
    }
    at_traits_launch(&search->asked, search->query->problem, &fit.launch);
    fit.distance = at_distance_total(&candidate->traits, &search->asked);
    if (is_nearer(search, &fit))
        search->nearest = fit;
}

/* Return a lower bound of the distances of a candidate and of those beyond it. */
static float gap(const struct search *search, size_t number)
{
    const float rounding = 0.01F;

    if (number >= search->lookup->count)
        return INFINITY;
    return fabsf(search->lookup->candidates[number].traits.key - search->asked.key) - rounding;
}

/* Return the candidate with the nearest key of those that are not seen, or lookup->count. */
static size_t next_candidate(const struct search *search)
{
    size_t below = search->first - 1, above = search->last; /* 0 - 1 is no candidate's number */

    return gap(search, below) < gap(search, above) ? below : above;
}

static void see_candidate(struct search *search, size_t number)
{
    const struct at_candidate *candidate = &search->lookup->candidates[number];

    search->first -= number < search->first;
    search->last += number == search->last;
    search->bounds[number] = at_distance_bound(&candidate->traits, &search->asked);
    /* Most differ in their elements, and these were just read. */
    if (candidate->traits.elements == search->asked.elements &&
        at_problem_equal(&candidate->problem, search->query->problem)) {
        search->bounds[number] = same_problem;
        search->ranks[2 * candidate->place] =
            rank_of(&search->lookup->places[candidate->place], search->query, true);
    }
}

/* Whether the candidate has the rank, and a lower bound than the best so far. */
static bool is_better(const struct search *search, size_t number, size_t best)
{
    const float *bounds = search->bounds;
    bool lower = best < search->lookup->count ? bounds[number] < bounds[best]
                                              : bounds[number] <= search->nearest.distance;

    /* Few get here: the candidate itself is far from the caches. */
    return lower && search->ranks[2 * search->lookup->candidates[number].place +
                                  (bounds[number] != same_problem)] == search->rank;
}

/* Find the candidate of this rank with the least bound that is no greater than the nearest
 * distance. Returns lookup->count if there is none. */
static size_t find_least(struct search *search)
{
    const size_t count = search->lookup->count;
    size_t best = count, next;

    for (size_t i = search->first; i < search->last; i++)
        if (is_better(search, i, best))
            best = i;
    while ((next = next_candidate(search)) < count &&
           gap(search, next) <= (best < count ? search->bounds[best] : search->nearest.distance)) {
        see_candidate(search, next);
        if (is_better(search, next, best))
            best = next;
    }
    return best;
}

static size_t find_key(const struct at_lookup *lookup, float key)
{
    size_t from = 0, to = lookup->count;

    while (from < to) {
        size_t middle = (from + to) / 2;

        if (lookup->candidates[middle].traits.key < key)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct search begin(const struct at_lookup *lookup, const struct at_query *query)
{
    struct search search = {
        .lookup = lookup,
        .query = query,
        .asked = at_traits_of(query->problem, query->device),
        .ranks = at_alloc_array(2 * lookup->place_count, sizeof *search.ranks),
        .bounds = at_alloc_raw(lookup->count * sizeof *search.bounds),
    };

    for (size_t i = 0; i < lookup->place_count; i++) {
        search.ranks[2 * i] = UINT64_MAX;
        search.ranks[2 * i + 1] = rank_of(&lookup->places[i], query, false);
    }
    search.first = search.last = find_key(lookup, search.asked.key);
    /* Candidates for the problem itself have the same key. */
    while (gap(&search, next_candidate(&search)) <= 0)
        see_candidate(&search, next_candidate(&search));
    return search;
}

/* Find the nearest legal candidate of this rank. Returns whether it is near enough. */
static bool find_with_rank(struct search *search, struct at_answer *answer)
{
    size_t number;

    search->nearest.distance = INFINITY;
    /* Those with the least bounds first: their distances make it needless to try most others. A
     * bound takes nanoseconds, and a config's rules up to a microsecond. */
    while ((number = find_least(search)) < search->lookup->count)
        try_candidate(search, number, answer);
    if (search->nearest.distance == INFINITY)
        return false;
    if (search->nearest.distance > at_distance_trusted(&search->asked)) {
        note_distance(search, answer);
        return false;
    }
    take(search, answer);
    return true;
}

bool at_nearest_find(const struct at_lookup *lookup, const struct at_query *query,
                     struct at_answer *answer)
{
    struct search search = begin(lookup, query);
    bool found = false;

    for (uint64_t rank = 0; !found && next_rank(&search, rank); rank = search.rank + 1)
        found = find_with_rank(&search, answer);
    at_free(search.bounds);
    at_free(search.ranks);
    return found;
}
