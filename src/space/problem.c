/* SPDX-License-Identifier: Apache-2.0 */
#include "space/problem.h"

#include "base/integer.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char example[] =
    "expected ROWSxCOLS:TYPE[,key=value...], for instance 10007x10009:f16,ld_src=10016";

/* A transpose moves elements without looking at them, so types of one size are the same work. The
 * first of a size is named after it. */
static const struct {
    char name[8];
    int64_t size;
} types[] = {
    {"b1", 1},  {"b2", 2},  {"b4", 4},   {"b8", 8},  {"b16", 16}, {"i8", 1},    {"u8", 1},
    {"fp8", 1}, {"f16", 2}, {"bf16", 2}, {"i16", 2}, {"u16", 2},  {"f32", 4},   {"i32", 4},
    {"u32", 4}, {"f64", 8}, {"i64", 8},  {"u64", 8}, {"c64", 8},  {"c128", 16},
};

#define NOTHING (SIZE_MAX - 1)

/* Alignment repeats after less: no access is wider than 16 bytes, no line of a cache than 128. */
enum { OFFSET_MAX = 255 };

/* In an order in which each default needs only those before it, and in_place, which none lacks. */
static const struct {
    const char *name;
    size_t offset;
    size_t factor, other; /* the default is their product; SIZE_MAX: 1, NOTHING: 0 */
    size_t in_place;      /* the default in place; SIZE_MAX: the same */
} keys[] = {
    {"ld_src", offsetof(struct at_problem, ld_src), offsetof(struct at_problem, cols), SIZE_MAX,
     SIZE_MAX},
    {"ld_dst", offsetof(struct at_problem, ld_dst), offsetof(struct at_problem, rows), SIZE_MAX,
     offsetof(struct at_problem, ld_src)},
    {"batch", offsetof(struct at_problem, batch), SIZE_MAX, SIZE_MAX, SIZE_MAX},
    {"stride_src", offsetof(struct at_problem, stride_src), offsetof(struct at_problem, rows),
     offsetof(struct at_problem, ld_src), SIZE_MAX},
    {"stride_dst", offsetof(struct at_problem, stride_dst), offsetof(struct at_problem, cols),
     offsetof(struct at_problem, ld_dst), offsetof(struct at_problem, stride_src)},
    {"offset_src", offsetof(struct at_problem, offset_src), NOTHING, SIZE_MAX, SIZE_MAX},
    {"offset_dst", offsetof(struct at_problem, offset_dst), NOTHING, SIZE_MAX,
     offsetof(struct at_problem, offset_src)},
};

/* The one key that is there or not: its value is 1. */
static const char in_place_key[] = "inplace";

static int64_t *member(struct at_problem *problem, size_t offset)
{
    return (int64_t *)((char *)problem + offset);
}

static int64_t factor_of(const struct at_problem *problem, size_t offset)
{
    if (offset == NOTHING)
        return 0;
    return offset == SIZE_MAX ? 1 : *(const int64_t *)((const char *)problem + offset);
}

/* The default of a key. False if it does not fit 64 bits. */
static bool key_default(const struct at_problem *problem, size_t key, int64_t *value)
{
    if (problem->in_place && keys[key].in_place != SIZE_MAX) {
        *value = factor_of(problem, keys[key].in_place);
        return true;
    }
    return !__builtin_mul_overflow(factor_of(problem, keys[key].factor),
                                   factor_of(problem, keys[key].other), value);
}

static enum at_status fail_spec(struct at_error *err, const char *spec, const char *reason)
{
    return at_fail(err, AT_USAGE, "problem \"%.200s\": %s", spec, reason);
}

/* Reads the positive integer of `length` bytes at text; what: its name in messages. */
static enum at_status read_size(int64_t *value, const char *text, size_t length, const char *what,
                                const char *spec, struct at_error *err)
{
    char reason[256];

    if (at_integer_parse(text, length, value) && *value >= 1)
        return AT_OK;
    snprintf(reason, sizeof reason, "%s is \"%.*s\", not an integer of at least 1; %s", what,
             length < 40 ? (int)length : 40, text, example);
    return fail_spec(err, spec, reason);
}

