/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/explain.h"
#include "emulated/caches/count.h"
#include "emulated/caches/hierarchy.h"
#include "emulated/machine/op.h"
#include "emulated/ptx/ptx.h"

#include "base/error.h"
#include "base/memory.h"
#include "emulated/time/requests.h"
#include "explain/launch_data.h"
#include "schema/table.h"
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

static void take_caches(struct at_explained_caches *caches, const struct at_cache_counts *counts)
{
    *caches = (struct at_explained_caches){
        .blocks = counts->blocks,
        .carveout_bytes = caches->carveout_bytes,
        .l1_bytes = counts->shape.l1_bytes,
        .l2_bytes = counts->shape.l2_bytes / counts->shape.l2_halves,
        .l1_sectors = counts->l1_sectors,
        .l1_hits = counts->l1_hits,
        .l2_sectors = counts->l2_sectors,
        .l2_hits = counts->l2_hits,
        .l2_to_l1_bytes = counts->l2_to_l1_bytes,
        .l1_to_l2_bytes = counts->l1_to_l2_bytes,
        .dram_to_l2_bytes = counts->dram_to_l2_bytes,
        .l2_to_dram_bytes = counts->l2_to_dram_bytes,
        .left_in_l2_bytes = counts->left_in_l2_bytes,
        .warm_dram_to_l2_bytes = counts->warm_dram_to_l2_bytes,
    };
}

/* Count the traffic between the caches of the device, for a launch whose resources and occupancy
 * are in the explanation. The whole grid if it has at most max_blocks blocks. If a wave makes more
 * requests than can be kept, all figures are 0, and the second launch's unknown. The caller frees
 * *hits, one per instruction. */
static enum at_status count_caches(struct at_explanation *e, struct at_cache_hits **hits,
                                   const struct at_device_info *device,
                                   struct at_emu_memory *memory, const struct at_emu_launch *launch,
                                   const struct at_grid_parts *parts, int64_t max_blocks,
                                   struct at_error *err)
{
    struct at_cache_shape shape;
    struct at_cache_counts counts;
    enum at_status status = at_cache_shape_of(
        &shape, &e->caches.carveout_bytes, device, e->occupancy_blocks,
        e->static_shared_bytes + e->dynamic_shared_bytes, launch->carveout_percent, err);

    if (status == AT_OK)
        status = at_cache_count(&counts, &shape, memory, launch, parts, max_blocks, err);
    if (status == AT_NO_MEMORY) { /* no figure is better than one of a part of the requests */
        e->caches = (struct at_explained_caches){.warm_dram_to_l2_bytes = -1};
        *hits = at_alloc_array(launch->kernel->op_count, sizeof **hits);
        return AT_OK;
    }
    if (status != AT_OK)
        return status;
    take_caches(&e->caches, &counts);
    *hits = counts.instructions;
    return AT_OK;
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
    struct at_emu_launch emu;
    struct at_grid_parts parts;
};

