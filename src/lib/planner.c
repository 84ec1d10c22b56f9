/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/planner.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "device/cuda/cuda_device.h"
#include "lib/kernels.h"
#include "lib/log.h"
#include "lib/objects.h"
#include "lookup/rivals.h"
#include "measure/measurement.h"
#include "measure/race.h"
#include "profile/entry.h"
#include "space/config.h"
#include "system/cpus.h"

#include <stdio.h>
#include <string.h>

enum { ANSWERS_MAX = 1 + AT_RIVALS_MAX };

/* What is measured. Image number 0 is the harness's, the next one the looked-up config's. The
 * driver cannot compute, so a step has a kernel for its copy: the last answer. */
struct measuring {
    struct autotune_answer *answer;
    const struct autotune_budget *budget;
    int64_t deadline_ns;
    struct at_problem copied;                  /* the problem's copy */
    struct at_answer answers[ANSWERS_MAX + 1]; /* the looked-up one first */
    size_t count;                              /* of them, without the copy */
    struct at_family harness;
    struct at_config harness_config;
    struct autotune_wanted wanted[1 + ANSWERS_MAX + 1];
    struct at_compiler compiler;
    /* The caller's device, and the race on it. */
    struct at_cuda_device device;
    struct at_bench bench;
    struct at_module *modules[ANSWERS_MAX + 1];
    struct at_racer racers[ANSWERS_MAX + 1];
    struct at_race race;
};

_Static_assert(ANSWERS_MAX + 1 <= AT_RACERS_MAX, "all answers and the copy race");

static bool has_copy(const struct measuring *measuring)
{
    return measuring->copied.step.given;
}

static size_t images(const struct measuring *measuring)
{
    return 1 + measuring->count + has_copy(measuring);
}

/* Choose the kernel of the copy, if it has one. */
static enum at_status choose_copy(struct measuring *measuring, const autotune_profile *profile,
                                  struct at_error *err)
{
    struct at_answer *copy = &measuring->answers[measuring->count];
    const struct at_device_info *device = &measuring->answer->device;
    enum at_status status;

    measuring->copied = at_problem_copy_of(&measuring->answer->problem);
    if (!has_copy(measuring))
        return AT_OK;
    status = at_space_default(&copy->config, profile->families, profile->family_count,
                              &measuring->copied, device, err);
    return status == AT_OK
               ? at_config_launch(&copy->config, &measuring->copied, device, &copy->launch, err)
               : status;
}

/* The harness is compiled like a family without parameters, as the command does it. */
static enum at_status want_all(struct measuring *measuring, struct at_error *err)
{
    static char name[] = "harness", file[] = "harness.cu";

    measuring->harness.name = name;
    measuring->harness.template_path = file;
    measuring->harness_config.family = &measuring->harness;
    measuring->wanted[0].config = &measuring->harness_config;
    measuring->wanted[0].kind = (struct at_problem_kind){.elem_size = 1, .axes = 1, .rows = 1};
    for (size_t i = 0; 1 + i < images(measuring); i++) {
        measuring->wanted[1 + i].config = &measuring->answers[i].config;
        measuring->wanted[1 + i].kind = at_problem_kind(
            i < measuring->count ? &measuring->answer->problem : &measuring->copied);
    }
    return at_template_read(&measuring->harness.source, file, err);
}

/* Compiling takes at most half of the time that is left. */
static enum at_status compile(struct measuring *measuring, struct at_error *err)
{
    int64_t now_ns = at_now_ns();
    enum at_status status = want_all(measuring, err);

    return status == AT_OK ? autotune_compile_until(now_ns + (measuring->deadline_ns - now_ns) / 2,
                                                    measuring->wanted, images(measuring),
                                                    measuring->answer->device.compute_capability,
                                                    &measuring->compiler, err)
                           : status;
}

/* ---- the caller's device ---- */

static void leave_device(void *data)
{
    struct measuring *measuring = data;

    at_race_end(&measuring->race);
    for (size_t i = 0; i < AT_COUNT(measuring->modules); i++)
        if (measuring->modules[i])
            at_cuda.cuModuleUnload((CUmodule)measuring->modules[i]);
    if (measuring->bench.module)
        at_cuda.cuModuleUnload((CUmodule)measuring->bench.module);
    at_cuda_leave(&measuring->device);
}

