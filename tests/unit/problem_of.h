/* SPDX-License-Identifier: Apache-2.0 */
/* A test's problems by their texts. To be included after cmocka.h. */
#ifndef AT_TESTS_UNIT_PROBLEM_OF_H
#define AT_TESTS_UNIT_PROBLEM_OF_H

#include "problem/problem.h"

/* A text that is no problem fails the test. */
static inline struct at_problem problem_of(const char *spec)
{
    struct at_problem problem;
    struct at_error err = {AT_OK, ""};

    if (at_problem_parse(&problem, spec, &err) != AT_OK)
        fail_msg("%s", err.message);
    return problem;
}

#endif
