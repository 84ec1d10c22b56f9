/* SPDX-License-Identifier: Apache-2.0 */
/* Adds and finds the measurements of a journal. */
#include "journal/journal.h"

#include "base/memory.h"
#include "base/printable.h"
#include "journal/parts.h"
#include "journal/samples.h"

#include <stdlib.h>
#include <string.h>

/* SQLite reads the time of day, because this program reads no clock that can be set. It gives a
 * Julian day, which a double holds to less than a tenth of a millisecond. 2440587.5 is the start of
 * 1970. */
static const char add_sql[] =
    "INSERT INTO measurements (run, problem, family, family_hash, config,"
    "  outcome, message, registers, spill_bytes, shared_bytes, samples_ns, again,"
    "  gpu, clock_sm_khz, clock_memory_khz, expected_ns, power_mw, temperature_c, throttle,"
    "  measured_utc_ms)"
    "  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"
    "  ?19,"
    "  CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))";

static const char add_final_sql[] =
    "INSERT INTO finals (run, problem, family, family_hash, config, gpu, place, won, samples_ns,"
    "  filed_utc_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
    "  CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))";

static const char find_sql[] =
    "SELECT id, outcome, message, registers, spill_bytes, shared_bytes, samples_ns"
    "  FROM measurements WHERE run = ?1 AND problem = ?2 AND family = ?3 AND family_hash = ?4 AND "
    "config = ?5 AND further_launches IS NULL"
    "  ORDER BY id DESC LIMIT 1"; /* the newest, if it was measured again */

/* Measurements between checkpoints. Each takes three pages of 4 KiB in the log. */
enum { CHECKPOINT_AFTER = 300 };

static enum at_status prepare(struct at_journal *journal, struct at_error *err)
{
    const struct {
        const char *sql;
        sqlite3_stmt **statement;
    } all[] = {
        {add_sql, &journal->add},
        {add_final_sql, &journal->add_final},
        {find_sql, &journal->find},
    };

    for (size_t i = 0; i < AT_COUNT(all); i++)
        if (sqlite3_prepare_v3(journal->db, all[i].sql, -1, SQLITE_PREPARE_PERSISTENT,
                               all[i].statement, NULL) != SQLITE_OK)
            return at_journal_fail(journal, err);
    return AT_OK;
}

enum at_status at_journal_open(struct at_journal **journal, const char *path, const char *setting,
                               bool resume, struct at_error *err)
{
    struct at_journal *opened = at_alloc(sizeof *opened);
    enum at_status status = at_journal_open_file(opened, path, err);

    if (status == AT_OK)
        status = at_journal_choose_run(opened, setting, resume, err);
    if (status == AT_OK)
        status = prepare(opened, err);
    if (status != AT_OK) {
        at_journal_close(opened);
        return status;
    }
    *journal = opened;
    return AT_OK;
}

void at_journal_close(struct at_journal *journal)
{
    if (!journal)
        return;
    sqlite3_finalize(journal->add);
    sqlite3_finalize(journal->add_final);
    sqlite3_finalize(journal->find);
    sqlite3_close(journal->db);
    free(journal->path);
    free(journal);
}

static void bind_key(sqlite3_stmt *statement, const struct at_journal *journal,
                     const struct at_journal_key *key)
{
    const char *const texts[] = {key->problem, key->family, key->family_hash, key->config};

    sqlite3_bind_int64(statement, 1, journal->run);
    for (int i = 0; i < (int)AT_COUNT(texts); i++)
        sqlite3_bind_text(statement, 2 + i, texts[i], -1, SQLITE_STATIC);
}

/* Bind the values that only reports use; unknown ones stay NULL. */
static void bind_details(sqlite3_stmt *add, const struct at_measurement *measurement,
                         const struct at_journal_details *details)
{
    const struct at_look *look = &measurement->kernel.look;

    sqlite3_bind_int(add, 12, details->again);
    sqlite3_bind_text(add, 13, details->gpu, -1, SQLITE_STATIC);
    if (measurement->kernel.clock_sm_khz > 0)
        sqlite3_bind_int64(add, 14, measurement->kernel.clock_sm_khz);
    if (measurement->kernel.clock_memory_khz > 0)
        sqlite3_bind_int64(add, 15, measurement->kernel.clock_memory_khz);
    if (details->expected_ns > 0)
        sqlite3_bind_double(add, 16, details->expected_ns);
    if (look->power_mw > 0)
        sqlite3_bind_int64(add, 17, look->power_mw);
    if (look->temperature_c > 0)
        sqlite3_bind_int64(add, 18, look->temperature_c);
    if (look->throttle_known)
        sqlite3_bind_int64(add, 19, (sqlite3_int64)look->throttle);
}

