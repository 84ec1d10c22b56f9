/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes groups as text: group=COUNT,key=value...:TYPE[,operation...], where parts like
 * 200x64x64+56x16..31x128 may stand for COUNT, rows= and cols=. */
#include "base/integer.h"
#include "base/memory.h"
#include "problem/problem_parts.h"

#include <string.h>

static const char example[] = "as in group=256,rows=16..512,cols=16..512:f16 or "
                              "group=64,total=98304,cols=2880,pad=16:bf16";

enum { KEY_GROUP = 0, KEY_ROWS = 1, KEY_COLS = 3 };

/* The keys, in the order in which they are written. A value that is `usual` is left out. */
static const struct {
    const char *name;
    size_t offset; /* in struct at_groups, of one number, or of two for a range */
    bool is_range;
    bool is_law;
    int64_t least, usual;
} keys[] = {
    [KEY_GROUP] = {"group", offsetof(struct at_groups, count), false, false, 1, 0},
    [KEY_ROWS] = {"rows", offsetof(struct at_groups, rows), true, false, 0, 0},
    {"total", offsetof(struct at_groups, total), false, false, 1, 0},
    [KEY_COLS] = {"cols", offsetof(struct at_groups, cols), true, false, 0, 0},
    {"batch", offsetof(struct at_groups, batch), true, false, 1, 1},
    {"law", offsetof(struct at_groups, law), false, true, 0, AT_LAW_EVEN},
    {"multiple", offsetof(struct at_groups, multiple), false, false, 1, 1},
    {"pad", offsetof(struct at_groups, padding), false, false, 1, 1},
    {"stack", offsetof(struct at_groups, stacked), false, false, 1, 0},
    {"draw", offsetof(struct at_groups, draw), false, false, 1, 0},
};

enum { COUNT_MAX = 1 << 20 };

static const int64_t side_max = INT32_MAX;

static int64_t *member_of(struct at_groups *groups, size_t key)
{
    return (int64_t *)((char *)groups + keys[key].offset);
}

/* Read "16..512", or "64" for a single size. */
static bool read_range(int64_t range[2], const char *text, size_t length)
{
    size_t first = 0;

    while (first < length && text[first] != '.')
        first++;
    if (first == length)
        return at_integer_parse(text, length, range) && (range[1] = range[0], true);
    return length > first + 2 && text[first + 1] == '.' && at_integer_parse(text, first, range) &&
           at_integer_parse(text + first + 2, length - first - 2, range + 1);
}

bool at_group_part_read(struct at_group_part *part, const char *text, size_t length)
{
    const char *first = memchr(text, 'x', length), *second;
    size_t at, left;

    *part = (struct at_group_part){.count = 1};
    if (!first)
        return false;
    second = memchr(first + 1, 'x', length - (size_t)(first + 1 - text));
    if (second && !at_integer_parse(text, (size_t)(first - text), &part->count))
        return false;
    at = second ? (size_t)(first + 1 - text) : 0;
    left = (size_t)((second ? second : first) - text) - at;
    return read_range(part->rows, text + at, left) &&
           read_range(part->cols, text + at + left + 1, length - at - left - 1) &&
           part->count >= 1 && part->count <= COUNT_MAX && part->rows[0] >= 0 &&
           part->cols[0] >= 0 && part->rows[0] <= part->rows[1] && part->cols[0] <= part->cols[1];
}

/* Read parts with '+' between them. */
static bool read_parts(struct at_groups *groups, const char *text, size_t length)
{
    struct at_group_part parts[AT_GROUP_PARTS];
    size_t count = 0;

    for (size_t at = 0, own; at <= length; at += own + 1) {
        const char *plus = memchr(text + at, '+', length - at);

        own = plus ? (size_t)(plus - text) - at : length - at;
        if (count == AT_GROUP_PARTS || !at_group_part_read(&parts[count++], text + at, own))
            return false;
    }
    at_groups_take_parts(groups, parts, count);
    return true;
}

static bool read_law(int64_t *law, const char *text, size_t length)
{
    for (*law = 0; *law < AT_LAWS; ++*law)
        if (strlen(at_group_law_names[*law]) == length &&
            memcmp(at_group_law_names[*law], text, length) == 0)
            return true;
    return false;
}

/* Sizes in group= stand for rows= and cols=, too. */
static enum at_status take_parts(struct at_groups *groups, unsigned *seen, const char *text,
                                 size_t length, const char *spec, struct at_error *err)
{
    *seen |= 1U << KEY_ROWS | 1U << KEY_COLS;
    if (read_parts(groups, text, length))
        return AT_OK;
    return at_problem_fail(err, spec,
                           "group is \"%.*s\"; expected at most %d sizes like 64x64 or "
                           "200x16..31x64, with + between",
                           at_text_fit(text, length, 40), text, AT_GROUP_PARTS);
}

