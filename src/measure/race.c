/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/race.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "measure/verify.h"

#include <math.h>

/* ---- trains ---- */

/* Longer trains take more time to build than to run. */
enum { LAUNCHES_MAX = 1024 };

/* A launch stands for all launches of one transpose.
 *
 * Untimed launches at the start. They follow another kernel, whose traces one launch may not
 * remove: in a shoot-out of twelve the winner took 0.3 to 0.8 % longer than in one of two, where
 * half of its trains follow its own (H200). */
static size_t lead_in(int64_t launches)
{
    return launches < 10 ? 1 : (size_t)launches / 10;
}

static enum at_outcome make(struct at_bench *bench, const struct at_kernel *kernel,
                            const struct at_gpu_run *run, int64_t launches, struct at_train **train,
                            struct at_error *err)
{
    int64_t passes = at_launch_passes(&run->launch);
    struct at_call *calls = at_alloc_array((size_t)(launches * passes), sizeof *calls);
    enum at_outcome outcome;

    for (int64_t i = 0; i < launches * passes; i++)
        calls[i] =
            at_bench_call(bench, kernel, run, i / passes % at_bench_sets(bench, run), i % passes);
    outcome = bench->ops->make_train(bench->device, calls, (size_t)(launches * passes),
                                     lead_in(launches) * (size_t)passes, train, err);
    at_free(calls);
    return outcome;
}

/* Times one launch, after an untimed one that has paid the first-launch costs. */
enum at_outcome at_train_estimate(struct at_bench *bench, const struct at_kernel *kernel,
                                  const struct at_gpu_run *run, struct at_train_time *launch,
                                  struct at_error *err)
{
    struct at_train *train;
    enum at_outcome outcome = make(bench, kernel, run, 1, &train, err);

    if (outcome != AT_CORRECT)
        return outcome;
    outcome = bench->ops->time_train(bench->device, train, launch, err);
    if (!at_outcome_loses_device(outcome))
        bench->ops->free_train(bench->device, train);
    return outcome;
}

/* Whole rounds of the sets, so that each is used equally often. */
static int64_t launches_for(double launch_ns, int64_t train_ns, int64_t sets)
{
    double wanted = launch_ns > 0 ? (double)train_ns / launch_ns : LAUNCHES_MAX;
    int64_t launches = wanted >= LAUNCHES_MAX ? LAUNCHES_MAX : (int64_t)wanted + 1;

    return (launches + sets - 1) / sets * sets;
}

enum at_outcome at_train_build(struct at_bench *bench, const struct at_kernel *kernel,
                               const struct at_gpu_run *run, double launch_ns, int64_t train_ns,
                               struct at_launches *launches, struct at_error *err)
{
    launches->count = launches_for(launch_ns, train_ns, at_bench_sets(bench, run));
    return make(bench, kernel, run, launches->count, &launches->train, err);
}

/* ---- samples ---- */

/* Warm samples of a kernel of 3 us agree to half a percent (H200, CUDA 13.0). */
static const double warm_share = 0.01;
enum { WARM_UPS_MAX = 4 };

/* Boost clocks change in steps of 15 MHz, less than a percent; a step or two is not low. */
static const double low_share = 0.03;
enum { CLOCKS_LEAST = 8 }; /* with fewer samples the usual clock is unknown */

static bool is_low(const struct at_clocks *clocks, int64_t clock_khz)
{
    return clock_khz > 0 && clocks->count >= CLOCKS_LEAST &&
           (double)clock_khz < (1 - low_share) * at_median(clocks->recent_khz, clocks->count);
}

static void remember(struct at_clocks *clocks, int64_t clock_khz)
{
    if (clock_khz <= 0)
        return;
    clocks->recent_khz[clocks->next] = (double)clock_khz;
    clocks->next = (clocks->next + 1) % AT_CLOCKS_MAX;
    clocks->count += clocks->count < AT_CLOCKS_MAX;
    if (clocks->least_khz == 0 || clock_khz < clocks->least_khz)
        clocks->least_khz = clock_khz;
    if (clock_khz > clocks->most_khz)
        clocks->most_khz = clock_khz;
}