/* Carry out a statement that adds a row. */
static enum at_status add_row(struct at_journal *journal, sqlite3_stmt *add, struct at_error *err)
{
    enum at_status status = AT_OK;

    if (sqlite3_step(add) != SQLITE_DONE)
        status = at_journal_fail(journal, err);
    else if (sqlite3_changes(journal->db) != 1)
        status = at_fail(err, AT_INTERNAL,
                         "journal %s did not store a measurement: name another "
                         "file",
                         journal->path);
    journal->uncheckpointed++;
    sqlite3_reset(add);
    sqlite3_clear_bindings(add);
    return status;
}

enum at_status at_journal_add(struct at_journal *journal, const struct at_journal_key *key,
                              const struct at_measurement *measurement,
                              const struct at_journal_details *details, struct at_error *err)
{
    sqlite3_stmt *add = journal->add;
    char *samples = NULL, message[sizeof measurement->message];
    enum at_status status;

    status = at_samples_format(&samples, measurement->samples_ns, measurement->sample_count, err);
    if (status != AT_OK)
        return status;
    memcpy(message, measurement->message, sizeof message);
    at_text_make_printable(message); /* text of a compiler or driver, perhaps cut off */
    bind_key(add, journal, key);
    sqlite3_bind_text(add, 6, at_outcome_names[measurement->outcome], -1, SQLITE_STATIC);
    sqlite3_bind_text(add, 7, message, -1, SQLITE_STATIC);
    sqlite3_bind_int64(add, 8, measurement->kernel.registers);
    sqlite3_bind_int64(add, 9, measurement->kernel.spill_bytes);
    sqlite3_bind_int64(add, 10, measurement->kernel.shared_bytes);
    sqlite3_bind_text(add, 11, samples, -1, SQLITE_STATIC);
    bind_details(add, measurement, details);
    status = add_row(journal, add, err);
    free(samples);
    return status;
}

enum at_status at_journal_add_final(struct at_journal *journal, const struct at_journal_key *key,
                                    const char *gpu, const struct at_journal_final *final,
                                    struct at_error *err)
{
    sqlite3_stmt *add = journal->add_final;
    char *samples = NULL;
    enum at_status status =
        at_samples_format(&samples, final->samples_ns, final->sample_count, err);

    if (status != AT_OK)
        return status;
    bind_key(add, journal, key);
    sqlite3_bind_text(add, 6, gpu, -1, SQLITE_STATIC);
    sqlite3_bind_int64(add, 7, final->place);
    sqlite3_bind_int(add, 8, final->won);
    sqlite3_bind_text(add, 9, samples, -1, SQLITE_STATIC);
    status = add_row(journal, add, err);
    free(samples);
    return status;
}

enum at_status at_journal_sync(struct at_journal *journal, struct at_error *err)
{
    sqlite3_file *log = NULL;

    /* There is no log in memory, nor before the first commit. */
    if (sqlite3_file_control(journal->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) !=
            SQLITE_OK ||
        !log || !log->pMethods)
        return AT_OK;
    if (log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) != SQLITE_OK)
        return at_fail(err, AT_USAGE, "journal %s: cannot write to the disk", journal->path);
    if (journal->uncheckpointed >= CHECKPOINT_AFTER) {
        sqlite3_wal_checkpoint_v2(journal->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
        journal->uncheckpointed = 0; /* if it failed, the log still has everything */
    }
    return AT_OK;
}

enum at_status at_journal_find(struct at_journal *journal, const struct at_journal_key *key,
                               bool *found, struct at_measurement *measurement,
                               struct at_error *err)
{
    enum at_status status = AT_OK;
    int result;

