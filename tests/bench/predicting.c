/* SPDX-License-Identifier: Apache-2.0 */
#include "predicting.h"

#include "base/memory.h"
#include "emulated/ptx/ptx.h"
#include "kernel/builder.h"
#include "kernel/render.h"
#include "problem/arguments.h"
#include "space/space.h"
#include "system/paths.h"

#include <stdlib.h>

enum at_status read_tree(struct tree *tree, struct at_error *err)
{
    char *tuning = at_path_data_file("tuning"), *templates = at_path_data_file("templates");
    enum at_status status = at_template_header_read(&tree->header, err);

    if (status == AT_OK)
        status = at_families_read(&tree->families, &tree->family_count, tuning, templates, err);
    free(templates);
    free(tuning);
    return status;
}

void clear_tree(struct tree *tree)
{
    for (size_t i = 0; i < tree->family_count; i++)
        at_family_free(tree->families[i]);
    free(tree->families);
    free(tree->header);
}

/* What all configs of a problem share. */
struct shared {
    const struct predicting *by;
    const struct at_problem *problem;
    struct at_emu_memory *memory;
    uint64_t src, dst; /* addresses */
};

static enum at_status predict(const struct shared *shared, const struct at_built *built,
                              struct predicted *one, struct at_error *err)
{
    uint64_t args[AT_CALL_WORDS];
    uint8_t words[AT_CALL_ARGS];
    struct at_emu_launch emu = {
        .args = args, .arg_words = AT_CALL_WORDS, .instruction_limit = 100000000, .threads = 1};
    struct at_ptx_module *module = NULL;
    struct at_grid_parts whole;
    struct at_launch launch;
    enum at_status status =
        at_config_launch(&one->config, shared->problem, shared->by->device, &launch, err);

    if (status == AT_OK && built->outcome != AT_CORRECT)
        status = at_fail(err, AT_FAILED, "%s: %s", one->config.family->name, built->message);
    if (status == AT_OK)
        status = at_ptx_read(&module, built->program->image, built->program->size - 1, err);
    if (status == AT_OK)
        status = at_ptx_find(module, built->entry, &emu.kernel, err);
    if (status == AT_OK) {
        at_emu_launch_take(&emu, &launch);
        emu.arg_count =
            at_problem_args(shared->problem, &launch, shared->dst, shared->src, NULL, args, words);
        whole = at_grid_whole(&emu);
        status = at_predict_launch(shared->by->device, shared->by->rates, shared->memory, &emu,
                                   &whole, built->resources.registers,
                                   built->resources.shared_bytes, true, &one->prediction, err);
    }
    at_ptx_free(module);
    return status;
}

static uint64_t allocate(const struct shared *shared, enum at_side side)
{
    return at_emu_memory_allocate(shared->memory,
                                  (side == AT_SOURCE ? at_problem_src_extent(shared->problem)
                                                     : at_problem_dst_extent(shared->problem)) *
                                      at_problem_elem_size(shared->problem, side));
}

static enum at_status predict_built(const struct shared *shared, struct at_builder *builder,
                                    size_t count, struct at_error *err)
{
    enum at_status status = AT_OK;

    for (size_t i = 0; i < count && status == AT_OK; i++) {
        struct at_built built = {0};
        struct predicted *one;

        status = at_builder_wait(builder, &built, err);
        one = built.owner;
        if (status == AT_OK)
            one->error.status = predict(shared, &built, one, &one->error);
        at_program_release(built.program);
    }
    return status;
}

enum at_status predict_configs(const struct predicting *by, const struct at_problem *problem,
                               struct predicted *configs, size_t count, struct at_error *err)
{
    const struct at_builder_options options = {
        .compute_capability = by->device->compute_capability,
        .image = AT_IMAGE_PTX,
        .workers = 2,
        .header = by->header,
        .use_cache = true,
    };
    struct shared shared = {by, problem, at_emu_memory_new(), 0, 0};
    struct at_builder *builder = NULL;
    enum at_status status = at_builder_open(&builder, &options, NULL, 0, err);

    shared.src = allocate(&shared, AT_SOURCE);
    shared.dst = problem->in_place ? shared.src : allocate(&shared, AT_DESTINATION);
    if (status == AT_OK && (!shared.src || !shared.dst))
        status = at_fail(err, AT_FAILED, "this machine has too little memory for the problem");
    for (size_t i = 0; i < count && status == AT_OK; i++)
        at_builder_add(builder, &configs[i].config, at_problem_kind(problem), &configs[i]);
    if (status == AT_OK)
        status = predict_built(&shared, builder, count, err);
    at_builder_close(builder);
    at_emu_memory_free(shared.memory);
    return status;
}