enum at_outcome at_sample_once(struct at_bench *bench, const struct at_launches *launches,
                               int64_t *again, struct at_train_time *sample, struct at_error *err)
{
    for (;;) {
        enum at_outcome outcome =
            bench->ops->time_train(bench->device, launches->train, sample, err);
        bool low;

        if (outcome != AT_CORRECT)
            return outcome;
        low = is_low(&bench->clocks, sample->clock_sm_khz);
        remember(&bench->clocks, sample->clock_sm_khz);
        sample->ns /= (double)launches->count;
        if (!low || *again == 0)
            return AT_CORRECT;
        --*again;
        bench->discarded++;
    }
}

/* Take the second sample. While it does not agree with the first, it becomes the first. */
static enum at_outcome warm_up(struct at_bench *bench, const struct at_launches *launches,
                               int64_t *again, struct at_train_time samples[2],
                               struct at_error *err)
{
    enum at_outcome outcome = at_sample_once(bench, launches, again, &samples[1], err);

    for (int i = 0; i < WARM_UPS_MAX && outcome == AT_CORRECT; i++) {
        if (fabs(samples[0].ns - samples[1].ns) <= warm_share * samples[1].ns)
            break;
        samples[0] = samples[1];
        outcome = at_sample_once(bench, launches, again, &samples[1], err);
    }
    return outcome;
}

/* A launch needs no more samples if all of them are slower than the best by this factor. Samples
 * repeat to half a percent. A config 3 % behind will not be timed again; one behind three times is
 * known well enough to choose the configs that will. Of 32,271 configs in tests/recordings the
 * first sample was 5 % above the others 21 times. */
static const struct {
    int64_t samples;
    double factor;
} enough[] = {{1, 1.05}, {2, 1.03}, {3, 1.005}};

static bool is_enough(const struct at_sampling *wanted, const struct at_train_time *samples,
                      int64_t taken)
{
    double least_ns = samples[0].ns;

    for (int64_t i = 1; i < taken; i++)
        least_ns = fmin(least_ns, samples[i].ns);
    for (size_t i = 0; i < AT_COUNT(enough); i++)
        if (taken == enough[i].samples && wanted->best_ns > 0 &&
            least_ns > enough[i].factor * (double)wanted->best_ns)
            return true;
    return false;
}

enum at_outcome at_sample(struct at_bench *bench, const struct at_sampling *wanted,
                          struct at_train_time *samples, int64_t *taken, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;
    int64_t again = wanted->samples, most = wanted->samples;

    *taken = 0;
    if (most >= 2)
        outcome = at_sample_once(bench, &wanted->launches, &again, &samples[(*taken)++], err);
    if (most >= 2 && outcome == AT_CORRECT && !is_enough(wanted, samples, 1)) {
        outcome = warm_up(bench, &wanted->launches, &again, samples, err);
        *taken = 2;
    }
    for (; *taken < most && outcome == AT_CORRECT && !is_enough(wanted, samples, *taken); ++*taken)
        outcome = at_sample_once(bench, &wanted->launches, &again, &samples[*taken], err);
    return outcome;
}

/* ---- races ---- */

/* A rival that is slower by this than the fastest leaves. */
static const double hopeless = 1.25;

/* With more rivals than this, the slower half leaves. */
enum { RIVALS_LEAST = 4 };

/* A rival has to be faster than the incumbent by this factor to win, besides being faster beyond
 * the noise: the fastest of many equals looks faster than it is. */
static const double gain_least = 1.003;

/* Is it the driver's copy? */
static bool is_drivers(const struct at_racer *racer)
{
    return racer->is_copy && !racer->what;
}