static enum at_status read_key(struct at_groups *groups, unsigned *seen, const char *text,
                               size_t length, const char *spec, struct at_error *err)
{
    for (size_t i = 0; i < AT_COUNT(keys); i++) {
        size_t name = strlen(keys[i].name), left;
        const char *value = text + name + 1;
        int64_t *to = member_of(groups, i);
        bool is_read;

        if (length <= name || memcmp(text, keys[i].name, name) != 0 || text[name] != '=')
            continue;
        left = length - name - 1;
        if (*seen >> i & 1)
            return at_problem_fail(err, spec, "%s is given twice", keys[i].name);
        *seen |= 1U << i;
        if (i == KEY_GROUP && left > 0 && *value == '@')
            return at_problem_fail(err, spec, "only a command line names a file of sizes");
        if (i == KEY_GROUP && memchr(value, 'x', left))
            return take_parts(groups, seen, value, left, spec, err);
        is_read = keys[i].is_range ? read_range(to, value, left)
                  : keys[i].is_law ? read_law(to, value, left)
                                   : at_integer_parse(value, left, to);
        if (is_read && *to >= keys[i].least && (!keys[i].is_range || to[0] <= to[1]))
            return AT_OK;
        return at_problem_fail(err, spec, "%s is \"%.*s\"; expected %s, %s", keys[i].name,
                               at_text_fit(value, left, 40), value,
                               keys[i].is_range ? "a size, or two with .. between"
                               : keys[i].is_law ? "even, zipf or sparse"
                                                : "a whole number from 1 on",
                               example);
    }
    return at_problem_fail(
        err, spec,
        "unknown \"%.*s\"; expected one of group=, rows=, cols=, batch=, total=, "
        "law=, multiple=, pad=, stack=, draw=, %s",
        at_text_fit(text, length, 40), text, example);
}

static bool has_multiple(const int64_t range[2], int64_t multiple)
{
    return range[1] / multiple * multiple >= range[0];
}

static enum at_status check_list(const struct at_groups *groups, unsigned seen, const char *spec,
                                 struct at_error *err)
{
    static const char *const names[] = {"rows", "cols"};
    static const int keys_of[] = {KEY_ROWS, KEY_COLS};
    const int64_t *sides[] = {groups->rows, groups->cols};

    if (groups->padding != 1 || groups->stacked || groups->law != AT_LAW_EVEN)
        return at_problem_fail(err, spec, "law=, pad= and stack= are for groups with total=");
    for (size_t i = 0; i < AT_COUNT(names); i++) {
        if (!(seen >> keys_of[i] & 1))
            return at_problem_fail(err, spec, "%s= is missing, %s", names[i], example);
        if (sides[i][1] > side_max || sides[i][1] < 1)
            return at_problem_fail(err, spec, "%s= has to end from 1 on, and below 2^31", names[i]);
        if (!has_multiple(sides[i], groups->multiple))
            return at_problem_fail(err, spec, "no multiple of %lld is in the range of %s=",
                                   (long long)groups->multiple, names[i]);
    }
    if (groups->batch[1] > side_max / groups->cols[1])
        return at_problem_fail(err, spec, "a batch has to have fewer than 2^31 columns in all");
    for (int64_t i = 0; i < groups->part_count; i++)
        if (!has_multiple(groups->parts[i].rows, groups->multiple) ||
            !has_multiple(groups->parts[i].cols, groups->multiple))
            return at_problem_fail(err, spec, "no multiple of %lld is in a range of group=",
                                   (long long)groups->multiple);
    return AT_OK;
}

static enum at_status check_rows(const struct at_groups *groups, unsigned seen, const char *spec,
                                 struct at_error *err)
{
    if (seen >> KEY_ROWS & 1)
        return at_problem_fail(err, spec, "groups with total= have no rows=");
    if (groups->batch[1] > 1)
        return at_problem_fail(err, spec, "batch= is for lists");
    if (groups->cols[0] < 1 || groups->cols[0] != groups->cols[1] || groups->cols[0] > side_max)
        return at_problem_fail(err, spec, "with total=, cols= is one size from 1 on");
    if (groups->total > side_max || groups->padding > 4096)
        return at_problem_fail(err, spec, "total= is below 2^31, and pad= at most 4096");
    if (groups->total % groups->multiple != 0)
        return at_problem_fail(err, spec, "total= has to be a multiple of %lld",
                               (long long)groups->multiple);
    if (groups->stacked > 1)
        return at_problem_fail(err, spec, "stack=1 is the only value; leave it out otherwise");
    return AT_OK;
}

