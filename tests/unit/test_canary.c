/* SPDX-License-Identifier: Apache-2.0 */
/* src/pipeline/canary: what a drift has touched, and which times are too good. */
#include "base/memory.h"
#include "pipeline/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_drift(void **state)
{
    /* Each look follows the one before. */
    static const struct {
        double ns;
        bool drifted;
    } looks[] = {
        {1000, false},                              /* the reference for later ones */
        {1029, false}, {971, false},  {1031, true}, /* 3 % */
        {1031, false},                              /* reported once */
        {1061, false},                              /* compared with the new reference, */
        {1000, true},  {1029, false},               /* not with the last time */
        {1029, false}, {969, true},
    };
    struct at_canary canary = {0};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(looks); i++) {
        size_t *touched, count;

        at_canary_touch(&canary, i);
        at_canary_touch(&canary, 100 + i);
        assert_int_equal(at_canary_drifted(&canary, looks[i].ns, &touched, &count),
                         looks[i].drifted);
        assert_int_equal(canary.count, 0);
        if (!looks[i].drifted)
            continue;
        /* Touched: what was measured since the last check, and nothing earlier. */
        assert_int_equal(count, 2);
        assert_int_equal(touched[0], i);
        assert_int_equal(touched[1], 100 + i);
        free(touched);
    }
    at_canary_clear(&canary);
}

static void test_suspicion(void **state)
{
    static const struct {
        double ns, copy_ns, best_ns;
        bool suspicious;
    } cases[] = {
        {1000, 0, 0, false},      {1000, 1000, 1100, false},
        {951, 1000, 1100, false}, {949, 1000, 1100, true},
        {949, 1000, 0, true},     {949, 1000, 948, false}, /* it would not be the best */
        {801, 0, 1000, false},    {799, 0, 1000, true},
        {799, 700, 1000, true},   {1000, 1000, 30000, true},
        {1200, 0, 1000, false},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++)
        assert_int_equal(at_is_suspicious(cases[i].ns, cases[i].copy_ns, cases[i].best_ns),
                         cases[i].suspicious);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_suspicion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
