/* SPDX-License-Identifier: Apache-2.0 */
/* The shipped templates and spaces. With the real NVRTC, for the oldest and the newest architecture
 * that it knows and compute capability 9.0, or whole for all that it knows, a sample of the configs
 * of every family and element size compiles, and so do the verification kernels. */
#include "base/integer.h"
#include "base/memory.h"
#include "base/rng.h"
#include "kernel/builder.h"
#include "kernel/nvrtc.h"
#include "roles.h"
#include "space/space.h"
#include "system/cpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "family_problems.h"
#include "sample.h"
#include "seen_values.h"
#include "shipped_families.h"
#include "template_header.h"

enum {
    WHOLE = 6, /* configs of each family, element size and architecture, which have values that */
    PART = 1,  /* are new to the size or the architecture */
    SPACE_MAX = 500000,
    SKIPPED = 77,
};

static const int elem_sizes[] = {1, 2, 4, 8, 16};
enum { ELEM_SIZES = AT_COUNT(elem_sizes) };

static struct seen (*seen_with_size)[ELEM_SIZES]; /* per family */
static char *header;
static struct at_family harness = {.name = (char[]){"harness"},
                                   .template_path = (char[]){"harness.cu"}};

/* Limits of shared memory and block size (CUDA C++ Programming Guide, "Technical Specifications per
 * Compute Capability"). The last line is for newer devices. */
static struct at_device_info device_of(int compute_capability)
{
    static const struct {
        int compute_capability, shared_kib, threads; /* per multiprocessor */
    } known[] = {
        {75, 64, 1024},         {80, 164, 2048},  {86, 100, 1536},  {87, 164, 1536},
        {88, 100, 1536},        {89, 100, 1536},  {90, 228, 2048},  {100, 228, 2048},
        {103, 228, 2048},       {110, 228, 1536}, {120, 100, 1536}, {121, 100, 1536},
        {INT32_MAX, 100, 1536},
    };
    size_t i = 0;
    int64_t shared;

    while (known[i].compute_capability < compute_capability)
        i++;
    shared = INT64_C(1024) * known[i].shared_kib;
    return (struct at_device_info){
        .kind = "cuda",
        .compute_capability = compute_capability,
        .multiprocessors = 100,
        .l2_bytes = 32 << 20,
        .warp_size = 32,
        .max_threads_per_block = 1024,
        .max_threads_per_multiprocessor = known[i].threads,
        .registers_per_multiprocessor = 65536,
        .shared_bytes_per_block = 49152,
        /* A block can have all of it but the 1 KiB that the system keeps; Turing keeps none. */
        .shared_bytes_per_block_optin = compute_capability < 80 ? shared : shared - 1024,
        .shared_bytes_per_multiprocessor = shared,
    };
}

/* A kernel given to the builder. */
struct task {
    struct at_config config;
    struct at_problem_kind kind;
};

struct tasks {
    struct task *items;
    size_t count, capacity;
};

/* All configs of a family for a random problem; if there are none, for the next problem that has
 * some. */
static bool any_space(struct at_space *space, struct at_problem *problem, struct at_family *family,
                      int elem_size, const struct at_device_info *device, struct at_rng *rng)
{
    size_t count = family_problem_count(family), first = (size_t)at_rng_below(rng, count);

    for (size_t i = 0; i < count; i++) {
        struct at_error err = {AT_OK, ""};

        *problem = family_problem(family, (first + i) % count, elem_size);

        if (at_space_build(space, &family, 1, problem, device, SPACE_MAX, &err) != AT_OK)
            fail_msg("%s", err.message);
        if (space->count > 0)
            return true;
        at_space_clear(space);
    }
    return false;
}

/* seen: values drawn with this element size, and for this architecture. */
static void draw(struct tasks *tasks, struct at_family *family, int elem_size,
                 struct seen *const seen[2], const struct at_device_info *device,
                 struct at_rng *rng)
{
    struct at_problem problem;
    struct at_space space;

    if (!any_space(&space, &problem, family, elem_size, device, rng))
        fail_msg("family %s has no config of %d bytes on compute capability %d", family->name,
                 elem_size, (int)device->compute_capability);
    for (size_t i = 0; i < family_sample(family, runs_whole() ? WHOLE : PART) && space.count > 0;
         i++) {
        size_t news, drawn = draw_news(space.configs, space.count, sizeof *space.configs, seen, 2,
                                       rng, &news);
        struct task task = {space.configs[drawn], at_problem_kind(&problem)};

        AT_PUSH(tasks->items, tasks->count, tasks->capacity, task);
        space.configs[drawn] = space.configs[--space.count]; /* so that none is drawn twice */
    }
    at_space_clear(&space);
}

/* What the kernels of an architecture take. */
struct taken {
    size_t kernels, spilling;
    int64_t registers; /* the most */
};

