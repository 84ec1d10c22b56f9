/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/choice.h"

#include "base/memory.h"

#include <math.h>

struct choosing {
    const struct at_lookup *lookup;
    const struct at_query *query;
    const float *premiums;
    struct at_slowdown_asked asked;
    float *predictions; /* by a config's number. A config that is left out has INFINITY */
    float least;
    struct at_option best; /* with this prediction */
    size_t of;
};

static bool is_considered(const struct choosing *choosing, const struct at_mark *mark)
{
    return choosing->premiums[mark->place] < INFINITY;
}

static float predict(struct choosing *choosing, const struct at_config *config,
                     const struct at_launch *launch)
{
    return at_slowdown_predict(choosing->lookup->slowdown, &choosing->asked, config, launch);
}

/* Predict a legal config, and take it if it is predicted to be faster. */
static void compare(struct choosing *choosing, uint32_t number, const struct at_option *option)
{
    float predicted = predict(choosing, &option->config, &option->launch);

    choosing->predictions[number] = predicted;
    choosing->of++;
    if (predicted >= choosing->least)
        return;
    choosing->least = predicted;
    choosing->best = *option;
}

static void compare_all(struct choosing *choosing)
{
    const struct at_lookup *lookup = choosing->lookup;
    bool *considered = at_alloc_array(lookup->config_count, sizeof *considered);

    for (size_t i = 0; i < lookup->count; i++)
        if (is_considered(choosing, &lookup->marks[i]))
            considered[lookup->candidates[lookup->marks[i].candidate].config] = true;
    for (uint32_t i = 0; i < lookup->config_count; i++) {
        struct at_option option = {.mark = NULL};

        choosing->predictions[i] = INFINITY;
        if (considered[i] && at_known_fit(lookup, i, &choosing->asked.point, &option))
            compare(choosing, i, &option);
    }
    at_free(considered);
}

/* Find the nearest of the entries that have the best config. Several numbers have it if configs
 * became the same when they were fitted to the problem; their predictions are the same, too. */
static void find_mark(struct choosing *choosing, struct at_traits asked)
{
    const struct at_lookup *lookup = choosing->lookup;
    const struct at_mark *nearest = NULL;
    float least = INFINITY;

    at_traits_launch(&asked, choosing->query->problem, &choosing->best.launch);
    for (size_t i = 0; i < lookup->count; i++) {
        const struct at_mark *mark = &lookup->marks[i];
        float order;

        if (choosing->predictions[lookup->candidates[mark->candidate].config] > choosing->least ||
            !is_considered(choosing, mark))
            continue;
        order = at_distance_total(&mark->traits, &asked) + mark->of_share +
                choosing->premiums[mark->place];
        if (order < least || (order == least && mark->candidate < nearest->candidate)) {
            least = order;
            nearest = mark;
        }
    }
    choosing->best.mark = nearest;
}

/* The default is taken if it is predicted to be hardly slower. */
static const float default_margin = 0.02F;

/* Take the default config for the best, or leave that. */
static bool take_default(struct choosing *choosing)
{
    struct at_option usual;

    if (at_default_find(choosing->lookup, choosing->query, &usual, NULL) != AT_OK)
        return false;
    choosing->of++;
    if (predict(choosing, &usual.config, &usual.launch) > choosing->least + default_margin)
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
        .asked = at_slowdown_ask(query->problem, query->device),
        .predictions = at_alloc_raw(lookup->config_count * sizeof *choosing.predictions),
        .least = INFINITY,
    };

    compare_all(&choosing);
    if (!take_default(&choosing))
        find_mark(&choosing, *asked);
    at_free(choosing.predictions);
    return (struct at_choice){choosing.best, choosing.of};
}
