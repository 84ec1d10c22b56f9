/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings, and strategies on them: src/recording, src/search, src/replay. */
#include "base/memory.h"
#include "replay/compare.h"
#include "search/bayesian/acquisition.h"
#include "search/bayesian/coverage.h"
#include "search/bayesian/guided.h"
#include "search/landscape.h"
#include "search/warm_start.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sample.h"
#include "source_tree.h"

/* ---- reading and writing ---- */

#define HEAD                                                                                       \
    "autotune recording\t3\nproblem\t64x64:f32\ndevice\tSome GPU\nsetting\tany\n"                  \
    "copy_ns\t90\nevaluation_ns\t5000000\n"
#define FAMILY     "family\tone\t1\tabc\t2\t3\nparam\tA\t1\t1 2\nparam\tB\t0\t0 5 -1\n"
#define ROWS       "1 0\t100 104 101\n1 -1\twrong\n2 5\t99\n"
#define ROWS_COSTS "1 0\t100 104 101\t7000000\n1 -1\twrong\n2 5\t99\t900000000000\n"

static char path[] = "/tmp/autotune-test-recording-XXXXXX";

static enum at_status read_text(struct at_recording *recording, const char *text,
                                struct at_error *err)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
    return at_recording_read(recording, path, err);
}

static void test_read(void **state)
{
    struct at_recording recording;
    struct at_error err = {AT_OK, ""};

    (void)state;
    if (read_text(&recording, "# a comment\n" HEAD FAMILY ROWS, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(recording.problem.rows, 64);
    assert_string_equal(recording.device, "Some GPU");
    assert_int_equal(recording.copy_ns, 90);
    assert_int_equal(recording.evaluation_ns, 5000000);
    assert_int_equal(recording.family_count, 1);
    assert_int_equal(recording.space.count, 3);
    assert_int_equal(recording.space.configs[1].values[1], -1);
    assert_int_equal(recording.results[0].sample_count, 3);
    assert_true(recording.results[0].time_ns == 101);
    assert_int_equal(recording.results[1].outcome, AT_WRONG);
    assert_null(recording.results[1].samples_ns);
    assert_int_equal(recording.best, 2);
    at_recording_clear(&recording);
}

/* The time of an evaluation is the config's own, or the mean. */
static void test_read_costs(void **state)
{
    struct at_recording recording;
    struct at_error err = {AT_OK, ""};
    size_t size;
    char *text;

    (void)state;
    if (read_text(&recording, HEAD FAMILY ROWS_COSTS, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(at_recording_cost(&recording, 0), 7000000);
    assert_int_equal(recording.results[1].outcome, AT_WRONG);
    assert_int_equal(at_recording_cost(&recording, 1), 5000000);
    assert_int_equal(at_recording_cost(&recording, 2), 900000000000);
    /* A search without an end of its own took longer than can be read. */
    recording.results[2].cost_ns++;
    assert_int_equal(at_recording_write(&recording, path, &err), AT_OK);
    assert_int_equal(at_file_read(&text, &size, path, 1 << 20, &err), AT_OK);
    assert_string_equal(text, HEAD FAMILY ROWS_COSTS);
    free(text);
    at_recording_clear(&recording);
}

static void test_write_what_was_read(void **state)
{
    char *shipped = path_of("tests/recordings/h200-10007x10009-b1.recording");
    char *before = text_of("tests/recordings/h200-10007x10009-b1.recording"), *after;
    struct at_recording recording;
    struct at_error err = {AT_OK, ""};
    size_t size;

    (void)state;
    assert_int_equal(at_recording_read(&recording, shipped, &err), AT_OK);
    assert_int_equal(at_recording_write(&recording, path, &err), AT_OK);
    assert_int_equal(at_file_read(&after, &size, path, 1 << 20, &err), AT_OK);
    assert_string_equal(after, before);
    at_recording_clear(&recording);
    free(after);
    free(before);
    free(shipped);
}

static void test_read_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", "the file is empty"},
        {"autotune", "the last line does not end"},
        {"\n", ":1:1: this is no recording of autotune"},
        {"# tile\n", ":1:1: this is no recording of autotune"},
        {"autotune recording\t4\n",
         ":1:1: this is version 4 of the format; only version 3 can be read"},
        {"autotune recording\t0\n", ":1:1: this is version 0 of the format"},
        {"autotune recording\tone\n", ":1:1: this is version one of the format"},
        {"autotune recording\t3\ndevice\tX\n", ":2:1: expected \"problem\", a tab and its value"},
        {"autotune recording\t3\nproblem\t64\n", ":2: problem \"64\": expected ROWSxCOLS"},
        {"autotune recording\t3\nproblem\t64x64:f32\ndevice\t\n",
         ":3:1: expected a printable text"},
        {"autotune recording\t3\nproblem\t64x64:f32\ndevice\tX\nsetting\tY\ncopy_ns\t-1\n",
         ":5:1: expected a time in nanoseconds"},
        {"autotune recording\t3\nproblem\t64x64:f32\ndevice\t\033[2J\n",
         ":3:1: expected a printable text"},
        {HEAD, "no config in this recording is correct"},
        {HEAD "family\to\177e\t1\tabc\t2\t1\n", ":7:1: expected \"family\", its name"},
        {HEAD "family\tone\t1\tabc\t2\n", ":7:1: expected \"family\", its name"},
        {HEAD "family\tone\t1\tabc\t25\t1\n", ":7:1: expected \"family\", its name"},
        {HEAD "family\tone\t1\tabc\t1\t500001\n", ":7:1: expected \"family\", its name"},
        {HEAD "family\tone\t1\tabc\t1\t1\nfamily\n", ":8:1: expected \"param\""},
        {HEAD "family\tone\t1\tabc\t1\t1\n", ":7:1: expected \"param\""},
        {HEAD "family\tone\t1\tabc\t1\t1\nparam\tA\t1\n", ":8:1: expected a default, a tab"},
        {HEAD "family\tone\t1\tabc\t1\t1\nparam\tA\t1\t2\n", ":8:1: the default is none of"},
        {HEAD "family\tone\t1\tabc\t1\t1\nparam\tA\t1\t1 1\n", ":8:1: expected values of 32 bits"},
        {HEAD "family\tone\t1\tabc\t1\t1\nparam\tA\t1\t1 x\n", ":8:1: expected values of 32 bits"},
        {HEAD "family\tone\t1\tabc\t2\t1\nparam\tA\t1\t1\nparam\tA\t1\t1\n", ":9:1: a second"},
        {HEAD "family\tone\t1\tabc\t1\t1\nparam\tA\t1\t1 2\t3\n",
         ":8:1: the neutral value is none"},
        {HEAD "family\tone\t1\tabc\t1\t1\nparam\tA\t1\t1 2\t\n", ":8:1: the neutral value is none"},
        {HEAD "family\tone\t1\tabc\t1\t1\nlaunches\t1\n", ":8:1: expected 2 to 16 launches"},
        {HEAD FAMILY, ":9:1: the file ends before the last config of one"},
        {HEAD FAMILY "1 0\t100\n", ":10:1: the file ends before"},
        {HEAD FAMILY "1 7\t100\n", ":10:1: no value for B"},
        {HEAD FAMILY "1\t100\n", ":10:1: no value for B"},
        {HEAD FAMILY "1 0 0\t100\n", ":10:1: more values than one has"},
        {HEAD FAMILY "1 0\n", ":10:1: expected a tab and samples"},
        {HEAD FAMILY "1 0\t\n", ":10:1: expected samples in nanoseconds"},
        {HEAD FAMILY "1 0\t0\n", ":10:1: expected samples in nanoseconds"},
        {HEAD FAMILY "1 0\t1.5\n", ":10:1: expected samples in nanoseconds"},
        {HEAD FAMILY "1 0\tright\n", ":10:1: expected samples in nanoseconds"},
        {HEAD FAMILY "1 0\tcorrect\n", ":10:1: expected samples in nanoseconds"},
        {HEAD FAMILY "1 0\t100\t\n", ":10:1: expected the time of the evaluation"},
        {HEAD FAMILY "1 0\t100\t0\n", ":10:1: expected the time of the evaluation"},
        {HEAD FAMILY "1 0\t100\t900000000001\n", ":10:1: expected the time of the evaluation"},
        {HEAD FAMILY "1 0\t100\t5\t5\n", ":10:1: expected the time of the evaluation"},
        {HEAD FAMILY "1 0\t\t5\n", ":10:1: expected samples in nanoseconds"},
        {HEAD FAMILY "1 0\t100\n1 0\t100\n", ":11:1: this config does not come after"},
        {HEAD FAMILY "2 0\t100\n1 0\t100\n", ":11:1: this config does not come after"},
        {HEAD FAMILY ROWS "2 -1\t1\n", ":13:1: expected \"family\", its name"},
        {HEAD FAMILY ROWS FAMILY, ":13:1: a second family named one"},
        {HEAD FAMILY "1 0\toom\n1 -1\twrong\n2 5\tcrash\n", "no config in this recording"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_recording recording = {.best = 12345};
        struct at_error err = {AT_OK, ""};

        if (read_text(&recording, cases[i].text, &err) != AT_USAGE)
            fail_msg("case %zu was read", i);
        if (!strstr(err.message, cases[i].expected) || strncmp(err.message, path, strlen(path)))
            fail_msg("case %zu: %s", i, err.message);
        assert_int_equal(recording.best, 12345);
    }
}

/* ---- the landscape ---- */

static struct at_recording small, large;

/* Count the parameters in which two configs of the small recording differ; SIZE_MAX: two
 * families. */
static size_t count_differing(size_t left, size_t right)
{
    const struct at_config *a = &small.space.configs[left], *b = &small.space.configs[right];
    size_t differing = 0;

    for (size_t i = 0; i < a->family->param_count; i++)
        differing += a->values[i] != b->values[i];
    return a->family == b->family ? differing : SIZE_MAX;
}

static void test_neighbours(void **state)
{
    struct at_landscape land;
    size_t neighbours[AT_NEIGHBOURS_MAX], total = 0;

    (void)state;
    at_landscape_init(&land, &small.space);
    for (size_t i = 0; i < small.space.count; i++) {
        size_t count = at_landscape_neighbours(&land, i, neighbours);

        total += count;
        assert_int_equal(at_landscape_find(&land, land.region_of[i], at_landscape_levels(&land, i)),
                         i);
        for (size_t j = 0; j < count; j++)
            assert_in_range(count_differing(i, neighbours[j]), 1, 2);
    }
    assert_true(total > 4 * small.space.count); /* constraints leave some neighbours */
    at_landscape_clear(&land);
}

/* All near configs are drawn once, and nothing else. */
static void test_draw_near(void **state)
{
    struct at_landscape land;
    struct at_rng rng = {1};
    size_t index, near = 0, drawn = 0, centre = small.best;

    (void)state;
    at_landscape_init(&land, &small.space);
    at_landscape_take(&land, centre);
    for (size_t i = 0; i < small.space.count; i++)
        near += i != centre && count_differing(i, centre) <= 2;
    assert_in_range(near, 1, small.space.count - 2);
    while (at_landscape_draw_near(&land, &rng, centre, 2, &index)) {
        assert_in_range(count_differing(index, centre), 1, 2);
        drawn++;
    }
    assert_int_equal(drawn, near);
    at_landscape_clear(&land);
}

/* ---- strategies ---- */

static struct at_course run(const struct at_strategy *strategy,
                            const struct at_recording *recording, uint64_t seed, size_t ahead,
                            size_t budget)
{
    const struct at_replay_plan plan = {
        .strategy = strategy, .start = {.seed = seed}, .ahead = ahead, .budget = budget};
    struct at_course course;
    struct at_error err = {AT_OK, ""};

    if (at_replay(&course, recording, &plan, &err) != AT_OK)
        fail_msg("%s", err.message);
    return course;
}

/* Results may be told late. at_replay checks that no config is asked for twice. */
static void test_strategies_find_good_configs(void **state)
{
    static const size_t aheads[] = {1, 7, 512};

    (void)state;
    for (size_t i = 0; at_strategies[i]; i++)
        for (size_t j = 0; j < AT_COUNT(aheads); j++)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                const struct at_strategy *strategy = at_strategies[i];
                struct at_course course =
                    run(strategy, &small, seed, aheads[j], small.space.count * 2 / 3);

                if (at_course_reach(&course, &small, 5) == SIZE_MAX)
                    fail_msg("%s, seed %d, %zu ahead", strategy->name, (int)seed, aheads[j]);
                at_course_clear(&course);
            }
}

static void test_strategies_follow_their_seed(void **state)
{
    (void)state;
    for (size_t i = 0; at_strategies[i]; i++) {
        struct at_course first = run(at_strategies[i], &large, 1, 16, 60);
        struct at_course again = run(at_strategies[i], &large, 1, 16, 60);
        struct at_course other = run(at_strategies[i], &large, 2, 16, 60);

        assert_int_equal(first.count, 60); /* exactly the budget */
        assert_int_equal(again.count, 60);
        assert_memory_equal(first.best_ns, again.best_ns, 60 * sizeof *first.best_ns);
        if (!at_strategies[i]->ignores_seed)
            assert_memory_not_equal(first.best_ns, other.best_ns, 60 * sizeof *first.best_ns);
        at_course_clear(&first);
        at_course_clear(&again);
        at_course_clear(&other);
    }
}

static void test_strategies_end(void **state)
{
    (void)state;
    for (size_t i = 0; at_strategies[i]; i++) {
        struct at_course course = run(at_strategies[i], &small, 1, 512, 0);

        if (at_strategies[i]->reason)
            assert_true(course.reason || course.count == small.space.count);
        else
            assert_true(at_course_reach(&course, &small, 0) == course.count);
        at_course_clear(&course);
    }
}

static void test_found(void **state)
{
    double best_ns[] = {INFINITY, INFINITY, 5, 4, 4, 4};
    static const struct {
        size_t count, found;
    } cases[] = {{0, 0}, {1, 0}, {2, 0}, {3, 3}, {4, 4}, {6, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct at_course course = {.best_ns = best_ns, .count = cases[i].count};

        assert_int_equal(at_course_found(&course), cases[i].found);
    }
}

/* Assert the number of evaluations of a search, and why it stops. */
static void assert_stops(const struct at_recording *recording, const struct at_replay_plan *plan,
                         size_t least, size_t most, const char *reason)
{
    struct at_course course;

    assert_int_equal(at_replay(&course, recording, plan, NULL), AT_OK);
    assert_in_range(course.count, least, most);
    assert_non_null(course.reason);
    assert_non_null(strstr(course.reason, reason));
    at_course_clear(&course);
}

/* Likely configs come first, and a copy that is no faster ends the search. */
static void test_guided_starts_and_stops(void **state)
{
    const size_t likely[] = {small.best};
    const double best_ns = small.results[small.best].time_ns;
    struct at_replay_plan plan = {
        .strategy = &at_strategy_guided,
        .start = {.seed = 1, .likely = likely, .likely_count = 1, .copy_ns = best_ns / 1.005},
        .ahead = 1,
    };

    (void)state;
    assert_stops(&small, &plan, 1, 1, "copy limit");
    plan.start.copy_ns = best_ns / 1.015;
    assert_stops(&small, &plan, 30, 119, "noise");
    /* Far from the copy limit the search goes on longer, unless the problem was searched before. */
    plan.start.copy_ns = best_ns / 1.06;
    assert_stops(&small, &plan, 120, small.space.count - 1, "noise");
    plan.start.searched_before = true;
    assert_stops(&small, &plan, 30, 119, "noise");
    /* The earlier winner is confirmed only if it takes as long as it did. */
    plan.start.winner = small.best;
    plan.start.winner_ns = best_ns / 1.05;
    assert_stops(&small, &plan, 30, 119, "noise");
    plan.start.winner_ns = best_ns / 1.02;
    assert_stops(&small, &plan, 20, 30, "confirms");
}

static bool is_even(void *state, size_t index)
{
    (void)state;
    return index % 2 == 0;
}

/* Among configs of similar expected improvement it takes a compiled one. */
static void test_guided_prefers_compiled_configs(void **state)
{
    static bool (*const at_hand[])(void *, size_t) = {NULL, is_even};
    size_t even[AT_COUNT(at_hand)] = {0};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(at_hand); i++) {
        const struct at_start start = {.seed = 1, .compiled = {.has = at_hand[i]}};
        void *guided = at_strategy_guided.create(&large.space, &start);
        size_t index;

        for (size_t asked = 0; asked < 100; asked++) {
            assert_true(at_strategy_guided.ask(guided, &index));
            at_strategy_guided.tell(guided, index, large.results[index].outcome,
                                    large.results[index].time_ns);
            even[i] += asked >= 20 && index % 2 == 0;
        }
        at_strategy_guided.destroy(guided);
    }
    assert_in_range(even[0], 20, 49);
    assert_in_range(even[1], 50, 80);
}

/* A few missing results are not waited for, unless they will arrive soon. */
static void test_waiting_for_results(void **state)
{
    static const struct {
        size_t waiting;
        bool all, even; /* should wait, if all are compiled, or only the even ones */
    } cases[] = {{0, false, false}, {1, true, false}, {2, true, true}, {5, true, true}};
    const struct at_compiled all = {0}, none_but_even = {.has = is_even};
    struct at_rng rng = {1};
    size_t index;

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_landscape land;

        at_landscape_init(&land, &small.space);
        for (size_t j = 0; j < cases[i].waiting; j++)
            assert_true(at_landscape_take(&land, j + 1));
        at_landscape_tell(&land, 0, AT_CORRECT, 1000);
        assert_int_equal(at_compiled_should_wait(&all, &land), cases[i].all);
        assert_int_equal(at_compiled_should_wait(&none_but_even, &land), cases[i].even);
        /* When nothing is left to ask for, all are waited for. */
        while (at_landscape_draw(&land, &rng, &index))
            at_landscape_tell(&land, index, AT_CORRECT, 1000);
        assert_int_equal(at_compiled_should_wait(&none_but_even, &land), cases[i].waiting > 0);
        at_landscape_clear(&land);
    }
}

/* It predicts what it asks for next. */
static void test_guided_precompiles(void **state)
{
    const struct at_strategy *strategy = &at_strategy_guided;
    const struct at_start start = {.seed = 1};
    void *guided = strategy->create(&large.space, &start);
    size_t foreseen[4], count, index, met = 0, asked = 0;

    (void)state;
    assert_int_equal(strategy->likely_next(guided, foreseen, AT_COUNT(foreseen)),
                     0); /* nothing to predict from yet */
    while (asked < 100) {
        count = asked > 0 ? strategy->likely_next(guided, foreseen, AT_COUNT(foreseen)) : 0;
        assert_true(count <= AT_COUNT(foreseen));
        if (!strategy->ask(guided, &index))
            break;
        for (size_t i = 0; i < count; i++)
            met += asked >= 50 && foreseen[i] == index;
        strategy->tell(guided, index, large.results[index].outcome, large.results[index].time_ns);
        asked++;
    }
    strategy->destroy(guided);
    assert_int_equal(asked, 100);
    assert_in_range(met, 25, 50);
}

/* For launches of a few microseconds the copy is no limit, and the patience is longer, also with a
 * warm start. */
static void test_guided_on_short_launches(void **state)
{
    struct at_recording scaled = small;
    static const struct {
        size_t known, least;
    } cases[] = {{1, 120}, {8, 60}};
    size_t likely[8] = {small.best};
    struct at_replay_plan plan = {
        .strategy = &at_strategy_guided,
        .start = {.seed = 1, .likely = likely},
        .ahead = 1,
    };
    size_t count = small.space.count;
    double factor = 3000 / small.results[small.best].time_ns;

    (void)state;
    scaled.results = at_memdup(small.results, count * sizeof *small.results);
    for (size_t i = 0; i < count; i++)
        scaled.results[i].time_ns *= factor;
    for (size_t i = 1; i < AT_COUNT(likely); i++)
        likely[i] = i;
    plan.start.copy_ns = 3000;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        plan.start.likely_count = cases[i].known;
        assert_stops(&scaled, &plan, cases[i].least, count - 1, "noise");
    }
    free(scaled.results);
}

