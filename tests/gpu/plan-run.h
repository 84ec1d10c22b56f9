/* SPDX-License-Identifier: Apache-2.0 */
/* Functions shared by the files of plan-run. */
#ifndef AT_TESTS_GPU_PLAN_RUN_H
#define AT_TESTS_GPU_PLAN_RUN_H

#include "device/cuda/driver.h"
#include "lib/autotune.h"

/* On a failure these print what was being done and exit with 1. */
void require(CUresult result, const char *doing);
void require_ok(autotune_status status, autotune_error **error, const char *doing);
CUstream make_stream(void);

/* Check each byte that a plan of this problem writes, at several addresses, directly and from a
 * graph. Return the number of wrong runs; each is printed. */
int check_plan(const autotune_plan *plan, const autotune_problem *problem, CUstream stream);

/* Run in the current context. Return the exit code. */
int check_plans(const autotune_profile *profile);
int measure_plans(const autotune_profile *profile);
int time_calls(const autotune_profile *profile);

#endif
