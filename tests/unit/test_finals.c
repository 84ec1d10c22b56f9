/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels enter a shoot-out, and which one wins, with made-up times. */
#include "base/memory.h"
#include "base/stats.h"
#include "tune/tune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SAMPLES = 15, CONTESTANTS = 3 };

static struct at_param parameter = {.name = "A", .default_value = 1};

/* Two families with one parameter each. The second is preferred. */
static struct at_family plain = {
    .name = "plain",
    .params = &parameter,
    .param_count = 1,
    .preference = 2,
};
static struct at_family preferred = {
    .name = "preferred",
    .params = &parameter,
    .param_count = 1,
    .preference = 1,
};

/* A contestant: its config, and in which rounds it is slower than 1000 ns, and by how much. */
struct entry {
    const struct at_family *family;
    int32_t value;
    int64_t registers;
    double offset_ns;
    double noise_ns; /* added in every third round, subtracted in the next */
    bool refused;
};

struct shootout_case {
    const char *what;
    struct entry entries[CONTESTANTS];
    size_t fallback, incumbent, winner;
};

static const struct shootout_case cases[] = {
    {"the fastest wins by far",
     {{&plain, 2, 32, 20, 0, false}, {&plain, 3, 32, 0, 0, false}, {&plain, 4, 32, 30, 0, false}},
     SIZE_MAX,
     SIZE_MAX,
     1},
    {"a steady difference is none of the noise, however small",
     {{&plain, 2, 16, 1, 0, false}, {&plain, 3, 32, 0, 0, false}, {&plain, 4, 32, 30, 0, false}},
     SIZE_MAX,
     SIZE_MAX,
     1},
    {"within the noise, fewer registers",
     {{&plain, 2, 40, 0, 3, false}, {&plain, 3, 32, 1, 0, false}, {&plain, 4, 24, 30, 0, false}},
     SIZE_MAX,
     SIZE_MAX,
     1},
    {"within the noise, nearer to the defaults",
     {{&plain, 2, 16, 0, 3, false}, {&plain, 1, 32, 1, 0, false}, {&plain, 4, 24, 30, 0, false}},
     SIZE_MAX,
     SIZE_MAX,
     1},
    {"within the noise, the preferred family",
     {{&plain, 1, 16, 0, 3, false},
      {&preferred, 7, 64, 1, 0, false},
      {&plain, 4, 24, 30, 0, false}},
     SIZE_MAX,
     SIZE_MAX,
     1},
    {"within the noise, the default before all",
     {{&plain, 2, 40, 1, 0, false}, {&preferred, 1, 32, 0, 3, false}, {&plain, 4, 64, 1, 0, false}},
     2,
     SIZE_MAX,
     2},
    {"none that is slower than the default",
     {{&plain, 2, 40, 0, 3, false}, {&plain, 3, 16, 4, 3, false}, {&plain, 1, 32, 2, 0, true}},
     2,
     SIZE_MAX,
     0},
    {"none that is slower than the incumbent, however simple",
     {{&plain, 2, 40, 0, 3, false}, {&plain, 3, 16, 4, 3, false}, {&plain, 4, 64, 2, 0, false}},
     SIZE_MAX,
     2,
     0},
    {"of equal ones that are no slower than the incumbent, the simplest",
     {{&plain, 2, 40, 0, 3, false}, {&plain, 3, 16, 1, 0, false}, {&plain, 4, 64, 2, 0, false}},
     SIZE_MAX,
     2,
     1},
    {"noise does not excuse more than half a percent",
     {{&plain, 2, 40, 0, 0, false}, {&plain, 3, 16, 6, 20, false}, {&plain, 4, 16, 30, 0, false}},
     SIZE_MAX,
     SIZE_MAX,
     0},
    {"a refused one is not even the measure",
     {{&plain, 2, 40, -50, 0, true}, {&plain, 3, 16, 0, 0, false}, {&plain, 4, 16, 30, 0, false}},
     SIZE_MAX,
     SIZE_MAX,
     1},
    {"all are refused",
     {{&plain, 2, 40, 0, 0, true}, {&plain, 3, 16, 0, 0, true}, {&plain, 4, 16, 30, 0, true}},
     SIZE_MAX,
     SIZE_MAX,
     SIZE_MAX},
};

