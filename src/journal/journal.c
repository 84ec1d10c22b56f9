/* SPDX-License-Identifier: Apache-2.0 */
/* Adds and finds the measurements of a journal, and copies what one has into another. Rows are read
 * from one file and written to the other: attaching a file to a connection is switched off, because
 * a journal is an untrusted file. */
#include "journal/journal.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "journal/parts.h"
#include "measure/measurement.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const part_names[AT_SETTING_PARTS] = {
    [AT_SETTING_PROGRAM] = "program", [AT_SETTING_DEVICE] = "device",
    [AT_SETTING_DRIVER] = "driver",   [AT_SETTING_COMPILER] = "compiler",
    [AT_SETTING_OPTIONS] = "options", [AT_SETTING_POLICY] = "policy",
};

static const char separator[] = "; ";

char *at_setting_format(const char *const parts[AT_SETTING_PARTS])
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    for (int i = 0; i < AT_SETTING_PARTS; i++)
        fprintf(out, "%s%s %s", i ? separator : "", part_names[i], parts[i]);
    return at_text_close(&stream, NULL);
}

/* A part within the text; empty if the text has too few parts. */
struct span {
    const char *start;
    size_t length;
};

static struct span find_part(const char *setting, int part)
{
    const char *end;

    for (int i = 0; i < part; i++) {
        end = strstr(setting, separator);
        setting = end ? end + strlen(separator) : setting + strlen(setting);
    }
    end = strstr(setting, separator);
    return (struct span){setting, end ? (size_t)(end - setting) : strlen(setting)};
}

char *at_setting_part(const char *setting, enum at_setting_part part)
{
    struct span found = find_part(setting, (int)part);
    size_t name = strlen(part_names[part]) + 1;

    return found.length > name ? at_strndup(found.start + name, found.length - name)
                               : at_strdup("");
}

static bool is_same(struct span a, struct span b)
{
    return a.length == b.length && memcmp(a.start, b.start, a.length) == 0;
}

/* Are both settings of the same device? */
static bool setting_same_device(const char *a, const char *b)
{
    return is_same(find_part(a, AT_SETTING_DEVICE), find_part(b, AT_SETTING_DEVICE));
}

/* Describe the first part that differs: "driver 570, now driver 580"; the caller frees it. */
static char *setting_difference(const char *then, const char *now)
{
    struct span was = {"", 0}, is = {"", 0};

    for (int i = 0; i < AT_SETTING_PARTS && is_same(was, is); i++) {
        was = find_part(then, i);
        is = find_part(now, i);
    }
    return at_format("%.*s, now %.*s", (int)was.length, was.start, (int)is.length, is.start);
}

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

/* ---- runs ---- */

/* No run of this setting can be resumed. If there is a run of another setting on this device, fail
 * and tell the difference. Runs on other devices do not matter, since a run may use several. */
static enum at_status check_others(struct at_journal *journal, const char *setting,
                                   struct at_error *err)
{
    struct at_journal_row run = {.what = "run"};
    enum at_status status = AT_OK;
    int result = SQLITE_ROW;

    if (sqlite3_prepare_v2(journal->db, "SELECT id, setting FROM runs ORDER BY id DESC", -1,
                           &run.statement, NULL) != SQLITE_OK)
        return at_journal_fail(journal, err);
    while (status == AT_OK && (result = sqlite3_step(run.statement)) == SQLITE_ROW) {
        const char *other;
        char *difference;

        status = at_journal_text(journal, &run, 1, &other, err);
        if (status != AT_OK || !setting_same_device(other, setting))
            continue;
        difference = setting_difference(other, setting);
        status = at_fail(err, AT_USAGE,
                         "--resume cannot continue journal %s: its run has another setting (%s); "
                         "without --resume this run starts anew, and the journal keeps its "
                         "contents",
                         journal->path, difference);
        free(difference);
    }
    if (status == AT_OK && result != SQLITE_DONE)
        status = at_journal_fail(journal, err);
    sqlite3_finalize(run.statement);
    return status;
}

