/* SPDX-License-Identifier: Apache-2.0 */
/* The problems that a command works on: --problem, --problems, or a default list. */
#ifndef AT_OPTIONS_RUN_PROBLEMS_H
#define AT_OPTIONS_RUN_PROBLEMS_H

#include "options/run_options.h"

/* Read a problem that the user has spelt, and tell its name if that is another. */
enum at_status at_run_problem(struct at_problem *problem, const char *spec,
                              struct at_progress *progress, struct at_error *err);

/* Did the user name problems? */
bool at_run_problems_given(const struct at_run_options *options);

/* Read the problems of --problem, then those of --problems. Without both, read autotune's list
 * `fallback` ("tuning/problems.yaml"), which may be NULL if the user named problems. The caller
 * frees *problems. */
enum at_status at_run_problems(const struct at_run_options *options, const char *fallback,
                               struct at_problem **problems, size_t *count, struct at_error *err);

/* Read a list like tuning/problems.yaml. The caller frees *problems. */
enum at_status at_problem_list_read(struct at_problem **problems, size_t *count, const char *path,
                                    struct at_progress *progress, struct at_error *err);

#endif