/* Far from the copy limit, every neighbour of the best config is measured in the end. */
static void test_guided_ends_among_neighbours(void **state)
{
    const struct at_strategy *strategy = &at_strategy_guided;
    struct at_landscape land;
    size_t index, neighbours[AT_NEIGHBOURS_MAX], count;

    (void)state;
    for (uint64_t seed = 1; seed <= (runs_whole() ? 5 : 1); seed++) {
        void *guided = strategy->create(&large.space, &(struct at_start){.seed = seed});

        at_landscape_init(&land, &large.space);
        while (strategy->ask(guided, &index)) {
            at_landscape_tell(&land, index, large.results[index].outcome,
                              large.results[index].time_ns);
            strategy->tell(guided, index, large.results[index].outcome,
                           large.results[index].time_ns);
        }
        assert_in_range(land.told_count, 120, large.space.count / 4);
        count = at_landscape_neighbours(&land, land.best, neighbours);
        assert_true(count > 0);
        for (size_t i = 0; i < count; i++)
            assert_true(land.told[neighbours[i]]);
        strategy->destroy(guided);
        at_landscape_clear(&land);
    }
}

/* Tell the result of every config that coverage asks for, each taking time_ns; returns how many. */
static size_t look(struct at_landscape *land, struct at_coverage_goal looks, bool *wanted,
                   size_t region, double time_ns)
{
    size_t count = 0;

    while (at_coverage_mark(land, looks, wanted)) {
        size_t index = 0;

        while (!wanted[index])
            index++;
        assert_false(land->asked[index]);
        assert_int_equal(land->region_of[index], region);
        at_landscape_tell(land, index, AT_CORRECT, time_ns);
        assert_true(++count < land->space->count);
    }
    return count;
}

