/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates one config, times several against each other, and reads the counters of one. */
#include "base/memory.h"
#include "base/stats.h"
#include "measure/gpu_server.h"
#include "measure/limits.h"
#include "measure/sampling.h"

#include <stdlib.h>

/* Find the kernel of a run. The driver's copy has none: *kernel becomes NULL. */
static enum at_outcome find_kernel(struct at_gpu_server *server, const struct at_gpu_run *run,
                                   struct at_kernel *storage, const struct at_kernel **kernel,
                                   struct at_error *err)
{
    struct at_loaded_program *program;
    enum at_outcome outcome;

    *kernel = NULL;
    if (!run->program[0])
        return AT_CORRECT;
    program = at_gpu_server_find(server, run->program);
    if (!program)
        return at_fail(err, AT_INTERNAL, "the program was not loaded"), AT_LAUNCH;
    *storage = (struct at_kernel){
        .registers = run->compiled.registers,
        .local_bytes = run->compiled.spill_bytes,
        .shared_bytes = run->compiled.shared_bytes,
    };
    outcome =
        server->bench.ops->find(server->bench.device, program->module, run->entry, storage, err);
    if (outcome == AT_CORRECT)
        *kernel = storage;
    return outcome;
}

enum { HOPELESS_SAMPLES = 1, RUNS_MAX = 64, TRIALS_MAX = AT_CASES_MAX };

/* Heat and a failing power supply slow the memory too, which no multiprocessor clock shows. If NVML
 * has counted such time since the last look, the kernel's samples are taken again, this many times
 * at most. */
enum { SLOWED_TRIES = 3 };

static enum at_outcome take_samples(struct at_gpu_server *server, const struct at_sampling *wanted,
                                    struct at_train_time *samples, int64_t *taken,
                                    struct at_error *err)
{
    enum at_outcome outcome = at_sample(&server->bench, wanted, samples, taken, err);

    for (int i = 0; outcome == AT_CORRECT && i < SLOWED_TRIES; i++) {
        if (!at_gpu_server_note_conditions(server))
            break;
        server->bench.discarded += *taken;
        outcome = at_sample(&server->bench, wanted, samples, taken, err);
    }
    return outcome;
}

/* The first launch of a kernel may wait for the driver, for some 100 us: no kernel this many times
 * slower than a hopeless one is wronged. */
static const double give_up_factor = 3;

static bool is_hopeless(const struct at_gpu_timing *timing, double launch_ns)
{
    return timing->hopeless_ns > 0 && launch_ns > (double)timing->hopeless_ns;
}

/* Take samples of a kernel whose launch takes about launch_ns. */
static enum at_outcome time_run(struct at_gpu_server *server, const struct at_kernel *kernel,
                                const struct at_gpu_run *run, const struct at_gpu_timing *timing,
                                double launch_ns, struct at_train_time *samples, int64_t *taken,
                                struct at_error *err)
{
    struct at_bench *bench = &server->bench;
    struct at_sampling wanted = {.best_ns = timing->best_ns};
    bool hopeless = is_hopeless(timing, launch_ns);
    enum at_outcome outcome =
        at_train_build(bench, kernel, run, launch_ns, hopeless ? 0 : timing->train_ns,
                       &wanted.train, &wanted.launches, err);
    if (outcome != AT_CORRECT)
        return outcome;
    wanted.samples = hopeless ? HOPELESS_SAMPLES : timing->samples;
    outcome = take_samples(server, &wanted, samples, taken, err);
    if (!at_outcome_loses_device(outcome))
        bench->ops->free_train(bench->device, wanted.train);
    return outcome;
}

/* The request for an evaluation. */
struct evaluation {
    struct at_gpu_run run;
    struct at_gpu_timing timing;
    struct at_gpu_trial trials[TRIALS_MAX];
    size_t trial_count;
};