static size_t verdict_of(const struct shootout_case *shootout)
{
    struct at_config configs[CONTESTANTS];
    struct at_finals finals = {
        .finalists = CONTESTANTS, .fallback = shootout->fallback, .incumbent = shootout->incumbent};
    double samples[CONTESTANTS][SAMPLES];
    bool refused[CONTESTANTS];

    for (size_t i = 0; i < CONTESTANTS; i++) {
        const struct entry *entry = &shootout->entries[i];

        configs[i] = (struct at_config){.family = entry->family, .values = {entry->value}};
        for (size_t j = 0; j < SAMPLES; j++)
            samples[i][j] = 1000 + entry->offset_ns + (j % 3 == 1 ? entry->noise_ns : 0) -
                            (j % 3 == 2 ? entry->noise_ns : 0);
        finals.contestants[i] = (struct at_contestant){.config = &configs[i],
                                                       .kernel = {.registers = entry->registers},
                                                       .samples_ns = samples[i],
                                                       .time_ns = at_median(samples[i], SAMPLES)};
        refused[i] = entry->refused;
    }
    return at_finals_winner(&finals, SAMPLES, refused);
}

static void test_winners(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++)
        if (verdict_of(&cases[i]) != cases[i].winner)
            fail_msg("%s: the winner is %zu", cases[i].what, verdict_of(&cases[i]));
}

/* The fastest finalists stay, and so do the default, a copy, and the driver's copy. */
static void test_finalists(void **state)
{
    enum { FINALISTS = 6, ALL = 9 };
    static const struct {
        double times_ns[ALL];
        size_t fallback, incumbent;
        size_t finalists, fallback_then, incumbent_then;
        double left_ns[ALL];
    } lines[] = {
        /* Three finalists. */
        {{1005, 1003, 1002, 1004, 1006, 1001, 970, 980, 5000},
         SIZE_MAX,
         SIZE_MAX,
         3,
         SIZE_MAX,
         SIZE_MAX,
         {1003, 1002, 1001, 970, 5000}},
        /* The ones within six in a thousand. */
        {{1030, 1005, 1000, 1007, 1040, 1050, 980, 970, 5000},
         SIZE_MAX,
         SIZE_MAX,
         2,
         SIZE_MAX,
         SIZE_MAX,
         {1005, 1000, 970, 5000}},
        /* The default is a finalist, or it is not. */
        {{1005, 1003, 1002, 1004, 1006, 1001, 970, 970, 5000},
         2,
         SIZE_MAX,
         3,
         1,
         SIZE_MAX,
         {1003, 1002, 1001, 970, 970, 5000}},
        {{1005, 1003, 1002, 1004, 2000, 1001, 970, 980, 5000},
         4,
         SIZE_MAX,
         4,
         2,
         SIZE_MAX,
         {1003, 1002, 2000, 1001, 970, 5000}},
        /* So does the incumbent. */
        {{1005, 1003, 1002, 1004, 2000, 3000, 970, 980, 5000},
         4,
         5,
         5,
         3,
         4,
         {1003, 1002, 1004, 2000, 3000, 970, 5000}},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(lines); i++) {
        struct at_finals finals = {.count = ALL,
                                   .finalists = FINALISTS,
                                   .fallback = lines[i].fallback,
                                   .incumbent = lines[i].incumbent};
        size_t left = 0;

        while (left < ALL && lines[i].left_ns[left] > 0)
            left++;
        for (size_t j = 0; j < ALL; j++)
            finals.contestants[j].time_ns = lines[i].times_ns[j];
        at_finals_keep(&finals);
        assert_int_equal(finals.finalists, lines[i].finalists);
        assert_int_equal(finals.count, left);
        assert_int_equal(finals.fallback, lines[i].fallback_then);
        assert_int_equal(finals.incumbent, lines[i].incumbent_then);
        for (size_t j = 0; j < finals.count; j++)
            assert_true(finals.contestants[j].time_ns == lines[i].left_ns[j]);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_finalists),
                                              cmocka_unit_test(test_winners)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
