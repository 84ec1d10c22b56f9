/* SPDX-License-Identifier: Apache-2.0 */
/* Print the result of replay as a table. */
#ifndef AT_CMD_REPLAY_TABLE_H
#define AT_CMD_REPLAY_TABLE_H

#include "base/table.h"
#include "cmd/cmd.h"
#include "replay/compare.h"

/* `curve`: curves were asked for. */
void at_replay_print_table(const struct at_comparison *comparison, bool curve);

/* The same as one table, with a row per recording and strategy. */
void at_replay_tabulate(const struct at_comparison *comparison, enum at_table_form form);

#endif
