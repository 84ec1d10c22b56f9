/* SPDX-License-Identifier: Apache-2.0 */
/* Reads all rows of a journal, for reports. The file is untrusted, and is never written: SQLite
 * works on a copy, because reading a journal that a killed run left would recover it. */
#ifndef AT_JOURNAL_READ_H
#define AT_JOURNAL_READ_H

#include "journal/journal.h"

/* A measurement with all that is filed with it. Texts and samples are valid during the call only.
 */
struct at_journal_entry {
    int64_t run;
    const char *setting;     /* of the run: see at_setting_format */
    const char *started_utc; /* of the run: "2026-11-21 10:00:00" */
    struct at_journal_key key;
    struct at_journal_details details;
    struct at_measurement measurement; /* with its clocks and its look */
    int64_t measured_utc_ms;           /* Unix time */
};

/* A finalist of a shoot-out; of a run's shoot-outs for a problem the last one counts. */
struct at_journal_final_entry {
    int64_t run;
    const char *setting; /* of the run */
    struct at_journal_key key;
    const char *gpu;
    struct at_journal_final final;
};

/* The functions that take the rows; each may be NULL. */
struct at_journal_takers {
    void (*measurement)(void *data, const struct at_journal_entry *entry);
    void (*final)(void *data, const struct at_journal_final_entry *entry);
    void *data;
};

/* Call the takers with each measurement, in the order in which they were filed, then with each
 * finalist. AT_USAGE, with what to do: there is no file, it is no journal, damaged, or of another
 * version; another process has it open; or a row has a value that this program does not write. */
enum at_status at_journal_read(const char *path, const struct at_journal_takers *takers,
                               struct at_error *err);

#endif
