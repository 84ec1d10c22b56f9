/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for many matrices on the emulated device, with lists and groups of rows that no problem
 * draws: empty ones, single elements, batches with gaps, a large matrix among small ones, a million
 * tiny ones, and groups that find no place. Sides and addresses are aligned as the kernel's problem
 * says, and no more. Results must be right, gaps unchanged, and no two accesses race. */
#include "base/integer.h"
#include "base/memory.h"
#include "base/rng.h"
#include "emulated/machine/machine.h"
#include "emulated/ptx/ptx.h"
#include "kernel/nvrtc.h"
#include "kernel/render.h"
#include "problem/group_arguments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "group_scene.h"
#include "hopper.h"
#include "problem_of.h"
#include "sample.h"
#include "shipped_families.h"
#include "template_header.h"

enum { KERNELS_MAX = 40, SPACE_MAX = 500000, HOST_THREADS = 2 };

static struct at_device_info device = {
    .kind = "emu",
    .multiprocessors = 3,
    .l2_bytes = 50 << 20,
    HOPPER,
};

/* ---- kernels ---- */

/* Rows of groups have an odd multiple of the padding, so that no config wants them better aligned.
 */
static const struct {
    const char *family, *problem;
    bool is_sampled; /* compiled without AUTOTUNE_TEST_WHOLE, too */
} sources[] = {
    {"micro", "group=9,rows=0..144,cols=0..144,multiple=8:f16,both", true},
    {"skew", "group=9,rows=0..144,cols=0..144:f32", true},
    {"micro", "group=9,total=500,cols=36,pad=4:u8", true},
    {"skew", "group=9,total=500,cols=33:f16,both", true},
    {"micro", "group=9,rows=0..144,cols=0..144,multiple=8:u8:f16,affine", true},
    {"skew", "group=9,rows=0..144,cols=0..144:i16:f32,affine", true},
    {"skew", "group=9,total=500,cols=33:f16:f32,affine=rows", true},
    {"micro", "group=9,rows=0..144,cols=0..144,multiple=8:bf16:e4m3,scale,both", true},
    {"skew", "group=9,total=500,cols=33:f16,alpha,beta", true},
    {"direct", "group=9,rows=0..24,cols=0..24,batch=1..20:f16", true},
    {"direct", "group=9,rows=0..24,cols=0..24,batch=1..20:u8", false},
    {"direct", "group=9,rows=0..24,cols=0..24,batch=1..20:c128", false},
    {"micro", "group=9,rows=0..144,cols=0..144,multiple=4:u8", false},
    {"micro", "group=9,rows=0..144,cols=0..144:c128", false},
    {"skew", "group=9,rows=0..144,cols=0..144:u8,both", false},
    {"skew", "group=9,rows=0..144,cols=0..144:f64", false},
    {"micro", "group=9,total=500,cols=34,pad=2:f64,both", false},
    {"micro", "group=9,total=500,cols=40,pad=8:f16", false},
    {"skew", "group=9,total=500,cols=33:u8", false},
    {"skew", "group=9,total=500,cols=33:c128", false},
    {"micro", "group=9,total=500,cols=36,pad=4:f32:f16,affine", false},
    {"micro", "group=9,total=500,cols=40,pad=8:u8,affine=rows", false},
    {"micro", "group=9,rows=0..144,cols=0..144,multiple=2:f64,affine=rows", false},
    {"skew", "group=9,rows=0..144,cols=0..144:f16,affine=rows", false},
    {"skew", "group=9,total=500,cols=33:u8:f16,affine", false},
    {"micro", "group=9,total=500,cols=40,pad=8:bf16:e4m3,divide,both=bf16", false},
    {"micro", "group=9,total=500,cols=36,pad=4:u8:f32,scale,beta", false},
    {"micro", "group=9,rows=0..144,cols=0..144,multiple=4:f32:f16,affine,beta", false},
    {"skew", "group=9,rows=0..144,cols=0..144:f16:e5m2,divide,both", false},
    {"skew", "group=9,rows=0..144,cols=0..144:f64,alpha,beta", false},
    {"skew", "group=9,total=500,cols=33:f32:bf16,scale,both=f16", false},
};

