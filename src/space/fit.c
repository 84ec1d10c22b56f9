/* SPDX-License-Identifier: Apache-2.0 */
#include "space/fit.h"

#include "base/hash.h"
#include "base/memory.h"
#include "space/fit_parts.h"

struct at_fits *at_fits_new(void)
{
    return at_alloc(sizeof(struct at_fits));
}

void at_fits_free(struct at_fits *fits)
{
    if (!fits)
        return;
    for (size_t i = 0; i < fits->count; i++)
        at_free(fits->items[i].answers);
    at_free(fits->items);
    at_free(fits->families);
    at_free(fits->determining);
    at_free(fits);
}

bool at_fit_holds(const struct at_rule *rule, const struct at_point *point)
{
    bool held;

    return at_rule_holds(rule, point, &held, NULL) == AT_OK && held;
}

/* Evaluate the rules that do not use the shape, with another element size in the home problem. The
 * launch fields that use the shape are computed again for each query, so errors do not matter. */
static void evaluate_size(struct at_fit *fit, size_t size, const struct at_problem *home)
{
    const struct at_family *family = fit->config.family;
    struct at_problem problem = *home;
    struct at_point point;
    bool at_home = true, anywhere = true;

    problem.elem_size = INT64_C(1) << size;
    point = at_point_make(family, &problem, fit->device);
    at_point_move(&point, &fit->config);
    for (int i = 0; i < AT_LAUNCH_FIELDS; i++)
        (void)at_rule_launch(&point, (enum at_launch_field)i, &fit->launches[size].field[i], NULL);
    for (size_t i = 0; i < family->rule_count && anywhere; i++) {
        const struct at_rule *rule = &family->rules[i];
        bool held = rule->of_shape || at_fit_holds(rule, &point);

        at_home = at_home && held;
        anywhere = held || rule->of_device;
    }
    fit->sizes_at_home |= (uint32_t)(at_home && anywhere) << size;
    fit->sizes |= (uint32_t)anywhere << size;
}

static size_t find_family(struct at_fits *fits, const struct at_family *family)
{
    struct at_fit_family found = {family, fits->determining_count, 0};

    for (size_t i = 0; i < fits->family_count; i++)
        if (fits->families[i].family == family)
            return i;
    for (size_t i = 0; i < family->shape_rule_count; i++) {
        const struct at_determining determining = {family, &family->rules[family->shape_rules[i]]};

        if (determining.rule->determines != AT_DETERMINES_NOTHING)
            AT_PUSH(fits->determining, fits->determining_count, fits->determining_capacity,
                    determining);
    }
    found.count = fits->determining_count - found.first;
    AT_PUSH(fits->families, fits->family_count, fits->family_capacity, found);
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

/* Find an earlier config's answer to the same question of a shape rule, or make a new one. */
static size_t find_answer(struct at_fits *fits, const struct at_fit *fit, size_t shape_rule)
{
    const struct at_family *family = fit->config.family;
    const struct at_rule *rule = &family->rules[family->shape_rules[shape_rule]];

    for (size_t i = fits->count; i-- > 0;)
        if (fits->items[i].family == fit->family &&
            same_to_rule(rule, &fits->items[i].config, &fit->config))
            return fits->items[i].answers[shape_rule];
    return fits->answer_count++;
}

static size_t hash_of(const struct at_config *config)
{
    return at_hash64(config->values, config->family->param_count * sizeof *config->values, 0) %
           AT_FIT_HASHES;
}

/* Find the same config from a device with the same limits. Returns its number + 1; 0: none. */
static size_t find(const struct at_fits *fits, size_t hash, const struct at_config *config,
                   const struct at_device_info *device)
{
    size_t at = fits->first[hash];

    for (; at; at = fits->items[at - 1].next) {
        const struct at_fit *fit = &fits->items[at - 1];

        if (at_config_equal(&fit->config, config) && at_point_devices_alike(fit->device, device))
            break;
    }
    return at;
}

static void add(struct at_fits *fits, size_t hash, const struct at_config *config,
                const struct at_problem *home, const struct at_device_info *device)
{
    const struct at_family *family = config->family;
    struct at_fit fit = {.config = *config, .device = device, .next = fits->first[hash]};

    for (size_t i = 0; i < AT_FIT_SIZES; i++)
        evaluate_size(&fit, i, home);
    fit.family = find_family(fits, family);
    fit.answers = at_alloc_array(family->shape_rule_count, sizeof *fit.answers);
    for (size_t i = 0; i < family->shape_rule_count; i++)
        fit.answers[i] = find_answer(fits, &fit, i);
    AT_PUSH(fits->items, fits->count, fits->capacity, fit);
    fits->first[hash] = fits->count;
}

enum at_status at_fits_add(struct at_fits *fits, const struct at_config *config,
                           const struct at_problem *home, const struct at_device_info *device,
                           size_t *number, struct at_launch *launch, struct at_error *err)
{
    size_t hash = hash_of(config), at;
    enum at_status status = at_config_launch(config, home, device, launch, err);

    if (status != AT_OK)
        return status;
    at = find(fits, hash, config, device);
    if (!at) {
        add(fits, hash, config, home, device);
        at = fits->count;
    }
    *number = at - 1;
    return AT_OK;
}

const struct at_config *at_fits_config(const struct at_fits *fits, size_t number)
{
    return &fits->items[number].config;
}
