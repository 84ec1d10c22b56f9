/* SPDX-License-Identifier: Apache-2.0 */
/* The names of element types. */
#include "base/choice.h"
#include "base/error.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "problem/problem_parts.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A transpose does not interpret elements, so these name a size alone. The first of each size is
 * the usual one. All number formats are types, too. */
static const struct at_type sizes[] = {
    {"b1", 1}, {"b2", 2}, {"b4", 4}, {"b8", 8}, {"b16", 16}, {"fp8", 1},
};

enum { TYPES = AT_COUNT(sizes) + AT_NUMBERS };

static struct at_type type_at(size_t i)
{
    const struct at_number_format *format;

    if (i < AT_COUNT(sizes))
        return sizes[i];
    format = &at_number_formats[i - AT_COUNT(sizes)];
    return (struct at_type){format->name, format->bytes};
}

void at_problem_take_type(struct at_problem *problem, const struct at_type *type)
{
    /* Formatting it would take as long as all else that is done to make a problem. */
    size_t length = strnlen(type->name, sizeof problem->type - 1);

    memcpy(problem->type, type->name, length);
    problem->type[length] = '\0';
    problem->elem_size = type->bytes;
}

bool at_problem_name_type(struct at_problem *problem)
{
    const struct at_number_format *from = &at_number_formats[problem->step.from];

    if (problem->step.given) {
        at_problem_take_type(problem, &(struct at_type){from->name, from->bytes});
        return true;
    }
    for (size_t i = 0; i < AT_COUNT(sizes); i++)
        if (sizes[i].bytes == problem->elem_size) {
            at_problem_take_type(problem, &sizes[i]);
            return true;
        }
    return false;
}

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
    {"int64", "i64"},       {"uint64", "u64"},  {"char", "i8"},     {"byte", "u8"},
    {"uchar", "u8"},        {"bool", "u8"},     {"short", "i16"},   {"ushort", "u16"},
    {"uint", "u32"},        {"long", "i64"},    {"ulong", "u64"},
};

typedef int compare(const char *, const char *, size_t);

static bool find_type(struct at_type *type, const char *text, size_t length, compare *differs)
{
    for (size_t i = 0; i < TYPES; i++) {
        struct at_type known = type_at(i);

        if ((known.name[0] | 32) == (text[0] | 32) && /* the others need no call */
            strlen(known.name) == length && differs(known.name, text, length) == 0) {
            *type = known;
            return true;
        }
    }
    return false;
}

/* Find a type by another name, or in another case. */
static bool find_synonym(struct at_type *type, const char *text, size_t length)
{
    if (length > 2 && memcmp(text + length - 2, "_t", 2) == 0) /* uint8_t */
        length -= 2;
    for (size_t i = 0; i < AT_COUNT(synonyms); i++)
        if (strlen(synonyms[i].synonym) == length &&
            strncasecmp(synonyms[i].synonym, text, length) == 0)
            return find_type(type, synonyms[i].name, strlen(synonyms[i].name), strncmp);
    return find_type(type, text, length, strncasecmp);
}

static enum at_status fail_type(struct at_error *err, const char *text, size_t length,
                                const char *spec)
{
    const char *names[TYPES];
    char *known, *word = at_strndup(text, (size_t)at_text_fit(text, length, 40)), nearest[64];

    for (size_t i = 0; i < TYPES; i++)
        names[i] = type_at(i).name;
    known = at_join(names, TYPES);
    at_suggest(nearest, sizeof nearest, word, names, TYPES);
    at_problem_fail(err, spec,
                    "unknown type \"%s\" (did you mean %s?); known are %s, and bN for "
                    "elements of N bytes, up to %d",
                    word, nearest, known, AT_ELEM_SIZE_MAX);
    at_free(word);
    at_free(known);
    return AT_USAGE;
}

enum at_status at_type_read(struct at_type *type, const char *text, size_t length, const char *spec,
                            struct at_error *err)
{
    int64_t bytes;

    if (find_type(type, text, length, strncmp) || find_synonym(type, text, length))
        return AT_OK;
    if (length <= 1 || *text != 'b' || !at_integer_parse(text + 1, length - 1, &bytes) ||
        bytes < 1 || bytes > AT_ELEM_SIZE_MAX)
        return fail_type(err, text, length, spec);
    *type = (struct at_type){NULL, bytes};
    return AT_OK;
}

enum at_status at_type_check_size(const struct at_problem *problem, const char *spec,
                                  struct at_error *err)
{
    char type[24];

    if (problem->elem_size > 0 && problem->elem_size <= AT_ELEM_SIZE_MAX)
        return AT_OK;
    snprintf(type, sizeof type, "b%lld", (long long)problem->elem_size);
    return fail_type(err, type, strlen(type), spec);
}
