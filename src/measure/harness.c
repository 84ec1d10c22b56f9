/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of templates/harness.cu on a device, and as functions where its memory is the host's:
 * an emulated device runs a kernel a hundred times slower, and checks were most of what it did. */
#include "base/integer.h"
#include "base/memory.h"
#include "measure/bench.h"
#include "problem/problem.h"

#include <stdbool.h>
#include <string.h>

enum { POISON = AT_POISON_BYTE, ELEMENT_MAX = 16 };

/* Call what has one argument with the element's size as a constant, so that the compiler makes a
 * loop for each size. */
#define WITH_CONSTANT_SIZE(bytes, call)                                                            \
    do {                                                                                           \
        switch (bytes) {                                                                           \
        case 1:                                                                                    \
            call(1);                                                                               \
            break;                                                                                 \
        case 2:                                                                                    \
            call(2);                                                                               \
            break;                                                                                 \
        case 4:                                                                                    \
            call(4);                                                                               \
            break;                                                                                 \
        case 8:                                                                                    \
            call(8);                                                                               \
            break;                                                                                 \
        default:                                                                                   \
            call(ELEMENT_MAX);                                                                     \
        }                                                                                          \
    } while (0)

/* ---- values, as harness.cu gives them ---- */

static uint64_t mix64(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint32_t mix32(uint32_t z)
{
    z = (z ^ z >> 16) * UINT32_C(0x85ebca6b);
    z = (z ^ z >> 13) * UINT32_C(0xc2b2ae35);
    return z ^ z >> 16;
}

static inline uint32_t mix_index(int64_t index)
{
    return mix32((uint32_t)index + 1 + (uint32_t)(index >> 32) * UINT32_C(0x9e3779b9));
}

size_t at_harness_value(int64_t index)
{
    return mix_index(index) % AT_STEP_VALUES;
}

size_t at_harness_set(int64_t channel)
{
    return mix_index(channel) % AT_STEP_SETS;
}

/* The index of padding that has to be 0. */
enum { ZEROS = -1 };

/* The value of the source's element `index`, in the low bytes, or its result's: from the table of
 * values, if there is one. */
static inline void set_value(unsigned char *value, int64_t index, size_t bytes,
                             const unsigned char *values)
{
    uint64_t words[2] = {0, 0};

    if (index == ZEROS) {
        memcpy(value, words, bytes);
        return;
    }
    if (values) {
        memcpy(value, values + at_harness_value(index) * bytes, bytes);
        return;
    }
    if (bytes <= sizeof(uint32_t)) {
        words[0] = mix_index(index);
    } else {
        words[0] = mix64((uint64_t)index + 1);
        words[1] = bytes > sizeof(uint64_t) ? mix64(~(uint64_t)index) : 0;
    }
    memcpy(value, words, bytes);
}

static inline void fill_sized(unsigned char *extent, int64_t elements, size_t bytes,
                              const unsigned char *values)
{
    for (int64_t i = 0; i < elements; i++)
        set_value(extent + (size_t)i * bytes, i, bytes, values);
}

/* ---- a buffer that is checked ---- */

/* Which elements of the extent are alike: `*count` from `at` on, at most to its end, with the
 * values of *index, *index + *step, ..., or poison if it returns false. */
typedef bool origin(const void *extent, int64_t at, int64_t *index, int64_t *step, int64_t *count);

struct check;

/* The channel of the element `at`. */
typedef int64_t channel_of(const struct check *check, int64_t at);

struct check {
    int64_t elements;               /* of the extent */
    size_t bytes;                   /* of an element */
    at_address result, value_table; /* the table is 0 for problems without a step */
    origin *find;
    channel_of *channel; /* NULL: results have none */
    int64_t period, run; /* of the channels of most problems */
    const void *extent;  /* for find and channel */

    /* check_buffer's own. */
    const unsigned char *base, *values;
    int64_t red_zone;      /* in elements */
    uint64_t wrong, first; /* as a kernel reports them */
};

/* The table of the values of an element's channel. */
static inline const unsigned char *values_at(const struct check *check, int64_t at, size_t bytes)
{
    return check->channel
               ? check->values + at_harness_set(check->channel(check, at)) * AT_STEP_VALUES * bytes
               : check->values;
}

/* Compare `count` elements with the values of indices `step` apart. */
static inline void compare_sized(struct check *check, int64_t at, int64_t count, int64_t index,
                                 int64_t step, size_t bytes)
{
    const unsigned char *found = check->base + (size_t)(check->red_zone + at) * bytes;
    unsigned char value[ELEMENT_MAX];

    for (int64_t i = 0; i < count; i++, index += step, found += bytes) {
        set_value(value, index, bytes, values_at(check, at + i, bytes));
        if (memcmp(found, value, bytes) == 0)
            continue;
        if (check->wrong++ == 0) /* elements come in their order */
            check->first = (uint64_t)(check->red_zone + at + i);
    }
}

static void compare(struct check *check, int64_t at, int64_t count, int64_t index, int64_t step)
{
#define COMPARE(bytes) compare_sized(check, at, count, index, step, bytes)
    WITH_CONSTANT_SIZE(check->bytes, COMPARE);
#undef COMPARE
}

/* Compare elements with poison; `at` may lie in a red zone. */
static void compare_poison(struct check *check, int64_t at, int64_t count)
{
    static const unsigned char poison[ELEMENT_MAX] = {
        POISON, POISON, POISON, POISON, POISON, POISON, POISON, POISON,
        POISON, POISON, POISON, POISON, POISON, POISON, POISON, POISON};
    const unsigned char *found = check->base + (size_t)(check->red_zone + at) * check->bytes;

    for (int64_t i = 0; i < count; i++, found += check->bytes)
        if (memcmp(found, poison, check->bytes) != 0 && check->wrong++ == 0)
            check->first = (uint64_t)(check->red_zone + at + i);
}

/* View `sets` tables, each of AT_STEP_VALUES elements of `bytes` bytes. *values is NULL if there is
 * no table. */
static enum at_outcome view_values(struct at_device *device, void **values, at_address table,
                                   size_t bytes, size_t sets, struct at_error *err)
{
    *values = NULL;
    return table ? ((struct at_device_base *)device)
                       ->ops->view(device, values, table, sets * AT_STEP_VALUES * bytes, err)
                 : AT_CORRECT;
}

static enum at_outcome check_buffer(struct at_device *device, const uint64_t *args,
                                    struct check check, struct at_error *err)
{
    const struct at_device_ops *ops = ((struct at_device_base *)device)->ops;
    uint64_t found[2];
    void *base, *results, *values = NULL;
    enum at_outcome outcome;

    check.red_zone = (int64_t)(args[1] / check.bytes);
    outcome = ops->view(device, &base, args[0],
                        (size_t)(2 * check.red_zone + check.elements) * check.bytes, err);
    if (outcome == AT_CORRECT)
        outcome = ops->view(device, &results, check.result, sizeof found, err);
    if (outcome == AT_CORRECT)
        outcome = view_values(device, &values, check.value_table, check.bytes,
                              check.channel ? AT_STEP_SETS : 1, err);
    if (outcome != AT_CORRECT)
        return outcome;
    check.base = base;
    check.values = values;
    compare_poison(&check, -check.red_zone, check.red_zone);
    for (int64_t at = 0, count; at < check.elements; at += count) {
        int64_t index, step;
        bool filled = check.find(check.extent, at, &index, &step, &count);

        count = at_min(count, check.elements - at);
        if (filled)
            compare(&check, at, count, index, step);
        else
            compare_poison(&check, at, count);
    }
    compare_poison(&check, check.elements, check.red_zone);
    memcpy(found, results, sizeof found);
    found[0] += check.wrong;
    if (check.wrong > 0 && check.first < found[1])
        found[1] = check.first;
    memcpy(results, found, sizeof found);
    return AT_CORRECT;
}

/* ---- extents ---- */

static int64_t channel_by_period(const struct check *check, int64_t at)
{
    return at % check->period / check->run;
}

static bool source_origin(const void *extent, int64_t at, int64_t *index, int64_t *step,
                          int64_t *count)
{
    (void)extent;
    *index = at;
    *step = 1;
    *count = INT64_MAX;
    return true;
}

struct matrices {
    int64_t rows, cols, ld_src, ld_dst, batch, stride_src, stride_dst, in_place;
};

/* The rest of a column; or an element at a time of what lies between columns and matrices. */
static bool matrix_origin(const void *extent, int64_t at, int64_t *index, int64_t *step,
                          int64_t *count)
{
    const struct matrices *m = extent;
    /* The stride of a batch of one has no meaning and may be 0. */
    int64_t matrix = m->batch == 1 ? 0 : at / m->stride_dst;
    int64_t within = at - matrix * m->stride_dst;
    int64_t col = within / m->ld_dst, row = within - col * m->ld_dst;
    bool inside = col < m->cols && row < m->rows;

    *index = inside ? matrix * m->stride_src + row * m->ld_src + col : at;
    *step = m->ld_src;
    *count = inside ? m->rows - row : 1;
    return inside || m->in_place;
}

/* The kernel's struct tensor_axes: of each axis extent, both strides and the span of those after
 * it, then the number of axes. */
enum { AXIS_WORDS = 4 };

static int64_t axis_word(const uint64_t *words, int64_t axis, int word)
{
    return (int64_t)words[AXIS_WORDS * axis + word];
}

/* The search of harness.cu's tensor_extent, a run at a time. */
static bool tensor_origin(const void *extent, int64_t at, int64_t *index, int64_t *step,
                          int64_t *count)
{
    const uint64_t *words = extent;
    int64_t axes = (int64_t)words[AXIS_WORDS * AT_AXES_MAX];
    int64_t chosen[AT_AXES_MAX], from = 0, left = at;

    *step = *count = 1;
    for (int64_t i = 0; i < axes; i++) {
        int64_t most = axis_word(words, i, 0) - 1, source = axis_word(words, i, 1);
        int64_t stride = axis_word(words, i, 2), span = axis_word(words, i, 3);

        chosen[i] = left / stride < most ? left / stride : most;
        left -= chosen[i] * stride;
        from += chosen[i] * source;
        while (left > span) { /* too far for the axes after this: go back */
            do {
                left += chosen[i] * axis_word(words, i, 2);
                from -= chosen[i] * axis_word(words, i, 1);
                if (--i < 0)
                    return false;
            } while (chosen[i] == 0);
            chosen[i]--;
            left += axis_word(words, i, 2);
            from -= axis_word(words, i, 1);
            span = axis_word(words, i, 3);
        }
    }
    *index = from; /* the last axis has left nothing: its span is 0 */
    if (axes > 0 && axis_word(words, axes - 1, 2) == 1) {
        *step = axis_word(words, axes - 1, 1);
        *count = axis_word(words, axes - 1, 0) - chosen[axes - 1];
    }
    return true;
}

struct groups_extent {
    const struct at_group_lines *groups;
    int64_t count;
};

/* Find the lines that an element is among. */
static const struct at_group_lines *lines_at(const struct groups_extent *all, int64_t at,
                                             int64_t *line, int64_t *place)
{
    int64_t begin = 0, end = all->count;
    const struct at_group_lines *own;

    while (end - begin > 1) {
        int64_t middle = begin + (end - begin) / 2;

        *(all->groups[middle].start <= at ? &begin : &end) = middle;
    }
    own = &all->groups[begin];
    *line = (at - own->start) / own->ld;
    *place = at - own->start - *line * own->ld;
    return own;
}

static bool groups_origin(const void *extent, int64_t at, int64_t *index, int64_t *step,
                          int64_t *count)
{
    int64_t line, place;
    const struct at_group_lines *own = lines_at(extent, at, &line, &place);

    *count = 1;
    if (line >= own->lines || place >= own->padded)
        return false;
    *index = place < own->length ? own->index + line * own->line_step + place * own->element_step
                                 : ZEROS;
    *step = place < own->length ? own->element_step : 0;
    *count = (place < own->length ? own->length : own->padded) - place;
    return true;
}

static int64_t channel_of_group(const struct check *check, int64_t at)
{
    int64_t line, place;
    const struct at_group_lines *own = lines_at(check->extent, at, &line, &place);

    return own->channel + line * own->channel_line_step + place * own->channel_element_step;
}

/* ---- the kernels as functions ---- */

static enum at_outcome poison(struct at_device *device, const uint64_t *args, struct at_error *err)
{
    void *bytes;
    enum at_outcome outcome =
        ((struct at_device_base *)device)->ops->view(device, &bytes, args[0], args[1], err);

    if (outcome == AT_CORRECT)
        memset(bytes, POISON, args[1]);
    return outcome;
}

static enum at_outcome fill_source(struct at_device *device, const uint64_t *args,
                                   struct at_error *err)
{
    int64_t elements = (int64_t)args[1];
    void *extent, *values;
    enum at_outcome outcome = ((struct at_device_base *)device)
                                  ->ops->view(device, &extent, args[0], args[1] * args[2], err);

    if (outcome == AT_CORRECT)
        outcome = view_values(device, &values, args[3], args[2], 1, err);

    if (outcome != AT_CORRECT)
        return outcome;
#define FILL(bytes) fill_sized(extent, elements, bytes, values)
    WITH_CONSTANT_SIZE(args[2], FILL);
#undef FILL
    return AT_CORRECT;
}

/* Fill elements of a destination's layout with the values that belong to the source's. */
static enum at_outcome fill_extent(struct at_device *device, const uint64_t *args, origin *find,
                                   const void *within, struct at_error *err)
{
    int64_t elements = (int64_t)args[1], index, step, count;
    size_t bytes = args[2];
    void *extent, *values;
    enum at_outcome outcome = ((struct at_device_base *)device)
                                  ->ops->view(device, &extent, args[0], args[1] * bytes, err);

    if (outcome == AT_CORRECT)
        outcome = view_values(device, &values, args[3], bytes, 1, err);
    if (outcome != AT_CORRECT)
        return outcome;
    for (int64_t at = 0; at < elements; at += count) {
        bool filled = find(within, at, &index, &step, &count);

        for (int64_t i = 0; filled && i < count; i++)
            set_value((unsigned char *)extent + (size_t)(at + i) * bytes, index + i * step, bytes,
                      values);
    }
    return AT_CORRECT;
}

static enum at_outcome fill_second(struct at_device *device, const uint64_t *args,
                                   struct at_error *err)
{
    return fill_extent(device, args, tensor_origin, args + 4, err);
}

/* Where the lines of many matrices are, whose address and number are these words. */
static enum at_outcome view_groups(struct at_device *device, const uint64_t words[2],
                                   struct groups_extent *all, struct at_error *err)
{
    void *groups = NULL;
    enum at_outcome outcome =
        ((struct at_device_base *)device)
            ->ops->view(device, &groups, words[0], words[1] * sizeof *all->groups, err);

    *all = (struct groups_extent){groups, (int64_t)words[1]};
    return outcome;
}

static enum at_outcome fill_groups(struct at_device *device, const uint64_t *args,
                                   struct at_error *err)
{
    struct groups_extent all;
    enum at_outcome outcome = view_groups(device, args + 4, &all, err);

    return outcome == AT_CORRECT ? fill_extent(device, args, groups_origin, &all, err) : outcome;
}

static enum at_outcome check_matrix(struct at_device *device, const uint64_t *args,
                                    struct at_error *err)
{
    struct matrices m;

    memcpy(&m, args + 2, sizeof m);
    return check_buffer(
        device, args,
        (struct check){
            .elements = (m.batch - 1) * m.stride_dst + (m.cols - 1) * m.ld_dst + m.rows,
            .bytes = args[10],
            .result = args[11],
            .value_table = args[12],
            .find = matrix_origin,
            .channel = args[13] ? channel_by_period : NULL,
            .period = (int64_t)args[13],
            .run = (int64_t)args[14],
            .extent = &m,
        },
        err);
}

/* Check one extent, of which the arguments have the size. */
static enum at_outcome check_extent(struct at_device *device, const uint64_t *args, origin *find,
                                    struct at_error *err)
{
    return check_buffer(device, args,
                        (struct check){.elements = (int64_t)args[2],
                                       .bytes = args[3],
                                       .result = args[4],
                                       .value_table = args[5],
                                       .find = find,
                                       .channel = args[6] ? channel_by_period : NULL,
                                       .period = (int64_t)args[6],
                                       .run = (int64_t)args[7],
                                       .extent = args + 8},
                        err);
}

static enum at_outcome check_tensor(struct at_device *device, const uint64_t *args,
                                    struct at_error *err)
{
    return check_extent(device, args, tensor_origin, err);
}

static enum at_outcome check_groups(struct at_device *device, const uint64_t *args,
                                    struct at_error *err)
{
    struct groups_extent all;
    enum at_outcome outcome = view_groups(device, args + 6, &all, err);

    return outcome == AT_CORRECT
               ? check_buffer(device, args,
                              (struct check){.elements = (int64_t)args[2],
                                             .bytes = args[3],
                                             .result = args[4],
                                             .value_table = args[5],
                                             .find = groups_origin,
                                             .channel = args[8] ? channel_of_group : NULL,
                                             .extent = &all},
                              err)
               : outcome;
}

static enum at_outcome check_source(struct at_device *device, const uint64_t *args,
                                    struct at_error *err)
{
    return check_extent(device, args, source_origin, err);
}

static enum at_outcome check_words(struct at_device *device, const uint64_t *args,
                                   struct at_error *err)
{
    const struct at_device_ops *ops = ((struct at_device_base *)device)->ops;
    uint32_t wrong = 0;
    uint64_t found[2];
    void *words, *results;
    enum at_outcome outcome = ops->view(device, &words, args[0], args[1] * sizeof wrong, err);

    if (outcome == AT_CORRECT)
        outcome = ops->view(device, &results, args[3], sizeof found, err);
    if (outcome != AT_CORRECT)
        return outcome;
    for (uint64_t i = 0; i < args[1]; i++)
        wrong += ((const uint32_t *)words)[i] != (i == 0 ? args[2] : 0);
    memcpy(found, results, sizeof found);
    found[0] += wrong;
    memcpy(results, found, sizeof found);
    return AT_CORRECT;
}

static enum at_outcome check_same(struct at_device *device, const uint64_t *args,
                                  struct at_error *err)
{
    const struct at_device_ops *ops = ((struct at_device_base *)device)->ops;
    void *bytes, *expected, *results;
    uint64_t found[2];
    enum at_outcome outcome = ops->view(device, &bytes, args[0], args[2], err);

    if (outcome == AT_CORRECT)
        outcome = ops->view(device, &expected, args[1], args[2], err);
    if (outcome == AT_CORRECT)
        outcome = ops->view(device, &results, args[3], sizeof found, err);
    if (outcome != AT_CORRECT)
        return outcome;
    memcpy(found, results, sizeof found);
    for (uint64_t i = 0; i < args[2]; i++)
        if (((const unsigned char *)bytes)[i] != ((const unsigned char *)expected)[i]) {
            found[0]++;
            found[1] = i < found[1] ? i : found[1];
        }
    memcpy(results, found, sizeof found);
    return AT_CORRECT;
}

/* Each takes the words of the kernel's arguments and finds its buffers by the device's `view`,
 * whose failure it returns. */
typedef enum at_outcome host_kernel(struct at_device *device, const uint64_t *args,
                                    struct at_error *err);

static const struct {
    const char *entry; /* of the kernel on the device */
    host_kernel *on_host;
} kernels[AT_HARNESS_KERNELS] = {
    [AT_POISON] = {"at_poison", poison},
    [AT_FILL_SOURCE] = {"at_fill_source", fill_source},
    [AT_FILL_SECOND] = {"at_fill_second", fill_second},
    [AT_FILL_GROUPS] = {"at_fill_groups", fill_groups},
    [AT_CHECK] = {"at_check", check_matrix},
    [AT_CHECK_TENSOR] = {"at_check_tensor", check_tensor},
    [AT_CHECK_GROUPS] = {"at_check_groups", check_groups},
    [AT_CHECK_SOURCE] = {"at_check_source", check_source},
    [AT_CHECK_WORDS] = {"at_check_words", check_words},
    [AT_CHECK_SAME] = {"at_check_same", check_same},
};

/* ---- on the device ---- */

enum at_outcome at_bench_harness(struct at_bench *bench, const void *image, size_t size,
                                 struct at_error *err)
{
    const struct at_device_ops *ops = ((const struct at_device_base *)bench->device)->ops;
    enum at_outcome outcome = ops->load(bench->device, image, size, &bench->module, err);

    for (size_t i = 0; i < AT_COUNT(kernels) && outcome == AT_CORRECT; i++)
        outcome =
            ops->find(bench->device, bench->module, kernels[i].entry, &bench->harness[i], err);
    return outcome;
}

enum { HARNESS_THREADS = 256, HARNESS_BLOCKS_PER_MULTIPROCESSOR = 32 };

enum at_outcome at_harness_start(const struct at_bench *bench, enum at_harness_kernel kernel,
                                 int64_t items, struct at_call call, struct at_error *err)
{
    const struct at_device_base *base = (const struct at_device_base *)bench->device;
    int64_t most = base->info.multiprocessors * HARNESS_BLOCKS_PER_MULTIPROCESSOR;

    if (base->ops->view)
        return kernels[kernel].on_host(bench->device, call.args, err);
    call.kernel = &bench->harness[kernel];
    call.launch = (struct at_launch){{
        [AT_GRID_X] = at_max(1, at_min(most, (items + HARNESS_THREADS - 1) / HARNESS_THREADS)),
        [AT_GRID_Y] = 1,
        [AT_GRID_Z] = 1,
        [AT_BLOCK_X] = HARNESS_THREADS,
        [AT_BLOCK_Y] = 1,
        [AT_BLOCK_Z] = 1,
        [AT_CARVEOUT_PERCENT] = -1,
    }};
    return base->ops->start(bench->device, &call, err);
}

void at_harness_put_axes(struct at_call *call, size_t first, const struct at_problem *p,
                         enum at_side side)
{
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(p, axes);
    uint64_t *words = call->args + first;
    int64_t span = 0;

    for (size_t i = 0; i < count; i++)
        axes[i].stride_dst = at_axis_stride(&axes[i], side);
    count = at_axes_merge(axes, count);
    at_axes_sort(axes, count, AT_DESTINATION);
    for (size_t i = 0; i < count; i++) { /* from the last word on, for the span of inner axes */
        const uint64_t entry[] = {(uint64_t)axes[i].extent, (uint64_t)axes[i].stride_src,
                                  (uint64_t)axes[i].stride_dst, (uint64_t)span};

        memcpy(words + 4 * (count - 1 - i), entry, sizeof entry);
        span += (axes[i].extent - 1) * axes[i].stride_dst;
    }
    words[4 * AT_AXES_MAX] = (uint64_t)count;
    call->arg_words[first] = 4 * AT_AXES_MAX + 1;
}
