/* SPDX-License-Identifier: Apache-2.0 */
/* Checks prepared configs for a problem. A rule is evaluated at most once for all configs that
 * share its answer. */
#include "base/memory.h"
#include "space/fit_parts.h"

enum answer { UNKNOWN, HOLDS, FAILS };

/* The value of a parameter according to a determining rule. */
struct determined {
    bool known;    /* the rest is filled */
    bool possible; /* the parameter has that value */
    int32_t value;
};

struct at_fit_query {
    const struct at_fits *fits;
    const struct at_problem *problem;
    const struct at_device_info *device;
    uint32_t size;                  /* of an element, in bytes: one bit of at_fit.sizes */
    struct at_point point;          /* at the config `at` */
    size_t at;                      /* a config's number; SIZE_MAX: none */
    unsigned char *answers;         /* enum answer */
    struct determined determined[]; /* by index into at_fits.determining */
};

static struct determined *determine(struct at_fit_query *query, size_t number)
{
    const struct at_determining *determining = &query->fits->determining[number];
    const struct at_param *param = &determining->family->params[determining->rule->determines];
    struct determined *determined = &query->determined[number];
    int64_t value;

    if (determined->known)
        return determined;
    determined->known = true;
    determined->possible =
        at_expr_eval_equated(determining->rule->expr, query->point.values, &value) == AT_OK &&
        at_param_has_value(param, value);
    if (determined->possible)
        determined->value = (int32_t)value;
    return determined;
}

struct at_fit_query *at_fit_query_new(const struct at_fits *fits, const struct at_problem *problem,
                                      const struct at_device_info *device)
{
    size_t size = sizeof(struct at_fit_query) + fits->determining_count * sizeof(struct determined);
    struct at_fit_query *query = at_alloc(size + fits->answer_count);

    query->fits = fits;
    query->problem = problem;
    query->device = device;
    query->size = (uint32_t)problem->elem_size;
    query->point = at_point_make(NULL, problem, device);
    query->at = SIZE_MAX;
    query->answers = (unsigned char *)query + size;
    return query;
}

void at_fit_query_free(struct at_fit_query *query)
{
    at_free(query);
}

/* Set the parameters that the problem determines. Returns the changed ones, as bits. */
static uint32_t set_determined(const struct at_fit_query *query, const struct at_fit_family *family,
                               struct at_config *config)
{
    uint32_t changed = 0;

    for (size_t i = family->first; i < family->first + family->count; i++) {
        int param = query->fits->determining[i].rule->determines;

        if (config->values[param] != query->determined[i].value)
            changed |= UINT32_C(1) << param;
        config->values[param] = query->determined[i].value;
    }
    return changed;
}

/* A config that is being checked. */
struct trial {
    struct at_fit_query *query;
    size_t number;
    struct at_config *config; /* with the determined parameters */
    uint32_t changed;         /* those parameters, as bits */
};

static const struct at_point *point_of(const struct trial *trial)
{
    struct at_fit_query *query = trial->query;

    if (query->at != trial->number)
        at_point_move(&query->point, trial->config);
    query->at = trial->number;
    return &query->point;
}

/* Fill a launch field that uses the shape. Returns false if it is out of bounds. */
static bool fill_launch(const struct trial *trial, enum at_launch_field field,
                        struct at_launch *launch)
{
    const struct at_point *point = point_of(trial);
    int64_t *value = &launch->field[field];

    return at_rule_launch(point, field, value, NULL) == AT_OK &&
           at_rule_launch_fits(point, field, *value);
}

/* Check the rules that use the shape, and fill those fields of the launch. */
static bool shape_rules_hold(const struct trial *trial, struct at_launch *launch)
{
    const struct at_family *family = trial->config->family;
    const size_t *answers = trial->query->fits->items[trial->number].answers;

    for (size_t i = 0; i < family->shape_rule_count; i++) {
        const struct at_rule *rule = &family->rules[family->shape_rules[i]];
        unsigned char own = UNKNOWN;
        unsigned char *answer =
            rule->params_used & trial->changed ? &own : &trial->query->answers[answers[i]];

        if (rule->kind == AT_RULE_LAUNCH)
            *answer = fill_launch(trial, rule->field, launch) ? HOLDS : FAILS;
        if (*answer == UNKNOWN)
            *answer = at_fit_holds(rule, point_of(trial)) ? HOLDS : FAILS;
        if (*answer == FAILS)
            return false;
    }
    return true;
}

/* Check the other rules, unless they are known to hold. */
static bool other_rules_hold(const struct trial *trial, bool alike)
{
    const struct at_family *family = trial->config->family;
    bool checked = trial->query->fits->items[trial->number].sizes & trial->query->size;

    for (size_t i = 0; i < family->rule_count; i++) {
        const struct at_rule *rule = &family->rules[i];
        bool held = checked && !(rule->params_used & trial->changed) && (alike || !rule->of_device);

        if (!rule->of_shape && !held && !at_fit_holds(rule, point_of(trial)))
            return false;
    }
    return true;
}

/* A quick check: could the config be legal? */
static bool may_fit(struct at_fit_query *query, const struct at_fit *fit, bool alike)
{
    const struct at_fit_family *family = &query->fits->families[fit->family];

    for (size_t i = family->first; i < family->first + family->count; i++)
        if (!determine(query, i)->possible)
            return false;
    if (alike)
        return fit->sizes_at_home & query->size;
    /* With a changed parameter, other sizes may be legal. */
    return family->count > 0 || fit->sizes & query->size;
}

bool at_fit_try(struct at_fit_query *query, size_t number, bool alike, struct at_config *config,
                struct at_launch *launch)
{
    const struct at_fit *fit = &query->fits->items[number];
    struct trial trial = {.query = query, .number = number, .config = config};

    if (!may_fit(query, fit, alike))
        return false;
    *config = fit->config;
    *launch = fit->launches[__builtin_ctz(query->size)];
    trial.changed = set_determined(query, &query->fits->families[fit->family], config);
    if (!shape_rules_hold(&trial, launch))
        return false;
    return (alike && !trial.changed) ||
           (other_rules_hold(&trial, alike) &&
            at_config_launch(config, query->problem, query->device, launch, NULL) == AT_OK);
}