/* The driver's memory is shared with the caller: half of what is free is left to it. */
static int64_t usable_bytes(struct measuring *measuring)
{
    int64_t free_bytes = 0, total;

    if (measuring->budget->scratch)
        return measuring->budget->scratch_bytes;
    measuring->bench.ops->memory(measuring->bench.device, &free_bytes, &total);
    return free_bytes / 2;
}

/* As many pairs of buffers as the policy wants, or as fit. */
static int64_t count_sets(struct measuring *measuring)
{
    const struct at_problem *problem = &measuring->answer->problem;
    const struct at_device_info *device = &measuring->answer->device;
    int64_t sets = measuring->budget->adapts
                       ? 1
                       : at_policy_search_sets(measuring->budget->policy, problem, device);
    int64_t usable = usable_bytes(measuring) - (1 << 16); /* for the results of checks */

    while (sets > 0 && at_buffers_bytes(problem, sets, device) > usable)
        sets = sets > 8 ? sets - sets / 8 : sets - 1;
    return sets;
}

/* Filling the buffers and verifying the first config moves the data about this often. */
enum { PASSES_PER_SET = 2, PASSES = 8 };

/* Results of blocks are compared with expected ones. For these one CPU draws the source's elements,
 * at 5 to 10 ns each, and then all compute results, at 20 to 40 ns. Measured on a Xeon with
 * 2.5 GHz. */
enum { DRAWN_NS = 8, EXPECTED_NS = 35 };

static double expected_ns(const struct at_problem *problem)
{
    double elements = (double)(problem->rows * problem->cols * at_problem_matrices(problem));
    int results = at_step_has(&problem->step, AT_BOTH) ? 2 : 1; /* of an element */

    if (!at_step_has(&problem->step, AT_BLOCKS))
        return 0;
    return elements * (DRAWN_NS + (double)results * EXPECTED_NS / at_usable_cpus());
}

/* Is half of the time enough for that, at the memory's peak? */
static bool is_time_for(const struct measuring *measuring, int64_t sets)
{
    const struct at_problem *problem = &measuring->answer->problem;
    double bytes = (double)(PASSES_PER_SET * sets + PASSES) * (double)at_problem_bytes(problem);
    double peak_B_per_ns = (double)measuring->answer->device.peak_bandwidth_MB_per_s / 1000;
    double moving_ns = peak_B_per_ns > 0 ? bytes / peak_B_per_ns : 0;

    return moving_ns + expected_ns(problem) <= (double)(measuring->deadline_ns - at_now_ns()) / 2;
}

/* Note whether this outcome has cost the context. Returns whether all is well. */
static bool is_well(struct measuring *measuring, enum at_outcome outcome)
{
    measuring->race.lost = at_outcome_loses_device(outcome);
    return outcome == AT_CORRECT;
}

/* Make a bench of the caller's context. False: without memory or time for it, or without the
 * context. */
static bool enter_device(struct measuring *measuring, struct at_error *err)
{
    const struct autotune_image *harness = &measuring->wanted[0].image;
    struct at_bench *bench = &measuring->bench;
    struct at_gpu_case wanted = {.problem = measuring->answer->problem};

    measuring->device.base.info = measuring->answer->device;
    measuring->device.scratch = measuring->budget->scratch;
    measuring->device.scratch_bytes = measuring->budget->scratch_bytes;
    if (!is_well(measuring, at_cuda_enter(&measuring->device, err)))
        return false;
    bench->device = (struct at_device *)&measuring->device;
    bench->ops = measuring->device.base.ops;
    wanted.sets = count_sets(measuring);
    return wanted.sets > 0 && is_time_for(measuring, wanted.sets) &&
           is_well(measuring, at_bench_harness(bench, harness->bytes, harness->size, err)) &&
           is_well(measuring, at_bench_prepare(bench, &wanted, 1, err));
}

/* ---- the race ---- */

/* Return which answer a racer is for. */
static size_t answer_index(const struct measuring *measuring, const struct at_racer *racer)
{
    return (size_t)((const struct at_answer *)racer->what - measuring->answers);
}