enum at_status at_groups_read(struct at_groups *groups, const char *spec, size_t length,
                              struct at_error *err)
{
    struct at_groups read = {.batch = {1, 1}, .multiple = 1, .padding = 1};
    enum at_status status = AT_OK;
    unsigned seen = 0;

    for (size_t at = 0, own; at <= length && status == AT_OK; at += own + 1) {
        const char *comma = memchr(spec + at, ',', length - at);

        own = comma ? (size_t)(comma - spec) - at : length - at;
        status = read_key(&read, &seen, spec + at, own, spec, err);
    }
    if (status == AT_OK && read.count > COUNT_MAX)
        status = at_problem_fail(err, spec, "group= is at most 2^20");
    if (status == AT_OK)
        status = read.total > 0 ? check_rows(&read, seen, spec, err)
                                : check_list(&read, seen, spec, err);
    if (status == AT_OK)
        *groups = read;
    return status;
}

static char *put_range(char *at, const int64_t range[2])
{
    at = at_problem_put_number(at, range[0]);
    return range[0] == range[1] ? at : at_problem_put_number(stpcpy(at, ".."), range[1]);
}

char *at_group_part_put(char *at, const struct at_group_part *part)
{
    if (part->count > 1)
        at = stpcpy(at_problem_put_number(at, part->count), "x");
    return put_range(stpcpy(put_range(at, part->rows), "x"), part->cols);
}

/* Is a key not written? Of a list, rows= is there even if it is 0..0. */
static bool is_left_out(const struct at_groups *groups, size_t key, const int64_t *value)
{
    if (keys[key].usual > 0 || !keys[key].is_range)
        return value[0] == keys[key].usual && (!keys[key].is_range || value[1] == keys[key].usual);
    return groups->part_count > 0 || (key == KEY_ROWS && groups->total > 0);
}

char *at_groups_put(char *at, const struct at_groups *groups)
{
    struct at_groups own = *groups;

    for (size_t i = 0; i < AT_COUNT(keys); i++) {
        const int64_t *value = member_of(&own, i);

        if (is_left_out(&own, i, value))
            continue;
        at = stpcpy(stpcpy(stpcpy(at, i ? "," : ""), keys[i].name), "=");
        if (keys[i].is_law) {
            at = stpcpy(at, at_group_law_names[*value]);
            continue;
        }
        if (i == KEY_GROUP && own.part_count > 0)
            for (int64_t k = 0; k < own.part_count; k++)
                at = at_group_part_put(stpcpy(at, k ? "+" : ""), &own.parts[k]);
        else
            at = keys[i].is_range ? put_range(at, value) : at_problem_put_number(at, *value);
    }
    return at;
}

/* A leading dimension near `length` with this alignment and no more. */
static int64_t ld_like(int64_t length, int64_t alignment)
{
    return (((length + alignment - 1) / alignment) | 1) * alignment;
}

/* Whole matrices as far apart, at 256 elements or with the alignment of their rows. */
static void take_strides(struct at_problem *problem)
{
    problem->stride_src = problem->rows * problem->ld_src;
    problem->stride_dst = problem->cols * problem->ld_dst;
}

void at_problem_align_groups(struct at_problem *problem, int64_t alignment)
{
    problem->ld_src = ld_like(problem->cols, alignment);
    problem->ld_dst = ld_like(problem->rows, alignment);
    take_strides(problem);
}

/* The mean of a side, whose range is at `offset` of a part. */
static int64_t mean_of(const struct at_groups *groups, size_t offset)
{
    struct at_group_part whole;
    int64_t count, twice = 0;
    const struct at_group_part *parts = at_groups_parts(groups, &whole, &count);

    for (int64_t i = 0; i < count; i++) {
        const int64_t *range = (const int64_t *)((const char *)&parts[i] + offset);

        twice += parts[i].count * (range[0] + range[1]);
    }
    return (twice + 2 * groups->count - 1) / (2 * groups->count);
}

