/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/buffers.h"

#include "base/memory.h"
#include "measure/policy.h"
#include "problem/tensor.h"

#include <stdbool.h>
#include <string.h>

/* ---- the harness on the host ---- */

/* The kernels of templates/harness.cu as functions, for a device whose memory is the host's. An
 * emulated device runs a kernel a hundred times slower, and checks were most of what it did. */

enum { POISON = 0xa5, ELEMENT_MAX = 16 };

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

/* The value of the source's element `index`, in the low bytes. */
static inline void set_value(unsigned char *value, int64_t index, size_t bytes)
{
    uint64_t words[2];

    if (bytes <= sizeof(uint32_t)) {
        words[0] = mix32((uint32_t)index + 1 + (uint32_t)(index >> 32) * UINT32_C(0x9e3779b9));
    } else {
        words[0] = mix64((uint64_t)index + 1);
        words[1] = bytes > sizeof(uint64_t) ? mix64(~(uint64_t)index) : 0;
    }
    memcpy(value, words, bytes);
}

static inline void fill_sized(unsigned char *extent, int64_t elements, size_t bytes)
{
    for (int64_t i = 0; i < elements; i++)
        set_value(extent + (size_t)i * bytes, i, bytes);
}

/* ---- a buffer that is checked ---- */

struct check {
    const unsigned char *base;
    int64_t red_zone, elements; /* of the extent, in elements */
    size_t bytes;               /* of an element */
    uint64_t wrong, first;      /* as a kernel reports them */
};

