/* SPDX-License-Identifier: Apache-2.0 */
#include "space/fit.h"

#include "base/memory.h"
#include "space/rules.h"

#include <stdlib.h>

/* Sizes of an element: 1, 2, 4, 8 and 16 bytes. */
enum { SIZES = 5 };

struct fit {
    struct at_config config;
    size_t family;   /* among those of the fits */
    size_t *answers; /* to the family's shape rules, one each: among those of a query */
    /* The sizes of elements, a bit each, for which it is legal as far as rules do not look at the
     * shape: on the device at home, and on another as far as they do not look at that either. */
    uint32_t sizes_at_home, sizes;
    struct at_launch launches[SIZES]; /* at home, where they do not depend on the shape */
};

/* A rule by which the problem determines a parameter. */
struct determining {
    size_t family;
    const struct at_rule *rule;
};

struct at_fits {
    struct fit *items;
    size_t count, capacity;
    const struct at_family **families;
    size_t family_count, family_capacity;
    struct determining *determining;
    size_t determining_count, determining_capacity;
    size_t answer_count;
};

enum answer { NOT_ASKED, HOLDS, FAILS };

/* The parameters of a family that the problem determines. */
struct determined {
    bool impossible; /* one of them has no such value */
    uint32_t params; /* a bit each */
    int32_t values[AT_PARAMS_MAX];
};

struct at_fit_query {
    const struct at_fits *fits;
    const struct at_problem *problem;
    const struct at_device_info *device;
    uint32_t size;                /* of an element, as a bit */
    struct at_point point;        /* at the config of this number: */
    size_t at;                    /* SIZE_MAX: at none */
    unsigned char *answers;       /* enum answer */
    struct determined families[]; /* of the fits */
};

/* ---- making ready ---- */

struct at_fits *at_fits_new(void)
{
    return at_alloc(sizeof(struct at_fits));
}

void at_fits_free(struct at_fits *fits)
{
    if (!fits)
        return;
    for (size_t i = 0; i < fits->count; i++)
        free(fits->items[i].answers);
    free(fits->items);
    free(fits->families);
    free(fits->determining);
    free(fits);
}

static bool holds(const struct at_rule *rule, const struct at_point *point)
{
    bool held;

    return at_rule_holds(rule, point, &held, NULL) == AT_OK && held;
}

/* At a problem's size of an element, or at another in its place. */
static void ask_size(struct fit *fit, size_t size, const struct at_problem *home,
                     const struct at_device_info *device)
{
    const struct at_family *family = fit->config.family;
    struct at_problem problem = *home;
    struct at_point point;
    bool at_home, anywhere = true;

    problem.elem_size = INT64_C(1) << size;
    point = at_point_make(family, &problem, device);
    at_point_move(&point, &fit->config);
    at_home = at_config_launch(&fit->config, &problem, device, &fit->launches[size], NULL) == AT_OK;
    for (size_t i = 0; i < family->rule_count && anywhere; i++) {
        const struct at_rule *rule = &family->rules[i];
        bool held = rule->of_shape || holds(rule, &point);

        at_home = at_home && held;
        anywhere = held || rule->of_device;
    }
    fit->sizes_at_home |= (uint32_t)(at_home && anywhere) << size;
    fit->sizes |= (uint32_t)anywhere << size;
}

static size_t find_family(struct at_fits *fits, const struct at_family *family)
{
    for (size_t i = 0; i < fits->family_count; i++)
        if (fits->families[i] == family)
            return i;
    AT_PUSH(fits->families, fits->family_count, fits->family_capacity, family);
    for (size_t i = 0; i < family->shape_rule_count; i++) {
        const struct determining determining = {fits->family_count - 1,
                                                &family->rules[family->shape_rules[i]]};

        if (determining.rule->determines != AT_DETERMINES_NOTHING)
            AT_PUSH(fits->determining, fits->determining_count, fits->determining_capacity,
                    determining);
    }
    return fits->family_count - 1;
}

static bool same_to_rule(const struct at_rule *rule, const struct at_config *a,
                         const struct at_config *b)
{
    for (size_t i = 0; i < a->family->param_count; i++)
        if (rule->params_used >> i & 1 && a->values[i] != b->values[i])
            return false;
    return true;
}

/* An answer that is not shared costs time and nothing else. */
enum { SHARED_WITH_MAX = 64 };

/* Finds the answer to a shape rule that an earlier config has too, or makes a new one. */
static size_t find_answer(struct at_fits *fits, const struct fit *fit, size_t shape_rule)
{
    const struct at_family *family = fit->config.family;
    const struct at_rule *rule = &family->rules[family->shape_rules[shape_rule]];
    size_t first = fits->count > SHARED_WITH_MAX ? fits->count - SHARED_WITH_MAX : 0;

    for (size_t i = fits->count; i-- > first;)
        if (fits->items[i].family == fit->family &&
            same_to_rule(rule, &fits->items[i].config, &fit->config))
            return fits->items[i].answers[shape_rule];
    return fits->answer_count++;
}

enum at_status at_fits_add(struct at_fits *fits, const struct at_config *config,
                           const struct at_problem *home, const struct at_device_info *device,
                           struct at_launch *launch, struct at_error *err)
{
    const struct at_family *family = config->family;
    struct fit fit = {.config = *config};
    enum at_status status = at_config_launch(config, home, device, launch, err);

    if (status != AT_OK)
        return status;
    for (size_t i = 0; i < SIZES; i++)
        ask_size(&fit, i, home, device);
    fit.family = find_family(fits, family);
    fit.answers = at_alloc_array(family->shape_rule_count, sizeof *fit.answers);
    for (size_t i = 0; i < family->shape_rule_count; i++)
        fit.answers[i] = find_answer(fits, &fit, i);
    AT_PUSH(fits->items, fits->count, fits->capacity, fit);
    return AT_OK;
}

