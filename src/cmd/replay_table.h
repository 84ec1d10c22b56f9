/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the result of replay. */
#ifndef AT_CMD_REPLAY_TABLE_H
#define AT_CMD_REPLAY_TABLE_H

#include "cmd/cmd.h"
#include "replay/compare.h"
#include "schema/print.h"

enum { AT_REPLAY_CURVE_MAX = 16 }; /* numbers, and times, of --curve */

/* Print the comparison. `curve`: curves were asked for. */
enum at_status at_replay_print(const struct at_comparison *comparison, bool curve,
                               enum at_output_format format, struct at_error *err);

#endif
