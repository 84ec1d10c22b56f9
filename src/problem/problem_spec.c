/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes problems as text: ROWSxCOLS:TYPE[,key=value...]; tensors: tensor_spec.c. */
#include "base/integer.h"
#include "base/memory.h"
#include "base/printable.h"
#include "problem/problem_parts.h"

#include <stdio.h>
#include <string.h>

static const char example[] =
    "expected ROWSxCOLS:TYPE[,key=value...], for instance 10007x10009:f16,ld_src=10016";

/* The only key with a fixed value: inplace=1. */
static const char in_place_key[] = "inplace";

/* Read the positive integer of `length` bytes at text; `what` is its name in messages. */
static enum at_status read_size(int64_t *value, const char *text, size_t length, const char *what,
                                const char *spec, struct at_error *err)
{
    char reason[256];

    if (at_integer_parse(text, length, value) && *value >= 1)
        return AT_OK;
    snprintf(reason, sizeof reason, "%s is \"%.*s\", not an integer of at least 1; %s", what,
             at_text_fit(text, length, 40), text, example);
    return at_problem_fail(err, spec, reason);
}

/* Read the value of "inplace=1". */
static enum at_status read_in_place(struct at_problem *problem, const char *value, size_t length,
                                    const char *spec, struct at_error *err)
{
    if (problem->in_place)
        return at_problem_fail(err, spec, "inplace is given twice");
    if (length != 1 || *value != '1')
        return at_problem_fail(err, spec,
                               "inplace can only be 1; leave it out if src and dst differ");
    problem->in_place = 1;
    return AT_OK;
}

/* Read one key=value of `length` bytes. Members without a value yet are 0. */
static enum at_status read_key(struct at_problem *problem, const char *text, size_t length,
                               const char *spec, struct at_error *err)
{
    size_t in_place = sizeof in_place_key - 1;

    if (length > in_place && memcmp(text, in_place_key, in_place) == 0 && text[in_place] == '=')
        return read_in_place(problem, text + in_place + 1, length - in_place - 1, spec, err);
    for (size_t i = 0; i < AT_PROBLEM_KEYS; i++) {
        size_t name = strlen(at_problem_keys[i].name);
        int64_t *value = at_problem_member(problem, i);

        if (length <= name || memcmp(text, at_problem_keys[i].name, name) != 0 || text[name] != '=')
            continue;
        if (*value != 0)
            return at_fail(err, AT_USAGE, "problem \"%.*s\": %s is given twice",
                           AT_QUOTED(spec, 200), at_problem_keys[i].name);
        return read_size(value, text + name + 1, length - name - 1, at_problem_keys[i].name, spec,
                         err);
    }
    return at_fail(err, AT_USAGE,
                   "problem \"%.*s\": unknown \"%.*s\"; expected one of ld_src=, ld_dst=, "
                   "batch=, stride_src=, stride_dst=, offset_src=, offset_dst=, inplace=, as in "
                   "256x256:f32,batch=4096",
                   AT_QUOTED(spec, 200), at_text_fit(text, length, 40), text);
}

static enum at_status read_parts(struct at_problem *problem, const char *spec, struct at_error *err)
{
    size_t rows = strcspn(spec, "x:,"), cols, length, type;
    const char *at = spec + rows;
    enum at_status status;

    if (*at != 'x')
        return at_problem_fail(err, spec, example);
    cols = strcspn(at + 1, ":,");
    if (at[1 + cols] != ':')
        return at_problem_fail(err, spec, example);
    if (memchr(at + 1, 'x', cols))
        return at_problem_fail(err, spec,
                               "a tensor needs its permutation, as in 8x32x2048x128:f16,perm=0213");
    status = read_size(&problem->rows, spec, rows, "ROWS", spec, err);
    if (status == AT_OK)
        status = read_size(&problem->cols, at + 1, cols, "COLS", spec, err);
    if (status != AT_OK)
        return status;
    at += 1 + cols + 1;
    length = strcspn(at, ",");
    status = at_problem_read_type(at, length, &problem->elem_size, &type, spec, err);
    if (status == AT_OK && type < AT_PROBLEM_TYPES)
        at_problem_take_type(problem, type);
    for (at += length; status == AT_OK && *at == ','; at += length) {
        length = strcspn(++at, ",");
        status = read_key(problem, at, length, spec, err);
    }
    return status;
}

enum at_status at_problem_parse(struct at_problem *problem, const char *spec, struct at_error *err)
{
    struct at_problem read = {0};
    enum at_status status;

    if (strstr(spec, ",perm="))
        return at_tensor_parse(problem, spec, err);
    status = read_parts(&read, spec, err);
    if (status == AT_OK)
        status = at_problem_fill(&read, spec, err);
    if (status == AT_OK)
        *problem = read;
    return status;
}

bool at_problem_is_spec(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    return digits > 0 && text[digits + strspn(text + digits, "x0123456789")] == ':';
}

static int64_t value_of(const struct at_problem *problem, size_t key)
{
    return *(const int64_t *)((const char *)problem + at_problem_keys[key].offset);
}

char *at_problem_format(const struct at_problem *problem)
{
    char spec[(AT_PROBLEM_KEYS + 3) * 40], *at = spec; /* a key takes at most 31 */

    if (problem->outer_count > 0)
        return at_tensor_format(problem);
    at = at_put_number(at, problem->rows);
    at = at_put_number(at_put_text(at, "x"), problem->cols);
    at = at_put_text(at_put_text(at, ":"), problem->type);
    for (size_t i = 0; i < AT_PROBLEM_KEYS; i++) {
        int64_t value = value_of(problem, i), usual;

        if (!at_problem_default(problem, i, &usual) || value != usual)
            at = at_put_key(at, at_problem_keys[i].name, value);
    }
    if (problem->in_place)
        at_put_key(at, in_place_key, 1);
    return at_strdup(spec);
}
