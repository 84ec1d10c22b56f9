/* SPDX-License-Identifier: Apache-2.0 */
/* A CUPTI that counts nothing, beside fake_cuda.h. It checks in which order it is called. */
#ifndef AT_TESTS_UNIT_FAKE_CUPTI_H
#define AT_TESTS_UNIT_FAKE_CUPTI_H

#include <stdbool.h>
#include <stddef.h>

/* The function that fails, and with what; NULL: none. */
extern const char *fake_cupti_fails;
extern int fake_cupti_result;

/* In how many launches it counts; below 0: never enough. Ranges that it drops. */
extern int fake_cupti_passes;
extern size_t fake_cupti_dropped;

/* The value of the first counter; that of each other one is one more than the one before. */
extern double fake_cupti_first;

/* Objects that are not given back, and how many ranges were counted. */
extern int fake_cupti_held, fake_cupti_ranges;

/* The names of the counters that were asked for, each followed by a space. */
extern char fake_cupti_names[4096];

/* The launches between a start and its stop, if that was always the same number; else -1. */
extern int fake_cupti_launches_inside;

#endif