/* Every value of a parameter of a good family is covered this often. */
static void test_coverage_of_values(void **state)
{
    bool *wanted = at_alloc_array(small.space.count, sizeof *wanted);
    size_t before = 0;

    (void)state;
    for (size_t looks = 1; looks <= 2; looks++) {
        struct at_landscape land;
        size_t region, values = 0, taken;

        at_landscape_init(&land, &small.space);
        assert_false(at_coverage_mark(&land, (struct at_coverage_goal){.value = looks}, wanted));
        at_landscape_tell(&land, small.best, AT_CORRECT, 100);
        region = land.region_of[small.best];
        taken = look(&land, (struct at_coverage_goal){.value = looks}, wanted, region, 200);
        for (size_t i = 0; i < land.regions[region].family->param_count; i++)
            values += land.regions[region].family->params[i].value_count;
        assert_in_range(taken, before + 1, looks * values);
        before = taken;
        at_landscape_clear(&land);
    }
    free(wanted);
}

/* Take a config of the values' next turn; returns its region, SIZE_MAX if there was none. */
static size_t take_turn(struct at_value_turns *turns, struct at_landscape *land, size_t goal,
                        bool *wanted)
{
    size_t region = at_value_turns_mark(turns, land, goal, 0, wanted), index = 0;

    if (region == SIZE_MAX)
        return region;
    while (!wanted[index])
        index++;
    assert_int_equal(land->region_of[index], region);
    assert_false(land->asked[index]);
    turns->taken[region]++;
    at_landscape_tell(land, index, AT_CORRECT, 100);
    return region;
}

