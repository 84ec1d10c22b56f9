/* SPDX-License-Identifier: Apache-2.0 */
#include "options/run_problems.h"

#include "base/memory.h"
#include "options/argument.h"
#include "profile/profile.h"
#include "schema/schema.h"
#include "system/paths.h"

#include <stdlib.h>
#include <string.h>

struct problem_list {
    int64_t schema;
    struct at_list problems; /* of struct at_located */
};

static const struct at_field problem_list_fields[] = {
    {.key = "problems",
     .kind = AT_FIELD_LOCATEDS,
     .offset = offsetof(struct problem_list, problems),
     .min = 1,
     .max = AT_PROFILE_PROBLEMS_MAX},
    {.key = "schema",
     .kind = AT_FIELD_INT,
     .offset = offsetof(struct problem_list, schema),
     .min = 1,
     .max = 1},
};
static const struct at_schema problem_list_schema = {
    "a list of problems", sizeof(struct problem_list), problem_list_fields,
    AT_COUNT(problem_list_fields)};

struct problems {
    struct at_problem *items;
    size_t count, capacity;
};

enum at_status at_run_problem(struct at_problem *problem, const char *spec,
                              struct at_progress *progress, struct at_error *err)
{
    enum at_status status = at_problem_parse(problem, spec, err);
    char *name;

    if (status != AT_OK)
        return status;
    name = at_problem_format(problem);
    if (strcmp(name, spec) != 0)
        at_note(progress, "%s is called %s", spec, name);
    free(name);
    return AT_OK;
}

static enum at_status add(struct problems *problems, const char *spec, struct at_progress *progress,
                          struct at_error *err)
{
    struct at_problem problem;
    enum at_status status = at_run_problem(&problem, spec, progress, err);

    if (status == AT_OK)
        AT_PUSH(problems->items, problems->count, problems->capacity, problem);
    return status;
}

static enum at_status add_list(struct problems *problems, const char *path,
                               struct at_progress *progress, struct at_error *err)
{
    struct problem_list list = {0};
    enum at_status status =
        at_schema_read_file(&problem_list_schema, &list, at_given_file(path), err);
    const struct at_located *specs = list.problems.items;

    for (size_t i = 0; i < list.problems.count && status == AT_OK; i++)
        if (add(problems, specs[i].text, progress, err) != AT_OK)
            status = at_fail_within(err, "%s:%d:%d", path, specs[i].line, specs[i].column);
    at_schema_clear(&problem_list_schema, &list);
    return status;
}

/* Refuse two spellings of one problem: a profile has one entry per problem. */
static enum at_status check_unique(const struct problems *problems, struct at_error *err)
{
    char **names = at_alloc_array(problems->count, sizeof *names);
    enum at_status status = AT_OK;

    for (size_t i = 0; i < problems->count; i++) {
        names[i] = at_problem_format(&problems->items[i]);
        for (size_t j = 0; j < i && status == AT_OK; j++)
            if (strcmp(names[i], names[j]) == 0)
                status = at_fail(err, AT_USAGE, "problem %s is named twice", names[i]);
    }
    for (size_t i = 0; i < problems->count; i++)
        free(names[i]);
    free(names);
    return status;
}

enum at_status at_problem_list_read(struct at_problem **problems, size_t *count, const char *path,
                                    struct at_progress *progress, struct at_error *err)
{
    struct problems found = {0};
    enum at_status status = add_list(&found, path, progress, err);

    if (status == AT_OK)
        status = check_unique(&found, err);
    if (status != AT_OK) {
        free(found.items);
        return status;
    }
    *problems = found.items;
    *count = found.count;
    return AT_OK;
}

bool at_run_problems_given(const struct at_run_options *options)
{
    return options->problem_count > 0 || options->problem_list;
}

enum at_status at_run_problems(const struct at_run_options *options, const char *fallback,
                               struct at_problem **problems, size_t *count, struct at_error *err)
{
    char *own = at_run_problems_given(options) ? NULL : at_path_data_file(fallback);
    const char *list = own ? own : options->problem_list;
    struct at_progress *progress = options->session.progress;
    struct problems found = {0};
    enum at_status status = own ? at_path_require_data(err) : AT_OK;

    for (size_t i = 0; i < options->problem_count && status == AT_OK; i++)
        status = add(&found, options->problems[i], progress, err);
    if (status == AT_OK && list)
        status = add_list(&found, list, progress, err);
    if (status == AT_OK)
        status = check_unique(&found, err);
    free(own);
    if (status != AT_OK) {
        free(found.items);
        return status;
    }
    *problems = found.items;
    *count = found.count;
    return AT_OK;
}
