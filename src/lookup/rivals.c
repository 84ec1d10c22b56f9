/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/rivals.h"

#include "base/memory.h"
#include "device/kind.h"
#include "device/relation.h"
#include "lookup/nearest.h"
#include "space/named.h"

#include <math.h>
#include <string.h>

/* A config on the problem that is asked for. */
struct rival {
    struct at_option option;
    float key; /* its prediction, or its entry's distance */
};

/* The rivals with the lowest keys, in their order. */
struct list {
    struct rival items[AT_RIVALS_MAX];
    size_t count;
};

struct rivals {
    const struct at_lookup *lookup;
    const struct at_query *query;
    const struct at_answer *answer;
    struct at_traits asked; /* with the launch of the last config that was tried */
    struct at_slowdown_asked predicted;
    struct list fastest, nearest;
};

/* Was it correct on this model of device? An emulated device may run what was measured on any: it
 * predicts, and a wrong kernel harms nothing. */
static bool is_safe(const struct rivals *rivals, const struct at_candidate *candidate)
{
    const struct at_place *place = &rivals->lookup->places[candidate->place];
    const struct at_device_info *device = rivals->query->device;

    return !place->emulated &&
           (at_device_kind(device)->finds_faults ||
            at_device_relation(&place->record->device, device) == AT_SAME_DEVICE ||
            at_models_have(&place->record->also_correct_on, device));
}

/* ---- the best ---- */

/* Find, for each config, the nearest entry that has it; NULL: none. */
static const struct at_candidate **find_nearest(const struct rivals *rivals)
{
    const struct at_lookup *lookup = rivals->lookup;
    const struct at_candidate **nearest = at_alloc_array(lookup->config_count, sizeof(void *));
    float *bounds = at_alloc_array(lookup->config_count, sizeof *bounds);

    for (size_t i = 0; i < lookup->count; i++) {
        const struct at_candidate *candidate = &lookup->candidates[i];
        uint32_t config = candidate->config;
        float bound;

        if (!is_safe(rivals, candidate) || !at_candidate_serves(candidate, rivals->query->problem))
            continue;
        bound = at_distance_bound(&candidate->traits, &rivals->asked);
        if (nearest[config] && bound >= bounds[config])
            continue;
        nearest[config] = candidate;
        bounds[config] = bound;
    }
    at_free(bounds);
    return nearest;
}

/* Sort the rival in, after those with the same key. */
static void insert(struct list *list, const struct at_option *option, float key)
{
    size_t place = list->count;

    if (place < AT_RIVALS_MAX)
        list->count++;
    else if (list->items[--place].key <= key)
        return;
    for (; place > 0 && list->items[place - 1].key > key; place--)
        list->items[place] = list->items[place - 1];
    list->items[place] = (struct rival){*option, key};
}

/* Return false if the config is not legal here, or is the answer's. */
static bool fits(struct rivals *rivals, uint32_t config, struct at_option *option)
{
    return at_known_fit(rivals->lookup, config, &rivals->predicted.point, option) &&
           !at_config_equal(&option->config, &rivals->answer->config);
}