static void check_built(const struct at_built *built, int architecture, struct taken *taken)
{
    const struct task *task = built->owner;
    const struct at_kernel_resources *resources = &built->resources;
    char *config = at_config_format(&task->config);

    if (built->outcome != AT_CORRECT)
        fail_msg("sm_%d, %d bytes: %s %s: %s", architecture, (int)task->kind.elem_size,
                 task->config.family->name, config, built->message);
    if (built->resources.registers == 0 || !built->program || built->program->size == 0)
        fail_msg("sm_%d, %d bytes: %s %s: an empty kernel", architecture, (int)task->kind.elem_size,
                 task->config.family->name, config);
    if (resources->registers > 255 || resources->shared_bytes > 48 << 10)
        fail_msg("sm_%d, %d bytes: %s %s: %d registers, %d bytes of static shared memory",
                 architecture, (int)task->kind.elem_size, task->config.family->name, config,
                 (int)resources->registers, (int)resources->shared_bytes);
    taken->kernels++;
    taken->spilling += resources->spill_bytes > 0;
    taken->registers = at_max(taken->registers, resources->registers);
    free(config);
}

static void compile_all(const struct tasks *tasks, int architecture)
{
    const struct at_builder_options options = {
        .compute_capability = architecture, .workers = at_usable_cpus(), .header = header};
    struct at_builder *builder;
    struct at_error err = {AT_OK, ""};
    struct taken taken = {0};

    if (at_builder_open(&builder, &options, NULL, 0, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_false(at_builder_compiler(builder)->ptx);
    for (size_t i = 0; i < tasks->count; i++)
        at_builder_add(builder, &tasks->items[i].config, tasks->items[i].kind, &tasks->items[i]);
    while (at_builder_pending(builder) > 0) {
        struct at_built built;

        assert_int_equal(at_builder_wait(builder, &built, NULL), AT_OK);
        if (((struct task *)built.owner)->config.family != &harness)
            check_built(&built, architecture, &taken);
        else if (built.outcome != AT_CORRECT)
            fail_msg("sm_%d: harness.cu: %s", architecture, built.message);
        at_program_release(built.program);
    }
    at_builder_close(builder);
    print_message("sm_%d: %zu kernels, %d registers at most, %zu spill some\n", architecture,
                  taken.kernels, (int)taken.registers, taken.spilling);
}

static void test_architecture(void **state)
{
    int architecture = *(int *)*state;
    struct at_device_info device = device_of(architecture);
    struct at_rng rng = {(uint64_t)architecture};
    struct tasks tasks = {0};
    struct task verifying = {.config.family = &harness,
                             .kind = {.elem_size = 1, .axes = 1, .rows = 1}};

    if (runs_whole() || architecture == 90)
        AT_PUSH(tasks.items, tasks.count, tasks.capacity, verifying);
    for (size_t i = 0; i < family_count; i++) {
        struct seen of_architecture = {0};

        for (size_t j = 0; family_is_for(families[i], architecture) && j < ELEM_SIZES; j++)
            /* 75, 90 and 12x have different sizes of a family in a sample, and two of them half of
             * the families. */
            if (runs_with_size(i + (size_t)architecture / 15, j) &&
                (runs_whole() || architecture == 90 || (i + (size_t)architecture / 100) % 2))
                draw(&tasks, families[i], elem_sizes[j],
                     (struct seen *[]){&seen_with_size[i][j], &of_architecture}, &device, &rng);
    }
    compile_all(&tasks, architecture);
    free(tasks.items);
}

static int read_sources(void **state)
{
    read_shipped_families(state);
    seen_with_size = at_alloc_array(family_count, sizeof *seen_with_size);
    header = template_header();
    harness.source = text_of("templates/harness.cu");
    return 0;
}

static int free_sources(void **state)
{
    free(seen_with_size);
    free(header);
    free(harness.source);
    return free_shipped_families(state);
}

/* One test per architecture. */
static int run(int *architectures, size_t count)
{
    struct CMUnitTest tests[count];
    char names[count][16];

    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "sm_%d", architectures[i]);
        tests[i] = (struct CMUnitTest){
            .name = names[i], .test_func = test_architecture, .initial_state = &architectures[i]};
    }
    return cmocka_run_group_tests(tests, read_sources, free_sources);
}

/* Keep the oldest architecture, 9.0 and the newest. They are in ascending order. */
static size_t keep_sample(int *architectures, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (i == 0 || i == count - 1 || architectures[i] == 90)
            architectures[kept++] = architectures[i];
    return kept;
}

int main(int argc, char **argv)
{
    struct at_error err = {AT_OK, ""};
    int *architectures, exit_code;
    size_t count;

    /* The builder starts its workers from this program. */
    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    if (at_nvrtc_architectures(&architectures, &count, &err) != AT_OK) {
        fprintf(stderr, "skipped: %s\n", err.message);
        return SKIPPED;
    }
    exit_code = run(architectures, runs_whole() ? count : keep_sample(architectures, count));
    free(architectures);
    return exit_code;
}
