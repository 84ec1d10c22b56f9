/* SPDX-License-Identifier: Apache-2.0 */
/* Successive halving (Jamieson and Talwalkar, AISTATS 2016) over starts. Each start (arm) gets a
 * few evaluations of neighbours of its best config. Then the worse half is dropped and the others
 * get twice as many. When the last arm has no new neighbours, it begins again with other starts. */
#include "base/memory.h"
#include "search/landscape.h"

#include <math.h>
#include <stdlib.h>

enum { ARMS = 16, FIRST_SHARE = 2 };

struct arm {
    size_t best;  /* SIZE_MAX: not started */
    size_t given; /* evaluations in this round */
    bool spent;   /* its best config has no new neighbour */
};

struct halving {
    struct at_landscape land;
    struct arm arms[ARMS];
    size_t count, share;
    size_t *arm_of; /* by config in flight */
};

static void begin(struct halving *halving)
{
    halving->count = ARMS;
    halving->share = FIRST_SHARE;
    for (size_t i = 0; i < ARMS; i++)
        halving->arms[i] = (struct arm){.best = SIZE_MAX};
}

static void *create(const struct at_space *space, const struct at_start *start)
{
    struct halving *halving = at_alloc(sizeof *halving);

    at_landscape_begin(&halving->land, space, start);
    halving->arm_of = at_alloc_array(space->count, sizeof *halving->arm_of);
    begin(halving);
    return halving;
}

static double time_of(const struct halving *halving, const struct arm *arm)
{
    return arm->best != SIZE_MAX ? halving->land.time_ns[arm->best] : INFINITY;
}

/* Keep the better half, with twice the share. */
static void halve(struct halving *halving)
{
    struct arm *arms = halving->arms;

    for (size_t i = 1; i < halving->count; i++)
        for (size_t j = i; j > 0 && time_of(halving, &arms[j]) < time_of(halving, &arms[j - 1]);
             j--) {
            struct arm arm = arms[j];

            arms[j] = arms[j - 1];
            arms[j - 1] = arm;
        }
    halving->count /= 2;
    halving->share *= 2;
    for (size_t i = 0; i < halving->count; i++)
        arms[i].given = 0;
    if (halving->count == 0)
        begin(halving);
}

/* Ask for an arm: its start, then neighbours of its best. */
static bool ask_arm(struct halving *halving, struct arm *arm, size_t *index)
{
    size_t neighbours[AT_NEIGHBOURS_MAX], count;

    if (arm->best == SIZE_MAX)
        return arm->given == 0 && at_landscape_start(&halving->land, index);
    count = at_landscape_neighbours(&halving->land, arm->best, neighbours);
    at_shuffle(&halving->land.rng, neighbours, count);
    for (size_t i = 0; i < count; i++)
        if (at_landscape_take(&halving->land, neighbours[i])) {
            *index = neighbours[i];
            return true;
        }
    arm->spent = true;
    return false;
}

static bool ask(void *state, size_t *index)
{
    struct halving *halving = state;

    while (halving->land.asked_count < halving->land.space->count) {
        for (size_t i = 0; i < halving->count; i++) {
            struct arm *arm = &halving->arms[i];
            /* The last arm gets as many as it wants. */
            bool more = halving->count == 1 || arm->given < halving->share;

            if (arm->spent || !more || !ask_arm(halving, arm, index))
                continue;
            arm->given++;
            halving->arm_of[*index] = i;
            return true;
        }
        if (at_landscape_waiting(&halving->land) > 0)
            return false;
        halve(halving);
    }
    return false;
}

static void tell(void *state, size_t index, enum at_outcome outcome, double time_ns)
{
    struct halving *halving = state;
    struct arm *arm = &halving->arms[halving->arm_of[index]];

    at_landscape_tell(&halving->land, index, outcome, time_ns);
    if (arm->best != SIZE_MAX && !(halving->land.time_ns[index] < time_of(halving, arm)))
        return;
    arm->best = index;
    arm->spent = false;
}

static void destroy(void *state)
{
    struct halving *halving = state;

    free(halving->arm_of);
    at_landscape_clear(&halving->land);
    free(halving);
}

const struct at_strategy at_strategy_halving = {
    .name = "halving",
    .summary =
        "successive halving: begins at many configs and drops the worse half again and again",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
