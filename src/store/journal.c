/* SPDX-License-Identifier: Apache-2.0 */
/* How a journal is kept.
 *
 * Write-ahead log with synchronous=NORMAL: a commit is one append, some tens of microseconds, after
 * which the end of this process loses nothing: that lets a result be filed before the GPU is given
 * something else to do. What a power cut could take is only safe after an fsync, some milliseconds
 * on a common disk: SQLite leaves it out after a commit in this mode, and at_journal_sync does it
 * (https://www.sqlite.org/pragma.html#pragma_synchronous), while the GPU works. So is the log
 * folded into the file now and then, which takes two of them, and which SQLite would do in a
 * commit.
 *
 * locking_mode=EXCLUSIVE: one writer, no reader beside it. It also keeps the log's index in memory
 * rather than in a shared mapping beside the file, which network file systems do not offer
 * (https://www.sqlite.org/wal.html, section 8). Closing folds the log back into the one file. */
#include "store/journal.h"

#include "base/file.h"
#include "base/memory.h"
#include "store/samples.h"
#include "store/setting.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file's marks: who wrote it (the letters "ATjn") and in which version of the tables. */
enum { APPLICATION_ID = 0x41546a6e, TABLES_VERSION = 2 };

static const char tables_sql[] =
    "BEGIN;"
    "CREATE TABLE runs ("
    "  id INTEGER PRIMARY KEY,"
    "  setting TEXT NOT NULL,"
    "  started_utc TEXT NOT NULL DEFAULT (datetime('now')));"
    "CREATE TABLE measurements ("
    "  id INTEGER PRIMARY KEY," /* in the order of measuring */
    "  run INTEGER NOT NULL REFERENCES runs (id),"
    "  problem TEXT NOT NULL,"
    "  family TEXT NOT NULL,"
    "  family_hash TEXT NOT NULL,"
    "  config TEXT NOT NULL,"
    "  outcome TEXT NOT NULL,"
    "  message TEXT NOT NULL,"
    "  registers INTEGER NOT NULL,"
    "  spill_bytes INTEGER NOT NULL,"
    "  shared_bytes INTEGER NOT NULL,"
    "  samples_ns TEXT NOT NULL,"          /* a JSON array: json_each() reads it */
    "  again INTEGER NOT NULL DEFAULT 0);" /* measured before, but the device has changed since */
    "CREATE INDEX measurements_by_key"
    "  ON measurements (run, problem, family, family_hash, config);"
    "PRAGMA application_id = %d;"
    "PRAGMA user_version = %d;"
    "COMMIT;";

static const char add_sql[] =
    "INSERT INTO measurements (run, problem, family, family_hash, config,"
    "  outcome, message, registers, spill_bytes, shared_bytes, samples_ns, again)"
    "  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

static const char find_sql[] =
    "SELECT outcome, message, registers, spill_bytes, shared_bytes, samples_ns FROM measurements"
    "  WHERE run = ?1 AND problem = ?2 AND family = ?3 AND family_hash = ?4 AND config = ?5"
    "  ORDER BY id DESC LIMIT 1"; /* measured again: the newest counts */

/* A measurement takes three pages of the log, of four KiB. */
enum { FOLD_AFTER = 300 };

struct at_journal {
    sqlite3 *db;
    char *path;
    sqlite3_int64 run;
    int unfolded; /* measurements since the log was last folded into the file */
    sqlite3_stmt *add, *find;
};

/* Turns SQLite's last error into ours: what is wrong with which file, and what to do. */
static enum at_status fail(const struct at_journal *journal, struct at_error *err)
{
    const char *path = journal->path;

    switch (sqlite3_errcode(journal->db)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return at_fail(err, AT_USAGE,
                       "journal %s is in use by another process: wait for it, or name another file",
                       path);
    case SQLITE_NOTADB:
        return at_fail(err, AT_USAGE, "%s is not a journal of autotune: name another file", path);
    case SQLITE_CORRUPT:
        return at_fail(err, AT_USAGE,
                       "journal %s is damaged: name another file; `sqlite3 %s .recover` may save "
                       "what is in it",
                       path, path);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return at_fail(err, AT_USAGE, "cannot open journal %s: %s", path,
                       sqlite3_errmsg(journal->db));
    default:
        return at_fail(err, AT_INTERNAL, "journal %s: %s", path, sqlite3_errmsg(journal->db));
    }
}