const struct at_config *at_fits_config(const struct at_fits *fits, size_t number)
{
    return &fits->items[number].config;
}

/* ---- asking ---- */

/* Finds the values that the problem alone determines. */
static void determine(struct at_fit_query *query)
{
    for (size_t i = 0; i < query->fits->determining_count; i++) {
        const struct determining *determining = &query->fits->determining[i];
        const struct at_family *family = query->fits->families[determining->family];
        struct determined *determined = &query->families[determining->family];
        size_t param = determining->rule->determines;
        int64_t value;

        if (at_expr_eval_equated(determining->rule->expr, query->point.values, &value) != AT_OK ||
            !at_param_has_value(&family->params[param], value)) {
            determined->impossible = true;
            continue;
        }
        determined->params |= UINT32_C(1) << param;
        determined->values[param] = (int32_t)value;
    }
}

struct at_fit_query *at_fit_query_new(const struct at_fits *fits, const struct at_problem *problem,
                                      const struct at_device_info *device)
{
    size_t size = sizeof(struct at_fit_query) + fits->family_count * sizeof(struct determined);
    struct at_fit_query *query = at_alloc(size + fits->answer_count);

    query->fits = fits;
    query->problem = problem;
    query->device = device;
    query->size = (uint32_t)problem->elem_size;
    query->point = at_point_make(NULL, problem, device);
    query->at = SIZE_MAX;
    query->answers = (unsigned char *)query + size;
    determine(query);
    return query;
}

void at_fit_query_free(struct at_fit_query *query)
{
    free(query);
}

/* Returns which parameters change, a bit each. */
static uint32_t follow(struct at_config *config, const struct determined *determined)
{
    uint32_t changed = 0;

    for (uint32_t left = determined->params; left; left &= left - 1) {
        int param = __builtin_ctz(left);

        if (config->values[param] != determined->values[param])
            changed |= UINT32_C(1) << param;
        config->values[param] = determined->values[param];
    }
    return changed;
}

/* A config that is tried. */
struct trial {
    struct at_fit_query *query;
    size_t number;
    struct at_config config; /* after it has followed the problem */
    uint32_t changed;        /* by that */
};

static const struct at_point *point_of(const struct trial *trial)
{
    struct at_fit_query *query = trial->query;

    if (query->at != trial->number)
        at_point_move(&query->point, &trial->config);
    query->at = trial->number;
    return &query->point;
}

static bool shape_rules_hold(const struct trial *trial)
{
    const struct at_family *family = trial->config.family;
    const size_t *answers = trial->query->fits->items[trial->number].answers;

    for (size_t i = 0; i < family->shape_rule_count; i++) {
        const struct at_rule *rule = &family->rules[family->shape_rules[i]];
        unsigned char own = NOT_ASKED;
        unsigned char *answer =
            rule->params_used & trial->changed ? &own : &trial->query->answers[answers[i]];

        if (*answer == NOT_ASKED)
            *answer = holds(rule, point_of(trial)) ? HOLDS : FAILS;
        if (*answer == FAILS)
            return false;
    }
    return true;
}

/* Those that have not been asked before. */
static bool other_rules_hold(const struct trial *trial, bool alike)
{
    const struct at_family *family = trial->config.family;
    bool asked = trial->query->fits->items[trial->number].sizes & trial->query->size;

    for (size_t i = 0; i < family->rule_count; i++) {
        const struct at_rule *rule = &family->rules[i];
        bool held = asked && !(rule->params_used & trial->changed) && (alike || !rule->of_device);

        if (!rule->of_shape && !held && !holds(rule, point_of(trial)))
            return false;
    }
    return true;
}

/* The fields of a launch that depend on the shape, which are the only ones that may differ from
 * those at home. */
static void fill_launch(const struct trial *trial, struct at_launch *launch)
{
    const struct at_family *family = trial->config.family;

    for (size_t i = 0; i < family->shape_rule_count; i++) {
        const struct at_rule *rule = &family->rules[family->shape_rules[i]];

        /* The rule holds, so it can be evaluated. */
        if (rule->kind == AT_RULE_LAUNCH)
            (void)at_rule_launch(point_of(trial), rule->field, &launch->field[rule->field], NULL);
    }
}

bool at_fit_may(const struct at_fit_query *query, size_t number, bool alike)
{
    const struct fit *fit = &query->fits->items[number];
    const struct determined *determined = &query->families[fit->family];

    if (determined->impossible)
        return false;
    if (alike)
        return fit->sizes_at_home & query->size;
    /* With another value of a parameter other sizes may be legal. */
    return determined->params || fit->sizes & query->size;
}

bool at_fit_try(struct at_fit_query *query, size_t number, bool alike, struct at_config *config,
                struct at_launch *launch)
{
    const struct fit *fit = &query->fits->items[number];
    struct trial trial = {.query = query, .number = number, .config = fit->config};
    struct at_launch started = fit->launches[__builtin_ctz(query->size)];

    if (!at_fit_may(query, number, alike))
        return false;
    trial.changed = follow(&trial.config, &query->families[fit->family]);
    if (!shape_rules_hold(&trial))
        return false;
    if (alike && !trial.changed)
        fill_launch(&trial, &started);
    else if (!other_rules_hold(&trial, alike) ||
             at_config_launch(&trial.config, query->problem, query->device, &started, NULL) !=
                 AT_OK)
        return false;
    *config = trial.config;
    *launch = started;
    return true;
}
