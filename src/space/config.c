/* SPDX-License-Identifier: Apache-2.0 */
/* Single configs: comparing, formatting, and names in files; points. */
#include "space/config.h"

#include "base/error.h"
#include "base/integer.h"
#include "base/memory.h"
#include "device/info.h"
#include "problem/arguments.h"
#include "problem/problem.h"
#include "space/family.h"
#include "space/named.h"

#include <stdlib.h>
#include <string.h>

#define PROBLEM(member)                                                                            \
    {                                                                                              \
#member, false, offsetof(struct at_problem, member)                                        \
    }
#define DEVICE(member)                                                                             \
    {                                                                                              \
#member, true, offsetof(struct at_device_info, member)                                     \
    }

static const struct {
    const char *name;
    bool of_device;
    size_t offset; /* of an int64_t */
} given_names[] = {
    [AT_NAME_ELEM_SIZE] = PROBLEM(elem_size),
    [AT_NAME_RESULT_SIZE] = {"result_size", false, 0}, /* made of several members */
    [AT_NAME_SHAPE_FIRST] = PROBLEM(rows),
    PROBLEM(cols),
    PROBLEM(ld_src),
    PROBLEM(ld_dst),
    [AT_NAME_BATCH] = PROBLEM(batch),
    [AT_NAME_STRIDE_SRC] = PROBLEM(stride_src),
    [AT_NAME_STRIDE_DST] = PROBLEM(stride_dst),
    PROBLEM(offset_src),
    PROBLEM(offset_dst),
    [AT_NAME_AXES] = {"axes", false, 0}, /* and so are these */
    [AT_NAME_MOVED_SIZE] = {"moved_size", false, 0},
    [AT_NAME_KEPT_SIZE] = {"kept_size", false, 0},
    [AT_NAME_BLOCK_ROWS] = {"block_rows", false, 0},
    [AT_NAME_BLOCK_COLS] = {"block_cols", false, 0},
    [AT_NAME_KEPT_ROWS] = {"kept_rows", false, 0},
    [AT_NAME_KEPT_COLS] = {"kept_cols", false, 0},
    [AT_NAME_SAME_BLOCKS] = {"same_blocks", false, 0},
    [AT_NAME_RESULT_BITS] = {"result_bits", false, 0},
    [AT_NAME_KEPT_BITS] = {"kept_bits", false, 0},
    [AT_NAME_GROUPS] = {"groups", false, 0},
    [AT_NAME_SUMS] = {"sums", false, 0},
    [AT_NAME_SCRATCH_MOST] = {"scratch_most", false, 0},
    [AT_NAME_WORD_BYTES] = {"word_bytes", false, 0},
    [AT_NAME_RUN_ROWS] = {"run_rows", false, 0},
    [AT_NAME_RUN_COLS] = {"run_cols", false, 0},
    [AT_NAME_RUN_LD_SRC] = {"run_ld_src", false, 0},
    [AT_NAME_RUN_LD_DST] = {"run_ld_dst", false, 0},
    [AT_NAME_RUN_STRIDE_SRC] = {"run_stride_src", false, 0},
    [AT_NAME_RUN_STRIDE_DST] = {"run_stride_dst", false, 0},
    [AT_NAME_DEVICE_FIRST] = DEVICE(compute_capability),
    DEVICE(multiprocessors),
    DEVICE(warp_size),
    DEVICE(max_threads_per_block),
    DEVICE(max_threads_per_multiprocessor),
    DEVICE(registers_per_multiprocessor),
    DEVICE(shared_bytes_per_block),
    DEVICE(shared_bytes_per_block_optin),
    DEVICE(shared_bytes_per_multiprocessor),
    DEVICE(l2_bytes),
};

_Static_assert(AT_COUNT(given_names) == AT_NAMES_GIVEN, "AT_NAMES_GIVEN is the number of names");

size_t at_point_names(const char *names[AT_NAMES_MAX], const struct at_param *params,
                      size_t param_count)
{
    for (size_t i = 0; i < AT_COUNT(given_names); i++)
        names[i] = given_names[i].name;
    for (size_t i = 0; i < param_count; i++)
        names[AT_NAME_PARAM_FIRST + i] = params[i].name;
    return AT_COUNT(given_names) + param_count;
}

/* Rules ask whether strides are multiples of a vector, so of several the greatest common divisor
 * stands for all. */
static void add_alignment(int64_t *common, int64_t stride)
{
    while (stride != 0) {
        int64_t rest = *common % stride;

        *common = stride;
        stride = rest;
    }
}

/* The blocks of the results, in rows and columns of the source. Without the result they are 0.
 * Blocks of both results that are the same have the same scales, if the types are the same, too. */
static void set_blocks(struct at_point *point, const struct at_step *step)
{
    struct at_scaled_result own = at_step_scaled(step, true), kept = at_step_scaled(step, false);
    bool has_kept = at_step_has(step, AT_BOTH);

    point->values[AT_NAME_BLOCK_ROWS] = own.block_rows;
    point->values[AT_NAME_BLOCK_COLS] = own.block_cols;
    point->values[AT_NAME_KEPT_ROWS] = has_kept ? kept.block_rows : 0;
    point->values[AT_NAME_KEPT_COLS] = has_kept ? kept.block_cols : 0;
    point->values[AT_NAME_SAME_BLOCKS] = has_kept && kept.block_rows == own.block_rows &&
                                         kept.block_cols == own.block_cols && kept.to == own.to;
    point->values[AT_NAME_RESULT_BITS] = at_number_bits(own.to);
    point->values[AT_NAME_KEPT_BITS] = at_number_bits(kept.to);
}

