/* SPDX-License-Identifier: Apache-2.0 */
/* Sources with strides of any sign, and overlap of both sides. Every family that takes such sources
 * runs on the emulated device. The reference follows the strides as they were given. */
#include "emu_check.h"

enum { VIEWS = 32, PROGRAM_KERNELS = 8, EXTENT_MAX = 40, BYTES_MAX = 1 << 16 };

static int64_t any_of(struct at_rng *rng, const int64_t *values, size_t count)
{
    return values[at_rng_below(rng, count)];
}

/* A dense tensor with changes: axes that go backwards on either side, and of the source those that
 * repeat, that slide, and that have gaps. */
static struct at_tensor draw_view(struct at_rng *rng)
{
    static const int64_t extents[] = {1, 2, 3, 4, 8, 17, EXTENT_MAX};
    static const int64_t sizes[] = {1, 2, 4, 8, 12, 16};
    struct at_tensor t = {
        .rank = 1 + (size_t)at_rng_below(rng, 4),
        .elements = {.bytes = any_of(rng, sizes, AT_COUNT(sizes)), .any_strides = true}};
    int64_t src = 1, dst = 1, elements = 1;

    for (size_t i = 0; i < t.rank; i++)
        t.perm[i] = (int64_t)i;
    for (size_t i = t.rank; i-- > 0;) {
        size_t other = (size_t)at_rng_below(rng, i + 1);
        int64_t moved = t.perm[i];

        t.perm[i] = t.perm[other];
        t.perm[other] = moved;
        t.extents[i] = any_of(rng, extents, AT_COUNT(extents));
        elements *= t.extents[i];
        if (elements > 4000) {
            elements /= t.extents[i];
            t.extents[i] = 1;
        }
        t.strides[AT_SOURCE][i] = src;
        src *= t.extents[i] + (at_rng_below(rng, 4) == 0);
    }
    for (size_t i = t.rank; i-- > 0;) {
        t.strides[AT_DESTINATION][i] = dst;
        dst *= t.extents[t.perm[i]] + (at_rng_below(rng, 4) == 0);
        if (at_rng_below(rng, 3) == 0)
            t.strides[AT_DESTINATION][i] *= -1;
        if (at_rng_below(rng, 2) == 0)
            t.strides[AT_SOURCE][i] *= (int64_t)at_rng_below(rng, 2) - 1;
        else if (at_rng_below(rng, 4) == 0)
            t.strides[AT_SOURCE][i] = 1;
    }
    return t;
}

/* The range of a side's places around the element with all indices 0, in elements. */
static void reach_of(const struct at_tensor *t, int side, int64_t *lowest, int64_t *count)
{
    int64_t highest = *lowest = 0;

    for (size_t i = 0; i < t->rank; i++) {
        size_t axis = side == AT_SOURCE ? i : (size_t)t->perm[i];
        int64_t span = (t->extents[axis] - 1) * t->strides[side][i];

        *(span < 0 ? lowest : &highest) += span;
    }
    *count = highest - *lowest + 1;
}

/* Write what a transposition by the definition writes. */
static void transpose_by_definition(const struct at_tensor *t, unsigned char *dst,
                                    const unsigned char *src)
{
    size_t size = (size_t)t->elements.bytes;
    int64_t elements = 1;

    for (size_t i = 0; i < t->rank; i++)
        elements *= t->extents[i];
    for (int64_t i = 0; i < elements; i++) {
        int64_t left = i, from = 0, to = 0;

        for (size_t k = 0; k < t->rank; k++) {
            int64_t index = left % t->extents[t->perm[k]];

            left /= t->extents[t->perm[k]];
            from += index * t->strides[AT_SOURCE][t->perm[k]];
            to += index * t->strides[AT_DESTINATION][k];
        }
        memcpy(dst + to * (int64_t)size, src + from * (int64_t)size, size);
    }
}

/* A view, and a config of a family that takes it. */
struct drawn {
    struct at_tensor tensor;
    struct at_problem problem;
    struct at_config config;
};