static enum at_status execute(struct at_journal *journal, const char *sql, struct at_error *err)
{
    return sqlite3_exec(journal->db, sql, NULL, NULL, NULL) == SQLITE_OK ? AT_OK
                                                                         : fail(journal, err);
}

/* A column's text. An edited file can have NULL where we write none. */
static const char *column(sqlite3_stmt *row, int number)
{
    const unsigned char *text = sqlite3_column_text(row, number);

    return text ? (const char *)text : "";
}

/* Runs a query of one row and gives its first column, as a number and as text (may be NULL). */
static enum at_status query(struct at_journal *journal, const char *sql, sqlite3_int64 *number,
                            char **text, struct at_error *err)
{
    sqlite3_stmt *statement = NULL;
    enum at_status status = AT_OK;

    if (sqlite3_prepare_v2(journal->db, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        status = fail(journal, err);
    else if (text)
        *text = at_strdup(column(statement, 0));
    else
        *number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return status;
}

/* Is it ours, of this version and sound? Only reads, so that a file which is not stays as it is. */
static enum at_status check_existing(struct at_journal *journal, struct at_error *err)
{
    sqlite3_int64 application = 0, version = 0;
    char *verdict = NULL;
    enum at_status status;

    status = query(journal, "PRAGMA application_id", &application, NULL, err);
    if (status == AT_OK && application != APPLICATION_ID)
        status = at_fail(err, AT_USAGE,
                         "%s is an SQLite database, but not a journal of autotune: name another "
                         "file",
                         journal->path);
    if (status == AT_OK)
        status = query(journal, "PRAGMA user_version", &version, NULL, err);
    if (status == AT_OK && version != TABLES_VERSION)
        status = at_fail(err, AT_USAGE,
                         "journal %s has version %lld of the format, this program knows version "
                         "%d: name another file",
                         journal->path, version, TABLES_VERSION);
    if (status == AT_OK)
        status = query(journal, "PRAGMA quick_check(1)", NULL, &verdict, err);
    if (status == AT_OK && strcmp(verdict, "ok") != 0)
        status = at_fail(err, AT_USAGE, "journal %s is damaged (%s): name another file",
                         journal->path, verdict);
    free(verdict);
    return status;
}

/* Locks the file, finds out what it is, and makes the tables where it is new. */
static enum at_status prepare_file(struct at_journal *journal, struct at_error *err)
{
    static const char is_used[] = "SELECT EXISTS (SELECT * FROM sqlite_schema)"
                                  " OR (SELECT application_id FROM pragma_application_id) <> 0";
    sqlite3_int64 used = 0;
    enum at_status status;

    /* Closing another program's database must not fold its log into it. */
    sqlite3_db_config(journal->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    /* An exclusive transaction takes the lock at once, and this locking mode never gives it back.
     * Of an existing file, it changes nothing. */
    status = execute(journal, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT", err);
    if (status == AT_OK)
        status = query(journal, is_used, &used, NULL, err);
    if (status == AT_OK && used) {
        status = check_existing(journal, err);
    } else if (status == AT_OK) {
        char *sql = at_format(tables_sql, APPLICATION_ID, TABLES_VERSION);

        status = execute(journal, sql, err);
        free(sql);
    }
    if (status != AT_OK)
        return status;
    sqlite3_db_config(journal->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return execute(journal,
                   "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                   "PRAGMA wal_autocheckpoint = 0",
                   err);
}

/* There is no run of this setting to go on from. If there is one on the device, whoever asked for
 * that is told why not; runs on other devices are no obstacle, since a run may take several. */
static enum at_status check_others(struct at_journal *journal, const char *setting,
                                   struct at_error *err)
{
    sqlite3_stmt *runs = NULL;
    enum at_status status = AT_OK;
    int result = SQLITE_ROW;

    if (sqlite3_prepare_v2(journal->db, "SELECT setting FROM runs ORDER BY id DESC", -1, &runs,
                           NULL) != SQLITE_OK)
        return fail(journal, err);
    while (status == AT_OK && (result = sqlite3_step(runs)) == SQLITE_ROW) {
        const char *other = column(runs, 0);
        char *difference;

        if (!at_setting_same_device(other, setting))
            continue;
        difference = at_setting_difference(other, setting);
        status = at_fail(err, AT_USAGE,
                         "--resume cannot go on from journal %s: its run is of another setting "
                         "(%s); without --resume this run starts anew, and what is in the journal "
                         "stays",
                         journal->path, difference);
        free(difference);
    }
    if (status == AT_OK && result != SQLITE_DONE)
        status = fail(journal, err);
    sqlite3_finalize(runs);
    return status;
}

/* The run to file under: the newest of this setting, or a new one. */
static enum at_status choose_run(struct at_journal *journal, const char *setting, bool resume,
                                 struct at_error *err)
{
    static const char newest[] = "SELECT id FROM runs WHERE setting = ?1 ORDER BY id DESC LIMIT 1";
    static const char new[] = "INSERT INTO runs (setting) VALUES (?1) RETURNING id";
    const char *const queries[] = {newest, new};
    enum at_status status = AT_OK;

    for (size_t i = resume ? 0 : 1; i < AT_COUNT(queries) && !journal->run && !status; i++) {
        sqlite3_stmt *statement = NULL;
        int result;

        if (i == 1 && resume && check_others(journal, setting, err) != AT_OK)
            return AT_USAGE;
        if (sqlite3_prepare_v2(journal->db, queries[i], -1, &statement, NULL) != SQLITE_OK)
            return fail(journal, err);
        sqlite3_bind_text(statement, 1, setting, -1, SQLITE_STATIC);
        while ((result = sqlite3_step(statement)) == SQLITE_ROW)
            journal->run = sqlite3_column_int64(statement, 0);
        if (result != SQLITE_DONE)
            status = fail(journal, err);
        sqlite3_finalize(statement);
    }
    return status;
}

static enum at_status prepare_statements(struct at_journal *journal, struct at_error *err)
{
    if (sqlite3_prepare_v3(journal->db, add_sql, -1, SQLITE_PREPARE_PERSISTENT, &journal->add,
                           NULL) != SQLITE_OK ||
        sqlite3_prepare_v3(journal->db, find_sql, -1, SQLITE_PREPARE_PERSISTENT, &journal->find,
                           NULL) != SQLITE_OK)
        return fail(journal, err);
    return AT_OK;
}

static enum at_status open_file(struct at_journal *journal, const char *path, struct at_error *err)
{
    bool in_memory = strcmp(path, ":memory:") == 0;
    enum at_status status;

    /* "./" keeps SQLite from its own reading of names: "" is a temporary file, "file:" a URI. */
    journal->path = at_format("%s%s", in_memory || path[0] == '/' ? "" : "./", path);
    if (!in_memory) {
        /* Clearer than "unable to open database file" for a missing or unwritable folder, which
         * the log needs as well. It does not open the file: closing it again would drop the locks
         * of another connection of this process. */
        status = at_file_check_writable(journal->path, err);
        if (status != AT_OK)
            return at_fail_within(err, "cannot open journal");
    }
    if (sqlite3_open_v2(journal->path, &journal->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                        NULL) != SQLITE_OK)
        return fail(journal, err);
    /* SQLite falls back to reading where it may not write. */
    if (sqlite3_db_readonly(journal->db, "main") == 1)
        return at_fail(err, AT_USAGE, "journal %s is read-only: name another file", path);
    return AT_OK;
}

enum at_status at_journal_open(struct at_journal **journal, const char *path, const char *setting,
                               bool resume, struct at_error *err)
{
    struct at_journal *opened = at_alloc(sizeof *opened);
    enum at_status status = open_file(opened, path, err);

    if (status == AT_OK)
        status = prepare_file(opened, err);
    if (status == AT_OK)
        status = choose_run(opened, setting, resume, err);
    if (status == AT_OK)
        status = prepare_statements(opened, err);
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

enum at_status at_journal_add(struct at_journal *journal, const struct at_journal_key *key,
                              const struct at_measurement *measurement, struct at_error *err)
{
    sqlite3_stmt *add = journal->add;
    char *samples = NULL;
    enum at_status status;

    status = at_samples_format(&samples, measurement->samples_ns, measurement->sample_count, err);
    if (status != AT_OK)
        return status;
    bind_key(add, journal, key);
    sqlite3_bind_text(add, 6, at_outcome_names[measurement->outcome], -1, SQLITE_STATIC);
    sqlite3_bind_text(add, 7, measurement->message, -1, SQLITE_STATIC);
    sqlite3_bind_int64(add, 8, measurement->registers);
    sqlite3_bind_int64(add, 9, measurement->spill_bytes);
    sqlite3_bind_int64(add, 10, measurement->shared_bytes);
    sqlite3_bind_text(add, 11, samples, -1, SQLITE_STATIC);
    sqlite3_bind_int(add, 12, measurement->again);
    if (sqlite3_step(add) != SQLITE_DONE)
        status = fail(journal, err);
    journal->unfolded++;
    sqlite3_reset(add);
    sqlite3_clear_bindings(add);
    free(samples);
    return status;
}

enum at_status at_journal_sync(struct at_journal *journal, struct at_error *err)
{
    sqlite3_file *log = NULL;

    /* There is none in memory, and none that has been opened before the first commit. */
    if (sqlite3_file_control(journal->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) !=
            SQLITE_OK ||
        !log || !log->pMethods)
        return AT_OK;
    if (log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) != SQLITE_OK)
        return at_fail(err, AT_INTERNAL, "journal %s: cannot write to the disk", journal->path);
    if (journal->unfolded >= FOLD_AFTER) {
        sqlite3_wal_checkpoint_v2(journal->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
        journal->unfolded = 0; /* where it could not be, the log has it all */
    }
    return AT_OK;
}

static enum at_status read_row(struct at_journal *journal, struct at_measurement *measurement,
                               struct at_error *err)
{
    sqlite3_stmt *row = journal->find;
    const char *word = column(row, 0);
    struct at_measurement result = {
        .registers = sqlite3_column_int64(row, 2),
        .spill_bytes = sqlite3_column_int64(row, 3),
        .shared_bytes = sqlite3_column_int64(row, 4),
    };

    while (result.outcome < AT_OUTCOMES && strcmp(word, at_outcome_names[result.outcome]) != 0)
        result.outcome++;
    if (result.outcome == AT_OUTCOMES)
        return at_fail(err, AT_USAGE, "journal %s has an unknown outcome: %s", journal->path, word);
    snprintf(result.message, sizeof result.message, "%s", column(row, 1));
    if (at_samples_parse(&result.samples_ns, &result.sample_count, column(row, 5), err) != AT_OK)
        return at_fail_within(err, "journal %s", journal->path);
    if (result.outcome == AT_CORRECT && result.sample_count == 0)
        return at_fail(err, AT_USAGE, "journal %s has a correct config without a time",
                       journal->path);
    *measurement = result;
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
        status = read_row(journal, measurement, err);
    else if (result != SQLITE_DONE)
        status = fail(journal, err);
    if (status == AT_OK)
        *found = result == SQLITE_ROW;
    sqlite3_reset(journal->find);
    sqlite3_clear_bindings(journal->find);
    return status;
}

enum at_status at_journal_each(struct at_journal *journal, const char *problem,
                               void (*take)(void *data, const char *family, const char *config),
                               void *data, struct at_error *err)
{
    static const char sql[] = "SELECT family, config FROM measurements"
                              "  WHERE run = ?1 AND problem = ?2 AND NOT again ORDER BY id";
    sqlite3_stmt *rows = NULL;
    enum at_status status = AT_OK;
    int result;

    if (sqlite3_prepare_v2(journal->db, sql, -1, &rows, NULL) != SQLITE_OK)
        return fail(journal, err);
    sqlite3_bind_int64(rows, 1, journal->run);
    sqlite3_bind_text(rows, 2, problem, -1, SQLITE_STATIC);
    while ((result = sqlite3_step(rows)) == SQLITE_ROW)
        take(data, column(rows, 0), column(rows, 1));
    if (result != SQLITE_DONE)
        status = fail(journal, err);
    sqlite3_finalize(rows);
    return status;
}

enum at_status at_journal_count_others(struct at_journal *journal, const char *family,
                                       const char *family_hash, int64_t *count,
                                       struct at_error *err)
{
    static const char sql[] = "SELECT count(*) FROM measurements"
                              "  WHERE run = ?1 AND family = ?2 AND family_hash <> ?3";
    sqlite3_stmt *statement = NULL;
    enum at_status status = AT_OK;

    if (sqlite3_prepare_v2(journal->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return fail(journal, err);
    sqlite3_bind_int64(statement, 1, journal->run);
    sqlite3_bind_text(statement, 2, family, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, family_hash, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) == SQLITE_ROW)
        *count = sqlite3_column_int64(statement, 0);
    else
        status = fail(journal, err);
    sqlite3_finalize(statement);
    return status;
}

void at_measurement_clear(struct at_measurement *measurement)
{
    free(measurement->samples_ns);
    *measurement = (struct at_measurement){0};
}
