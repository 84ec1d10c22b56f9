/* SPDX-License-Identifier: Apache-2.0 */
/* src/lookup/network.c on a network that a person can compute. */
#include "lookup/network.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Two inputs, three units, two units, one number. Unit 0 is x, unit 1 is y - 1, unit 2 is -x - y.
 */
static const signed char first[] = {4, 0, -4, 0, 2, -2};
static const float first_scales[] = {0.25F, 0.5F}, first_biases[] = {0, -1, 0};
/* Unit 0 is 2 * (unit 0) + 3 * (unit 1), unit 1 is 10 - (unit 2). */
static const signed char second[] = {2, 0, 3, 0, 0, -1};
static const float second_scales[] = {1, 1, 1}, second_biases[] = {0, 10};
static const signed char last[] = {1, -10};
static const float last_scales[] = {1, 0.1F};

static const struct at_network_table table = {3,
                                              {
                                                  {2, 3, first, first_scales, first_biases},
                                                  {3, 2, second, second_scales, second_biases},
                                                  {2, 1, last, last_scales, NULL},
                                              }};

static void test_numbers(void **state)
{
    static const struct {
        float x, y, number;
    } cases[] = {
        {0, 0, -10}, /* 0 - 10 */
        {1, 0, -8},  /* 2 - 10 */
        {0, 3, -4},  /* 6 - 10 */
        {1, 3, -2},  /* 2 + 6 - 10 */
        {-5, 0, -5}, /* units below 0 count as 0: 0 - (10 - 5) */
        {-4, -8, 0}, /* 0 - 0 */
        {-1, 3, -4}, /* 6 - 10 */
    };
    struct at_network *network = at_network_open(&table);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float sums[AT_NETWORK_UNITS_MAX];

        at_network_begin(network, sums);
        at_network_add(network, 1, cases[i].y, sums);
        at_network_add(network, 0, cases[i].x, sums);
        if (fabsf(at_network_finish(network, sums) - cases[i].number) > 1e-5F)
            fail_msg("case %zu", i);
    }
    at_network_close(network);
    at_network_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
