/* SPDX-License-Identifier: Apache-2.0 */
#include "search/landscape.h"

#include "base/hash.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the grid ---- */

static void find_regions(struct at_landscape *land)
{
    const struct at_space *space = land->space;
    size_t capacity = 0;

    for (size_t i = 0; i < space->count; i++) {
        const struct at_family *family = space->configs[i].family;

        if (i == 0 || space->configs[i - 1].family != family) {
            struct at_region region = {family, i, 0};

            AT_PUSH(land->regions, land->region_count, capacity, region);
        }
        land->regions[land->region_count - 1].count++;
        land->region_of[i] = land->region_count - 1;
        for (size_t j = 0; j < family->param_count; j++)
            land->levels[i * AT_PARAMS_MAX + j] =
                (uint8_t)at_param_level(&family->params[j], space->configs[i].values[j]);
    }
}

static size_t first_slot(const struct at_landscape *land, size_t region, const uint8_t *levels)
{
    return at_hash64(levels, land->regions[region].family->param_count, region) &
           (land->slot_count - 1);
}

static void fill_slots(struct at_landscape *land)
{
    for (land->slot_count = 1; land->slot_count < 2 * land->space->count;)
        land->slot_count *= 2;
    land->slots = at_alloc_array(land->slot_count, sizeof *land->slots);
    for (size_t i = 0; i < land->space->count; i++) {
        size_t slot = first_slot(land, land->region_of[i], at_landscape_levels(land, i));

        while (land->slots[slot])
            slot = (slot + 1) & (land->slot_count - 1);
        land->slots[slot] = (uint32_t)i + 1;
    }
}

void at_landscape_init(struct at_landscape *land, const struct at_space *space)
{
    *land = (struct at_landscape){.space = space, .best = SIZE_MAX};
    land->region_of = at_alloc_array(space->count, sizeof *land->region_of);
    land->levels = at_alloc_array(space->count, AT_PARAMS_MAX);
    land->asked = at_alloc_array(space->count, sizeof *land->asked);
    land->told = at_alloc_array(space->count, sizeof *land->told);
    land->time_ns = at_alloc_array(space->count, sizeof *land->time_ns);
    land->deck = at_alloc_array(space->count, sizeof *land->deck);
    while (land->deck_count < space->count) {
        land->deck[land->deck_count] = land->deck_count;
        land->deck_count++;
    }
    find_regions(land);
    fill_slots(land);
}

void at_landscape_clear(struct at_landscape *land)
{
    free(land->regions);
    free(land->region_of);
    free(land->levels);
    free(land->slots);
    free(land->asked);
    free(land->told);
    free(land->time_ns);
    free(land->deck);
    free(land->likely);
    *land = (struct at_landscape){0};
}

const uint8_t *at_landscape_levels(const struct at_landscape *land, size_t index)
{
    return &land->levels[index * AT_PARAMS_MAX];
}

size_t at_landscape_find(const struct at_landscape *land, size_t region, const uint8_t *levels)
{
    size_t params = land->regions[region].family->param_count;
    size_t slot = first_slot(land, region, levels);

    for (; land->slots[slot]; slot = (slot + 1) & (land->slot_count - 1)) {
        size_t index = land->slots[slot] - 1;

        if (land->region_of[index] == region &&
            memcmp(at_landscape_levels(land, index), levels, params) == 0)
            return index;
    }
    return SIZE_MAX;
}

/* ---- neighbours ---- */

struct walk {
    const struct at_landscape *land;
    size_t region;
    uint8_t levels[AT_PARAMS_MAX];
    size_t *found;
    size_t count;
};

/* Change `changes` parameters, from number `from` on. */
static void change(struct walk *walk, size_t from, int changes)
{
    const struct at_family *family = walk->land->regions[walk->region].family;

    for (size_t i = from; i < family->param_count; i++) {
        uint8_t kept = walk->levels[i];

        for (size_t j = 0; j < family->params[i].value_count; j++) {
            size_t index;

            if (j == kept || walk->count == AT_NEIGHBOURS_MAX)
                continue;
            walk->levels[i] = (uint8_t)j;
            if (changes > 1) {
                change(walk, i + 1, changes - 1);
                continue;
            }
            index = at_landscape_find(walk->land, walk->region, walk->levels);
            if (index != SIZE_MAX)
                walk->found[walk->count++] = index;
        }
        walk->levels[i] = kept;
    }
}

