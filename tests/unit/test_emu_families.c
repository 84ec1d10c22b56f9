/* SPDX-License-Identifier: Apache-2.0 */
/* Every family and element size on the emulated device, the families of the studies included, but
 * not that of block scales, which computes: test_quantise.c has it.
 * Configs are drawn from the spaces and compiled to PTX by the real NVRTC, for compute_90 and, in
 * whole, for an architecture of each generation. They run on small awkward problems and must
 * equal a transpose in C, bit for bit. The kernels of templates/harness.cu must agree with it, too.
 */
#include <stdio.h>

#include "emu_check.h"
#include "family_problems.h"
#include "sample.h"
#include "seen_values.h"
#include "skipped.h"

/* How many are drawn. */
struct sample {
    size_t configs; /* of each family, element size and architecture; then one more for each value
                     * of a parameter that is not drawn yet */
    size_t study_configs; /* the same of the small families of the studies */
    size_t permutations;  /* of rank 2 to 8, for one config each */
    int canonical_step;   /* from one matrix in disguise to the next */
};
static const struct sample whole = {6, 3, 504, 1}, part = {2, 1, 8, 92};
static const struct sample *sample;

enum {
    DRAWN_FOR = 8, /* configs are drawn from the spaces of this many problems of the family, */
    PROGRAM_KERNELS = 8, /* there are this many kernels per program, */
    PROBLEMS = 3,        /* and each kernel runs on this many problems. */
    HARNESS_PROBLEM = 8, /* a batch with odd gaps */
    SPACE_MAX = 500000,
    BYTES_MAX = 4 << 20,
};

static const int elem_sizes[] = {1, 2, 4, 8, 16};
/* One of each generation. A sample has the first one, and the second one's harness. */
static const int architectures[] = {90, 75, 80, 86, 89, 100, 110, 120};
enum { SAMPLED = 1, SAMPLED_HARNESS = 2 };

/* The text before and after the element size of a specification. */
static const struct {
    const char *shape, *rest;
} problems[] = {
    {"1x1", ""},
    {"1x37", ""},
    {"37x1", ""},
    {"33x65", ""},
    {"127x129", ""},
    {"131x67", ",ld_src=70,ld_dst=136"},
    {"3x1000", ""},
    {"1000x3", ",ld_src=4"},
    {"17x19", ",batch=5,ld_src=21,ld_dst=20,stride_src=370,stride_dst=390"},
    {"128x256", ""},
    {"160x96", ",batch=3"},
    {"64x128", ",batch=2,ld_src=160,ld_dst=96,stride_src=10304,stride_dst=12416"},
    {"1x3001", ""},
    {"300x1", ",ld_src=2"}, /* one and both fields of structures: templates/study/fields.cu */
    {"1x300", ",ld_dst=2"},
    {"300x1", ",batch=2"},
    {"1001x2", ",ld_src=4"},
    {"2x515", ""},
    {"288x544", ""}, /* squares of tiles, and vectors that an edge cuts: templates/micro.cu */
    {"250x326", ",ld_src=336,ld_dst=256"},
    {"160x224", ",offset_src=1,offset_dst=3"},
    {"67x130", ",ld_src=132,offset_src=2,offset_dst=16"},
    {"1001x3", ",offset_dst=5"},
    /* Problems for families that depend on the size of the matrix. */
    {"128x192", ""},
    {"16x16", ",batch=37"},
    {"100x100", ",batch=2"},
    {"33x17", ",batch=19"},
    {"3x5", ",batch=261"},
    {"1x1", ",inplace=1"},
    {"67x67", ",inplace=1,ld_src=69"},
    {"33x33", ",inplace=1,batch=3,ld_src=37,stride_src=1230"},
    {"96x96", ",inplace=1,batch=2"},
    {"128x128", ",inplace=1"},
    {"200x200", ",inplace=1,ld_src=208"},
    {"1x37", ",inplace=1"},
    {"37x1", ",batch=3,inplace=1"},
    {"3x1000", ",inplace=1"},
    {"1000x3", ",inplace=1"},
    {"127x129", ",inplace=1"},
    {"128x192", ",inplace=1,offset_src=1"},
    {"160x96", ",batch=3,inplace=1"},
    {"33x17", ",batch=19,inplace=1"},
    {"3x5", ",batch=261,inplace=1"},
    {"17x19", ",batch=5,stride_src=330,inplace=1"},
    {"37x5x41", ",perm=210,inplace=1"}, /* matrices inside each other */
    {"300x3x208", ",perm=210,inplace=1"},
    {"1153x2x70", ",perm=210,inplace=1"},
    {"70x3x1300", ",perm=210,inplace=1"},
};