/* The sizes and leading dimensions of a matrix that stands for all. */
static void take_means(struct at_problem *problem)
{
    const struct at_groups *groups = &problem->groups;
    bool is_list = groups->total == 0;
    int64_t alignment =
        is_list || groups->multiple % groups->padding == 0 ? groups->multiple : groups->padding;

    problem->rows = at_max(1, is_list ? mean_of(groups, offsetof(struct at_group_part, rows))
                                      : (groups->total + groups->count - 1) / groups->count);
    problem->cols = at_max(1, mean_of(groups, offsetof(struct at_group_part, cols)));
    problem->batch = groups->count * at_max(1, (groups->batch[0] + groups->batch[1]) / 2);
    at_problem_align_groups(problem, alignment);
    if (groups->cols[0] == groups->cols[1])
        problem->ld_src = problem->cols;
    if (is_list && groups->rows[0] == groups->rows[1])
        problem->ld_dst = problem->rows;
    take_strides(problem);
    if (is_list) {
        problem->stride_src = (problem->stride_src | 255) + 1;
        problem->stride_dst = (problem->stride_dst | 255) + 1;
    }
}

int64_t at_problem_least_bytes(const struct at_problem *problem)
{
    int64_t bytes = at_min(problem->elem_size, at_problem_elem_size(problem, AT_DESTINATION));

    return at_step_has(&problem->step, AT_BOTH) ? at_min(bytes, at_step_kept_bytes(&problem->step))
                                                : bytes;
}

enum at_status at_problem_of_groups(struct at_problem *problem, const char *spec,
                                    struct at_error *err)
{
    if (problem->elem_size < 1 || problem->elem_size > 16 ||
        (problem->elem_size & (problem->elem_size - 1)) != 0)
        return at_problem_fail(err, spec, "elements of a group have 1, 2, 4, 8 or 16 bytes");
    if (problem->step.operations & (1U << AT_AMAX | 1U << AT_BLOCKS | 1U << AT_SUMS))
        return at_problem_fail(err, spec, "groups have no amax, sums or blocks yet");
    if (!problem->type[0])
        at_problem_name_type(problem);
    take_means(problem);
    return at_channels_place_groups(problem, spec, err);
}

/* Add the elements of a part's largest matrices, with gaps. False: they do not fit. */
static bool add_elements(int64_t *elements, int64_t count, int64_t rows, int64_t cols)
{
    int64_t own;

    return !__builtin_mul_overflow(rows, cols, &own) &&
           !__builtin_mul_overflow(count, own + 256, &own) &&
           !__builtin_add_overflow(*elements, own, elements);
}

/* Do the largest sizes fit? */
static bool groups_fit(const struct at_problem *problem)
{
    const struct at_groups *groups = &problem->groups;
    int64_t each = problem->elem_size + at_problem_elem_size(problem, AT_DESTINATION) +
                   at_step_kept_bytes(&problem->step);
    struct at_group_part whole;
    int64_t elements = 0, count;
    const struct at_group_part *parts = at_groups_parts(groups, &whole, &count);
    bool fit = true;

    if (groups->total > 0)
        fit = add_elements(&elements, groups->stacked ? groups->count : 1,
                           groups->total + groups->count * groups->padding, groups->cols[1]);
    for (int64_t i = 0; groups->total == 0 && i < count && fit; i++)
        fit = add_elements(&elements, parts[i].count, parts[i].rows[1] + 256,
                           parts[i].cols[1] * groups->batch[1]);
    return fit && !__builtin_mul_overflow(elements, each, &elements) && elements >> 62 == 0;
}

enum at_status at_problem_draw_groups(struct at_problem *problem, const char *spec,
                                      struct at_error *err)
{
    struct at_groups *groups = &problem->groups;
    enum at_status status = at_problem_of_groups(problem, spec, err);
    struct at_group *all;

    if (status != AT_OK)
        return status;
    if (groups->batch[1] > 1 && at_step_has(&problem->step, AT_AFFINE))
        return at_problem_fail(err, spec, "the matrices of a batch have no channels of their own");
    if (!groups_fit(problem))
        return at_problem_fail(err, spec, "the matrices do not fit 62 bits of bytes");
    all = at_groups_draw(groups, at_problem_least_bytes(problem));
    for (int64_t i = 0; i < groups->count; i++) {
        const struct at_group *own = &all[i];

        groups->elements += own->rows * own->cols;
        if (own->rows * own->cols == 0)
            continue;
        groups->extents[0] =
            at_max(groups->extents[0], own->src + (own->rows - 1) * own->ld_src + own->cols);
        groups->extents[1] =
            at_max(groups->extents[1], own->dst + (own->cols - 1) * own->ld_dst + own->padded_rows);
    }
    at_free(all);
    return groups->elements > 0 ? AT_OK : at_problem_fail(err, spec, "all matrices are empty");
}
