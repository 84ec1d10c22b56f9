/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trial.h"

#include "base/clock.h"
#include "base/guard.h"
#include "base/memory.h"
#include "base/stats.h"
#include "device/cuda/cuda_device.h"
#include "measure/bench.h"

#include <math.h>

/* A rival that is slower by this than the fastest is not timed again. */
static const double hopeless = 1.25;

/* Of more rivals than this, the slower half is not timed again. */
enum { RIVALS_LEAST = 4 };

/* What is tried: the contestants, and the driver's copy, which has no answer. */
struct entrant {
    struct autotune_contestant *contestant; /* NULL: the copy */
    struct at_module *module;
    struct at_kernel kernel;
    struct at_gpu_run run;
    struct at_verified_launch verified;
    struct at_train *train; /* NULL: out of the race */
    int64_t launches;
    double last_ns;    /* of a launch in the last sample */
    int64_t sample_ns; /* what the last sample took */
};

struct bench {
    struct autotune_trial *trial;
    struct at_cuda_device device;
    struct at_bench bench;
    struct entrant entrants[AUTOTUNE_CONTESTANTS_MAX + 1];
    size_t count;
    bool lost; /* the context */
};

static struct at_device *device_of(struct bench *bench)
{
    return (struct at_device *)&bench->device;
}

static void leave_race(struct bench *bench, struct entrant *entrant)
{
    at_cuda_free_train(device_of(bench), entrant->train);
    entrant->train = NULL;
}

static void release(void *data)
{
    struct bench *bench = data;

    for (size_t i = 0; i < bench->count; i++) {
        leave_race(bench, &bench->entrants[i]);
        if (bench->entrants[i].module)
            at_cuda.cuModuleUnload((CUmodule)bench->entrants[i].module);
    }
    if (bench->bench.harness.module)
        at_cuda.cuModuleUnload((CUmodule)bench->bench.harness.module);
    at_cuda_leave(&bench->device);
}

/* Note whether this outcome has cost the context. Returns whether all is well. */
static bool is_well(struct bench *bench, enum at_outcome outcome)
{
    bench->lost = bench->lost || at_outcome_loses_device(outcome);
    return outcome == AT_CORRECT;
}

/* ---- buffers ---- */

/* Memory of the driver's is shared with the caller: half of what is free is left to it. */
static int64_t usable_bytes(struct bench *bench)
{
    int64_t free_bytes = 0, total;

    if (bench->trial->scratch)
        return bench->trial->scratch_bytes;
    bench->bench.ops->memory(device_of(bench), &free_bytes, &total);
    return free_bytes / 2;
}

/* As many pairs of buffers as the policy wants, or as fit. */
static int64_t count_sets(struct bench *bench)
{
    const struct autotune_trial *trial = bench->trial;
    int64_t sets = at_policy_search_sets(trial->policy, trial->problem, trial->device);
    int64_t usable = usable_bytes(bench) - (1 << 16); /* for the results of checks */

    while (sets > 0 && at_buffers_bytes(trial->problem, sets, trial->device) > usable)
        sets = sets > 8 ? sets - sets / 8 : sets - 1;
    return sets;
}

/* Filling the buffers and verifying the first config moves the data about this often. */
enum { PASSES_PER_SET = 2, PASSES = 8 };

/* Is half of the time enough for that, at the memory's peak? */
static bool is_time_for(const struct autotune_trial *trial, int64_t sets)
{
    double bytes =
        (double)(PASSES_PER_SET * sets + PASSES) * (double)at_problem_bytes(trial->problem);
    double peak_B_per_ns = (double)trial->device->peak_bandwidth_MB_per_s / 1000;

    return bytes <= peak_B_per_ns * (double)(trial->deadline_ns - at_now_ns()) / 2 ||
           peak_B_per_ns <= 0;
}

