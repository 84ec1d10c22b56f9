/* SPDX-License-Identifier: Apache-2.0 */
/* Adds and finds the measurements of a journal, and copies what one has into another. Rows are read
 * from one file and written to the other: attaching a file to a connection is switched off, because
 * a journal is an untrusted file. */
#include "journal/journal.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "journal/parts.h"

#include <errno.h>
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
#define NOW_MS "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"

/* The columns that both tables of times have, those of a measurement besides, and those of a phase.
 */
/* clang-format off */
#define TOOK(X) X(problem) X(gpu) X(phase) X(tuner) X(took_ms) X(gpu_ms)
#define COMMON(X) X(problem) X(family) X(family_hash) X(config) X(samples_ns) X(gpu)
#define FIGURES(X) \
    X(outcome) X(message) X(registers) X(spill_bytes) X(shared_bytes) X(clock_sm_khz) \
    X(clock_memory_khz) X(expected_ns) X(power_mw) X(temperature_c) X(throttle)
/* clang-format on */

/* A column's name in a list, and a parameter of that name. */
#define NAME(column)  ", " #column
#define VALUE(column) ", :" #column

static const char add_sql[] = "INSERT INTO measurements (measured_utc_ms, run, again" COMMON(NAME)
    FIGURES(NAME) ")"
                  "  VALUES (" NOW_MS ", :run, :again" COMMON(VALUE) FIGURES(VALUE) ")";

static const char add_final_sql[] = "INSERT INTO finals (filed_utc_ms, run, place, won" COMMON(
    NAME) ")"
          "  VALUES (" NOW_MS ", :run, :place, :won" COMMON(VALUE) ")";

static const char add_phase_sql[] =
    "INSERT INTO phases (ended_utc_ms, run" TOOK(NAME) ") VALUES (" NOW_MS
                                                       " - :ago_ms, :run" TOOK(VALUE) ")";

static const char find_sql[] =
    "SELECT id, outcome, message, registers, spill_bytes, shared_bytes, samples_ns"
    "  FROM measurements WHERE run = :run AND problem = :problem AND family = :family"
    "  AND family_hash = :family_hash AND config = :config AND further_launches IS NULL"
    "  ORDER BY id DESC LIMIT 1"; /* the newest, if it was measured again */

/* Measurements between checkpoints. Each takes three pages of 4 KiB in the log. */
enum { CHECKPOINT_AFTER = 300 };

static enum at_status prepare(struct at_journal *journal, struct at_error *err)
{
    enum at_status status = at_journal_prepare(journal, &journal->add, "measurement", add_sql, err);

    if (status == AT_OK)
        status = at_journal_prepare(journal, &journal->add_final, "finalist", add_final_sql, err);
    if (status == AT_OK)
        status = at_journal_prepare(journal, &journal->add_phase, "phase", add_phase_sql, err);
    return status == AT_OK
               ? at_journal_prepare(journal, &journal->find, "measurement", find_sql, err)
               : status;
}

/* ---- runs ---- */

/* Call take with the id and setting of each run of a query, until it fails. */
static enum at_status each_run(const struct at_journal *journal, const char *sql,
                               enum at_status (*take)(void *data, sqlite3_int64 id,
                                                      const char *setting, struct at_error *err),
                               void *data, struct at_error *err)
{
    struct at_journal_statement runs = {0};
    struct at_journal_entry run;
    enum at_status status = at_journal_prepare(journal, &runs, "run", sql, err);
    bool found = true;

    while (status == AT_OK && found) {
        status = at_journal_step(journal, &runs, &run, &found, err);
        if (status == AT_OK && found)
            status = take(data, sqlite3_column_int64(runs.sqlite, 0), run.setting, err);
    }
    sqlite3_finalize(runs.sqlite);
    return status;
}

/* The journal that resumes a run, and the run's setting. */
struct resuming {
    const struct at_journal *journal;
    const char *setting;
};

/* Fail and tell the difference, if the run is of another setting on the same device. */
static enum at_status check_other(void *data, sqlite3_int64 id, const char *other,
                                  struct at_error *err)
{
    const struct resuming *resuming = data;
    char *difference;

    (void)id;
    if (!setting_same_device(other, resuming->setting))
        return AT_OK;
    difference = setting_difference(other, resuming->setting);
    at_fail(err, AT_USAGE,
            "--resume cannot continue journal %s: its run has another setting (%s); without "
            "--resume this run starts anew, and the journal keeps its contents",
            resuming->journal->path, difference);
    free(difference);
    return AT_USAGE;
}

static enum at_status find_run(struct at_journal *journal, const char *setting,
                               struct at_error *err)
{
    const struct at_journal_entry about = {.setting = setting};

    return at_journal_query(journal, "SELECT max(id) FROM runs WHERE setting = :setting", &about,
                            &journal->run, NULL, err);
}

