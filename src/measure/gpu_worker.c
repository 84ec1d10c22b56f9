/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/gpu_worker.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "device/cuda/cuda_device.h"
#include "emulated/device/emulated.h"
#include "measure/race.h"
#include "measure/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- programs ---- */

static struct at_loaded_program *find_program(struct at_gpu_server *server, const char *name)
{
    for (size_t i = 0; i < server->program_count; i++)
        if (strcmp(server->programs[i].name, name) == 0)
            return &server->programs[i];
    return NULL;
}

static enum at_outcome load_program(struct at_gpu_server *server, const char *name,
                                    const void *image, size_t size, struct at_error *err)
{
    struct at_loaded_program program = {0};
    enum at_outcome outcome;

    if (find_program(server, name))
        return AT_CORRECT;
    snprintf(program.name, sizeof program.name, "%s", name);
    outcome = server->bench.ops->load(server->bench.device, image, size, &program.module, err);
    if (outcome == AT_CORRECT)
        AT_PUSH(server->programs, server->program_count, server->program_capacity, program);
    return outcome;
}

static void unload_program(struct at_gpu_server *server, const char *name)
{
    struct at_loaded_program *program = find_program(server, name);

    if (!program)
        return;
    server->bench.ops->unload(server->bench.device, program->module);
    *program = server->programs[--server->program_count];
}

/* A program of a request. */
struct taken_program {
    char name[40];
    bool brought; /* the request had its image */
};

/* Read a program from the request, and load it if its image was sent. */
static enum at_outcome take_program(struct at_gpu_server *server, struct at_exchange *exchange,
                                    struct taken_program *taken)
{
    char unload[sizeof taken->name];
    size_t size;
    const void *image;

    at_wire_get_text(exchange->request, taken->name, sizeof taken->name);
    at_wire_get_text(exchange->request, unload, sizeof unload);
    image = at_wire_get_bytes(exchange->request, &size);
    unload_program(server, unload);
    taken->brought = size > 0;
    if (!taken->brought)
        return AT_CORRECT;
    return load_program(server, taken->name, image, size, exchange->err);
}

/* ---- conditions ---- */

/* NVML takes milliseconds to answer, or tens of them while other processes ask it about other GPUs
 * of the machine. So it is not asked after every config, and less often the longer it takes. */
static const int64_t conditions_interval_ns = 100000000;
enum { CONDITIONS_SHARE = 30 }; /* at most 1/30 of the time */

/* How far a counter advanced, if both readings are known. */
static int64_t advance(int64_t from, int64_t to)
{
    return from >= 0 && to > from ? to - from : 0;
}

static struct at_look look_of(const struct at_device_state *now)
{
    return (struct at_look){
        .power_mw = now->power_mw > 0 ? now->power_mw : 0,
        .temperature_c = now->temperature_c > 0 ? now->temperature_c : 0,
        .throttle_known = now->throttle_known,
        .throttle = now->throttle_known ? now->throttle : 0,
    };
}

bool at_gpu_server_note_conditions(struct at_gpu_server *server)
{
    struct at_device_state now;
    int64_t began_ns = at_now_ns(), pause_ns, slowed_ns;

    if (began_ns < server->conditions_due_ns)
        return false;
    server->bench.ops->state(server->bench.device, &now);
    pause_ns = CONDITIONS_SHARE * (at_now_ns() - began_ns);
    server->conditions_due_ns =
        began_ns + (pause_ns > conditions_interval_ns ? pause_ns : conditions_interval_ns);
    slowed_ns = advance(server->last.slowed_ns, now.slowed_ns);
    server->conditions.slowed_ns += slowed_ns;
    server->conditions.capped_ns += advance(server->last.capped_ns, now.capped_ns);
    server->last = now;
    server->clock_memory_khz = now.clock_memory_khz;
    server->look = look_of(&now);
    at_gpu_conditions_widen(&server->conditions, &(struct at_gpu_conditions){
                                                     .clock_sm_min_khz = now.clock_sm_khz,
                                                     .clock_sm_max_khz = now.clock_sm_khz,
                                                     .clock_memory_khz = now.clock_memory_khz,
                                                     .power_max_mW = now.power_mw,
                                                     .temperature_max_c = now.temperature_c,
                                                     .other_processes = now.other_processes,
                                                     .throttle_known = now.throttle_known,
                                                     .throttle = now.throttle,
                                                 });
    return slowed_ns > 0;
}

