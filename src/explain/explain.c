/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/explain.h"

#include "emulated/caches/count.h"
#include "emulated/caches/hierarchy.h"
#include "emulated/machine/op.h"
#include "emulated/ptx/ptx.h"
#include "explain/advice.h"

#include "base/error.h"
#include "base/memory.h"
#include "emulated/time/requests.h"
#include "explain/launch_data.h"
#include "explain/lines.h"
#include "system/cpus.h"
#include "system/paths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- compiling ---- */

static enum at_status compile(const struct at_config *config, const struct at_problem *problem,
                              const struct at_device_info *device, const char *header,
                              struct at_builder **builder, struct at_built *built,
                              struct at_error *err)
{
    const struct at_builder_options options = {
        .compute_capability = device->compute_capability,
        .image = AT_IMAGE_PTX,
        .workers = 1,
        .header = header,
        .use_cache = true,
    };
    enum at_status status = at_builder_open(builder, &options, NULL, 0, err);

    if (status != AT_OK)
        return status;
    at_builder_add(*builder, config, at_problem_kind(problem), NULL);
    status = at_builder_wait(*builder, built, err);
    if (status == AT_OK && built->outcome != AT_CORRECT)
        status = at_fail(err, AT_FAILED, "%s does not compile: %s", config->family->name,
                         built->message);
    return status;
}

/* ---- the caches ---- */

/* Add the counts of a launch. */
static void add_caches(struct at_explained_caches *caches, const struct at_cache_counts *counts)
{
    caches->blocks = counts->blocks;
    caches->l1_bytes = counts->shape.l1_bytes;
    caches->l2_bytes = counts->shape.l2_bytes / counts->shape.l2_halves;
    caches->l1_sectors += counts->l1_sectors;
    caches->l1_hits += counts->l1_hits;
    caches->l2_sectors += counts->l2_sectors;
    caches->l2_hits += counts->l2_hits;
    caches->l2_to_l1_bytes += counts->l2_to_l1_bytes;
    caches->l1_to_l2_bytes += counts->l1_to_l2_bytes;
    caches->dram_to_l2_bytes += counts->dram_to_l2_bytes;
    caches->l2_to_dram_bytes += counts->l2_to_dram_bytes;
    caches->left_in_l2_bytes += counts->left_in_l2_bytes;
    caches->warm_dram_to_l2_bytes = counts->warm_dram_to_l2_bytes;
}

static void add_hits(struct at_cache_hits *hits, const struct at_cache_hits *more, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hits[i].l1_sectors += more[i].l1_sectors;
        hits[i].l1_hits += more[i].l1_hits;
        hits[i].l2_sectors += more[i].l2_sectors;
        hits[i].l2_hits += more[i].l2_hits;
    }
}

/* Bytes that a multiprocessor's L1 takes or gives in a clock (NVIDIA, "Nsight Compute
 * Documentation", "L1/TEX Cache": a line). */
enum { L1_BYTES_PER_CLOCK = 128 };

static int64_t permille(double ns, int64_t of_ns)
{
    return (int64_t)(1000 * ns / (double)of_ns + 0.5);
}

/* Set the shares of peak for the predicted time; -1 without one, and where the caches were not
 * counted. */
static void set_peaks(struct at_explanation *e, const struct at_device_info *device,
                      const struct at_rates *rates)
{
    struct at_explained_caches *c = &e->caches;
    double l1_bytes = (double)(AT_CACHE_SECTOR_BYTES * c->l1_sectors + c->l1_to_l2_bytes);
    double dram_bytes = (double)(c->dram_to_l2_bytes + c->l2_to_dram_bytes);

    c->l1_peak_permille = c->l2_peak_permille = c->dram_peak_permille = -1;
    if (!rates || e->predicted_ns <= 0 || c->blocks == 0)
        return;
    c->l1_peak_permille = permille(
        l1_bytes * 1e6 / (double)(L1_BYTES_PER_CLOCK * device->multiprocessors * rates->clock_khz),
        e->predicted_ns);
    c->l2_peak_permille =
        permille((double)c->l2_to_l1_bytes * 1e3 / (double)rates->l2_load_MB_per_s +
                     (double)c->l1_to_l2_bytes * 1e3 / (double)rates->l2_store_MB_per_s,
                 e->predicted_ns);
    c->dram_peak_permille =
        permille(dram_bytes * 1e3 / (double)rates->dram_MB_per_s, e->predicted_ns);
}

/* ---- running ---- */