static enum at_outcome read_evaluation(const struct at_gpu_server *server, struct at_wire *request,
                                       struct evaluation *evaluation, struct at_error *err)
{
    at_wire_get_struct(request, &evaluation->run, sizeof evaluation->run);
    at_wire_get_struct(request, &evaluation->timing, sizeof evaluation->timing);
    evaluation->trial_count = at_wire_get_count(request, sizeof evaluation->trials[0]);
    if (evaluation->trial_count <= TRIALS_MAX)
        for (size_t i = 0; i < evaluation->trial_count; i++)
            at_wire_get_struct(request, &evaluation->trials[i], sizeof evaluation->trials[i]);
    if (at_wire_done(request) && evaluation->timing.samples <= AT_SAMPLES_MAX &&
        server->bench.case_count > 0)
        return AT_CORRECT;
    at_fail(err, AT_INTERNAL, "a request out of bounds");
    return AT_LAUNCH;
}

/* The time limit of the repeated verification: a large problem is verified less often than
 * requested. */
static const int64_t often_ns = 333000000;

/* Time a kernel whose launch took launch_ns while it was verified; 0: unknown. */
static enum at_outcome time_verified(struct at_gpu_server *server, const struct at_kernel *kernel,
                                     const struct evaluation *evaluation, double launch_ns,
                                     struct at_train_time *samples, int64_t *taken,
                                     struct at_error *err)
{
    struct at_bench *bench = &server->bench;
    const struct at_gpu_run *run = &evaluation->run;
    const struct at_gpu_timing *timing = &evaluation->timing;
    struct at_train_time launch = {launch_ns, -1};
    enum at_outcome outcome = AT_CORRECT;

    if (launch_ns == 0)
        outcome = at_train_estimate(bench, kernel, run, &launch, err);
    if (outcome != AT_CORRECT)
        return outcome;
    if (is_hopeless(timing, launch_ns)) {
        samples[0] = launch;
        *taken = 1;
        return at_verify_sources(bench, run, err);
    }
    outcome = time_run(server, kernel, run, timing, launch.ns, samples, taken, err);
    if (outcome == AT_CORRECT)
        outcome = at_verify_after(bench, run, err);
    return outcome == AT_CORRECT
               ? at_verify_often(bench, kernel, run, timing->verify_more, often_ns, err)
               : outcome;
}

static enum at_outcome verify_and_time(struct at_gpu_server *server,
                                       const struct evaluation *evaluation,
                                       struct at_kernel *kernel, struct at_train_time *samples,
                                       int64_t *taken, struct at_error *err)
{
    struct at_verified_launch launch = {.give_up_ns = give_up_factor *
                                                      (double)evaluation->timing.hopeless_ns};
    const struct at_kernel *found;
    enum at_outcome outcome = find_kernel(server, &evaluation->run, kernel, &found, err);

    if (outcome == AT_CORRECT)
        outcome = at_verify_before(&server->bench, found, &evaluation->run, evaluation->trials,
                                   evaluation->trial_count, &launch, err);
    if (outcome == AT_CORRECT)
        outcome = time_verified(server, found, evaluation, launch.ns, samples, taken, err);
    return outcome;
}

/* After a failure, wait for what is still running, so that its end is not blamed on the next
 * config. Refill the buffers, which it may have overwritten. */
static enum at_outcome clean_up(struct at_bench *bench, enum at_outcome outcome,
                                struct at_error *err)
{
    struct at_error late;
    enum at_outcome cleaned = bench->ops->wait(bench->device, &late);

    if (cleaned == AT_CORRECT)
        cleaned = at_bench_refill(bench, &late);
    if (!at_outcome_loses_device(cleaned))
        return outcome;
    *err = late;
    return cleaned;
}

static void put_kernel(struct at_wire *reply, const struct at_kernel *kernel, int64_t clock_sm_khz,
                       int64_t clock_memory_khz, struct at_look look)
{
    const struct at_gpu_kernel figures = {kernel->registers,    kernel->local_bytes,
                                          kernel->shared_bytes, clock_sm_khz,
                                          clock_memory_khz,     look};

    at_wire_put_bytes(reply, &figures, sizeof figures);
}

