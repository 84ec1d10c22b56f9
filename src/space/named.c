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

enum at_status at_config_from_some_names(struct at_config *config,
                                         struct at_family *const *families, size_t family_count,
                                         const char *family, const struct at_list *parameters,
                                         struct at_error *err)
{
    const struct at_named_int *named = parameters->items;
    const struct at_family *known = find_family(families, family_count, family);
    struct at_config found;

    if (!known)
        return at_fail(err, AT_USAGE, "there is no family \"%s\"", family);
    found = at_family_default(known);
    for (size_t i = 0; i < parameters->count; i++) {
        const struct at_param *param = find_param(known, named[i].name);

        if (!param)
            return at_fail(err, AT_USAGE, "family %s has no parameter %s", family, named[i].name);
        if (!at_param_has_value(param, named[i].value))
            return at_fail(err, AT_USAGE, "%s=%lld is not in the space of family %s", named[i].name,
                           (long long)named[i].value, family);
        found.values[param - known->params] = (int32_t)named[i].value;
    }
    *config = found;
    return AT_OK;
}

enum at_status at_config_from_names(struct at_config *config, struct at_family *const *families,
                                    size_t family_count, const char *family,
                                    const struct at_list *parameters, struct at_error *err)
{
    struct at_config found;
    enum at_status status =
        at_config_from_some_names(&found, families, family_count, family, parameters, err);

    if (status != AT_OK)
        return status;
    /* Names in a mapping are unique, so as many as there are parameters are all of them. */
    if (parameters->count != found.family->param_count)
        return at_fail(err, AT_USAGE, "family %s has %zu parameters, not %zu", family,
                       found.family->param_count, parameters->count);
    *config = found;
    return AT_OK;
}