/* Families near the best have turns by their sizes. In the end each value has had as many configs
 * as coverage wants. */
static void test_turns_of_values(void **state)
{
    bool *wanted = at_alloc_array(small.space.count, sizeof *wanted);
    struct at_landscape land;
    struct at_value_turns turns;
    size_t largest = 0, slow, taken = 0;

    (void)state;
    at_landscape_init(&land, &small.space);
    at_value_turns_init(&turns, &land, 1);
    assert_true(take_turn(&turns, &land, 2, wanted) == SIZE_MAX); /* no result yet */
    slow = land.region_count - 1;
    for (size_t i = 0; i < land.region_count; i++) {
        at_landscape_tell(&land, land.regions[i].first, AT_CORRECT, i == slow ? 105 : 100);
        if (i != slow && land.regions[i].count > land.regions[largest].count)
            largest = i;
    }
    assert_true(at_value_turns_mark(&turns, &land, 2, 1, wanted) != largest);
    assert_int_equal(take_turn(&turns, &land, 2, wanted), largest);
    for (taken = 1; take_turn(&turns, &land, 2, wanted) != SIZE_MAX;)
        taken++;
    assert_int_equal(turns.taken[slow], 0);
    assert_int_equal(land.asked_count, land.region_count + taken);
    assert_false(at_coverage_mark(&land, (struct at_coverage_goal){.value = 2}, wanted));
    at_value_turns_clear(&turns);
    at_landscape_clear(&land);
    free(wanted);
}