static bool prepare(struct bench *bench, struct at_error *err)
{
    struct autotune_trial *trial = bench->trial;
    struct at_gpu_case wanted = {.problem = *trial->problem};

    bench->device.base.info = *trial->device;
    bench->device.scratch = trial->scratch;
    bench->device.scratch_bytes = trial->scratch_bytes;
    if (!is_well(bench, at_cuda_enter(&bench->device, err)))
        return false;
    bench->bench.device = device_of(bench);
    bench->bench.ops = bench->device.base.ops;
    wanted.sets = count_sets(bench);
    trial->buffer_bytes = wanted.sets * at_problem_bytes(trial->problem);
    return wanted.sets > 0 && is_time_for(trial, wanted.sets) &&
           is_well(bench, at_bench_harness(&bench->bench, trial->harness->bytes,
                                           trial->harness->size, err)) &&
           is_well(bench, at_bench_prepare(&bench->bench, &wanted, 1, err));
}

/* ---- entrants ---- */

static enum at_outcome load(struct bench *bench, struct entrant *entrant, struct at_error *err)
{
    const struct autotune_contestant *contestant = entrant->contestant;
    const struct at_device_ops *ops = bench->bench.ops;
    enum at_outcome outcome = ops->load(device_of(bench), contestant->image->bytes,
                                        contestant->image->size, &entrant->module, err);

    entrant->run.launch = contestant->answer->launch;
    entrant->run.problem = *bench->trial->problem;
    if (outcome == AT_CORRECT)
        outcome = ops->find(device_of(bench), entrant->module, contestant->image->entry,
                            &entrant->kernel, err);
    return outcome;
}

static enum at_outcome verify(struct bench *bench, struct entrant *entrant, struct at_error *err)
{
    enum at_outcome outcome = at_verify_before(&bench->bench, &entrant->kernel, &entrant->run, NULL,
                                               0, &entrant->verified, err);

    /* The next one must not be blamed for what this one wrote. */
    if (outcome == AT_WRONG && !is_well(bench, at_bench_refill(&bench->bench, err)))
        return AT_CRASH;
    return outcome;
}

static enum at_outcome make_train(struct bench *bench, struct entrant *entrant,
                                  struct at_error *err)
{
    const struct at_kernel *kernel = entrant->contestant ? &entrant->kernel : NULL;
    struct at_train_time launch = {entrant->verified.ns, -1};
    enum at_outcome outcome = AT_CORRECT;

    if (launch.ns == 0)
        outcome = at_train_estimate(&bench->bench, kernel, &entrant->run, &launch, err);
    if (outcome == AT_CORRECT)
        outcome = at_train_build(&bench->bench, kernel, &entrant->run, launch.ns,
                                 bench->trial->policy->search_train_ns, &entrant->train,
                                 &entrant->launches, err);
    return outcome;
}

/* Take a sample. */
static enum at_outcome sample(struct bench *bench, struct entrant *entrant, struct at_error *err)
{
    int64_t began_ns = at_now_ns();
    struct at_train_time time = {0};
    enum at_outcome outcome = at_cuda_time_train(device_of(bench), entrant->train, &time, err);

    entrant->last_ns = time.ns / (double)entrant->launches;
    entrant->sample_ns = at_now_ns() - began_ns;
    return outcome;
}

/* Load and verify a kernel, make its train and warm up. */
static void admit(struct bench *bench, struct autotune_contestant *contestant, struct at_error *err)
{
    struct entrant *entrant = &bench->entrants[bench->count++];

    entrant->contestant = contestant;
    contestant->tried = true;
    contestant->outcome = load(bench, entrant, err);
    if (contestant->outcome == AT_CORRECT)
        contestant->outcome = verify(bench, entrant, err);
    if (contestant->outcome == AT_CORRECT)
        contestant->outcome = make_train(bench, entrant, err);
    if (contestant->outcome == AT_CORRECT)
        contestant->outcome = sample(bench, entrant, err);
    is_well(bench, contestant->outcome);
}