static enum at_outcome find_racer(void *owner, struct at_racer *racer, struct at_error *err)
{
    struct measuring *measuring = owner;
    const struct at_bench *bench = &measuring->bench;
    size_t index = answer_index(measuring, racer);
    const struct autotune_image *image = &measuring->wanted[1 + index].image;
    enum at_outcome outcome =
        bench->ops->load(bench->device, image->bytes, image->size, &measuring->modules[index], err);

    return outcome == AT_CORRECT ? bench->ops->find(bench->device, measuring->modules[index],
                                                    image->entry, &racer->kernel, err)
                                 : outcome;
}

static void add_racer(struct measuring *measuring, const struct at_answer *answer)
{
    struct at_racer *racer = &measuring->racers[measuring->race.count++];

    racer->what = answer;
    racer->run.problem = measuring->answer->problem;
    racer->run.launch = answer->launch;
}

/* The looked-up config, a copy for the copy limit, and the rivals that are compiled. */
static void line_up(struct measuring *measuring)
{
    struct at_race *race = &measuring->race;
    struct at_racer *copy = &measuring->racers[AT_RACE_COPY];

    *race = (struct at_race){
        .bench = &measuring->bench,
        .find = find_racer,
        .owner = measuring,
        .train_ns = measuring->budget->policy->search_train_ns,
        .racers = measuring->racers,
    };
    add_racer(measuring, &measuring->answers[0]);
    copy->run.problem = measuring->copied;
    copy->is_copy = true;
    if (has_copy(measuring)) {
        copy->what = &measuring->answers[measuring->count];
        copy->run.launch = measuring->answers[measuring->count].launch;
    }
    race->count++;
    for (size_t i = 1; i < measuring->count; i++)
        if (measuring->wanted[1 + i].image.bytes)
            add_racer(measuring, &measuring->answers[i]);
}

/* Which kernels were wrong here? Their entries say that they were right elsewhere. */
static void log_wrong(const struct measuring *measuring)
{
    for (size_t i = 0; i < measuring->race.count; i++) {
        const struct at_racer *racer = &measuring->race.racers[i];
        const struct at_config *config;
        char *text;

        if (!racer->tried || racer->outcome != AT_WRONG || racer->is_copy)
            continue;
        config = &measuring->answers[answer_index(measuring, racer)].config;
        text = at_config_format(config);
        autotune_log(AUTOTUNE_LOG_WARNING, "a config gives wrong results here: %s %s",
                     config->family->name, text);
        at_free(text);
    }
}

/* AT_DEVICE: the context cannot be used any more. Everything else that goes wrong only makes the
 * results fewer. */
static enum at_status race(struct measuring *measuring, struct at_error *err)
{
    struct at_cleanup cleanup;

    line_up(measuring);
    at_cleanup_push(&cleanup, leave_device, measuring);
    if (enter_device(measuring, err)) {
        if (measuring->budget->adapts)
            at_race_verify(&measuring->race, measuring->deadline_ns, err);
        else
            at_race_rivals(&measuring->race, measuring->deadline_ns, err);
    }
    at_cleanup_pop(&cleanup);
    leave_device(measuring);
    log_wrong(measuring);
    if (!measuring->race.lost)
        return AT_OK;
    at_fail_within(err, "measuring for a plan");
    return err->status = AT_DEVICE;
}

/* ---- what came of it ---- */

static struct at_answer fastest_answer(const struct measuring *measuring)
{
    const struct at_race *race = &measuring->race;
    const struct at_racer *looked_up = &race->racers[AT_RACE_INCUMBENT],
                          *winner = &race->racers[race->winner];
    struct at_answer answer = measuring->answers[answer_index(measuring, winner)];

    for (size_t i = 0; i < race->count; i++)
        answer.measured.configs += !race->racers[i].is_copy && race->racers[i].tried &&
                                   race->racers[i].outcome == AT_CORRECT;
    answer.measured.time_ns = at_whole_ns(at_median(winner->ns, race->rounds));
    answer.measured.looked_up_ns =
        looked_up->finished ? at_whole_ns(at_median(looked_up->ns, race->rounds)) : 0;
    return answer;
}

/* The space is not enumerated: it counts as the configs that were tried. */
static struct at_evaluations count_evaluations(const struct at_race *race)
{
    struct at_evaluations counted = {0};

    for (size_t i = 0; i < race->count; i++)
        counted.counts[race->racers[i].outcome] +=
            race->racers[i].tried && !race->racers[i].is_copy;
    counted.configs = counted.points = at_evaluations_total(&counted);
    return counted;
}