/* A config and the problem for which it was drawn. */
struct drawn {
    struct at_config config;
    struct at_problem problem;
};

static struct at_family **study_families;
static size_t study_family_count;
static char *harness_source;

static struct at_problem make_problem(size_t index, int elem_size, char *spec, size_t capacity)
{
    struct at_problem problem;
    struct at_error err = {AT_OK, ""};

    snprintf(spec, capacity, "%s:b%d%s", problems[index].shape, elem_size, problems[index].rest);
    if (at_problem_parse(&problem, spec, &err) != AT_OK)
        fail_msg("%s", err.message);
    return problem;
}

/* Check a config on some problems. If it is legal for none of them, use the one for which it was
 * drawn, unless that is too large; without rng, that one alone. */
static void check_config(const struct at_ptx_kernel *kernel, const struct drawn *drawn,
                         struct at_rng *rng, size_t *checked)
{
    size_t first = rng ? (size_t)at_rng_below(rng, AT_COUNT(problems)) : 0, done = 0;
    int elem_size = (int)drawn->problem.elem_size;

    for (size_t i = 0; rng && i < AT_COUNT(problems) && done < PROBLEMS; i++) {
        char spec[128];
        struct at_problem problem =
            make_problem((first + i) % AT_COUNT(problems), elem_size, spec, sizeof spec);

        if (at_problem_kind(&drawn->problem).axes > 1 || !is_legal(&drawn->config, &problem))
            continue;
        check_on(kernel, &drawn->config, &problem);
        done++;
    }
    if (done == 0 && at_problem_bytes(&drawn->problem) <= BYTES_MAX) {
        check_on(kernel, &drawn->config, &drawn->problem);
        done++;
    }
    *checked += done;
}

static void check_program(const struct drawn *drawn, size_t count, struct at_rng *rng,
                          size_t *checked)
{
    struct at_rendering renderings[PROGRAM_KERNELS] = {0};
    struct at_ptx_module *module;

    for (size_t i = 0; i < count; i++)
        renderings[i] = (struct at_rendering){.config = &drawn[i].config,
                                              .kind = at_problem_kind(&drawn[i].problem)};
    module = read_kernels(renderings, count);
    for (size_t i = 0; i < count; i++)
        check_config(find(module, renderings[i].entry), &drawn[i], rng, checked);
    at_ptx_free(module);
}

/* Can configs for it run on a problem of this test, or on itself? tests/cli/groups.bats runs many
 * matrices. */
static bool runs_here(const struct at_problem *problem)
{
    return problem->groups.count == 0 &&
           (at_problem_kind(problem).axes == 1 || at_problem_bytes(problem) <= BYTES_MAX);
}

/* List all configs of the family for some of its problems. The caller frees them. */
static struct drawn *list_configs(struct at_family *family, int elem_size, struct at_rng *rng,
                                  size_t *count)
{
    size_t problem_count = family_problem_count(family), capacity = 0;
    bool all = problem_count <= DRAWN_FOR;
    struct drawn *list = NULL;

    *count = 0;
    for (size_t i = 0; i < (all ? problem_count : DRAWN_FOR); i++) {
        size_t number = all ? i : (size_t)at_rng_below(rng, problem_count);
        struct drawn drawn = {.problem = family_problem(family, number, elem_size)};
        struct at_space space;
        struct at_error err = {AT_OK, ""};

        for (size_t k = 1; k < problem_count && !runs_here(&drawn.problem); k++)
            drawn.problem = family_problem(family, (number + k) % problem_count, elem_size);
        if (!runs_here(&drawn.problem))
            continue;
        if (at_space_build(&space, &family, 1, &drawn.problem, &device, SPACE_MAX, &err) != AT_OK)
            fail_msg("%s", err.message);
        for (size_t k = 0; k < space.count; k++) {
            drawn.config = space.configs[k];
            AT_PUSH(list, *count, capacity, drawn);
        }
        at_space_clear(&space);
    }
    return list;
}

/* Move some to the front: `wanted` configs, and then one for each value that is not drawn yet, at
 * most as many again. */
