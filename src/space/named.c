/* SPDX-License-Identifier: Apache-2.0 */
#include "space/named.h"

#include "base/integer.h"
#include "base/memory.h"
#include "base/printable.h"

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
        if (family->params[i].name[0] == name[0] && strcmp(family->params[i].name, name) == 0)
            return &family->params[i];
    return NULL;
}

/* Make a config from names, with defaults for missing parameters; given[] tells which are there. */
static enum at_status from_names(struct at_config *config, bool given[AT_PARAMS_MAX],
                                 const struct at_family *known, const char *family,
                                 const struct at_list *parameters, struct at_error *err)
{
    const struct at_named_int *named = parameters->items;

    if (!known)
        return at_fail(err, AT_USAGE, "there is no family \"%s\"", family);
    *config = at_family_default(known);
    for (size_t i = 0; i < parameters->count; i++) {
        const struct at_param *param = find_param(known, named[i].name);

        if (!param)
            return at_fail(err, AT_USAGE, "family %s has no parameter %s", family, named[i].name);
        if (!at_param_has_value(param, named[i].value))
            return at_fail(err, AT_USAGE, "%s=%lld is not in the space of family %s", named[i].name,
                           (long long)named[i].value, family);
        config->values[param - known->params] = (int32_t)named[i].value;
        given[param - known->params] = true;
    }
    return AT_OK;
}

enum at_status at_config_from_some_names(struct at_config *config,
                                         struct at_family *const *families, size_t family_count,
                                         const char *family, const struct at_list *parameters,
                                         struct at_error *err)
{
    bool given[AT_PARAMS_MAX] = {false};
    struct at_config found;
    enum at_status status = from_names(&found, given, find_family(families, family_count, family),
                                       family, parameters, err);

    if (status == AT_OK)
        *config = found;
    return status;
}

enum at_status at_config_from_names(struct at_config *config, struct at_family *const *families,
                                    size_t family_count, const char *family,
                                    const struct at_list *parameters, struct at_error *err)
{
    const struct at_family *known = find_family(families, family_count, family);
    bool given[AT_PARAMS_MAX] = {false};
    struct at_config found;
    enum at_status status = from_names(&found, given, known, family, parameters, err);

    if (status != AT_OK)
        return status;
    for (size_t i = 0; i < known->param_count; i++) {
        if (!given[i] && !known->params[i].has_neutral)
            return at_fail(err, AT_USAGE, "a config of family %s needs parameter %s", family,
                           known->params[i].name);
        if (!given[i])
            found.values[i] = (int32_t)known->params[i].neutral;
    }
    *config = found;
    return AT_OK;
}

/* Split "NAME=VALUE" in place. */
static bool read_named(char *word, struct at_named_int *named)
{
    char *sign = strchr(word, '=');

    if (!sign || !at_integer_parse(sign + 1, strlen(sign + 1), &named->value))
        return false;
    *sign = '\0';
    named->name = word;
    return true;
}

/* Does the config format to this text? If so, no parameter is given twice. */
static bool is_text_of(const struct at_config *config, const char *text)
{
    char *parameters = at_config_format(config),
         *written = at_format("%s %s", config->family->name, parameters);
    bool same = strcmp(written, text) == 0;

    at_free(written);
    at_free(parameters);
    return same;
}

enum at_status at_config_parse(struct at_config *config, struct at_family *const *families,
                               size_t family_count, const char *text, struct at_error *err)
{
    struct at_named_int named[AT_PARAMS_MAX];
    struct at_list parameters = {named, 0};
    struct at_config found;
    char *words = at_strdup(text), *rest, *family = strtok_r(words, " ", &rest), *word;
    bool good = family != NULL;
    enum at_status status;

    while (good && (word = strtok_r(NULL, " ", &rest)))
        good = parameters.count < AT_PARAMS_MAX && read_named(word, &named[parameters.count++]);
    status = good ? at_config_from_names(&found, families, family_count, family, &parameters, err)
                  : AT_USAGE;
    if (!good || (status == AT_OK && !is_text_of(&found, text)))
        status = at_fail(err, AT_USAGE, "\"%.*s\" is no config", AT_QUOTED(text, 200));
    if (status == AT_OK)
        *config = found;
    at_free(words);
    return status;
}

struct at_list at_config_to_names(const struct at_config *config)
{
    const struct at_param *params = config->family->params;
    struct at_named_int named[AT_PARAMS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < config->family->param_count; i++)
        if (at_param_is_written(&params[i], config->values[i]))
            named[count++] = (struct at_named_int){params[i].name, config->values[i]};
    return at_named_ints_copy(named, count);
}
