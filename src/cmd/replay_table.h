/* SPDX-License-Identifier: Apache-2.0 */
/* Print the result of replay as a table. */
#ifndef AT_CMD_REPLAY_TABLE_H
#define AT_CMD_REPLAY_TABLE_H

#include "cmd/cmd.h"
#include "replay/compare.h"

void at_replay_print_table(const struct at_comparison *comparison);

#endif
