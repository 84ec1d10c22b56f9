/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the journal. */
#ifndef AT_JOURNAL_PARTS_H
#define AT_JOURNAL_PARTS_H

#include "journal/journal.h"

#include <sqlite3.h>

struct at_journal {
    sqlite3 *db;
    char *path;
    sqlite3_int64 run;
    int uncheckpointed; /* measurements since the log was last moved into the file */
    sqlite3_stmt *add, *add_final, *find;
};

/* SQLite's access to files without locking them. */
#define AT_JOURNAL_UNLOCKED "unix-none"

/* Fail with SQLite's last error: the file, the cause and the remedy. */
enum at_status at_journal_fail(const struct at_journal *journal, struct at_error *err);

/* Run statements; and run a query of one row, whose first column becomes *number, or *text unless
 * `text` is NULL. The caller frees *text. */
enum at_status at_journal_execute(struct at_journal *journal, const char *sql,
                                  struct at_error *err);
enum at_status at_journal_query(struct at_journal *journal, const char *sql, sqlite3_int64 *number,
                                char **text, struct at_error *err);

/* guard.c: set up SQLite for an untrusted file, before it is read; check and limit its size; check
 * that it has the tables and indexes that tables_sql makes, and nothing else; and check that the
 * rows' numbers are plausible. */
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

/* row.c: get a column's text, valid until the next step; and get a measurement, with outcome,
 * message, registers, spill_bytes, shared_bytes and samples_ns in columns 1 to 6. AT_USAGE with row
 * and column for values that this program does not write. */
enum at_status at_journal_text(const struct at_journal *journal, const struct at_journal_row *row,
                               int column, const char **text, struct at_error *err);
enum at_status at_journal_measurement(const struct at_journal *journal,
                                      const struct at_journal_row *row,
                                      struct at_measurement *measurement, struct at_error *err);

/* row.c: get the samples of a column, at least one, into *measurement, which the caller clears. */
enum at_status at_journal_samples(const struct at_journal *journal,
                                  const struct at_journal_row *row, int column,
                                  struct at_measurement *measurement, struct at_error *err);

/* open.c: check that the file is a sound journal of this version. */
enum at_status at_journal_check_existing(struct at_journal *journal, struct at_error *err);

/* open.c: open the file, and make its tables or check that it is a journal. */
enum at_status at_journal_open_file(struct at_journal *journal, const char *path,
                                    struct at_error *err);

/* open.c: set the run: to the newest of this setting, 0 if there is none; to a new one. */
enum at_status at_journal_find_run(struct at_journal *journal, const char *setting,
                                   struct at_error *err);
enum at_status at_journal_add_run(struct at_journal *journal, const char *setting,
                                  struct at_error *err);

/* open.c: choose the run to add to: the newest of this setting if `resume` is set, or a new one. */
enum at_status at_journal_choose_run(struct at_journal *journal, const char *setting, bool resume,
                                     struct at_error *err);

#endif
