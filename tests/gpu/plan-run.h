/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of plan-run share. */
#ifndef AT_TESTS_GPU_PLAN_RUN_H
#define AT_TESTS_GPU_PLAN_RUN_H

#include "device/cuda/driver.h"
#include "lib/autotune.h"

/* These end the program where something fails, saying what was being done. */
void require(CUresult result, const char *doing);
void require_ok(autotune_status status, autotune_error *error, const char *doing);
CUstream make_stream(void);

/* In the current context. Return the exit code. */
int check_plans(const autotune_profile *profile);
int time_calls(const autotune_profile *profile);

#endif
