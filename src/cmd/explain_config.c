/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/explain_config.h"

#include "base/integer.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/text_stream.h"
#include "cmd/files.h"
#include "cmd/run_options.h"
#include "device/relation.h"
#include "profile/profile.h"
#include "space/named.h"
#include "space/space.h"

#include <stdlib.h>
#include <string.h>

/* The default is the first on which the config is legal: every family has one. */
static const char *const usual_problems[] = {
    "1024x1024:f32",
    "1024x1024:f32,inplace=1",
    "1048576x3:f32",
    "3x1048576:f32",
    "32769x95:b1",
    "95x32769:b1",
    "64x64:f64,batch=256",
    "1x1048576:f32",
    "64x64x64x64:f32,perm=0213",
    "2000x126x57:b1,perm=102",
    "16x16x16x4096:f32,perm=2103",
    "64x32x16x32:b1,perm=3210",
    "1024x1024x3:b1,perm=102",
};

/* ---- the config ---- */

static enum at_status refuse_value(const struct at_family *family, const struct at_param *param,
                                   const char *setting, struct at_error *err)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *values;

    for (size_t i = 0; i < param->value_count; i++)
        fprintf(out, "%s%jd", i > 0 ? ", " : "", (intmax_t)param->values[i]);
    values = at_text_close(&stream, NULL);
    at_fail(err, AT_USAGE, "%s is not in the space of family %s: %s takes %s", setting,
            family->name, param->name, values);
    free(values);
    return AT_USAGE;
}

static enum at_status refuse_name(const struct at_family *family, const char *setting,
                                  struct at_error *err)
{
    const char *names[AT_PARAMS_MAX];
    char nearest[256], *name = at_strndup(setting, strcspn(setting, "="));

    for (size_t i = 0; i < family->param_count; i++)
        names[i] = family->params[i].name;
    at_suggest(nearest, sizeof nearest, name, names, family->param_count);
    at_fail(err, AT_USAGE,
            "family %s has no parameter %s; did you mean %s? explain %s --params lists them",
            family->name, name, nearest, family->name);
    free(name);
    return AT_USAGE;
}

static enum at_status apply_setting(struct at_config *config, bool given[AT_PARAMS_MAX],
                                    const char *setting, struct at_error *err)
{
    const struct at_family *family = config->family;
    size_t name = strcspn(setting, "=");
    int64_t value;

    if (!setting[name] || !at_integer_parse(setting + name + 1, strlen(setting + name + 1), &value))
        return at_fail(err, AT_USAGE, "\"%s\" is not PARAM=VALUE", setting);
    for (size_t i = 0; i < family->param_count; i++) {
        if (strlen(family->params[i].name) != name ||
            strncmp(family->params[i].name, setting, name) != 0)
            continue;
        if (!at_param_has_value(&family->params[i], value))
            return refuse_value(family, &family->params[i], setting, err);
        if (given[i])
            return at_fail(err, AT_USAGE, "%s is given twice", family->params[i].name);
        given[i] = true;
        config->values[i] = (int32_t)value;
        return AT_OK;
    }
    return refuse_name(family, setting, err);
}

/* ---- the winner of a profile ---- */

/* Return the problem's entry (NULL: that of the only problem), of the nearest device. */
static const struct at_entry *find_entry(const struct at_profile *profile, const char *problem,
                                         const struct at_device_info *device)
{
    const struct at_device_record *records = profile->devices.items;
    const struct at_entry *found = NULL;
    enum at_relation nearest = AT_OTHER_ARCHITECTURE;

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct at_entry *entries = records[i].problems.items;
        enum at_relation relation = at_device_relation(&records[i].device, device);

        for (size_t j = 0; j < records[i].problems.count; j++)
            if ((problem ? strcmp(entries[j].problem, problem) == 0
                         : records[i].problems.count == 1) &&
                (!found || relation < nearest)) {
                found = &entries[j];
                nearest = relation;
            }
    }
    return found;
}