struct at_point at_point_make(const struct at_family *family, const struct at_problem *problem,
                              const struct at_device_info *device)
{
    struct at_point point = {.family = family, .device = device, .problem = problem};
    struct at_runs runs;

    for (size_t i = 0; i < AT_COUNT(given_names); i++) {
        const char *record =
            given_names[i].of_device ? (const char *)device : (const char *)problem;

        point.values[i] = *(const int64_t *)(record + given_names[i].offset);
    }
    point.values[AT_NAME_RESULT_SIZE] = at_problem_elem_size(problem, AT_DESTINATION);
    point.values[AT_NAME_MOVED_SIZE] =
        at_problem_elem_size(problem, at_problem_moved_side(problem));
    set_blocks(&point, &problem->step);
    point.values[AT_NAME_KEPT_SIZE] = at_step_kept_bytes(&problem->step);
    point.values[AT_NAME_SUMS] = at_step_has(&problem->step, AT_SUMS);
    point.values[AT_NAME_SCRATCH_MOST] = at_problem_scratch_most(problem);
    point.values[AT_NAME_BATCH] = at_problem_matrices(problem);
    point.values[AT_NAME_AXES] = at_problem_kind(problem).axes;
    point.values[AT_NAME_GROUPS] = at_groups_kind(&problem->groups);
    point.values[AT_NAME_WORD_BYTES] = at_problem_word_bytes(problem);
    runs = at_problem_runs(problem);
    point.values[AT_NAME_RUN_ROWS] = runs.rows;
    point.values[AT_NAME_RUN_COLS] = runs.cols;
    point.values[AT_NAME_RUN_LD_SRC] = runs.ld_src;
    point.values[AT_NAME_RUN_LD_DST] = runs.ld_dst;
    point.values[AT_NAME_RUN_STRIDE_SRC] = runs.stride_src;
    point.values[AT_NAME_RUN_STRIDE_DST] = runs.stride_dst;
    for (int64_t i = 0; i < problem->outer_count; i++) {
        add_alignment(&point.values[AT_NAME_STRIDE_SRC], problem->outer[i].stride_src);
        add_alignment(&point.values[AT_NAME_STRIDE_DST], problem->outer[i].stride_dst);
    }
    return point;
}

void at_point_move(struct at_point *point, const struct at_config *config)
{
    point->family = config->family;
    for (size_t i = 0; i < config->family->param_count; i++)
        point->values[AT_NAME_PARAM_FIRST + i] = config->values[i];
}

struct at_config at_family_default(const struct at_family *family)
{
    struct at_config config = {.family = family};

    for (size_t i = 0; i < family->param_count; i++)
        config.values[i] = (int32_t)family->params[i].default_value;
    return config;
}

static int by_name(const void *left, const void *right)
{
    const struct at_param *const *a = left, *const *b = right;

    return strcmp((*a)->name, (*b)->name);
}

char *at_config_format(const struct at_config *config)
{
    const struct at_param *params = config->family->params, *sorted[AT_PARAMS_MAX];
    char *text = at_strdup("");
    size_t count = 0;

    for (size_t i = 0; i < config->family->param_count; i++)
        if (at_param_is_written(&params[i], config->values[i]))
            sorted[count++] = &params[i];
    qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 0; i < count; i++) {
        char *longer = at_format("%s%s%s=%d", text, i ? " " : "", sorted[i]->name,
                                 config->values[sorted[i] - params]);

        at_free(text);
        text = longer;
    }
    return text;
}

size_t at_param_level(const struct at_param *param, int64_t value)
{
    size_t level = 0;

    while (level < param->value_count && param->values[level] != value)
        level++;
    return level;
}

bool at_param_is_written(const struct at_param *param, int64_t value)
{
    return !param->has_neutral || value != param->neutral;
}

bool at_param_is_told(const struct at_param *param, int64_t value)
{
    return at_param_is_written(param, value) || value != param->default_value;
}

bool at_param_has_value(const struct at_param *param, int64_t value)
{
    return at_param_level(param, value) < param->value_count;
}

bool at_config_equal(const struct at_config *a, const struct at_config *b)
{
    return a->family == b->family &&
           memcmp(a->values, b->values, a->family->param_count * sizeof *a->values) == 0;
}

/* ---- configs in files ---- */

struct at_family *at_family_find(struct at_family *const *families, size_t count, const char *name)
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

/* Make a config from names. With `all`, files name the parameters, and a missing one has its
 * neutral value; else its default. */
static enum at_status from_names(struct at_config *config, struct at_family *const *families,
                                 size_t family_count, const char *family,
                                 const struct at_list *parameters, bool all, struct at_error *err)
{
    const struct at_family *known = at_family_find(families, family_count, family);
    const struct at_named_int *named = parameters->items;
    bool given[AT_PARAMS_MAX] = {false};
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
        given[param - known->params] = true;
    }
    for (size_t i = 0; all && i < known->param_count; i++) {
        if (!given[i] && !known->params[i].has_neutral)
            return at_fail(err, AT_USAGE, "a config of family %s needs parameter %s", family,
                           known->params[i].name);
        if (!given[i])
            found.values[i] = (int32_t)known->params[i].neutral;
    }
    *config = found;
    return AT_OK;
}

enum at_status at_config_from_some_names(struct at_config *config,
                                         struct at_family *const *families, size_t family_count,
                                         const char *family, const struct at_list *parameters,
                                         struct at_error *err)
{
    return from_names(config, families, family_count, family, parameters, false, err);
}

enum at_status at_config_from_names(struct at_config *config, struct at_family *const *families,
                                    size_t family_count, const char *family,
                                    const struct at_list *parameters, struct at_error *err)
{
    return from_names(config, families, family_count, family, parameters, true, err);
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