/* A config for each source, drawn from its space, and its kernel. */
static struct kernel kernels[AT_COUNT(sources)];
static size_t kernel_count;
static struct at_ptx_module *module;

static struct at_config draw_config(const char *name, const struct at_problem *problem,
                                    struct at_rng *rng)
{
    struct at_config config = {0};

    for (size_t i = 0; i < family_count; i++) {
        struct at_space space;
        struct at_error err = {AT_OK, ""};

        if (strcmp(families[i]->name, name) != 0)
            continue;
        if (at_space_build(&space, &families[i], 1, problem, &device, SPACE_MAX, &err) != AT_OK)
            fail_msg("%s", err.message);
        assert_true(space.count > 0);
        config = space.configs[at_rng_below(rng, space.count)];
        at_space_clear(&space);
    }
    return config;
}

static void compile(struct at_nvrtc *nvrtc)
{
    struct at_rendering renderings[AT_COUNT(sources)] = {0};
    struct at_error err = {AT_OK, ""};
    struct at_compilation compiled;
    char *program, *header = template_header();

    for (size_t i = 0; i < kernel_count; i++) {
        renderings[i] = (struct at_rendering){.config = &kernels[i].config,
                                              .kind = at_problem_kind(&kernels[i].problem)};
        snprintf(renderings[i].entry, sizeof renderings[i].entry, "k%zu", i);
    }
    program = at_render_program(renderings, kernel_count);
    assert_int_equal(at_nvrtc_compile(&compiled, nvrtc, program, header, false, &err), AT_OK);
    if (!compiled.image)
        fail_msg("%s", compiled.log);
    if (at_ptx_read(&module, compiled.image, strlen(compiled.image), &err) != AT_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < kernel_count; i++)
        assert_int_equal(at_ptx_find(module, renderings[i].entry, &kernels[i].ptx, &err), AT_OK);
    free(compiled.image);
    free(compiled.log);
    free(program);
    free(header);
}

static int set_up(void **state)
{
    struct at_rng rng = {7};
    struct at_nvrtc *nvrtc;
    struct at_error err = {AT_OK, ""};

    read_shipped_families(state);
    if (at_nvrtc_open(&nvrtc, 90, AT_IMAGE_PTX, &err) != AT_OK)
        return 0; /* tests without kernels are skipped */
    for (size_t i = 0; i < AT_COUNT(sources); i++) {
        struct kernel *kernel = &kernels[kernel_count];
        char *values;

        if (!sources[i].is_sampled && !runs_whole())
            continue;
        kernel->problem = problem_of(sources[i].problem);
        kernel->config = draw_config(sources[i].family, &kernel->problem, &rng);
        kernel->unit = kernel->problem.groups.multiple * kernel->problem.groups.padding;
        values = at_config_format(&kernel->config);
        kernel->name = at_format("%s %s", values, sources[i].problem);
        free(values);
        kernel_count++;
    }
    compile(nvrtc);
    at_nvrtc_close(nvrtc);
    return 0;
}

static int tear_down(void **state)
{
    for (size_t i = 0; i < kernel_count; i++)
        free(kernels[i].name);
    at_ptx_free(module);
    return free_shipped_families(state);
}