struct run {
    struct at_ptx_module *module;
    const struct at_ptx_kernel *kernel;
    const char *header;           /* the caller's */
    struct at_emu_memory *memory; /* the caller's */
    struct at_counts *counts;
    struct at_cache_hits *hits; /* per instruction */
    struct at_requests *requests;
    bool is_too_large; /* a wave makes more requests than can be kept */
    struct at_emu_launch emu;
    struct at_grid_parts parts;
};

static void end_run(struct run *run)
{
    free(run->counts);
    free(run->hits);
    at_requests_free(run->requests);
    at_ptx_free(run->module);
}

/* Choose `count` blocks of a grid, evenly spread, with the first and the last; the caller frees. */
static uint64_t *choose_blocks(int64_t count, int64_t blocks_of_grid)
{
    uint64_t *blocks = at_alloc_array((size_t)count, sizeof *blocks);

    for (int64_t i = 0; i < count; i++)
        blocks[i] = count == 1 ? 0 : (uint64_t)((__int128)i * (blocks_of_grid - 1) / (count - 1));
    return blocks;
}

/* Read the code and prepare its launch as for a GPU. */
static enum at_status prepare(struct run *run, const struct at_explained_kernel *kernel,
                              const struct at_device_info *device, int64_t occupancy_blocks,
                              struct at_error *err)
{
    enum at_status status = at_ptx_read(&run->module, kernel->ptx, kernel->ptx_size, err);

    if (status == AT_OK)
        status = at_ptx_find(run->module, kernel->entry, &run->kernel, err);
    if (status != AT_OK)
        return status;
    run->counts = at_counts_new(run->kernel->op_count);
    run->hits = at_alloc_array(run->kernel->op_count, sizeof *run->hits);
    run->requests = at_requests_new(run->kernel->op_count);
    run->header = kernel->header;
    run->memory = kernel->memory;
    run->emu = (struct at_emu_launch){
        .kernel = run->kernel,
        .arg_count = kernel->arg_count,
        .arg_words = kernel->arg_words,
        .block_limit = AT_EMU_BLOCK_STEPS,
        .name = kernel->name,
        .multiprocessors = (int)device->multiprocessors,
        .resident = (uint64_t)(device->multiprocessors * occupancy_blocks),
        .threads = at_usable_cpus(),
    };
    at_emu_launch_take(&run->emu, &kernel->launch);
    return AT_OK;
}

/* The output of a kernel goes to stderr, beside the table; it may be any text. */
static void print(void *context, const char *text)
{
    (void)context;
    at_print_lines(stderr, text);
}

static const struct at_emu_printer printer = {NULL, print};

static enum at_status run_blocks(const struct run *run, const struct at_emu_launch *emu,
                                 const char *when, struct at_error *err)
{
    struct at_emu_fault fault = {0};
    enum at_status status = at_emu_run(run->memory, emu, &fault, err);

    if (status == AT_OK && fault.kind != AT_EMU_NO_FAULT)
        status = at_fail(err, AT_FAILED, "%s%s", fault.message, when);
    return status;
}

static bool asks_for_lanes(const struct at_ptx_kernel *kernel)
{
    for (size_t i = 0; i < kernel->op_count; i++)
        if (strstr(kernel->ops[i].text, "activemask."))
            return true;
    return false;
}

/* Which lanes come together to __activemask() is a matter of chance. So a kernel that asks must be
 * right also if they come one by one; but it is counted with all that can come together. */
static enum at_status count_blocks(struct run *run, int64_t blocks, int64_t counted,
                                   struct at_error *err)
{
    uint64_t *chosen = choose_blocks(counted, blocks);
    struct at_emu_launch emu = run->emu;
    enum at_status status;

    emu.observer = &run->counts->observer;
    emu.printer = &printer;
    emu.find_races = true;
    emu.only_blocks = chosen;
    emu.only_block_count = (size_t)counted;
    status = run_blocks(run, &emu, "", err);
    if (status == AT_OK && asks_for_lanes(run->kernel)) {
        emu.observer = NULL;
        emu.printer = NULL;
        emu.alone = true;
        status = run_blocks(run, &emu,
                            ": this is where lanes come to __activemask() (or coalesced_threads) "
                            "one by one, as they may",
                            err);
    }
    free(chosen);
    return status;
}

/* Count the traffic between the caches of the device, for a launch whose resources and occupancy
 * are in the explanation. The whole grid if it has at most max_blocks blocks. */