/* A family is covered while its best is not too far behind for its number of configs. */
static void test_coverage_of_families(void **state)
{
    static const struct {
        double time_ns; /* of the family's configs; the best of all takes 100 */
        size_t looks;   /* how many are told in the end */
    } cases[] = {{160, 1}, {140, 2}, {112, 5}, {104, 13}, {102, 20}, {100, 20}};
    bool *wanted = at_alloc_array(small.space.count, sizeof *wanted);

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_landscape land;
        size_t region = 0;

        at_landscape_init(&land, &small.space);
        region += land.region_of[small.best] == region;
        assert_true(land.regions[region].count > 20);
        /* All configs of the best family are told, one of this family, and one failed of each
         * other. */
        for (size_t j = 0; j < land.region_count; j++)
            at_landscape_tell(&land, land.regions[j].first, j == region ? AT_CORRECT : AT_WRONG,
                              cases[i].time_ns);
        for (size_t j = 0; j < small.space.count; j++)
            if (land.region_of[j] == land.region_of[small.best])
                at_landscape_tell(&land, j, AT_CORRECT, 100);
        assert_int_equal(1 + look(&land, (struct at_coverage_goal){.family = 20}, wanted, region,
                                  cases[i].time_ns),
                         cases[i].looks);
        at_landscape_clear(&land);
    }
    free(wanted);
}

