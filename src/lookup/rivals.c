/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/rivals.h"

#include "base/memory.h"
#include "device/kind.h"
#include "device/relation.h"
#include "lookup/nearest.h"
#include "space/named.h"

#include <math.h>
#include <string.h>

/* A config of an entry, and the nearest entry that has it. */
struct kernel {
    const struct at_candidate *candidate; /* NULL: none */
    float bound;                          /* of the entry's distance */
    float estimate;
};

/* A kernel on the problem that is asked for. */
struct rival {
    struct at_answer answer;
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
    struct kernel *kernels; /* by config */
    struct at_shortlist shortlist;
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

/* ---- the kernels ---- */

/* Find, for each config, the nearest entry that has it. */
static void find_kernels(struct rivals *rivals)
{
    const struct at_lookup *lookup = rivals->lookup;

    rivals->kernels = at_alloc_array(lookup->config_count, sizeof *rivals->kernels);
    for (size_t i = 0; i < lookup->count; i++) {
        const struct at_candidate *candidate = &lookup->candidates[i];
        struct kernel *kernel = &rivals->kernels[candidate->config];
        float bound;

        if (!is_safe(rivals, candidate))
            continue;
        bound = at_distance_bound(&candidate->traits, &rivals->asked);
        if (!kernel->candidate || bound < kernel->bound)
            *kernel = (struct kernel){.candidate = candidate, .bound = bound};
    }
}

/* ---- the best ---- */

/* Sort the rival in, after those with the same key. */
static void insert(struct list *list, const struct at_answer *answer, float key)
{
    size_t place = list->count;

    if (place < AT_RIVALS_MAX)
        list->count++;
    else if (list->items[--place].key <= key)
        return;
    for (; place > 0 && list->items[place - 1].key > key; place--)
        list->items[place] = list->items[place - 1];
    list->items[place] = (struct rival){*answer, key};
}

/* Return false if the config is not legal here, or is the answer's. */
static bool fits(struct rivals *rivals, uint32_t config, struct at_option *option)
{
    return at_known_fit(rivals->lookup, config, &rivals->predicted.point, option) &&
           !at_config_equal(&option->config, &rivals->answer->config);
}

static struct at_answer answer_of(struct rivals *rivals, const struct at_candidate *candidate,
                                  const struct at_option *option)
{
    const struct at_query *query = rivals->query;
    const struct at_place *place = &rivals->lookup->places[candidate->place];

    at_traits_launch(&rivals->asked, query->problem, &option->launch);
    return (struct at_answer){
        .tier = at_tier_of(&place->record->device, query->device, false),
        .config = option->config,
        .launch = option->launch,
        .path = place->path,
        .record = place->record,
        .tuned_problem = candidate->problem,
        .entry = candidate->entry,
        .distance = at_distance_between(&candidate->traits, &rivals->asked),
        .expected_of_copy_permille = candidate->of_copy_permille,
    };
}

/* Find the nearest, and estimate all. */
static void try_all(struct rivals *rivals)
{
    const struct at_lookup *lookup = rivals->lookup;

    for (uint32_t i = 0; i < lookup->config_count; i++) {
        struct kernel *kernel = &rivals->kernels[i];
        struct at_option option;
        struct at_answer answer;

        kernel->estimate = INFINITY;
        if (!kernel->candidate || !fits(rivals, i, &option))
            continue;
        answer = answer_of(rivals, kernel->candidate, &option);
        insert(&rivals->nearest, &answer, answer.distance.total + kernel->candidate->of_share);
        kernel->estimate = at_slowdown_estimate(lookup->slowdown, &rivals->predicted,
                                                &option.config, &option.launch);
        at_shortlist_add(&rivals->shortlist, kernel->estimate);
    }
}

static void predict_least(struct rivals *rivals)
{
    const struct at_lookup *lookup = rivals->lookup;

    for (uint32_t i = 0; i < lookup->config_count; i++) {
        const struct kernel *kernel = &rivals->kernels[i];
        struct at_option option;
        struct at_answer answer;

        if (!at_shortlist_has(&rivals->shortlist, kernel->estimate) || !fits(rivals, i, &option))
            continue;
        answer = answer_of(rivals, kernel->candidate, &option);
        insert(&rivals->fastest, &answer,
               at_slowdown_predict(lookup->slowdown, &rivals->predicted, &option.config,
                                   &option.launch));
    }
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

static bool find_default(const struct rivals *rivals, struct at_answer *found)
{
    struct at_option usual;

    if (at_default_find(rivals->lookup, rivals->query, &usual, NULL) != AT_OK ||
        at_config_equal(&usual.config, &rivals->answer->config) ||
        !is_proven(rivals, &usual.config))
        return false;
    *found = (struct at_answer){0};
    at_default_take(found, &usual);
    return true;
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
static const struct at_answer *next_of(const struct list *list, const struct at_answer *chosen,
                                       size_t count)
{
    for (size_t i = 0; i < list->count; i++)
        if (!has_config(chosen, count, &list->items[i].answer.config))
            return &list->items[i].answer;
    return NULL;
}

/* The default config comes second. With time for one rival alone, another gains more:
 * 95 % of an H200's problems then lose at most 9.8 %, and 15.8 % with the default first. */
enum { BEFORE_DEFAULT = 1 };

/* Of three rivals two are predicted to be the fastest, and one is the nearest: one knows what the
 * other does not. */
enum { TURNS = 3 };

static size_t choose(const struct rivals *rivals, const struct at_answer *usual,
                     struct at_answer chosen[AT_RIVALS_MAX])
{
    size_t count = 0, turn = 0;

    while (count < AT_RIVALS_MAX) {
        const struct at_answer *next = NULL;

        if (usual && count == BEFORE_DEFAULT && !has_config(chosen, count, &usual->config))
            next = usual;
        else if (++turn % TURNS != 0)
            next = next_of(&rivals->fastest, chosen, count);
        if (!next)
            next = next_of(&rivals->nearest, chosen, count);
        if (!next)
            break;
        chosen[count++] = *next;
    }
    if (usual && count < BEFORE_DEFAULT)
        chosen[count++] = *usual;
    return count;
}

size_t at_rivals_find(const struct at_lookup *lookup, const struct at_query *query,
                      const struct at_answer *answer, struct at_answer rivals[AT_RIVALS_MAX])
{
    struct rivals *found = at_alloc(sizeof *found);
    struct at_answer usual;
    size_t count = 0;

    *found = (struct rivals){
        .lookup = lookup,
        .query = query,
        .answer = answer,
        .asked = at_traits_of(query->problem, query->device),
        .predicted = at_slowdown_ask(lookup->slowdown, query->problem, query->device),
    };
    if (!at_answer_is_settled(answer, query)) {
        find_kernels(found);
        try_all(found);
        predict_least(found);
        count = choose(found, find_default(found, &usual) ? &usual : NULL, rivals);
    }
    at_free(found->kernels);
    at_free(found);
    return count;
}