/* Compare `count` elements with the values of indices `step` apart. */
static inline void compare_sized(struct check *check, int64_t at, int64_t count, int64_t index,
                                 int64_t step, size_t bytes)
{
    const unsigned char *found = check->base + (size_t)(check->red_zone + at) * bytes;
    unsigned char value[ELEMENT_MAX];

    for (int64_t i = 0; i < count; i++, index += step, found += bytes) {
        set_value(value, index, bytes);
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

/* Which elements of the extent are alike: `*count` from `at` on, at most to its end, with the
 * values of *index, *index + *step, ..., or poison if it returns false. */
typedef bool origin(const void *extent, int64_t at, int64_t *index, int64_t *step, int64_t *count);

static enum at_outcome check_buffer(struct at_device *device, const uint64_t *args,
                                    int64_t elements, int elem_size, at_address result,
                                    origin *find, const void *extent, struct at_error *err)
{
    const struct at_device_ops *ops = ((struct at_device_base *)device)->ops;
    struct check check = {
        .red_zone = (int64_t)args[1] / elem_size, .elements = elements, .bytes = (size_t)elem_size};
    size_t size = (size_t)(2 * check.red_zone + elements) * check.bytes;
    uint64_t found[2];
    void *base, *results;
    enum at_outcome outcome = ops->view(device, &base, args[0], size, err);

    if (outcome == AT_CORRECT)
        outcome = ops->view(device, &results, result, sizeof found, err);
    if (outcome != AT_CORRECT)
        return outcome;
    check.base = base;
    compare_poison(&check, -check.red_zone, check.red_zone);
    for (int64_t at = 0, count; at < elements; at += count) {
        int64_t index, step;
        bool filled = find(extent, at, &index, &step, &count);

        if (count > elements - at)
            count = elements - at;
        if (filled)
            compare(&check, at, count, index, step);
        else
            compare_poison(&check, at, count);
    }
    compare_poison(&check, elements, check.red_zone);
    memcpy(found, results, sizeof found);
    found[0] += check.wrong;
    if (check.wrong > 0 && check.first < found[1])
        found[1] = check.first;
    memcpy(results, found, sizeof found);
    return AT_CORRECT;
}

/* ---- extents ---- */

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

/* ---- the kernels as functions ---- */

/* Each takes the words of the kernel's arguments and finds its buffers by the device's `view`,
 * whose failure it returns. */
typedef enum at_outcome host_kernel(struct at_device *device, const uint64_t *args,
                                    struct at_error *err);

static enum at_outcome host_poison(struct at_device *device, const uint64_t *args,
                                   struct at_error *err)
{
    void *bytes;
    enum at_outcome outcome =
        ((struct at_device_base *)device)->ops->view(device, &bytes, args[0], args[1], err);

    if (outcome == AT_CORRECT)
        memset(bytes, POISON, args[1]);
    return outcome;
}

static enum at_outcome host_fill_source(struct at_device *device, const uint64_t *args,
                                        struct at_error *err)
{
    int64_t elements = (int64_t)args[1];
    void *extent;
    enum at_outcome outcome = ((struct at_device_base *)device)
                                  ->ops->view(device, &extent, args[0], args[1] * args[2], err);

    if (outcome != AT_CORRECT)
        return outcome;
#define FILL(bytes) fill_sized(extent, elements, bytes)
    WITH_CONSTANT_SIZE(args[2], FILL);
#undef FILL
    return AT_CORRECT;
}

static enum at_outcome host_check_matrix(struct at_device *device, const uint64_t *args,
                                         struct at_error *err)
{
    struct matrices m;

    memcpy(&m, args + 2, sizeof m);
    return check_buffer(device, args,
                        (m.batch - 1) * m.stride_dst + (m.cols - 1) * m.ld_dst + m.rows,
                        (int)args[10], args[11], matrix_origin, &m, err);
}

static enum at_outcome host_check_tensor(struct at_device *device, const uint64_t *args,
                                         struct at_error *err)
{
    return check_buffer(device, args, (int64_t)args[2], (int)args[3], args[4], tensor_origin,
                        args + 5, err);
}

static enum at_outcome host_check_source(struct at_device *device, const uint64_t *args,
                                         struct at_error *err)
{
    return check_buffer(device, args, (int64_t)args[2], (int)args[3], args[4], source_origin, NULL,
                        err);
}

/* ---- the harness ---- */

enum { HARNESS_THREADS = 256, HARNESS_BLOCKS_PER_MULTIPROCESSOR = 32 };

static const struct at_device_base *base_of(const struct at_device *device)
{
    return (const struct at_device_base *)device;
}

enum at_outcome at_harness_load(struct at_harness *harness, struct at_device *device,
                                const void *image, size_t size, struct at_error *err)
{
    const struct at_device_ops *ops = base_of(device)->ops;
    const struct {
        const char *entry;
        struct at_kernel *kernel;
    } kernels[] = {
        {"at_poison", &harness->poison},
        {"at_fill_source", &harness->fill_source},
        {"at_check", &harness->check},
        {"at_check_tensor", &harness->check_tensor},
        {"at_check_source", &harness->check_source},
    };
    enum at_outcome outcome = ops->load(device, image, size, &harness->module, err);

    for (size_t i = 0; i < AT_COUNT(kernels) && outcome == AT_CORRECT; i++)
        outcome = ops->find(device, harness->module, kernels[i].entry, kernels[i].kernel, err);
    return outcome;
}

/* Start one of the harness's kernels over this many items; it works with any number of threads. A
 * device whose memory the host can reach gets the host's function of the same name at once. */
static enum at_outcome start(struct at_device *device, const struct at_kernel *kernel,
                             host_kernel *host, int64_t items, struct at_call call,
                             struct at_error *err)
{
    int64_t blocks = (items + HARNESS_THREADS - 1) / HARNESS_THREADS;
    int64_t most = base_of(device)->info.multiprocessors * HARNESS_BLOCKS_PER_MULTIPROCESSOR;

    if (base_of(device)->ops->view)
        return host(device, call.args, err);
    call.kernel = kernel;
    call.launch = (struct at_launch){{
        [AT_GRID_X] = blocks < 1      ? 1
                      : blocks < most ? blocks
                                      : most,
        [AT_GRID_Y] = 1,
        [AT_GRID_Z] = 1,
        [AT_BLOCK_X] = HARNESS_THREADS,
        [AT_BLOCK_Y] = 1,
        [AT_BLOCK_Z] = 1,
        [AT_CARVEOUT_PERCENT] = -1,
    }};
    return base_of(device)->ops->start(device, &call, err);
}

static enum at_outcome poison(struct at_device *device, const struct at_harness *harness,
                              at_address address, int64_t bytes, struct at_error *err)
{
    return start(device, &harness->poison, host_poison, bytes / 16,
                 (struct at_call){.args = {address, (uint64_t)bytes}}, err);
}

/* Fill the source's buffer with a source's values; in place, the destination's buffer. */
static enum at_outcome fill(const struct at_buffers *buffers, struct at_device *device,
                            const struct at_harness *harness, at_address extent,
                            struct at_error *err)
{
    int64_t elements = at_problem_src_extent(&buffers->problem);

    return start(device, &harness->fill_source, host_fill_source, elements,
                 (struct at_call){
                     .args = {extent, (uint64_t)elements, (uint64_t)buffers->problem.elem_size}},
                 err);
}

enum at_outcome at_buffers_fill(const struct at_buffers *buffers, struct at_device *device,
                                const struct at_harness *harness, struct at_error *err)
{
    enum at_outcome outcome =
        poison(device, harness, buffers->src, buffers->sets * buffers->src_pitch, err);

    if (outcome == AT_CORRECT)
        outcome = poison(device, harness, buffers->dst, buffers->sets * buffers->dst_pitch, err);
    for (int64_t set = 0; set < buffers->sets && outcome == AT_CORRECT; set++)
        outcome = fill(buffers, device, harness, at_buffers_src(buffers, set), err);
    for (int64_t set = 0; buffers->problem.in_place && set < buffers->sets; set++)
        if (outcome == AT_CORRECT)
            outcome = fill(buffers, device, harness, at_buffers_dst(buffers, set), err);
    return outcome;
}

enum at_outcome at_buffers_make(struct at_buffers *buffers, struct at_device *device,
                                const struct at_harness *harness, const struct at_gpu_case *wanted,
                                struct at_error *err)
{
    const struct at_device_ops *ops = base_of(device)->ops;
    const struct at_device_info *info = &base_of(device)->info;
    const struct at_problem *problem = &wanted->problem;
    int64_t src_bytes = at_problem_src_extent(problem) * problem->elem_size;
    int64_t dst_bytes = at_problem_dst_extent(problem) * problem->elem_size;
    /* An offset lengthens both red zones. */
    int64_t src_offset = problem->offset_src * problem->elem_size;
    int64_t dst_offset = problem->offset_dst * problem->elem_size;
    struct at_buffers made = {
        .problem = *problem,
        .sets = wanted->sets,
        .src_zone = at_red_zone_bytes(src_bytes, info) + src_offset,
        .dst_zone = at_red_zone_bytes(dst_bytes, info) + dst_offset,
        .src_pitch = at_buffer_bytes_with_zones(src_bytes, src_offset, info),
        .dst_pitch = at_buffer_bytes_with_zones(dst_bytes, dst_offset, info),
    };
    enum at_outcome outcome = ops->allocate(device, made.sets * made.src_pitch, &made.src, err);

    if (outcome == AT_CORRECT)
        outcome = ops->allocate(device, made.sets * made.dst_pitch, &made.dst, err);
    if (outcome == AT_CORRECT)
        outcome = at_buffers_fill(&made, device, harness, err);
    if (outcome == AT_CORRECT)
        *buffers = made;
    else if (!at_outcome_loses_device(outcome)) /* a lost device releases nothing */
        at_buffers_release(&made, device);
    return outcome;
}

void at_buffers_release(struct at_buffers *buffers, struct at_device *device)
{
    base_of(device)->ops->release(device, buffers->src);
    base_of(device)->ops->release(device, buffers->dst);
    *buffers = (struct at_buffers){0};
}

at_address at_buffers_src(const struct at_buffers *buffers, int64_t set)
{
    return buffers->src + (uint64_t)(set * buffers->src_pitch + buffers->src_zone);
}

at_address at_buffers_dst(const struct at_buffers *buffers, int64_t set)
{
    return buffers->dst + (uint64_t)(set * buffers->dst_pitch + buffers->dst_zone);
}

enum at_outcome at_buffers_reset(const struct at_buffers *buffers, struct at_device *device,
                                 const struct at_harness *harness, int64_t set,
                                 struct at_error *err)
{
    enum at_outcome outcome =
        poison(device, harness, buffers->dst + (uint64_t)(set * buffers->dst_pitch),
               buffers->dst_pitch, err);

    if (outcome == AT_CORRECT && buffers->problem.in_place)
        outcome = fill(buffers, device, harness, at_buffers_dst(buffers, set), err);
    return outcome;
}

/* The same for batches of any axes. The kernel has its own struct `tensor_axes`, with the axes that
 * are farthest apart in the destination first. */
static enum at_outcome check_tensor(const struct at_buffers *buffers, struct at_device *device,
                                    const struct at_harness *harness, int64_t set,
                                    at_address result, struct at_error *err)
{
    const struct at_problem *p = &buffers->problem;
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_axes_merge(axes, at_problem_axes(p, axes)), word = 0;
    struct at_call call = {.args = {
                               buffers->dst + (uint64_t)(set * buffers->dst_pitch),
                               (uint64_t)buffers->dst_zone,
                               (uint64_t)at_problem_dst_extent(p),
                               (uint64_t)p->elem_size,
                               result,
                           }};
    uint64_t *words = call.args + 5;
    int64_t span = 0;

    at_axes_sort(axes, count, AT_DESTINATION);
    for (size_t i = 0; i < count; i++) { /* from the last word on, for the span of inner axes */
        const uint64_t entry[] = {(uint64_t)axes[i].extent, (uint64_t)axes[i].stride_src,
                                  (uint64_t)axes[i].stride_dst, (uint64_t)span};

        memcpy(words + 4 * (AT_AXES_MAX - 1 - i), entry, sizeof entry);
        span += (axes[i].extent - 1) * axes[i].stride_dst;
    }
    for (size_t i = 0; i < 4 * count; i++)
        words[word++] = words[4 * (AT_AXES_MAX - count) + i];
    words[4 * AT_AXES_MAX] = (uint64_t)count;
    call.arg_words[5] = 4 * AT_AXES_MAX + 1;
    return start(device, &harness->check_tensor, host_check_tensor,
                 buffers->dst_pitch / p->elem_size, call, err);
}

enum at_outcome at_buffers_check(const struct at_buffers *buffers, struct at_device *device,
                                 const struct at_harness *harness, int64_t set, at_address result,
                                 struct at_error *err)
{
    const struct at_problem *p = &buffers->problem;

    if (at_problem_is_tensor(p))
        return check_tensor(buffers, device, harness, set, result, err);

    struct at_call call = {.args = {
                               buffers->dst + (uint64_t)(set * buffers->dst_pitch),
                               (uint64_t)buffers->dst_zone,
                               (uint64_t)p->rows,
                               (uint64_t)p->cols,
                               (uint64_t)p->ld_src,
                               (uint64_t)p->ld_dst,
                               (uint64_t)p->batch,
                               (uint64_t)p->stride_src,
                               (uint64_t)p->stride_dst,
                               (uint64_t)p->in_place,
                               (uint64_t)p->elem_size,
                               result,
                           }};

    return start(device, &harness->check, host_check_matrix, buffers->dst_pitch / p->elem_size,
                 call, err);
}

/* Is a buffer still filled like a source? */
static enum at_outcome check_filled(const struct at_buffers *buffers, struct at_device *device,
                                    const struct at_harness *harness, at_address base, int64_t zone,
                                    int64_t pitch, at_address result, struct at_error *err)
{
    const struct at_problem *p = &buffers->problem;
    struct at_call call = {.args = {
                               base,
                               (uint64_t)zone,
                               (uint64_t)at_problem_src_extent(p),
                               (uint64_t)p->elem_size,
                               result,
                           }};

    return start(device, &harness->check_source, host_check_source, pitch / p->elem_size, call,
                 err);
}

enum at_outcome at_buffers_check_source(const struct at_buffers *buffers, struct at_device *device,
                                        const struct at_harness *harness, int64_t set,
                                        at_address result, struct at_error *err)
{
    return check_filled(buffers, device, harness,
                        buffers->src + (uint64_t)(set * buffers->src_pitch), buffers->src_zone,
                        buffers->src_pitch, result, err);
}

enum at_outcome at_buffers_check_restored(const struct at_buffers *buffers,
                                          struct at_device *device,
                                          const struct at_harness *harness, int64_t set,
                                          at_address result, struct at_error *err)
{
    return check_filled(buffers, device, harness,
                        buffers->dst + (uint64_t)(set * buffers->dst_pitch), buffers->dst_zone,
                        buffers->dst_pitch, result, err);
}