static void check_view(const struct at_ptx_kernel *kernel, const struct drawn *drawn)
{
    const struct at_tensor *t = &drawn->tensor;
    struct buffers b = {.problem = drawn->problem, .memory = at_emu_memory_new()};
    int64_t size = t->elements.bytes, low[AT_SIDES], count[AT_SIDES];
    unsigned char *right;
    char *values = at_config_format(&drawn->config), *spec = at_problem_format(&drawn->problem);
    char *what = at_format("%s %s on %s", drawn->config.family->name, values, spec);

    for (int side = AT_SOURCE; side < AT_SIDES; side++)
        reach_of(t, side, &low[side], &count[side]);
    b.src_bytes = (size_t)(count[AT_SOURCE] * size);
    b.dst_bytes = (size_t)(count[AT_DESTINATION] * size);
    b.src = at_emu_memory_allocate(b.memory, (int64_t)b.src_bytes);
    b.dst = at_emu_memory_allocate(b.memory, (int64_t)b.dst_bytes);
    b.src_host = at_emu_memory_host(b.memory, b.src, b.src_bytes);
    b.dst_host = at_emu_memory_host(b.memory, b.dst, b.dst_bytes);
    for (size_t i = 0; i < b.src_bytes; i++)
        b.src_host[i] = (unsigned char)(i * 7 + i / 256);
    memset(b.dst_host, POISON, b.dst_bytes);
    right = at_memdup(b.dst_host, b.dst_bytes);
    transpose_by_definition(t, right - low[AT_DESTINATION] * size,
                            b.src_host - low[AT_SOURCE] * size);
    b.src += (uint64_t)(drawn->problem.begin_src - low[AT_SOURCE] * size);
    b.dst += (uint64_t)(drawn->problem.begin_dst - low[AT_DESTINATION] * size);
    run_transpose(&b, kernel, &drawn->config, what);
    if (memcmp(right, b.dst_host, b.dst_bytes) != 0)
        fail_msg("%s: a wrong result", what);
    free(right);
    free(what);
    free(spec);
    free(values);
    at_emu_memory_free(b.memory);
}

static void check_program(const struct drawn *drawn, size_t count)
{
    struct at_rendering renderings[PROGRAM_KERNELS] = {0};
    struct at_ptx_module *module;

    for (size_t i = 0; i < count; i++)
        renderings[i] = (struct at_rendering){.config = &drawn[i].config,
                                              .kind = at_problem_kind(&drawn[i].problem)};
    module = read_kernels(renderings, count);
    for (size_t i = 0; i < count; i++)
        check_view(find(module, renderings[i].entry), &drawn[i]);
    at_ptx_free(module);
}

static struct at_problem problem_of_view(const struct at_tensor *tensor)
{
    struct at_problem problem;
    struct at_error err = {AT_OK, ""};

    if (at_problem_of_tensor(&problem, tensor, NULL, &err) != AT_OK)
        fail_msg("%s", err.message);
    return problem;
}

/* Draw a config of the family. False: none is legal. */
static bool draw_config(struct at_config *config, struct at_family *family,
                        const struct at_problem *problem, struct at_rng *rng)
{
    struct at_space space;
    struct at_error err = {AT_OK, ""};
    bool found;

    if (at_space_build(&space, &family, 1, problem, &device, 500000, &err) != AT_OK)
        fail_msg("%s", err.message);
    found = space.count > 0;
    if (found)
        *config = space.configs[at_rng_below(rng, space.count)];
    at_space_clear(&space);
    return found;
}

static void every_family_reads_views(void **state)
{
    struct drawn drawn[PROGRAM_KERNELS];
    struct at_rng rng = {5};
    size_t views = 0, count = 0;

    (void)state;
    use_architecture(90, AT_IMAGE_PTX);
    while (views < VIEWS) {
        struct at_tensor tensor = draw_view(&rng);
        struct at_problem problem = problem_of_view(&tensor);
        bool moved = false;

        if (!problem.is_view)
            continue;
        views++;
        for (size_t i = 0; i < family_count; i++) {
            struct drawn next = {.tensor = tensor, .problem = problem};

            if (!families[i]->views || !draw_config(&next.config, families[i], &problem, &rng))
                continue;
            moved = true;
            drawn[count++] = next;
            if (count == PROGRAM_KERNELS) {
                check_program(drawn, count);
                count = 0;
            }
        }
        assert_true(moved);
    }
    check_program(drawn, count);
}

/* Do both sides share a byte? By the definition. */
static bool share_bytes(const struct at_tensor *t, int64_t distance)
{
    static unsigned char marks[2][1 << 17];
    unsigned char *src = marks[0] + (1 << 16), *dst = marks[1] + (1 << 16);
    unsigned char ones[64];
    struct at_tensor in_source = *t;

    memset(ones, 1, sizeof ones);
    memset(marks, 0, sizeof marks);
    /* What a source of ones makes of a source that lies like the destination, and the reverse. */
    for (size_t i = 0; i < t->rank; i++)
        in_source.strides[AT_DESTINATION][i] = t->strides[AT_SOURCE][t->perm[i]];
    memset(in_source.strides[AT_SOURCE], 0, sizeof in_source.strides[AT_SOURCE]);
    transpose_by_definition(&in_source, src, ones);
    memcpy(in_source.strides[AT_DESTINATION], t->strides[AT_DESTINATION],
           sizeof in_source.strides[AT_DESTINATION]);
    transpose_by_definition(&in_source, dst, ones);
    for (int64_t i = -(1 << 15); i < 1 << 15; i++)
        if (dst[i] && src[i + distance])
            return true;
    return false;
}

