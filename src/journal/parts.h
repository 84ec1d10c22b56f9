/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the journal share. */
#ifndef AT_JOURNAL_PARTS_H
#define AT_JOURNAL_PARTS_H

#include "journal/journal.h"

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

/* Runs statements; and a query of one row, of which it gives the first column, as a number or as
 * text that the caller frees. */
enum at_status at_journal_execute(struct at_journal *journal, const char *sql,
                                  struct at_error *err);
enum at_status at_journal_query(struct at_journal *journal, const char *sql, sqlite3_int64 *number,
                                char **text, struct at_error *err);

/* journal_guard.c: sets up SQLite for a file that anybody may have made, before anything of it is
 * read. Then: is it small enough, and kept so; has it the tables and indexes that these statements
 * make, and nothing else; and are its rows' numbers such as we count? */
enum at_status at_journal_harden(struct at_journal *journal, struct at_error *err);
enum at_status at_journal_check_size(const char *path, struct at_error *err);
enum at_status at_journal_limit_size(struct at_journal *journal, struct at_error *err);
enum at_status at_journal_check_tables(const struct at_journal *journal, const char *tables_sql,
                                       struct at_error *err);
enum at_status at_journal_check_ids(struct at_journal *journal, struct at_error *err);

/* The current row of a query whose first column is the row's id. */
struct at_journal_row {
    const char *what; /* "run", "measurement" */
    sqlite3_stmt *statement;
};

/* journal_row.c: a column's text, valid until the next step; and a measurement: outcome, message,
 * registers, spill_bytes, shared_bytes and samples_ns in columns 1 to 6. What no journal of ours
 * has is AT_USAGE with the row and the column. */
enum at_status at_journal_text(const struct at_journal *journal, const struct at_journal_row *row,
                               int column, const char **text, struct at_error *err);
enum at_status at_journal_measurement(const struct at_journal *journal,
                                      const struct at_journal_row *row,
                                      struct at_measurement *measurement, struct at_error *err);

/* open.c: opens the file and makes its tables, or finds out whether it is one of ours. */
enum at_status at_journal_open_file(struct at_journal *journal, const char *path,
                                    struct at_error *err);

/* open.c: the run to file under, the newest of this setting or a new one. */
enum at_status at_journal_choose_run(struct at_journal *journal, const char *setting, bool resume,
                                     struct at_error *err);

#endif
