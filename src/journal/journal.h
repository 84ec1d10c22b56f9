/* SPDX-License-Identifier: Apache-2.0 */
/* The journal: an SQLite file of all measurements of a run, one transaction each. However the run
 * ends, nothing is lost, and a later run can resume it.
 *
 * The key of a measurement is a setting (all that a time depends on besides problem and config:
 * device, driver, NVRTC, policy), a problem, and a config with the hash of its family's template
 * and launch. Measurements of another setting or hash are kept, but not found. */
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
    const char *family_hash; /* of template and launch */
    const char *config;      /* at_config_format */
};

/* Further columns of a measurement, for reports. They are not read back. */
struct at_journal_details {
    const char *gpu;    /* the device's UUID */
    double expected_ns; /* the time that the search's strategy predicted; 0: it predicted none */
    bool again;         /* the run has measured this config before */
};

/* The times of a shoot-out's finalist. */
struct at_journal_final {
    int64_t place; /* within its shoot-out; 0 begins one */
    bool won;
    const double *samples_ns; /* one of each round */
    size_t sample_count;
};

/* The phases of a tuner's work: opening the device; then for each problem the search of its copies,
 * its own search, and the shoot-out with the verification of the winner. */
enum at_phase { AT_PHASE_OPEN, AT_PHASE_COPIES, AT_PHASE_SEARCH, AT_PHASE_FINALS, AT_PHASES };
extern const char *const at_phase_names[AT_PHASES];

/* A phase that has ended. */
struct at_journal_phase {
    enum at_phase phase;
    int64_t tuner;           /* its place among those of the device, from 0 */
    int64_t took_ms, gpu_ms; /* all of it, and the GPU's work in it */
    int64_t ago_ms;          /* how long before it is added it ended; a row has ended_utc_ms */
};

/* Open a journal for measurements under `setting`; make it if there is no file. With `resume` the
 * newest run of this setting goes on. Without it a new run begins, and measurements of older runs
 * stay but are not found. ":memory:" is a journal without a file.
 *
 * AT_USAGE, with what to do: the file is no journal, damaged, or of another version; another
 * process has it open; or `resume` is set and this device has only runs of other settings. */
enum at_status at_journal_open(struct at_journal **journal, const char *path, const char *setting,
                               bool resume, struct at_error *err);

void at_journal_close(struct at_journal *journal);

/* Move all that the journal `part` has into this one, and remove the file. Measurements become part
 * of the newest run of their setting. Those that are there already are left out; those of a config
 * that this one has measured too count as measured again. If there is no such file, does nothing.
 * It fails as opening does; then both files stay. */
enum at_status at_journal_absorb(const char *path, const char *part, struct at_error *err);

/* Make the journal `part`, with the measurements of the newest run of each setting in the one at
 * `path`, if there is such a file. Absorbing it adds only what it has gained since. Fails as
 * opening does. */
enum at_status at_journal_begin_part(const char *part, const char *path, struct at_error *err);

/* Add a measurement, with the time of day. When this returns, it survives the process's end. */
enum at_status at_journal_add(struct at_journal *journal, const struct at_journal_key *key,
                              const struct at_measurement *measurement,
                              const struct at_journal_details *details, struct at_error *err);

/* Add a finalist, in the same way. It is not found again: a resumed run holds its own shoot-out. */
enum at_status at_journal_add_final(struct at_journal *journal, const struct at_journal_key *key,
                                    const char *gpu, const struct at_journal_final *final,
                                    struct at_error *err);

/* Add a phase, of a problem; "": of none. It is not found again. */
enum at_status at_journal_add_phase(struct at_journal *journal, const char *problem,
                                    const char *gpu, const struct at_journal_phase *phase,
                                    struct at_error *err);

/* Write everything to the disk, so that it survives a power cut too. */
enum at_status at_journal_sync(struct at_journal *journal, struct at_error *err);

/* Find a measurement. If *found is set, the caller clears *measurement. Here and below, AT_USAGE
 * with row and column for a value that this program does not write. */
enum at_status at_journal_find(struct at_journal *journal, const struct at_journal_key *key,
                               bool *found, struct at_measurement *measurement,
                               struct at_error *err);

/* Count the run's measurements of the problem; a config that was measured again counts once. */
enum at_status at_journal_count(struct at_journal *journal, const char *problem, int64_t *count,
                                struct at_error *err);

/* Call take with the family and config of each measurement of the problem, in the order of their
 * first measurement. */
enum at_status at_journal_each(struct at_journal *journal, const char *problem,
                               void (*take)(void *data, const char *family, const char *config),
                               void *data, struct at_error *err);

/* Count the run's measurements of the family under other hashes. */
enum at_status at_journal_count_others(struct at_journal *journal, const char *family,
                                       const char *family_hash, int64_t *count,
                                       struct at_error *err);

/* ---- reading all rows, for reports ---- */

/* A row: a measurement with all that is filed with it; a finalist of a shoot-out, which has samples
 * and of the details only `gpu`; or a phase, which has of the details only `gpu` and of the key
 * only the problem. Of a run's shoot-outs for a problem the last one counts. Texts and samples are
 * valid during the call only. */
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
    struct at_journal_phase phase;
    int64_t ended_utc_ms; /* of a phase: Unix time */
};

typedef void at_journal_taker(void *data, const struct at_journal_entry *entry);

/* Read a journal. The file is untrusted, and is never written: SQLite works on a copy, because
 * reading a journal that a killed run left would recover it.
 *
 * Call measurement with each measurement, in the order in which they were filed, then final with
 * each finalist, then phase with each phase; all may be NULL. AT_USAGE, with what to do: there is
 * no file, it is no journal, damaged, or of another version; another process has it open; or a row
 * has a value that this program does not write. */
enum at_status at_journal_read(const char *path, at_journal_taker *measurement,
                               at_journal_taker *final, at_journal_taker *phase, void *data,
                               struct at_error *err);

/* ---- settings ---- */

/* In the order of the text, in which each follows its name. */
enum at_setting_part {
    AT_SETTING_PROGRAM,
    AT_SETTING_DEVICE,
    AT_SETTING_DRIVER,
    AT_SETTING_COMPILER,
    AT_SETTING_OPTIONS, /* of the compiler */
    AT_SETTING_POLICY,
    AT_SETTING_PARTS,
};

/* Join the parts: "program 0.1.0; device ...; driver ..."; the caller frees it. */
char *at_setting_format(const char *const parts[AT_SETTING_PARTS]);

/* A part of a setting, without its name: "cold l2 x3 train 1000000 ns"; the caller frees it. "" if
 * the text has too few parts. */
char *at_setting_part(const char *setting, enum at_setting_part part);

#endif
