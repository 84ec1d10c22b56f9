/* SPDX-License-Identifier: Apache-2.0 */
/* Every shape up to 200x200 in place on the emulated device, each with one size of elements and one
 * config, drawn from all families; and tensors. The result must equal a transpose in C, bit for
 * bit. */
#include "emu_check.h"
#include "sample.h"
#include "skipped.h"
#include "space/named.h"

enum { SIDE = 200, SHAPES = SIDE * SIDE, SAMPLE_STEP = 397, DRAWN = 16, SPACE_MAX = 500000 };

static const int elem_sizes[] = {1, 2, 4, 8, 16};

/* A config for elements of a size, and its kernel. */
struct compiled {
    struct at_config config;
    const struct at_ptx_kernel *kernel;
};

static struct at_problem in_place(int64_t rows, int64_t cols, int64_t batch, int elem_size)
{
    struct at_problem problem = {
        .elem_size = elem_size, .rows = rows, .cols = cols, .batch = batch, .in_place = 1};

    assert_int_equal(at_problem_complete(&problem, NULL), AT_OK);
    return problem;
}

/* Draw configs, each for a shape of its own; families take turns. */
static void draw(struct compiled list[DRAWN], int elem_size, struct at_rng *rng)
{
    size_t turn = 0;

    for (size_t i = 0; i < DRAWN;) {
        const int64_t rows = 1 + (int64_t)at_rng_below(rng, SIDE);
        const struct at_problem problem =
            in_place(rows, turn % 5 ? 1 + (int64_t)at_rng_below(rng, SIDE) : rows, 1, elem_size);
        struct at_family *family = families[turn++ % family_count];
        struct at_space space;
        struct at_error err = {AT_OK, ""};

        if (!family->in_place)
            continue;
        if (at_space_build(&space, &family, 1, &problem, &device, SPACE_MAX, &err) != AT_OK)
            fail_msg("%s", err.message);
        if (space.count > 0)
            list[i++].config = space.configs[at_rng_below(rng, space.count)];
        at_space_clear(&space);
    }
}

/* Compile all of them as one program, which is freed by the caller. */
static struct at_ptx_module *compile_all(struct compiled list[DRAWN], int elem_size)
{
    struct at_rendering renderings[DRAWN] = {0};
    struct at_ptx_module *module;

    for (size_t i = 0; i < DRAWN; i++)
        renderings[i] = (struct at_rendering){
            .config = &list[i].config, .kind = {.elem_size = elem_size, .axes = 1, .rows = 1}};
    module = read_kernels(renderings, DRAWN);
    for (size_t i = 0; i < DRAWN; i++)
        list[i].kernel = find(module, renderings[i].entry);
    return module;
}

/* A shape is run by the first legal config from a drawn one on. */
static size_t check_shape(const struct compiled list[DRAWN], const struct at_problem *problem,
                          struct at_rng *rng)
{
    size_t first = (size_t)at_rng_below(rng, DRAWN);

    for (size_t i = 0; i < DRAWN; i++) {
        const struct compiled *chosen = &list[(first + i) % DRAWN];

        if (!is_legal(&chosen->config, problem))
            continue;
        check_on(chosen->kernel, &chosen->config, problem);
        return 1;
    }
    return 0;
}

static void test_shapes(void **state)
{
    struct at_rng rng = {61};
    int step = runs_whole() ? 1 : SAMPLE_STEP;

    (void)state;
    use_architecture(90, AT_IMAGE_PTX_ALONE);
    for (size_t k = 0; k < AT_COUNT(elem_sizes); k++) {
        struct compiled list[DRAWN] = {0};
        struct at_ptx_module *module;
        size_t shapes = 0, checked = 0;

        draw(list, elem_sizes[k], &rng);
        module = compile_all(list, elem_sizes[k]);
        for (int i = 0; i < SHAPES; i += step) {
            const struct at_problem problem =
                in_place(1 + i / SIDE, 1 + i % SIDE, 1, elem_sizes[k]);

            /* Each shape has one size of elements. */
            if ((size_t)(i / step) % AT_COUNT(elem_sizes) != k)
                continue;
            shapes++;
            checked += check_shape(list, &problem, &rng);
        }
        if (checked < shapes * 9 / 10)
            fail_msg("%d bytes: a config was found for %zu of %zu shapes", elem_sizes[k], checked,
                     shapes);
        at_ptx_free(module);
    }
}

