/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a sample of the families' configs, the same in each run. */
#include "base/memory.h"
#include "base/rng.h"
#include "verify-families.h"

#include <stdlib.h>

enum { SPACE_MAX = 500000 };

/* A family's configs for a problem. The drawn ones are in front. */
struct lot {
    struct at_space space;
    size_t drawn;
};

static bool draw_one(struct lot *lot, struct at_rng *rng, struct at_config *config)
{
    struct at_config *configs = lot->space.configs;
    size_t left = lot->space.count - lot->drawn, pick;

    if (left == 0)
        return false;
    pick = lot->drawn + (size_t)at_rng_below(rng, left);
    *config = configs[pick];
    configs[pick] = configs[lot->drawn];
    configs[lot->drawn++] = *config;
    return true;
}

/* The next place continues with the next family, so that a small share leaves no family out. */
static void take_turns(struct sample *sample, struct lot *lots, size_t lot_count,
                       struct place *place, size_t most)
{
    struct at_rng rng = {sample->count};
    size_t ends = sample->count + most;

    for (size_t turn = sample->count, missed = 0; sample->count < ends && missed < lot_count;
         turn++) {
        struct drawn drawn = {.place = place};

        if (draw_one(&lots[turn % lot_count], &rng, &drawn.config)) {
            AT_PUSH(sample->items, sample->count, sample->capacity, drawn);
            missed = 0;
        } else {
            missed++;
        }
    }
}

void draw_configs(struct sample *sample, struct at_family *const *families, size_t family_count,
                  struct place *place, const struct at_device_info *device, size_t most)
{
    struct lot *lots = at_alloc_array(family_count, sizeof *lots);
    struct at_error err;

    for (size_t i = 0; i < family_count; i++)
        require(at_space_build(&lots[i].space, &families[i], 1, &place->problem, device, SPACE_MAX,
                               &err),
                &err);
    take_turns(sample, lots, family_count, place, most);
    for (size_t i = 0; i < family_count; i++)
        at_space_clear(&lots[i].space);
    free(lots);
}

static bool is_first_of_family(const struct sample *sample, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (sample->items[i].config.family == sample->items[index].config.family)
            return false;
    return true;
}

size_t drawn_families(const struct sample *sample)
{
    size_t count = 0;

    for (size_t i = 0; i < sample->count; i++)
        count += is_first_of_family(sample, i);
    return count;
}