static enum at_status count_caches(struct run *run, const struct at_device_info *device,
                                   int64_t max_blocks, struct at_explanation *e,
                                   struct at_error *err)
{
    struct at_cache_shape shape;
    struct at_cache_counts counts;
    enum at_status status = at_cache_shape_of(
        &shape, &e->caches.carveout_bytes, device, e->occupancy_blocks,
        e->static_shared_bytes + e->dynamic_shared_bytes, run->emu.carveout_percent, err);

    if (status == AT_OK)
        status =
            at_cache_count(&counts, &shape, run->memory, &run->emu, &run->parts, max_blocks, err);
    if (status == AT_NO_MEMORY) {
        run->is_too_large = true;
        return AT_OK;
    }
    if (status != AT_OK)
        return status;
    add_caches(&e->caches, &counts);
    add_hits(run->hits, counts.instructions, run->kernel->op_count);
    free(counts.instructions);
    return AT_OK;
}

/* No figure is better than one of a part of the requests. */
static void forget_caches(struct run *run, struct at_explanation *e)
{
    e->caches = (struct at_explained_caches){.warm_dram_to_l2_bytes = -1};
    memset(run->hits, 0, run->kernel->op_count * sizeof *run->hits);
}

static struct at_counted counted_of(const struct run *run)
{
    return (struct at_counted){run->kernel, run->header, run->counts, run->hits, run->requests};
}

static void set_idle(const struct run *run, const struct at_prediction *prediction,
                     struct at_explanation *explanation)
{
    const struct at_counted counted = counted_of(run);

    at_line_set_place(&explanation->idlest, &counted, prediction->idlest);
    explanation->idle_percent = (int64_t)(100 * prediction->idle + 0.5);
}

/* Predict the time, and what would make it shorter. The lines are known. */
static enum at_status predict(const struct run *run, const struct at_grid_parts *parts,
                              const struct at_device_info *device, const struct at_rates *rates,
                              struct at_explanation *explanation, struct at_error *err)
{
    struct at_advisor *advisor = at_advisor_open(explanation);
    size_t count;
    const struct at_repair *repairs = at_advisor_repairs(advisor, &count);
    double *ns = at_alloc_array(count, sizeof *ns);
    struct at_prediction prediction;
    enum at_status status = at_predict_repairs(
        device, rates, run->memory, &run->emu, parts, explanation->registers,
        explanation->static_shared_bytes, true, &prediction, repairs, count, ns, err);

    if (status == AT_OK) {
        explanation->predicted_ns = (int64_t)prediction.ns;
        snprintf(explanation->bound, sizeof explanation->bound, "%s",
                 at_bound_names[prediction.bound]);
        explanation->achieved_percent = (int64_t)(100 * prediction.active + 0.5);
        set_idle(run, &prediction, explanation);
        explanation->advice = at_advisor_choose(advisor, ns);
    }
    free(ns);
    at_advisor_close(advisor);
    return status;
}

/* Extrapolate the sectors of the counted blocks to bytes of the whole grid. If its parts differ,
 * the caches tell, which were counted in each of them. */
static void set_bytes(struct at_explanation *explanation, const struct run *run)
{
    const struct at_explained_caches *caches = &explanation->caches;
    int64_t sectors[2] = {0};
    double scale =
        AT_CACHE_SECTOR_BYTES * (double)explanation->blocks / (double)explanation->blocks_counted;

    for (size_t i = 0; i < run->kernel->op_count; i++) {
        const struct at_access_counts *counts = &run->counts->accesses[i][0];

        sectors[counts->store || counts->atomic] += counts->sectors;
    }
    explanation->bytes_read = (int64_t)((double)sectors[0] * scale);
    explanation->bytes_written = (int64_t)((double)sectors[1] * scale);
    if (run->parts.count > 1 && explanation->blocks_counted < explanation->blocks &&
        caches->blocks > 0) {
        explanation->bytes_read = AT_CACHE_SECTOR_BYTES * caches->l1_sectors;
        explanation->bytes_written = caches->l1_to_l2_bytes;
    }
}

/* ---- a kernel and its launch ---- */

/* Blocks of a grid. No block makes more than 2^32 bytes of traffic within AT_EMU_BLOCK_STEPS, so
 * that no figure of the whole grid is out of range. */
static const int64_t blocks_max = INT32_MAX;

static enum at_status check_launch(const struct at_explanation *explanation,
                                   const struct at_device_info *device, struct at_error *err)
{
    if (explanation->blocks > blocks_max)
        return at_fail(err, AT_USAGE, "a grid of %jd blocks; figures are for at most %jd",
                       (intmax_t)explanation->blocks, (intmax_t)blocks_max);
    if (at_occupancy_check(device, explanation->threads, explanation->registers,
                           explanation->static_shared_bytes, explanation->dynamic_shared_bytes,
                           err) != AT_OK)
        return at_fail_within(err, "%s cannot launch it", device->name);
    return AT_OK;
}