static void take_type(struct at_problem *problem, size_t type)
{
    memcpy(problem->type, types[type].name, sizeof problem->type);
    problem->elem_size = types[type].size;
}

static enum at_status fail_type(struct at_error *err, const char *text, size_t length,
                                const char *spec)
{
    char known[160] = "";

    for (size_t i = 0; i < AT_COUNT(types); i++) {
        size_t used = strlen(known);

        snprintf(known + used, sizeof known - used, " %s", types[i].name);
    }
    return at_fail(err, AT_USAGE, "problem \"%.200s\": unknown type \"%.*s\"; expected one of%s",
                   spec, length < 40 ? (int)length : 40, text, known);
}

static enum at_status read_type(struct at_problem *problem, const char *text, size_t length,
                                const char *spec, struct at_error *err)
{
    for (size_t i = 0; i < AT_COUNT(types); i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, text, length) == 0) {
            take_type(problem, i);
            return AT_OK;
        }
    return fail_type(err, text, length, spec);
}

/* The type that is named after its size. */
static enum at_status check_elem_size(struct at_problem *problem, const char *spec,
                                      struct at_error *err)
{
    char type[24];

    for (size_t i = 0; i < AT_COUNT(types); i++)
        if (types[i].size == problem->elem_size) {
            take_type(problem, i);
            return AT_OK;
        }
    snprintf(type, sizeof type, "b%lld", (long long)problem->elem_size);
    return fail_type(err, type, strlen(type), spec);
}

/* "inplace=1" */
static enum at_status read_in_place(struct at_problem *problem, const char *value, size_t length,
                                    const char *spec, struct at_error *err)
{
    if (problem->in_place)
        return fail_spec(err, spec, "inplace is given twice");
    if (length != 1 || *value != '1')
        return fail_spec(err, spec, "inplace can only be 1; leave it away if src and dst differ");
    problem->in_place = 1;
    return AT_OK;
}

/* Reads one key=value of `length` bytes. A member that has no value yet is 0. */
static enum at_status read_key(struct at_problem *problem, const char *text, size_t length,
                               const char *spec, struct at_error *err)
{
    size_t in_place = sizeof in_place_key - 1;

    if (length > in_place && memcmp(text, in_place_key, in_place) == 0 && text[in_place] == '=')
        return read_in_place(problem, text + in_place + 1, length - in_place - 1, spec, err);
    for (size_t i = 0; i < AT_COUNT(keys); i++) {
        size_t name = strlen(keys[i].name);
        int64_t *value = member(problem, keys[i].offset);

        if (length <= name || memcmp(text, keys[i].name, name) != 0 || text[name] != '=')
            continue;
        if (*value != 0)
            return at_fail(err, AT_USAGE, "problem \"%.200s\": %s is given twice", spec,
                           keys[i].name);
        return read_size(value, text + name + 1, length - name - 1, keys[i].name, spec, err);
    }
    return at_fail(err, AT_USAGE,
                   "problem \"%.200s\": unknown \"%.*s\"; expected one of ld_src=, ld_dst=, "
                   "batch=, stride_src=, stride_dst=, offset_src=, offset_dst=, inplace=, as in "
                   "256x256:f32,batch=4096",
                   spec, length < 40 ? (int)length : 40, text);
}

static enum at_status read_parts(struct at_problem *problem, const char *spec, struct at_error *err)
{
    size_t rows = strcspn(spec, "x:,"), cols, length;
    const char *at = spec + rows;
    enum at_status status;

    if (*at != 'x')
        return fail_spec(err, spec, example);
    cols = strcspn(at + 1, ":,");
    if (at[1 + cols] != ':')
        return fail_spec(err, spec, example);
    status = read_size(&problem->rows, spec, rows, "ROWS", spec, err);
    if (status == AT_OK)
        status = read_size(&problem->cols, at + 1, cols, "COLS", spec, err);
    if (status != AT_OK)
        return status;
    at += 1 + cols + 1;
    length = strcspn(at, ",");
    status = read_type(problem, at, length, spec, err);
    for (at += length; status == AT_OK && *at == ','; at += length) {
        length = strcspn(++at, ",");
        status = read_key(problem, at, length, spec, err);
    }
    return status;
}