/* The driver's copy, for the profile's copy limit. */
static void admit_copy(struct bench *bench, struct at_error *err)
{
    struct entrant *entrant = &bench->entrants[bench->count++];

    entrant->run.problem = at_problem_copy_of(bench->trial->problem);
    if (is_well(bench, make_train(bench, entrant, err)))
        is_well(bench, sample(bench, entrant, err));
}

/* ---- who stays in the race ---- */

static bool is_racing_rival(const struct bench *bench, size_t i)
{
    return i > 0 && bench->entrants[i].contestant && bench->entrants[i].train;
}

/* What a launch takes, by the rounds that were kept; by the warm-up, if there are none. */
static double pace_of(const struct entrant *entrant, size_t rounds)
{
    return rounds > 0 ? at_median(entrant->contestant->ns, rounds) : entrant->last_ns;
}

static void drop_slower(struct bench *bench, size_t rounds, double limit_ns)
{
    for (size_t i = 1; i < bench->count; i++)
        if (is_racing_rival(bench, i) && pace_of(&bench->entrants[i], rounds) > limit_ns)
            leave_race(bench, &bench->entrants[i]);
}

static void drop_hopeless(struct bench *bench, size_t rounds)
{
    double least_ns = INFINITY;

    for (size_t i = 0; i < bench->count; i++)
        if (bench->entrants[i].contestant && bench->entrants[i].train)
            least_ns = fmin(least_ns, pace_of(&bench->entrants[i], rounds));
    drop_slower(bench, rounds, hopeless * least_ns);
}

/* Let the slower rivals go, so that the others are timed more often: successive halving (Jamieson
 * and Talwalkar, Non-stochastic Best Arm Identification and Hyperparameter Optimization, 2016). */
static void thin_out(struct bench *bench, size_t rounds)
{
    double paces_ns[AUTOTUNE_CONTESTANTS_MAX];
    size_t count = 0;

    for (size_t i = 1; i < bench->count; i++)
        if (is_racing_rival(bench, i))
            paces_ns[count++] = pace_of(&bench->entrants[i], rounds);
    if (count > RIVALS_LEAST)
        drop_slower(bench, rounds, at_median(paces_ns, count));
    drop_hopeless(bench, rounds);
}

/* ---- the time ---- */

static int64_t count_racing(const struct bench *bench)
{
    int64_t count = 0;

    for (size_t i = 0; i < bench->count; i++)
        count += bench->entrants[i].train != NULL;
    return count;
}

/* What a round will take. */
static int64_t round_ns(const struct bench *bench)
{
    int64_t sum_ns = 0;

    for (size_t i = 0; i < bench->count; i++)
        if (bench->entrants[i].train)
            sum_ns += bench->entrants[i].sample_ns;
    return sum_ns;
}

/* What enough rounds will take. Each has half of the rivals that the one before it had, so that
 * what leaves takes no more than one round of all. In every round are those that stay to the end,
 * the looked-up config and the copy. */
static int64_t rounds_ns(const struct bench *bench)
{
    int64_t racing = count_racing(bench), all_ns = round_ns(bench);
    int64_t last = racing < RIVALS_LEAST + 2 ? racing : RIVALS_LEAST + 2;

    return racing > 0 ? all_ns + (AUTOTUNE_ROUNDS_LEAST - 1) * all_ns * last / racing : 0;
}

/* The looked-up config, the copy, then rivals while there is time for one more, which takes as long
 * as the one before it, and for the rounds. */
static void admit_all(struct bench *bench, struct at_error *err)
{
    struct autotune_trial *trial = bench->trial;
    int64_t began_ns = at_now_ns(), last_ns;

    admit(bench, &trial->contestants[0], err);
    last_ns = at_now_ns() - began_ns;
    if (!bench->lost)
        admit_copy(bench, err);
    for (size_t i = 1; i < trial->count && !bench->lost; i++) {
        began_ns = at_now_ns();
        if (began_ns + last_ns + rounds_ns(bench) > trial->deadline_ns)
            break;
        if (!trial->contestants[i].image->bytes)
            continue;
        admit(bench, &trial->contestants[i], err);
        drop_hopeless(bench, 0);
        last_ns = at_now_ns() - began_ns;
    }
}

