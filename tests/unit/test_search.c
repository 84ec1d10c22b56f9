/* SPDX-License-Identifier: Apache-2.0 */
/* src/search, src/pipeline and src/measure without a device: orders, rankings, sizes of buffers,
 * and configs by name. */
#include "base/memory.h"
#include "measure/bench.h"
#include "measure/measurement.h"
#include "pipeline/cases.h"
#include "pipeline/pipeline.h"
#include "pipeline/session.h"
#include "problem/arguments.h"
#include "problem/problem.h"
#include "search/strategy.h"
#include "space/named.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "problem_of.h"

/* ---- strategies ---- */

enum { COUNT_MAX = 1000 };

/* A square of configs, of which the first `count` are legal. */
enum { SIDE = 32 };

static struct at_space make_space(struct at_config configs[COUNT_MAX], size_t count)
{
    static int64_t values[SIDE];
    static char names[][8] = {"ROW", "COLUMN", "square"};
    static struct at_param params[] = {
        {.name = names[0], .values = values, .value_count = SIDE},
        {.name = names[1], .values = values, .value_count = SIDE},
    };
    static const struct at_family family = {
        .name = names[2], .params = params, .param_count = AT_COUNT(params)};

    for (int i = 0; i < SIDE; i++)
        values[i] = i;
    for (size_t i = 0; i < count; i++)
        configs[i] = (struct at_config){&family, {(int32_t)(i / SIDE), (int32_t)(i % SIDE)}};
    return (struct at_space){.configs = configs, .count = count};
}

/* Ask until there is no more, telling results of every kind in between; returns how many. */
static size_t ask_all(const struct at_strategy *strategy, size_t count, uint64_t seed,
                      size_t order[COUNT_MAX])
{
    struct at_config configs[COUNT_MAX];
    const struct at_space space = make_space(configs, count);
    const struct at_start start = {.seed = seed};
    void *search = strategy->create(&space, &start);
    size_t asked = 0, index;

    while (strategy->ask(search, &index)) {
        assert_true(asked < count);
        order[asked++] = index;
        strategy->tell(search, index, (enum at_outcome)(index % AT_OUTCOMES),
                       1000.0 - (double)index);
    }
    assert_false(strategy->ask(search, &index)); /* it stays false */
    if (asked < count) {
        assert_non_null(strategy->reason);
        assert_non_null(strategy->reason(search));
    }
    strategy->destroy(search);
    return asked;
}

static bool is_permutation(const size_t *order, size_t count)
{
    bool seen[COUNT_MAX] = {false};

    for (size_t i = 0; i < count; i++) {
        if (order[i] >= count || seen[order[i]])
            return false;
        seen[order[i]] = true;
    }
    return true;
}

static const size_t counts[] = {0, 1, 2, 3, 10, COUNT_MAX};

static bool are_different(const size_t *order, size_t count)
{
    bool seen[COUNT_MAX] = {false};

    for (size_t i = 0; i < count; i++) {
        if (order[i] >= COUNT_MAX || seen[order[i]])
            return false;
        seen[order[i]] = true;
    }
    return true;
}

/* Every strategy asks for each config once, or until it has a reason to stop. */
static void test_strategies_ask_each_once(void **state)
{
    (void)state;
    for (size_t i = 0; at_strategies[i]; i++)
        for (size_t j = 0; j < AT_COUNT(counts); j++) {
            size_t order[COUNT_MAX], asked = ask_all(at_strategies[i], counts[j], 1, order);

            assert_true(are_different(order, asked));
            if (!at_strategies[i]->reason)
                assert_true(is_permutation(order, counts[j]));
        }
}

static void test_exhaustive_goes_in_order(void **state)
{
    size_t order[COUNT_MAX];

    (void)state;
    ask_all(&at_strategy_exhaustive, COUNT_MAX, 7, order);
    for (size_t i = 0; i < COUNT_MAX; i++)
        assert_int_equal(order[i], i);
}

static void test_random_follows_its_seed(void **state)
{
    size_t first[COUNT_MAX], again[COUNT_MAX], other[COUNT_MAX];
    size_t in_place = 0, alike = 0;

    (void)state;
    ask_all(&at_strategy_random, COUNT_MAX, 1, first);
    ask_all(&at_strategy_random, COUNT_MAX, 1, again);
    ask_all(&at_strategy_random, COUNT_MAX, 2, other);
    assert_memory_equal(first, again, sizeof first);
    for (size_t i = 0; i < COUNT_MAX; i++) {
        in_place += first[i] == i;
        alike += first[i] == other[i];
    }
    /* Chance gives one of each. */
    assert_true(in_place < 10);
    assert_true(alike < 10);
}

