/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes in a file become the ranges of a specification. */
#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "problem/problem_parts.h"
#include "system/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 26 };

struct sizes {
    struct at_group_part *items;
    size_t count, capacity;
};

/* ---- reading ---- */

/* A line without blanks around it and without what follows '#'. */
static const char *trim(const char *line, size_t *length)
{
    const char *comment = memchr(line, '#', *length);

    if (comment)
        *length = (size_t)(comment - line);
    while (*length > 0 && strchr(" \t\r", line[*length - 1]))
        --*length;
    while (*length > 0 && strchr(" \t", *line)) {
        line++;
        --*length;
    }
    return line;
}

static enum at_status read_sizes(struct sizes *sizes, const char *text, size_t size,
                                 const char *path, struct at_error *err)
{
    int line = 1;

    for (const char *at = text, *end; at < text + size; line++, at = end + 1) {
        const char *own;
        struct at_group_part part;
        size_t length;

        end = memchr(at, '\n', (size_t)(text + size - at));
        end = end ? end : text + size;
        length = (size_t)(end - at);
        own = trim(at, &length);
        if (length == 0)
            continue;
        if (!at_group_part_read(&part, own, length))
            return at_fail(err, AT_USAGE,
                           "%s:%d: \"%.*s\" is no size; expected ROWSxCOLS or COUNTxROWSxCOLS, "
                           "such as 64x64 or 200x16..31x64",
                           path, line, at_text_fit(own, length, 40), own);
        AT_PUSH(sizes->items, sizes->count, sizes->capacity, part);
    }
    return sizes->count > 0 ? AT_OK : at_fail(err, AT_USAGE, "%s has no sizes", path);
}

/* ---- dividing ---- */

/* Sizes that become one part, of a sorted array. */
struct box {
    size_t begin, end;
    int side;    /* along which it is longer: 0: rows, 1: columns */
    double cost; /* of making one part of them; 0: they are alike */
};

/* The middle of a range on a scale where twice as much is as far everywhere. */
static double middle_of(const struct at_group_part *part, int side)
{
    const int64_t *range = side == 0 ? part->rows : part->cols;

    return log2(1 + (double)(range[0] + range[1]) / 2);
}

static struct box box_of(const struct at_group_part *parts, size_t begin, size_t end)
{
    struct box box = {.begin = begin, .end = end};
    double least[2] = {INFINITY, INFINITY}, most[2] = {0, 0}, count = 0;

    for (size_t i = begin; i < end; i++) {
        count += (double)parts[i].count;
        for (int side = 0; side < 2; side++) {
            least[side] = fmin(least[side], middle_of(&parts[i], side));
            most[side] = fmax(most[side], middle_of(&parts[i], side));
        }
    }
    box.side = most[1] - least[1] > most[0] - least[0];
    box.cost = count * (most[0] - least[0] + most[1] - least[1]);
    return box;
}

static int compare_middles(const void *a, const void *b, int side)
{
    double left = middle_of(a, side), right = middle_of(b, side);

    return (left > right) - (left < right);
}

static int by_rows(const void *a, const void *b)
{
    return compare_middles(a, b, 0);
}

static int by_cols(const void *a, const void *b)
{
    return compare_middles(a, b, 1);
}

/* Divide a box in the middle of its longer side, where sizes are on both sides. */
static struct box split(struct at_group_part *parts, struct box *box)
{
    size_t at = box->begin + 1;
    double middle;
    struct box rest;

    qsort(parts + box->begin, box->end - box->begin, sizeof *parts,
          box->side == 0 ? by_rows : by_cols);
    middle =
        (middle_of(&parts[box->begin], box->side) + middle_of(&parts[box->end - 1], box->side)) / 2;
    while (at < box->end - 1 && middle_of(&parts[at], box->side) < middle)
        at++;
    rest = box_of(parts, at, box->end);
    *box = box_of(parts, box->begin, at);
    return rest;
}

/* Divide the sizes until each box has alike ones, or there are as many boxes as parts. The box
 * that costs most is the next one. */
static size_t divide(struct at_group_part *parts, size_t count, struct box boxes[AT_GROUP_PARTS])
{
    size_t used = 1;

    boxes[0] = box_of(parts, 0, count);
    while (used < AT_GROUP_PARTS) {
        size_t worst = 0;

        for (size_t i = 1; i < used; i++)
            if (boxes[i].cost > boxes[worst].cost)
                worst = i;
        if (boxes[worst].cost == 0)
            break;
        boxes[used++] = split(parts, &boxes[worst]);
    }
    return used;
}

/* ---- spelling ---- */

static struct at_group_part part_of(const struct at_group_part *parts, const struct box *box)
{
    struct at_group_part whole = parts[box->begin];

    for (size_t i = box->begin + 1; i < box->end; i++) {
        whole.count += parts[i].count;
        at_group_range_widen(whole.rows, parts[i].rows);
        at_group_range_widen(whole.cols, parts[i].cols);
    }
    return whole;
}

/* The largest power of two that divides all sides. A vector has at most 16 elements. */
static int64_t multiple_of(const struct sizes *sizes)
{
    int64_t all = 16;

    for (size_t i = 0; i < sizes->count; i++)
        all |= sizes->items[i].rows[0] | sizes->items[i].rows[1] | sizes->items[i].cols[0] |
               sizes->items[i].cols[1];
    return all & -all;
}

/* Write the sizes in place of a file's name; `rest` follows it. The caller frees the result. */
static char *spell(const struct sizes *sizes, const char *rest)
{
    struct box boxes[AT_GROUP_PARTS];
    size_t count = divide(sizes->items, sizes->count, boxes);
    int64_t multiple = multiple_of(sizes);
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    fputs("group=", out);
    for (size_t i = 0; i < count; i++) {
        char text[AT_GROUP_PART_CHARS];
        const struct at_group_part part = part_of(sizes->items, &boxes[i]);

        at_group_part_put(text, &part);
        fprintf(out, "%s%s", i ? "+" : "", text);
    }
    if (multiple > 1 && !strstr(rest, ",multiple="))
        fprintf(out, ",multiple=%jd", (intmax_t)multiple);
    fputs(rest, out);
    return at_text_close(&stream, NULL);
}

enum at_status at_problem_read_sizes(char **whole, const char *spec, struct at_error *err)
{
    static const char begin[] = "group=@";
    const char *name = spec + sizeof begin - 1;
    struct sizes sizes = {0};
    char *path, *text;
    size_t size;
    enum at_status status;

    if (strncmp(spec, begin, sizeof begin - 1) != 0) {
        *whole = at_strdup(spec);
        return AT_OK;
    }
    path = at_strndup(name, strcspn(name, ",:"));
    status = at_file_read_text(&text, &size, path, FILE_BYTES_MAX, err);
    if (status == AT_OK) {
        status = read_sizes(&sizes, text, size, path, err);
        free(text);
    }
    if (status == AT_OK)
        *whole = spell(&sizes, name + strlen(path));
    free(sizes.items);
    free(path);
    return status;
}