/* ---- rounds ---- */

/* One sample of each; every other round runs backwards, so that none always follows the same. */
static bool take_round(struct bench *bench, size_t round, struct at_error *err)
{
    for (size_t i = 0; i < bench->count; i++) {
        struct entrant *entrant = &bench->entrants[round % 2 ? bench->count - 1 - i : i];

        if (entrant->train && !is_well(bench, sample(bench, entrant, err)))
            return false;
    }
    return true;
}

static void keep_round(struct bench *bench, size_t round)
{
    for (size_t i = 0; i < bench->count; i++) {
        const struct entrant *entrant = &bench->entrants[i];

        (entrant->contestant ? entrant->contestant->ns : bench->trial->copies_ns)[round] =
            entrant->last_ns;
    }
}

static void take_rounds(struct bench *bench, struct at_error *err)
{
    struct autotune_trial *trial = bench->trial;
    size_t rounds = 0;

    thin_out(bench, rounds);
    while (rounds < AUTOTUNE_ROUNDS_MAX && at_now_ns() + round_ns(bench) <= trial->deadline_ns &&
           take_round(bench, rounds, err)) {
        keep_round(bench, rounds++);
        thin_out(bench, rounds);
    }
    trial->rounds = !bench->lost && rounds >= AUTOTUNE_ROUNDS_LEAST ? rounds : 0;
}

/* ---- the winner ---- */

static void judge(struct bench *bench)
{
    struct autotune_trial *trial = bench->trial;
    struct autotune_contestant *all = trial->contestants;
    size_t fastest = trial->count; /* none yet */
    double low, high;

    for (size_t i = 0; i < bench->count; i++) {
        struct autotune_contestant *contestant = bench->entrants[i].contestant;

        if (!contestant || !bench->entrants[i].train)
            continue;
        contestant->timed = true;
        contestant->time_ns = at_median(contestant->ns, trial->rounds);
        if (fastest == trial->count || contestant->time_ns < all[fastest].time_ns)
            fastest = (size_t)(contestant - all);
    }
    if (fastest == trial->count) { /* none is right */
        trial->rounds = 0;
        return;
    }
    at_median_ratio_interval(all[0].ns, all[fastest].ns, trial->rounds, &low, &high);
    if (!all[0].timed || (low > 1 && all[0].time_ns > at_rival_gain_least * all[fastest].time_ns))
        trial->winner = fastest;
}

/* A kernel that fails now and then must not win. */
static void verify_winner(struct bench *bench, struct at_error *err)
{
    struct autotune_trial *trial = bench->trial;

    for (size_t i = 0; i < bench->count; i++) {
        struct entrant *entrant = &bench->entrants[i];

        if (entrant->contestant != &trial->contestants[trial->winner])
            continue;
        entrant->contestant->outcome = verify(bench, entrant, err);
        if (!is_well(bench, entrant->contestant->outcome)) {
            trial->rounds = 0;
            trial->winner = 0;
        }
        return;
    }
}

enum at_status autotune_trial_run(struct autotune_trial *trial, struct at_error *err)
{
    struct bench *bench = at_alloc(sizeof *bench);
    struct at_cleanup cleanup;
    bool lost;

    bench->trial = trial;
    at_cleanup_push(&cleanup, release, bench);
    if (prepare(bench, err))
        admit_all(bench, err);
    if (!bench->lost && bench->count > 2 && bench->entrants[1].train)
        take_rounds(bench, err);
    if (trial->rounds > 0)
        judge(bench);
    if (trial->rounds > 0)
        verify_winner(bench, err);
    lost = bench->lost;
    at_cleanup_pop(&cleanup);
    release(bench);
    at_free(bench);
    if (!lost)
        return AT_OK;
    at_fail_within(err, "measuring for a plan");
    return err->status = AT_DEVICE;
}