static size_t draw(struct drawn *list, size_t count, size_t wanted, struct at_rng *rng)
{
    struct seen seen = {0};
    size_t drawn = 0;

    while (drawn < count && drawn < 2 * wanted) {
        size_t news, pick = drawn + draw_news(list + drawn, count - drawn, sizeof *list,
                                              (struct seen *[]){&seen}, 1, rng, &news);
        struct drawn picked = list[pick];

        if (drawn >= wanted && news == 0)
            break;
        list[pick] = list[drawn];
        list[drawn++] = picked;
    }
    return drawn;
}

static void check_family(struct at_family *family, int elem_size, size_t configs)
{
    struct at_rng rng = {(uint64_t)(device.compute_capability * 100 + elem_size)};
    size_t count, checked = 0;
    struct drawn *drawn = list_configs(family, elem_size, &rng, &count);

    count = draw(drawn, count, configs, &rng);
    for (size_t i = 0; i < count; i += PROGRAM_KERNELS)
        check_program(drawn + i, count - i < PROGRAM_KERNELS ? count - i : PROGRAM_KERNELS, &rng,
                      &checked);
    free(drawn);
    if (checked == 0)
        fail_msg("%s, %d bytes: nothing was checked", family->name, elem_size);
}

static void check_families(struct at_family *const *list, size_t count, size_t configs)
{
    const int architecture = (int)device.compute_capability;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; family_is_for(list[i], architecture) && k < AT_COUNT(elem_sizes); k++)
            if (!list[i]->scales && runs_with_size(i, k))
                check_family(list[i], elem_sizes[k], family_sample(list[i], configs));
}

/* Machine code is tested by test_compile_space. */
static void test_families(void **state)
{
    use_architecture(*(const int *)*state, AT_IMAGE_PTX_ALONE);
    check_families(families, family_count, sample->configs);
}

static void test_study_families(void **state)
{
    use_architecture(*(const int *)*state, AT_IMAGE_PTX);
    check_families(study_families, study_family_count, sample->study_configs);
}

/* ---- permutations ---- */

/* A tensor of 2 to 8 axes, of any permutation, some with odd strides and addresses. */
static struct at_problem draw_permutation(struct at_rng *rng)
{
    static const int sizes[] = {1, 2, 4, 8, 16, 1, 2, 4, 8, 16, 3, 6, 12, 24, 32};
    size_t rank = 2 + (size_t)at_rng_below(rng, 7);
    int64_t most = 1 + (int64_t)at_rng_below(rng, 8192), src = 1, dst = 1;
    bool padded = at_rng_below(rng, 4) == 0;
    struct at_elements elements = {0};
    struct at_axis axes[8];
    struct at_problem problem;
    struct at_error err = {AT_OK, ""};

    for (size_t i = 0; i < rank; i++) { /* the fastest of the source first */
        int64_t left = most / src, bound = at_rng_below(rng, 3) == 0 ? 160 : 12;

        bound = left < bound ? left + 1 : bound;
        axes[i].extent = 1 + (int64_t)at_rng_below(rng, (uint64_t)bound);
        axes[i].stride_src = src;
        src *= axes[i].extent + (padded ? (int64_t)at_rng_below(rng, 3) : 0);
    }
    for (size_t i = 0; i < rank; i++) {
        size_t other = i + (size_t)at_rng_below(rng, rank - i);
        struct at_axis axis = axes[i];

        axes[i] = axes[other];
        axes[other] = axis;
        axes[i].stride_dst = dst;
        dst *= axes[i].extent + (padded ? (int64_t)at_rng_below(rng, 3) : 0);
    }
    for (int i = 0; i < 2 && padded; i++)
        elements.offsets[i] = (int64_t)at_rng_below(rng, 3);
    elements.bytes = sizes[at_rng_below(rng, AT_COUNT(sizes))];
    if (at_problem_of_axes(&problem, axes, rank, &elements, "drawn", &err) != AT_OK)
        fail_msg("%s", err.message);
    return problem;
}

/* Draw a config of some family; families take turns. */
static struct at_config draw_config(const struct at_problem *problem, size_t turn,
                                    struct at_rng *rng)
{
    struct at_config config = {0};

    for (size_t i = 0; i < family_count && !config.family; i++) {
        struct at_family *family = families[(turn + i) % family_count];
        struct at_space space;
        struct at_error err = {AT_OK, ""};

        if (at_space_build(&space, &family, 1, problem, &device, SPACE_MAX, &err) != AT_OK)
            fail_msg("%s", err.message);
        if (space.count > 0)
            config = space.configs[at_rng_below(rng, space.count)];
        at_space_clear(&space);
    }
    if (!config.family)
        fail_msg("no family takes %s", at_problem_format(problem));
    return config;
}

