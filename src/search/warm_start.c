/* SPDX-License-Identifier: Apache-2.0 */
#include "search/warm_start.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* At most this many winners are tried; further ones are of problems less and less similar. */
enum { WINNERS_TRIED = 6 };

void at_warm_start_add(struct at_warm_start *warm_start, const struct at_winner *winner)
{
    AT_PUSH(warm_start->winners, warm_start->count, warm_start->capacity, *winner);
}

void at_warm_start_clear(struct at_warm_start *warm_start)
{
    free(warm_start->winners);
    *warm_start = (struct at_warm_start){0};
}

static bool is_kind(const struct at_problem *problem, struct at_problem_kind kind)
{
    struct at_problem_kind own = at_problem_kind(problem);

    return own.elem_size == kind.elem_size && own.axes == kind.axes &&
           at_step_code(&own.step) == at_step_code(&kind.step);
}

bool at_warm_start_has(const struct at_warm_start *warm_start, const struct at_config *config,
                       struct at_problem_kind kind)
{
    for (size_t i = 0; i < warm_start->count; i++) {
        const struct at_winner *winner = &warm_start->winners[i];

        if (winner->verified && is_kind(&winner->problem, kind) &&
            at_config_equal(&winner->config, config))
            return true;
    }
    return false;
}

static double doublings(int64_t a, int64_t b)
{
    return fabs(log2((double)a) - log2((double)b));
}

/* The largest power of two up to 16 that divides it: the width of possible accesses. */
static int64_t alignment(int64_t value)
{
    return value & -value & 31 ? value & -value & 31 : 16;
}

/* The distance between two problems. Element size determines the tile's shape and the access width;
 * alignment determines whether vectors are legal. How narrow a matrix is comes next; size matters
 * little. This is not lookup/distance.h: that one was fitted to the loss of using one winner
 * unchanged. This one orders winners from which a search goes on, and the strategies' numbers were
 * chosen with it. */
static double distance(const struct at_problem *a, const struct at_problem *b)
{
    return 3 * doublings(a->elem_size, b->elem_size) +
           2 * doublings(alignment(a->ld_src), alignment(b->ld_src)) +
           2 * doublings(alignment(a->ld_dst), alignment(b->ld_dst)) +
           fmin(doublings(a->rows, b->rows), 6) + fmin(doublings(a->cols, b->cols), 6);
}

/* Count the parameters in which two configs of families of one name differ. SIZE_MAX for other
 * families. */
static size_t difference(const struct at_config *a, const struct at_config *b)
{
    size_t differing = 0;

    if (a->family != b->family && strcmp(a->family->name, b->family->name) != 0)
        return SIZE_MAX;
    if (a->family->param_count != b->family->param_count)
        return SIZE_MAX;
    for (size_t i = 0; i < a->family->param_count; i++)
        differing += a->values[i] != b->values[i];
    return differing;
}

static size_t nearest(const struct at_space *space, const struct at_config *config)
{
    size_t best = SIZE_MAX, least = SIZE_MAX;

    for (size_t i = 0; i < space->count && least > 0; i++) {
        size_t differing = difference(&space->configs[i], config);

        if (differing >= least)
            continue;
        best = i;
        least = differing;
    }
    return best;
}

bool at_warm_start_knows(const struct at_warm_start *warm_start, const struct at_problem *problem,
                         const struct at_space *space, struct at_winner *winner, size_t *index)
{
    const struct at_winner *known = NULL;

    for (size_t i = 0; i < warm_start->count; i++) {
        const struct at_winner *candidate = &warm_start->winners[i];

        if (candidate->space == (int64_t)space->count &&
            at_problem_equal(&candidate->problem, problem) &&
            (!known || (known->time_ns <= 0 && candidate->time_ns > 0)))
            known = candidate;
    }
    if (!known)
        return false;
    *winner = *known;
    *index = nearest(space, &known->config);
    return *index != SIZE_MAX;
}

static void add(size_t *likely, size_t *count, size_t index)
{
    for (size_t i = 0; i < *count; i++)
        if (likely[i] == index)
            return;
    if (index != SIZE_MAX)
        likely[(*count)++] = index;
}

/* Add each family's default, or the config nearest to it, in the order of preference. */
static void add_defaults(const struct at_space *space, size_t *likely, size_t *count)
{
    size_t first = *count;

    for (size_t i = 0; i < space->count; i++) {
        const struct at_family *family = space->configs[i].family;
        struct at_config usual = at_family_default(family);
        size_t before = *count;

        if (i > 0 && space->configs[i - 1].family == family)
            continue;
        add(likely, count, nearest(space, &usual));
        for (size_t j = before; j > first && *count > before; j--) {
            size_t added = likely[j];

            if (space->configs[likely[j - 1]].family->preference <= family->preference)
                break;
            likely[j] = likely[j - 1];
            likely[j - 1] = added;
        }
    }
}

size_t at_warm_start_likely(const struct at_warm_start *warm_start,
                            const struct at_problem *problem, const struct at_space *space,
                            size_t **likely)
{
    size_t count = 0, tried = warm_start->count < WINNERS_TRIED ? warm_start->count : WINNERS_TRIED;
    bool *taken = at_alloc_array(warm_start->count, sizeof *taken);

    *likely = at_alloc_array(space->count, sizeof **likely);
    for (size_t i = 0; i < tried; i++) {
        size_t best = SIZE_MAX;

        for (size_t j = 0; j < warm_start->count; j++)
            if (!taken[j] &&
                (best == SIZE_MAX || distance(problem, &warm_start->winners[j].problem) <
                                         distance(problem, &warm_start->winners[best].problem)))
                best = j;
        taken[best] = true;
        add(*likely, &count, nearest(space, &warm_start->winners[best].config));
    }
    add_defaults(space, *likely, &count);
    free(taken);
    return count;
}