size_t at_landscape_neighbours(const struct at_landscape *land, size_t index,
                               size_t neighbours[AT_NEIGHBOURS_MAX])
{
    struct walk walk = {.land = land, .region = land->region_of[index], .found = neighbours};

    memcpy(walk.levels, at_landscape_levels(land, index), sizeof walk.levels);
    for (int changes = 1; changes <= 2 && walk.count == 0; changes++)
        change(&walk, 0, changes);
    return walk.count;
}

/* ---- results ---- */

bool at_landscape_take(struct at_landscape *land, size_t index)
{
    if (land->asked[index])
        return false;
    land->asked[index] = true;
    land->asked_count++;
    return true;
}

bool at_landscape_draw(struct at_landscape *land, struct at_rng *rng, size_t *index)
{
    while (land->deck_count > 0) {
        size_t place = at_rng_below(rng, land->deck_count), drawn = land->deck[place];

        land->deck[place] = land->deck[--land->deck_count];
        if (!at_landscape_take(land, drawn))
            continue;
        *index = drawn;
        return true;
    }
    return false;
}

/* Count the parameters in which two configs of one family differ. */
static size_t differing(const struct at_landscape *land, size_t a, size_t b)
{
    const uint8_t *of_a = at_landscape_levels(land, a), *of_b = at_landscape_levels(land, b);
    size_t params = land->regions[land->region_of[a]].family->param_count, count = 0;

    for (size_t i = 0; i < params; i++)
        count += of_a[i] != of_b[i];
    return count;
}

bool at_landscape_draw_near(struct at_landscape *land, struct at_rng *rng, size_t centre,
                            size_t most, size_t *index)
{
    const struct at_region *region = &land->regions[land->region_of[centre]];
    size_t met = 0;

    for (size_t i = region->first; i < region->first + region->count; i++)
        if (!land->asked[i] && differing(land, i, centre) <= most && at_rng_below(rng, ++met) == 0)
            *index = i;
    return met > 0 && at_landscape_take(land, *index);
}

void at_landscape_tell(struct at_landscape *land, size_t index, enum at_outcome outcome,
                       double time_ns)
{
    at_landscape_take(land, index); /* it must not be requested again */
    land->told_count += !land->told[index];
    land->told[index] = true;
    land->time_ns[index] = outcome == AT_CORRECT ? time_ns : INFINITY;
    if (outcome == AT_CORRECT && (land->best == SIZE_MAX || time_ns < land->time_ns[land->best]))
        land->best = index;
}

size_t at_landscape_waiting(const struct at_landscape *land)
{
    return land->asked_count - land->told_count;
}

/* ---- where searches begin ---- */

void at_landscape_begin(struct at_landscape *land, const struct at_space *space,
                        const struct at_start *start)
{
    at_landscape_init(land, space);
    land->rng.state = start->seed;
    land->likely = at_memdup(start->likely, start->likely_count * sizeof *land->likely);
    land->likely_count = start->likely_count;
}

void at_landscape_free(void *state)
{
    at_landscape_clear(state);
    free(state);
}

bool at_landscape_has_likely(const struct at_landscape *land)
{
    return land->likely_next < land->likely_count;
}

bool at_landscape_start(struct at_landscape *land, size_t *index)
{
    while (at_landscape_has_likely(land)) {
        *index = land->likely[land->likely_next++];
        if (at_landscape_take(land, *index))
            return true;
    }
    return at_landscape_draw(land, &land->rng, index);
}

void at_shuffle(struct at_rng *rng, size_t *items, size_t count)
{
    for (size_t left = count; left > 1; left--) { /* Fisher and Yates */
        size_t drawn = at_rng_below(rng, left), kept = items[left - 1];

        items[left - 1] = items[drawn];
        items[drawn] = kept;
    }
}

double at_rng_fraction(struct at_rng *rng)
{
    return (double)(at_rng_next(rng) >> 11) * 0x1p-53;
}
