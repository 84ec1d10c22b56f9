/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/config_choice.h"

#include "base/choice.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "cmd/files.h"
#include "cmd/run_options.h"
#include "device/relation.h"
#include "export/export.h"
#include "profile/newest.h"
#include "space/named.h"
#include "space/space.h"

#include <stdlib.h>
#include <string.h>

/* ---- which config ---- */

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
    "1024x1024:bf16:e4m3,blocks=1x128",
    "100x150:f32,batch=256,inplace=1",
    "1048576x6:f32,inplace=1",
    "1000x1500:f32,inplace=1",
    "1000x1500x3:f32,perm=102,inplace=1",
    "1000x20x300:f32,perm=210,inplace=1",
    "40x100x128:f32,perm=102,inplace=1",
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
    at_fail(err, AT_USAGE, "%s is not in the space of family %s: %s takes %s, as in %s=%jd",
            setting, family->name, param->name, values, param->name,
            (intmax_t)param->default_value);
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

static enum at_status apply(struct at_config *config, bool given[AT_PARAMS_MAX],
                            const char *setting, struct at_error *err)
{
    const struct at_family *family = config->family;
    size_t name = strcspn(setting, "="), i = 0;
    const char *text = setting + name + (setting[name] == '=');
    int64_t value;

    while (i < family->param_count && (strlen(family->params[i].name) != name ||
                                       strncmp(family->params[i].name, setting, name) != 0))
        i++;
    if (i == family->param_count)
        return refuse_name(family, setting, err);
    if (!at_integer_parse(text, strlen(text), &value) ||
        !at_param_has_value(&family->params[i], value))
        return refuse_value(family, &family->params[i], setting, err);
    if (given[i])
        return at_fail(err, AT_USAGE, "%s is given twice", family->params[i].name);
    given[i] = true;
    config->values[i] = (int32_t)value;
    return AT_OK;
}

enum at_status at_config_apply(struct at_config *config, const char *const *settings, size_t count,
                               struct at_error *err)
{
    bool given[AT_PARAMS_MAX] = {false};
    enum at_status status = AT_OK;

    for (size_t i = 0; i < count && status == AT_OK; i++)
        status = apply(config, given, settings[i], err);
    return status;
}

/* ---- the winner of a profile ---- */

/* Return the problem's entry (NULL: that of the only problem), of the nearest device. */
static const struct at_entry *find_entry(const struct at_profile *profile, const char *problem,
                                         const struct at_device_info *device)
{
    const struct at_entry *found = NULL;
    enum at_relation nearest = AT_OTHER_ARCHITECTURE;

    for (struct at_placed_entry at = {0}; at_profile_next(profile, &at);) {
        enum at_relation relation = at_device_relation(&at.record->device, device);

        if ((problem ? strcmp(at.entry->problem, problem) == 0 : at.record->problems.count == 1) &&
            (!found || relation < nearest)) {
            found = at.entry;
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

static enum at_status take_winner(const struct at_config_choice *choice,
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

/* ---- what lookup gives ---- */

static void note_answer(const struct at_answer *answer, const struct at_problem *problem,
                        struct at_progress *progress)
{
    struct at_export_item item = {.answer = *answer, .spec = at_problem_format(problem)};
    char *guess = at_export_guess(&item);

    at_note(progress, "the kernel that lookup gives is %s%s", guess ? "a guess: " : "measured for ",
            guess ? guess : item.spec);
    free(guess);
    free(item.spec);
}

static enum at_status take_answer(const struct at_session_options *known,
                                  const struct at_device_info *device, struct at_config *config,
                                  const struct at_problem *problem, struct at_error *err)
{
    const struct at_environment here = at_environment_here(device);
    const struct at_query query = {
        .problem = problem, .device = device, .environment = &here, .policy = known->policy->name};
    struct at_profiles profiles = {.for_lookup = true};
    struct at_lookup *lookup = NULL;
    struct at_answer answer;
    enum at_status status = at_searched_profiles(&profiles, NULL, NULL, 0, known->progress, err);

    if (status == AT_OK)
        status = at_lookup_open(&lookup, &profiles, known->families, known->family_count, err);
    if (status == AT_OK)
        status = at_lookup_find(lookup, &query, &answer, err);
    if (status == AT_OK) {
        note_answer(&answer, problem, known->progress);
        *config = answer.config;
    }
    at_lookup_close(lookup);
    at_profiles_clear(&profiles);
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
static enum at_status take_default(const struct at_config_choice *choice,
                                   const struct at_session_options *known,
                                   const struct at_device_info *device, struct at_config *config,
                                   const struct at_problem *problem, struct at_error *err)
{
    const struct at_family *family;
    size_t at = 0;

    if (at_run_family(&family, known, choice->family, err) != AT_OK) {
        if (strpbrk(choice->family, "./"))
            at_advise(err, "a kernel of your own is a FILE.cu, a profile stands behind --profile");
        return err->status;
    }
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

enum at_status at_config_choose(const struct at_config_choice *choice,
                                const struct at_session_options *known,
                                const struct at_device_info *device, struct at_config *config,
                                struct at_problem *problem, struct at_error *err)
{
    const char *usual;
    struct at_error refusal;
    enum at_status status =
        choice->problem ? at_run_problem(problem, choice->problem, known->progress, err) : AT_OK;

    if (status == AT_OK && choice->profile)
        status = take_winner(choice, known, device, config, problem, err);
    else if (status == AT_OK && choice->family)
        status = take_default(choice, known, device, config, problem, err);
    else if (status == AT_OK)
        status = take_answer(known, device, config, problem, err);
    if (status == AT_OK)
        status = at_config_apply(config, choice->settings, choice->setting_count, err);
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
