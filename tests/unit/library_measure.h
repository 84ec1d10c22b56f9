/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of plans that measure share: a profile with few entries, so that few kernels are
 * compiled, and a cache for them. */
#ifndef AT_TESTS_UNIT_LIBRARY_MEASURE_H
#define AT_TESTS_UNIT_LIBRARY_MEASURE_H

#include "lib/autotune.h"

/* A folder for the test's files, with cache/ and profile.yaml. */
extern char measure_folder[];

/* Make the folder, and set the environment of the library: its data, the program with the compile
 * workers, and the cache. */
void measure_set_up(void);

/* The end of a group of tests, whose state is the profile that they have open. */
int measure_tear_down(void **state);

autotune_profile *measure_open(const char *path);

/* Untuned, with several rivals among the profile's entries. */
extern const autotune_problem measure_problem;

/* Time enough to compile and measure all rivals, on a busy machine too. */
extern const autotune_plan_options measure_amply;

/* Make a plan; fails the test if that fails, and skips it without NVRTC. */
autotune_plan *measure_plan(const autotune_profile *profile, const autotune_plan_options *options);

/* Does the plan's description have the words? If not, it is printed. */
int measure_says(const autotune_plan *plan, const char *words);

#endif
