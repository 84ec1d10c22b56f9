/* SPDX-License-Identifier: Apache-2.0 */
#include "space/space.h"

#include "base/memory.h"
#include "space/rules.h"

/* Give up on a space whose constraints apply too late to be enumerated in reasonable time. The
 * largest published transpose space, of KTT with every size, needs a hundredth of this. */
enum { VISITS_MAX = 50 * 1000 * 1000 };

struct walk {
    struct at_point point;
    size_t first_rule[AT_PARAMS_MAX + 2]; /* [n]: the first rule that needs n parameters */
    struct at_space *space;
    size_t capacity, max_configs;
    int64_t visits;
    struct at_error *err;
};

static enum at_status add_config(struct walk *walk)
{
    const struct at_family *family = walk->point.family;
    struct at_space *space = walk->space;
    struct at_config config = {.family = family};

    if (space->count == walk->max_configs)
        return at_fail(walk->err, AT_USAGE,
                       "%s: more than %zu legal configs; remove values or add constraints",
                       family->path, walk->max_configs);
    for (size_t i = 0; i < family->param_count; i++)
        config.values[i] = (int32_t)walk->point.values[AT_NAME_PARAM_FIRST + i];
    AT_PUSH(space->configs, space->count, walk->capacity, config);
    return AT_OK;
}

/* Visit all points with the current values of the first `depth` parameters, unless a rule fails. */
static enum at_status visit(struct walk *walk, size_t depth)
{
    const struct at_family *family = walk->point.family;
    const struct at_param *param;
    enum at_status status = AT_OK;

    if (++walk->visits > VISITS_MAX)
        return at_fail(walk->err, AT_USAGE,
                       "%s: too many points to go through; put the parameters that constraints "
                       "share next to each other, or remove values",
                       family->path);
    for (size_t i = walk->first_rule[depth]; i < walk->first_rule[depth + 1]; i++) {
        bool holds;

        status = at_rule_holds(&family->rules[i], &walk->point, &holds, walk->err);
        if (status != AT_OK || !holds)
            return status;
    }
    if (depth == family->param_count)
        return add_config(walk);
    param = &family->params[depth];
    for (size_t i = 0; status == AT_OK && i < param->value_count; i++) {
        walk->point.values[AT_NAME_PARAM_FIRST + depth] = param->values[i];
        status = visit(walk, depth + 1);
    }
    return status;
}

static void find_first_rules(struct walk *walk)
{
    const struct at_family *family = walk->point.family;
    size_t rule = 0;

    for (size_t depth = 0; depth <= family->param_count; depth++) {
        walk->first_rule[depth] = rule;
        while (rule < family->rule_count && family->rules[rule].params_needed == depth)
            rule++;
    }
    walk->first_rule[family->param_count + 1] = rule;
}

/* Count all points of a family, up to AT_RAW_MAX. */
static int64_t count_raw(const struct at_family *family)
{
    int64_t raw = 1;

    for (size_t i = 0; i < family->param_count; i++)
        if (__builtin_mul_overflow(raw, (int64_t)family->params[i].value_count, &raw) ||
            raw > AT_RAW_MAX)
            return AT_RAW_MAX;
    return raw;
}

enum at_status at_space_build(struct at_space *space, struct at_family *const *families,
                              size_t family_count, const struct at_problem *problem,
                              const struct at_device_info *device, size_t max_configs,
                              struct at_error *err)
{
    struct at_space built = {0};
    struct walk walk = {.space = &built, .max_configs = max_configs, .err = err};

    for (size_t i = 0; i < family_count; i++) {
        enum at_status status;

        built.raw += count_raw(families[i]);
        if (built.raw > AT_RAW_MAX)
            built.raw = AT_RAW_MAX;
        walk.point = at_point_make(families[i], problem, device);
        walk.visits = 0;
        find_first_rules(&walk);
        status = visit(&walk, 0);
        if (status != AT_OK) {
            at_space_clear(&built);
            return status;
        }
    }
    *space = built;
    return AT_OK;
}

void at_space_clear(struct at_space *space)
{
    at_free(space->configs);
    *space = (struct at_space){0};
}

/* Fail with the reason why the first family's default is not legal. */
static enum at_status fail_without_default(struct at_family *const *families, size_t family_count,
                                           const struct at_problem *problem,
                                           const struct at_device_info *device,
                                           struct at_error *err)
{
    static const char message[] = "no family's default config is legal for this problem";
    struct at_config usual;
    char *refusal;

    if (family_count == 0)
        return at_fail(err, AT_FAILED, "%s", message);
    usual = at_family_default(families[0]);
    refusal = at_format("%s; %s", message, families[0]->name);
    (void)at_config_require(&usual, problem, device, refusal, err);
    at_free(refusal);
    return AT_FAILED;
}

/* Take the next value of the last parameter that yields, of the first `count`; if it has none,
 * begin anew and go on to the one before. Those behind begin anew too. False: there is none. */
static bool yield_default(struct at_config *config, size_t count)
{
    for (size_t i = config->family->param_count; i-- > 0;) {
        const struct at_param *param = &config->family->params[i];
        size_t next = at_param_level(param, config->values[i]) + 1;

        if (!param->yields)
            continue;
        if (i >= count)
            next = param->value_count;
        config->values[i] = (int32_t)param->values[next < param->value_count ? next : 0];
        if (next < param->value_count)
            return true;
    }
    return false;
}

/* Find the family's default for a problem. A broken rule stays broken until one of the parameters
 * that it needs has another value: there can be thousands of configs between. */
static enum at_status find_default(struct at_config *config, const struct at_family *family,
                                   const struct at_problem *problem,
                                   const struct at_device_info *device, bool *legal,
                                   struct at_error *err)
{
    struct at_point point = at_point_make(family, problem, device);
    const struct at_rule *broken;
    enum at_status status;

    *config = at_family_default(family);
    do {
        at_point_move(&point, config);
        status = at_rules_broken(&point, &broken, err);
    } while (status == AT_OK && broken && yield_default(config, broken->params_needed));
    *legal = status == AT_OK && !broken;
    return status;
}

enum at_status at_space_default(struct at_config *config, struct at_family *const *families,
                                size_t family_count, const struct at_problem *problem,
                                const struct at_device_info *device, struct at_error *err)
{
    const struct at_family *best = NULL;
    struct at_config found;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < family_count && status == AT_OK; i++) {
        struct at_config usual;
        bool legal;

        if (best && best->preference <= families[i]->preference)
            continue;
        status = find_default(&usual, families[i], problem, device, &legal, err);
        if (status == AT_OK && legal) {
            best = families[i];
            found = usual;
        }
    }
    if (status == AT_OK && !best)
        status = fail_without_default(families, family_count, problem, device, err);
    if (status == AT_OK)
        *config = found;
    return status;
}
