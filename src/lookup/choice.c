/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/choice.h"

#include "base/memory.h"

#include <math.h>

struct choosing {
    const struct at_lookup *lookup;
    const struct at_query *query;
    const float *premiums;
    struct at_slowdown_asked asked;
    float *predictions; /* by a config's number; first estimates. INFINITY: it is left out */
    struct at_shortlist shortlist;
    float least; /* prediction */
    struct at_option best;
    size_t of;
};

static bool is_considered(const struct choosing *choosing, const struct at_mark *mark)
{
    return choosing->premiums[mark->place] < INFINITY;
}

/* Estimate all configs that are considered and legal. */
static void estimate_all(struct choosing *choosing)
{
    const struct at_lookup *lookup = choosing->lookup;
    bool *considered = at_alloc_array(lookup->config_count, sizeof *considered);

    for (size_t i = 0; i < lookup->count; i++)
        if (is_considered(choosing, &lookup->marks[i]))
            considered[lookup->candidates[lookup->marks[i].candidate].config] = true;
    for (uint32_t i = 0; i < lookup->config_count; i++) {
        float *prediction = &choosing->predictions[i];
        struct at_option option;

        *prediction = INFINITY;
        if (considered[i] && at_known_fit(lookup, i, &choosing->asked.point, &option))
            *prediction = at_slowdown_estimate(lookup->slowdown, &choosing->asked, &option.config,
                                               &option.launch);
        if (*prediction == INFINITY)
            continue;
        choosing->of++;
        at_shortlist_add(&choosing->shortlist, *prediction);
    }
    at_free(considered);
}

/* Predict for those on the shortlist, and leave out the others. */
static void predict_least(struct choosing *choosing)
{
    const struct at_lookup *lookup = choosing->lookup;

    for (uint32_t i = 0; i < lookup->config_count; i++) {
        float *prediction = &choosing->predictions[i];
        struct at_option option;

        if (at_shortlist_has(&choosing->shortlist, *prediction) &&
            at_known_fit(lookup, i, &choosing->asked.point, &option))
            *prediction = at_slowdown_predict(lookup->slowdown, &choosing->asked, &option.config,
                                              &option.launch);
        else
            *prediction = INFINITY;
        choosing->least = fminf(choosing->least, *prediction);
    }
}

/* Configs whose predictions differ by no more than this count as equally fast. */
static const float equally_fast = 0.005F;

/* The default config is taken if it is predicted to be slower by no more than this. A profile must
 * not make a program slower. */
static const float default_slower = 0.02F;

/* Of the fastest configs, take the one with the nearest entry. */
static void take_nearest(struct choosing *choosing, struct at_traits asked)
{
    const struct at_lookup *lookup = choosing->lookup;
    float least = INFINITY;

    for (size_t i = 0; i < lookup->count; i++) {
        const struct at_mark *mark = &lookup->marks[i];
        uint32_t number = lookup->candidates[mark->candidate].config;
        struct at_option option = {.mark = mark};
        float order;

        if (choosing->predictions[number] > choosing->least + equally_fast ||
            !is_considered(choosing, mark) ||
            !at_known_fit(lookup, number, &choosing->asked.point, &option))
            continue;
        at_traits_launch(&asked, choosing->query->problem, &option.launch);
        order = at_distance_total(&mark->traits, &asked) + mark->of_share +
                choosing->premiums[mark->place];
        if (order < least || (order == least && mark->candidate < choosing->best.mark->candidate)) {
            least = order;
            choosing->best = option;
        }
    }
}

/* Take the default config if it is hardly slower than the fastest. */
static bool take_default(struct choosing *choosing)
{
    struct at_option usual;

    if (at_default_find(choosing->lookup, choosing->query, &usual, NULL) != AT_OK)
        return false;
    choosing->of++;
    if (at_slowdown_predict(choosing->lookup->slowdown, &choosing->asked, &usual.config,
                            &usual.launch) > choosing->least + default_slower)
        return false;
    choosing->best = usual;
    return true;
}

struct at_choice at_choice_make(const struct at_lookup *lookup, const struct at_query *query,
                                const struct at_traits *asked, const float *premiums)
{
    struct choosing choosing = {
        .lookup = lookup,
        .query = query,
        .premiums = premiums,
        .asked = at_slowdown_ask(lookup->slowdown, query->problem, query->device),
        .predictions = at_alloc_raw(lookup->config_count * sizeof *choosing.predictions),
        .least = INFINITY,
    };

    estimate_all(&choosing);
    predict_least(&choosing);
    if (!take_default(&choosing))
        take_nearest(&choosing, *asked);
    at_free(choosing.predictions);
    return (struct at_choice){choosing.best, choosing.of};
}
