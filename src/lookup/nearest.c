/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/nearest.h"

#include "base/memory.h"
#include "lookup/choice.h"
#include "lookup/facts.h"
#include "lookup/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A candidate on the problem that is asked for. */
struct fit {
    struct at_option option;
    float order; /* of the nearest it is least */
    float distance;
};

/* A mark that is to be tried. */
struct open {
    float bound; /* of its order */
    uint32_t mark;
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
    uint64_t rank;               /* of the candidates that are searched now */
    const struct at_mark **same; /* of the problem itself */
    size_t same_count, same_capacity;
    struct at_group group; /* that is searched now */
    float group_gap;       /* what its elements add to each distance */
    struct open *open;     /* of its marks */
    size_t open_count, open_capacity;
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

static const struct at_candidate *candidate_of(const struct search *search,
                                               const struct at_mark *mark)
{
    return &search->lookup->candidates[mark->candidate];
}

static bool is_same_problem(const struct search *search, const struct at_mark *mark)
{
    size_t i = 0;

    while (i < search->same_count && search->same[i] != mark)
        i++;
    return i < search->same_count;
}

static void take(struct search *search, const struct at_option *option, struct at_answer *answer)
{
    const struct at_mark *mark = option->mark;
    const struct at_candidate *candidate = candidate_of(search, mark);
    const struct at_place *place = &search->lookup->places[mark->place];

    answer->tier =
        at_tier_of(&place->record->device, search->query->device, is_same_problem(search, mark));
    answer->config = option->config;
    answer->launch = option->launch;
    answer->path = place->path;
    answer->record = place->record;
    answer->tuned_problem = candidate->problem;
    answer->entry = candidate->entry;
    at_traits_launch(&search->asked, search->query->problem, &option->launch);
    answer->distance = at_distance_between(&mark->traits, &search->asked);
    answer->predicted = place->emulated;
    answer->expected_of_copy_permille = candidate->of_copy_permille;
}

static void take_default(const struct search *search, const struct at_option *usual,
                         struct at_answer *answer)
{
    const struct fit *nearest = &search->nearest;

    at_default_take(answer, usual);
    if (!answer->refused[0])
        snprintf(answer->refused, sizeof answer->refused,
                 "the nearest entry, %.120s, is far or poor: its distance is %.0f",
                 candidate_of(search, nearest->option.mark)->problem, nearest->distance);
}

static void note_refusal(const struct search *search, const struct at_mark *mark,
                         struct at_answer *answer)
{
    struct at_error err = {AT_OK, ""};

    (void)at_config_require(&search->lookup->configs[candidate_of(search, mark)->config].config,
                            search->query->problem, search->query->device, NULL, &err);
    snprintf(answer->refused, sizeof answer->refused,
             "%s: the entry for this problem is not legal here: %.160s",
             search->lookup->places[mark->place].path, err.message);
}

static size_t conflicts_of(const struct search *search, const struct at_mark *mark)
{
    return at_facts_conflicts(search->query->environment,
                              &search->lookup->places[mark->place].record->environment);
}

/* At the same order the candidate with fewer conflicts is nearer, and then the earlier one. */
static bool is_nearest(const struct search *search, const struct fit *fit)
{
    const struct fit *other = &search->nearest;
    size_t conflicts, others;

    if (fit->order != other->order)
        return fit->order < other->order;
    conflicts = conflicts_of(search, fit->option.mark);
    others = conflicts_of(search, other->option.mark);
    return conflicts != others ? conflicts < others
                               : fit->option.mark->candidate < other->option.mark->candidate;
}

/* Try the candidate on the problem that is asked for. */
static void try_candidate(struct search *search, const struct at_mark *mark,
                          struct at_answer *answer)
{
    struct fit fit = {.option.mark = mark};

