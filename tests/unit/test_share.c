/* SPDX-License-Identifier: Apache-2.0 */
/* src/problem/share.c: shares are even and whole, and what launchers set tells which is whose. */
#include "base/memory.h"
#include "base/rng.h"
#include "problem/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROBLEMS = 211 };

/* Different problems from 2 bytes to 2 GiB. */
static void make_list(struct at_problem list[PROBLEMS])
{
    struct at_rng rng = {1};

    for (int i = 0; i < PROBLEMS; i++) {
        int64_t cols = (int64_t)1 << at_rng_below(&rng, 15);

        list[i] = (struct at_problem){
            .elem_size = 1 << at_rng_below(&rng, 5), .rows = i + 1, .cols = cols};
        assert_int_equal(at_problem_complete(&list[i], NULL), AT_OK);
    }
}

static void shuffle(struct at_problem *list, size_t count)
{
    struct at_rng rng = {2};

    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)at_rng_below(&rng, i);
        struct at_problem swapped = list[i - 1];

        list[i - 1] = list[j];
        list[j] = swapped;
    }
}

static size_t deal(const struct at_problem list[PROBLEMS], struct at_problem share[PROBLEMS],
                   int64_t index, int64_t of)
{
    size_t count = PROBLEMS;

    memcpy(share, list, PROBLEMS * sizeof *share);
    at_share_deal((struct at_share){index, of}, share, &count);
    return count;
}

static void each_problem_is_in_one_share(void **state)
{
    static const int64_t shares[] = {1, 2, 3, 7, 8, 100, 105, 106, 210, 211, 212, 1000};
    struct at_problem list[PROBLEMS], share[PROBLEMS];

    (void)state;
    make_list(list);
    for (size_t n = 0; n < AT_COUNT(shares); n++) {
        int dealt[PROBLEMS] = {0};

        for (int64_t i = 1; i <= shares[n]; i++) {
            size_t count = deal(list, share, i, shares[n]);

            for (size_t j = 0; j < count; j++)
                dealt[at_problem_as_given(&share[j]).rows - 1]++; /* rows tell the problems apart */
        }
        for (int i = 0; i < PROBLEMS; i++)
            assert_int_equal(dealt[i], 1);
    }
}

static void shares_are_even(void **state)
{
    struct at_problem list[PROBLEMS], share[PROBLEMS];

    (void)state;
    make_list(list);
    for (int64_t of = 1; of <= PROBLEMS + 1; of++) {
        int64_t most = 0, least = INT64_MAX, largest = 0;
        size_t fewest = PROBLEMS, greatest = 0;

        for (int64_t i = 1; i <= of; i++) {
            size_t count = deal(list, share, i, of);
            int64_t bytes = 0;

            for (size_t j = 0; j < count; j++) {
                int64_t one = at_problem_bytes(&share[j]);

                assert_true(j == 0 || one <= at_problem_bytes(&share[j - 1]));
                bytes += one;
                largest = one > largest ? one : largest;
            }
            fewest = count < fewest ? count : fewest;
            greatest = count > greatest ? count : greatest;
            most = bytes > most ? bytes : most;
            least = bytes < least ? bytes : least;
        }
        assert_in_range(greatest - fewest, 0, 1);
        /* Dealt to and fro, sums of a descending list differ by no more than its first number. */
        assert_true(most - least <= largest);
    }
}

/* Where sizes descend evenly, each two rounds make the same sum. */
static void what_is_larger_is_followed_by_what_is_smaller(void **state)
{
    enum { SHARES = 4, ROUNDS = 6 };
    struct at_problem list[SHARES * ROUNDS], share[SHARES * ROUNDS];

    (void)state;
    for (int i = 0; i < SHARES * ROUNDS; i++) {
        list[i] = (struct at_problem){.elem_size = 4, .rows = i + 1, .cols = 100};
        assert_int_equal(at_problem_complete(&list[i], NULL), AT_OK);
    }
    for (int64_t i = 1; i <= SHARES; i++) {
        size_t count = AT_COUNT(list);
        int64_t rows = 0;

        memcpy(share, list, sizeof list);
        at_share_deal((struct at_share){i, SHARES}, share, &count);
        for (size_t j = 0; j < count; j++)
            rows += share[j].rows;
        assert_int_equal(rows, ROUNDS * (SHARES * ROUNDS + 1) / 2);
    }
}

