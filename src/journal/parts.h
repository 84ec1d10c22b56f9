/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the journal. */
#ifndef AT_JOURNAL_PARTS_H
#define AT_JOURNAL_PARTS_H

#include "journal/journal.h"

#include <sqlite3.h>

enum { AT_JOURNAL_COLUMNS_MAX = 31 };

/* A statement whose parameters and columns have the names of a journal's columns. */
struct at_journal_column;
struct at_journal_statement {
    const char *what; /* a row is: "run", "measurement" */
    sqlite3_stmt *sqlite;
    const struct at_journal_column *columns[AT_JOURNAL_COLUMNS_MAX]; /* that it gives */
};

struct at_journal {
    sqlite3 *db;
    char *path;
    sqlite3_int64 run;
    int uncheckpointed; /* measurements since the log was last moved into the file */
    struct at_journal_statement add, add_final, add_phase, find;
};

/* SQLite's access to files without locking them. */
#define AT_JOURNAL_UNLOCKED "unix-none"

/* Fail with SQLite's last error: the file, the cause and the remedy. */
enum at_status at_journal_fail(const struct at_journal *journal, struct at_error *err);

/* Run statements; and run a query of one row, whose first column becomes *number, or *text unless
 * `text` is NULL. The caller frees *text. `about` has the values of parameters; NULL: none. */
enum at_status at_journal_execute(struct at_journal *journal, const char *sql,
                                  struct at_error *err);
enum at_status at_journal_query(const struct at_journal *journal, const char *sql,
                                const struct at_journal_entry *about, sqlite3_int64 *number,
                                char **text, struct at_error *err);

/* Prepare a statement; the caller finalizes it, also after a failure. The first column is the id of
 * a row. */
enum at_status at_journal_prepare(const struct at_journal *journal,
                                  struct at_journal_statement *statement, const char *what,
                                  const char *sql, struct at_error *err);

/* Bind the parameters to the entry's members, which have to stay until the last step. Unknown
 * values of optional columns become NULL. */
enum at_status at_journal_bind(const struct at_journal_statement *statement,
                               const struct at_journal_entry *entry, struct at_error *err);

/* Go to the next row, and fill in the entry's members of its columns, unless `entry` is NULL. The
 * caller clears the measurement, also after a failure. AT_USAGE with row and column for values
 * that this program does not write. */
enum at_status at_journal_step(const struct at_journal *journal,
                               const struct at_journal_statement *statement,
                               struct at_journal_entry *entry, bool *found, struct at_error *err);

/* Open the file, and make its tables or check that it is a journal. */
enum at_status at_journal_open_file(struct at_journal *journal, const char *path,
                                    struct at_error *err);

#endif
