/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/nearest.h"

#include "base/memory.h"
#include "device/relation.h"
#include "lookup/facts.h"
#include "space/space.h"

#include <math.h>
#include <string.h>

/* ---- configs ---- */

/* A bit for the sizes of elements, which are powers of two up to 16, on both sides. */
static uint32_t bit_of_sizes(const struct at_problem *problem)
{
    return UINT32_C(1) << (5 * __builtin_ctzll((uint64_t)problem->elem_size) +
                           __builtin_ctzll(
                               (uint64_t)at_problem_elem_size(problem, AT_DESTINATION)));
}

bool at_known_holds(struct at_known *known, const struct at_problem *problem)
{
    uint32_t bit = bit_of_sizes(problem);

    if (!((known->held | known->broken) & bit)) {
        if (at_config_require_inherent(&known->config, problem, NULL) == AT_OK)
            known->held |= bit;
        else
            known->broken |= bit;
    }
    return known->held & bit;
}

bool at_known_fit(const struct at_lookup *lookup, uint32_t number, struct at_point *point,
                  struct at_option *option)
{
    struct at_known *known = &lookup->configs[number];

    option->config = known->config;
    return at_known_holds(known, point->problem) &&
           at_config_adapt(&option->config, point, &option->launch);
}

enum at_status at_default_find(const struct at_lookup *lookup, const struct at_query *query,
                               struct at_option *option, struct at_error *err)
{
    struct at_option found = {.candidate = NULL};
    enum at_status status = at_space_default(&found.config, lookup->families, lookup->family_count,
                                             query->problem, query->device, err);

    if (status == AT_OK)
        status = at_config_launch(&found.config, query->problem, query->device, &found.launch, err);
    if (status == AT_OK)
        *option = found;
    return status;
}

size_t at_known_predict(const struct at_lookup *lookup, struct at_slowdown_asked *asked,
                        const bool *considered, float *predictions)
{
    struct at_shortlist shortlist = {.count = 0};
    struct at_option option;
    size_t estimated = 0;

    for (uint32_t i = 0; i < lookup->config_count; i++) {
        predictions[i] = INFINITY;
        if (considered[i] && at_known_fit(lookup, i, &asked->point, &option))
            predictions[i] =
                at_slowdown_estimate(lookup->slowdown, asked, &option.config, &option.launch);
        if (predictions[i] == INFINITY)
            continue;
        estimated++;
        at_shortlist_add(&shortlist, predictions[i]);
    }
    for (uint32_t i = 0; i < lookup->config_count; i++)
        predictions[i] =
            at_shortlist_has(&shortlist, predictions[i]) &&
                    at_known_fit(lookup, i, &asked->point, &option)
                ? at_slowdown_predict(lookup->slowdown, asked, &option.config, &option.launch)
                : INFINITY;
    return estimated;
}

/* ---- ranks ---- */

/* Candidates with a lower rank go first, whatever their distance.
 *
 * What was tuned on this model and on another one with the same multiprocessors has one rank: a few
 * entries of one's own must not hide thousands of the other. Those count as somewhat farther. */

/* Fields of a rank, the last to decide first. */
enum { OTHER_PROBLEM_SHIFT, POLICY_SHIFT, PREDICTED_SHIFT, GAP_SHIFT, TIER_SHIFT = 32 };

