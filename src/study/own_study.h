/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a CUDA file of the user's own, side by side as in a study. */
#ifndef AT_STUDY_OWN_STUDY_H
#define AT_STUDY_OWN_STUDY_H

#include "explain/own_kernel.h"
#include "study/study_run.h"

/* Count the launches on the device and predict their times (rates; NULL: unknown, so no times). A
 * launch without an entry stands for each kernel of the file. The zeroed study gets the columns
 * that the kernels have figures for; the caller clears both by at_study_clear and the result's
 * schema. Fails as at_own_kernel_explain does. */
enum at_status at_own_study(const struct at_own_file *file, const struct at_own_launch *launches,
                            size_t count, const struct at_device_info *device,
                            const struct at_rates *rates, struct at_study *study,
                            struct at_study_result *result, struct at_error *err);

#endif