static const struct at_kernel *kernel_of(const struct at_racer *racer)
{
    return is_drivers(racer) ? NULL : &racer->kernel;
}

/* Note whether this outcome has cost the device. Returns whether all is well. */
static bool is_well(struct at_race *race, enum at_outcome outcome)
{
    race->lost = race->lost || at_outcome_loses_device(outcome);
    return outcome == AT_CORRECT;
}

static void leave(struct at_race *race, struct at_racer *racer)
{
    if (racer->launches.train)
        race->bench->ops->free_train(race->bench->device, racer->launches.train);
    racer->launches.train = NULL;
    racer->racing = false;
}

void at_race_end(struct at_race *race)
{
    for (size_t i = 0; i < race->count; i++)
        if (race->racers[i].racing)
            leave(race, &race->racers[i]);
}

/* Make a racer's train. launch_ns: of a launch; 0: unknown. */
static enum at_outcome make_train(struct at_race *race, struct at_racer *racer, double launch_ns,
                                  struct at_error *err)
{
    struct at_train_time launch = {launch_ns, -1};
    enum at_outcome outcome = AT_CORRECT;

    if (launch.ns == 0)
        outcome = at_train_estimate(race->bench, kernel_of(racer), &racer->run, &launch, err);
    if (outcome == AT_CORRECT)
        outcome = at_train_build(race->bench, kernel_of(racer), &racer->run, launch.ns,
                                 race->train_ns, &racer->launches, err);
    racer->racing = outcome == AT_CORRECT;
    return outcome;
}

static enum at_outcome sample(struct at_race *race, struct at_racer *racer, struct at_error *err)
{
    int64_t began_ns = at_now_ns();
    enum at_outcome outcome =
        at_sample_once(race->bench, &racer->launches, &racer->again, &racer->last, err);

    racer->sample_ns = at_now_ns() - began_ns;
    return outcome;
}

static void keep_round(struct at_race *race, size_t round)
{
    for (size_t i = 0; i < race->count; i++) {
        struct at_racer *racer = &race->racers[i];

        racer->ns[round] = racer->last.ns;
        racer->khz[round] = (double)racer->last.clock_sm_khz;
    }
}

/* Take a sample of each. Every other round runs backwards, so that none always follows the same.
 * Round -1 warms up, and is not kept. */
static enum at_outcome take_round(struct at_race *race, int64_t round, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = 0; i < race->count && outcome == AT_CORRECT; i++) {
        struct at_racer *racer = &race->racers[round % 2 ? race->count - 1 - i : i];

        if (racer->racing)
            outcome = sample(race, racer, err);
    }
    if (is_well(race, outcome) && round >= 0)
        keep_round(race, (size_t)round);
    return outcome;
}

enum at_outcome at_race_all(struct at_race *race, size_t rounds, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = 0; i < race->count && outcome == AT_CORRECT; i++) {
        struct at_racer *racer = &race->racers[i];

        racer->again = (int64_t)rounds;
        if (!is_drivers(racer))
            outcome = race->find(race->owner, racer, err);
        if (outcome == AT_CORRECT)
            outcome = make_train(race, racer, 0, err);
    }
    for (int64_t round = -1; round < (int64_t)rounds && outcome == AT_CORRECT; round++)
        outcome = take_round(race, round, err);
    if (is_well(race, outcome))
        race->rounds = rounds;
    return outcome;
}

/* ---- against the clock ---- */

static enum at_outcome verify(struct at_race *race, struct at_racer *racer,
                              struct at_verified_launch *launch, struct at_error *err)
{
    enum at_outcome outcome =
        at_verify_before(race->bench, &racer->kernel, &racer->run, NULL, 0, launch, err);

    /* The next one must not be blamed for what this one wrote. */
    if (outcome == AT_WRONG && !is_well(race, at_bench_refill(race->bench, err)))
        return AT_CRASH;
    return outcome;
}