/* A search that ends early has a fair sample: over many seeds each config comes first equally
 * often. */
static void test_random_is_fair(void **state)
{
    enum { CONFIGS = 10, SEEDS = 10000 };
    size_t first[CONFIGS] = {0}, order[COUNT_MAX];

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ask_all(&at_strategy_random, CONFIGS, seed, order);
        first[order[0]]++;
    }
    for (size_t i = 0; i < CONFIGS; i++)
        if (first[i] < 850 || first[i] > 1150) /* 5 standard deviations from 1000 */
            fail_msg("config %zu came first %zu times of %d", i, first[i], SEEDS);
}

/* Time of a config on a smooth hill: 1000 ns in the middle. */
static double hill_ns(size_t index)
{
    double row = (double)(index / SIDE) - 13, column = (double)(index % SIDE) - 17;

    return 1000 + row * row + column * column;
}

/* Guided search predicts the time of each config that it asks for, but for the initial design.
 * Asking for predictions changes nothing. */
static void test_guided_expects(void **state)
{
    enum { INITIAL = 4, ASKED = 60 };
    struct at_config configs[COUNT_MAX];
    const struct at_space space = make_space(configs, COUNT_MAX);
    const struct at_start start = {.seed = 1};
    void *search = at_strategy_guided.create(&space, &start);
    void *silent = at_strategy_guided.create(&space, &start);
    size_t index, same, close = 0;

    (void)state;
    for (size_t i = 0; i < ASKED; i++) {
        double expected_ns;

        assert_true(at_strategy_guided.ask(search, &index));
        assert_true(at_strategy_guided.ask(silent, &same));
        assert_int_equal(index, same);
        expected_ns = at_strategy_guided.expect(search, index);
        if (i < INITIAL)
            assert_true(expected_ns == 0);
        else
            close += fabs(expected_ns / hill_ns(index) - 1) < 0.1;
        at_strategy_guided.tell(search, index, AT_CORRECT, hill_ns(index));
        at_strategy_guided.tell(silent, index, AT_CORRECT, hill_ns(index));
    }
    assert_in_range(close, (ASKED - INITIAL) * 9 / 10, ASKED - INITIAL);
    at_strategy_guided.destroy(search);
    at_strategy_guided.destroy(silent);
}

/* A config that is expected not to work, or to be slower than can be told, has no time. */
static void test_guided_expects_no_time(void **state)
{
    enum { ASKED = 40 };
    struct at_config configs[COUNT_MAX];
    const struct at_space space = make_space(configs, COUNT_MAX);
    const struct at_start start = {.seed = 1};
    void *search = at_strategy_guided.create(&space, &start);
    size_t index;

    (void)state;
    for (size_t i = 0; i < ASKED && at_strategy_guided.ask(search, &index); i++) {
        double expected_ns = at_strategy_guided.expect(search, index);

        assert_true(expected_ns == 0 || (expected_ns > 0 && isfinite(expected_ns)));
        at_strategy_guided.tell(search, index, i % 2 ? AT_CORRECT : AT_CRASH, i % 3 ? 1e12 : 1e-3);
    }
    at_strategy_guided.destroy(search);
}

static void test_strategy_find(void **state)
{
    static const char *const unknown[] = {"Random", "rand", "randomly", ""};

    (void)state;
    for (size_t i = 0; at_strategies[i]; i++) {
        size_t found;

        assert_int_equal(
            at_choose(&found, "search", at_strategies[i]->name, at_strategy_choice, NULL), AT_OK);
        assert_int_equal(found, i);
        assert_ptr_equal(at_strategy_choice(found).entry, at_strategies[i]);
    }
    for (size_t i = 0; i < AT_COUNT(unknown); i++) {
        size_t found = SIZE_MAX;
        struct at_error err = {AT_OK, ""};

        assert_int_equal(at_choose(&found, "search", unknown[i], at_strategy_choice, &err),
                         AT_USAGE);
        assert_non_null(strstr(err.message, "; known are guided, exhaustive, random, "));
        assert_int_equal(found, SIZE_MAX);
    }
}

/* ---- ranking ---- */

#define RESULT(started, done, outcome, ns)                                                         \
    {                                                                                              \
        started, done, outcome, ns, 0                                                              \
    }