/* The median of the clocks that are known; 0: none is. */
static int64_t median_clock_khz(const struct at_train_time *samples, int64_t count)
{
    double khz[AT_SAMPLES_MAX];
    size_t known = 0;

    for (int64_t i = 0; i < count; i++)
        if (samples[i].clock_sm_khz > 0)
            khz[known++] = (double)samples[i].clock_sm_khz;
    return known > 0 ? (int64_t)at_median(khz, known) : 0;
}

struct at_gpu_result at_gpu_server_evaluate(struct at_gpu_server *server,
                                            struct at_exchange *exchange)
{
    struct at_taken_program program;
    struct evaluation evaluation;
    struct at_kernel kernel = {0};
    struct at_train_time samples[AT_SAMPLES_MAX];
    int64_t taken = 0;
    enum at_outcome outcome = at_gpu_server_take_program(server, exchange, &program);

    if (outcome == AT_CORRECT)
        outcome = read_evaluation(server, exchange->request, &evaluation, exchange->err);
    if (outcome == AT_CORRECT)
        outcome = verify_and_time(server, &evaluation, &kernel, samples, &taken, exchange->err);
    if (outcome != AT_CORRECT && !at_outcome_loses_device(outcome))
        outcome = clean_up(&server->bench, outcome, exchange->err);
    if (outcome != AT_CORRECT) {
        if (program.brought && !at_outcome_loses_device(outcome))
            at_gpu_server_unload(server, program.name);
        return at_gpu_result_of_outcome(outcome);
    }
    at_gpu_server_put_conditions(server, exchange->reply);
    put_kernel(exchange->reply, &kernel, median_clock_khz(samples, taken),
               server->clock_memory_khz > 0 ? server->clock_memory_khz : 0, server->look);
    at_wire_put_int(exchange->reply, taken);
    for (int64_t i = 0; i < taken; i++)
        at_wire_put_real(exchange->reply, samples[i].ns);
    return at_gpu_result_of_outcome(AT_CORRECT);
}

/* A finalist: its train and its samples. */
struct finalist {
    struct at_gpu_run run;
    struct at_kernel kernel; /* zeroes for the driver's copy */
    struct at_train *train;
    int64_t launches;
    int64_t again; /* samples that may still be discarded */
    double ns[AT_SAMPLES_MAX], khz[AT_SAMPLES_MAX];
};

/* Take samples in rounds, one per finalist per round, so that drifting clocks or memory affect all
 * alike. Every other round runs backwards, so that no finalist always follows the same one. The
 * first round is a warm-up and is overwritten by the next. */
static enum at_outcome take_rounds(struct at_gpu_server *server, struct finalist *finalists,
                                   size_t count, int64_t samples, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;

    for (int64_t round = -1; round < samples && outcome == AT_CORRECT; round++)
        for (size_t i = 0; i < count && outcome == AT_CORRECT; i++) {
            struct finalist *finalist = &finalists[round % 2 ? count - 1 - i : i];
            struct at_train_time sample = {0};

            outcome = at_sample_once(&server->bench, finalist->train, finalist->launches,
                                     &finalist->again, &sample, err);
            finalist->ns[round < 0 ? 0 : round] = sample.ns;
            finalist->khz[round < 0 ? 0 : round] = (double)sample.clock_sm_khz;
        }
    at_gpu_server_note_conditions(server);
    return outcome;
}

static enum at_outcome make_finalist(struct at_gpu_server *server, struct finalist *finalist,
                                     int64_t train_ns, struct at_error *err)
{
    const struct at_kernel *kernel;
    struct at_train_time launch = {0};
    enum at_outcome outcome = find_kernel(server, &finalist->run, &finalist->kernel, &kernel, err);

    if (outcome == AT_CORRECT)
        outcome = at_train_estimate(&server->bench, kernel, &finalist->run, &launch, err);
    if (outcome == AT_CORRECT)
        outcome = at_train_build(&server->bench, kernel, &finalist->run, launch.ns, train_ns,
                                 &finalist->train, &finalist->launches, err);
    return outcome;
}