static struct at_entry entry_of(const struct measuring *measuring)
{
    const struct at_race *race = &measuring->race;
    const struct at_problem *problem = &measuring->answer->problem;
    const struct at_racer *winner = &race->racers[race->winner];
    size_t index = answer_index(measuring, winner);
    const struct at_kernel_resources *resources = &measuring->wanted[1 + index].resources;
    const struct at_timed copy = {
        .config = has_copy(measuring) ? &measuring->answers[measuring->count].config : NULL,
        .problem = problem,
        .samples_ns = race->racers[AT_RACE_COPY].ns,
        .samples = race->rounds};
    const struct at_timed timed = {
        .config = &measuring->answers[index].config,
        .problem = problem,
        .launch = &measuring->answers[index].launch,
        .kernel = {.registers = resources->registers,
                   .spill_bytes = resources->spill_bytes,
                   .shared_bytes = resources->shared_bytes},
        .samples_ns = winner->ns,
        .samples = race->rounds,
    };
    struct at_entry entry = {
        .problem = at_problem_format(problem),
        .copy = at_copy_of(&copy, &copy),
        .evaluations = count_evaluations(race),
        .search = "plan",
        .ended = AT_ENDED_BUDGET,
    };

    if (copy.config)
        entry.copy.memcpy_ns = 0; /* not timed */
    entry.winner = at_result_of(&timed, entry.copy.time_ns);
    entry.from_l2 = at_result_is_from_l2(&entry.winner, &measuring->answer->device);
    return entry;
}

static struct at_device_record record_of(const struct measuring *measuring)
{
    const struct at_policy *policy = measuring->budget->policy;
    const struct at_device_info *device = &measuring->answer->device;
    struct at_device_record record = {
        .device = *device,
        .policy = {.buffer_bytes = policy->l2_multiple * device->l2_bytes,
                   .train_ns = policy->search_train_ns,
                   .search_samples = AT_RACE_ROUNDS_MAX,
                   .shootout_samples = AT_RACE_ROUNDS_MAX},
    };
    char cuda_driver[16] = "";
    int version = 0;

    at_cuda.cuDriverGetVersion(&version);
    if (version > 0)
        snprintf(cuda_driver, sizeof cuda_driver, "%d.%d", version / 1000, version % 1000 / 10);
    record.environment = at_environment_of("", cuda_driver, &measuring->compiler);
    snprintf(record.policy.name, sizeof record.policy.name, "%s", policy->name);
    return record;
}

/* Whether a race makes sense; else the note says why not. */
static bool is_ready(const struct measuring *measuring, char note[AUTOTUNE_NOTE_CHARS])
{
    size_t rivals = 0;

    for (size_t i = 1; i < measuring->count; i++)
        rivals += measuring->wanted[1 + i].image.bytes != NULL;
    if (measuring->wanted[0].image.bytes && measuring->wanted[1].image.bytes && rivals > 0 &&
        (!has_copy(measuring) || measuring->wanted[1 + measuring->count].image.bytes))
        return true;
    snprintf(note, AUTOTUNE_NOTE_CHARS,
             "nothing: of %zu rivals and the kernels that verify or copy, %s is in the cache or "
             "was compiled in time",
             measuring->count - 1, rivals > 0 ? "not all that is needed" : "none");
    return false;
}

/* Compile, and run all on the device. *ran is false, with a note, if it makes no sense. */
static enum at_status try_all(struct measuring *measuring, const autotune_profile *profile,
                              bool *ran, char note[AUTOTUNE_NOTE_CHARS], struct at_error *err)
{
    enum at_status status = choose_copy(measuring, profile, err);

    *ran = false;
    if (status == AT_OK && measuring->count == 1)
        snprintf(note, AUTOTUNE_NOTE_CHARS,
                 "nothing: no other config has been correct on this model of device");
    if (status != AT_OK || measuring->count == 1)
        return status;
    status = compile(measuring, err);
    *ran = status == AT_OK && is_ready(measuring, note);
    return *ran ? race(measuring, err) : status;
}