static void end_run(struct run *run)
{
    free(run->counts);
    free(run->hits);
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
    run->header = kernel->header;
    run->memory = kernel->memory;
    run->emu = (struct at_emu_launch){
        .kernel = run->kernel,
        .args = kernel->args,
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

static enum at_status predict(const struct run *run, const struct at_grid_parts *parts,
                              const struct at_device_info *device, const struct at_rates *rates,
                              struct at_explanation *explanation, struct at_error *err)
{
    struct at_prediction prediction;
    enum at_status status =
        at_predict_launch(device, rates, run->memory, &run->emu, parts, explanation->registers,
                          explanation->static_shared_bytes, true, &prediction, err);

    if (status != AT_OK)
        return status;
    explanation->predicted_ns = (int64_t)prediction.ns;
    snprintf(explanation->bound, sizeof explanation->bound, "%s", at_bound_names[prediction.bound]);
    return AT_OK;
}

/* ---- collecting ---- */

static void name_access(char name[32], const struct at_access_counts *counts)
{
    const char *way = counts->store ? "store" : "load";

    if (counts->atomic)
        way = "atomic";
    if (counts->shared && counts->past_l1)
        way = "copy";
    snprintf(name, 32, "%s %s", way, counts->shared ? "shared" : "global");
}

static int by_place(const void *left, const void *right)
{
    const struct at_explained_line *a = left, *b = right;
    int order = strcmp(a->file, b->file);

    if (order == 0)
        order = (a->line > b->line) - (a->line < b->line);
    if (order == 0)
        order = strcmp(a->access, b->access);
    if (order == 0)
        order = (a->bytes > b->bytes) - (a->bytes < b->bytes);
    return order;
}

/* The cost of a request: sectors or wavefronts. */
static double cost_of(const struct at_explained_line *line)
{
    return (double)(line->sectors + line->wavefronts) / (double)line->requests;
}

/* The bytes of global memory that a request wants. */
static double wanted_of(const struct at_explained_line *line)
{
    return (double)line->wanted_bytes / (double)line->requests;
}

static int by_place_and_cost(const void *left, const void *right)
{
    double a = cost_of(left), b = cost_of(right);
    int order = by_place(left, right);

    if (order == 0)
        order = (a > b) - (a < b);
    return order ? order
                 : (wanted_of(left) > wanted_of(right)) - (wanted_of(left) < wanted_of(right));
}

enum { ALIKE_PERCENT = 120 };

/* Whether two accesses of one place are shown as one. Those of an unrolled loop cost nearly the
 * same, and want as much; one that begins within a sector, beside one that does not, costs a
 * quarter more. Accesses that cost the same for different reasons want different amounts. */
static bool are_alike(const struct at_explained_line *cheaper,
                      const struct at_explained_line *dearer)
{
    double a = wanted_of(cheaper), b = wanted_of(dearer);

    return by_place(cheaper, dearer) == 0 &&
           100 * cost_of(dearer) <= ALIKE_PERCENT * cost_of(cheaper) &&
           100 * fmax(a, b) <= ALIKE_PERCENT * fmin(a, b);
}

static void add_counts(struct at_explained_line *line, const struct at_explained_line *more)
{
    line->requests += more->requests;
    line->wanted_bytes += more->wanted_bytes;
    line->sectors += more->sectors;
    line->tag_sectors += more->tag_sectors;
    line->least_sectors += more->least_sectors;
    line->wavefronts += more->wavefronts;
    line->least_wavefronts += more->least_wavefronts;
    line->l1_sectors += more->l1_sectors;
    line->l1_hits += more->l1_hits;
    line->l2_sectors += more->l2_sectors;
    line->l2_hits += more->l2_hits;
}

/* The line of the template: code inlined from the templates' header counts for the calling line. */
static struct at_ptx_source source_of(const struct run *run, size_t instruction)
{
    struct at_ptx_source here, caller;

    at_ptx_instruction_source(run->kernel, instruction, &here, &caller);
    return run->header && at_template_header_has(run->header, at_path_name(here.file)) ? caller
                                                                                       : here;
}

/* Extrapolate the sectors of the counted blocks to bytes of the whole grid. If its parts differ,
 * the caches tell, which were counted in each of them. */
static void add_bytes(struct at_explanation *explanation, bool uneven)
{
    const struct at_explained_caches *caches = &explanation->caches;
    const struct at_explained_line *lines = explanation->lines.items;
    int64_t sectors[2] = {0};
    double scale =
        AT_CACHE_SECTOR_BYTES * (double)explanation->blocks / (double)explanation->blocks_counted;

    for (size_t i = 0; i < explanation->lines.count; i++)
        sectors[strncmp(lines[i].access, "load", 4) != 0] += lines[i].sectors;
    explanation->bytes_read = (int64_t)((double)sectors[0] * scale);
    explanation->bytes_written = (int64_t)((double)sectors[1] * scale);
    if (uneven && caches->blocks > 0) {
        explanation->bytes_read = AT_CACHE_SECTOR_BYTES * caches->l1_sectors;
        explanation->bytes_written = caches->l1_to_l2_bytes;
    }
}

static void take_hits(struct at_explained_line *line, const struct at_cache_hits *hits)
{
    line->l1_sectors = hits->l1_sectors;
    line->l1_hits = hits->l1_hits;
    line->l2_sectors = hits->l2_sectors;
    line->l2_hits = hits->l2_hits;
}

/* Make a line per instruction and memory, then add up the lines of one place that are alike. */
static void collect_lines(const struct run *run, struct at_list *list)
{
    size_t count = 0, kept = 0, instructions = run->kernel->op_count;
    struct at_explained_line *lines = at_alloc_array(2 * instructions, sizeof *lines);

    for (size_t i = 0; i < 2 * instructions; i++) {
        const struct at_access_counts *counts = &run->counts->accesses[i / 2][i % 2];
        struct at_ptx_source place = source_of(run, i / 2);
        struct at_explained_line *line = &lines[count];

        if (counts->requests == 0)
            continue;
        count++;
        snprintf(line->file, sizeof line->file, "%s", at_path_name(place.file));
        line->line = place.line;
        name_access(line->access, counts);
        line->bytes = counts->bytes;
        line->requests = counts->requests;
        line->wanted_bytes = counts->wanted_bytes;
        line->sectors = counts->sectors;
        line->tag_sectors = counts->tag_sectors;
        line->least_sectors = counts->least_sectors;
        line->wavefronts = counts->wavefronts;
        line->least_wavefronts = counts->least_wavefronts;
        if (!counts->shared)
            take_hits(line, &run->hits[i / 2]);
    }
    qsort(lines, count, sizeof *lines, by_place_and_cost);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && are_alike(&lines[kept - 1], &lines[i]))
            add_counts(&lines[kept - 1], &lines[i]);
        else
            lines[kept++] = lines[i];
    }
    *list = (struct at_list){lines, kept};
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

static void show_step(const struct at_explained_kernel *kernel, size_t step)
{
    static const char *const steps[] = {"counting accesses", "counting cache hits",
                                        "predicting the time"};

    if (kernel->progress)
        at_progress_step(kernel->progress, steps[step], step, AT_COUNT(steps));
}

enum at_status at_explain_kernel(const struct at_explained_kernel *kernel,
                                 const struct at_device_info *device, const struct at_rates *rates,
                                 int64_t max_blocks, struct at_explanation *explanation,
                                 struct at_error *err)
{
    struct at_explanation made = {0};
    struct run run = {0};
    struct at_grid_parts whole;
    enum at_status status = describe(kernel, device, &made, err);

    made.blocks_counted = made.blocks < max_blocks ? made.blocks : max_blocks;
    if (status == AT_OK)
        status = prepare(&run, kernel, device, made.occupancy_blocks, err);
    show_step(kernel, 0);
    if (status == AT_OK)
        status = count_blocks(&run, made.blocks, made.blocks_counted, err);
    show_step(kernel, 1);
    if (status == AT_OK)
        status = at_grid_find_parts(&run.parts, run.memory, &run.emu, err);
    if (status == AT_OK)
        status = count_caches(&made, &run.hits, device, run.memory, &run.emu, &run.parts,
                              max_blocks, err);
    show_step(kernel, 2);
    whole = at_grid_whole(&run.emu);
    if (status == AT_OK && rates)
        status = predict(&run, kernel->as_tuned ? &whole : &run.parts, device, rates, &made, err);
    if (status == AT_OK) {
        set_peaks(&made, device, rates);
        collect_lines(&run, &made.lines);
        made.local_requests = run.counts->local.requests;
        made.local_sectors = run.counts->local.sectors;
        add_bytes(&made, run.parts.count > 1);
        *explanation = made;
    }
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

/* A kernel that is launched several times has no access that stands for all of them. */
static enum at_status check_passes(const struct at_config *config, const struct at_launch *launch,
                                   struct at_error *err)
{
    return at_launch_passes(launch) == 1
               ? AT_OK
               : at_fail(err, AT_USAGE,
                         "%s is launched %jd times for one transpose, which cannot be explained",
                         config->family->name, (intmax_t)at_launch_passes(launch));
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
    uint64_t args[AT_CALL_WORDS];
    enum at_status status = at_config_launch(config, problem, device, &kernel.launch, err);

    if (status == AT_OK)
        status = check_passes(config, &kernel.launch, err);
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
        kernel.args = args;
        status = at_explain_kernel(&kernel, device, rates, max_blocks, explanation, err);
    }
    if (status == AT_OK)
        name_config(config, problem, explanation);
    at_emu_memory_free(memory);
    at_program_release(built.program);
    at_builder_close(builder);
    return status;
}

/* ---- as JSON ---- */

static const struct at_field line_fields[] = {
    AT_CHARS(at_explained_line, access),
    AT_COUNTER(at_explained_line, bytes),
    AT_CHARS(at_explained_line, file),
    AT_COUNTER(at_explained_line, l1_hits),
    AT_COUNTER(at_explained_line, l1_sectors),
    AT_COUNTER(at_explained_line, l2_hits),
    AT_COUNTER(at_explained_line, l2_sectors),
    AT_COUNTER(at_explained_line, least_sectors),
    AT_COUNTER(at_explained_line, least_wavefronts),
    AT_COUNTER(at_explained_line, line),
    AT_COUNTER(at_explained_line, requests),
    AT_COUNTER(at_explained_line, sectors),
    AT_COUNTER(at_explained_line, tag_sectors),
    AT_COUNTER(at_explained_line, wanted_bytes),
    AT_COUNTER(at_explained_line, wavefronts),
};
static const struct at_schema line_schema = AT_SCHEMA("a line", at_explained_line, line_fields);

static const struct at_field cache_fields[] = {
    AT_COUNTER(at_explained_caches, blocks),
    AT_COUNTER(at_explained_caches, carveout_bytes),
    AT_INT(at_explained_caches, dram_peak_permille, -1, INT64_MAX),
    AT_COUNTER(at_explained_caches, dram_to_l2_bytes),
    AT_COUNTER(at_explained_caches, l1_bytes),
    AT_COUNTER(at_explained_caches, l1_hits),
    AT_INT(at_explained_caches, l1_peak_permille, -1, INT64_MAX),
    AT_COUNTER(at_explained_caches, l1_sectors),
    AT_COUNTER(at_explained_caches, l1_to_l2_bytes),
    AT_COUNTER(at_explained_caches, l2_bytes),
    AT_COUNTER(at_explained_caches, l2_hits),
    AT_INT(at_explained_caches, l2_peak_permille, -1, INT64_MAX),
    AT_COUNTER(at_explained_caches, l2_sectors),
    AT_COUNTER(at_explained_caches, l2_to_dram_bytes),
    AT_COUNTER(at_explained_caches, l2_to_l1_bytes),
    AT_COUNTER(at_explained_caches, left_in_l2_bytes),
    AT_INT(at_explained_caches, warm_dram_to_l2_bytes, -1, INT64_MAX),
};
const struct at_schema at_explained_caches_schema =
    AT_SCHEMA("caches", at_explained_caches, cache_fields);

static const struct at_field counter_fields[] = {
    AT_COUNTER(at_counters, dram_to_l2_bytes), AT_COUNTER(at_counters, duration_ns),
    AT_COUNTER(at_counters, l1_hits),          AT_COUNTER(at_counters, l1_to_l2_sectors),
    AT_COUNTER(at_counters, l2_hits),          AT_COUNTER(at_counters, l2_misses),
    AT_COUNTER(at_counters, l2_to_dram_bytes), AT_COUNTER(at_counters, l2_to_l1_sectors),
    AT_COUNTER(at_counters, launches),         AT_COUNTER(at_counters, load_conflicts),
    AT_COUNTER(at_counters, load_requests),    AT_COUNTER(at_counters, load_sectors),
    AT_COUNTER(at_counters, store_conflicts),  AT_COUNTER(at_counters, store_requests),
    AT_COUNTER(at_counters, store_sectors),
};
static const struct at_schema counters_schema = AT_SCHEMA("counters", at_counters, counter_fields);

static const struct at_field fields[] = {
    AT_COUNTER(at_explanation, blocks),
    AT_COUNTER(at_explanation, blocks_counted),
    AT_CHARS(at_explanation, bound, AT_OPTIONAL),
    AT_COUNTER(at_explanation, bytes_needed, AT_OPTIONAL),
    AT_COUNTER(at_explanation, bytes_read),
    AT_COUNTER(at_explanation, bytes_written),
    AT_OBJECT(at_explanation, "caches", caches, at_explained_caches_schema),
    AT_CHARS(at_explanation, config, AT_OPTIONAL),
    AT_OBJECT(at_explanation, "counters", counters, counters_schema, AT_OPTIONAL),
    AT_CHARS(at_explanation, device),
    AT_COUNTER(at_explanation, dynamic_shared_bytes),
    AT_CHARS(at_explanation, entry, AT_OPTIONAL),
    AT_CHARS(at_explanation, family, AT_OPTIONAL),
    AT_CHARS(at_explanation, file, AT_OPTIONAL),
    AT_CHARS(at_explanation, kind),
    AT_CHARS(at_explanation, launch, AT_OPTIONAL),
    AT_OBJECTS(at_explanation, lines, 0, 1000000, line_schema),
    AT_COUNTER(at_explanation, local_requests, AT_OPTIONAL),
    AT_COUNTER(at_explanation, local_sectors, AT_OPTIONAL),
    AT_COUNTER(at_explanation, measured_ns, AT_OPTIONAL),
    AT_COUNTER(at_explanation, measured_spread_permille, AT_OPTIONAL),
    AT_COUNTER(at_explanation, occupancy_blocks),
    AT_CHARS(at_explanation, occupancy_limiter),
    AT_COUNTER(at_explanation, occupancy_percent),
    AT_COUNTER(at_explanation, predicted_ns, AT_OPTIONAL),
    AT_CHARS(at_explanation, predictions, AT_OPTIONAL),
    AT_CHARS(at_explanation, problem, AT_OPTIONAL),
    AT_COUNTER(at_explanation, registers),
    AT_COUNTER(at_explanation, result_bytes_needed, AT_OPTIONAL),
    AT_COUNTER(at_explanation, spill_bytes),
    AT_COUNTER(at_explanation, static_shared_bytes),
    AT_COUNTER(at_explanation, tail_blocks),
    AT_COUNTER(at_explanation, threads),
    AT_COUNTER(at_explanation, wave_blocks),
};
const struct at_schema at_explanation_schema = AT_SCHEMA("an explanation", at_explanation, fields);
