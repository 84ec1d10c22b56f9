/* SPDX-License-Identifier: Apache-2.0 */
/* The journal: every measurement of a run in an SQLite file, a transaction each, so that nothing is
 * lost however the run ends, and a later run can go on from it.
 *
 * A measurement is filed under a setting (everything that its meaning depends on besides problem
 * and config: device, driver, NVRTC, policy), a problem, and a config with the hash of its family's
 * source and space. What is filed under another setting or hash is kept but not found. */
#ifndef AT_JOURNAL_JOURNAL_H
#define AT_JOURNAL_JOURNAL_H

#include "base/error.h"
#include "measure/measurement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_journal;

struct at_journal_key {
    const char *problem; /* at_problem_format */
    const char *family;
    const char *family_hash; /* of template and space file */
    const char *config;      /* at_config_format */
};

/* Opens path, making it where there is none, for measurements under `setting`. Without resume, an
 * existing journal's measurements under the same setting are not found (they stay, under an older
 * run); with it, the newest run under this setting goes on. ":memory:" is a journal that is gone
 * when it is closed. AT_USAGE for a file that is no journal, is damaged, has other tables than a
 * journal or another version, and for a resumption where only runs of other settings are on this
 * device: the message says which and what to do. Only one process at a time has a journal open: a
 * second one is AT_USAGE. */
enum at_status at_journal_open(struct at_journal **journal, const char *path, const char *setting,
                               bool resume, struct at_error *err);
void at_journal_close(struct at_journal *journal);

/* Files one measurement: when it returns, it outlives this process. */
enum at_status at_journal_add(struct at_journal *journal, const struct at_journal_key *key,
                              const struct at_measurement *measurement, struct at_error *err);

/* Has all that was filed on disk, so that it outlives the machine's power too. */
enum at_status at_journal_sync(struct at_journal *journal, struct at_error *err);

/* Looks one up; *found says whether there is one, and then the caller clears *measurement. Here and
 * below, a value that no journal of ours has is AT_USAGE, with its row and column. */
enum at_status at_journal_find(struct at_journal *journal, const struct at_journal_key *key,
                               bool *found, struct at_measurement *measurement,
                               struct at_error *err);

/* Calls take with the family and config of each measurement of the problem, in the order in which
 * they were first made. */
enum at_status at_journal_each(struct at_journal *journal, const char *problem,
                               void (*take)(void *data, const char *family, const char *config),
                               void *data, struct at_error *err);

/* How many measurements of the family the run has under other hashes. */
enum at_status at_journal_count_others(struct at_journal *journal, const char *family,
                                       const char *family_hash, int64_t *count,
                                       struct at_error *err);

#endif
