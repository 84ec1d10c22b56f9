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

/* Set up SQLite for an untrusted file, before it is read; check the file's size. */
enum at_status at_journal_harden(struct at_journal *journal, struct at_error *err);
enum at_status at_journal_check_size(const char *path, struct at_error *err);

/* The current row of a query whose first column is the row's id. */
struct at_journal_row {
    const char *what; /* "run", "measurement" */
    sqlite3_stmt *statement;
};

/* Get a column's text, valid until the next step; and get a measurement, with outcome,
 * message, registers, spill_bytes, shared_bytes and samples_ns in columns 1 to 6. AT_USAGE with row
 * and column for values that this program does not write. */
enum at_status at_journal_text(const struct at_journal *journal, const struct at_journal_row *row,
                               int column, const char **text, struct at_error *err);
enum at_status at_journal_measurement(const struct at_journal *journal,
                                      const struct at_journal_row *row,
                                      struct at_measurement *measurement, struct at_error *err);

/* Get the samples of a column, at least one, into *measurement, which the caller clears. */
enum at_status at_journal_samples(const struct at_journal *journal,
                                  const struct at_journal_row *row, int column,
                                  struct at_measurement *measurement, struct at_error *err);

/* Check that the file is a sound journal of this version. */
enum at_status at_journal_check_existing(struct at_journal *journal, struct at_error *err);

/* Open the file, and make its tables or check that it is a journal. */
enum at_status at_journal_open_file(struct at_journal *journal, const char *path,
                                    struct at_error *err);

/* Format samples; the caller frees *text. AT_INTERNAL for a value that is not finite. */
enum at_status at_samples_format(char **text, const double *samples_ns, size_t count,
                                 struct at_error *err);

/* Parse samples; the caller frees *samples_ns, which is NULL for an empty array. AT_USAGE for
 * anything but an array of numbers. */
enum at_status at_samples_parse(double **samples_ns, size_t *count, const char *text,
                                struct at_error *err);

#endif
