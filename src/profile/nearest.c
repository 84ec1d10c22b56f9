/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/nearest.h"

#include "base/memory.h"
#include "profile/standing.h"

#include <math.h>
#include <stdlib.h>

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

struct search {
    const struct at_lookup *lookup;
    const struct at_query *query;
    struct at_fit_query *fits;
    struct at_traits asked;
    uint64_t identity; /* of the problem */
    int size;          /* the logarithm of its elements' bytes */
    size_t first_same; /* the first candidate of this very problem, or the count */
    enum at_tier tier; /* whose turn it is */
    double least;      /* distance of its candidates so far, and whose that is; INFINITY: none's */
    size_t found;
    /* The candidates whose turn it is, and that have not been looked at yet, with the bounds of
     * their distances from below. */
    size_t contender_count, *contenders;
    double *bounds;
    struct at_standing
        standings[]; /* of the places; behind them there is room for the contenders */
};

static const struct at_standing *standing_of_candidate(const struct search *search,
                                                       size_t candidate)
{
    return &search->standings[search->lookup->spots[candidate].place];
}

/* Is it of the very problem that is asked for? */
static bool is_same(const struct search *search, size_t candidate)
{
    return search->lookup->spots[candidate].identity == search->identity &&
           same_problem(&search->lookup->candidates[candidate].problem, search->query->problem);
}

static size_t find_first_same(const struct search *search)
{
    const struct at_lookup *lookup = search->lookup;

    for (size_t place = 0; place < lookup->place_count; place++) {
        const size_t *range = &lookup->places[place].of_size[search->size];

        for (size_t i = range[0]; i < range[1]; i++)
            if (lookup->spots[i].identity == search->identity && is_same(search, i))
                return i;
    }
    return lookup->count;
}

/* The least key from `least` on; UINT64_MAX if there is none. */
static uint64_t next_key(const struct search *search, uint64_t least)
{
    const struct at_lookup *lookup = search->lookup;
    uint64_t key = UINT64_MAX;

    for (size_t i = 0; i < lookup->place_count; i++)
        if (search->standings[i].key >= least && search->standings[i].key < key)
            key = search->standings[i].key;
    for (size_t i = search->first_same; i < lookup->count; i++)
        if (is_same(search, i)) {
            uint64_t same = at_standing_key_of_same(standing_of_candidate(search, i));

            if (same >= least && same < key)
                key = same;
        }
    return key;
}

/* Adds the candidates of a place, of one size of an element, that are of other problems and may be
 * legal. */
static void add_others(struct search *search, size_t place, int size)
{
    const size_t *range = &search->lookup->places[place].of_size[size];
    size_t *listed = search->contenders + search->contender_count, *kept = listed;
    size_t count = at_fit_list(search->fits, range[0], range[1] - range[0],
                               search->standings[place].alike, listed);

    for (size_t i = 0; i < count; i++)
        if (listed[i] < search->first_same || !is_same(search, listed[i]))
            *kept++ = listed[i];
    search->contender_count += (size_t)(kept - listed);
}

/* Adds those of this very problem, of which there is something to be said even if they are not
 * legal. */
static void add_same(struct search *search, uint64_t key)
{
    for (size_t i = search->first_same; i < search->lookup->count; i++)
        if (is_same(search, i) && at_standing_key_of_same(standing_of_candidate(search, i)) == key)
            search->contenders[search->contender_count++] = i;
}

/* Collects the candidates with this key and their bounds: those with elements of the size that is
 * asked for, or the others. */
static void collect(struct search *search, uint64_t key, bool other_sizes)
{
    const struct at_lookup *lookup = search->lookup;

    search->tier = at_standing_tier(key);
    search->contender_count = 0;
    for (size_t i = 0; i < lookup->place_count; i++)
        for (int size = 0; size < AT_ELEMENT_SIZES && search->standings[i].key == key; size++)
            if ((size != search->size) == other_sizes)
                add_others(search, i, size);
    if (!other_sizes)
        add_same(search, key);
    for (size_t i = 0; i < search->contender_count; i++)
        search->bounds[i] =
            at_distance_bound(&lookup->spots[search->contenders[i]].traits, &search->asked);
}

/* Of two contenders with the same bound, is the first to be looked at before the second? */
static bool is_before(const struct search *search, size_t first, size_t second)
{
    size_t a = standing_of_candidate(search, first)->conflicts;
    size_t b = standing_of_candidate(search, second)->conflicts;

    return a != b ? a < b : first < second;
}