static enum at_status refuse_problem(const struct at_profile *profile, const char *path,
                                     const char *problem, struct at_error *err)
{
    enum { SHOWN = 3 };
    const struct at_device_record *record = profile->devices.items;
    const struct at_entry *entries = record->problems.items;
    const char *names[SHOWN];
    size_t shown = 0;
    char *some;

    for (; shown < SHOWN && shown < record->problems.count; shown++)
        names[shown] = entries[shown].problem;
    some = at_join(names, shown);
    if (problem)
        at_fail(err, AT_USAGE, "%s has no %s; it has %s%s", path, problem, some,
                record->problems.count > SHOWN ? ", ..." : "");
    else
        at_fail(err, AT_USAGE, "%s has several problems: name one with --problem, such as %s", path,
                some);
    free(some);
    return AT_USAGE;
}

static enum at_status take_winner(const struct at_explain_choice *choice,
                                  const struct at_session_options *known,
                                  const struct at_device_info *device, struct at_config *config,
                                  struct at_problem *problem, struct at_error *err)
{
    struct at_profile profile = {0};
    char *name = choice->problem ? at_problem_format(problem) : NULL;
    const struct at_entry *entry;
    enum at_status status = at_read_profile(&profile, choice->profile, known->progress, err);

    if (status == AT_OK) {
        entry = find_entry(&profile, name, device);
        if (!entry)
            status = refuse_problem(&profile, choice->profile, name, err);
        if (entry)
            status = at_config_from_names(config, known->families, known->family_count,
                                          entry->winner.family, &entry->winner.parameters, err);
        if (status == AT_OK)
            status = at_problem_parse(problem, entry->problem, err);
        at_profile_clear(&profile);
    }
    free(name);
    return status;
}

/* ---- the problem ---- */

/* Return the first usual problem on which the config is legal; NULL: none. */
static const char *find_problem(const struct at_config *config, const struct at_device_info *device)
{
    for (size_t i = 0; i < AT_COUNT(usual_problems); i++) {
        struct at_problem problem;
        bool legal;

        if (at_problem_parse(&problem, usual_problems[i], NULL) == AT_OK &&
            at_config_legal(config, &problem, device, &legal, NULL, NULL) == AT_OK && legal)
            return usual_problems[i];
    }
    return NULL;
}

/* Take the family's default for the problem, or for the first usual one that has one; else the
 * usual default, whose refusal is then reported. */
static enum at_status take_default(const struct at_explain_choice *choice,
                                   const struct at_session_options *known,
                                   const struct at_device_info *device, struct at_config *config,
                                   const struct at_problem *problem, struct at_error *err)
{
    const struct at_family *family;
    enum at_status status = at_run_family(&family, known, choice->family, err);
    size_t at = 0;

    if (status != AT_OK)
        return status;
    *config = at_family_default(family);
    while (known->families[at] != family)
        at++;
    if (choice->problem) {
        (void)at_space_default(config, &known->families[at], 1, problem, device, NULL);
        return AT_OK;
    }
    for (size_t i = 0; i < AT_COUNT(usual_problems); i++) {
        struct at_problem usual;

        if (at_problem_parse(&usual, usual_problems[i], NULL) == AT_OK &&
            at_space_default(config, &known->families[at], 1, &usual, device, NULL) == AT_OK)
            break;
    }
    return AT_OK;
}

enum at_status at_explain_choose(const struct at_explain_choice *choice,
                                 const struct at_session_options *known,
                                 const struct at_device_info *device, struct at_config *config,
                                 struct at_problem *problem, struct at_error *err)
{
    const char *usual;
    struct at_error refusal;
    bool given[AT_PARAMS_MAX] = {false};
    enum at_status status =
        choice->problem ? at_run_problem(problem, choice->problem, known->progress, err) : AT_OK;

    if (status == AT_OK && choice->profile) {
        status = take_winner(choice, known, device, config, problem, err);
    } else if (status == AT_OK) {
        status = take_default(choice, known, device, config, problem, err);
    }
    for (size_t i = 0; i < choice->setting_count && status == AT_OK; i++)
        status = apply_setting(config, given, choice->settings[i], err);
    if (status != AT_OK)
        return status;
    usual = find_problem(config, device);
    if (!choice->problem && !choice->profile)
        status = at_problem_parse(problem, usual ? usual : usual_problems[0], err);
    if (status == AT_OK)
        status = at_config_require(config, problem, device, "not legal for this problem", &refusal);
    if (status != AT_OK)
        return usual ? at_fail(err, status, "%s; it is for %s", refusal.message, usual)
                     : at_fail(err, status, "%s", refusal.message);
    return AT_OK;
}
