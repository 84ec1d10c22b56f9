/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes tensors as text: EXTENTxEXTENT...:TYPE,perm=AXES[,key=value...]. */
#include "base/integer.h"
#include "base/memory.h"
#include "base/printable.h"
#include "problem/axes.h"
#include "problem/problem_parts.h"

#include <string.h>

static const char perm_key[] = "perm=", example[] = "as in 8x32x2048x128:f16,perm=0213";

struct reading {
    struct at_tensor tensor;
    unsigned keys; /* that have been read, by bits */
    const char *spec;
    struct at_error *err;
};

/* Digits tell up to ten axes apart. */
enum { DIGITS = 10 };

static enum at_status fail(const struct reading *t, const char *what, const char *text,
                           size_t length)
{
    return at_fail(t->err, AT_USAGE, "problem \"%.*s\": %s is \"%.*s\"; expected %s, %s",
                   AT_QUOTED(t->spec, 200), what, at_text_fit(text, length, 40), text,
                   strcmp(what, "perm") != 0 ? "integers of at least 1, one per axis"
                   : t->tensor.rank > DIGITS
                       ? "each axis of the source once, with a point between two: perm=0.11.2"
                       : "each axis of the source once, 0 the slowest",
                   example);
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

    if (length >= 2 && *text == '[' && text[length - 1] == ']') {
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
    size_t length = strcspn(text, ",");

    while (strncmp(text, perm_key, sizeof perm_key - 1) == 0 && text[length] == ',' &&
           text[length + 1] >= '0' && text[length + 1] <= '9')
        length += 1 + strcspn(text + length + 1, ",");
    return length;
}

static enum at_status read_key(struct reading *t, const char *text, size_t length)
{
    static const struct {
        const char *name;
        int side; /* -1: perm */
        bool offset;
    } keys[] = {{perm_key, -1, false},
                {"strides_src=", AT_SOURCE, false},
                {"strides_dst=", AT_DESTINATION, false},
                {"offset_src=", AT_SOURCE, true},
                {"offset_dst=", AT_DESTINATION, true}};

    for (size_t i = 0; i < AT_COUNT(keys); i++) {
        size_t name = strlen(keys[i].name), left = length - name;
        const char *value = text + name;
        int side = keys[i].side;

        if (length < name || memcmp(text, keys[i].name, name) != 0)
            continue;
        if (t->keys >> i & 1)
            return at_fail(t->err, AT_USAGE, "problem \"%.*s\": %.*s is given twice",
                           AT_QUOTED(t->spec, 200), (int)name - 1, text);
        t->keys |= 1U << i;
        if (side < 0)
            return read_perm(t, value, left);
        if (keys[i].offset)
            return at_integer_parse(value, left, &t->tensor.offsets[side]) &&
                           t->tensor.offsets[side] >= 1
                       ? AT_OK
                       : fail(t, "an offset", value, left);
        return read_list(t->tensor.strides[side], value, left, 'x', 1) == t->tensor.rank
                   ? AT_OK
                   : fail(t, keys[i].name, value, left);
    }
    return at_fail(t->err, AT_USAGE,
                   "problem \"%.*s\": unknown \"%.*s\"; with perm=, expected one of "
                   "strides_src=, strides_dst=, offset_src=, offset_dst=",
                   AT_QUOTED(t->spec, 200), at_text_fit(text, length, 40), text);
}

enum at_status at_tensor_parse(struct at_problem *problem, const char *spec, struct at_error *err)
{
    struct reading t = {.spec = spec, .err = err};
    size_t length = strcspn(spec, ":,"), type;
    const char *at = spec + length;
    enum at_status status;

    t.tensor.rank = read_list(t.tensor.extents, spec, length, 'x', 1);
    if (*at != ':' || t.tensor.rank == 0)
        return at_fail(err, AT_USAGE,
                       "problem \"%.*s\": expected 1 to %d extents of at least 1 and a type, %s",
                       AT_QUOTED(spec, 200), AT_RANK_MAX, example);
    length = strcspn(++at, ",");
    status = at_problem_read_type(at, length, &t.tensor.elem_size, &type, spec, err);
    for (at += length; status == AT_OK && *at == ','; at += length) {
        length = item_length(++at);
        status = read_key(&t, at, length);
    }
    if (status == AT_OK)
        status = at_problem_of_tensor(problem, &t.tensor, spec, err);
    if (status == AT_OK && type < AT_PROBLEM_TYPES && problem->elem_size == t.tensor.elem_size)
        at_problem_take_type(problem, type);
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
        at = at_put_number(at_put_text(at, i + 1 == count ? name : "x"),
                           at_axis_stride(&axes[i], side));
    return at;
}

char *at_tensor_format(const struct at_problem *problem)
{
    struct at_axis src[AT_AXES_MAX], dst[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, dst), kept = 0;
    /* An axis has an extent, a place and two strides, each with a separator. */
    char spec[AT_AXES_MAX * (3 * 21 + 3) + 128], *at = spec;

    for (size_t i = 0; i < count; i++)
        if (dst[i].extent > 1)
            src[kept++] = dst[i];
    count = kept;
    memcpy(dst, src, count * sizeof *dst);
    at_axes_sort(src, count, AT_SOURCE);
    at_axes_sort(dst, count, AT_DESTINATION);
    for (size_t i = count; i-- > 0;)
        at = at_put_text(at_put_number(at, src[i].extent), i ? "x" : "");
    at = at_put_text(at_put_text(at_put_text(at, ":"), problem->type), ",perm=");
    for (size_t i = count; i-- > 0;) {
        size_t axis = 0;

        while (memcmp(&src[axis], &dst[i], sizeof *src) != 0)
            axis++;
        at = at_put_number(at, (int64_t)(count - 1 - axis));
        at = at_put_text(at, i && count > 10 ? "." : "");
    }
    at = put_strides(at, ",strides_src=", src, count, AT_SOURCE);
    at = put_strides(at, ",strides_dst=", dst, count, AT_DESTINATION);
    if (problem->offset_src)
        at = at_put_key(at, "offset_src", problem->offset_src);
    if (problem->offset_dst)
        at_put_key(at, "offset_dst", problem->offset_dst);
    return at_strdup(spec);
}