#define CORRECT(ns) RESULT(true, true, AT_CORRECT, ns)

static void test_rank_best(void **state)
{
    static struct at_config_result results[] = {
        CORRECT(50), RESULT(true, true, AT_WRONG, 1),    CORRECT(20),
        CORRECT(50), RESULT(true, false, AT_CORRECT, 2), RESULT(false, false, AT_CORRECT, 0),
        CORRECT(10), RESULT(true, true, AT_TIMEOUT, 3),  CORRECT(20),
        CORRECT(90), RESULT(true, true, AT_CRASH, 0),    CORRECT(5),
    };
    static const size_t expected[] = {11, 6, 2, 8, 0, 3, 9};
    struct at_search search = {.space.count = AT_COUNT(results), .results = results};

    (void)state;
    for (size_t most = 0; most <= AT_COUNT(results); most++) {
        size_t best[AT_COUNT(results)], *tight = at_alloc_array(most, sizeof *tight);
        size_t count = at_rank_best(&search, tight, most);

        assert_int_equal(count, most < AT_COUNT(expected) ? most : AT_COUNT(expected));
        memcpy(best, tight, count * sizeof *best);
        assert_memory_equal(best, expected, count * sizeof *best);
        free(tight);
    }
    for (size_t i = 0; i < AT_COUNT(results); i++)
        results[i].outcome = AT_WRONG;
    assert_int_equal(at_rank_best(&search, (size_t[1]){0}, 1), 0);
}

/* Compared with a sort, with many ties. */
static void test_rank_best_of_many(void **state)
{
    struct at_config_result results[COUNT_MAX];
    struct at_search search = {.space.count = COUNT_MAX, .results = results};
    size_t best[COUNT_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT_MAX; i++)
        results[i] = (struct at_config_result)CORRECT((double)(i * 7919 % 97));
    assert_int_equal(at_rank_best(&search, best, COUNT_MAX), COUNT_MAX);
    assert_true(is_permutation(best, COUNT_MAX));
    for (size_t i = 1; i < COUNT_MAX; i++) {
        double before = results[best[i - 1]].time_ns, here = results[best[i]].time_ns;

        assert_true(before < here || (before == here && best[i - 1] < best[i]));
    }
}

/* ---- buffers ---- */

static const struct at_policy *policy_of(const char *name)
{
    const struct at_policy *policy;
    struct at_error err = {AT_OK, ""};

    if (at_policy_find(&policy, name, &err) != AT_OK)
        fail_msg("%s", err.message);
    return policy;
}

static void test_policy_find(void **state)
{
    const struct at_policy *found = NULL;
    struct at_error err = {AT_OK, ""};

    (void)state;
    assert_string_equal(at_policies[0].name, "cold");
    for (size_t i = 0; i < AT_POLICIES; i++)
        assert_ptr_equal(policy_of(at_policies[i].name), &at_policies[i]);
    assert_int_equal(at_policy_find(&found, "hot", &err), AT_USAGE);
    assert_string_equal(err.message,
                        "unknown policy \"hot\" (did you mean cold, warm?); known are cold, warm");
    assert_int_equal(at_policy_find(&found, "", NULL), AT_USAGE);
    assert_null(found);
}

static const char *const specs[] = {
    "1x1:b1",
    "1x1:c128",
    "1024x1024:f32",
    "8192x8192:f64",
    "16384x16384:b1",
    "1009x2003:f32,ld_src=2011,batch=3",
    "3x5:f16,ld_dst=100000",
    "1009x1009:f32,ld_src=1011,batch=2,inplace=1",
};

/* Cold: the sets take at least three times L2, but not one set more, and no more than a train's
 * launches. Finalists have four sets, or as many as 1 GiB holds, if that is more. Warm: one set. */