/* Find and verify a kernel. */
static void check(struct at_race *race, struct at_racer *racer, struct at_verified_launch *launch,
                  struct at_error *err)
{
    racer->tried = true;
    if (!is_drivers(racer))
        racer->outcome = race->find(race->owner, racer, err);
    if (racer->outcome == AT_CORRECT && !racer->is_copy)
        racer->outcome = verify(race, racer, launch, err);
    is_well(race, racer->outcome);
}

/* The same, make its train and warm up. */
static void admit(struct at_race *race, struct at_racer *racer, struct at_error *err)
{
    struct at_verified_launch launch = {0};

    check(race, racer, &launch, err);
    if (racer->outcome == AT_CORRECT)
        racer->outcome = make_train(race, racer, launch.ns, err);
    if (racer->outcome == AT_CORRECT)
        racer->outcome = sample(race, racer, err);
    is_well(race, racer->outcome);
}

void at_race_verify(struct at_race *race, int64_t deadline_ns, struct at_error *err)
{
    int64_t last_ns = 0;

    for (size_t i = 0; i < race->count && !race->lost; i++) {
        struct at_verified_launch launch = {0};
        int64_t began_ns = at_now_ns();

        if (i == AT_RACE_COPY)
            continue;
        if (i > AT_RACE_INCUMBENT && began_ns + last_ns > deadline_ns)
            break;
        check(race, &race->racers[i], &launch, err);
        race->racers[i].last.ns = launch.ns;
        last_ns = at_now_ns() - began_ns;
    }
}

/* The time of a launch, by the rounds that were kept; by the warm-up, if there are none. */
static double pace_of(const struct at_racer *racer, size_t rounds)
{
    return rounds > 0 ? at_median(racer->ns, rounds) : racer->last.ns;
}

static void drop_slower(struct at_race *race, size_t rounds, double limit_ns)
{
    for (size_t i = AT_RACE_RIVALS; i < race->count; i++) {
        struct at_racer *rival = &race->racers[i];

        if (rival->racing && pace_of(rival, rounds) > limit_ns)
            leave(race, rival);
    }
}

static void drop_hopeless(struct at_race *race, size_t rounds)
{
    double least_ns = INFINITY;

    for (size_t i = 0; i < race->count; i++)
        if (i != AT_RACE_COPY && race->racers[i].racing)
            least_ns = fmin(least_ns, pace_of(&race->racers[i], rounds));
    drop_slower(race, rounds, hopeless * least_ns);
}

/* Successive halving: Jamieson and Talwalkar, Non-stochastic Best Arm Identification and
 * Hyperparameter Optimization, 2016. */
void at_race_thin_out(struct at_race *race, size_t rounds)
{
    double paces_ns[AT_RACERS_MAX];
    size_t count = 0;

    for (size_t i = AT_RACE_RIVALS; i < race->count; i++)
        if (race->racers[i].racing)
            paces_ns[count++] = pace_of(&race->racers[i], rounds);
    if (count > RIVALS_LEAST)
        drop_slower(race, rounds, at_median(paces_ns, count));
    drop_hopeless(race, rounds);
}

/* How many race, and the time that a round of them will take. */
static int64_t round_ns(const struct at_race *race, int64_t *racing)
{
    int64_t sum_ns = 0;

    *racing = 0;
    for (size_t i = 0; i < race->count; i++)
        if (race->racers[i].racing) {
            ++*racing;
            sum_ns += race->racers[i].sample_ns;
        }
    return sum_ns;
}

/* The time that enough rounds will take. Each has half of the rivals of the round before it, so the
 * rivals that leave take no more time than one round of all. Those that stay to the end, the
 * incumbent and the copy are in every round. */