static struct measuring *begin(struct autotune_answer *answer, const autotune_profile *profile,
                               const struct autotune_budget *budget)
{
    struct measuring *measuring = at_alloc(sizeof *measuring);

    measuring->answer = answer;
    measuring->budget = budget;
    measuring->deadline_ns = at_now_ns() + budget->limit_ns;
    measuring->answers[0] = answer->answer;
    measuring->count = 1 + autotune_rivals(answer, profile, &measuring->answers[1]);
    return measuring;
}

static void end(struct measuring *measuring)
{
    for (size_t i = 0; i < images(measuring); i++)
        at_free(measuring->wanted[i].image.bytes);
    at_free(measuring->harness.source);
    at_free(measuring);
}

/* Nobody won, or nothing is right. */
static enum at_status explain_none(const struct measuring *measuring,
                                   char note[AUTOTUNE_NOTE_CHARS], struct at_error *err)
{
    if (measuring->racers[AT_RACE_INCUMBENT].outcome == AT_WRONG)
        return at_fail(err, AT_FAILED,
                       "the looked-up config gives wrong results on this device, and no other "
                       "was found right in time: run autotune check --gpu, and tune this device");
    snprintf(note, AUTOTUNE_NOTE_CHARS, "nothing: too little time or device memory");
    return AT_OK;
}

enum at_status autotune_measure(struct autotune_answer *answer, const autotune_profile *profile,
                                const struct autotune_budget *budget,
                                struct autotune_learnt **learnt, char note[AUTOTUNE_NOTE_CHARS],
                                struct at_error *err)
{
    struct measuring *measuring = begin(answer, profile, budget);
    bool ran;
    enum at_status status = try_all(measuring, profile, &ran, note, err);

    if (ran && status == AT_OK && measuring->race.rounds > 0) {
        answer->answer = fastest_answer(measuring);
        *learnt = autotune_learnt_new(record_of(measuring), entry_of(measuring));
    } else if (ran && status == AT_OK) {
        status = explain_none(measuring, note, err);
    }
    end(measuring);
    return status;
}

/* ---- verified only ---- */

/* A rival that takes so many times the first one's time is not worth a launch of the caller's. */
static const double hopeless = 1.1;

/* The fastest that is right, and not `taken`; NULL: there is none. Short launches are not timed,
 * and then it is the likeliest. */
static const struct at_racer *fastest_right(const struct measuring *measuring,
                                            const bool taken[ANSWERS_MAX + 1])
{
    const struct at_racer *fastest = NULL;

    for (size_t i = 0; i < measuring->race.count; i++) {
        const struct at_racer *racer = &measuring->racers[i];

        if (!taken[i] && racer->tried && racer->outcome == AT_CORRECT &&
            (!fastest || racer->last.ns < fastest->last.ns))
            fastest = racer;
    }
    return fastest;
}

static void take_right(const struct measuring *measuring, struct autotune_verified *verified)
{
    const struct at_racer *racer = &measuring->racers[AT_RACE_INCUMBENT];
    bool taken[ANSWERS_MAX + 1] = {false};
    double limit_ns;

    if (!racer->tried || racer->outcome != AT_CORRECT)
        racer = fastest_right(measuring, taken);
    limit_ns = racer ? hopeless * racer->last.ns : 0;
    while (racer && verified->count < AUTOTUNE_VERIFIED_MAX && racer->last.ns <= limit_ns) {
        taken[racer - measuring->racers] = true;
        verified->answers[verified->count++] = measuring->answers[answer_index(measuring, racer)];
        racer = fastest_right(measuring, taken);
    }
}

enum at_status autotune_verify(struct autotune_answer *answer, const autotune_profile *profile,
                               const struct autotune_budget *budget,
                               struct autotune_verified *verified, char note[AUTOTUNE_NOTE_CHARS],
                               struct at_error *err)
{
    struct measuring *measuring = begin(answer, profile, budget);
    bool ran;
    enum at_status status = try_all(measuring, profile, &ran, note, err);

    verified->count = 0;
    if (ran && status == AT_OK)
        take_right(measuring, verified);
    if (verified->count > 0)
        answer->answer = verified->answers[0];
    if (verified->count == 1)
        snprintf(note, AUTOTUNE_NOTE_CHARS, "nothing: no rival is nearly as fast");
    else if (verified->count == 0 && ran && status == AT_OK)
        status = explain_none(measuring, note, err);
    end(measuring);
    return status;
}