/* A seeded sample of all permutations. Each is run by one config. */
static void test_permutations(void **state)
{
    struct at_rng rng = {20};
    struct drawn drawn[PROGRAM_KERNELS];

    use_architecture(*(const int *)*state, AT_IMAGE_PTX_ALONE);
    for (size_t i = 0; i < sample->permutations; i += PROGRAM_KERNELS) {
        size_t checked = 0;

        for (size_t k = 0; k < PROGRAM_KERNELS; k++) {
            drawn[k].problem = draw_permutation(&rng);
            drawn[k].config = draw_config(&drawn[k].problem, i + k, &rng);
        }
        check_program(drawn, PROGRAM_KERNELS, NULL, &checked);
        assert_int_equal(checked, PROGRAM_KERNELS);
    }
}

/* ---- matrices whose canonical form is another one ---- */

/* Each is run by its default config or by another one. */
static void test_canonical_forms(void **state)
{
    struct at_rng rng = {21};
    struct drawn drawn[PROGRAM_KERNELS];
    size_t waiting = 0, checked = 0;

    use_architecture(*(const int *)*state, AT_IMAGE_PTX_ALONE);
    for (int i = 0; i < DISGUISED * (int)AT_COUNT(elem_sizes); i += sample->canonical_step) {
        struct drawn *next = &drawn[waiting];

        if (!disguised_problem(&next->problem, i % DISGUISED, elem_sizes[i / DISGUISED]))
            continue;
        if (i % 2 == 0)
            next->config = draw_config(&next->problem, (size_t)i, &rng);
        else
            assert_int_equal(at_space_default(&next->config, families, family_count, &next->problem,
                                              &device, NULL),
                             AT_OK);
        if (++waiting == PROGRAM_KERNELS)
            check_program(drawn, waiting, NULL, &checked), waiting = 0;
    }
    if (waiting > 0)
        check_program(drawn, waiting, NULL, &checked);
}

/* Runs the harness's kernels in the order of a verification, on the default config of naive. */
struct verification {
    struct at_ptx_module *harness;
    struct buffers b;
    uint64_t dst_base, src_base; /* zones included */
    uint64_t result;
};

static void run_harness(struct verification *v, const char *name, const uint64_t *args,
                        size_t word_count)
{
    const struct at_ptx_kernel *kernel = find(v->harness, name);
    struct at_emu_launch launch = {
        .kernel = kernel,
        .grid = {3, 1, 1},
        .block = {96, 1, 1},
        .args = args,
        .arg_count = kernel->param_count,
        .arg_words = word_count,
    };

    run(&v->b, &launch, name);
}

#define RUN_HARNESS(v, name, ...)                                                                  \
    run_harness((v), (name), (const uint64_t[]){__VA_ARGS__},                                      \
                AT_COUNT(((const uint64_t[]){__VA_ARGS__})))

/* Check the harness's number of wrong elements and the first of them. */
static void check_with_harness(struct verification *v, bool source, uint64_t wrong, uint64_t first)
{
    const struct at_problem *p = &v->b.problem;
    uint64_t *result = at_emu_memory_host(v->b.memory, v->result, 2 * sizeof *result);

    result[0] = 0;
    result[1] = UINT64_MAX;
    if (source)
        RUN_HARNESS(v, "at_check_source", v->src_base, ZONE, (uint64_t)at_problem_src_extent(p),
                    (uint64_t)p->elem_size, v->result, 0, 0, 0);
    else
        RUN_HARNESS(v, "at_check", v->dst_base, ZONE, (uint64_t)p->rows, (uint64_t)p->cols,
                    (uint64_t)p->ld_src, (uint64_t)p->ld_dst, (uint64_t)p->batch,
                    (uint64_t)p->stride_src, (uint64_t)p->stride_dst, (uint64_t)p->in_place,
                    (uint64_t)p->elem_size, v->result, 0, 0, 0);
    assert_int_equal(result[0], wrong);
    assert_int_equal(result[1], first);
}

