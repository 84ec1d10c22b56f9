/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/rivals.h"

#include "base/memory.h"
#include "device/relation.h"
#include "lookup/nearest.h"
#include "lookup/rank.h"
#include "space/named.h"
#include "space/point.h"
#include "space/space.h"

#include <math.h>
#include <string.h>

/* Answers, the nearest first, of different configs or of different families. */
struct list {
    struct at_answer *items;
    size_t count, most;
    bool of_families;
};

struct rivals {
    const struct at_lookup *lookup;
    const struct at_query *query;
    const struct at_answer *answer;
    struct at_problem_kind kind; /* of the kernels that are considered */
    struct at_point point;       /* of the query, at the last config that was tried */
    struct at_traits asked;      /* with the launch of the last config that was tried */
    struct list nearest, families;
};

static bool is_of_kind(const struct rivals *rivals, const struct at_candidate *candidate)
{
    return candidate->kind.elem_size == rivals->kind.elem_size &&
           candidate->kind.axes == rivals->kind.axes;
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

/* ---- lists ---- */

static void remove_rival(struct list *list, size_t number)
{
    list->count--;
    memmove(&list->items[number], &list->items[number + 1],
            (list->count - number) * sizeof *list->items);
}

static bool is_alike(const struct list *list, const struct at_config *a, const struct at_config *b)
{
    return list->of_families ? a->family == b->family : at_config_equal(a, b);
}

/* Is the config, or its family, new or nearer than before? Then it is not in the list afterwards.
 */
static bool make_way(struct list *list, const struct at_answer *rival)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!is_alike(list, &list->items[i].config, &rival->config))
            continue;
        if (list->items[i].distance.total <= rival->distance.total)
            return false;
        remove_rival(list, i);
        break;
    }
    return true;
}

/* Sort the rival in; at the same distance the earlier candidate stays before. */
static void insert(struct list *list, const struct at_answer *rival)
{
    size_t place = list->count;

    if (!make_way(list, rival))
        return;
    for (place = list->count; place > 0; place--)
        if (list->items[place - 1].distance.total <= rival->distance.total)
            break;
    if (place == list->most)
        return;
    list->count += list->count < list->most;
    memmove(&list->items[place + 1], &list->items[place],
            (list->count - place - 1) * sizeof *list->items);
    list->items[place] = *rival;
}

/* Would this list take a rival of this family at this distance? */
static bool would_take(const struct list *list, const struct at_family *family, float distance)
{
    if (list->of_families)
        for (size_t i = 0; i < list->count; i++)
            if (list->items[i].config.family == family)
                return distance < list->items[i].distance.total;
    return list->count < list->most || distance < list->items[list->count - 1].distance.total;
}

/* ---- the nearest ---- */

static bool is_wanted(const struct rivals *rivals, const struct at_family *family, float distance)
{
    return distance <= at_distance_max(&rivals->asked) &&
           (would_take(&rivals->nearest, family, distance) ||
            would_take(&rivals->families, family, distance));
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
        .tuned_problem = candidate->problem,
        .entry = candidate->entry,
        .expected_of_copy_permille = candidate->of_copy_permille,
    };

    if (!is_wanted(rivals, candidate->config.family,
                   at_distance_bound(&mark->traits, &rivals->asked)) ||
        !at_config_adapt(&rival.config, &rivals->point, &rival.launch) ||
        /* adapted, it is another kernel than the one that was correct */
        !at_config_equal(&rival.config, &candidate->config) ||
        at_config_equal(&rival.config, &rivals->answer->config))
        return;
    at_traits_launch(&rivals->asked, query->problem, &rival.launch);
    rival.distance = at_distance_between(&mark->traits, &rivals->asked);
    if (rival.distance.total > at_distance_max(&rivals->asked))
        return;
    insert(&rivals->nearest, &rival);
    insert(&rivals->families, &rival);
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
             (candidate->entry && has_been(rivals, &candidate->entry->fallback, config))))
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

/* ---- the choice ---- */

static bool has_family(const struct at_answer *answers, size_t count,
                       const struct at_family *family)
{
    for (size_t i = 0; i < count; i++)
        if (answers[i].config.family == family)
            return true;
    return false;
}

static bool has_config(const struct at_answer *answers, size_t count,
                       const struct at_config *config)
{
    for (size_t i = 0; i < count; i++)
        if (at_config_equal(&answers[i].config, config))
            return true;
    return false;
}

/* The first of a list that is not yet chosen: of another family if the list is of families. */
static const struct at_answer *next_of(const struct rivals *rivals, const struct list *list,
                                       const struct at_answer *chosen, size_t count)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct at_config *config = &list->items[i].config;

        if (list->of_families ? config->family != rivals->answer->config.family &&
                                    !has_family(chosen, count, config->family)
                              : !has_config(chosen, count, config))
            return &list->items[i];
    }
    return NULL;
}

/* The default config comes behind the nearest rival, or where tiles are known to be poor, behind
 * two. With time for one rival alone, the nearest gains more (doc/lab/lookup.md). */
enum { BEFORE_DEFAULT = 1, BEFORE_POOR_DEFAULT = 2 };

/* Where nothing is near, every second one is the nearest of a family that is not yet there: the
 * nearest are likely to be wrong together. */
static size_t choose(const struct rivals *rivals, const struct at_answer *usual,
                     struct at_answer chosen[AT_RIVALS_MAX])
{
    bool far = at_answer_is_uncertain(rivals->answer), other = false;
    bool poor = at_distance_max(&rivals->asked) == INFINITY;
    size_t count = 0, place = poor ? BEFORE_POOR_DEFAULT : BEFORE_DEFAULT;

    while (count < AT_RIVALS_MAX) {
        const struct at_answer *next = NULL;
        bool is_usual = false;

        if (usual && count >= place && !has_config(chosen, count, &usual->config)) {
            next = usual;
            is_usual = true;
        }
        if (!next && far && other)
            next = next_of(rivals, &rivals->families, chosen, count);
        if (!next)
            next = next_of(rivals, &rivals->nearest, chosen, count);
        if (!next)
            break;
        chosen[count++] = *next;
        other = other == is_usual;
    }
    if (usual && count < place && !has_config(chosen, count, &usual->config))
        chosen[count++] = *usual;
    return count;
}

size_t at_rivals_find(const struct at_lookup *lookup, const struct at_query *query,
                      const struct at_answer *answer, struct at_answer rivals[AT_RIVALS_MAX])
{
    struct at_answer *lists = at_alloc_raw(2 * AT_RIVALS_MAX * sizeof *lists);
    struct rivals found = {
        .lookup = lookup,
        .query = query,
        .answer = answer,
        .kind = at_problem_kind(query->problem),
        .point = at_point_make(NULL, query->problem, query->device),
        .asked = at_traits_of(query->problem, query->device),
        .nearest = {lists, 0, AT_RIVALS_MAX, false},
        .families = {lists + AT_RIVALS_MAX, 0, AT_RIVALS_MAX, true},
    };
    size_t count = 0;

    if (!at_answer_is_settled(answer, query)) {
        struct at_answer usual;
        bool has_usual = find_default(&found, &usual);

        for (size_t i = 0; i < lookup->count; i++) {
            const struct at_mark *mark = &lookup->marks[i];
            const struct at_candidate *candidate = &lookup->candidates[mark->candidate];

            if (is_of_kind(&found, candidate) && is_safe(&found, mark))
                try_candidate(&found, mark);
        }
        count = choose(&found, has_usual ? &usual : NULL, rivals);
    }
    at_free(lists);
    return count;
}
