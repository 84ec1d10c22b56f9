/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/problem_parts.h"

#include "base/integer.h"
#include "base/memory.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "base/text_stream.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct at_problem_type at_problem_types[AT_PROBLEM_TYPES] = {
    {"b1", 1},  {"b2", 2},  {"b4", 4},   {"b8", 8},  {"b16", 16}, {"i8", 1},    {"u8", 1},
    {"fp8", 1}, {"f16", 2}, {"bf16", 2}, {"i16", 2}, {"u16", 2},  {"f32", 4},   {"i32", 4},
    {"u32", 4}, {"f64", 8}, {"i64", 8},  {"u64", 8}, {"c64", 8},  {"c128", 16},
};

/* The names of these types in C, NumPy, PyTorch and CUDA. Upper and lower case are read, never
 * written. */
static const struct {
    const char *synonym, *name;
} synonyms[] = {
    {"float8", "fp8"},      {"half", "f16"},    {"float16", "f16"}, {"fp16", "f16"},
    {"bfloat16", "bf16"},   {"float", "f32"},   {"float32", "f32"}, {"fp32", "f32"},
    {"double", "f64"},      {"float64", "f64"}, {"fp64", "f64"},    {"complex64", "c64"},
    {"complex128", "c128"}, {"int8", "i8"},     {"uint8", "u8"},    {"int16", "i16"},
    {"uint16", "u16"},      {"int", "i32"},     {"int32", "i32"},   {"uint32", "u32"},
    {"int64", "i64"},       {"uint64", "u64"},
};

enum { LD_SRC, LD_DST, BATCH, STRIDE_SRC, STRIDE_DST, OFFSET_SRC, OFFSET_DST };

const struct at_problem_key at_problem_keys[AT_PROBLEM_KEYS] = {
    [LD_SRC] = {"ld_src", offsetof(struct at_problem, ld_src), false},
    [LD_DST] = {"ld_dst", offsetof(struct at_problem, ld_dst), false},
    [BATCH] = {"batch", offsetof(struct at_problem, batch), false},
    [STRIDE_SRC] = {"stride_src", offsetof(struct at_problem, stride_src), true},
    [STRIDE_DST] = {"stride_dst", offsetof(struct at_problem, stride_dst), true},
    [OFFSET_SRC] = {"offset_src", offsetof(struct at_problem, offset_src), false},
    [OFFSET_DST] = {"offset_dst", offsetof(struct at_problem, offset_dst), false},
};

int64_t *at_problem_member(struct at_problem *problem, size_t key)
{
    return (int64_t *)((char *)problem + at_problem_keys[key].offset);
}

bool at_problem_default(const struct at_problem *problem, size_t key, int64_t *value)
{
    bool in_place = problem->in_place != 0;

    switch (key) {
    case LD_SRC:
        *value = problem->cols;
        return true;
    case LD_DST:
        *value = in_place ? problem->ld_src : problem->rows;
        return true;
    case BATCH:
        *value = 1;
        return true;
    case STRIDE_SRC:
        return !__builtin_mul_overflow(problem->rows, problem->ld_src, value);
    case STRIDE_DST:
        *value = problem->stride_src;
        return in_place || !__builtin_mul_overflow(problem->cols, problem->ld_dst, value);
    default:
        *value = in_place && key == OFFSET_DST ? problem->offset_src : 0;
        return true;
    }
}

enum at_status at_problem_fail(struct at_error *err, const char *spec, const char *reason)
{
    return at_fail(err, AT_USAGE, "problem \"%.*s\": %s", AT_QUOTED(spec, 200), reason);
}

void at_problem_take_type(struct at_problem *problem, size_t type)
{
    memcpy(problem->type, at_problem_types[type].name, sizeof problem->type);
    problem->elem_size = at_problem_types[type].size;
}

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && strncasecmp(word, text, length) == 0;
}

/* Find a type by another name, or in another case. Returns AT_PROBLEM_TYPES if there is none. */
static size_t find_synonym(const char *text, size_t length)
{
    size_t type = 0;

    for (size_t i = 0; i < AT_COUNT(synonyms); i++)
        if (is_word(synonyms[i].synonym, text, length)) {
            text = synonyms[i].name;
            length = strlen(text);
            break;
        }
    while (type < AT_PROBLEM_TYPES && !is_word(at_problem_types[type].name, text, length))
        type++;
    return type;
}

enum at_status at_problem_read_type(const char *text, size_t length, int64_t *elem_size,
                                    size_t *type, const char *spec, struct at_error *err)
{
    for (size_t i = 0; i < AT_PROBLEM_TYPES; i++) {
        const char *name = at_problem_types[i].name;

        if (name[0] == text[0] && strlen(name) == length && memcmp(name, text, length) == 0) {
            *elem_size = at_problem_types[i].size;
            *type = i;
            return AT_OK;
        }
    }
    *type = find_synonym(text, length);
    if (*type < AT_PROBLEM_TYPES) {
        *elem_size = at_problem_types[*type].size;
        return AT_OK;
    }
    if (length > 1 && *text == 'b' && at_integer_parse(text + 1, length - 1, elem_size) &&
        *elem_size >= 1 && *elem_size <= AT_ELEM_SIZE_MAX)
        return AT_OK;
    return at_problem_fail_type(err, text, length, spec);
}

enum at_status at_problem_fail_type(struct at_error *err, const char *text, size_t length,
                                    const char *spec)
{
    const char *names[AT_PROBLEM_TYPES];
    char *known, *word = at_strndup(text, (size_t)at_text_fit(text, length, 40)), nearest[64];

    for (size_t i = 0; i < AT_PROBLEM_TYPES; i++)
        names[i] = at_problem_types[i].name;
    known = at_join(names, AT_PROBLEM_TYPES);
    at_suggest(nearest, sizeof nearest, word, names, AT_PROBLEM_TYPES);
    at_fail(err, AT_USAGE,
            "problem \"%.*s\": unknown type \"%s\" (did you mean %s?); known are %s, and bN for "
            "elements of N bytes, up to %d",
            AT_QUOTED(spec, 200), word, nearest, known, AT_ELEM_SIZE_MAX);
    at_free(word);
    at_free(known);
    return AT_USAGE;
}

char *at_put_text(char *at, const char *text)
{
    size_t length = strlen(text);

    memcpy(at, text, length + 1);
    return at + length;
}

char *at_put_number(char *at, int64_t value)
{
    char digits[24], *first = digits + sizeof digits - 1;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

    *first = '\0';
    do
        *--first = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--first = '-';
    return at_put_text(at, first);
}

char *at_put_key(char *at, const char *key, int64_t value)
{
    at = at_put_text(at_put_text(at, ","), key);
    return at_put_number(at_put_text(at, "="), value);
}
