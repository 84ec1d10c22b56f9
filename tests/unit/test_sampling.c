/* SPDX-License-Identifier: Apache-2.0 */
/* src/measure/sampling: which samples of a device count. The device here has the times and clocks
 * that a test scripts, because a real one cannot be made cold or hot. */
#include "base/memory.h"
#include "measure/gpu_worker.h"
#include "measure/race.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The next samples; the last one repeats for ever. */
static const struct at_train_time *script;
static size_t script_length, taken;

static enum at_outcome play(struct at_device *device, struct at_train *train,
                            struct at_train_time *time, struct at_error *err)
{
    (void)device;
    (void)train;
    (void)err;
    *time = script[taken < script_length ? taken : script_length - 1];
    taken++;
    return AT_CORRECT;
}

static enum at_outcome lose_device(struct at_device *device, struct at_train *train,
                                   struct at_train_time *time, struct at_error *err)
{
    (void)device;
    (void)train;
    (void)err;
    if (++taken == 3)
        return AT_CRASH;
    *time = (struct at_train_time){.ns = 100};
    return AT_CORRECT;
}

static const struct at_device_ops scripted = {.time_train = play},
                                  failing = {.time_train = lose_device};

/* Take samples of two launches each from the script, on a bench that may know clocks. */
static void sample(struct at_bench *bench, const struct at_train_time *times, size_t count,
                   int64_t wanted_count, struct at_train_time *samples)
{
    const struct at_sampling wanted = {.launches.count = 2, .samples = wanted_count};
    int64_t kept;

    bench->ops = &scripted;
    script = times;
    script_length = count;
    taken = 0;
    assert_int_equal(at_sample(bench, &wanted, samples, &kept, NULL), AT_CORRECT);
    assert_int_equal(kept, wanted_count);
}

static void test_warm_up(void **state)
{
    /* Times without clocks: how many samples are dropped before the first of five that count. */
    static const struct {
        struct at_train_time times[8];
        size_t count, dropped;
    } cases[] = {
        {{{200, -1}}, 1, 0},
        {{{201, -1}, {200, -1}}, 2, 0},                       /* within 1 % */
        {{{199, -1}, {200, -1}}, 2, 0},                       /* on either side */
        {{{250, -1}, {200, -1}}, 2, 1},                       /* the graph's first replay */
        {{{150, -1}, {200, -1}}, 2, 1},                       /* clocks that were still high */
        {{{250, -1}, {230, -1}, {210, -1}, {200, -1}}, 4, 3}, /* falls slowly */
        {{{250, -1}, {200, -1}, {250, -1}, {200, -1}, {250, -1}, {200, -1}},
         6,
         4}, /* never settles */
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_bench bench = {0};
        struct at_train_time samples[5];

        sample(&bench, cases[i].times, cases[i].count, 5, samples);
        assert_int_equal(taken, 5 + cases[i].dropped);
        assert_int_equal(bench.discarded, 0);
        for (size_t j = 0; j < 5; j++) {
            size_t place = cases[i].dropped + j;

            if (place >= cases[i].count)
                place = cases[i].count - 1;
            assert_true(samples[j].ns ==
                        cases[i].times[place].ns / 2); /* a sample has two launches */
        }
    }
}

/* A request for one sample gets the first one. */
static void test_one_sample(void **state)
{
    static const struct at_train_time times[] = {{250, -1}, {200, -1}};
    struct at_bench bench = {0};
    struct at_train_time only;

    (void)state;
    sample(&bench, times, AT_COUNT(times), 1, &only);
    assert_int_equal(taken, 1);
    assert_true(only.ns == 125);
}

/* Fewer samples are enough if all of them, once warm, are slower than the best, which takes 100. */
static void test_behind(void **state)
{
    static const struct {
        struct at_train_time times[4];
        int64_t samples, kept;
        size_t taken;
    } cases[] = {
        {{{207, -1}, {208, -1}, {200, -1}, {200, -1}}, 5, 2, 2},
        {{{207, -1}, {205, -1}, {204, -1}, {207, -1}}, 5, 3, 3}, /* one of them less far */
        {{{203, -1}, {202, -1}, {202, -1}, {200, -1}}, 5, 3, 3}, /* all of them a little */
        {{{207, -1}, {205, -1}, {200, -1}, {207, -1}}, 5, 5, 5}, /* one only just */
        {{{209, -1}, {205, -1}, {205, -1}, {200, -1}}, 5, 5, 6}, /* the cold one does not count */
        {{{209, -1}, {206, -1}, {207, -1}, {207, -1}}, 5, 3, 4},
        {{{211, -1}, {200, -1}, {200, -1}, {200, -1}},
         5,
         1,
         1}, /* so slow that the cold one counts */
        {{{207, -1}, {207, -1}, {207, -1}, {207, -1}}, 1, 1, 1},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        const struct at_sampling wanted = {
            .launches.count = 2, .samples = cases[i].samples, .best_ns = 100};
        struct at_bench bench = {.ops = &scripted};
        struct at_train_time samples[5];
        int64_t kept;

        script = cases[i].times;
        script_length = AT_COUNT(cases[i].times);
        taken = 0;
        assert_int_equal(at_sample(&bench, &wanted, samples, &kept, NULL), AT_CORRECT);
        assert_int_equal(kept, cases[i].kept);
        assert_int_equal(taken, cases[i].taken);
    }
}