/* Run the kernel, without a fault. Returns how many blocks its grid has. */
static uint64_t run(struct scene *scene, const void *groups, size_t bytes, int64_t multiprocessors,
                    const uint64_t *only, size_t only_count)
{
    const struct kernel *kernel = scene->kernel;
    struct at_device_info of = device;
    uint64_t args[AT_CALL_WORDS];
    uint8_t words[AT_CALL_ARGS];
    const struct at_step_numbers numbers = {.number.at = scene->numbers,
                                            .beta.value = {has(scene, AT_BETA) ? beta : 0},
                                            .channel_scale = scene->scales,
                                            .channel_shift = scene->shifts,
                                            .channel_stride = scene->stride};
    struct at_emu_launch launch = {.kernel = kernel->ptx,
                                   .args = args,
                                   .arg_words = AT_CALL_WORDS,
                                   .threads = HOST_THREADS,
                                   .find_races = true,
                                   .only_blocks = only,
                                   .only_block_count = only_count,
                                   .name = kernel->name};
    bool is_list = at_groups_kind(&kernel->problem.groups) == AT_GROUP_LIST;
    struct at_emu_fault fault;
    struct at_error err = {AT_OK, ""};
    struct at_launch wanted;

    of.multiprocessors = multiprocessors;
    assert_int_equal(at_config_launch(&kernel->config, &kernel->problem, &of, &wanted, &err),
                     AT_OK);
    at_emu_launch_take(&launch, &wanted);
    launch.arg_count =
        at_group_args(&kernel->problem, is_list ? 0 : scene->dst, is_list ? 0 : scene->src, groups,
                      bytes, &numbers, args, words);
    if (at_emu_run(scene->memory, &launch, &fault, &err) != AT_OK)
        fail_msg("%s: %s", kernel->name, err.message);
    if (fault.kind != AT_EMU_NO_FAULT)
        fail_msg("%s", fault.message);
    return at_emu_blocks(&launch);
}

/* ---- lists ---- */

/* How a list is drawn. */
struct drawing {
    const char *name;
    size_t count;
    int64_t most;  /* of a side */
    int64_t empty; /* of 16 matrices, as many are empty, */
    int64_t one;   /* and as many have one element */
    bool batches;  /* some are batches with gaps */
    int64_t large; /* a side of the matrix in the middle; 0: it is like the others */
};

/* Draw sizes and places: `src` and `dst` are in elements until the buffers are there. */
static void draw_matrix(struct scene *scene, const struct drawing *drawing, size_t number)
{
    struct at_group_matrix *m = &scene->list[number];
    int64_t kind = below(scene, 16);
    bool is_large = drawing->large > 0 && number == drawing->count / 2;

    *m = (struct at_group_matrix){.extent = {1, 1}};
    m->rows = is_large ? drawing->large : draw_side(scene, drawing->most);
    m->cols = is_large ? drawing->large / 2 : draw_side(scene, drawing->most);
    if (!is_large && kind < drawing->empty) {
        *(kind % 2 ? &m->rows : &m->cols) = 0;
    } else if (!is_large && kind < drawing->empty + drawing->one) {
        m->rows = m->cols = scene->kernel->unit;
    }
    if (drawing->batches && !is_large && below(scene, 4) == 0)
        for (int i = 0; i < 2; i++)
            m->extent[i] = below(scene, 4);
    m->ld_src = m->cols + (drawing->batches ? draw_gap(scene) : 0);
    m->ld_dst = m->rows + (drawing->batches ? draw_gap(scene) : 0);
    m->stride_src[0] = m->rows * m->ld_src + draw_gap(scene);
    m->stride_dst[0] = m->cols * m->ld_dst + draw_gap(scene);
    m->stride_src[1] = m->extent[0] * m->stride_src[0];
    m->stride_dst[1] = m->extent[0] * m->stride_dst[0] + draw_gap(scene);
    if (m->cols == 1) /* then it has no meaning */
        m->ld_dst = 0;
    m->src = (uint64_t)(scene->src_elements + draw_gap(scene));
    m->dst = (uint64_t)(scene->dst_elements + draw_gap(scene));
    scene->src_elements = (int64_t)m->src + m->extent[1] * m->stride_src[1];
    scene->dst_elements = (int64_t)m->dst + m->extent[1] * m->stride_dst[1];
    scene->padded[number] = 0;
}

/* Make the numbers of a list. Those of channels are as far apart as is drawn: matrices share some
 * of them, or all, or none. */
static void place_numbers(struct scene *scene)
{
    const bool of_rows = at_problem_mixes_channels(&scene->kernel->problem);
    int64_t most = 0;

    scene->first_channel = at_alloc_array(scene->count + 1, sizeof *scene->first_channel);
    scene->group = at_alloc_array(scene->count + 1, sizeof *scene->group);
    make_numbers(scene, (int64_t)scene->count);
    for (size_t i = 0; i < scene->count; i++)
        most = at_max(most, of_rows ? scene->list[i].rows : scene->list[i].cols);
    scene->stride = below(scene, most + 2);
    for (size_t i = 0; i < scene->count; i++) {
        scene->group[i] = (int64_t)i;
        scene->first_channel[i] = (int64_t)i * scene->stride;
    }
    make_channels(scene, most + (scene->count ? (int64_t)scene->count - 1 : 0) * scene->stride);
}