static enum at_tier tier_of(const struct at_device_info *tuned, const struct at_device_info *device,
                            bool same_problem)
{
    switch (at_device_relation(tuned, device)) {
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

void at_option_take(const struct at_lookup *lookup, const struct at_query *query,
                    struct at_traits *asked, const struct at_option *option, bool same_problem,
                    struct at_answer *answer)
{
    const struct at_candidate *candidate = option->candidate;
    const struct at_place *place = candidate ? &lookup->places[candidate->place] : NULL;

    answer->config = option->config;
    answer->launch = option->launch;
    answer->tier = AT_TIER_DEFAULT;
    if (!candidate)
        return;
    answer->tier = tier_of(&place->record->device, query->device, same_problem);
    answer->path = place->path;
    answer->record = place->record;
    answer->tuned_problem = candidate->problem;
    answer->entry = candidate->entry;
    at_traits_launch(asked, query->problem, &option->launch);
    answer->distance = at_distance_between(&candidate->traits, asked);
    answer->predicted = place->emulated;
    answer->expected_of_copy_permille = candidate->of_copy_permille;
}

/* The rank of what a profile has of a device, for a query: of an entry for the very problem, or of
 * entries of others. Emulated devices have predictions. */
static uint64_t rank_of(const struct at_place *place, const struct at_query *query,
                        bool same_problem)
{
    const struct at_device_record *record = place->record;
    enum at_tier tier = tier_of(&record->device, query->device, same_problem);
    bool together = tier == AT_TIER_CHIP && !query->strict; /* with the entries of this model */
    uint64_t gap = (uint64_t)at_architecture_gap(&record->device, query->device) & 0xffffff;
    uint64_t other_policy = strcmp(record->policy.name, query->policy) != 0;

    return (uint64_t)(together ? AT_TIER_SHAPE : tier) << TIER_SHIFT | gap << GAP_SHIFT |
           (uint64_t)place->emulated << PREDICTED_SHIFT | other_policy << POLICY_SHIFT |
           (uint64_t)(together || !same_problem) << OTHER_PROBLEM_SHIFT;
}

/* By how much entries of this device count as farther than equal ones of the query's. Between an
 * H100 and an H200 anything up to 32 serves about as well (doc/lab/lookup.md). */
static float premium_of(const struct at_device_record *record, const struct at_query *query)
{
    return at_device_relation(&record->device, query->device) == AT_SAME_CHIP ? 16 : 0;
}

/* By how much an entry without a step counts as farther, for a problem with one. */
static const float step_gap = 32;

static float gap_between(const struct at_candidate *candidate, const struct at_query *query)
{
    return query->problem->step.given && !candidate->has_step ? step_gap : 0;
}

/* From this distance on a prediction chooses better than the nearest entry. The networks have
 * learnt nothing of steps: on 40 problems drawn by a seed entries within 48 lost 17 % in the 95th
 * percentile, within 16 they lost 25, and within 100 more in the median. */
static float far_from(const struct at_query *query)
{
    return at_distance_far + (query->problem->step.given ? step_gap : 0);
}

static bool is_exact(uint64_t rank)
{
    return rank >> TIER_SHIFT == AT_TIER_EXACT;
}

static bool is_of_others(uint64_t rank)
{
    return rank >> OTHER_PROBLEM_SHIFT & 1;
}

/* ---- the search ---- */

/* A candidate on the problem that is asked for. */
struct fit {
    struct at_option option;
    float order; /* of the nearest it is least */
    float distance;
};

/* What decides between the candidates of a place. */
struct order_of_place {
    uint64_t same, others; /* ranks: of a candidate for the problem itself, if any, and of others */
    float premium;         /* what its candidates are farther than those of other places */
};

struct search {
    const struct at_lookup *lookup;
    const struct at_query *query;
    struct at_point point;  /* of the query, at the last config that was tried */
    struct at_traits asked; /* with the launch of the last config that was tried */
    struct order_of_place *places;
    uint64_t rank;                    /* of the candidates that are searched now */
    const struct at_candidate **same; /* of the problem itself */
    size_t same_count, same_capacity;
    struct fit nearest; /* of this rank, once it has an order below INFINITY */
};

/* What rounding may add to the difference of keys. */
static const float rounding = 0.01F;

/* Go to the lowest rank from `least` on. False if there is none. */
static bool next_rank(struct search *search, uint64_t least)
{
    search->rank = UINT64_MAX;
    for (size_t i = 0; i < search->lookup->place_count; i++) {
        const uint64_t ranks[] = {search->places[i].same, search->places[i].others};

        for (size_t j = 0; j < AT_COUNT(ranks); j++)
            if (ranks[j] >= least && ranks[j] < search->rank)
                search->rank = ranks[j];
    }
    return search->rank < UINT64_MAX;
}

static bool is_same_problem(const struct search *search, const struct at_candidate *candidate)
{
    size_t i = 0;

    while (i < search->same_count && search->same[i] != candidate)
        i++;
    return i < search->same_count;
}

static void take(struct search *search, const struct at_option *option, struct at_answer *answer)
{
    const struct fit *nearest = &search->nearest;

    at_option_take(search->lookup, search->query, &search->asked, option,
                   option->candidate && is_same_problem(search, option->candidate), answer);
    if (!option->candidate && !answer->refused[0])
        snprintf(answer->refused, sizeof answer->refused,
                 "the nearest entry, %.120s, is far or poor: its distance is %.0f, its share of "
                 "the copy limit %.1f %%",
                 nearest->option.candidate->problem, nearest->distance,
                 (double)nearest->option.candidate->of_copy_permille / 10);
}

static void note_refusal(const struct search *search, const struct at_candidate *candidate,
                         struct at_answer *answer)
{
    struct at_error err = {AT_OK, ""};

    (void)at_config_require(&search->lookup->configs[candidate->config].config,
                            search->query->problem, search->query->device, NULL, &err);
    snprintf(answer->refused, sizeof answer->refused,
             "%s: the entry for this problem is not legal here: %.160s",
             search->lookup->places[candidate->place].path, err.message);
}

static size_t conflicts_of(const struct search *search, const struct at_candidate *candidate)
{
    return at_facts_conflicts(search->query->environment,
                              &search->lookup->places[candidate->place].record->environment);
}

/* At the same order the candidate with fewer conflicts is nearer, and then the earlier one. */
static bool is_nearest(const struct search *search, const struct fit *fit)
{
    const struct fit *other = &search->nearest;
    size_t conflicts, others;

    if (fit->order != other->order)
        return fit->order < other->order;
    conflicts = conflicts_of(search, fit->option.candidate);
    others = conflicts_of(search, other->option.candidate);
    return conflicts != others ? conflicts < others
                               : fit->option.candidate->number < other->option.candidate->number;
}

/* Return the distance of a candidate whose launch for the problem is noted. */
static float distance_of(const struct search *search, const struct at_candidate *candidate)
{
    return at_distance_total(&candidate->traits, &search->asked) +
           gap_between(candidate, search->query);
}

/* Return the order of a candidate for another problem, at this distance. */
static float order_at(const struct search *search, const struct at_candidate *candidate,
                      float distance)
{
    return distance + candidate->of_share + search->places[candidate->place].premium;
}

/* Try the candidate on the problem that is asked for. */
static void try_candidate(struct search *search, const struct at_candidate *candidate,
                          struct at_answer *answer)
{
    struct fit fit = {.option.candidate = candidate};

    if (!at_known_fit(search->lookup, candidate->config, &search->point, &fit.option)) {
        if (is_exact(search->rank))
            note_refusal(search, candidate, answer);
        return;
    }
    at_traits_launch(&search->asked, search->query->problem, &fit.option.launch);
    fit.distance = distance_of(search, candidate);
    /* An entry of the problem itself is no neighbour: its share says nothing against it. */
    fit.order = fit.distance + (is_same_problem(search, candidate) ? 0 : candidate->of_share) +
                search->places[candidate->place].premium;
    if (is_nearest(search, &fit))
        search->nearest = fit;
}

/* Return the number of the first candidate with such a key or a greater one. */
static size_t first_from(const struct at_lookup *lookup, float key)
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

/* Find the candidates for the problem itself, and their ranks. Reading a candidate's problem takes
 * a tenth of a lookup, so it is done once. */
static void find_same_problems(struct search *search)
{
    const struct at_lookup *lookup = search->lookup;

    for (size_t i = first_from(lookup, search->asked.key);
         i < lookup->count && lookup->candidates[i].traits.key == search->asked.key; i++) {
        const struct at_candidate *candidate = &lookup->candidates[i];
        struct at_problem problem;

        if (at_problem_parse(&problem, candidate->problem, NULL) != AT_OK ||
            !at_problem_equal(&problem, search->query->problem))
            continue;
        AT_PUSH(search->same, search->same_count, search->same_capacity, candidate);
        search->places[candidate->place].same =
            rank_of(&lookup->places[candidate->place], search->query, true);
    }
}

static struct search begin(const struct at_lookup *lookup, const struct at_query *query)
{
    struct search search = {
        .lookup = lookup,
        .query = query,
        .point = at_point_make(NULL, query->problem, query->device),
        .asked = at_traits_of(query->problem, query->device),
        .places = at_alloc_array(lookup->place_count, sizeof *search.places),
    };

    for (size_t i = 0; i < lookup->place_count; i++)
        search.places[i] = (struct order_of_place){
            .same = UINT64_MAX,
            .others = rank_of(&lookup->places[i], query, false),
            .premium = premium_of(lookup->places[i].record, query),
        };
    find_same_problems(&search);
    return search;
}

/* Candidates around the problem's key. */
struct walk {
    size_t below, above; /* the next ones: the one before `below`, and `above` */
};

static struct walk begin_walk(const struct search *search)
{
    size_t start = first_from(search->lookup, search->asked.key);

    return (struct walk){start, start};
}

/* Return the next candidate in either direction. NULL: keys alone say that no order of the others
 * is below `most`. */
static const struct at_candidate *next_by_key(const struct search *search, struct walk *walk,
                                              float most)
{
    const struct at_lookup *lookup = search->lookup;
    const struct at_candidate *candidates = lookup->candidates;
    float key = search->asked.key;
    float down = walk->below > 0 ? key - candidates[walk->below - 1].traits.key : INFINITY;
    float up = walk->above < lookup->count ? candidates[walk->above].traits.key - key : INFINITY;

    if (walk->below == 0 && walk->above == lookup->count)
        return NULL;
    if (fminf(down, up) > most + rounding)
        return NULL;
    return &candidates[down < up ? --walk->below : walk->above++];
}

/* Has it the rank that is searched, and a config that may serve? */
static bool is_considered(const struct search *search, const struct at_candidate *candidate)
{
    return search->places[candidate->place].others == search->rank &&
           at_candidate_serves(candidate, search->query->problem);
}

/* A candidate for the problem itself is tried before. */
static bool is_searched(const struct search *search, const struct at_candidate *candidate)
{
    return is_considered(search, candidate) && !is_same_problem(search, candidate);
}

/* Return a lower bound of a candidate's order. It takes nanoseconds, and a config's rules up to a
 * microsecond. */
static float bound_of(const struct search *search, const struct at_candidate *candidate)
{
    return order_at(search, candidate,
                    at_distance_bound(&candidate->traits, &search->asked) +
                        gap_between(candidate, search->query));
}

/* Return the candidate with the least bound; NULL if none is below the nearest's order. */
static const struct at_candidate *most_promising(const struct search *search)
{
    const struct at_candidate *promising = NULL, *candidate;
    float least = search->nearest.order;
    struct walk walk = begin_walk(search);

    while ((candidate = next_by_key(search, &walk, least))) {
        float bound = is_searched(search, candidate) ? bound_of(search, candidate) : INFINITY;

        if (bound < least) {
            least = bound;
            promising = candidate;
        }
    }
    return promising;
}

/* Try all candidates that may be the nearest. The most promising one goes first, so that few others
 * may be nearer. */
static void try_others(struct search *search, struct at_answer *answer)
{
    const struct at_candidate *promising = most_promising(search), *candidate;
    struct walk walk = begin_walk(search);

    if (promising)
        try_candidate(search, promising, answer);
    while ((candidate = next_by_key(search, &walk, search->nearest.order)))
        if (candidate != promising && is_searched(search, candidate) &&
            bound_of(search, candidate) <= search->nearest.order)
            try_candidate(search, candidate, answer);
}

static void try_same_problems(struct search *search, struct at_answer *answer)
{
    for (size_t i = 0; i < search->same_count; i++)
        if (search->places[search->same[i]->place].same == search->rank)
            try_candidate(search, search->same[i], answer);
}

/* Is the nearest to be taken? Not if it is far, or poor and not very near. But the networks do not
 * know all families and problems. */
static bool is_nearest_best(const struct search *search)
{
    const struct fit *nearest = &search->nearest;

    return is_same_problem(search, nearest->option.candidate) ||
           nearest->distance + nearest->option.candidate->of_share < far_from(search->query) ||
           !at_slowdown_knows(search->lookup->slowdown, search->query->problem,
                              nearest->option.config.family);
}

/* ---- the choice by prediction ---- */

struct choosing {
    struct search *search;
    struct at_slowdown_asked asked;
    float *predictions; /* by a config's number; INFINITY: it is left out */
    float least;        /* prediction */
    size_t of;          /* configs that are compared */
};

static void predict(struct choosing *choosing)
{
    const struct at_lookup *lookup = choosing->search->lookup;
    bool *considered = at_alloc_array(lookup->config_count, sizeof *considered);

    for (size_t i = 0; i < lookup->count; i++)
        if (is_considered(choosing->search, &lookup->candidates[i]))
            considered[lookup->candidates[i].config] = true;
    choosing->of = at_known_predict(lookup, &choosing->asked, considered, choosing->predictions);
    for (size_t i = 0; i < lookup->config_count; i++)
        choosing->least = fminf(choosing->least, choosing->predictions[i]);
    at_free(considered);
}

/* Configs whose predictions differ by no more than this count as equally fast. */
static const float equally_fast = 0.005F;

/* The default config is taken if it is predicted to be slower by no more than this. A profile must
 * not make a program slower. */
static const float default_slower = 0.02F;

/* Of the fastest configs, find the one with the nearest entry. */
static struct at_option nearest_of_fastest(struct choosing *choosing)
{
    struct search *search = choosing->search;
    const struct at_lookup *lookup = search->lookup;
    struct at_option nearest = {.candidate = NULL};
    float least = INFINITY;

    for (size_t i = 0; i < lookup->count; i++) {
        const struct at_candidate *candidate = &lookup->candidates[i];
        struct at_option option = {.candidate = candidate};
        float order;

        if (choosing->predictions[candidate->config] > choosing->least + equally_fast ||
            !is_considered(search, candidate) ||
            !at_known_fit(lookup, candidate->config, &choosing->asked.point, &option))
            continue;
        at_traits_launch(&search->asked, search->query->problem, &option.launch);
        order = order_at(search, candidate, distance_of(search, candidate));
        if (order < least || (order == least && candidate->number < nearest.candidate->number)) {
            least = order;
            nearest = option;
        }
    }
    return nearest;
}

/* Find the default config if it is hardly slower than the fastest. */
static bool find_fast_default(struct choosing *choosing, struct at_option *usual)
{
    const struct at_lookup *lookup = choosing->search->lookup;

    if (at_default_find(lookup, choosing->search->query, usual, NULL) != AT_OK)
        return false;
    choosing->of++;
    return at_slowdown_predict(lookup->slowdown, &choosing->asked, &usual->config,
                               &usual->launch) <= choosing->least + default_slower;
}

/* Answer with the default config, if it is predicted to be about as fast as the fastest; else with
 * the fastest. Some legal entry has to be of a family that the networks know. */
static void choose(struct search *search, struct at_answer *answer)
{
    const struct at_lookup *lookup = search->lookup;
    struct choosing choosing = {
        .search = search,
        .asked = at_slowdown_ask(lookup->slowdown, search->query->problem, search->query->device),
        .predictions = at_alloc_raw(lookup->config_count * sizeof *choosing.predictions),
        .least = INFINITY,
    };
    struct at_option option;

    predict(&choosing);
    if (!find_fast_default(&choosing, &option))
        option = nearest_of_fastest(&choosing);
    take(search, &option, answer);
    answer->predicted_of = choosing.of;
    at_free(choosing.predictions);
}

/* The networks have learnt nothing of copies. All of them are nearly as fast as the fastest. */
static bool take_default_copy(struct search *search, struct at_answer *answer)
{
    const struct at_problem *problem = search->query->problem, copy = at_problem_copy_of(problem);
    struct at_option usual;

    if (!at_problem_equal(problem, &copy) ||
        at_default_find(search->lookup, search->query, &usual, NULL) != AT_OK)
        return false;
    take(search, &usual, answer);
    return true;
}

/* ---- the answer ---- */

/* Find the answer among candidates of this rank: the nearest, or where that is far, by prediction.
 * Returns whether there is any. */
static bool find_with_rank(struct search *search, struct at_answer *answer)
{
    search->nearest = (struct fit){.order = INFINITY};
    try_same_problems(search, answer);
    if (is_of_others(search->rank))
        try_others(search, answer);
    if (search->nearest.order == INFINITY)
        return false;
    if (is_nearest_best(search))
        take(search, &search->nearest.option, answer);
    else if (!take_default_copy(search, answer))
        choose(search, answer);
    return true;
}

bool at_nearest_find(const struct at_lookup *lookup, const struct at_query *query,
                     struct at_answer *answer)
{
    struct search search = begin(lookup, query);
    bool found = false;

    for (uint64_t rank = 0; !found && next_rank(&search, rank); rank = search.rank + 1)
        found = find_with_rank(&search, answer);
    at_free(search.same);
    at_free(search.places);
    return found;
}
