/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a problem in the emulated device's memory, and a kernel's arguments for it. */
#ifndef AT_EXPLAIN_LAUNCH_DATA_H
#define AT_EXPLAIN_LAUNCH_DATA_H

#include "base/error.h"
#include "emulated/machine/machine.h"
#include "problem/arguments.h"

/* Allocate what a transpose reads and writes, and set the arguments of each of its launches, as
 * at_problem_args does. Numbers are 1. Of many matrices the sizes are as the problem draws them.
 * AT_FAILED: this machine has too little memory. */
enum at_status at_launch_data_make(struct at_emu_memory *memory, const struct at_problem *problem,
                                   const struct at_launch *launch,
                                   uint64_t args[AT_LAUNCHES_MAX][AT_CALL_WORDS], size_t *arg_count,
                                   struct at_error *err);

#endif