static enum at_status find_run(struct at_journal *journal, const char *setting,
                               struct at_error *err)
{
    static const char sql[] = "SELECT max(id) FROM runs WHERE setting = ?1";
    sqlite3_stmt *newest = NULL;
    enum at_status status = AT_OK;

    if (sqlite3_prepare_v2(journal->db, sql, -1, &newest, NULL) != SQLITE_OK)
        return at_journal_fail(journal, err);
    sqlite3_bind_text(newest, 1, setting, -1, SQLITE_STATIC);
    if (sqlite3_step(newest) == SQLITE_ROW)
        journal->run = sqlite3_column_int64(newest, 0);
    else
        status = at_journal_fail(journal, err);
    sqlite3_finalize(newest);
    return status;
}

static enum at_status add_run(struct at_journal *journal, const char *setting, struct at_error *err)
{
    sqlite3_stmt *add = NULL;
    enum at_status status = AT_OK;

    if (sqlite3_prepare_v2(journal->db, "INSERT INTO runs (setting) VALUES (?1)", -1, &add, NULL) !=
        SQLITE_OK)
        return at_journal_fail(journal, err);
    sqlite3_bind_text(add, 1, setting, -1, SQLITE_STATIC);
    if (sqlite3_step(add) != SQLITE_DONE)
        status = at_journal_fail(journal, err);
    else if (sqlite3_changes(journal->db) != 1)
        status = at_fail(err, AT_INTERNAL, "journal %s did not store a run: name another file",
                         journal->path);
    journal->run = sqlite3_last_insert_rowid(journal->db);
    sqlite3_finalize(add);
    return status;
}

static enum at_status choose_run(struct at_journal *journal, const char *setting, bool resume,
                                 struct at_error *err)
{
    enum at_status status = resume ? find_run(journal, setting, err) : AT_OK;

    if (status == AT_OK && resume && journal->run == 0)
        status = check_others(journal, setting, err);
    if (status == AT_OK && journal->run == 0)
        status = add_run(journal, setting, err);
    return status;
}

/* ---- adding and finding ---- */