    bind_key(journal->find, journal, key);
    result = sqlite3_step(journal->find);
    if (result == SQLITE_ROW)
        status = at_journal_measurement(
            journal, &(struct at_journal_row){"measurement", journal->find}, measurement, err);
    else if (result != SQLITE_DONE)
        status = at_journal_fail(journal, err);
    if (status == AT_OK)
        *found = result == SQLITE_ROW;
    sqlite3_reset(journal->find);
    sqlite3_clear_bindings(journal->find);
    return status;
}

/* Twice the configs of the largest space: some may be from an older template. */
enum { PROBLEM_ROWS_MAX = 1000000 };

static enum at_status fail_of_rows(const struct at_journal *journal, const char *problem,
                                   struct at_error *err)
{
    return at_fail(err, AT_USAGE, "journal %s has more than %d measurements of %s", journal->path,
                   PROBLEM_ROWS_MAX, problem);
}

static enum at_status take_row(const struct at_journal *journal, const struct at_journal_row *row,
                               void (*take)(void *data, const char *family, const char *config),
                               void *data, struct at_error *err)
{
    const char *family, *config;
    enum at_status status = at_journal_text(journal, row, 1, &family, err);

    if (status == AT_OK)
        status = at_journal_text(journal, row, 2, &config, err);
    if (status == AT_OK)
        take(data, family, config);
    return status;
}

enum at_status at_journal_each(struct at_journal *journal, const char *problem,
                               void (*take)(void *data, const char *family, const char *config),
                               void *data, struct at_error *err)
{
    static const char sql[] = "SELECT id, family, config FROM measurements"
                              "  WHERE run = ?1 AND problem = ?2 AND NOT again"
                              "  AND further_launches IS NULL ORDER BY id";
    struct at_journal_row row = {.what = "measurement"};
    enum at_status status = AT_OK;
    int result = SQLITE_ROW;

    if (sqlite3_prepare_v2(journal->db, sql, -1, &row.statement, NULL) != SQLITE_OK)
        return at_journal_fail(journal, err);
    sqlite3_bind_int64(row.statement, 1, journal->run);
    sqlite3_bind_text(row.statement, 2, problem, -1, SQLITE_STATIC);
    for (int taken = 0; status == AT_OK && (result = sqlite3_step(row.statement)) == SQLITE_ROW;
         taken++)
        status = taken < PROBLEM_ROWS_MAX ? take_row(journal, &row, take, data, err)
                                          : fail_of_rows(journal, problem, err);
    if (status == AT_OK && result != SQLITE_DONE)
        status = at_journal_fail(journal, err);
    sqlite3_finalize(row.statement);
    return status;
}

/* Carry out a query of one number, and finalize it. */
static enum at_status take_count(struct at_journal *journal, sqlite3_stmt *statement,
                                 int64_t *count, struct at_error *err)
{
    enum at_status status = AT_OK;

    if (sqlite3_step(statement) == SQLITE_ROW)
        *count = sqlite3_column_int64(statement, 0);
    else
        status = at_journal_fail(journal, err);
    sqlite3_finalize(statement);
    return status;
}

enum at_status at_journal_count(struct at_journal *journal, const char *problem, int64_t *count,
                                struct at_error *err)
{
    static const char sql[] = "SELECT count(*) FROM measurements"
                              "  WHERE run = ?1 AND problem = ?2 AND NOT again"
                              "  AND further_launches IS NULL";
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(journal->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return at_journal_fail(journal, err);
    sqlite3_bind_int64(statement, 1, journal->run);
    sqlite3_bind_text(statement, 2, problem, -1, SQLITE_STATIC);
    return take_count(journal, statement, count, err);
}

enum at_status at_journal_count_others(struct at_journal *journal, const char *family,
                                       const char *family_hash, int64_t *count,
                                       struct at_error *err)
{
    static const char sql[] = "SELECT count(*) FROM measurements"
                              "  WHERE run = ?1 AND family = ?2 AND family_hash <> ?3";
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(journal->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return at_journal_fail(journal, err);
    sqlite3_bind_int64(statement, 1, journal->run);
    sqlite3_bind_text(statement, 2, family, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, family_hash, -1, SQLITE_STATIC);
    return take_count(journal, statement, count, err);
}