static void verify(struct verification *v, const struct at_ptx_kernel *kernel,
                   const struct at_config *config)
{
    const struct at_problem *p = &v->b.problem;
    size_t size = (size_t)p->elem_size, zone = ZONE / size;
    /* This is the second column of the second row, in the second row of the result. */
    size_t at = (size_t)(p->ld_dst + 1);
    unsigned char *wrong;

    RUN_HARNESS(v, "at_poison", v->src_base, v->b.src_bytes + 2 * ZONE);
    RUN_HARNESS(v, "at_poison", v->dst_base, v->b.dst_bytes + 2 * ZONE);
    RUN_HARNESS(v, "at_fill_source", v->b.src, (uint64_t)at_problem_src_extent(p),
                (uint64_t)p->elem_size, 0);
    run_transpose(&v->b, kernel, config, "naive");
    check_with_harness(v, false, 0, UINT64_MAX);
    check_with_harness(v, true, 0, UINT64_MAX);

    wrong = v->b.dst_host + at * size;
    *wrong ^= 0x10;
    check_with_harness(v, false, 1, zone + at);
    *wrong ^= 0x10;
    v->b.dst_host[-1] ^= 1;
    check_with_harness(v, false, 1, zone - 1);
    v->b.src_host[0] ^= 1;
    check_with_harness(v, true, 1, zone);
}

static void test_harness(void **state)
{
    struct at_ptx_module *harness;

    use_architecture(*(const int *)*state, AT_IMAGE_PTX_ALONE);
    harness = read_module(harness_source);
    for (size_t k = 0; k < AT_COUNT(elem_sizes); k++) {
        struct verification v = {.harness = harness};
        struct at_rendering rendering = {
            .kind = {.elem_size = elem_sizes[k], .axes = 1, .rows = 1}};
        struct at_ptx_module *module;
        struct at_problem problem;
        struct at_config config;
        struct at_error err = {AT_OK, ""};
        char spec[128];

        problem = make_problem(HARNESS_PROBLEM, elem_sizes[k], spec, sizeof spec);
        assert_int_equal(at_space_default(&config, families, family_count, &problem, &device, &err),
                         AT_OK);
        rendering.config = &config;
        module = read_kernels(&rendering, 1);
        v.b = make_buffers(&problem);
        v.dst_base = v.b.dst - ZONE;
        v.src_base = at_emu_memory_allocate(v.b.memory, (int64_t)v.b.src_bytes + 2 * ZONE);
        v.b.src = v.src_base + ZONE;
        v.b.src_host = at_emu_memory_host(v.b.memory, v.b.src, v.b.src_bytes);
        v.result = at_emu_memory_allocate(v.b.memory, 16);
        verify(&v, find(module, rendering.entry), &config);
        at_emu_memory_free(v.b.memory);
        at_ptx_free(module);
    }
    at_ptx_free(harness);
}

static int read_all_sources(void **state)
{
    char *studies = path_of("templates/study");
    struct at_error err = {AT_OK, ""};

    if (at_families_read(&study_families, &study_family_count, studies, studies, &err) != AT_OK)
        fail_msg("%s", err.message);
    harness_source = text_of("templates/harness.cu");
    free(studies);
    return read_sources(state);
}

static int free_all_sources(void **state)
{
    while (study_family_count > 0)
        at_family_free(study_families[--study_family_count]);
    free(study_families);
    free(harness_source);
    return free_sources(state);
}

/* A test of an architecture. */
struct of_architecture {
    const char *what;
    CMUnitTestFunction run;
    size_t sampled, of; /* how many architectures a sample and the whole have */
};

static const struct of_architecture of_architectures[] = {
    {"families", test_families, SAMPLED, AT_COUNT(architectures)},
    {"permutations", test_permutations, SAMPLED, AT_COUNT(architectures)},
    {"canonical forms", test_canonical_forms, 1, 1},
    {"study families", test_study_families, 1, 1},
    {"harness", test_harness, SAMPLED_HARNESS, AT_COUNT(architectures)},
};
enum { TESTS_MAX = AT_COUNT(of_architectures) * AT_COUNT(architectures) };

int main(void)
{
    struct CMUnitTest tests[TESTS_MAX] = {{0}};
    char names[TESTS_MAX][40];
    size_t count = 0;

    if (lacks_nvrtc())
        return SKIPPED;
    sample = runs_whole() ? &whole : &part;
    for (size_t i = 0; i < AT_COUNT(of_architectures); i++) {
        const struct of_architecture *test = &of_architectures[i];

        for (size_t j = 0; j < (runs_whole() ? test->of : test->sampled); j++, count++) {
            snprintf(names[count], sizeof names[count], "%s, compute_%d", test->what,
                     architectures[j]);
            tests[count] =
                (struct CMUnitTest){names[count], test->run, NULL, NULL, (void *)&architectures[j]};
        }
    }
    return _cmocka_run_group_tests("families", tests, count, read_all_sources, free_all_sources);
}