/* Carry out a statement that adds a row about the entry. */
static enum at_status add_row(const struct at_journal *journal,
                              const struct at_journal_statement *add,
                              const struct at_journal_entry *entry, struct at_error *err)
{
    bool found;
    enum at_status status = at_journal_bind(add, entry, err);

    if (status == AT_OK)
        status = at_journal_step(journal, add, NULL, &found, err);
    if (status == AT_OK && sqlite3_changes(journal->db) != 1)
        status = at_fail(err, AT_INTERNAL, "journal %s did not store a %s: name another file",
                         journal->path, add->what);
    sqlite3_reset(add->sqlite);
    return status;
}

static enum at_status add_run(struct at_journal *journal, const char *setting, struct at_error *err)
{
    const struct at_journal_entry run = {.setting = setting};
    struct at_journal_statement add = {0};
    enum at_status status = at_journal_prepare(journal, &add, "run",
                                               "INSERT INTO runs (setting) VALUES (:setting)", err);

    if (status == AT_OK)
        status = add_row(journal, &add, &run, err);
    journal->run = sqlite3_last_insert_rowid(journal->db);
    sqlite3_finalize(add.sqlite);
    return status;
}

/* If no run of this setting can be resumed, a run of another setting on this device is a mistake.
 * Runs on other devices do not matter, since a run may use several. */
static enum at_status choose_run(struct at_journal *journal, const char *setting, bool resume,
                                 struct at_error *err)
{
    enum at_status status = resume ? find_run(journal, setting, err) : AT_OK;

    if (status == AT_OK && resume && journal->run == 0)
        status = each_run(journal, "SELECT id, setting FROM runs ORDER BY id DESC", check_other,
                          &(struct resuming){journal, setting}, err);
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

enum at_status at_journal_add(struct at_journal *journal, const struct at_journal_key *key,
                              const struct at_measurement *measurement,
                              const struct at_journal_details *details, struct at_error *err)
{
    const struct at_journal_entry entry = {
        .run = journal->run, .key = *key, .details = *details, .measurement = *measurement};

    journal->uncheckpointed++;
    return add_row(journal, &journal->add, &entry, err);
}

enum at_status at_journal_add_final(struct at_journal *journal, const struct at_journal_key *key,
                                    const char *gpu, const struct at_journal_final *final,
                                    struct at_error *err)
{
    const struct at_journal_entry entry = {
        .run = journal->run,
        .key = *key,
        .details.gpu = gpu,
        .measurement = {.samples_ns = (double *) final->samples_ns,
                        .sample_count = final->sample_count},
        .place = final->place,
        .won = final->won,
    };

    journal->uncheckpointed++;
    return add_row(journal, &journal->add_final, &entry, err);
}

enum at_status at_journal_add_phase(struct at_journal *journal, const char *problem,
                                    const char *gpu, const struct at_journal_phase *phase,
                                    struct at_error *err)
{
    const struct at_journal_entry entry = {
        .run = journal->run, .key.problem = problem, .details.gpu = gpu, .phase = *phase};

    return add_row(journal, &journal->add_phase, &entry, err);
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
    struct at_journal_entry entry = {.run = journal->run, .key = *key};
    enum at_status status = at_journal_bind(&journal->find, &entry, err);

    if (status == AT_OK)
        status = at_journal_step(journal, &journal->find, &entry, found, err);
    sqlite3_reset(journal->find.sqlite);
    if (status == AT_OK && *found)
        *measurement = entry.measurement;
    else
        at_measurement_clear(&entry.measurement);
    return status;
}

/* Twice the configs of the largest space: some may be from an older template. */
enum { PROBLEM_ROWS_MAX = 1000000 };

#define OF_PROBLEM                                                                                 \
    "  FROM measurements WHERE run = :run AND problem = :problem AND NOT again"                    \
    "  AND further_launches IS NULL"

enum at_status at_journal_each(struct at_journal *journal, const char *problem,
                               void (*take)(void *data, const char *family, const char *config),
                               void *data, struct at_error *err)
{
    struct at_journal_entry entry = {.run = journal->run, .key.problem = problem};
    struct at_journal_statement rows = {0};
    enum at_status status = at_journal_prepare(
        journal, &rows, "measurement", "SELECT id, family, config" OF_PROBLEM " ORDER BY id", err);
    bool found = true;

    if (status == AT_OK)
        status = at_journal_bind(&rows, &entry, err);
    for (int taken = 0; status == AT_OK && found; taken++) {
        status = at_journal_step(journal, &rows, &entry, &found, err);
        if (status == AT_OK && found && taken == PROBLEM_ROWS_MAX)
            status = at_fail(err, AT_USAGE, "journal %s has more than %d measurements of %s",
                             journal->path, PROBLEM_ROWS_MAX, problem);
        if (status == AT_OK && found)
            take(data, entry.key.family, entry.key.config);
    }
    sqlite3_finalize(rows.sqlite);
    return status;
}

/* Count the run's rows of a query about the key. */
static enum at_status count_rows(struct at_journal *journal, const char *sql,
                                 struct at_journal_key key, int64_t *count, struct at_error *err)
{
    const struct at_journal_entry about = {.run = journal->run, .key = key};
    sqlite3_int64 counted = 0;
    enum at_status status = at_journal_query(journal, sql, &about, &counted, NULL, err);