enum at_status at_journal_open(struct at_journal **journal, const char *path, const char *setting,
                               bool resume, struct at_error *err)
{
    struct at_journal *opened = at_alloc(sizeof *opened);
    enum at_status status = at_journal_open_file(opened, path, err);

    if (status == AT_OK)
        status = choose_run(opened, setting, resume, err);
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

/* ---- from one journal into another ---- */

#define MEASUREMENT                                                                                \
    "problem, family, family_hash, config, outcome, message, registers, spill_bytes,"              \
    "  shared_bytes, samples_ns, again, measured_utc_ms, gpu, clock_sm_khz, clock_memory_khz,"     \
    "  expected_ns, power_mw, temperature_c, throttle, further_launches"
#define FINAL                                                                                      \
    "problem, family, family_hash, config, gpu, place, won, samples_ns, filed_utc_ms,"             \
    "  further_launches"

#define KEY     "run, problem, family, family_hash, config"
#define ITS_KEY "?2, ?3, ?4, ?5, ?6"

/* A measurement that is there already is left out: both journals have it from a third, or a process
 * ended after rows were copied and before their file was removed. */
#define IS_NEW                                                                                     \
    "NOT EXISTS (SELECT 1 FROM measurements WHERE (" KEY ", samples_ns, measured_utc_ms)"          \
    "  = (" ITS_KEY ", ?12, ?14))"

/* Two tuners measure a config if one is lost and another takes its problem. */
#define AGAIN "?13 OR EXISTS (SELECT 1 FROM measurements WHERE (" KEY ") = (" ITS_KEY "))"

/* The columns that are read of run ?3, and those that are written. ?1 is added to a measurement's
 * number; ?2 is the run that it becomes part of. A part begins without the finals. */
static const struct {
    const char *read, *write;
} tables[] = {
    {"SELECT ?1 + id, ?2, " MEASUREMENT " FROM measurements WHERE run = ?3 ORDER BY id",
     "INSERT INTO measurements (id, run, " MEASUREMENT ")"
     "  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, " AGAIN
     ", ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22"
     "  WHERE " IS_NEW},
    {"SELECT ?2, " FINAL " FROM finals WHERE run = ?3 ORDER BY id",
     "INSERT INTO finals (run, " FINAL ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
};
enum { BUT_FINALS = 1, ALL = AT_COUNT(tables) };

struct copying {
    struct at_journal *from, *into;
    size_t tables;        /* how many are copied */
    const char *runs_sql; /* which runs: their ids and settings */
    sqlite3_int64 offset; /* of the numbers of measurements */
};

/* Prepare a query of the journal that is read, and a statement for the one that is written. The
 * caller finalizes both, also after a failure. */
static enum at_status prepare_copy(const struct copying *copying, const char *read_sql,
                                   const char *write_sql, sqlite3_stmt **read, sqlite3_stmt **write,
                                   struct at_error *err)
{
    *read = *write = NULL;
    if (sqlite3_prepare_v2(copying->from->db, read_sql, -1, read, NULL) != SQLITE_OK)
        return at_journal_fail(copying->from, err);
    if (sqlite3_prepare_v2(copying->into->db, write_sql, -1, write, NULL) != SQLITE_OK)
        return at_journal_fail(copying->into, err);
    return AT_OK;
}

/* Bind a row's columns in their order. */
static void bind_row(sqlite3_stmt *write, sqlite3_stmt *read)
{
    for (int i = 0; i < sqlite3_column_count(read); i++)
        sqlite3_bind_value(write, 1 + i, sqlite3_column_value(read, i));
}

static enum at_status copy_rows(const struct copying *copying, sqlite3_stmt *read,
                                sqlite3_stmt *write, struct at_error *err)
{
    int result;

    while ((result = sqlite3_step(read)) == SQLITE_ROW) {
        bind_row(write, read);
        if (sqlite3_step(write) != SQLITE_DONE)
            return at_journal_fail(copying->into, err);
        sqlite3_reset(write);
    }
    return result == SQLITE_DONE ? AT_OK : at_journal_fail(copying->from, err);
}

static enum at_status copy_table(const struct copying *copying, size_t table, sqlite3_int64 run,
                                 struct at_error *err)
{
    sqlite3_stmt *read, *write;
    enum at_status status =
        prepare_copy(copying, tables[table].read, tables[table].write, &read, &write, err);

    if (status == AT_OK) {
        sqlite3_bind_int64(read, 1, copying->offset);
        sqlite3_bind_int64(read, 2, copying->into->run);
        sqlite3_bind_int64(read, 3, run);
        status = copy_rows(copying, read, write, err);
    }
    sqlite3_finalize(read);
    sqlite3_finalize(write);
    return status;
}

/* The rows become part of the newest run of the same setting. */
static enum at_status copy_run(const struct copying *copying, sqlite3_int64 run,
                               const char *setting, struct at_error *err)
{
    enum at_status status = find_run(copying->into, setting, err);

    if (status == AT_OK && copying->into->run == 0)
        status = add_run(copying->into, setting, err);
    for (size_t i = 0; i < copying->tables && status == AT_OK; i++)
        status = copy_table(copying, i, run, err);
    return status;
}

static enum at_status copy_runs(const struct copying *copying, struct at_error *err)
{
    struct at_journal_row run = {.what = "run"};
    enum at_status status = AT_OK;
    int result = SQLITE_ROW;

    if (sqlite3_prepare_v2(copying->from->db, copying->runs_sql, -1, &run.statement, NULL) !=
        SQLITE_OK)
        return at_journal_fail(copying->from, err);
    while (status == AT_OK && (result = sqlite3_step(run.statement)) == SQLITE_ROW) {
        const char *setting;

        status = at_journal_text(copying->from, &run, 1, &setting, err);
        if (status == AT_OK)
            status = copy_run(copying, sqlite3_column_int64(run.statement, 0), setting, err);
    }
    if (status == AT_OK && result != SQLITE_DONE)
        status = at_journal_fail(copying->from, err);
    sqlite3_finalize(run.statement);
    return status;
}

/* Finals are copied with all else or not at all: are they there already? */
static enum at_status are_finals_copied(const struct copying *copying, bool *copied,
                                        struct at_error *err)
{
    static const char last_sql[] = "SELECT problem, family, family_hash, config, place, samples_ns,"
                                   "  filed_utc_ms FROM finals ORDER BY id DESC LIMIT 1";
    static const char same_sql[] =
        "SELECT 1 FROM finals WHERE problem = ? AND family = ? AND family_hash = ?"
        "  AND config = ? AND place = ? AND samples_ns = ? AND filed_utc_ms = ? LIMIT 1";
    sqlite3_stmt *last, *same;
    enum at_status status = prepare_copy(copying, last_sql, same_sql, &last, &same, err);

    *copied = false;
    if (status == AT_OK && sqlite3_step(last) == SQLITE_ROW) {
        bind_row(same, last);
        *copied = sqlite3_step(same) == SQLITE_ROW;
    }
    sqlite3_finalize(last);
    sqlite3_finalize(same);
    return status;
}

/* All is copied, or nothing. */
static enum at_status copy_all(struct copying *copying, struct at_error *err)
{
    enum at_status status = at_journal_query(
        copying->into, "SELECT ifnull(max(id), 0) FROM measurements", &copying->offset, NULL, err);

    if (status == AT_OK)
        status = at_journal_execute(copying->into, "BEGIN", err);
    if (status == AT_OK)
        status = copy_runs(copying, err);
    if (status == AT_OK)
        status = at_journal_execute(copying->into, "COMMIT", err);
    return status;
}

static enum at_status open_one(struct at_journal **journal, const char *path, struct at_error *err)
{
    *journal = at_alloc(sizeof **journal);
    return at_journal_open_file(*journal, path, err);
}

enum at_status at_journal_absorb(const char *path, const char *part, struct at_error *err)
{
    struct copying copying = {.runs_sql = "SELECT id, setting FROM runs ORDER BY id"};
    bool copied = false;
    enum at_status status;

    if (access(part, F_OK) != 0)
        return AT_OK;
    status = open_one(&copying.into, path, err);
    if (status == AT_OK)
        status = open_one(&copying.from, part, err);
    if (status == AT_OK)
        status = are_finals_copied(&copying, &copied, err);
    copying.tables = copied ? BUT_FINALS : ALL;
    if (status == AT_OK)
        status = copy_all(&copying, err);
    at_journal_close(copying.from);
    at_journal_close(copying.into); /* moves the log into the file, on disk */
    if (status == AT_OK && unlink(part) != 0)
        status = at_fail(err, AT_USAGE, "cannot remove %s: %s", part, strerror(errno));
    return status;
}

enum at_status at_journal_begin_part(const char *part, const char *path, struct at_error *err)
{
    struct copying copying = {
        .tables = BUT_FINALS,
        .runs_sql = "SELECT max(id), setting FROM runs GROUP BY setting ORDER BY 1",
    };
    enum at_status status;

    if (access(path, F_OK) != 0)
        return AT_OK;
    status = open_one(&copying.into, part, err);
    if (status == AT_OK)
        status = open_one(&copying.from, path, err);
    if (status == AT_OK)
        status = copy_all(&copying, err);
    at_journal_close(copying.from);
    at_journal_close(copying.into);
    return status;
}