/* Add the time since the request began. A request without figures is reported with the next one
 * that has some. */
static void note_busy(struct at_gpu_server *server)
{
    int64_t now_ns = at_now_ns();

    server->conditions.busy_ns += now_ns - server->began_ns;
    server->began_ns = now_ns;
}

void at_gpu_server_put_conditions(struct at_gpu_server *server, struct at_wire *reply)
{
    struct at_gpu_conditions *seen = &server->conditions;

    if (server->bench.clocks.count > 0)
        at_gpu_conditions_widen(seen, &(struct at_gpu_conditions){
                                          .clock_sm_min_khz = server->bench.clocks.least_khz,
                                          .clock_sm_max_khz = server->bench.clocks.most_khz,
                                          .clock_memory_khz = -1,
                                          .power_max_mW = -1,
                                          .temperature_max_c = -1,
                                          .other_processes = -1,
                                      });
    seen->discarded = server->bench.discarded;
    at_gpu_conditions_discount(seen, at_turn_others_open(server->turn));
    note_busy(server);
    at_wire_put_bytes(reply, seen, sizeof *seen);
    server->bench.discarded = 0;
    seen->capped_ns = seen->slowed_ns = seen->busy_ns = 0;
}

/* ---- evaluations ---- */

/* The driver's copy has no kernel. */
static bool is_copy(const struct at_gpu_run *run)
{
    return !run->program[0];
}

/* Find the kernel of a run. That of the driver's copy remains zeroes. */
static enum at_outcome find_kernel(struct at_gpu_server *server, const struct at_gpu_run *run,
                                   struct at_kernel *kernel, struct at_error *err)
{
    struct at_loaded_program *program = find_program(server, run->program);

    *kernel = (struct at_kernel){0};
    if (is_copy(run))
        return AT_CORRECT;
    if (!program)
        return at_fail(err, AT_INTERNAL, "the program was not loaded"), AT_LAUNCH;
    *kernel = (struct at_kernel){
        .registers = run->compiled.registers,
        .local_bytes = run->compiled.spill_bytes,
        .shared_bytes = run->compiled.shared_bytes,
    };
    return server->bench.ops->find(server->bench.device, program->module, run->entry, kernel, err);
}

/* An evaluation: its request, and what comes of it. */
struct evaluation {
    struct at_gpu_run run;
    struct at_gpu_timing timing;
    struct at_gpu_trial trials[AT_CASES_MAX];
    size_t trial_count;
    struct at_kernel kernel; /* zeroes for the driver's copy */
    struct at_train_time samples[AT_SAMPLES_MAX];
    int64_t taken; /* samples */
};

static const struct at_kernel *kernel_of(const struct evaluation *evaluation)
{
    return is_copy(&evaluation->run) ? NULL : &evaluation->kernel;
}

static enum at_outcome read_evaluation(const struct at_gpu_server *server, struct at_wire *request,
                                       struct evaluation *evaluation, struct at_error *err)
{
    at_wire_get_struct(request, &evaluation->run, sizeof evaluation->run);
    at_wire_get_struct(request, &evaluation->timing, sizeof evaluation->timing);
    evaluation->trial_count = at_wire_get_count(request, sizeof evaluation->trials[0]);
    if (evaluation->trial_count <= AT_CASES_MAX)
        for (size_t i = 0; i < evaluation->trial_count; i++)
            at_wire_get_struct(request, &evaluation->trials[i], sizeof evaluation->trials[i]);
    if (at_wire_done(request) && evaluation->timing.samples <= AT_SAMPLES_MAX &&
        server->bench.case_count > 0)
        return AT_CORRECT;
    at_fail(err, AT_INTERNAL, "a request out of bounds");
    return AT_LAUNCH;
}