    if (status == AT_OK)
        *count = counted;
    return status;
}

enum at_status at_journal_count(struct at_journal *journal, const char *problem, int64_t *count,
                                struct at_error *err)
{
    return count_rows(journal, "SELECT count(*)" OF_PROBLEM,
                      (struct at_journal_key){.problem = problem}, count, err);
}

enum at_status at_journal_count_others(struct at_journal *journal, const char *family,
                                       const char *family_hash, int64_t *count,
                                       struct at_error *err)
{
    return count_rows(journal,
                      "SELECT count(*) FROM measurements"
                      "  WHERE run = :run AND family = :family AND family_hash <> :family_hash",
                      (struct at_journal_key){.family = family, .family_hash = family_hash}, count,
                      err);
}

/* ---- from one journal into another ---- */

/* A measurement that is there already is left out: both journals have it from a third, or a process
 * ended after rows were copied and before their file was removed. */
#define ITS      "(run, problem, family, family_hash, config"
#define THE_SAME "(:run, :problem, :family, :family_hash, :config"
#define IS_NEW                                                                                     \
    "NOT EXISTS (SELECT 1 FROM measurements WHERE " ITS ", samples_ns, measured_utc_ms)"           \
    "  = " THE_SAME ", :samples_ns, :measured_utc_ms))"

/* The same of a phase. */
#define IS_NEW_PHASE                                                                               \
    "(:run, :ended_utc_ms" TOOK(VALUE) ") NOT IN (SELECT run, ended_utc_ms" TOOK(NAME) " FROM"     \
                                                                                       "  phases)"

/* Two tuners measure a config if one is lost and another takes its problem. */
#define AGAIN ":again OR EXISTS (SELECT 1 FROM measurements WHERE " ITS ") = " THE_SAME "))"

/* The columns that are read of run ?3, and those that are written, which are bound by their names.
 * ?1 is added to a measurement's number; ?2 is the run that it becomes part of. A part begins
 * without the finals. */
#define MEASUREMENT(X) COMMON(X) FIGURES(X) X(measured_utc_ms) X(further_launches)
#define FINAL(X)       X(place) X(won) COMMON(X) X(filed_utc_ms) X(further_launches)
static const struct {
    const char *read, *write;
} tables[] = {
    {"SELECT ?1 + id AS id, ?2 AS run, again" MEASUREMENT(
         NAME) "  FROM measurements WHERE run = ?3 ORDER BY id",
     "INSERT INTO measurements (id, run, again" MEASUREMENT(
         NAME) ")"
               "  SELECT :id, :run, " AGAIN MEASUREMENT(VALUE) " WHERE " IS_NEW},
    {"SELECT ?2 AS run" FINAL(NAME) " FROM finals WHERE run = ?3 ORDER BY id",
     "INSERT INTO finals (run" FINAL(NAME) ") VALUES (:run" FINAL(VALUE) ")"},
    {"SELECT ?2 AS run, ended_utc_ms" TOOK(NAME) " FROM phases WHERE run = ?3 ORDER BY id",
     "INSERT INTO phases (run, ended_utc_ms" TOOK(NAME) ")"
                                                        "  SELECT :run, :ended_utc_ms" TOOK(
                                                            VALUE) " WHERE " IS_NEW_PHASE},
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

/* Bind a row's columns to the parameters of their names. */
static void bind_row(sqlite3_stmt *write, sqlite3_stmt *read)
{
    for (int i = 1; i <= sqlite3_bind_parameter_count(write); i++)
        for (int j = 0; j < sqlite3_column_count(read); j++)
            if (strcmp(sqlite3_bind_parameter_name(write, i) + 1, sqlite3_column_name(read, j)) ==
                0)
                sqlite3_bind_value(write, i, sqlite3_column_value(read, j));
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
static enum at_status copy_run(void *data, sqlite3_int64 run, const char *setting,
                               struct at_error *err)
{
    const struct copying *copying = data;
    enum at_status status = find_run(copying->into, setting, err);

    if (status == AT_OK && copying->into->run == 0)
        status = add_run(copying->into, setting, err);
    for (size_t i = 0; i < copying->tables && status == AT_OK; i++)
        status = copy_table(copying, i, run, err);
    return status;
}

/* Finals are copied with all else or not at all: are they there already? */
static enum at_status are_finals_copied(const struct copying *copying, bool *copied,
                                        struct at_error *err)
{
    static const char last_sql[] = "SELECT problem, family, family_hash, config, place, samples_ns,"
                                   "  filed_utc_ms FROM finals ORDER BY id DESC LIMIT 1";
    static const char same_sql[] =
        "SELECT 1 FROM finals WHERE problem = :problem AND family = :family"
        "  AND family_hash = :family_hash AND config = :config AND place = :place"
        "  AND samples_ns = :samples_ns AND filed_utc_ms = :filed_utc_ms LIMIT 1";
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
    enum at_status status =
        at_journal_query(copying->into, "SELECT ifnull(max(id), 0) FROM measurements", NULL,
                         &copying->offset, NULL, err);

    if (status == AT_OK)
        status = at_journal_execute(copying->into, "BEGIN", err);
    if (status == AT_OK)
        status = each_run(copying->from, copying->runs_sql, copy_run, copying, err);
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
