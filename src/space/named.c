/* SPDX-License-Identifier: Apache-2.0 */
#include "space/named.h"

#include "base/memory.h"

#include <string.h>

static const struct at_family *find_family(struct at_family *const *families, size_t count,
                                           const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(families[i]->name, name) == 0)
            return families[i];
    return NULL;
}

static const struct at_param *find_param(const struct at_family *family, const char *name)
{
    for (size_t i = 0; i < family->param_count; i++)
        if (strcmp(family->params[i].name, name) == 0)
            return &family->params[i];
    return NULL;
}

enum at_status at_config_from_names(struct at_config *config, struct at_family *const *families,
                                    size_t family_count, const char *family,
                                    const struct at_list *parameters, struct at_error *err)
{
    const struct at_named_int *named = parameters->items;
    struct at_config found = {.family = find_family(families, family_count, family)};

    if (!found.family)
        return at_fail(err, AT_USAGE, "there is no family \"%s\"", family);
    /* Names in a mapping are unique, so as many as there are parameters are all of them. */
    for (size_t i = 0; i < parameters->count; i++) {
        const struct at_param *param = find_param(found.family, named[i].name);

        if (!param)
            return at_fail(err, AT_USAGE, "family %s has no parameter %s", family, named[i].name);
        if (!at_param_has_value(param, named[i].value))
            return at_fail(err, AT_USAGE, "%s=%lld is not in the space of family %s", named[i].name,
                           (long long)named[i].value, family);
        found.values[param - found.family->params] = (int32_t)named[i].value;
    }
    if (parameters->count != found.family->param_count)
        return at_fail(err, AT_USAGE, "family %s has %zu parameters, not %zu", family,
                       found.family->param_count, parameters->count);
    *config = found;
    return AT_OK;
}
