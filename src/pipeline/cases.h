/* SPDX-License-Identifier: Apache-2.0 */
/* Which problems a kernel is verified on: the tuned one, and small ones of every awkward kind. */
#ifndef AT_PIPELINE_CASES_H
#define AT_PIPELINE_CASES_H

#include "measure/gpu_protocol.h"
#include "measure/measurement.h"
#include "space/family.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Small problems of every awkward kind. A config is checked on each one that is legal for it,
 * besides the tuned problem. */
enum { AT_VERIFICATION_CASES_MAX = 24 };

/* List the cases for a problem: first the problem itself, with the policy's buffer sets, then the
 * small ones of its element size. Returns how many. */
size_t at_cases_for(const struct at_problem *problem, const struct at_policy *policy,
                    const struct at_device_info *device,
                    struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX]);

/* Return the device memory that they take, in bytes; INT64_MAX if it does not fit. */
int64_t at_cases_memory_bytes(const struct at_problem *problem, const struct at_policy *policy,
                              const struct at_device_info *device);

/* List the trials for a config: the small cases that are legal for it. A slow device leaves those
 * with a long side to the winner. */
enum at_status at_cases_trials(const struct at_config *config, const struct at_device_info *device,
                               const struct at_gpu_case *cases, size_t case_count, bool winner,
                               struct at_gpu_trial trials[AT_VERIFICATION_CASES_MAX],
                               size_t *trial_count, struct at_error *err);

#endif
