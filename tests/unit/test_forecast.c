/* SPDX-License-Identifier: Apache-2.0 */
/* src/pipeline/session.c: on runs of all kinds, the time left is right within a factor of two from
 * a tenth of the run on, and the line that shows it fits the terminal. */
#include "base/memory.h"
#include "pipeline/session.h"
#include "system/progress.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A run in which each problem takes `startup_s`, then copies, search and shoot-out. Every third
 * search measures 30 % more configs, every other third 30 % fewer. */
static const struct {
    const char *name;
    size_t problems;
    double startup_s; /* before the first problem's first result */
    size_t copies;    /* 0: they are known */
    double copy_s;    /* each */
    size_t configs;   /* that a search measures */
    double config_s;  /* each */
    double finals_s;
    size_t space;
    bool stops;
    double growth;  /* of the configs' times and weights, from each problem to the next */
    size_t changes; /* 0: never; from this problem on all takes `by` times as long, which nothing
                     * can tell before that problem's end */
    double by;
    size_t known; /* so many problems are in the journal of a resumed run */
} runs[] = {
    {"a GPU", 50, 2, 48, 0.02, 90, 0.05, 0.5, 4161, true, 1, 0, 1, 0},
    {"a GPU with few problems", 6, 1, 48, 0.02, 77, 0.05, 0.5, 4161, true, 1, 0, 1, 0},
    {"every config", 10, 2, 48, 0.02, 4161, 0.02, 0.5, 4161, false, 1, 0, 1, 0},
    {"short searches", 50, 2, 12, 0.02, 30, 0.05, 0.5, 4161, true, 1, 0, 1, 0},
    {"long searches", 50, 2, 48, 0.02, 300, 0.05, 0.5, 4161, true, 1, 0, 1, 0},
    {"known copies", 20, 1, 0, 0, 90, 0.05, 0.5, 4161, true, 1, 0, 1, 0},
    {"an emulated device", 6, 0.5, 24, 0.05, 24, 0.14, 0.8, 24, true, 1, 0, 1, 0},
    {"growing problems", 6, 0.5, 24, 0.05, 24, 0.14, 0.8, 24, true, 1.5, 0, 1, 0},
    {"a machine that others begin to use", 20, 2, 48, 0.02, 90, 0.05, 0.5, 4161, true, 1, 8, 4, 0},
    {"a machine that others leave", 20, 2, 48, 0.02, 90, 0.05, 0.5, 4161, true, 1, 8, 0.4, 0},
    {"a resumed run", 10, 0.3, 48, 0.02, 90, 0.05, 0.5, 4161, true, 1, 0, 1, 6},
};

static int64_t ns(double seconds)
{
    return (int64_t)(1e9 * seconds) + 1;
}

/* How many configs problem i measures. */
static size_t configs_of(size_t run, size_t i)
{
    static const double parts[] = {1, 1.3, 0.7};

    return runs[run].stops && runs[run].configs < runs[run].space
               ? (size_t)((double)runs[run].configs * parts[i % 3])
               : runs[run].configs;
}

/* Go through a run. With checked > 0, which is its length, check what is said; return its length.
 */
static double simulate(size_t run, double checked)
{
    struct at_forecast forecast = {0};
    double now_s = 0, weight = 1, waiting = 0;

    for (size_t i = 0; i < runs[run].problems; i++, weight *= runs[run].growth)
        waiting += weight;
    weight = 1;
    for (size_t i = 0; i < runs[run].problems; i++, weight *= runs[run].growth) {
        bool known = i < runs[run].known;
        double pace = weight * (known                                             ? 0
                                : runs[run].changes > 0 && i >= runs[run].changes ? runs[run].by
                                                                                  : 1);

        waiting -= weight;
        at_forecast_begin(&forecast, weight, waiting, ns(now_s));
        now_s += i == 0 ? runs[run].startup_s : 0;
        for (int copies = 1; copies >= 0; copies--) {
            struct at_forecast_search search = {
                .most = copies ? runs[run].copies : runs[run].space,
                .stops = runs[run].stops || copies,
                .copies = copies,
            };
            size_t count = copies ? runs[run].copies : configs_of(run, i);

            if (known)
                search.found = count;

            while (search.done < count) {
                struct at_time_left left;

                now_s += pace * (copies ? runs[run].copy_s : runs[run].config_s);
                search.done++;
                left = at_forecast_left(&forecast, &search, ns(now_s));
                if (checked == 0 || known || now_s < checked / 10 ||
                    (runs[run].changes > 0 && i <= runs[run].changes) ||
                    fabs(left.run - (checked - now_s)) < checked / 20)
                    continue;
                if (left.run < (checked - now_s) / 2 || left.run > (checked - now_s) * 2 ||
                    left.problem > left.run)
                    fail_msg("%s, problem %zu, config %zu: %.1f s are left and not %.1f",
                             runs[run].name, i, search.done, checked - now_s, left.run);
            }
            if (count > 0)
                at_forecast_searched(&forecast, &search, ns(now_s));
        }
        now_s += pace * runs[run].finals_s;
        at_forecast_end(&forecast, ns(now_s));
    }
    return now_s;
}