static void test_buffer_sets(void **state)
{
    static const int64_t l2_sizes[] = {0, 1, 512 << 10, 50 << 20, 128 << 20};
    const struct at_policy *cold = policy_of("cold"), *warm = policy_of("warm");

    (void)state;
    for (size_t i = 0; i < AT_COUNT(specs); i++)
        for (size_t j = 0; j < AT_COUNT(l2_sizes); j++) {
            struct at_problem problem = problem_of(specs[i]);
            struct at_device_info device = {.l2_bytes = l2_sizes[j]};
            int64_t sets = at_policy_search_sets(cold, &problem, &device);
            int64_t all = at_policy_buffer_sets(cold, &problem, &device);
            /* What a launch touches in L2: in place, each element once. */
            int64_t bytes = at_problem_bytes(&problem) / (problem.in_place ? 2 : 1);

            assert_true(sets >= 1 && sets <= 1024);
            assert_true(sets * bytes >= 3 * l2_sizes[j] || sets == 1024);
            assert_true(sets == 1 || (sets - 1) * bytes < 3 * l2_sizes[j]);
            assert_true(all >= 4 || (all + 1) * bytes > INT64_C(1) << 30);
            assert_true(all == sets || (all > sets && all <= 4 && all * bytes <= INT64_C(1) << 30));
            assert_int_equal(at_policy_search_sets(warm, &problem, &device), 1);
            assert_int_equal(at_policy_buffer_sets(warm, &problem, &device), 1);
        }
}

/* An emulated device keeps nothing in L2, and detects accesses beyond a buffer. */
static void test_emulated_buffers(void **state)
{
    const struct at_device_info device = {.kind = AT_KIND_EMULATED, .l2_bytes = 50 << 20};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(specs); i++) {
        struct at_problem problem = problem_of(specs[i]);

        assert_int_equal(at_policy_search_sets(policy_of("cold"), &problem, &device), 1);
        assert_int_equal(at_policy_buffer_sets(policy_of("cold"), &problem, &device), 1);
        assert_int_equal(at_buffer_lay_out(at_problem_bytes(&problem), 0, &device).zone, 256);
    }
}

static void test_red_zones(void **state)
{
    const struct at_device_info device = {.kind = "cuda"};
    int64_t before = 0;

    (void)state;
    for (int64_t bytes = 1; bytes < INT64_C(1) << 40; bytes += bytes / 3 + 1) {
        int64_t zone = at_buffer_lay_out(bytes, 0, &device).zone;
        int64_t whole = at_buffer_lay_out(bytes, 0, &device).pitch;

        assert_int_equal(zone % 256, 0);
        assert_true(zone >= 64 << 10 && zone <= 8 << 20);
        assert_true(zone >= before); /* a larger buffer never has smaller zones */
        before = zone;
        /* Both zones, and the buffer rounded up to the alignment. */
        assert_int_equal(whole % 256, 0);
        assert_true(whole >= bytes + 2 * zone && whole < bytes + 2 * zone + 256);
        /* An offset lengthens both. */
        assert_true(at_buffer_lay_out(bytes, 80, &device).pitch >= bytes + 2 * (zone + 80));
    }
}

static void test_buffers_bytes(void **state)
{
    const struct at_device_info device = {.kind = "cuda"};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(specs); i++) {
        struct at_problem problem = problem_of(specs[i]);
        int64_t src = at_problem_src_extent(&problem) * problem.elem_size;
        int64_t dst = at_problem_dst_extent(&problem) * problem.elem_size;
        int64_t one = at_buffers_bytes(&problem, 1, &device);

        assert_true(one == at_buffer_lay_out(src, 0, &device).pitch +
                               at_buffer_lay_out(dst, 0, &device).pitch);
        assert_true(at_buffers_bytes(&problem, 1000, &device) == 1000 * one);
    }
}

/* The copy of as many bytes fits the problem's buffers, in which the shoot-out runs it. */
static void test_copy_fits_buffers(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(specs); i++) {
        struct at_problem problem = problem_of(specs[i]), copy = at_problem_copy_of(&problem);

        assert_true(at_problem_bytes(&copy) == at_problem_bytes(&problem));
        assert_true(at_problem_src_extent(&copy) <= at_problem_src_extent(&problem));
        assert_true(at_problem_dst_extent(&copy) <= at_problem_dst_extent(&problem));
    }
}

/* ---- verification cases ---- */

/* The tuned problem comes first, with the policy's sets. The others are valid problems of the same
 * elements, each once. A kernel that mixes channels gets those that do, and no other kernel does.
 */