/* The neighbours of the fastest correct configs are wanted until they are asked for. */
static void test_surroundings(void **state)
{
    bool *wanted = at_alloc_array(small.space.count, sizeof *wanted);
    size_t neighbours[AT_NEIGHBOURS_MAX], slow = small.best / 2, count, marked = 0;
    struct at_landscape land;

    (void)state;
    at_landscape_init(&land, &small.space);
    assert_false(at_surroundings_mark(&land, 4, wanted));
    at_landscape_tell(&land, slow + 1, AT_WRONG, 1);
    assert_false(at_surroundings_mark(&land, 4, wanted));
    at_landscape_tell(&land, slow, AT_CORRECT, 200);
    at_landscape_tell(&land, small.best, AT_CORRECT, 100);
    /* Only the fastest is a centre. */
    assert_true(at_surroundings_mark(&land, 1, wanted));
    count = at_landscape_neighbours(&land, small.best, neighbours);
    for (size_t i = 0; i < small.space.count; i++)
        marked += wanted[i];
    for (size_t i = 0; i < count; i++) {
        marked -= wanted[neighbours[i]];
        assert_int_equal(wanted[neighbours[i]], !land.asked[neighbours[i]]);
        at_landscape_tell(&land, neighbours[i], AT_CORRECT, 300);
    }
    assert_int_equal(marked, 0);
    assert_false(at_surroundings_mark(&land, 1, wanted));
    assert_true(at_surroundings_mark(&land, 2, wanted)); /* the slow one's */
    at_landscape_clear(&land);
    free(wanted);
}

/* Without a copy limit, and without gain, about every other config is a neighbour of the fastest
 * ones; with one, few are. The times follow no rule, so the Gaussian process has no reason to stay
 * near.
 */
static void test_guided_looks_around(void **state)
{
    enum { SEEDS = 6, ASKED = 110, FROM = 50, COUNTED = SEEDS * (ASKED - FROM) };
    bool *wanted = at_alloc_array(large.space.count, sizeof *wanted);
    size_t near[2] = {0};

    (void)state;
    for (uint64_t run = 0; run < 2 * SEEDS; run++) {
        bool known = run % 2;
        struct at_start start = {.seed = 1 + run / 2, .copy_ns = known ? 90000 : 0};
        void *guided = at_strategy_guided.create(&large.space, &start);
        struct at_landscape land;
        size_t index;

        at_landscape_init(&land, &large.space);
        for (size_t asked = 0; asked < ASKED; asked++) {
            double time_ns = asked == 0 ? 100000 : 110000 + 1000 * (double)(asked * 37 % 101);

            assert_true(at_strategy_guided.ask(guided, &index));
            at_surroundings_mark(&land, 8, wanted);
            near[known] += asked >= FROM && wanted[index];
            at_landscape_tell(&land, index, AT_CORRECT, time_ns);
            at_strategy_guided.tell(guided, index, AT_CORRECT, time_ns);
        }
        at_strategy_guided.destroy(guided);
        at_landscape_clear(&land);
    }
    assert_in_range(near[0], COUNTED / 2, COUNTED);
    assert_in_range(near[1], 0, COUNTED / 2 - 1);
    free(wanted);
}

/* The more the predictions are doubted, the more configs may be faster; the more is known, the
 * fewer. The error of a prediction is positive if the config is slower. */
static void test_hopes(void **state)
{
    struct at_landscape land;
    struct at_acquisition *acquisition;
    struct at_prediction prediction;
    double sure, doubted, before = INFINITY;

    (void)state;
    at_landscape_init(&land, &small.space);
    acquisition = at_acquisition_create(&land, 1);
    assert_true(at_acquisition_predict(acquisition, small.best).deviation == 0);
    for (size_t known = 0; known < 2; known++) {
        for (size_t i = known; i < small.space.count; i += 10) {
            at_landscape_tell(&land, i, small.results[i].outcome, small.results[i].time_ns);
            at_acquisition_add(acquisition, i);
        }
        at_acquisition_update(acquisition, 3);
        sure = at_acquisition_hopes(acquisition, 0.01, 1);
        doubted = at_acquisition_hopes(acquisition, 0.01, 3);
        assert_true(sure > 0 && doubted > 2 * sure && sure < before);
        assert_true(at_acquisition_hopes(acquisition, 0.2, 1) < sure);
        before = sure;
    }
    prediction = at_acquisition_predict(acquisition, 4);
    assert_true(prediction.deviation > 0);
    assert_true(at_prediction_error(&prediction, prediction.best_ns) <
                at_prediction_error(&prediction, 2 * prediction.best_ns));
    assert_true(isfinite(at_prediction_error(&prediction, INFINITY)));
    at_acquisition_free(acquisition);
    at_landscape_clear(&land);
}

/* ---- the score ---- */