static void order_makes_no_difference(void **state)
{
    struct at_problem list[PROBLEMS], shuffled[PROBLEMS], a[PROBLEMS], b[PROBLEMS];

    (void)state;
    make_list(list);
    list[17] = list[3]; /* as many bytes: the name decides */
    list[17].rows = list[3].cols;
    list[17].cols = list[3].rows;
    list[17].ld_src = list[17].ld_dst = list[17].stride_src = list[17].stride_dst = 0;
    assert_int_equal(at_problem_complete(&list[17], NULL), AT_OK);
    memcpy(shuffled, list, sizeof list);
    shuffle(shuffled, PROBLEMS);
    for (int64_t i = 1; i <= 8; i++) {
        size_t count = deal(list, a, i, 8);

        assert_int_equal(deal(shuffled, b, i, 8), count);
        for (size_t j = 0; j < count; j++)
            assert_true(at_problem_equal(&a[j], &b[j]));
    }
}

static void the_whole_list_stays(void **state)
{
    struct at_problem list[PROBLEMS], share[PROBLEMS];

    (void)state;
    make_list(list);
    assert_int_equal(deal(list, share, 0, 0), PROBLEMS);
    assert_memory_equal(list, share, sizeof list);
}

/* The variables that any case sets. */
static const char *const variables[] = {
    "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_COUNT",
    "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_MAX",
    "SLURM_ARRAY_TASK_STEP",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK",
    "PMI_SIZE",
    "FLUX_TASK_RANK",
    "FLUX_JOB_SIZE",
    "RANK",
    "WORLD_SIZE",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_STEP_NUM_TASKS",
};

#define ARRAY(id, count, first, last, step)                                                        \
    "SLURM_ARRAY_TASK_ID=" id " SLURM_ARRAY_TASK_COUNT=" count " SLURM_ARRAY_TASK_MIN=" first      \
    " SLURM_ARRAY_TASK_MAX=" last " SLURM_ARRAY_TASK_STEP=" step " "

/* An environment, what --shard auto takes from it, and words of the message if that is an error. */
static const struct {
    const char *environment;
    int64_t index, of;
    const char *words;
} launched[] = {
    {ARRAY("1", "8", "1", "8", "1"), 1, 8, "Slurm's job array"},
    {ARRAY("8", "8", "1", "8", "1"), 8, 8, "Slurm's job array"},
    {ARRAY("0", "3", "0", "2", "1"), 1, 3, "Slurm's job array"},
    {ARRAY("7", "4", "3", "9", "2"), 3, 4, "Slurm's job array"},
    {ARRAY("2", "2", "1", "2", "1") "SLURM_PROCID=0 SLURM_NTASKS=4", 2, 2, "Slurm's job array"},
    {ARRAY("2", "2", "1", "2", "1") "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1", 2, 2,
     "Slurm's job array"},
    {"SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4", 1, 4, "srun"},
    {"SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4", 4, 4, "srun"},
    {"OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=5", 3, 5, "Open MPI"},
    {"OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=5 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2", 3, 5,
     "Open MPI"},
    {"PMI_RANK=1 PMI_SIZE=2", 2, 2, "MPICH or Intel MPI"},
    {"FLUX_TASK_RANK=0 FLUX_JOB_SIZE=16", 1, 16, "Flux"},
    {"RANK=15 WORLD_SIZE=16", 16, 16, "torchrun"},
    {"", 0, 0, "no launcher"},
    {"SLURM_PROCID=0 SLURM_NTASKS=4", 0, 0, "no launcher"},
    {"RANK=3", 0, 0, "no launcher"},
    {"WORLD_SIZE=3", 0, 0, "but not RANK"},
    {"RANK=3 WORLD_SIZE=3", 0, 0, "contradict"},
    {"RANK=-1 WORLD_SIZE=3", 0, 0, "RANK=-1"},
    {"RANK=1 WORLD_SIZE=0", 0, 0, "WORLD_SIZE=0"},
    {"RANK=one WORLD_SIZE=3", 0, 0, "RANK=one"},
    {"RANK=1 WORLD_SIZE=3x", 0, 0, "WORLD_SIZE=3x"},
    {"RANK=1 WORLD_SIZE=9999999", 0, 0, "contradict"},
    {ARRAY("7", "2", "2", "7", "1"), 0, 0, "gaps"},
    {ARRAY("4", "4", "3", "9", "2"), 0, 0, "contradict"},
    {ARRAY("9", "8", "1", "8", "1"), 0, 0, "contradict"},
    {ARRAY("1", "8", "1", "8", "0"), 0, 0, "SLURM_ARRAY_TASK_STEP=0"},
    {"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=8", 0, 0, "but not SLURM_ARRAY_TASK_MIN"},
    {ARRAY("1", "2", "1", "2", "1") "SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4", 0, 0, "both number"},
    {ARRAY("1", "2", "1", "2", "1") "PMI_RANK=1 PMI_SIZE=2", 0, 0, "both number"},
};

