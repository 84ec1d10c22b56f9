/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/nearest.h"

#include "base/hash.h"
#include "base/memory.h"
#include "lookup/facts.h"
#include "lookup/standing.h"

#include <math.h>

uint64_t at_nearest_identity(const struct at_problem *problem)
{
    const int64_t numbers[] = {problem->rows,       problem->cols,       problem->elem_size,
                               problem->ld_src,     problem->ld_dst,     problem->batch,
                               problem->stride_src, problem->stride_dst, problem->offset_src,
                               problem->offset_dst, problem->in_place};

    return at_hash64(numbers, sizeof numbers, 0);
}

struct search {
    const struct at_lookup *lookup;
    const struct at_query *query;
    struct at_fit_query *fits;
    struct at_traits asked; /* with the launch of the last config that was considered */
    uint64_t identity;      /* of the problem */
    int size;               /* the logarithm of its elements' bytes */
    size_t same_first;      /* where the candidates with this identity are, among the identified */
    size_t same_count;
    enum at_tier tier; /* whose turn it is */
    double least;      /* distance of its candidates so far, and whose that is; INFINITY: none's */
    size_t found;
    struct {
        struct at_config config;
        struct at_launch launch;
    } tried[2];
    int nearest;                    /* which of the two is the found one's */
    struct at_standing standings[]; /* of the kinds of places */
};

static const struct at_standing *standing_of_candidate(const struct search *search,
                                                       size_t candidate)
{
    return &search->standings[search->lookup->candidates[candidate].kind];
}

/* Is it of the very problem that is asked for? */
static bool is_same(const struct search *search, size_t candidate)
{
    const struct at_candidate *other = &search->lookup->candidates[candidate];

    return other->identity == search->identity &&
           at_problem_equal(&other->problem, search->query->problem);
}

static void find_same(struct search *search)
{
    const struct at_identified *identified = search->lookup->identified;
    size_t count = search->lookup->count, end;
    size_t first = search->lookup->identified_from[search->identity >> (64 - AT_IDENTITY_BITS)];

    while (first < count && identified[first].identity < search->identity)
        first++;
    for (end = first; end < count && identified[end].identity == search->identity;)
        end++;
    search->same_first = first;
    search->same_count = end - first;
}

/* The key of a candidate of this very problem, of those that may be; UINT64_MAX if this is not one.
 */
static uint64_t key_of_same(const struct search *search, size_t index)
{
    size_t candidate = search->lookup->identified[search->same_first + index].candidate;

    return is_same(search, candidate)
               ? at_standing_key_of_same(standing_of_candidate(search, candidate))
               : UINT64_MAX;
}

/* The least key from `least` on; UINT64_MAX if there is none. */
static uint64_t next_key(const struct search *search, uint64_t least)
{
    uint64_t next = UINT64_MAX;

    for (size_t i = 0; i < search->lookup->kind_count; i++)
        if (search->standings[i].key >= least && search->standings[i].key < next)
            next = search->standings[i].key;
    for (size_t i = 0; i < search->same_count; i++) {
        uint64_t key = key_of_same(search, i);

        if (key >= least && key < next)
            next = key;
    }
    return next;
}

static void take(struct search *search, struct at_answer *answer)
{
    const struct at_candidate *candidate = &search->lookup->candidates[search->found];
    const struct at_place *place = &search->lookup->places[candidate->place];

    answer->tier = search->tier;
    answer->config = search->tried[search->nearest].config;
    answer->launch = search->tried[search->nearest].launch;
    answer->path = place->path;
    answer->record = place->record;
    answer->entry = candidate->entry;
    at_traits_launch(&search->asked, &answer->launch);
    answer->distance = at_distance_between(&search->lookup->traits[search->found], &search->asked);
    answer->predicted = at_device_is_emulated(&place->record->device);
    answer->expected_of_copy_permille = candidate->entry->winner.of_copy_permille;
}

static void note_refusal(const struct search *search, size_t index, struct at_answer *answer)
{
    const struct at_candidate *candidate = &search->lookup->candidates[index];
    struct at_error err = {AT_OK, ""};

    (void)at_config_require(at_fits_config(search->lookup->fits, candidate->fit),
                            search->query->problem, search->query->device, NULL, &err);
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
                 search->lookup->candidates[search->found].entry->problem, search->least,
                 at_distance_max(&search->asked));
}

static size_t conflicts_of(const struct search *search, size_t candidate)
{
    const struct at_lookup *lookup = search->lookup;

    return at_facts_conflicts(
        search->query->environment,
        &lookup->places[lookup->candidates[candidate].place].record->environment);
}

/* Of two at the same distance that with the fewest conflicts is taken, and then the first. */
static bool is_nearer(const struct search *search, size_t candidate, double distance)
{
    size_t conflicts, found_conflicts;

    if (distance != search->least || distance == INFINITY)
        return distance < search->least;
    conflicts = conflicts_of(search, candidate);
    found_conflicts = conflicts_of(search, search->found);
    return conflicts != found_conflicts ? conflicts < found_conflicts
                                        : search->lookup->candidates[candidate].order <
                                              search->lookup->candidates[search->found].order;
}