static enum at_status fill_defaults(struct at_problem *problem, const char *spec,
                                    struct at_error *err)
{
    for (size_t i = 0; i < AT_COUNT(keys); i++) {
        int64_t *value = member(problem, keys[i].offset);
        /* Of a single matrix there is no next one: its stride says nothing, and two problems that
         * are the same work must not differ by it. */
        bool idle = keys[i].other != SIZE_MAX && problem->batch == 1;

        if ((*value == 0 || idle) && !key_default(problem, i, value))
            return fail_spec(err, spec, "the matrix does not fit 62 bits of bytes");
    }
    return AT_OK;
}

/* The bytes of all matrices on one side. False if they do not fit 62 bits. */
static bool side_bytes(const struct at_problem *problem, int64_t stride, int64_t lines, int64_t ld,
                       int64_t *bytes)
{
    int64_t matrix;

    /* Whole lines and strides: a little more than is touched, and simpler to say. */
    return !__builtin_mul_overflow(lines, ld, &matrix) &&
           !__builtin_mul_overflow(problem->batch, stride > matrix ? stride : matrix, bytes) &&
           !__builtin_mul_overflow(*bytes, problem->elem_size, bytes) && *bytes >> 62 == 0;
}

static enum at_status check_layout(const struct at_problem *problem, const char *spec,
                                   struct at_error *err)
{
    const struct {
        const char *ld_name, *stride_name, *offset_name;
        int64_t ld, stride, offset, lines, line;
    } sides[] = {
        {"ld_src", "stride_src", "offset_src", problem->ld_src, problem->stride_src,
         problem->offset_src, problem->rows, problem->cols},
        {"ld_dst", "stride_dst", "offset_dst", problem->ld_dst, problem->stride_dst,
         problem->offset_dst, problem->cols, problem->rows},
    };
    int64_t bytes, total = 0;

    for (size_t i = 0; i < AT_COUNT(sides); i++) {
        int64_t matrix;

        if (sides[i].ld < sides[i].line)
            return at_fail(err, AT_USAGE,
                           "problem \"%.200s\": %s=%lld is less than the %lld elements of a row",
                           spec, sides[i].ld_name, (long long)sides[i].ld,
                           (long long)sides[i].line);
        if (!side_bytes(problem, sides[i].stride, sides[i].lines, sides[i].ld, &bytes) ||
            (total += bytes) >> 62 != 0)
            return fail_spec(err, spec, "the matrices do not fit 62 bits of bytes");
        if (sides[i].offset > OFFSET_MAX)
            return at_fail(
                err, AT_USAGE,
                "problem \"%.200s\": %s=%lld is more than %d elements; an offset tells how "
                "far a matrix begins from an aligned address",
                spec, sides[i].offset_name, (long long)sides[i].offset, OFFSET_MAX);
        matrix = (sides[i].lines - 1) * sides[i].ld + sides[i].line;
        if (sides[i].stride < matrix)
            return at_fail(err, AT_USAGE,
                           "problem \"%.200s\": with %s=%lld the matrices overlap: one takes %lld "
                           "elements",
                           spec, sides[i].stride_name, (long long)sides[i].stride,
                           (long long)matrix);
    }
    return AT_OK;
}

/* One buffer holds both, so both are laid out alike. */
static enum at_status check_in_place(const struct at_problem *problem, const char *spec,
                                     struct at_error *err)
{
    if (problem->rows != problem->cols)
        return fail_spec(err, spec, "in place, a matrix has to be square");
    if (problem->ld_src != problem->ld_dst || problem->stride_src != problem->stride_dst ||
        problem->offset_src != problem->offset_dst)
        return fail_spec(err, spec,
                         "in place, ld_dst is ld_src, stride_dst is stride_src and offset_dst is "
                         "offset_src; leave the former away");
    return AT_OK;
}

/* Fills in what is 0, and checks the whole. */
static enum at_status complete(struct at_problem *problem, const char *spec, struct at_error *err)
{
    enum at_status status = fill_defaults(problem, spec, err);