/* A bench that has seen this clock `count` times. */
static struct at_bench bench_at(int64_t khz, size_t count)
{
    static struct at_train_time time;
    struct at_bench bench = {.ops = &scripted};

    time = (struct at_train_time){200, khz};
    script = &time;
    script_length = 1;
    for (size_t i = 0; i < count; i++) {
        int64_t again = 0;
        const struct at_launches launches = {NULL, 1};
        struct at_train_time sample;

        assert_int_equal(at_sample_once(&bench, &launches, &again, &sample, NULL), AT_CORRECT);
    }
    return bench;
}

static void test_low_clocks(void **state)
{
    /* The third of five samples has another clock. */
    static const struct {
        int64_t usual_khz, khz;
        size_t known;
        int64_t discarded;
    } cases[] = {
        {1980000, 1980000, 64, 0}, {1980000, 1935000, 64, 0}, /* 2.3 % lower */
        {1980000, 1905000, 64, 1},                            /* 3.8 % */
        {1980000, 990000, 64, 1},  {1980000, 2100000, 64, 0},
        {1980000, 990000, 2, 0},   {1980000, 990000, 8, 1}, /* too few known; enough */
        {1980000, -1, 64, 0},                               /* a clock that is not known */
        {-1, 990000, 64, 0},                                /* no clock known before */
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_bench bench = bench_at(cases[i].usual_khz, cases[i].known);
        const struct at_train_time times[] = {{200, cases[i].usual_khz},
                                              {200, cases[i].usual_khz},
                                              {300, cases[i].khz},
                                              {200, cases[i].usual_khz}};
        struct at_train_time samples[5];

        sample(&bench, times, AT_COUNT(times), 5, samples);
        assert_int_equal(bench.discarded, cases[i].discarded);
        assert_int_equal(taken, 5 + cases[i].discarded);
        assert_true(samples[2].ns == (cases[i].discarded ? 100 : 150));
        assert_int_equal(samples[2].clock_sm_khz,
                         cases[i].discarded ? cases[i].usual_khz : cases[i].khz);
    }
}

/* A lasting change is not waited out: no more samples are discarded than were requested; then it is
 * usual. */
static void test_low_for_good(void **state)
{
    static const struct at_train_time low = {300, 1700000};
    struct at_bench bench = bench_at(1980000, 64);
    int64_t discarded = 0;
    struct at_train_time samples[5];

    (void)state;
    sample(&bench, &low, 1, 5, samples);
    assert_int_equal(taken, 10);
    assert_int_equal(bench.discarded, 5);
    assert_true(samples[0].ns == 150 && samples[4].ns == 150);
    for (int i = 0; i < 10; i++) {
        discarded = bench.discarded;
        sample(&bench, &low, 1, 5, samples);
    }
    assert_int_equal(bench.discarded, discarded);
    assert_int_equal(taken, 5);
    assert_int_equal(bench.clocks.least_khz, 1700000);
    assert_int_equal(bench.clocks.most_khz, 1980000);
}

static void test_failure(void **state)
{
    const struct at_sampling wanted = {.launches.count = 1, .samples = 5};
    struct at_bench bench = {.ops = &failing};
    struct at_train_time samples[5];
    int64_t kept;

    (void)state;
    taken = 0;
    assert_int_equal(at_sample(&bench, &wanted, samples, &kept, NULL), AT_CRASH);
    assert_int_equal(taken, 3);
}

/* The last train; made_sets: the number of buffer sets that its launches cycle through. */
static size_t made_launches, made_lead_in, made_sets;

static enum at_outcome note_train(struct at_device *device, const struct at_call *calls,
                                  size_t count, size_t lead_in, struct at_train **train,
                                  struct at_error *err)
{
    (void)device;
    (void)err;
    made_sets = 1;
    while (made_sets < count && calls[made_sets].args[0] != calls[0].args[0])
        made_sets++;
    for (size_t i = 0; i < count; i++)
        assert_true(calls[i].args[0] == calls[i % made_sets].args[0]);
    made_launches = count;
    made_lead_in = lead_in;
    *train = NULL;
    return AT_CORRECT;
}