/* List the nearest, and those that are predicted to be the fastest. */
static void list_rivals(struct rivals *rivals)
{
    const struct at_lookup *lookup = rivals->lookup;
    const struct at_candidate **nearest = find_nearest(rivals);
    bool *considered = at_alloc_array(lookup->config_count, sizeof *considered);
    float *predictions = at_alloc_array(lookup->config_count, sizeof *predictions);
    struct at_option option;

    for (uint32_t i = 0; i < lookup->config_count; i++) {
        option.candidate = nearest[i];
        considered[i] = nearest[i] && fits(rivals, i, &option);
        if (!considered[i])
            continue;
        at_traits_launch(&rivals->asked, rivals->query->problem, &option.launch);
        insert(&rivals->nearest, &option,
               at_distance_total(&nearest[i]->traits, &rivals->asked) + nearest[i]->of_share);
    }
    at_known_predict(lookup, &rivals->predicted, considered, predictions);
    for (uint32_t i = 0; i < lookup->config_count; i++) {
        option.candidate = nearest[i];
        if (predictions[i] < INFINITY && fits(rivals, i, &option))
            insert(&rivals->fastest, &option, predictions[i]);
    }
    at_free(predictions);
    at_free(considered);
    at_free(nearest);
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

/* Was this config correct on this model of device, as a winner or as a default? */
static bool is_proven(const struct rivals *rivals, const struct at_config *config)
{
    for (size_t i = 0; i < rivals->lookup->count; i++) {
        const struct at_candidate *candidate = &rivals->lookup->candidates[i];

        if (is_safe(rivals, candidate) &&
            (at_config_equal(&rivals->lookup->configs[candidate->config].config, config) ||
             (candidate->entry && has_been(rivals, &candidate->entry->fallback, config))))
            return true;
    }
    return false;
}

static bool find_default(const struct rivals *rivals, struct at_option *usual)
{
    return at_default_find(rivals->lookup, rivals->query, usual, NULL) == AT_OK &&
           !at_config_equal(&usual->config, &rivals->answer->config) &&
           is_proven(rivals, &usual->config);
}

bool at_answer_is_settled(const struct at_answer *answer, const struct at_query *query)
{
    return answer->tier == AT_TIER_EXACT && !answer->predicted &&
           strcmp(answer->record->policy.name, query->policy) == 0;
}

/* ---- the choice ---- */

static bool has_config(const struct at_answer *answers, size_t count,
                       const struct at_config *config)
{
    for (size_t i = 0; i < count; i++)
        if (at_config_equal(&answers[i].config, config))
            return true;
    return false;
}

/* The first of a list that is not yet chosen; NULL: all are. */
static const struct at_option *next_of(const struct list *list, const struct at_answer *chosen,
                                       size_t count)
{
    for (size_t i = 0; i < list->count; i++)
        if (!has_config(chosen, count, &list->items[i].option.config))
            return &list->items[i].option;
    return NULL;
}

/* The default config comes second. With time for one rival alone, another gains more:
 * 95 % of an H200's problems then lose at most 9.8 %, and 15.8 % with the default first. */
enum { BEFORE_DEFAULT = 1 };

/* Of three rivals two are predicted to be the fastest, and one is the nearest: the two fail on
 * different problems. */
enum { TURNS = 3 };

static size_t choose(struct rivals *rivals, const struct at_option *usual,
                     struct at_answer chosen[AT_RIVALS_MAX])
{
    size_t count = 0, turn = 0;

    while (count < AT_RIVALS_MAX) {
        const struct at_option *next = NULL;

        if (usual && count == BEFORE_DEFAULT && !has_config(chosen, count, &usual->config))
            next = usual;
        else if (++turn % TURNS != 0)
            next = next_of(&rivals->fastest, chosen, count);
        if (!next)
            next = next_of(&rivals->nearest, chosen, count);
        if (!next && count < BEFORE_DEFAULT)
            next = usual;
        if (!next)
            break;
        chosen[count] = (struct at_answer){0};
        at_option_take(rivals->lookup, rivals->query, &rivals->asked, next, false,
                       &chosen[count++]);
    }
    return count;
}

size_t at_rivals_find(const struct at_lookup *lookup, const struct at_query *query,
                      const struct at_answer *answer, struct at_answer rivals[AT_RIVALS_MAX])
{
    struct rivals *found;
    struct at_option usual;
    size_t count;

    if (at_answer_is_settled(answer, query))
        return 0;
    found = at_alloc(sizeof *found);
    *found = (struct rivals){
        .lookup = lookup,
        .query = query,
        .answer = answer,
        .asked = at_traits_of(query->problem, query->device),
        .predicted = at_slowdown_ask(lookup->slowdown, query->problem, query->device),
    };
    list_rivals(found);
    count = choose(found, find_default(found, &usual) ? &usual : NULL, rivals);
    at_free(found);
    return count;
}