static struct at_group_list draw_list(struct scene *scene, const struct drawing *drawing)
{
    size_t bytes = drawing->count * sizeof *scene->list;
    uint64_t size = (uint64_t)scene->kernel->problem.elem_size;
    struct at_group_list list = {.count = (int64_t)drawing->count};

    scene->count = drawing->count;
    scene->list = at_alloc(bytes + 1);
    scene->padded = at_alloc_array(drawing->count + 1, sizeof *scene->padded);
    for (size_t i = 0; i < scene->count; i++)
        draw_matrix(scene, drawing, i);
    make_buffers(scene);
    place_numbers(scene);
    for (size_t i = 0; i < scene->count; i++) {
        struct at_group_matrix *m = &scene->list[i];

        m->kept = scene->kept + m->src * (uint64_t)kept_size(scene);
        m->src = scene->src + m->src * size;
        m->second = scene->second + m->dst * (uint64_t)result_size(scene);
        m->dst = scene->dst + m->dst * (uint64_t)result_size(scene);
    }
    if (bytes > 0)
        memcpy(allocate(scene, &list.matrices, (int64_t)bytes, 1), scene->list, bytes);
    return list;
}

static bool is_of(const struct kernel *kernel, enum at_groups_kind kind)
{
    return at_groups_kind(&kernel->problem.groups) == kind;
}

static void test_lists(void **state)
{
    static const struct drawing drawings[] = {
        {"no matrix", 0, 1, 0, 0, false, 0},
        {"only empty ones", 300, 40, 16, 0, false, 0},
        {"one element", 1, 1, 0, 0, false, 0},
        {"single elements", 700, 60, 2, 14, false, 0},
        {"any", 90, 70, 3, 2, true, 0},
        {"more than threads", 1500, 12, 6, 3, true, 0},
        {"a large one", 60, 9, 3, 3, false, 1024},
    };

    (void)state;
    if (kernel_count == 0)
        skip();
    for (size_t i = 0; i < AT_COUNT(drawings); i++)
        for (size_t k = 0; k < kernel_count; k++) {
            struct scene scene = {
                .kernel = &kernels[k], .memory = at_emu_memory_new(), .rng = {i * 100 + k}};
            struct at_group_list list;

            if (is_of(&kernels[k], AT_GROUP_LIST)) {
                list = draw_list(&scene, &drawings[i]);
                run(&scene, &list, sizeof list, device.multiprocessors, NULL, 0);
                check(&scene);
            }
            end(&scene);
        }
}

static bool is_poison(const unsigned char *element, size_t size)
{
    static const unsigned char poison[16] = {POISON, POISON, POISON, POISON, POISON, POISON,
                                             POISON, POISON, POISON, POISON, POISON, POISON,
                                             POISON, POISON, POISON, POISON};

    return memcmp(element, poison, size) == 0;
}

/* A few blocks of a launch for a million matrices, or in a sample, a tenth of them. Each matrix is
 * moved or left alone, and the blocks move their share. */
