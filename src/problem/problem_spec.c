/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes problems as text: ROWSxCOLS:TYPE[,key=value...], and tensors. Completes those of
 * which only the size is given. */
#include "base/error.h"
#include "base/integer.h"
#include "base/memory.h"
#include "problem/problem.h"
#include "problem/problem_parts.h"

#include <stdio.h>
#include <string.h>

enum {
    LD_SRC,
    LD_DST,
    BATCH,
    STRIDE_SRC,
    STRIDE_DST,
    OFFSET_SRC,
    OFFSET_DST,
    IN_PLACE,
    PERM,
    STRIDES_SRC,
    STRIDES_DST,
};

const char *const at_problem_keys[AT_PROBLEM_KEYS] = {
    [LD_SRC] = "ld_src",           [LD_DST] = "ld_dst",           [BATCH] = "batch",
    [STRIDE_SRC] = "stride_src",   [STRIDE_DST] = "stride_dst",   [OFFSET_SRC] = "offset_src",
    [OFFSET_DST] = "offset_dst",   [IN_PLACE] = "inplace",        [PERM] = "perm",
    [STRIDES_SRC] = "strides_src", [STRIDES_DST] = "strides_dst",
};

/* The optional numbers of a matrix. Each default depends only on keys before it. */
static const struct {
    size_t offset; /* in struct at_problem */
    bool is_stride;
} keys[] = {
    [LD_SRC] = {offsetof(struct at_problem, ld_src), false},
    [LD_DST] = {offsetof(struct at_problem, ld_dst), false},
    [BATCH] = {offsetof(struct at_problem, batch), false},
    [STRIDE_SRC] = {offsetof(struct at_problem, stride_src), true},
    [STRIDE_DST] = {offsetof(struct at_problem, stride_dst), true},
    [OFFSET_SRC] = {offsetof(struct at_problem, offset_src), false},
    [OFFSET_DST] = {offsetof(struct at_problem, offset_dst), false},
};

/* Is the text KEY=VALUE? *value is where the value begins. */
static bool has_key(const char *text, size_t length, size_t key, size_t *value)
{
    size_t name = strlen(at_problem_keys[key]);

    *value = name + 1;
    return length > name && memcmp(text, at_problem_keys[key], name) == 0 && text[name] == '=';
}

static int64_t *member_of(struct at_problem *problem, size_t key)
{
    return (int64_t *)((char *)problem + keys[key].offset);
}