static enum at_outcome hold_shootout(struct at_gpu_server *server, struct finalist *finalists,
                                     size_t count, int64_t train_ns, int64_t samples,
                                     struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = 0; i < count && outcome == AT_CORRECT; i++) {
        finalists[i].again = samples;
        outcome = make_finalist(server, &finalists[i], train_ns, err);
    }
    if (outcome == AT_CORRECT)
        outcome = take_rounds(server, finalists, count, samples, err);
    if (!at_outcome_loses_device(outcome))
        for (size_t i = 0; i < count; i++)
            server->bench.ops->free_train(server->bench.device, finalists[i].train);
    return outcome;
}

static void put_rounds(struct at_gpu_server *server, const struct finalist *finalists, size_t count,
                       int64_t samples, struct at_wire *reply)
{
    at_gpu_server_put_conditions(server, reply);
    for (size_t i = 0; i < count; i++) {
        double khz = samples > 0 ? at_median(finalists[i].khz, (size_t)samples) : 0;

        put_kernel(reply, &finalists[i].kernel, khz > 0 ? (int64_t)khz : 0, 0, (struct at_look){0});
        for (int64_t j = 0; j < samples; j++)
            at_wire_put_real(reply, finalists[i].ns[j]);
    }
}

struct at_gpu_result at_gpu_server_shootout(struct at_gpu_server *server,
                                            struct at_exchange *exchange)
{
    int64_t train_ns = at_wire_get_int(exchange->request);
    int64_t samples = at_wire_get_int(exchange->request);
    size_t count = at_wire_get_count(exchange->request, sizeof(struct at_gpu_run));
    struct finalist *finalists;
    enum at_outcome outcome;

    if (count > RUNS_MAX || samples > AT_SAMPLES_MAX || server->bench.case_count == 0)
        return at_gpu_result_of_status(
            at_fail(exchange->err, AT_INTERNAL, "a request out of bounds"));
    finalists = at_alloc_array(count, sizeof *finalists);
    for (size_t i = 0; i < count; i++)
        at_wire_get_struct(exchange->request, &finalists[i].run, sizeof finalists[i].run);
    outcome = hold_shootout(server, finalists, count, train_ns, samples, exchange->err);
    if (outcome == AT_CORRECT) /* after a failure the next reply has them */
        put_rounds(server, finalists, count, samples, exchange->reply);
    free(finalists);
    return at_gpu_result_of_outcome(outcome);
}

struct at_gpu_result at_gpu_server_count(struct at_gpu_server *server, struct at_exchange *exchange)
{
    struct at_bench *bench = &server->bench;
    struct at_taken_program program;
    struct at_gpu_run run;
    struct at_kernel storage;
    const struct at_kernel *kernel = NULL;
    struct at_counters counters;
    struct at_call call;
    enum at_outcome outcome = at_gpu_server_take_program(server, exchange, &program);

    if (outcome != AT_CORRECT)
        return at_gpu_result_of_outcome(outcome);
    at_wire_get_struct(exchange->request, &run, sizeof run);
    if (!at_wire_done(exchange->request) || !run.program[0] || bench->case_count == 0)
        return at_gpu_result_of_status(
            at_fail(exchange->err, AT_INTERNAL, "a request out of bounds"));
    if (!bench->ops->count)
        return at_gpu_result_of_status(
            at_fail(exchange->err, AT_DEVICE, "this device has no counters"));
    outcome = find_kernel(server, &run, &storage, &kernel, exchange->err);
    if (outcome == AT_CORRECT) {
        call = at_bench_call(bench, kernel, &run, 0);
        outcome = bench->ops->count(bench->device, &call, &counters, exchange->err);
    }
    if (outcome == AT_CORRECT)
        at_wire_put_bytes(exchange->reply, &counters, sizeof counters);
    return at_gpu_result_of_outcome(outcome);
}