/* Looks at a candidate. What takes time is to ask its rules, so that comes last. */
static void consider(struct search *search, size_t number, struct at_answer *answer)
{
    const struct at_candidate *candidate = &search->lookup->candidates[number];
    int spare = !search->nearest;
    struct at_launch *launch = &search->tried[spare].launch;
    double distance;

    if (!at_fit_try(search->fits, candidate->fit, search->standings[candidate->kind].alike,
                    &search->tried[spare].config, launch)) {
        if (search->tier == AT_TIER_EXACT)
            note_refusal(search, number, answer);
        return;
    }
    at_traits_launch(&search->asked, launch);
    distance = at_distance_total(&search->lookup->traits[number], &search->asked);
    if (!is_nearer(search, number, distance))
        return;
    search->least = distance;
    search->found = number;
    search->nearest = spare;
}

/* Those in a box that holds candidates, but for those of this very problem, whose turn is another:
 * in the order of their bounds, until none is below what has been found. */
static void search_candidates(struct search *search, const struct at_box *box,
                              struct at_answer *answer)
{
    double bounds[AT_BOX_CANDIDATES_MAX];
    size_t next;

    at_distance_bounds(search->lookup->traits + box->first, box->count, &search->asked, bounds);
    for (size_t i = 0; i < box->count && search->same_count > 0; i++)
        if (is_same(search, box->first + i))
            bounds[i] = INFINITY;
    for (;;) {
        next = 0;
        for (size_t i = 1; i < box->count; i++)
            next = bounds[i] < bounds[next] ? i : next;
        if (bounds[next] > search->least || bounds[next] == INFINITY)
            return;
        bounds[next] = INFINITY;
        consider(search, box->first + next, answer);
    }
}

/* The nearer half first: what is found there mostly makes it needless to open the other. */
static void search_box(struct search *search, size_t number, struct at_answer *answer)
{
    const struct at_box *boxes = search->lookup->boxes.items, *box = &boxes[number];
    double bounds[2];
    int nearer;

    if (!box->halves[0]) {
        search_candidates(search, box, answer);
        return;
    }
    for (int i = 0; i < 2; i++)
        bounds[i] = at_distance_bound_of_extent(&boxes[box->halves[i]].extent, &search->asked);
    nearer = bounds[1] < bounds[0];
    if (bounds[nearer] <= search->least)
        search_box(search, box->halves[nearer], answer);
    if (bounds[!nearer] <= search->least)
        search_box(search, box->halves[!nearer], answer);
}

/* Those of this very problem, of which there is something to be said even if they are not legal. */
static void search_same(struct search *search, uint64_t key, struct at_answer *answer)
{
    for (size_t i = 0; i < search->same_count; i++)
        if (key_of_same(search, i) == key)
            consider(search, search->lookup->identified[search->same_first + i].candidate, answer);
}

/* The nearest legal candidate with this key, unless what was found before is nearer: of those with
 * elements of the size that is asked for, or of the others. Returns whether anything has been found
 * that is near enough. */
static bool search_sizes(struct search *search, uint64_t key, bool other_sizes,
                         struct at_answer *answer)
{
    const struct at_lookup *lookup = search->lookup;

    search->tier = at_standing_tier(key);
    if (!other_sizes)
        search_same(search, key, answer);
    for (size_t i = 0; i < lookup->kind_count; i++)
        for (int size = 0; size < AT_ELEMENT_SIZES && search->standings[i].key == key; size++)
            if (lookup->kinds[i].has[size] && (size != search->size) == other_sizes)
                search_box(search, lookup->kinds[i].box_of[size], answer);
    return search->least < INFINITY && search->least <= at_distance_max(&search->asked);
}

/* The nearest with this key. */
static bool find_with_key(struct search *search, uint64_t key, struct at_answer *answer)
{
    search->least = INFINITY;
    /* Mostly this is the end, for most candidates have elements of other sizes. */
    if ((search_sizes(search, key, false, answer) && search->least <= at_distance_other_elements) ||
        search_sizes(search, key, true, answer)) {
        take(search, answer);
        return true;
    }
    if (search->least < INFINITY)
        note_distance(search, answer);
    return false;
}

static struct search *begin(const struct at_lookup *lookup, const struct at_query *query)
{
    struct search *search =
        at_alloc(sizeof *search + lookup->kind_count * sizeof *search->standings);

    search->lookup = lookup;
    search->query = query;
    search->fits = at_fit_query_new(lookup->fits, query->problem, query->device);
    search->asked = at_traits_of(query->problem, query->device);
    search->identity = at_nearest_identity(query->problem);
    search->size = __builtin_ctzll((unsigned long long)query->problem->elem_size);
    find_same(search);
    for (size_t i = 0; i < lookup->kind_count; i++)
        search->standings[i] = at_standing_of(&lookup->kinds[i], query);
    return search;
}

static void end(struct search *search)
{
    at_fit_query_free(search->fits);
    at_free(search);
}

bool at_nearest_find(const struct at_lookup *lookup, const struct at_query *query,
                     struct at_answer *answer)
{
    struct search *search = begin(lookup, query);
    uint64_t key = 0;
    bool found = false;

    for (; !found && (key = next_key(search, key)) < UINT64_MAX; key++)
        found = find_with_key(search, key, answer);
    end(search);
    return found;
}
