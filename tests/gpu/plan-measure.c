/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that measure, in a context with other work: their results, and what they gain. */
#include "base/clock.h"
#include "base/memory.h"
#include "plan-run.h"

#include <stdio.h>
#include <string.h>

/* Few of these are in any profile. */
static const autotune_problem measured[] = {
    {.elem_size = 4, .rows = 6000, .cols = 6000},
    {.elem_size = 2, .rows = 8755, .cols = 99},
    {.elem_size = 1, .rows = 4321, .cols = 12345},
    {.elem_size = 8, .rows = 3000, .cols = 700},
    {.elem_size = 2, .rows = 197, .cols = 64, .batch = 768},
    {.elem_size = 4, .rows = 3, .cols = 1000000},
    {.elem_size = 4, .rows = 2500, .cols = 2500, .in_place = 1},
};

/* Print what the plan says of its measuring. */
static void print_measured(const autotune_problem *p, int64_t budget_ms, int64_t took_ns,
                           const autotune_plan *plan)
{
    static const char mark[] = "\n  measured ";
    char text[8192];
    const char *said;

    autotune_plan_describe(plan, text, sizeof text);
    said = strstr(text, mark);
    printf("%lld x %lld of %lld bytes, batch %lld, %lld ms (the plan took %lld):%.*s\n",
           (long long)p->rows, (long long)p->cols, (long long)p->elem_size, (long long)p->batch,
           (long long)budget_ms, (long long)(took_ns / 1000000),
           said ? (int)strcspn(said + sizeof mark, "\n") : 8,
           said ? said + sizeof mark : " nothing");
}

/* Return the number of wrong runs. */
static int measure(const autotune_profile *profile, const autotune_problem *problem,
                   int64_t budget_ms, CUstream stream)
{
    const autotune_plan_options options = {.measure_ms = budget_ms};
    int64_t began_ns = at_now_ns(), took_ns;
    autotune_plan *plan;
    autotune_error *error = NULL;
    int wrong;

    require_ok(autotune_plan_create_with(&plan, profile, problem, &options, &error), &error,
               "planning");
    took_ns = at_now_ns() - began_ns;
    print_measured(problem, budget_ms, took_ns, plan);
    wrong = check_plan(plan, problem, stream);
    autotune_plan_free(plan);
    return wrong;
}

int measure_plans(const autotune_profile *profile)
{
    /* The first budget lets workers compile; then kernels come from the cache. */
    static const int64_t budgets_ms[] = {5000, 50};
    CUstream stream = make_stream();
    int wrong = 0;

    for (size_t i = 0; i < AT_COUNT(budgets_ms); i++) {
        autotune_wisdom_forget();
        for (size_t j = 0; j < AT_COUNT(measured); j++)
            wrong += measure(profile, &measured[j], budgets_ms[i], stream);
    }
    autotune_wisdom_forget();
    printf("%d wrong\n", wrong);
    at_cuda.cuStreamDestroy(stream);
    return wrong > 0;
}