static void test_score(void **state)
{
    struct at_recording recording;
    struct at_baseline baseline;
    struct at_course courses[2];
    double at_once;

    (void)state;
    assert_int_equal(read_text(&recording, HEAD FAMILY "1 0\t100\n1 -1\t130\n2 5\t160\n", NULL),
                     AT_OK);
    at_baseline_make(&baseline, &recording);
    /* Of 100, 130, 160: one drawn is 130 on average; two are 110; all are 100. */
    assert_int_equal(baseline.budget, 3);
    assert_true(fabs(baseline.best_ns[0] - 130) < 1e-9);
    assert_true(fabs(baseline.best_ns[1] - 110) < 1e-9);
    assert_true(fabs(baseline.best_ns[2] - 100) < 1e-9);
    at_once = 100;
    courses[0] = (struct at_course){.best_ns = &at_once, .count = 1};
    assert_true(fabs(at_score(&baseline, courses, 1) - 1) < 1e-9);
    courses[0] = (struct at_course){.best_ns = baseline.best_ns, .count = 3};
    assert_true(fabs(at_score(&baseline, courses, 1)) < 1e-9);
    courses[1] = (struct at_course){.best_ns = &at_once, .count = 1};
    assert_true(fabs(at_score(&baseline, courses, 2) - 0.5) < 1e-9);
    at_baseline_clear(&baseline);
    at_recording_clear(&recording);
}

/* ---- curves ---- */

static const int64_t instants_ns[] = {2999999, 3000000, 10000000, 400000000};

/* Two searches: the first finds 130 and then 100, and the second a config that fails, and then 110.
 */
static void test_curves(void **state)
{
    static const size_t evaluations[] = {1, 2, 3, 50};
    struct at_recording recording;
    struct at_baseline baseline;
    struct at_course courses[] = {
        {(double[]){130, 100}, (double[]){3e6, 10e6}, 2, NULL},
        {(double[]){INFINITY, 110, 110}, (double[]){100e6, 200e6, 300e6}, 3, NULL}};
    struct at_searches searches = {&recording, &baseline, courses, 2};
    const struct at_curve_record *points;
    struct at_list lists[3], mean;

    (void)state;
    assert_int_equal(read_text(&recording, HEAD FAMILY "1 0\t100\n1 -1\t130\n2 5\t160\n", NULL),
                     AT_OK);
    at_baseline_make(&baseline, &recording);
    lists[0] = at_curve_after(&searches, evaluations, AT_COUNT(evaluations));
    points = lists[0].items;
    assert_int_equal(lists[0].count, 4);
    assert_int_equal(points[0].behind_ppm, 450000); /* 30 % and, without a result, 60 % */
    assert_int_equal(points[0].lower_ppm, 300000);
    assert_int_equal(points[0].median_ppm, 300000);
    assert_int_equal(points[0].upper_ppm, 600000);
    assert_int_equal(points[0].ms, 52); /* of 3 and 100 */
    assert_int_equal(points[1].ms, 105);
    assert_int_equal(points[1].behind_ppm, 50000);
    assert_int_equal(points[2].ms, 300); /* the first search did not get there */
    assert_int_equal(points[3].ms, 0);
    assert_int_equal(points[3].behind_ppm, 50000);
    lists[1] = at_curve_within(&searches, instants_ns, AT_COUNT(instants_ns));
    points = lists[1].items;
    assert_int_equal(lists[1].count, 4);
    assert_int_equal(points[0].behind_ppm, 600000); /* nothing is complete */
    assert_int_equal(points[0].evaluations, 0);
    assert_int_equal(points[1].behind_ppm, 450000);
    assert_int_equal(points[2].behind_ppm, 300000); /* 0 and 60 % */
    assert_int_equal(points[2].evaluations, 1);
    assert_int_equal(points[2].ms, 10);
    assert_int_equal(points[3].evaluations, 3); /* 2.5 */
    lists[2] = (struct at_list){0};             /* of a recording that tells no times */
    mean = at_curve_mean(lists + 1, 2);
    assert_memory_equal(mean.items, lists[1].items, 4 * sizeof *points);
    free(mean.items);
    free(lists[1].items);
    recording.evaluation_ns = 0;
    lists[1] = at_curve_within(&searches, instants_ns, AT_COUNT(instants_ns));
    assert_int_equal(lists[1].count, 0);
    lists[1] = at_curve_drawn_after(&searches); /* 1, 2, 3 */
    ((struct at_curve_record *)lists[1].items)[0].ms = 0;
    mean = at_curve_mean(lists, 2);
    points = mean.items;
    assert_int_equal(points[0].ms, 52); /* an unknown time does not count */
    assert_int_equal(lists[1].count, 3);
    assert_int_equal(mean.count, 4);
    assert_int_equal(points[2].evaluations, 3);
    assert_int_equal(points[3].evaluations, 50); /* of the longer one */
    free(mean.items);
    free(lists[0].items);
    free(lists[1].items);
    at_baseline_clear(&baseline);
    at_recording_clear(&recording);
}

/* A search takes the time of its evaluations, whatever it finds. */
static void test_spent(void **state)
{
    struct at_recording recording;
    struct at_replay_plan plan = {.strategy = &at_strategy_exhaustive, .ahead = 1};
    struct at_course course;

    (void)state;
    assert_int_equal(read_text(&recording, HEAD FAMILY ROWS_COSTS, NULL), AT_OK);
    assert_int_equal(at_replay(&course, &recording, &plan, NULL), AT_OK);
    assert_int_equal(course.count, 3);
    assert_true(at_course_spent(&course, 0) == 0);
    assert_true(at_course_spent(&course, 1) == 7e6);
    assert_true(at_course_spent(&course, 2) == 12e6); /* with the mean */
    assert_true(at_course_spent(&course, 9) == 900012e6);
    assert_int_equal(at_course_within(&course, 7e6 - 1), 0);
    assert_int_equal(at_course_within(&course, 7e6), 1);
    assert_int_equal(at_course_within(&course, 12e6), 2);
    assert_int_equal(at_course_within(&course, 1e18), 3);
    at_course_clear(&course);
    at_recording_clear(&recording);
}