    if (!at_known_fit(search->lookup, candidate_of(search, mark)->config, &search->point,
                      &fit.option)) {
        if (at_rank_tier(search->rank) == AT_TIER_EXACT)
            note_refusal(search, mark, answer);
        return;
    }
    at_traits_launch(&search->asked, search->query->problem, &fit.option.launch);
    fit.distance = at_distance_total(&mark->traits, &search->asked);
    /* An entry of the problem itself is no neighbour: its share says nothing against it. */
    fit.order = fit.distance + (is_same_problem(search, mark) ? 0 : mark->of_share) +
                search->places[mark->place].premium;
    if (is_nearest(search, &fit))
        search->nearest = fit;
}

static uint64_t rank_of(const struct search *search, const struct at_place *place,
                        bool same_problem)
{
    return at_rank_of(place->record, place->emulated, search->query, same_problem);
}

/* Return the number of the group's first mark with such a key or a greater one. */
static size_t first_from(const struct search *search, float key)
{
    const struct at_mark *marks = search->lookup->marks;
    size_t from = search->group.first, to = search->group.end;

    while (from < to) {
        size_t middle = (from + to) / 2;

        if (marks[middle].traits.key < key)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Set lower bounds, but for rounding, of the orders of a block's marks, less the group's gap. */
static void bound_block(const struct at_block *block, const struct at_traits *asked,
                        float bounds[AT_BLOCK_MARKS])
{
    for (int i = 0; i < AT_BLOCK_MARKS; i++)
        bounds[i] = block->of_share[i] + fabsf(block->keys[0][i] - asked->keys[0]) +
                    fabsf(block->keys[1][i] - asked->keys[1]) +
                    fabsf(block->keys[2][i] - asked->keys[2]) +
                    fabsf(block->keys[3][i] - asked->keys[3]);
    _Static_assert(AT_KEYS == 4, "all are compared");
}

/* Open the mark if its rank is searched and its bound is more than `inner` and at most `outer`. */
static void open_mark(struct search *search, size_t number, float inner, float outer)
{
    const struct at_mark *mark = &search->lookup->marks[number];
    float bound;

    if (number < search->group.first || number >= search->group.end ||
        search->places[mark->place].others != search->rank || is_same_problem(search, mark))
        return;
    bound = at_distance_bound(&mark->traits, &search->asked) + mark->of_share +
            search->places[mark->place].premium;
    if (bound > inner && bound <= outer)
        AT_PUSH(search->open, search->open_count, search->open_capacity,
                ((struct open){bound, (uint32_t)number}));
}

/* Open the marks of other problems between two bounds. Most others are told by their keys, which
 * takes a sixth of the time of the bound itself. */
static void open_ring(struct search *search, float inner, float outer)
{
    float reach = outer - search->group_gap + rounding;
    size_t first = first_from(search, search->asked.key - reach) / AT_BLOCK_MARKS;
    size_t end = first_from(search, search->asked.key + reach);

    search->open_count = 0;
    for (size_t block = first; block * AT_BLOCK_MARKS < end; block++) {
        float bounds[AT_BLOCK_MARKS];

        bound_block(&search->lookup->blocks[block], &search->asked, bounds);
        for (size_t i = 0; i < AT_BLOCK_MARKS; i++)
            if (bounds[i] <= reach)
                open_mark(search, block * AT_BLOCK_MARKS + i, inner, outer);
    }
}

static int by_bound(const void *left, const void *right)
{
    const struct open *a = left, *b = right;

    return a->bound != b->bound ? (a->bound > b->bound) - (a->bound < b->bound)
                                : (a->mark < b->mark) - (a->mark > b->mark);
}

/* Try the open marks, those with the least bounds first, up to the reach. */
static void try_ring(struct search *search, struct at_answer *answer)
{
    if (search->open_count > 1)
        qsort(search->open, search->open_count, sizeof *search->open, by_bound);
    for (size_t i = 0; i < search->open_count && search->open[i].bound <= search->nearest.order;
         i++)
        try_candidate(search, &search->lookup->marks[search->open[i].mark], answer);
}

static float gap_of_group(const struct search *search, const struct at_group *group)
{
    return at_distance_of_elements(&search->lookup->marks[group->first].traits, &search->asked);
}

static void enter(struct search *search, const struct at_group *group)
{
    search->group = *group;
    search->group_gap = gap_of_group(search, group);
}

/* Find the marks for the problem itself, and the ranks of their candidates. Reading a candidate's
 * problem takes a tenth of a lookup, so it is done once. */
static void find_same_problems(struct search *search)
{
    const struct at_mark *marks = search->lookup->marks;

    for (size_t i = first_from(search, search->asked.key);
         i < search->group.end && marks[i].traits.key <= search->asked.key; i++) {
        const struct at_mark *mark = &marks[i];
        struct at_problem problem;

        if (at_problem_parse(&problem, candidate_of(search, mark)->problem, NULL) != AT_OK ||
            !at_problem_equal(&problem, search->query->problem))
            continue;
        AT_PUSH(search->same, search->same_count, search->same_capacity, mark);
        search->places[mark->place].same =
            rank_of(search, &search->lookup->places[mark->place], true);
    }
}

static struct search begin(const struct at_lookup *lookup, const struct at_query *query)
{
    const size_t usual = 64; /* marks of a ring; malloc is quicker for little memory */
    struct search search = {
        .lookup = lookup,
        .query = query,
        .point = at_point_make(NULL, query->problem, query->device),
        .asked = at_traits_of(query->problem, query->device),
        .places = at_alloc_array(lookup->place_count, sizeof *search.places),
        .open = at_alloc_raw(usual * sizeof *search.open),
        .open_capacity = usual,
    };

    for (size_t i = 0; i < lookup->place_count; i++)
        search.places[i] = (struct order_of_place){
            .same = UINT64_MAX,
            .others = rank_of(&search, &lookup->places[i], false),
            .premium = at_rank_premium(lookup->places[i].record, query),
        };
    for (size_t i = 0; i < lookup->group_count; i++)
        if (gap_of_group(&search, &lookup->groups[i]) == 0) {
            enter(&search, &lookup->groups[i]);
            find_same_problems(&search);
        }
    return search;
}

/* Search a group, in rings around the problem until a ring has reached what is wanted. In each
 * those with the least bounds are tried first: their distances make it needless to try most others.
 * A bound takes nanoseconds, and a config's rules up to a microsecond. Of the problems that a
 * lookup is asked for, half have an entry within the first ring; beyond the last double all are
 * left. */
static void search_group(struct search *search, const struct at_group *group,
                         struct at_answer *answer)
{
    const float first = 24, last = 1024;
    float inner = -INFINITY, width = first;

    enter(search, group);
    do {
        float outer = fminf(search->group_gap + width, search->nearest.order);

        open_ring(search, inner, outer);
        try_ring(search, answer);
        inner = outer;
        width = width < last ? 2 * width : INFINITY;
    } while (inner < search->nearest.order && inner < INFINITY);
}

static void search_groups(struct search *search, struct at_answer *answer)
{
    const struct at_lookup *lookup = search->lookup;

    for (int others = 0; others < 2; others++) /* those with the asked elements first */
        for (size_t i = 0; i < lookup->group_count; i++) {
            float least = gap_of_group(search, &lookup->groups[i]);

            if ((least > 0) == others && least <= search->nearest.order)
                search_group(search, &lookup->groups[i], answer);
        }
}

static void try_same_problems(struct search *search, struct at_answer *answer)
{
    for (size_t i = 0; i < search->same_count; i++)
        if (search->places[search->same[i]->place].same == search->rank)
            try_candidate(search, search->same[i], answer);
}

/* Is the nearest to be taken? Not if it is far, or poor and not very near. But the networks do not
 * know the user's own families. */
static bool is_nearest_best(const struct search *search)
{
    const struct fit *nearest = &search->nearest;

    return is_same_problem(search, nearest->option.mark) ||
           nearest->distance + nearest->option.mark->of_share < at_distance_far ||
           !at_slowdown_knows(search->lookup->slowdown, nearest->option.config.family);
}

/* What entries count as farther, by place; INFINITY if their rank is not searched. */
static float *premiums_of(const struct search *search)
{
    size_t count = search->lookup->place_count;
    float *premiums = at_alloc_raw(count * sizeof *premiums);

    for (size_t i = 0; i < count; i++)
        premiums[i] =
            search->places[i].others == search->rank ? search->places[i].premium : INFINITY;
    return premiums;
}

/* Choose by prediction. */
static void choose(struct search *search, struct at_answer *answer)
{
    float *premiums = premiums_of(search);
    struct at_choice choice =
        at_choice_make(search->lookup, search->query, &search->asked, premiums);

    if (choice.option.mark)
        take(search, &choice.option, answer);
    else
        take_default(search, &choice.option, answer);
    answer->predicted_of = choice.of;
    at_free(premiums);
}

/* Find the answer among candidates of this rank: the nearest, or where that is far, by prediction.
 * Returns whether there is any. */
static bool find_with_rank(struct search *search, struct at_answer *answer)
{
    search->nearest = (struct fit){.order = INFINITY};
    try_same_problems(search, answer);
    if (at_rank_is_of_others(search->rank))
        search_groups(search, answer);
    if (search->nearest.order == INFINITY)
        return false;
    if (is_nearest_best(search))
        take(search, &search->nearest.option, answer);
    else
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
    at_free(search.open);
    at_free(search.places);
    return found;
}