/* Every third element, so that sides can interleave. */
static struct at_tensor draw_spread(struct at_rng *rng)
{
    struct at_tensor t = draw_view(rng);

    for (size_t i = 0; i < t.rank; i++)
        for (int side = AT_SOURCE; side < AT_SIDES; side++)
            t.strides[side][i] *= 3;
    return t;
}

static void finds_what_both_sides_share(void **state)
{
    struct at_rng rng = {9};
    int shared = 0, near_only = 0, views = 0;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct at_tensor tensor = draw_spread(&rng);
        struct at_problem problem = problem_of_view(&tensor);
        int64_t distance, near[2];
        enum at_overlap found;
        bool expected;

        if (at_problem_src_extent(&problem) * problem.elem_size > 1 << 14 ||
            at_problem_dst_extent(&problem) * problem.elem_size > 1 << 14)
            continue;
        at_problem_near(&problem, near);
        distance = near[0] - 2 + (int64_t)at_rng_below(&rng, (uint64_t)(near[1] - near[0] + 4));
        /* Between the elements with all indices 0. */
        expected = share_bytes(&tensor, distance - problem.begin_dst + problem.begin_src);
        found = at_problem_sides_overlap(&problem, distance);
        if (found != AT_UNDECIDED)
            assert_int_equal(found == AT_OVERLAP, expected);
        if (expected)
            assert_true(distance > near[0] && distance < near[1]);
        shared += expected;
        near_only += !expected && distance > near[0] && distance < near[1];
        views += problem.is_view != 0;
    }
    assert_true(shared > 100 && near_only > 100 && views > 100);
}

static void refuses_what_has_no_meaning(void **state)
{
    static const struct {
        struct at_tensor tensor;
        const char *words;
    } cases[] = {
        {{1, {3}, {0}, {{0}, {1}}, {.bytes = 4}}, NULL}, /* a dense source, without any_strides */
        {{1, {3}, {0}, {{-1}, {1}}, {.bytes = 4}}, "strides have to be at least 1"},
        {{1, {3}, {0}, {{1}, {0}}, {.bytes = 4, .any_strides = true}}, "destination overlap"},
        {{2, {3, 4}, {0, 1}, {{1, 1}, {3, -1}}, {.bytes = 4, .any_strides = true}},
         "elements of the destination overlap"},
        {{1, {3}, {0}, {{INT64_MIN}, {1}}, {.bytes = 4, .any_strides = true}}, "62 bits"},
        {{1, {3}, {0}, {{-INT64_MAX}, {1}}, {.bytes = 4, .any_strides = true}}, "62 bits"},
        {{1, {3}, {0}, {{1}, {INT64_MIN}}, {.bytes = 4, .any_strides = true}}, "62 bits"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem problem;
        struct at_error err = {AT_OK, ""};
        enum at_status status = at_problem_of_tensor(&problem, &cases[i].tensor, NULL, &err);

        assert_int_equal(status, cases[i].words ? AT_USAGE : AT_OK);
        if (cases[i].words && !strstr(err.message, cases[i].words))
            fail_msg("\"%s\" is not in: %s", cases[i].words, err.message);
    }
}

/* Axes that go backwards on both sides are no view: every family takes them. */
static void turns_axes_round(void **state)
{
    const struct at_tensor backwards = {
        2, {3, 5}, {1, 0}, {{-5, -1}, {-3, -1}}, {.bytes = 4, .any_strides = true}};
    struct at_tensor forwards = {2, {3, 5}, {1, 0}, {{5, 1}, {3, 1}}, {.bytes = 4}};
    struct at_problem a = problem_of_view(&backwards), b = problem_of_view(&forwards);

    (void)state;
    assert_true(at_problem_equal(&a, &b));
    assert_int_equal(a.is_view, 0);
    assert_int_equal(a.begin_src, -14 * 4);
    assert_int_equal(a.begin_dst, -14 * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_has_no_meaning),
        cmocka_unit_test(turns_axes_round),
        cmocka_unit_test(finds_what_both_sides_share),
        cmocka_unit_test(every_family_reads_views),
    };

    return cmocka_run_group_tests(tests, read_sources, free_sources);
}
