/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a sample and verifies it. */
#include "base/memory.h"
#include "measure/verify.h"
#include "pipeline/cases.h"
#include "pipeline/session.h"
#include "verify-families.h"

#include <stdio.h>
#include <stdlib.h>

/* Add all configs before waiting for the first, so that they share few programs: under
 * compute-sanitizer each loaded program costs time. */
void compile_sample(struct at_builder *builder, struct sample *sample)
{
    struct at_error err;

    for (size_t i = 0; i < sample->count; i++)
        at_builder_add(builder, &sample->items[i].config,
                       at_problem_kind(&sample->items[i].place->problem), &sample->items[i]);
    require(at_builder_start_workers(builder, &err), &err);
    while (at_builder_pending(builder) > 0) {
        struct at_built built;

        require(at_builder_wait(builder, &built, &err), &err);
        ((struct drawn *)built.owner)->built = built;
    }
}

/* The loaded program; NULL if none is loaded. */
struct loaded {
    const struct at_program *program;
    struct at_module *module;
};

static void unload(struct loaded *loaded, struct at_bench *bench)
{
    if (loaded->program)
        bench->ops->unload(bench->device, loaded->module);
    loaded->program = NULL;
}

static enum at_outcome find_kernel(struct loaded *loaded, struct at_bench *bench,
                                   const struct at_built *built, struct at_kernel *kernel,
                                   struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;

    *kernel = (struct at_kernel){
        .registers = built->resources.registers,
        .local_bytes = built->resources.spill_bytes,
        .shared_bytes = built->resources.shared_bytes,
    };
    if (loaded->program != built->program) {
        unload(loaded, bench);
        outcome = bench->ops->load(bench->device, built->program->image, built->program->size,
                                   &loaded->module, err);
    }
    if (outcome != AT_CORRECT)
        return outcome;
    loaded->program = built->program;
    return bench->ops->find(bench->device, loaded->module, built->entry, kernel, err);
}

static const struct at_device_info *device_info(const struct at_bench *bench)
{
    return &((const struct at_device_base *)bench->device)->info;
}

/* Verify as a search does: on the cases that are legal for the config, and on the problem itself.
 */
static enum at_outcome verify(struct drawn *drawn, const struct at_kernel *kernel,
                              struct at_error *err)
{
    struct place *place = drawn->place;
    const struct at_device_info *info = device_info(&place->bench);
    struct at_gpu_run run = {.problem = place->problem};
    struct at_gpu_trial trials[AT_VERIFICATION_CASES_MAX];
    size_t trial_count;
    enum at_outcome outcome;

    require(at_config_launch(&drawn->config, &place->problem, info, &run.launch, err), err);
    require(at_cases_trials(&drawn->config, info, place->cases, place->case_count, true, trials,
                            &trial_count, err),
            err);
    outcome = at_verify_before(&place->bench, kernel, &run, trials, trial_count, NULL, err);
    return outcome == AT_CORRECT ? at_verify_left(&place->bench, kernel, &run, true, err) : outcome;
}

static enum at_outcome verify_one(struct drawn *drawn, struct loaded *loaded, struct at_error *err)
{
    struct at_kernel kernel;
    enum at_outcome outcome = drawn->built.outcome;

    if (outcome == AT_CORRECT)
        outcome = find_kernel(loaded, &drawn->place->bench, &drawn->built, &kernel, err);
    else
        at_fail(err, AT_FAILED, "%s", drawn->built.message);
    return outcome == AT_CORRECT ? verify(drawn, &kernel, err) : outcome;
}

static void report(const struct drawn *drawn, enum at_outcome outcome, const struct at_error *err)
{
    char *config = at_config_format(&drawn->config);
    char *problem = at_problem_format(&drawn->place->problem);

    printf("%s %s for %s: %s: %s\n", drawn->config.family->name, config, problem,
           at_outcome_names[outcome], err->message);
    free(problem);
    free(config);
}

/* Wait for the kernel and restore the buffers, so that its faults do not hit the next one. */
static enum at_outcome clean_up(struct place *places, size_t place_count)
{
    const struct at_bench *bench = &places[0].bench;
    struct at_error err;
    enum at_outcome outcome = bench->ops->wait(bench->device, &err);

    for (size_t i = 0; i < place_count && outcome == AT_CORRECT; i++)
        outcome = at_bench_refill(&places[i].bench, &err);
    return outcome;
}

void verify_sample(struct sample *sample, struct place *places, size_t place_count)
{
    static struct loaded loaded; /* static: on a lost device it cannot be unloaded */
    bool lost = false;

    for (size_t i = 0; i < sample->count && !lost; i++) {
        struct at_error err = {AT_OK, ""};
        enum at_outcome outcome = verify_one(&sample->items[i], &loaded, &err);

        sample->verified++;
        if (outcome == AT_CORRECT)
            continue;
        report(&sample->items[i], outcome, &err);
        sample->wrong++;
        lost = at_outcome_loses_device(outcome) ||
               at_outcome_loses_device(clean_up(places, place_count));
        if (lost)
            printf("the device is lost: %zu configs were not looked at\n", sample->count - i - 1);
    }
    if (!lost)
        unload(&loaded, &places[0].bench);
}