static void test_a_million(void **state)
{
    const struct drawing drawing = {"tiny", runs_whole() ? 1000000 : 100000, 3, 2, 2, false, 0};
    static const uint64_t blocks[] = {131, 0};
    enum { MULTIPROCESSORS = 132 };
    const size_t chosen = runs_whole() ? AT_COUNT(blocks) : 1;

    (void)state;
    if (kernel_count == 0)
        skip();
    for (size_t k = 0; k < kernel_count; k++) {
        struct scene scene = {.kernel = &kernels[k], .memory = at_emu_memory_new(), .rng = {k}};
        size_t size = (size_t)at_problem_elem_size(&kernels[k].problem, AT_DESTINATION);
        size_t moved = 0, wanted = 0;
        struct at_group_list list;
        uint64_t grid;
        unsigned char *dst, *kept;

        /* Numbers change nothing in how a tile is found. */
        if (!is_of(&kernels[k], AT_GROUP_LIST) || kernels[k].unit > 1 ||
            at_step_has_number(&kernels[k].problem.step)) {
            at_emu_memory_free(scene.memory);
            continue;
        }
        list = draw_list(&scene, &drawing);
        grid = run(&scene, &list, sizeof list, MULTIPROCESSORS, blocks, chosen);
        dst = at_alloc((size_t)scene.dst_elements * size);
        kept = at_alloc((size_t)(scene.src_elements * kept_size(&scene)));
        memset(dst, POISON, (size_t)scene.dst_elements * size);
        for (size_t i = 0; i < scene.count; i++) {
            const struct at_group_matrix *m = &scene.list[i];
            size_t at = m->dst - scene.dst;

            wanted += m->rows * m->cols > 0;
            if (m->rows * m->cols == 0 || is_poison(scene.dst_host + at, size))
                continue;
            move(&scene, i, dst, kept);
            moved++;
        }
        assert_memory_equal(dst, scene.dst_host, (size_t)scene.dst_elements * size);
        assert_in_range(moved, wanted * chosen / grid * 9 / 10, wanted * chosen / grid * 11 / 10);
        free(dst);
        free(kept);
        end(&scene);
    }
}

/* ---- groups of rows ---- */

/* How groups are drawn. */
struct row_drawing {
    size_t count;
    int64_t most, empty; /* rows of a group; of 16 groups as many are empty */
    int64_t cols, gap;   /* ld_src is as much longer */
    int64_t padding, stacked, offset_bytes;
    int64_t first;    /* where the first group begins */
    int64_t shortage; /* rows for which there is no place */
};

/* Draw the rows of each group, and describe what has a place. Returns 1 if a group has none. */
static int draw_rows(struct scene *scene, const struct row_drawing *drawing, int64_t *offsets,
                     struct at_ragged_groups *rows)
{
    int64_t unit = scene->kernel->unit;
    int64_t padding = drawing->padding * unit;
    int64_t cols = (drawing->cols + unit - 1) / unit * unit;
    int64_t padded = 0, largest = 0;
    int overflow = 0;

    scene->stride = at_problem_mixes_channels(&scene->kernel->problem) ? 0 : below(scene, cols + 2);
    offsets[0] = drawing->first;
    for (size_t i = 0; i < drawing->count; i++) {
        int64_t own = below(scene, 16) < drawing->empty ? 0 : below(scene, drawing->most + 1);
        int64_t with_padding = (own + padding - 1) / padding * padding;

        offsets[i + 1] = offsets[i] + own;
        padded += with_padding;
        largest = with_padding > largest ? with_padding : largest;
    }
    *rows = (struct at_ragged_groups){.offset_bytes = drawing->offset_bytes,
                                      .count = (int64_t)drawing->count,
                                      .cols = cols,
                                      .ld_src = cols + drawing->gap * unit,
                                      .padding = padding,
                                      .most = (drawing->stacked ? largest : padded) -
                                              drawing->shortage * unit,
                                      .stacked = drawing->stacked};
    padded = 0;
    for (size_t i = 0; i < drawing->count; i++) {
        int64_t own = offsets[i + 1] - offsets[i];
        int64_t with_padding = (own + padding - 1) / padding * padding;
        bool has_place = (drawing->stacked ? 0 : padded) + with_padding <= rows->most;

        scene->list[scene->count] = (struct at_group_matrix){
            .src = (uint64_t)(offsets[i] * rows->ld_src),
            .dst = (uint64_t)(cols * (drawing->stacked ? (int64_t)i * rows->most : padded)),
            .rows = own,
            .cols = cols,
            .ld_src = rows->ld_src,
            .ld_dst = drawing->stacked ? rows->most : with_padding,
            .extent = {1, 1}};
        scene->padded[scene->count] = with_padding;
        scene->group[scene->count] = (int64_t)i;
        scene->first_channel[scene->count] = at_problem_mixes_channels(&scene->kernel->problem)
                                                 ? offsets[i]
                                                 : (int64_t)i * scene->stride;
        scene->count += has_place;
        overflow |= !has_place;
        padded += with_padding;
    }
    scene->src_elements = offsets[drawing->count] * rows->ld_src;
    scene->dst_elements = cols * rows->most * (drawing->stacked ? (int64_t)drawing->count : 1);
    return overflow;
}