/* Check the first problem, and those of its kind, with one config of each family that takes it. */
static void check_tensors(const struct at_problem *problems, size_t count, struct at_rng *rng)
{
    for (size_t i = 0; i < family_count; i++) {
        struct at_space space;
        struct at_error err = {AT_OK, ""};
        struct at_config config;
        struct at_rendering rendering = {.config = &config, .kind = at_problem_kind(&problems[0])};
        struct at_ptx_module *module;

        if (at_space_build(&space, &families[i], 1, &problems[0], &device, SPACE_MAX, &err) !=
            AT_OK)
            fail_msg("%s", err.message);
        if (space.count > 0) {
            config = space.configs[at_rng_below(rng, space.count)];
            module = read_kernels(&rendering, 1);
            for (size_t k = 0; k < count; k++)
                if (is_legal(&config, &problems[k]))
                    check_on(find(module, rendering.entry), &config, &problems[k]);
            at_ptx_free(module);
        }
        at_space_clear(&space);
    }
}

/* The first of each list has configs of the families named; others have other remainders. */
static void test_tensors(void **state)
{
    enum { LISTED = 3 };

    static const char *const lists[][LISTED] = {
        {"131x90x3:b4,perm=102,inplace=1", "197x129x3:b4,perm=102,inplace=1",
         "130x300x3:b4,perm=102,inplace=1"},
        {"2x150x190x5:b1,perm=0213,inplace=1", "3x64x333x5:b1,perm=0213,inplace=1",
         "2x300x128x5:b1,perm=0213,inplace=1"},
        {"67x90x2:b16,perm=102,inplace=1", "24x333x2:b16,perm=102,inplace=1",
         "200x9x2:b16,perm=102,inplace=1"},
        {"150x9x70:b4,perm=210,inplace=1", "97x33x101:b4,perm=210,inplace=1",
         "130x2x64:b4,perm=210,inplace=1"},
        {"140x7x150:b2,perm=210,inplace=1", "128x40x130:b2,perm=210,inplace=1",
         "200x3x199:b2,perm=210,inplace=1"},
        {"9x9x100:b1,perm=102,inplace=1", "3x2x100:b1,perm=102,inplace=1",
         "30x7x100:b1,perm=102,inplace=1"},
        {"5x6x7x8:b8,perm=3120,inplace=1", "5x6x5x5:b8,perm=3120,inplace=1",
         "2x2x2x2:b8,perm=3120,inplace=1"},
        {"4x5x4x6x4:b4,perm=31024,inplace=1", "4x2x3x4x4:b4,perm=31024,inplace=1",
         "2x2x2x2x4:b4,perm=31024,inplace=1"},
    };
    struct at_rng rng = {102};

    (void)state;
    use_architecture(90, AT_IMAGE_PTX_ALONE);
    for (size_t i = 0; i < AT_COUNT(lists); i++) {
        struct at_problem problems[LISTED];

        for (size_t k = 0; k < LISTED; k++)
            assert_int_equal(at_problem_parse(&problems[k], lists[i][k], NULL), AT_OK);
        check_tensors(problems, LISTED, &rng);
    }
}

/* Shapes that a drawn config seldom meets. */
static void test_rare_shapes(void **state)
{
    static const struct {
        const char *config;
        int64_t rows, cols, batch;
        int elem_size;
    } rare[] = {
        /* the last tile of a panel has one column, and fewer threads than a line has chunks */
        {"cycles BACKWARD=1 BLOCKS=8 RUN=96 SLICE=24 THREADS=96", 211, 200, 1, 16},
        /* cycles without a marked place, of runs that are moved in pieces */
        {"cycles BACKWARD=0 BLOCKS=8 RUN=192 SLICE=24 THREADS=128", 2048, 4, 2, 8},
        /* rows that are shorter than a vector, and rows longer than the threads of a block */
        {"cycles BACKWARD=1 BLOCKS=8 RUN=128 SLICE=27 THREADS=96", 7, 400, 3, 1},
        {"cycles BACKWARD=1 BLOCKS=8 RUN=128 SLICE=27 THREADS=96", 127, 300, 1, 1},
    };

    (void)state;
    use_architecture(90, AT_IMAGE_PTX_ALONE);
    for (size_t i = 0; i < AT_COUNT(rare); i++) {
        const struct at_problem problem =
            in_place(rare[i].rows, rare[i].cols, rare[i].batch, rare[i].elem_size);
        struct at_config config;
        struct at_rendering rendering = {
            .config = &config, .kind = {.elem_size = rare[i].elem_size, .axes = 1, .rows = 1}};
        struct at_ptx_module *module;
        struct at_error err = {AT_OK, ""};

        assert_int_equal(at_config_parse(&config, families, family_count, rare[i].config, &err),
                         AT_OK);
        if (!is_legal(&config, &problem))
            fail_msg("%s is not legal for %dx%d", rare[i].config, (int)rare[i].rows,
                     (int)rare[i].cols);
        module = read_kernels(&rendering, 1);
        check_on(find(module, rendering.entry), &config, &problem);
        at_ptx_free(module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_tensors),
                                       cmocka_unit_test(test_rare_shapes)};

    return lacks_nvrtc() ? SKIPPED : cmocka_run_group_tests(tests, read_sources, free_sources);
}