static void free_nothing(struct at_device *device, struct at_train *train)
{
    (void)device;
    (void)train;
}

/* Whole rounds of the run's sets (all, if it does not say), at least as long as requested; a tenth
 * of it runs before, untimed. */
static void test_trains(void **state)
{
    static const struct at_device_ops noting = {
        .make_train = note_train, .time_train = play, .free_train = free_nothing};
    static const struct {
        double launch_ns;
        int64_t sets, sets_of_run;
        size_t launches, lead_in, cycle;
    } cases[] = {
        {1000, 1, 0, 301, 30, 1}, {1000, 7, 0, 301, 30, 7}, {1000, 23, 0, 322, 32, 23},
        {20000, 1, 1, 16, 1, 1},  {100000, 4, 1, 4, 1, 1},  {100000, 3, 2, 4, 1, 2},
        {1e9, 1, 0, 1, 1, 1},     {1e9, 4, 0, 4, 1, 4},     {1e9, 4, 5, 4, 1, 4},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        const struct at_train_time time = {cases[i].launch_ns, -1};
        struct at_bench bench = {.ops = &noting,
                                 .cases = {{.sets = cases[i].sets, .dst.pitch = 256}}};
        struct at_gpu_run run = {.sets = cases[i].sets_of_run};
        struct at_launches launches;
        struct at_train_time launch;

        assert_int_equal(at_problem_parse(&run.problem, "8x8:f32", NULL), AT_OK);
        script = &time;
        script_length = 1;
        assert_int_equal(at_train_estimate(&bench, NULL, &run, &launch, NULL), AT_CORRECT);
        assert_true(launch.ns == cases[i].launch_ns);
        assert_int_equal(made_launches, 1);
        assert_int_equal(at_train_build(&bench, NULL, &run, launch.ns, 300000, &launches, NULL),
                         AT_CORRECT);
        assert_int_equal(launches.count, cases[i].launches);
        assert_int_equal(made_launches, cases[i].launches);
        assert_int_equal(made_lead_in, cases[i].lead_in);
        assert_int_equal(made_sets, cases[i].cycle);
    }
}

/* What NVML reports, and what the main process is told of it. */
static const struct at_device_state *state_now;

static void tell_state(struct at_device *device, struct at_device_state *now)
{
    (void)device;
    *now = *state_now;
}

static void test_conditions(void **state)
{
    static const struct at_device_ops telling = {.state = tell_state};
    static const struct {
        struct at_device_state state;
        bool slowed;
    } looks[] = {
        /* Clocks, power and temperature; time at the power limit; time slowed down; other
         * processes. */
        {{1980000, 3201000, 500000, 50, 7000000, 300, 0, true, 0}, false},
        {{1900000, 3201000, 690000, 52, 9000000, 300, 2, true, AT_THROTTLE_SW_POWER_CAP}, false},
        {{1950000, 3201000, 600000, 51, 9000000, 800, 1, true, 0}, true},
        {{-1, -1, -1, -1, -1, -1, -1, false, 0}, false},
    };
    struct at_gpu_server server = {.bench = {.ops = &telling},
                                   .conditions = at_gpu_conditions_none(),
                                   .last = at_device_state_unknown()};
    struct at_gpu_conditions seen = at_gpu_conditions_none(), told;
    struct at_wire reply = {0};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(looks); i++) {
        state_now = &looks[i].state;
        server.conditions_due_ns = 0;
        assert_int_equal(at_gpu_server_note_conditions(&server), looks[i].slowed);
        /* Asked a moment ago. */
        assert_false(at_gpu_server_note_conditions(&server));
    }
    server.bench.discarded = 3;
    for (int i = 0; i < 2; i++)
        at_gpu_server_put_conditions(&server, &reply);
    for (int i = 0; i < 2; i++) {
        at_wire_get_struct(&reply, &told, sizeof told);
        at_gpu_conditions_widen(&seen, &told);
    }
    at_wire_clear(&reply);
    assert_int_equal(seen.clock_sm_min_khz, 1900000);
    assert_int_equal(seen.clock_sm_max_khz, 1980000);
    assert_int_equal(seen.power_max_mW, 690000);
    assert_int_equal(seen.other_processes, 2);
    assert_int_equal(seen.throttle, AT_THROTTLE_SW_POWER_CAP);
    /* Reported once, and only what happened since the last report. */
    assert_int_equal(seen.capped_ns, 2000000);
    assert_int_equal(seen.slowed_ns, 500);
    assert_int_equal(seen.discarded, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warm_up),    cmocka_unit_test(test_one_sample),
        cmocka_unit_test(test_low_clocks), cmocka_unit_test(test_low_for_good),
        cmocka_unit_test(test_failure),    cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_trains),     cmocka_unit_test(test_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