static void set_environment(const char *environment)
{
    char *text = at_strdup(environment), *rest = text;

    for (size_t i = 0; i < AT_COUNT(variables); i++)
        unsetenv(variables[i]);
    for (char *pair; (pair = strsep(&rest, " "));) {
        char *value = strchr(pair, '=');

        if (!value)
            continue;
        *value = '\0';
        setenv(pair, value + 1, 1);
    }
    free(text);
}

static void auto_asks_the_launcher(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(launched); i++) {
        struct at_share share = {0};
        const char *launcher = NULL;
        struct at_error err = {0};
        enum at_status status;

        set_environment(launched[i].environment);
        status = at_share_parse(&share, &launcher, "auto", &err);
        if (status != (launched[i].of > 0 ? AT_OK : AT_USAGE) || share.index != launched[i].index ||
            share.of != launched[i].of ||
            !strstr(status == AT_OK ? launcher : err.message, launched[i].words))
            fail_msg("\"%s\": %d, %d of %d, %s", launched[i].environment, (int)status,
                     (int)share.index, (int)share.of, status == AT_OK ? launcher : err.message);
    }
    set_environment("");
}

static void other_texts(void **state)
{
    static const struct {
        const char *text;
        int64_t index, of; /* 0: refused */
    } cases[] = {
        {"1/1", 1, 1},       {"3/8", 3, 8},   {"1000000/1000000", 1000000, 1000000},
        {"", 0, 0},          {"3", 0, 0},     {"0/8", 0, 0},
        {"9/8", 0, 0},       {"-1/8", 0, 0},  {"3/", 0, 0},
        {"/8", 0, 0},        {"3/8/2", 0, 0}, {" 3/8", 0, 0},
        {"3/0", 0, 0},       {"a/b", 0, 0},   {"1/1000001", 0, 0},
        {"automatic", 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_share share = {0};
        const char *launcher = "none";
        struct at_error err;
        enum at_status status = at_share_parse(&share, &launcher, cases[i].text, &err);

        assert_int_equal(status, cases[i].of > 0 ? AT_OK : AT_USAGE);
        assert_int_equal(share.index, cases[i].index);
        assert_int_equal(share.of, cases[i].of);
        if (status == AT_OK)
            assert_null(launcher);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_problem_is_in_one_share),
        cmocka_unit_test(shares_are_even),
        cmocka_unit_test(what_is_larger_is_followed_by_what_is_smaller),
        cmocka_unit_test(order_makes_no_difference),
        cmocka_unit_test(the_whole_list_stays),
        cmocka_unit_test(auto_asks_the_launcher),
        cmocka_unit_test(other_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