static int64_t rounds_ns(const struct at_race *race)
{
    int64_t racing, all_ns = round_ns(race, &racing);
    int64_t last = racing < RIVALS_LEAST + AT_RACE_RIVALS ? racing : RIVALS_LEAST + AT_RACE_RIVALS;

    return racing > 0 ? all_ns + (AT_RACE_ROUNDS_LEAST - 1) * all_ns * last / racing : 0;
}

/* The incumbent, the copy, then rivals while there is time for one more, which takes as long as the
 * one before it, and for the rounds. */
static void admit_all(struct at_race *race, int64_t deadline_ns, struct at_error *err)
{
    int64_t began_ns = at_now_ns(), last_ns;

    admit(race, &race->racers[AT_RACE_INCUMBENT], err);
    last_ns = at_now_ns() - began_ns;
    if (!race->lost)
        admit(race, &race->racers[AT_RACE_COPY], err);
    for (size_t i = AT_RACE_RIVALS; i < race->count && !race->lost; i++) {
        began_ns = at_now_ns();
        if (began_ns + last_ns + rounds_ns(race) > deadline_ns)
            break;
        admit(race, &race->racers[i], err);
        drop_hopeless(race, 0);
        last_ns = at_now_ns() - began_ns;
    }
}

static void take_rounds(struct at_race *race, int64_t deadline_ns, struct at_error *err)
{
    size_t rounds = 0;
    int64_t racing;

    at_race_thin_out(race, rounds);
    while (rounds < AT_RACE_ROUNDS_MAX && at_now_ns() + round_ns(race, &racing) <= deadline_ns &&
           take_round(race, (int64_t)rounds, err) == AT_CORRECT)
        at_race_thin_out(race, ++rounds);
    race->rounds = !race->lost && rounds >= AT_RACE_ROUNDS_LEAST ? rounds : 0;
}

size_t at_race_winner(const double *const *samples_ns, size_t count, size_t rounds,
                      bool has_incumbent)
{
    double first_ns = at_median(samples_ns[0], rounds), fastest_ns = first_ns, low, high;
    size_t fastest = 0;

    for (size_t i = 1; i < count; i++) {
        double ns = at_median(samples_ns[i], rounds);

        if (ns < fastest_ns) {
            fastest = i;
            fastest_ns = ns;
        }
    }
    at_median_ratio_interval(samples_ns[0], samples_ns[fastest], rounds, &low, &high);
    return has_incumbent && (low <= 1 || first_ns <= gain_least * fastest_ns) ? 0 : fastest;
}

static void judge(struct at_race *race)
{
    const double *samples_ns[AT_RACERS_MAX];
    size_t places[AT_RACERS_MAX], count = 0;

    for (size_t i = 0; i < race->count; i++) {
        race->racers[i].finished = race->racers[i].racing;
        if (!race->racers[i].finished || i == AT_RACE_COPY)
            continue;
        places[count] = i;
        samples_ns[count++] = race->racers[i].ns;
    }
    if (count > 0)
        race->winner = places[at_race_winner(samples_ns, count, race->rounds,
                                             race->racers[AT_RACE_INCUMBENT].finished)];
    else
        race->rounds = 0; /* none is right */
}

/* A kernel that fails now and then must not win. */
static void verify_winner(struct at_race *race, struct at_error *err)
{
    struct at_racer *winner = &race->racers[race->winner];
    struct at_verified_launch launch = {0};

    winner->outcome = verify(race, winner, &launch, err);
    if (is_well(race, winner->outcome))
        return;
    race->rounds = 0;
    race->winner = AT_RACE_INCUMBENT;
}

void at_race_rivals(struct at_race *race, int64_t deadline_ns, struct at_error *err)
{
    admit_all(race, deadline_ns, err);
    if (!race->lost && race->count > AT_RACE_RIVALS && race->racers[AT_RACE_RIVALS].tried &&
        race->racers[AT_RACE_COPY].racing)
        take_rounds(race, deadline_ns, err);
    if (race->rounds > 0)
        judge(race);
    if (race->rounds > 0)
        verify_winner(race, err);
}