/* Takes out the contender with the lowest bound, of equal ones that with the fewest conflicts.
 * There must be one. */
static size_t take_next(struct search *search, double *bound)
{
    size_t *contenders = search->contenders, best = 0, last = search->contender_count - 1, next;
    double *bounds = search->bounds;

    for (size_t i = 1; i <= last; i++)
        if (bounds[i] < bounds[best] ||
            (bounds[i] == bounds[best] && is_before(search, contenders[i], contenders[best])))
            best = i;
    next = contenders[best];
    *bound = bounds[best];
    contenders[best] = contenders[last];
    bounds[best] = bounds[last];
    search->contender_count = last;
    return next;
}

static void take(const struct search *search, size_t index, const struct at_config *config,
                 const struct at_launch *launch, const struct at_distance *distance,
                 struct at_answer *answer)
{
    const struct at_candidate *candidate = &search->lookup->candidates[index];
    const struct at_place *place = &search->lookup->places[search->lookup->spots[index].place];

    answer->tier = search->tier;
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
    struct at_error err = {AT_OK, ""};

    (void)at_config_require(at_fits_config(search->lookup->fits, index), search->query->problem,
                            search->query->device, NULL, &err);
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
                 search->lookup->candidates[index].entry->problem, distance,
                 at_distance_max(&search->asked));
}

/* The nearest legal candidate among those whose turn it is, unless what was found before is nearer.
 * What takes time is to ask a candidate's rules, so that comes last: candidates are taken in the
 * order of their bounds, and the search ends where none is below what has been found. Returns
 * whether anything has been found that is near enough. */
static bool take_nearest(struct search *search, struct at_answer *answer)
{
    struct at_traits here = search->asked;
    double most = at_distance_max(&search->asked);

    while (search->contender_count > 0) {
        double bound;
        size_t next = take_next(search, &bound);
        const struct at_standing *standing = standing_of_candidate(search, next);
        struct at_distance distance;
        struct at_config config;
        struct at_launch launch;

        if (bound > search->least)
            break;
        if (!at_fit_try(search->fits, next, standing->alike, &config, &launch)) {
            if (search->tier == AT_TIER_EXACT)
                note_refusal(search, next, answer);
            continue;
        }
        at_traits_launch(&here, &launch);
        distance = at_distance_between(&search->lookup->spots[next].traits, &here);
        if (distance.total > search->least ||
            (distance.total == search->least &&
             standing->conflicts >= standing_of_candidate(search, search->found)->conflicts))
            continue;
        search->least = distance.total;
        search->found = next;
        if (distance.total <= most)
            take(search, next, &config, &launch, &distance, answer);
    }
    return search->least < INFINITY && search->least <= most;
}

/* The nearest with this key. */
static bool find_with_key(struct search *search, uint64_t key, struct at_answer *answer)
{
    search->least = INFINITY;
    collect(search, key, false);
    /* Mostly this is the end, for most candidates have elements of other sizes. */
    if (take_nearest(search, answer) && search->least <= at_distance_other_elements)
        return true;
    collect(search, key, true);
    if (take_nearest(search, answer))
        return true;
    if (search->least < INFINITY)
        note_distance(search, search->found, search->least, answer);
    return false;
}

static struct search *begin(const struct at_lookup *lookup, const struct at_query *query)
{
    size_t size = sizeof(struct search) + lookup->place_count * sizeof(struct at_standing);
    struct search *search =
        at_alloc(size + lookup->count * (sizeof *search->contenders + sizeof *search->bounds));

    search->lookup = lookup;
    search->query = query;
    search->fits = at_fit_query_new(lookup->fits, query->problem, query->device);
    search->asked = at_traits_of(query->problem, query->device);
    search->identity = at_nearest_identity(query->problem);
    search->size = __builtin_ctzll((unsigned long long)query->problem->elem_size);
    search->first_same = find_first_same(search);
    search->contenders = (size_t *)((char *)search + size);
    search->bounds = (double *)(search->contenders + lookup->count);
    for (size_t i = 0; i < lookup->place_count; i++)
        search->standings[i] = at_standing_of(&lookup->places[i], query);
    return search;
}

bool at_nearest_find(const struct at_lookup *lookup, const struct at_query *query,
                     struct at_answer *answer)
{
    struct search *search = begin(lookup, query);
    uint64_t key = 0;
    bool found = false;

    for (; !found && (key = next_key(search, key)) < UINT64_MAX; key++)
        found = find_with_key(search, key, answer);
    at_fit_query_free(search->fits);
    free(search);
    return found;
}