/* The default of a key. Returns false if it does not fit 64 bits. */
static bool default_of(const struct at_problem *problem, size_t key, int64_t *value)
{
    bool in_place = problem->in_place != 0;

    switch (key) {
    case LD_SRC:
        *value = problem->cols;
        return true;
    case LD_DST:
        *value = in_place && problem->rows == problem->cols ? problem->ld_src : problem->rows;
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

char *at_problem_put_number(char *at, int64_t value)
{
    char digits[24], *first = digits + sizeof digits - 1;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

    *first = '\0';
    do
        *--first = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--first = '-';
    return stpcpy(at, first);
}

/* Write ",KEY=VALUE" and a NUL. Return where it is. */
static char *put_key(char *at, const char *key, int64_t value)
{
    at = stpcpy(stpcpy(at, ","), key);
    return at_problem_put_number(stpcpy(at, "="), value);
}

/* Read the value of "inplace=1", the only key with a fixed value. */
static enum at_status read_in_place(int64_t *in_place, const char *value, size_t length,
                                    const char *spec, struct at_error *err)
{
    if (*in_place)
        return at_problem_fail(err, spec, "inplace is given twice");
    if (length != 1 || *value != '1')
        return at_problem_fail(err, spec,
                               "inplace=1 is the only value; leave it out if src and dst differ");
    *in_place = 1;
    return AT_OK;
}

/* Reads and writes tensors as text: EXTENTxEXTENT...:TYPE,perm=AXES[,key=value...]. */

static const char tensor_example[] = "as in 8x32x2048x128:f16,perm=0213";

struct reading {
    struct at_tensor tensor;
    struct at_step_reading step;
    unsigned keys;    /* that have been read, by bits */
    int64_t in_place; /* 1 or 0 */
    const char *spec;
    struct at_error *err;
};

/* Digits tell up to ten axes apart. */
enum { DIGITS = 10 };

static enum at_status fail(const struct reading *t, const char *what, const char *text,
                           size_t length)
{
    return at_problem_fail(
        t->err, t->spec, "%s is \"%.*s\"; expected %s, %s", what, at_text_fit(text, length, 40),
        text,
        strcmp(what, "perm") != 0 ? "integers of at least 1, one per axis"
        : t->tensor.rank > DIGITS
            ? "each axis of the source once, with a point between two: perm=0.11.2"
            : "each axis of the source once, 0 the slowest",
        tensor_example);
}

/* Read integers between separators. Returns how many, 0 for a mistake. */
static size_t read_list(int64_t values[AT_RANK_MAX], const char *text, size_t length,
                        char separator, int64_t least)
{
    size_t count = 0;

    for (;;) {
        const char *end = memchr(text, separator, length);
        size_t own = end ? (size_t)(end - text) : length;

        if (count == AT_RANK_MAX || !at_integer_parse(text, own, &values[count]) ||
            values[count++] < least)
            return 0;
        if (!end)
            return count;
        text = end + 1;
        length -= own + 1;
    }
}

/* "0213", or "0.2.1.3" and "0,2,1,3", which take more than ten axes, too. */
static enum at_status read_perm(struct reading *t, const char *text, size_t length)
{
    uint32_t seen = 0;
    size_t count = 0;
    bool commas = memchr(text, ',', length);

    if (length >= 2 &&
        ((*text == '[' && text[length - 1] == ']') || (*text == '(' && text[length - 1] == ')'))) {
        text++;
        length -= 2;
    }
    if (commas || memchr(text, '.', length) || length != t->tensor.rank || length > DIGITS)
        count = read_list(t->tensor.perm, text, length, commas ? ',' : '.', 0);
    else
        for (; count < length; count++)
            t->tensor.perm[count] = text[count] - '0';
    for (size_t i = 0; i < count; i++)
        if (t->tensor.perm[i] >= 0 && t->tensor.perm[i] < (int64_t)t->tensor.rank)
            seen |= UINT32_C(1) << t->tensor.perm[i];
    return count == t->tensor.rank && seen == (UINT32_C(1) << t->tensor.rank) - 1
               ? AT_OK
               : fail(t, "perm", text, length);
}

/* The length of an item up to the next comma. Commas in perm=0,2,1 belong to it: a digit follows
 * them, and no key begins with a digit. */
static size_t item_length(const char *text)
{
    size_t length = strcspn(text, ","), value;

    while (has_key(text, length, PERM, &value) && text[length] == ',' && text[length + 1] >= '0' &&
           text[length + 1] <= '9')
        length += 1 + strcspn(text + length + 1, ",");
    return length;
}

static enum at_status read_tensor_key(struct reading *t, const char *text, size_t length)
{
    static const struct {
        size_t key;
        int side; /* -1: perm */
        bool offset;
    } tensor_keys[] = {{PERM, -1, false},
                       {STRIDES_SRC, AT_SOURCE, false},
                       {STRIDES_DST, AT_DESTINATION, false},
                       {OFFSET_SRC, AT_SOURCE, true},
                       {OFFSET_DST, AT_DESTINATION, true}};

    size_t begin;

    for (size_t i = 0; i < AT_COUNT(tensor_keys); i++) {
        const char *key = at_problem_keys[tensor_keys[i].key], *value;
        int side = tensor_keys[i].side;
        size_t left;

        if (!has_key(text, length, tensor_keys[i].key, &begin))
            continue;
        value = text + begin;
        left = length - begin;
        if (t->keys >> i & 1)
            return at_problem_fail(t->err, t->spec, "%s is given twice", key);
        t->keys |= 1U << i;
        if (side < 0)
            return read_perm(t, value, left);
        if (tensor_keys[i].offset)
            return at_integer_parse(value, left, &t->tensor.elements.offsets[side]) &&
                           t->tensor.elements.offsets[side] >= 1
                       ? AT_OK
                       : fail(t, "an offset", value, left);
        return read_list(t->tensor.strides[side], value, left, 'x', 1) == t->tensor.rank
                   ? AT_OK
                   : fail(t, key, value, left);
    }
    if (has_key(text, length, IN_PLACE, &begin))
        return read_in_place(&t->in_place, text + begin, length - begin, t->spec, t->err);
    if (at_step_read_operation(&t->step, text, length))
        return AT_OK;
    return at_problem_fail(t->err, t->spec,
                           "unknown \"%.*s\"; with perm=, expected one of "
                           "strides_src=, strides_dst=, offset_src=, offset_dst=, inplace=",
                           at_text_fit(text, length, 40), text);
}

enum at_status at_problem_put_in_place(struct at_problem *problem, const char *spec,
                                       struct at_error *err)
{
    if (problem->step.given)
        return at_problem_fail(err, spec, "in place, elements are moved as they are");
    if (at_problem_src_extent(problem) != at_problem_elements(problem) ||
        at_problem_dst_extent(problem) != at_problem_elements(problem))
        return at_problem_fail(
            err, spec, "in place, a tensor is dense: leave out strides_src and strides_dst");
    problem->in_place = 1;
    if (problem->offset_dst == 0)
        problem->offset_dst = problem->offset_src;
    if (!at_problem_is_tensor(problem))
        return at_problem_check_layout(problem, spec, err);
    return problem->offset_dst == problem->offset_src
               ? AT_OK
               : at_problem_fail(err, spec, "in place, offset_dst is offset_src");
}

static enum at_status tensor_parse(struct at_problem *problem, const char *spec,
                                   struct at_error *err)
{
    struct reading t = {.spec = spec, .err = err};
    struct at_problem read = {0};
    size_t length = strcspn(spec, ":,");
    const char *at = spec + length;
    struct at_type type = {0};
    enum at_status status;

    t.tensor.rank = read_list(t.tensor.extents, spec, length, 'x', 1);
    if (*at != ':' || t.tensor.rank == 0)
        return at_problem_fail(err, spec, "expected 1 to %d extents from 1 on and a type, %s",
                               AT_RANK_MAX, tensor_example);
    length = strcspn(++at, ",");
    status = at_type_read(&type, at, at_step_cut_types(&t.step, at, length), spec, err);
    t.tensor.elements.bytes = type.bytes;
    for (at += length; status == AT_OK && *at == ','; at += length) {
        length = item_length(++at);
        status = read_tensor_key(&t, at, length);
    }
    if (status == AT_OK)
        status = at_step_make(&t.tensor.elements.step, &t.step, &type, spec, err);
    if (status == AT_OK)
        status = at_problem_of_tensor(&read, &t.tensor, spec, err);
    if (status == AT_OK && type.name && read.elem_size == type.bytes)
        at_problem_take_type(&read, &type);
    if (status == AT_OK && t.in_place)
        status = at_problem_put_in_place(&read, spec, err);
    if (status == AT_OK)
        *problem = read;
    return status;
}

/* ",NAME=AxBxC" unless the strides, from the slowest axis on, are dense. */
static char *put_strides(char *at, const char *name, const struct at_axis *axes, size_t count,
                         enum at_side side)
{
    int64_t dense = 1;
    bool all = true;

    for (size_t i = 0; i < count; i++) {
        all = all && at_axis_stride(&axes[i], side) == dense;
        dense *= axes[i].extent;
    }
    for (size_t i = count; !all && i-- > 0;)
        at = at_problem_put_number(stpcpy(at, i + 1 == count ? name : "x"),
                                   at_axis_stride(&axes[i], side));
    return at;
}

static char *tensor_format(const struct at_problem *problem)
{
    struct at_axis src[AT_AXES_MAX], dst[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, dst), kept = 0, channels = 0;
    struct at_axis channel_axis;
    /* An axis has an extent, a place and two strides, each with a separator. */
    char spec[AT_AXES_MAX * (3 * 21 + 3) + 128], axis_text[8] = "", *at = spec;

    for (size_t i = 0; i < count; i++)
        if (dst[i].extent > 1)
            src[kept++] = dst[i];
    count = kept;
    if (at_step_has(&problem->step, AT_AFFINE))
        count = at_channels_split(&problem->step.channels, src, count, &channels);
    channel_axis = src[channels];
    memcpy(dst, src, count * sizeof *dst);
    at_axes_sort(src, count, AT_SOURCE);
    at_axes_sort(dst, count, AT_DESTINATION);
    for (size_t i = count; i-- > 0;)
        at = stpcpy(at_problem_put_number(at, src[i].extent), i ? "x" : "");
    at = at_step_put_type(stpcpy(stpcpy(at, ":"), problem->type), &problem->step);
    at = stpcpy(at, ",perm=");
    for (size_t i = count; i-- > 0;) {
        size_t axis = 0;

        while (memcmp(&src[axis], &dst[i], sizeof *src) != 0)
            axis++;
        at = at_problem_put_number(at, (int64_t)(count - 1 - axis));
        at = stpcpy(at, i && count > 10 ? "." : "");
    }
    at = put_strides(at, ",strides_src=", src, count, AT_SOURCE);
    at = put_strides(at, ",strides_dst=", dst, count, AT_DESTINATION);
    if (problem->offset_src)
        at = put_key(at, at_problem_keys[OFFSET_SRC], problem->offset_src);
    if (problem->offset_dst && !problem->in_place)
        at = put_key(at, at_problem_keys[OFFSET_DST], problem->offset_dst);
    if (problem->in_place)
        at = put_key(at, at_problem_keys[IN_PLACE], 1);
    for (size_t i = 1; i < count; i++) /* the last one, 0 here, needs no number */
        if (memcmp(&src[i], &channel_axis, sizeof *src) == 0)
            at_problem_put_number(stpcpy(axis_text, "="), (int64_t)(count - 1 - i));
    at_step_put_operations(at, &problem->step, axis_text);
    return at_strdup(spec);
}

/* ---- matrices ---- */

/* Name the axis of a matrix that has the channels, as in a specification. NULL: none has. */
static const char *channels_of(const struct at_problem *problem)
{
    static const char *const names[] = {"", "=rows", "=batch"};
    const struct at_channels *channels = &problem->step.channels;
    struct at_axis axes[AT_AXES_MAX];

    if (!at_step_has(&problem->step, AT_AFFINE))
        return "";
    (void)at_problem_axes(problem, axes);
    for (size_t i = 0; i < AT_COUNT(names); i++)
        if (axes[i].extent == channels->count &&
            (channels->count == 1 || axes[i].stride_dst == channels->run))
            return names[i];
    return NULL;
}

static enum at_status fill_defaults(struct at_problem *problem, const char *spec,
                                    struct at_error *err)
{
    for (size_t i = 0; i < AT_COUNT(keys); i++) {
        int64_t *value = member_of(problem, i);
        /* The stride of a single matrix has no meaning; equal work must be an equal problem. */
        bool unused = keys[i].is_stride && problem->batch == 1;

        if ((*value == 0 || unused) && !default_of(problem, i, value))
            return at_problem_fail(err, spec, "the matrix does not fit 62 bits of bytes");
    }
    return AT_OK;
}

/* Elements of several words are tensors of one more axis. */
static enum at_status split_words(struct at_problem *problem, const char *spec,
                                  struct at_error *err)
{
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, axes);
    const bool in_place = problem->in_place != 0;
    enum at_status status = at_problem_of_axes(
        problem, axes, count,
        &(struct at_elements){.bytes = problem->elem_size,
                              .offsets = {problem->offset_src, problem->offset_dst}},
        spec, err);

    return status == AT_OK && in_place ? at_problem_put_in_place(problem, spec, err) : status;
}

/* Fill in defaults for the keys that are 0, and check the problem. */
static enum at_status fill(struct at_problem *problem, const char *spec, struct at_error *err)
{
    bool words = problem->elem_size > 16 || (problem->elem_size & (problem->elem_size - 1)) != 0;
    enum at_status status =
        problem->step.given && problem->in_place
            ? at_problem_fail(err, spec, "in place, elements are moved as they are")
            : fill_defaults(problem, spec, err);

    if (status == AT_OK)
        status = at_problem_check_layout(problem, spec, err);
    if (status == AT_OK && words)
        return split_words(problem, spec, err);
    if (status == AT_OK)
        status = at_channels_place_matrix(problem, spec, err);
    /* Blocks and sums count the rows and columns that are given. */
    if (status == AT_OK && !problem->in_place &&
        !(problem->step.operations & (1U << AT_BLOCKS | 1U << AT_SUMS)))
        at_problem_reduce(problem);
    return status;
}

static enum at_status check_sizes(struct at_problem *problem, const char *spec,
                                  struct at_error *err)
{
    enum at_status status = at_problem_name_type(problem) ? AT_OK /* else it has several words */
                                                          : at_type_check_size(problem, spec, err);

    if (status == AT_OK && problem->in_place != 0 && problem->in_place != 1)
        status = at_problem_fail(err, spec, "in_place can only be 0 or 1");
    if (status == AT_OK && (problem->rows < 1 || problem->cols < 1 || problem->batch < 0))
        status = at_problem_fail(err, spec, "rows, columns and batch have to be at least 1");
    if (status == AT_OK && (problem->offset_src < 0 || problem->offset_dst < 0))
        status = at_problem_fail(err, spec, "offsets have to be at least 0");
    return status;
}

enum at_status at_problem_complete(struct at_problem *problem, struct at_error *err)
{
    const struct at_problem given = *problem;
    char *spec;
    enum at_status status = check_sizes(problem, "", NULL);

    if (status == AT_OK)
        status = fill(problem, "", NULL);
    if (status == AT_OK)
        return AT_OK;
    /* Once more with a message: formatting a text each time would take longer than the checks. */
    *problem = given;
    spec = at_format("%lldx%lld:b%lld", (long long)given.rows, (long long)given.cols,
                     (long long)given.elem_size);
    status = check_sizes(problem, spec, err);
    if (status == AT_OK)
        status = fill(problem, spec, err);
    *problem = given;
    at_free(spec);
    return status;
}

static const char example[] =
    "expected ROWSxCOLS:TYPE[,key=value...], for instance 10007x10009:f16,ld_src=10016";

/* Read the positive integer of `length` bytes at text; `what` is its name in messages. */
static enum at_status read_size(int64_t *value, const char *text, size_t length, const char *what,
                                const char *spec, struct at_error *err)
{
    if (at_integer_parse(text, length, value) && *value >= 1)
        return AT_OK;
    return at_problem_fail(err, spec,
                           "%s is \"%.*s\", not a whole number from 1 on, at most 2^62; %s", what,
                           at_text_fit(text, length, 40), text, example);
}

/* Read one key=value of `length` bytes. Members without a value yet are 0. */
static enum at_status read_key(struct at_problem *problem, struct at_step_reading *step,
                               const char *text, size_t length, const char *spec,
                               struct at_error *err)
{
    size_t begin;

    if (has_key(text, length, IN_PLACE, &begin))
        return read_in_place(&problem->in_place, text + begin, length - begin, spec, err);
    for (size_t i = 0; i < AT_COUNT(keys); i++) {
        int64_t *value = member_of(problem, i);

        if (!has_key(text, length, i, &begin))
            continue;
        if (*value != 0)
            return at_problem_fail(err, spec, "%s is given twice", at_problem_keys[i]);
        return read_size(value, text + begin, length - begin, at_problem_keys[i], spec, err);
    }
    if (at_step_read_operation(step, text, length))
        return AT_OK;
    return at_problem_fail(
        err, spec,
        "unknown \"%.*s\"; expected one of ld_src=, ld_dst=, "
        "batch=, stride_src=, stride_dst=, offset_src=, offset_dst=, inplace=, "
        "scale, divide, alpha, affine, beta, conj, nosat, both, amax, blocks=, sums, "
        "as in 256x256:f32,batch=4096",
        at_text_fit(text, length, 40), text);
}

static enum at_status read_sizes(struct at_problem *problem, const char *spec, const char **types,
                                 struct at_error *err)
{
    size_t rows = strcspn(spec, "x:,"), cols;
    const char *at = spec + rows;
    enum at_status status;

    if (*at != 'x')
        return at_problem_fail(err, spec, "%s", example);
    cols = strcspn(at + 1, ":,");
    if (at[1 + cols] != ':')
        return at_problem_fail(err, spec, "%s", example);
    if (memchr(at + 1, 'x', cols))
        return at_problem_fail(err, spec,
                               "a tensor needs its permutation, as in 8x32x2048x128:f16,perm=0213");
    status = read_size(&problem->rows, spec, rows, "ROWS", spec, err);
    *types = at + 1 + cols + 1;
    return status == AT_OK ? read_size(&problem->cols, at + 1, cols, "COLS", spec, err) : status;
}

/* Read the types and all that follows. */
static enum at_status read_rest(struct at_problem *problem, const char *spec, const char *at,
                                struct at_error *err)
{
    struct at_step_reading step = {0};
    struct at_type type = {0};
    size_t length = strcspn(at, ",");
    enum at_status status =
        at_type_read(&type, at, at_step_cut_types(&step, at, length), spec, err);

    if (status == AT_OK && type.name)
        at_problem_take_type(problem, &type);
    else
        problem->elem_size = type.bytes;
    for (at += length; status == AT_OK && *at == ','; at += length) {
        length = strcspn(++at, ",");
        status = read_key(problem, &step, at, length, spec, err);
    }
    if (status == AT_OK)
        status = at_step_make(&problem->step, &step, &type, spec, err);
    return status;
}

/* ---- groups ---- */

static const char group_begin[] = "group=";

static bool is_group(const char *spec)
{
    return strncmp(spec, group_begin, sizeof group_begin - 1) == 0;
}

static enum at_status group_parse(struct at_problem *problem, const char *spec,
                                  struct at_error *err)
{
    size_t length = strcspn(spec, ":");
    struct at_problem read = {0};
    enum at_status status;

    if (spec[length] != ':')
        return at_problem_fail(err, spec, "a type is missing, as in %s",
                               "group=256,rows=16..512,cols=16..512:f16");
    status = at_groups_read(&read.groups, spec, length, err);
    if (status == AT_OK)
        status = read_rest(&read, spec, spec + length + 1, err);
    if (status == AT_OK && (read.ld_src | read.ld_dst | read.batch | read.stride_src |
                            read.stride_dst | read.offset_src | read.offset_dst | read.in_place))
        status = at_problem_fail(err, spec, "groups have no layout of their own");
    if (status == AT_OK)
        status = at_problem_draw_groups(&read, spec, err);
    if (status == AT_OK)
        *problem = read;
    return status;
}

static char *group_format(const struct at_problem *problem)
{
    char spec[AT_PROBLEM_CHARS], *at = at_groups_put(spec, &problem->groups);

    at = at_step_put_type(stpcpy(stpcpy(at, ":"), problem->type), &problem->step);
    at_step_put_operations(at, &problem->step, at_problem_mixes_channels(problem) ? "=rows" : "");
    return at_strdup(spec);
}

enum at_status at_problem_parse(struct at_problem *problem, const char *spec, struct at_error *err)
{
    struct at_problem read = {0};
    const char *types = NULL;
    enum at_status status;

    if (is_group(spec))
        return group_parse(problem, spec, err);
    if (strstr(spec, ",perm="))
        return tensor_parse(problem, spec, err);
    status = read_sizes(&read, spec, &types, err);
    if (status == AT_OK)
        status = read_rest(&read, spec, types, err);
    if (status == AT_OK)
        status = fill(&read, spec, err);
    if (status == AT_OK)
        *problem = read;
    return status;
}

bool at_problem_is_spec(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    return is_group(text) ||
           (digits > 0 && text[digits + strspn(text + digits, "x0123456789")] == ':');
}

static int64_t value_of(const struct at_problem *problem, size_t key)
{
    return *(const int64_t *)((const char *)problem + keys[key].offset);
}

char *at_problem_format(const struct at_problem *problem)
{
    char spec[(AT_COUNT(keys) + 3) * 40], *at = spec; /* a key takes at most 31 */
    const struct at_problem given = at_problem_as_given(problem);
    const char *channels = given.outer_count > 0 ? NULL : channels_of(&given);

    if (problem->groups.count > 0)
        return group_format(problem);
    if (!channels || (given.in_place && at_problem_is_tensor(&given)))
        return tensor_format(&given);
    at = at_problem_put_number(at, given.rows);
    at = at_problem_put_number(stpcpy(at, "x"), given.cols);
    at = at_step_put_type(stpcpy(stpcpy(at, ":"), given.type), &given.step);
    for (size_t i = 0; i < AT_COUNT(keys); i++) {
        int64_t value = value_of(&given, i), usual;

        if (!default_of(&given, i, &usual) || value != usual)
            at = put_key(at, at_problem_keys[i], value);
    }
    if (given.in_place)
        at = put_key(at, at_problem_keys[IN_PLACE], 1);
    at_step_put_operations(at, &given.step, channels);
    return at_strdup(spec);
}