static enum at_status describe(const struct at_explained_kernel *kernel,
                               const struct at_device_info *device,
                               struct at_explanation *explanation, struct at_error *err)
{
    const struct at_kernel_resources *resources = &kernel->resources;
    const int64_t *field = kernel->launch.field;
    struct at_occupancy occupancy;
    enum at_status status;

    snprintf(explanation->device, sizeof explanation->device, "%s", device->name);
    snprintf(explanation->kind, sizeof explanation->kind, "%s", device->kind);
    explanation->blocks = field[AT_GRID_X] * field[AT_GRID_Y] * field[AT_GRID_Z];
    explanation->threads = field[AT_BLOCK_X] * field[AT_BLOCK_Y] * field[AT_BLOCK_Z];
    explanation->registers = resources->registers;
    explanation->spill_bytes = resources->spill_bytes;
    explanation->static_shared_bytes = resources->shared_bytes;
    explanation->dynamic_shared_bytes = field[AT_SHARED_BYTES];
    status = check_launch(explanation, device, err);
    if (status == AT_OK)
        status = at_occupancy_of(&occupancy, device, explanation->threads, resources->registers,
                                 resources->shared_bytes, explanation->dynamic_shared_bytes, err);
    if (status != AT_OK)
        return status;
    explanation->occupancy_blocks = occupancy.blocks;
    explanation->occupancy_percent = occupancy.percent;
    explanation->wave_blocks = occupancy.blocks * device->multiprocessors;
    if (explanation->wave_blocks > 0)
        explanation->tail_blocks = (explanation->blocks - 1) % explanation->wave_blocks + 1;
    memcpy(explanation->occupancy_limiter, occupancy.limiter, sizeof occupancy.limiter);
    return AT_OK;
}

static void show_step(const struct at_explained_kernel *kernel, int64_t pass, size_t step)
{
    static const char *const steps[] = {"counting accesses", "counting cache hits",
                                        "predicting the time"};

    if (kernel->progress)
        at_progress_step(kernel->progress, steps[step], (size_t)pass * AT_COUNT(steps) + step,
                         (size_t)at_launch_passes(&kernel->launch) * AT_COUNT(steps));
}

/* Count a launch, and add it to the explanation. Of several launches in a row, each finds what the
 * one before has left, however often it is run. Their blocks all run at the same time, so that the
 * last run, for the caches, is of all. */
static enum at_status count_launch(struct run *run, const struct at_explained_kernel *kernel,
                                   int64_t pass, const struct at_device_info *device,
                                   int64_t max_blocks, struct at_explanation *made,
                                   struct at_error *err)
{
    const int64_t read = made->bytes_read, written = made->bytes_written;
    struct at_explained_launch *launches = made->launches.items;
    const int64_t passes = at_launch_passes(&kernel->launch);
    enum at_status status;

    if (passes > 1)
        at_emu_memory_rewind(run->memory);
    run->emu.args = kernel->args + (size_t)pass * kernel->arg_words;
    show_step(kernel, pass, 0);
    status = count_blocks(run, made->blocks, made->blocks_counted, err);
    show_step(kernel, pass, 1);
    if (status == AT_OK)
        status = at_requests_sample(run->requests, run->counts, run->memory, &run->emu, err);
    if (status == AT_OK)
        status = at_grid_find_parts(&run->parts, run->memory, &run->emu, err);
    if (status == AT_OK)
        status = count_caches(run, device, max_blocks, made, err);
    if (status != AT_OK)
        return status;
    set_bytes(made, run);
    if (passes > 1)
        launches[made->launches.count++] = (struct at_explained_launch){
            .bytes_read = made->bytes_read - read,
            .bytes_written = made->bytes_written - written,
        };
    return AT_OK;
}

enum at_status at_explain_kernel(const struct at_explained_kernel *kernel,
                                 const struct at_device_info *device, const struct at_rates *rates,
                                 int64_t max_blocks, struct at_explanation *explanation,
                                 struct at_error *err)
{
    struct at_explanation made = {0};
    struct run run = {0};
    struct at_grid_parts whole;
    const int64_t passes = at_launch_passes(&kernel->launch);
    enum at_status status = describe(kernel, device, &made, err);