static void test_cases(void **state)
{
    static const char *const with_channels[] = {"1009x2003:u8:f16,batch=3,affine",
                                                "33x20:f32:bf16,affine=rows"};
    const struct at_device_info device = {.l2_bytes = 50 << 20};
    const struct at_policy *policy = policy_of("cold");

    (void)state;
    for (size_t i = 0; i < AT_COUNT(specs) + AT_COUNT(with_channels); i++) {
        const struct at_problem tuned =
            problem_of(i < AT_COUNT(specs) ? specs[i] : with_channels[i - AT_COUNT(specs)]);
        struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX];
        char *texts[AT_VERIFICATION_CASES_MAX];
        size_t count = at_cases_for(&tuned, policy, &device, cases);
        int64_t bytes = 0;

        assert_true(count > 1 && count <= AT_VERIFICATION_CASES_MAX);
        assert_memory_equal(&cases[0].problem, &tuned, sizeof tuned);
        assert_int_equal(cases[0].sets, at_policy_buffer_sets(policy, &tuned, &device));
        for (size_t j = 0; j < count; j++) {
            struct at_problem again;

            texts[j] = at_problem_format(&cases[j].problem);
            again = problem_of(texts[j]);
            assert_memory_equal(&again, &cases[j].problem, sizeof again);
            assert_int_equal(again.elem_size, tuned.elem_size);
            assert_int_equal(again.in_place, tuned.in_place);
            for (size_t k = 1; k < j; k++)
                assert_string_not_equal(texts[j], texts[k]);
            assert_true(j == 0 || cases[j].sets == 1);
            assert_int_equal(at_problem_mixes_channels(&tuned), at_problem_mixes_channels(&again));
            bytes += at_buffers_bytes(&cases[j].problem, cases[j].sets, &device);
        }
        assert_true(at_cases_memory_bytes(&tuned, policy, &device) == bytes);
        while (count > 0)
            free(texts[--count]);
    }
}

/* Axes of extent 1 are the last, in every order of the others. */
static void assert_filled_behind(const struct at_problem *problem)
{
    static const enum at_outer_order orders[] = {AT_OUTER_DESTINATION, AT_OUTER_SOURCE,
                                                 AT_OUTER_ALTERNATING};

    for (size_t i = 0; i < AT_COUNT(orders); i++) {
        struct at_axis axes[AT_AXES_MAX];
        size_t count = at_problem_axes(problem, axes);

        at_axes_order(axes + 2, count - 2, orders[i]);
        for (size_t j = 3; j < count; j++)
            assert_true(axes[j].extent == 1 || axes[j - 1].extent > 1);
    }
}

/* Every tensor in the table of session.c is a problem, also the padded ones. */
static void test_tensor_cases(void **state)
{
    enum { TENSORS = 16 };
    const struct at_device_info device = {.l2_bytes = 50 << 20};
    const struct at_problem tuned = problem_of("2x3x2x3x2x3x2x3x2x3:f32,perm=9876543210");
    struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX];

    (void)state;
    assert_int_equal(at_cases_for(&tuned, policy_of("cold"), &device, cases), 1 + TENSORS);
    for (size_t i = 1; i <= TENSORS; i++)
        assert_filled_behind(&cases[i].problem);
}

/* ---- configs by name ---- */

static int64_t tile_values[] = {16, 32, 64}, pad_values[] = {-1, 0, 1}, depth_values[] = {1, 2};
static struct at_param params[] = {
    {.name = (char[]){"TILE"}, .values = tile_values, .value_count = 3, .default_value = 32},
    {.name = (char[]){"PAD"}, .values = pad_values, .value_count = 3, .default_value = 0},
    {.name = (char[]){"DEPTH"},
     .values = depth_values,
     .value_count = 2,
     .default_value = 2,
     .has_neutral = true,
     .neutral = 1},
};
static struct at_family tile = {
    .name = (char[]){"tile"}, .params = params, .param_count = AT_COUNT(params)};
static struct at_family bare = {.name = (char[]){"bare"}};
static struct at_family *const families[] = {&bare, &tile};

static void test_config_from_names(void **state)
{
    struct at_named_int named[] = {{(char[]){"PAD"}, -1}, {(char[]){"TILE"}, 64}};
    struct at_list list = {named, AT_COUNT(named)}, none = {NULL, 0};
    struct at_config config;
    struct at_error err = {AT_OK, ""};

    (void)state;
    assert_int_equal(
        at_config_from_names(&config, families, AT_COUNT(families), "tile", &list, &err), AT_OK);
    assert_ptr_equal(config.family, &tile);
    assert_int_equal(config.values[0], 64);
    assert_int_equal(config.values[1], -1);
    assert_int_equal(config.values[2], 1); /* not the default */
    assert_int_equal(
        at_config_from_names(&config, families, AT_COUNT(families), "bare", &none, &err), AT_OK);
    assert_ptr_equal(config.family, &bare);
}

