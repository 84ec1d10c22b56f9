/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/rivals.h"

#include "device/relation.h"
#include "lookup/nearest.h"
#include "space/named.h"
#include "space/space.h"

#include <string.h>

struct rivals {
    const struct at_lookup *lookup;
    const struct at_query *query;
    const struct at_answer *answer;
    struct at_problem_kind kind; /* of the kernels that are considered */
    struct at_traits asked;      /* with the launch of the last config that was tried */
    struct at_answer *items;     /* the nearest first */
    size_t count, most;
};

static bool is_of_kind(const struct rivals *rivals, const struct at_candidate *candidate)
{
    struct at_problem_kind kind = at_problem_kind(&candidate->problem);

    return kind.elem_size == rivals->kind.elem_size && kind.axes == rivals->kind.axes;
}

/* Was it measured on this model of device? An emulated device may run what was measured on any: it
 * predicts, and a wrong kernel harms nothing. */
static bool is_safe(const struct rivals *rivals, const struct at_mark *mark)
{
    const struct at_place *place = &rivals->lookup->places[mark->place];
    const struct at_device_info *device = rivals->query->device;

    return !place->emulated &&
           (at_device_is_emulated(device) ||
            at_device_relation(&place->record->device, device) == AT_SAME_DEVICE);
}

static void remove_rival(struct rivals *rivals, size_t number)
{
    rivals->count--;
    memmove(&rivals->items[number], &rivals->items[number + 1],
            (rivals->count - number) * sizeof *rivals->items);
}

/* Is the config new, or nearer than before? Then it is not in the list afterwards. */
static bool make_way(struct rivals *rivals, const struct at_answer *rival)
{
    for (size_t i = 0; i < rivals->count; i++) {
        if (!at_config_equal(&rivals->items[i].config, &rival->config))
            continue;
        if (rivals->items[i].distance.total <= rival->distance.total)
            return false;
        remove_rival(rivals, i);
        break;
    }
    return true;
}

/* Sort the rival in; at the same distance the earlier candidate stays before. */
static void insert(struct rivals *rivals, const struct at_answer *rival)
{
    size_t place = rivals->count;

    if (!make_way(rivals, rival))
        return;
    for (place = rivals->count; place > 0; place--)
        if (rivals->items[place - 1].distance.total <= rival->distance.total)
            break;
    if (place == rivals->most)
        return;
    rivals->count += rivals->count < rivals->most;
    memmove(&rivals->items[place + 1], &rivals->items[place],
            (rivals->count - place - 1) * sizeof *rivals->items);
    rivals->items[place] = *rival;
}

/* No rival farther than this one gets in. */
static float reach(const struct rivals *rivals)
{
    return rivals->count < rivals->most ? at_distance_max(&rivals->asked)
                                        : rivals->items[rivals->count - 1].distance.total;
}

static void try_candidate(struct rivals *rivals, const struct at_mark *mark)
{
    const struct at_query *query = rivals->query;
    const struct at_place *place = &rivals->lookup->places[mark->place];
    const struct at_candidate *candidate = &rivals->lookup->candidates[mark->candidate];
    struct at_answer rival = {
        .tier = at_tier_of(&place->record->device, query->device, false),
        .config = candidate->config,
        .path = place->path,
        .record = place->record,
        .entry = candidate->entry,
        .expected_of_copy_permille = candidate->entry->winner.of_copy_permille,
    };

    if (at_distance_bound(&mark->traits, &rivals->asked) > reach(rivals) ||
        !at_config_adapt(&rival.config, query->problem, query->device, &rival.launch) ||
        /* adapted, it is another kernel than the one that was correct */
        !at_config_equal(&rival.config, &candidate->config) ||
        at_config_equal(&rival.config, &rivals->answer->config))
        return;
    at_traits_launch(&rivals->asked, query->problem, &rival.launch);
    rival.distance = at_distance_between(&mark->traits, &rivals->asked);
    if (rival.distance.total <= reach(rivals))
        insert(rivals, &rival);
}

/* ---- the default config ---- */

static bool has_been(const struct rivals *rivals, const struct at_result_record *result,
                     const struct at_config *config)
{
    struct at_config been;
    struct at_error err;

    return result->time_ns > 0 && strcmp(result->family, config->family->name) == 0 &&
           at_config_from_names(&been, rivals->lookup->families, rivals->lookup->family_count,
                                result->family, &result->parameters, &err) == AT_OK &&
           at_config_equal(&been, config);
}

/* Was this kernel correct on this model of device, as a winner or as a default? */
static bool is_proven(const struct rivals *rivals, const struct at_config *config)
{
    for (size_t i = 0; i < rivals->lookup->count; i++) {
        const struct at_mark *mark = &rivals->lookup->marks[i];
        const struct at_candidate *candidate = &rivals->lookup->candidates[mark->candidate];

        if (is_of_kind(rivals, candidate) && is_safe(rivals, mark) &&
            (at_config_equal(&candidate->config, config) ||
             has_been(rivals, &candidate->entry->fallback, config)))
            return true;
    }
    return false;
}

static bool find_default(const struct rivals *rivals, struct at_answer *found)
{
    const struct at_query *query = rivals->query;
    struct at_answer made = {.tier = AT_TIER_DEFAULT};
    struct at_error err;

    if (at_space_default(&made.config, rivals->lookup->families, rivals->lookup->family_count,
                         query->problem, query->device, &err) != AT_OK ||
        at_config_equal(&made.config, &rivals->answer->config) ||
        !is_proven(rivals, &made.config) ||
        at_config_launch(&made.config, query->problem, query->device, &made.launch, &err) != AT_OK)
        return false;
    *found = made;
    return true;
}

bool at_answer_is_settled(const struct at_answer *answer, const struct at_query *query)
{
    return answer->tier == AT_TIER_EXACT && !answer->predicted &&
           strcmp(answer->record->policy.name, query->policy) == 0;
}

size_t at_rivals_find(const struct at_lookup *lookup, const struct at_query *query,
                      const struct at_answer *answer, struct at_answer rivals[AT_RIVALS_MAX])
{
    struct rivals found = {
        .lookup = lookup,
        .query = query,
        .answer = answer,
        .kind = at_problem_kind(query->problem),
        .asked = at_traits_of(query->problem, query->device),
        .items = rivals,
        .most = AT_RIVALS_MAX,
    };
    size_t defaults;

    if (at_answer_is_settled(answer, query))
        return 0;
    defaults = find_default(&found, &rivals[0]);
    found.items += defaults;
    found.most -= defaults;
    for (size_t i = 0; i < lookup->count; i++) {
        const struct at_mark *mark = &lookup->marks[i];
        const struct at_candidate *candidate = &lookup->candidates[mark->candidate];

        if (!is_of_kind(&found, candidate) || !is_safe(&found, mark))
            continue;
        if (defaults > 0 && at_config_equal(&candidate->config, &rivals[0].config))
            continue;
        try_candidate(&found, mark);
    }
    return defaults + found.count;
}