    if (status == AT_OK && problem->in_place)
        status = check_in_place(problem, spec, err);
    return status == AT_OK ? check_layout(problem, spec, err) : status;
}

enum at_status at_problem_parse(struct at_problem *problem, const char *spec, struct at_error *err)
{
    struct at_problem read = {0};
    enum at_status status = read_parts(&read, spec, err);

    if (status == AT_OK)
        status = complete(&read, spec, err);
    if (status == AT_OK)
        *problem = read;
    return status;
}

static enum at_status check_sizes(struct at_problem *problem, const char *spec,
                                  struct at_error *err)
{
    enum at_status status = check_elem_size(problem, spec, err);

    if (status == AT_OK && problem->in_place != 0 && problem->in_place != 1)
        status = fail_spec(err, spec, "in_place can only be 0 or 1");
    if (status == AT_OK && (problem->rows < 1 || problem->cols < 1 || problem->batch < 0))
        status = fail_spec(err, spec, "rows, columns and batch have to be at least 1");
    return status;
}

enum at_status at_problem_complete(struct at_problem *problem, struct at_error *err)
{
    struct at_problem made = *problem;
    char *spec;
    enum at_status status = check_sizes(&made, "", NULL);

    if (status == AT_OK)
        status = complete(&made, "", NULL);
    if (status == AT_OK) {
        *problem = made;
        return AT_OK;
    }
    /* Once more for the message: a text that nobody reads would take longer than all the rest. */
    made = *problem;
    spec = at_format("%lldx%lld:b%lld", (long long)made.rows, (long long)made.cols,
                     (long long)made.elem_size);
    status = check_sizes(&made, spec, err);
    if (status == AT_OK)
        status = complete(&made, spec, err);
    free(spec);
    return status;
}

char *at_problem_format(const struct at_problem *problem)
{
    char *spec = at_format("%lldx%lld:%s", (long long)problem->rows, (long long)problem->cols,
                           problem->type);

    for (size_t i = 0; i < AT_COUNT(keys); i++) {
        int64_t value = factor_of(problem, keys[i].offset), usual;
        char *longer;

        if (key_default(problem, i, &usual) && value == usual)
            continue;
        longer = at_format("%s,%s=%lld", spec, keys[i].name, (long long)value);
        free(spec);
        spec = longer;
    }
    if (problem->in_place) {
        char *longer = at_format("%s,%s=1", spec, in_place_key);

        free(spec);
        spec = longer;
    }
    return spec;
}

int64_t at_problem_src_extent(const struct at_problem *problem)
{
    return (problem->batch - 1) * problem->stride_src + (problem->rows - 1) * problem->ld_src +
           problem->cols;
}

int64_t at_problem_dst_extent(const struct at_problem *problem)
{
    return (problem->batch - 1) * problem->stride_dst + (problem->cols - 1) * problem->ld_dst +
           problem->rows;
}

int64_t at_problem_bytes(const struct at_problem *problem)
{
    return 2 * problem->rows * problem->cols * problem->batch * problem->elem_size;
}

struct at_problem at_problem_copy_of(const struct at_problem *problem)
{
    struct at_problem copy = *problem;
    int64_t count = problem->rows * problem->cols * problem->batch;

    copy.rows = 1;
    copy.cols = count;
    copy.ld_src = count;
    copy.ld_dst = 1;
    copy.batch = 1;
    copy.in_place = 0;
    copy.stride_src = count;
    copy.stride_dst = count;
    copy.offset_src = copy.offset_dst = 0;
    return copy;
}

void at_problem_args(const struct at_problem *problem, uint64_t dst, uint64_t src,
                     uint64_t args[AT_PROBLEM_ARGS])
{
    const uint64_t all[AT_PROBLEM_ARGS] = {
        dst,
        problem->in_place ? dst : src,
        (uint64_t)problem->rows,
        (uint64_t)problem->cols,
        (uint64_t)problem->ld_src,
        (uint64_t)problem->ld_dst,
        (uint64_t)problem->batch,
        (uint64_t)problem->stride_src,
        (uint64_t)problem->stride_dst,
    };

    memcpy(args, all, sizeof all);
}