/* Put addresses in place of elements, and the offsets into memory. */
static void place_rows(struct scene *scene, const int64_t *offsets, struct at_ragged_groups *rows)
{
    uint64_t size = (uint64_t)scene->kernel->problem.elem_size;
    unsigned char *host = allocate(scene, &rows->offsets, rows->count + 1, rows->offset_bytes);

    for (size_t i = 0; i < scene->count; i++) {
        scene->list[i].src = scene->src + scene->list[i].src * size;
        scene->list[i].dst = scene->dst + scene->list[i].dst * (uint64_t)result_size(scene);
    }
    if (at_problem_mixes_channels(&scene->kernel->problem))
        make_channels(scene, offsets[rows->count]);
    else if (rows->count > 0)
        make_channels(scene, (rows->count - 1) * scene->stride + rows->cols);
    rows->kept = scene->kept;
    rows->second = scene->second;
    make_numbers(scene, rows->count);
    for (int64_t i = 0; i <= rows->count; i++) /* little-endian, as the device is */
        memcpy(host + i * rows->offset_bytes, &offsets[i], (size_t)rows->offset_bytes);
}

static void test_rows(void **state)
{
    static const struct row_drawing drawings[] = {
        {0, 0, 0, 5, 0, 1, 0, 8, 0, 0},      {1, 1, 0, 1, 0, 1, 0, 4, 0, 0},
        {40, 0, 16, 7, 0, 8, 0, 8, 3, 0},    {12, 90, 3, 37, 0, 1, 0, 8, 0, 0},
        {12, 90, 3, 70, 3, 8, 0, 4, 5, 0},   {700, 5, 9, 33, 1, 4, 0, 4, 0, 0},
        {9, 60, 2, 40, 0, 7, 1, 8, 0, 0},    {30, 40, 8, 33, 0, 16, 0, 8, 2, 20},
        {30, 40, 8, 33, 2, 1, 1, 4, 0, 5},   {5, 900, 2, 19, 0, 3, 0, 8, 1, 0},
        {2000, 1, 12, 3, 0, 2, 0, 4, 0, 90},
    };

    (void)state;
    if (kernel_count == 0)
        skip();
    for (size_t i = 0; i < AT_COUNT(drawings); i++)
        for (size_t k = 0; k < kernel_count; k++) {
            const struct row_drawing *drawing = &drawings[i];
            struct scene scene = {
                .kernel = &kernels[k],
                .memory = at_emu_memory_new(),
                .rng = {i * 100 + k},
                .list = at_alloc_array(drawing->count + 1, sizeof *scene.list),
                .padded = at_alloc_array(drawing->count + 1, sizeof *scene.padded),
                .first_channel = at_alloc_array(drawing->count + 1, sizeof *scene.first_channel),
                .group = at_alloc_array(drawing->count + 1, sizeof *scene.group)};
            int64_t *offsets = at_alloc_array(drawing->count + 1, sizeof *offsets);
            struct at_ragged_groups rows;

            if (is_of(&kernels[k], AT_RAGGED_GROUPS)) {
                int overflow = draw_rows(&scene, drawing, offsets, &rows), raised = 0;
                unsigned char *flag;

                make_buffers(&scene);
                place_rows(&scene, offsets, &rows);
                flag = allocate(&scene, &rows.overflow, 1, sizeof raised);
                memset(flag, 0, sizeof raised);
                run(&scene, &rows, sizeof rows, device.multiprocessors, NULL, 0);
                check(&scene);
                memcpy(&raised, flag, sizeof raised);
                assert_int_equal(raised, overflow);
                assert_int_equal(overflow, drawing->shortage > 0);
            }
            free(offsets);
            end(&scene);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_a_million),
    };

    return cmocka_run_group_tests_name("group lists", tests, set_up, tear_down);
}
