/* SPDX-License-Identifier: Apache-2.0 */
/* Which problems a command works on. */
#ifndef AT_OPTIONS_RUN_PROBLEMS_H
#define AT_OPTIONS_RUN_PROBLEMS_H

#include "options/run_options.h"

/* Has the user named any? */
bool at_run_problems_given(const struct at_run_options *options);

/* Those of --problem and then those of --problems or, where there is neither, of the tool's own
 * list `fallback` ("tuning/problems.yaml"; NULL where the user has named some). The caller frees.
 */
enum at_status at_run_problems(const struct at_run_options *options, const char *fallback,
                               struct at_problem **problems, size_t *count, struct at_error *err);

#endif
