/* SPDX-License-Identifier: Apache-2.0 */
/* Reads all rows of a journal, for reports. The file is untrusted, and is never written: SQLite
 * works on a copy, because reading a journal that a killed run left would recover it. */
#ifndef AT_JOURNAL_READ_H
#define AT_JOURNAL_READ_H

#include "journal/journal.h"

/* A row: a measurement with all that is filed with it, or a finalist of a shoot-out, which has
 * samples and of the details only `gpu`. Of a run's shoot-outs for a problem the last one counts.
 * Texts and samples are valid during the call only. */
struct at_journal_entry {
    int64_t run;
    const char *setting;     /* of the run: see at_setting_format */
    const char *started_utc; /* of the run: "2026-11-21 10:00:00" */
    struct at_journal_key key;
    struct at_journal_details details;
    struct at_measurement measurement; /* with its clocks and its look */
    int64_t measured_utc_ms;           /* Unix time */
    int64_t place;                     /* of a finalist: as in at_journal_final */
    bool won;
};

typedef void at_journal_taker(void *data, const struct at_journal_entry *entry);

/* Call measurement with each measurement, in the order in which they were filed, then final with
 * each finalist; both may be NULL. AT_USAGE, with what to do: there is no file, it is no journal,
 * damaged, or of another version; another process has it open; or a row has a value that this
 * program does not write. */
enum at_status at_journal_read(const char *path, at_journal_taker *measurement,
                               at_journal_taker *final, void *data, struct at_error *err);

#endif
