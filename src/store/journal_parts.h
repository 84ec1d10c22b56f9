/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the journal share. */
#ifndef AT_STORE_JOURNAL_PARTS_H
#define AT_STORE_JOURNAL_PARTS_H

#include "store/journal.h"

#include <sqlite3.h>

struct at_journal {
    sqlite3 *db;
    char *path;
    sqlite3_int64 run;
    int unfolded; /* measurements since the log was last folded into the file */
    sqlite3_stmt *add, *find;
};

/* Turns SQLite's last error into ours: what is wrong with which file, and what to do. */
enum at_status at_journal_fail(const struct at_journal *journal, struct at_error *err);

/* A column's text. An edited file can have NULL where we write none. */
const char *at_journal_column(sqlite3_stmt *row, int number);

/* Makes the statements that are used again and again. */
enum at_status at_journal_prepare(struct at_journal *journal, struct at_error *err);

#endif
