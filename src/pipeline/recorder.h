/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a recording of a search that has evaluated its whole space. */
#ifndef AT_PIPELINE_RECORDER_H
#define AT_PIPELINE_RECORDER_H

#include "pipeline/pipeline.h"

/* Makes the folder if it is not there, and finds out whether files can be written into it. */
enum at_status at_recorder_prepare(const char *dir, struct at_error *err);

/* Has the search keep every config's samples. */
void at_recorder_begin(struct at_search *search);

/* Takes note of one result. */
void at_recorder_take(struct at_search *search, size_t index,
                      const struct at_measurement *measurement);

/* Writes DIR/DEVICE-PROBLEM.recording of the search, which took so long; or warns, where it is not
 * complete. */
enum at_status at_recorder_write(const struct at_search *search, const char *dir,
                                 int64_t duration_ns, struct at_error *err);

/* Frees what the search has kept. */
void at_recorder_clear(struct at_search *search);

#endif
