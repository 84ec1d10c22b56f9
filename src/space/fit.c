/* SPDX-License-Identifier: Apache-2.0 */
#include "space/fit.h"

#include "base/memory.h"
#include "space/rules.h"

static struct at_point point_of(const struct at_config *config, const struct at_problem *problem,
                                const struct at_device_info *device)
{
    struct at_point point = at_point_make(config->family, problem, device);

    for (size_t i = 0; i < config->family->param_count; i++)
        point.values[i] = config->values[i];
    return point;
}

static bool holds(const struct at_rule *rule, const struct at_point *point)
{
    bool held;

    return at_rule_holds(rule, point, &held, NULL) == AT_OK && held;
}

/* At a problem's size of an element, or at another in its place. */
static void ask_once(struct at_fit *fit, size_t size, const struct at_problem *home,
                     const struct at_device_info *device)
{
    const struct at_family *family = fit->config.family;
    struct at_problem problem = *home;
    struct at_point point;
    bool legal;

    problem.elem_size = INT64_C(1) << size;
    point = point_of(&fit->config, &problem, device);
    legal =
        at_config_launch(&fit->config, &problem, device, &fit->of_size[size].launch, NULL) == AT_OK;
    for (size_t i = 0; i < family->rule_count && legal; i++)
        legal = family->rules[i].of_shape || holds(&family->rules[i], &point);
    fit->of_size[size].legal = legal;
}

enum at_status at_fit_make(struct at_fit *fit, const struct at_config *config,
                           const struct at_problem *home, const struct at_device_info *device,
                           struct at_launch *launch, struct at_error *err)
{
    enum at_status status = at_config_launch(config, home, device, launch, err);

    if (status != AT_OK)
        return status;
    *fit = (struct at_fit){.config = *config};
    for (size_t i = 0; i < AT_FIT_SIZES; i++)
        ask_once(fit, i, home, device);
    return AT_OK;
}

/* Gives the parameters that the problem alone determines their values. Returns whether any value
 * changed; *possible: whether each has such a value. */
static bool follow(struct at_config *config, struct at_point *point, bool *possible)
{
    const struct at_family *family = config->family;
    bool changed = false;

    *possible = true;
    for (size_t i = 0; i < family->shape_rule_count; i++) {
        const struct at_rule *rule = &family->rules[family->shape_rules[i]];
        size_t at = rule->determines, value = 0;

        if (at == AT_DETERMINES_NOTHING || holds(rule, point))
            continue;
        for (; value < family->params[at].value_count; value++) {
            point->values[at] = family->params[at].values[value];
            if (holds(rule, point))
                break;
        }
        if (value == family->params[at].value_count) {
            *possible = false;
            return changed;
        }
        config->values[at] = (int32_t)point->values[at];
        changed = true;
    }
    return changed;
}

/* The rest is as at home. */
static bool shape_fits(const struct at_point *point, struct at_launch *launch)
{
    const struct at_family *family = point->family;

    for (size_t i = 0; i < family->shape_rule_count; i++) {
        const struct at_rule *rule = &family->rules[family->shape_rules[i]];

        if (!holds(rule, point))
            return false;
        if (rule->kind == AT_RULE_LAUNCH)
            (void)at_rule_launch(point, rule->field, &launch->field[rule->field], NULL);
    }
    return true;
}

bool at_fit_try(const struct at_fit *fit, const struct at_problem *problem,
                const struct at_device_info *device, bool alike, struct at_config *config,
                struct at_launch *launch)
{
    size_t size = (size_t)__builtin_ctzll((unsigned long long)problem->elem_size);
    struct at_config taken;
    struct at_launch started;
    struct at_point point;
    bool possible, legal, changed;

    if (alike && !fit->of_size[size].legal)
        return false;
    taken = fit->config;
    point = point_of(&taken, problem, device);
    changed = follow(&taken, &point, &possible);
    if (!possible)
        return false;
    started = fit->of_size[size].launch;
    if (alike && !changed)
        legal = shape_fits(&point, &started);
    else
        legal = at_config_legal(&taken, problem, device, &legal, NULL, NULL) == AT_OK && legal &&
                at_config_launch(&taken, problem, device, &started, NULL) == AT_OK;
    if (!legal)
        return false;
    *config = taken;
    *launch = started;
    return true;
}