    if (passes > 1) {
        max_blocks = made.blocks;
        made.launches.items = at_alloc_array((size_t)passes, sizeof(struct at_explained_launch));
    }
    made.blocks_counted = made.blocks < max_blocks ? made.blocks : max_blocks;
    if (status == AT_OK)
        status = prepare(&run, kernel, device, made.occupancy_blocks, err);
    for (int64_t i = 0; i < passes && status == AT_OK; i++)
        status = count_launch(&run, kernel, i, device, max_blocks, &made, err);
    whole = at_grid_whole(&run.emu);
    if (status == AT_OK && run.is_too_large)
        forget_caches(&run, &made);
    if (status == AT_OK) {
        const struct at_counted counted = counted_of(&run);

        made.lines = at_lines_collect(&counted);
        at_lines_set_shares(&made.lines, device, rates);
        made.local_requests = run.counts->local.requests;
        made.local_sectors = run.counts->local.sectors;
    }
    if (status == AT_OK && rates && passes == 1) {
        show_step(kernel, 0, 2);
        status = predict(&run, kernel->as_tuned ? &whole : &run.parts, device, rates, &made, err);
    }
    if (status == AT_OK) {
        if (passes > 1) /* the caches have seen each launch alone */
            made.caches.warm_dram_to_l2_bytes = -1;
        set_peaks(&made, device, rates);
        *explanation = made;
    } else {
        free(made.launches.items);
        free(made.lines.items);
    }
    end_run(&run);
    return status;
}

enum at_status at_run_kernel(const struct at_explained_kernel *kernel,
                             const struct at_device_info *device, struct at_error *err)
{
    struct at_explanation made = {0};
    struct run run = {0};
    enum at_status status = describe(kernel, device, &made, err);

    if (status == AT_OK)
        status = prepare(&run, kernel, device, made.occupancy_blocks, err);
    run.emu.args = kernel->args;
    if (status == AT_OK)
        status = run_blocks(&run, &run.emu, "", err);
    end_run(&run);
    return status;
}

/* ---- a config ---- */

static void name_config(const struct at_config *config, const struct at_problem *problem,
                        struct at_explanation *explanation)
{
    char *text = at_config_format(config), *spec = at_problem_format(problem);
    int64_t elements;

    snprintf(explanation->family, sizeof explanation->family, "%s", config->family->name);
    snprintf(explanation->config, sizeof explanation->config, "%s", text);
    snprintf(explanation->problem, sizeof explanation->problem, "%s", spec);
    free(spec);
    free(text);
    elements = at_problem_elements(problem);
    explanation->bytes_needed = elements * problem->elem_size;
    if (!problem->step.given)
        return;
    explanation->result_bytes_needed = at_problem_side_bytes(problem, AT_DESTINATION, elements) +
                                       at_problem_kept_bytes(problem, elements) +
                                       at_problem_scale_bytes(problem, AT_SOURCE) +
                                       at_problem_scale_bytes(problem, AT_DESTINATION);
    explanation->bytes_needed = at_problem_bytes(problem) - explanation->result_bytes_needed;
}

enum at_status at_explain(const struct at_config *config, const struct at_problem *problem,
                          const struct at_device_info *device, const struct at_rates *rates,
                          const char *header, int64_t max_blocks, struct at_progress *progress,
                          struct at_explanation *explanation, struct at_error *err)
{
    struct at_explained_kernel kernel = {
        .header = header, .arg_words = AT_CALL_WORDS, .progress = progress};
    struct at_emu_memory *memory = at_emu_memory_new();
    struct at_builder *builder = NULL;
    struct at_built built = {0};
    uint64_t args[AT_LAUNCHES_MAX][AT_CALL_WORDS];
    enum at_status status = at_config_launch(config, problem, device, &kernel.launch, err);

    if (status == AT_OK)
        status = compile(config, problem, device, header, &builder, &built, err);
    if (status == AT_OK)
        status = at_launch_data_make(memory, problem, &kernel.launch, args, &kernel.arg_count, err);
    if (status == AT_OK) {
        kernel.ptx = built.program->image;
        kernel.ptx_size = built.program->size - 1;
        kernel.entry = built.entry;
        kernel.name = config->family->name;
        kernel.as_tuned = true;
        kernel.resources = built.resources;
        kernel.memory = memory;
        kernel.args = args[0];
        status = at_explain_kernel(&kernel, device, rates, max_blocks, explanation, err);
    }
    if (status == AT_OK)
        name_config(config, problem, explanation);
    at_emu_memory_free(memory);
    at_program_release(built.program);
    at_builder_close(builder);
    return status;
}