static void test_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(runs); i++)
        simulate(i, simulate(i, 0));
}

static void test_nothing_known(void **state)
{
    const struct at_forecast_search search = {.most = 10};
    struct at_forecast forecast = {0};

    (void)state;
    assert_true(at_forecast_left(&forecast, &search, 5).run < 0);
    at_forecast_begin(&forecast, 1, 3, 5);
    assert_true(at_forecast_left(&forecast, &search, 6).problem < 0);
}

static const struct at_progress_state short_name = {.what = "8192x8192:f32",
                                                    .index = 3,
                                                    .of = 50,
                                                    .done = 24,
                                                    .total = 77,
                                                    .best_gbps = 3456,
                                                    .of_copy = 0.812,
                                                    .left_s = 12.3,
                                                    .run_left_s = 840};
static const struct at_progress_state long_name = {.what =
                                                       "10007x10009:f16,ld_src=10016,ld_dst=10240",
                                                   .index = 3,
                                                   .of = 50,
                                                   .done = 24,
                                                   .total = 4161,
                                                   .total_is_known = true,
                                                   .best_gbps = 3456,
                                                   .of_copy = 0.812,
                                                   .predicted = true,
                                                   .left_s = 9000,
                                                   .run_left_s = 90000,
                                                   .run_ends_ns = INT64_C(1000000000) * 7200};
static const struct at_progress_state ending = {
    .what = "8192x8192:f32", .index = 3, .of = 50, .left_s = 0.4, .run_left_s = 5};
static const struct at_progress_state unknown = {
    .what = "8192x8192:f32", .index = 1, .of = 1, .left_s = -1, .run_left_s = -1};

static const struct {
    const struct at_progress_state *state;
    int width;
    const char *line;
} lines[] = {
    {&short_name, 79, "[3/50] 8192x8192:f32  24 of ~77  81.2% of copy  12 s, run 14 min left"},
    {&short_name, 119,
     "[3/50] 8192x8192:f32  24 of ~77  best 3456 GB/s (81.2% of copy)  12 s, run 14 min left"},
    {&short_name, 50, "[3/50] 8192x8192:f32  24 of ~77  12 s, run 14 min "},
    {&long_name, 79, "[3/50] 10007x10009:f16,..  24 of 4161  2.0 h, run 2.0 h left"},
    {&long_name, 89,
     "[3/50] 10007x10009:f16,ld_src=10016,ld_dst=10240  24 of 4161  2.0 h, run 2.0 h left"},
    {&long_name, 119,
     "[3/50] 10007x10009:f16,ld_src=10016,ld_dst=10240  24 of 4161  81.2% of copy, predicted  2.0 "
     "h, run 2.0 h left"},
    {&ending, 79, "[3/50] 8192x8192:f32  under 5 s, run 5 s left"},
    {&unknown, 79, "[1/1] 8192x8192:f32"},
};

static void test_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(lines); i++) {
        char *line = at_progress_line(lines[i].state, lines[i].width, 0);

        assert_true((int)strlen(line) <= lines[i].width);
        assert_string_equal(line, lines[i].line);
        free(line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs),
                                       cmocka_unit_test(test_nothing_known),
                                       cmocka_unit_test(test_lines)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