static void test_config_from_wrong_names(void **state)
{
    struct at_named_int lists[][3] = {
        {{(char[]){"PAD"}, 0}, {(char[]){"TILE"}, 33}},
        {{(char[]){"PAD"}, 0}, {(char[]){"TILE"}, INT64_C(32) + (INT64_C(1) << 32)}},
        {{(char[]){"PAD"}, 0}, {(char[]){"WIDTH"}, 32}},
        {{(char[]){"PAD"}, 0}},
        {{(char[]){"PAD"}, 0}, {(char[]){"TILE"}, 32}, {(char[]){"X"}, 1}},
        {{(char[]){"pad"}, 0}, {(char[]){"TILE"}, 32}},
    };
    static const struct {
        const char *family, *expected;
        size_t list, count;
    } cases[] = {
        {"tile", "TILE=33 is not in the space of family tile", 0, 2},
        {"tile", "TILE=4294967328 is not in the space of family tile", 1, 2},
        {"tile", "family tile has no parameter WIDTH", 2, 2},
        {"tile", "a config of family tile needs parameter TILE", 3, 1},
        {"tile", "a config of family tile needs parameter TILE", 3, 0},
        {"tile", "family tile has no parameter X", 4, 3},
        {"tile", "family tile has no parameter pad", 5, 2},
        {"bare", "family bare has no parameter PAD", 3, 1},
        {"tiles", "there is no family \"tiles\"", 0, 2},
        {"", "there is no family \"\"", 0, 2},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        const struct at_list list = {lists[cases[i].list], cases[i].count};
        struct at_config config = {.values = {12345}};
        struct at_error err = {AT_OK, ""};

        assert_int_equal(at_config_from_names(&config, families, AT_COUNT(families),
                                              cases[i].family, &list, &err),
                         AT_USAGE);
        assert_string_equal(err.message, cases[i].expected);
        assert_null(config.family); /* set on success only */
        assert_int_equal(config.values[0], 12345);
    }
}

static void test_config_parse(void **state)
{
    static const char *const wrong[] = {
        "",
        "tile",
        "tile PAD=-1",
        "tile PAD=-1 TILE=33",
        "tile DEPTH=1 PAD=-1 TILE=64", /* a file leaves the neutral value out */
        "tile TILE=64 PAD=-1",
        "tile PAD=-1 PAD=-1 TILE=64",
        "tile PAD=-1 TILE=64 TILE=64",
        "tile PAD=-1  TILE=64",
        "tile PAD=-1 TILE=064",
        "tile PAD TILE=64",
        "tiles PAD=-1 TILE=64",
    };
    struct at_config config = {0};
    struct at_error err;

    (void)state;
    assert_int_equal(
        at_config_parse(&config, families, AT_COUNT(families), "tile PAD=-1 TILE=64", &err), AT_OK);
    assert_ptr_equal(config.family, &tile);
    assert_int_equal(config.values[0], 64);
    assert_int_equal(config.values[1], -1);
    assert_int_equal(config.values[2], 1);
    assert_int_equal(
        at_config_parse(&config, families, AT_COUNT(families), "tile DEPTH=2 PAD=-1 TILE=64", &err),
        AT_OK);
    assert_int_equal(config.values[2], 2);
    config.family = NULL;
    for (size_t i = 0; i < AT_COUNT(wrong); i++) {
        if (at_config_parse(&config, families, AT_COUNT(families), wrong[i], &err) != AT_USAGE)
            fail_msg("took \"%s\"", wrong[i]);
        assert_null(config.family);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strategies_ask_each_once),
        cmocka_unit_test(test_exhaustive_goes_in_order),
        cmocka_unit_test(test_random_follows_its_seed),
        cmocka_unit_test(test_random_is_fair),
        cmocka_unit_test(test_guided_expects),
        cmocka_unit_test(test_guided_expects_no_time),
        cmocka_unit_test(test_strategy_find),
        cmocka_unit_test(test_rank_best),
        cmocka_unit_test(test_rank_best_of_many),
        cmocka_unit_test(test_policy_find),
        cmocka_unit_test(test_buffer_sets),
        cmocka_unit_test(test_emulated_buffers),
        cmocka_unit_test(test_red_zones),
        cmocka_unit_test(test_buffers_bytes),
        cmocka_unit_test(test_copy_fits_buffers),
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_tensor_cases),
        cmocka_unit_test(test_config_from_names),
        cmocka_unit_test(test_config_from_wrong_names),
        cmocka_unit_test(test_config_parse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