/* Heat and a failing power supply slow the memory too, which no multiprocessor clock shows. If NVML
 * has counted such time since the last look, the kernel's samples are taken again, this many times
 * at most. */
enum { SLOWED_TRIES = 3 };

static enum at_outcome take_samples(struct at_gpu_server *server, struct evaluation *evaluation,
                                    const struct at_sampling *wanted, struct at_error *err)
{
    enum at_outcome outcome =
        at_sample(&server->bench, wanted, evaluation->samples, &evaluation->taken, err);

    for (int i = 0; outcome == AT_CORRECT && i < SLOWED_TRIES; i++) {
        if (!at_gpu_server_note_conditions(server))
            break;
        server->bench.discarded += evaluation->taken;
        outcome = at_sample(&server->bench, wanted, evaluation->samples, &evaluation->taken, err);
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

/* Take samples of a kernel whose launch takes about launch_ns; of a hopeless one a single launch.
 */
static enum at_outcome time_run(struct at_gpu_server *server, struct evaluation *evaluation,
                                double launch_ns, struct at_error *err)
{
    struct at_bench *bench = &server->bench;
    const struct at_gpu_timing *timing = &evaluation->timing;
    bool hopeless = is_hopeless(timing, launch_ns);
    struct at_sampling wanted = {.samples = hopeless ? 1 : timing->samples,
                                 .best_ns = timing->best_ns};
    enum at_outcome outcome =
        at_train_build(bench, kernel_of(evaluation), &evaluation->run, launch_ns,
                       hopeless ? 0 : timing->train_ns, &wanted.launches, err);

    if (outcome != AT_CORRECT)
        return outcome;
    outcome = take_samples(server, evaluation, &wanted, err);
    if (!at_outcome_loses_device(outcome))
        bench->ops->free_train(bench->device, wanted.launches.train);
    return outcome;
}

/* The time limit of the repeated verification: a large problem is verified less often than
 * requested. */
static const int64_t often_ns = 333000000;

/* Time a kernel whose launch took launch_ns while it was verified; 0: unknown. */
static enum at_outcome time_verified(struct at_gpu_server *server, struct evaluation *evaluation,
                                     double launch_ns, struct at_error *err)
{
    struct at_bench *bench = &server->bench;
    const struct at_kernel *kernel = kernel_of(evaluation);
    const struct at_gpu_run *run = &evaluation->run;
    struct at_train_time launch = {launch_ns, -1};
    enum at_outcome outcome = AT_CORRECT;

    if (launch_ns == 0)
        outcome = at_train_estimate(bench, kernel, run, &launch, err);
    if (outcome != AT_CORRECT)
        return outcome;
    if (is_hopeless(&evaluation->timing, launch_ns)) {
        evaluation->samples[0] = launch;
        evaluation->taken = 1;
        return at_verify_left(bench, kernel, run, false, err);
    }
    outcome = time_run(server, evaluation, launch.ns, err);
    if (evaluation->timing.in_trials)
        return outcome;
    if (outcome == AT_CORRECT)
        outcome = at_verify_left(bench, kernel, run, true, err);
    return outcome == AT_CORRECT
               ? at_verify_often(bench, kernel, run, evaluation->timing.verify_more, often_ns, err)
               : outcome;
}

static enum at_outcome verify_and_time(struct at_gpu_server *server, struct evaluation *evaluation,
                                       struct at_error *err)
{
    struct at_verified_launch launch = {.give_up_ns =
                                            give_up_factor * (double)evaluation->timing.hopeless_ns,
                                        .in_trials = evaluation->timing.in_trials};
    enum at_outcome outcome = find_kernel(server, &evaluation->run, &evaluation->kernel, err);

    if (outcome == AT_CORRECT)
        outcome = at_verify_before(&server->bench, kernel_of(evaluation), &evaluation->run,
                                   evaluation->trials, evaluation->trial_count, &launch, err);
    return outcome == AT_CORRECT ? time_verified(server, evaluation, launch.ns, err) : outcome;
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

static struct at_gpu_result evaluate(struct at_gpu_server *server, struct at_exchange *exchange)
{
    struct taken_program program;
    struct evaluation evaluation = {.taken = 0};
    enum at_outcome outcome = take_program(server, exchange, &program);

    if (outcome == AT_CORRECT)
        outcome = read_evaluation(server, exchange->request, &evaluation, exchange->err);
    if (outcome == AT_CORRECT)
        outcome = verify_and_time(server, &evaluation, exchange->err);
    if (outcome != AT_CORRECT && !at_outcome_loses_device(outcome))
        outcome = clean_up(&server->bench, outcome, exchange->err);
    if (outcome != AT_CORRECT) {
        if (program.brought && !at_outcome_loses_device(outcome))
            unload_program(server, program.name);
        return at_gpu_result_of_outcome(outcome);
    }
    at_gpu_server_put_conditions(server, exchange->reply);
    put_kernel(exchange->reply, &evaluation.kernel,
               median_clock_khz(evaluation.samples, evaluation.taken),
               server->clock_memory_khz > 0 ? server->clock_memory_khz : 0, server->look);
    at_wire_put_int(exchange->reply, evaluation.taken);
    for (int64_t i = 0; i < evaluation.taken; i++)
        at_wire_put_real(exchange->reply, evaluation.samples[i].ns);
    return at_gpu_result_of_outcome(AT_CORRECT);
}

/* ---- shoot-outs ---- */

static enum at_outcome find_racer(void *server, struct at_racer *racer, struct at_error *err)
{
    return find_kernel(server, &racer->run, &racer->kernel, err);
}

static void put_race(struct at_gpu_server *server, const struct at_race *race,
                     struct at_wire *reply)
{
    at_gpu_server_put_conditions(server, reply);
    for (size_t i = 0; i < race->count; i++) {
        const struct at_racer *racer = &race->racers[i];
        double khz = race->rounds > 0 ? at_median(racer->khz, race->rounds) : 0;

        put_kernel(reply, &racer->kernel, khz > 0 ? (int64_t)khz : 0, 0, (struct at_look){0});
        for (size_t j = 0; j < race->rounds; j++)
            at_wire_put_real(reply, racer->ns[j]);
    }
}

struct at_gpu_result at_gpu_server_shootout(struct at_gpu_server *server,
                                            struct at_exchange *exchange)
{
    struct at_race race = {.bench = &server->bench,
                           .find = find_racer,
                           .owner = server,
                           .train_ns = at_wire_get_int(exchange->request)};
    int64_t rounds = at_wire_get_int(exchange->request);
    enum at_outcome outcome;

    race.count = at_wire_get_count(exchange->request, sizeof(struct at_gpu_run));
    if (race.count > AT_RACERS_MAX || rounds < 0 || rounds > AT_SAMPLES_MAX ||
        server->bench.case_count == 0)
        return at_gpu_result_of_status(
            at_fail(exchange->err, AT_INTERNAL, "a request out of bounds"));
    race.racers = at_alloc_array(race.count, sizeof *race.racers);
    for (size_t i = 0; i < race.count; i++) {
        struct at_racer *racer = &race.racers[i];

        at_wire_get_struct(exchange->request, &racer->run, sizeof racer->run);
        racer->is_copy = is_copy(&racer->run);
    }
    outcome = at_race_all(&race, (size_t)rounds, exchange->err);
    at_gpu_server_note_conditions(server);
    if (!race.lost)
        at_race_end(&race);
    if (outcome == AT_CORRECT) /* after a failure the next reply has them */
        put_race(server, &race, exchange->reply);
    free(race.racers);
    return at_gpu_result_of_outcome(outcome);
}

/* ---- counters ---- */

static struct at_gpu_result count(struct at_gpu_server *server, struct at_exchange *exchange)
{
    struct at_bench *bench = &server->bench;
    struct taken_program program;
    struct at_gpu_run run;
    struct at_kernel kernel;
    struct at_counters counters;
    struct at_call call;
    enum at_outcome outcome = take_program(server, exchange, &program);

    if (outcome != AT_CORRECT)
        return at_gpu_result_of_outcome(outcome);
    at_wire_get_struct(exchange->request, &run, sizeof run);
    if (!at_wire_done(exchange->request) || is_copy(&run) || bench->case_count == 0)
        return at_gpu_result_of_status(
            at_fail(exchange->err, AT_INTERNAL, "a request out of bounds"));
    if (!bench->ops->count)
        return at_gpu_result_of_status(
            at_fail(exchange->err, AT_DEVICE, "this device has no counters"));
    outcome = find_kernel(server, &run, &kernel, exchange->err);
    if (outcome == AT_CORRECT) {
        call = at_bench_call(bench, &kernel, &run, 0, 0);
        outcome = bench->ops->count(bench->device, &call, &counters, exchange->err);
    }
    if (outcome == AT_CORRECT)
        at_wire_put_bytes(exchange->reply, &counters, sizeof counters);
    return at_gpu_result_of_outcome(outcome);
}

/* ---- the device ---- */

const struct at_device_ops *const at_device_kinds[] = {
    &at_cuda_device_ops,
    &at_emu_device_ops,
    NULL,
};

static const struct at_device_ops *find_kind(const char *kind)
{
    const struct at_device_ops *const *ops = at_device_kinds;

    while (*ops && strcmp((*ops)->kind, kind) != 0)
        ops++;
    return *ops;
}

static const struct at_device_ops *get_kind(struct at_exchange *exchange)
{
    char kind[16];

    at_wire_get_text(exchange->request, kind, sizeof kind);
    return find_kind(kind);
}

static struct at_gpu_result list_devices(struct at_gpu_server *server, struct at_exchange *exchange)
{
    const struct at_device_ops *ops = get_kind(exchange);
    struct at_device_info *infos;
    size_t count;
    enum at_status status;

    (void)server;
    if (!ops)
        return at_gpu_result_of_status(at_fail(exchange->err, AT_DEVICE, "unknown kind of device"));
    status = ops->list(&infos, &count, exchange->err);
    if (status != AT_OK)
        return at_gpu_result_of_status(status);
    at_wire_put_int(exchange->reply, (int64_t)count);
    for (size_t i = 0; i < count; i++)
        at_wire_put_bytes(exchange->reply, &infos[i], sizeof infos[i]);
    free(infos);
    return at_gpu_result_of_status(AT_OK);
}

static struct at_gpu_result open_device(struct at_gpu_server *server, struct at_exchange *exchange)
{
    const struct at_device_ops *ops = get_kind(exchange);
    int64_t ordinal = at_wire_get_int(exchange->request),
            place = at_wire_get_int(exchange->request);
    char driver[32], cuda[16];
    enum at_status status = AT_OK;

    if (!ops || server->bench.device || place >= AT_TURNS_MAX)
        return at_gpu_result_of_status(
            at_fail(exchange->err, AT_DEVICE, "the device cannot be opened"));
    if (place >= 0)
        status = at_turns_join(&server->turn.turns, AT_WORKER_SHARED_FD, exchange->err);
    if (status != AT_OK)
        return at_gpu_result_of_status(status);
    server->turn.place = (size_t)place;
    at_turn_take(server->turn);
    status = at_device_open(ops, &server->bench.device, ordinal, exchange->err);
    if (status != AT_OK)
        return at_gpu_result_of_status(status);
    server->bench.ops = ops;
    ops->versions(server->bench.device, driver, sizeof driver, cuda, sizeof cuda);
    at_wire_put_bytes(exchange->reply, &((struct at_device_base *)server->bench.device)->info,
                      sizeof(struct at_device_info));
    at_wire_put_text(exchange->reply, driver);
    at_wire_put_text(exchange->reply, cuda);
    return at_gpu_result_of_status(AT_OK);
}

static struct at_gpu_result get_memory(struct at_gpu_server *server, struct at_exchange *exchange)
{
    int64_t free_bytes, total_bytes;

    server->bench.ops->memory(server->bench.device, &free_bytes, &total_bytes);
    at_wire_put_int(exchange->reply, free_bytes);
    at_wire_put_int(exchange->reply, total_bytes);
    return at_gpu_result_of_status(AT_OK);
}

static struct at_gpu_result load_harness(struct at_gpu_server *server, struct at_exchange *exchange)
{
    size_t size;
    const void *image = at_wire_get_bytes(exchange->request, &size);

    return at_gpu_result_of_outcome(
        image ? at_bench_harness(&server->bench, image, size, exchange->err) : AT_LAUNCH);
}

/* Out of memory fails only this request; the next may need less. */
static struct at_gpu_result prepare(struct at_gpu_server *server, struct at_exchange *exchange)
{
    struct at_gpu_case cases[AT_CASES_MAX];
    size_t count = at_wire_get_count(exchange->request, sizeof cases[0]);
    struct at_gpu_result result;

    if (count > AT_CASES_MAX)
        return at_gpu_result_of_status(at_fail(exchange->err, AT_INTERNAL, "too many cases"));
    for (size_t i = 0; i < count; i++)
        at_wire_get_struct(exchange->request, &cases[i], sizeof cases[i]);
    result =
        at_gpu_result_of_outcome(at_bench_prepare(&server->bench, cases, count, exchange->err));
    if (result.outcome == AT_OOM)
        result.status = AT_FAILED;
    return result;
}

static struct at_gpu_result load(struct at_gpu_server *server, struct at_exchange *exchange)
{
    struct taken_program taken;

    return at_gpu_result_of_outcome(take_program(server, exchange, &taken));
}

static const struct {
    struct at_gpu_result (*handle)(struct at_gpu_server *server, struct at_exchange *exchange);
    bool needs_device;
} requests[] = {
    [AT_GPU_LIST] = {list_devices, false}, [AT_GPU_OPEN] = {open_device, false},
    [AT_GPU_MEMORY] = {get_memory, true},  [AT_GPU_HARNESS] = {load_harness, true},
    [AT_GPU_PREPARE] = {prepare, true},    [AT_GPU_LOAD] = {load, true},
    [AT_GPU_EVALUATE] = {evaluate, true},  [AT_GPU_SHOOTOUT] = {at_gpu_server_shootout, true},
    [AT_GPU_COUNT] = {count, true},
};

/* Answer one request. False: the device is lost or the request is malformed, and the process must
 * end. */
static bool answer(struct at_gpu_server *server, int fd, int32_t type, struct at_wire *request)
{
    struct at_wire content = {0}, reply = {0};
    struct at_error err = {AT_OK, "no reason given"};
    struct at_exchange exchange = {request, &content, &err};
    struct at_gpu_result result;
    bool sent;

    if (type < 1 || (size_t)type >= AT_COUNT(requests) || !requests[type].handle ||
        (requests[type].needs_device && !server->bench.device))
        return false;
    at_turn_take(server->turn);
    server->began_ns = at_now_ns();
    server->clock_memory_khz = 0;
    server->look = (struct at_look){0};
    result = requests[type].handle(server, &exchange);
    note_busy(server);
    if (!at_outcome_loses_device(result.outcome)) /* else the tuner gives it when this has ended */
        at_turn_give(server->turn);
    at_wire_put_bytes(&reply, &result, sizeof result);
    if (result.status != AT_OK)
        at_wire_put_text(&reply, err.message);
    else
        at_wire_put_bytes(&reply, content.bytes, content.size);
    sent = at_frame_send(fd, type, &reply) == AT_FRAME_OK;
    at_wire_clear(&reply);
    at_wire_clear(&content);
    return sent && !at_outcome_loses_device(result.outcome);
}

static int serve(int fd)
{
    struct at_gpu_server server = {.conditions = at_gpu_conditions_none(),
                                   .last = at_device_state_unknown()};
    struct at_wire request = {0};
    int32_t type;
    bool going = true;

    while (going && at_frame_receive(fd, &type, &request, 0) == AT_FRAME_OK) {
        going = answer(&server, fd, type, &request);
        at_wire_clear(&request);
    }
    /* The driver's library cleans up on exit, which a lost context can block. _exit skips that, and
     * the system frees what the process holds on the device. */
    _exit(0);
}

const struct at_worker_role at_gpu_worker = {"gpu", serve};
