/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_PIPELINE_RESULTS_H
#define AT_PIPELINE_RESULTS_H

#include "pipeline/pipeline.h"

#include <stdint.h>

/* Make the folder if needed, and check that files can be written there. */
enum at_status at_recorder_prepare(const char *dir, struct at_error *err);

/* Make the search keep every config's samples. */
void at_recorder_begin(struct at_search *search);

/* Write DIR/DEVICE-PROBLEM.recording of the search, which took duration_ns. If it is not complete,
 * warn instead. */
enum at_status at_recorder_write(const struct at_search *search, const char *dir,
                                 int64_t duration_ns, struct at_error *err);

#endif