/* ---- warm start ---- */

static void test_warm_start(void **state)
{
    struct at_warm_start warm_start = {0};
    struct at_winner winner;
    size_t index, *likely,
        defaults = at_warm_start_likely(&warm_start, &small.problem, &small.space, &likely);

    (void)state;
    assert_int_equal(defaults, 4); /* naive, odd, skew and tile */
    assert_string_equal(small.space.configs[likely[0]].family->name,
                        "tile"); /* the preferred family */
    free(likely);
    at_warm_start_add(&warm_start, &(struct at_winner){.problem = large.problem,
                                                       .config = large.space.configs[large.best],
                                                       .verified = true});
    at_warm_start_add(&warm_start, &(struct at_winner){.problem = small.problem,
                                                       .config = small.space.configs[small.best],
                                                       .verified = true});
    assert_int_equal(at_warm_start_likely(&warm_start, &small.problem, &small.space, &likely), 5);
    assert_int_equal(likely[0], small.best); /* the winner of the same problem */
    free(likely);
    assert_true(at_warm_start_has(&warm_start, &small.space.configs[small.best],
                                  (struct at_problem_kind){.elem_size = 1, .axes = 1, .rows = 1}));
    assert_false(at_warm_start_has(&warm_start, &small.space.configs[small.best],
                                   (struct at_problem_kind){.elem_size = 4, .axes = 1, .rows = 1}));
    assert_false(at_warm_start_has(&warm_start, &small.space.configs[small.best + 1],
                                   (struct at_problem_kind){.elem_size = 1, .axes = 1, .rows = 1}));
    assert_false(at_warm_start_knows(&warm_start, &small.problem, &small.space, &winner, &index));
    warm_start.winners[1].space = (int64_t)small.space.count;
    assert_true(at_warm_start_knows(&warm_start, &small.problem, &small.space, &winner, &index));
    assert_int_equal(index, small.best);
    assert_true(winner.time_ns == 0); /* unknown whether anything has changed since */
    assert_false(at_warm_start_knows(&warm_start, &small.problem, &large.space, &winner, &index));
    assert_false(at_warm_start_knows(&warm_start, &large.problem, &small.space, &winner, &index));
    at_warm_start_add(&warm_start,
                      &(struct at_winner){.problem = small.problem,
                                          .config = small.space.configs[small.best + 1],
                                          .space = (int64_t)small.space.count,
                                          .time_ns = 1000});
    assert_true(at_warm_start_knows(&warm_start, &small.problem, &small.space, &winner, &index));
    assert_int_equal(index, small.best + 1); /* nothing has changed */
    assert_true(winner.time_ns == 1000);
    at_warm_start_clear(&warm_start);
}

/* A family whose default is not legal still has a start: the config nearest to it. */
static void test_warm_start_of_each_family(void **state)
{
    size_t *likely, count;
    bool seen[32] = {false}; /* most families of a recording */
    struct at_warm_start warm_start = {0};
    struct at_landscape land;

    (void)state;
    at_landscape_init(&land, &small.space);
    count = at_warm_start_likely(&warm_start, &small.problem, &small.space, &likely);
    for (size_t i = 0; i < count; i++)
        seen[land.region_of[likely[i]]] = true;
    for (size_t i = 0; i < land.region_count; i++)
        assert_true(seen[i]);
    free(likely);
    at_landscape_clear(&land);
}

/* ---- main ---- */

static int setup(void **state)
{
    char *names[] = {path_of("tests/recordings/h200-10007x10009-b1.recording"),
                     path_of("tests/recordings/h200-8192x8192-f32.recording")};
    int file = mkstemp(path);

    (void)state;
    if (file < 0 || at_recording_read(&small, names[0], NULL) != AT_OK ||
        at_recording_read(&large, names[1], NULL) != AT_OK)
        return -1;
    close(file);
    free(names[0]);
    free(names[1]);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    at_recording_clear(&small);
    at_recording_clear(&large);
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_read_costs),
        cmocka_unit_test(test_write_what_was_read),
        cmocka_unit_test(test_read_what_is_wrong),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_draw_near),
        cmocka_unit_test(test_strategies_find_good_configs),
        cmocka_unit_test(test_strategies_follow_their_seed),
        cmocka_unit_test(test_strategies_end),
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_guided_starts_and_stops),
        cmocka_unit_test(test_guided_precompiles),
        cmocka_unit_test(test_guided_prefers_compiled_configs),
        cmocka_unit_test(test_waiting_for_results),
        cmocka_unit_test(test_guided_on_short_launches),
        cmocka_unit_test(test_guided_ends_among_neighbours),
        cmocka_unit_test(test_coverage_of_values),
        cmocka_unit_test(test_turns_of_values),
        cmocka_unit_test(test_coverage_of_families),
        cmocka_unit_test(test_surroundings),
        cmocka_unit_test(test_guided_looks_around),
        cmocka_unit_test(test_hopes),
        cmocka_unit_test(test_score),
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_spent),
        cmocka_unit_test(test_warm_start),
        cmocka_unit_test(test_warm_start_of_each_family),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
