/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a journal.
 *
 * It uses a write-ahead log with synchronous=NORMAL. A commit is one append of some tens of
 * microseconds, and then survives the end of this process. So each result is in the journal before
 * the GPU gets its next work. To survive a power cut takes an fsync, some milliseconds on a common
 * disk. In this mode SQLite does none after a commit
 * (https://www.sqlite.org/pragma.html#pragma_synchronous); at_journal_sync does it while the GPU
 * works. It also moves the log into the file (a checkpoint, two fsyncs), which SQLite would
 * otherwise do within a commit.
 *
 * locking_mode=EXCLUSIVE allows one process at a time. It also keeps the log's index in memory
 * instead of in a shared mapping, which network file systems do not offer
 * (https://www.sqlite.org/wal.html, section 8). Closing moves the log into the file. */
#include "base/memory.h"
#include "base/printable.h"
#include "journal/parts.h"
#include "journal/setting.h"
#include "system/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How long another process may have the file before it is said to be in use. */
enum { LOCK_MS = 250 };

/* The file's marks: who wrote it (the letters "ATjn") and in which version of the tables. */
enum { APPLICATION_ID = 0x41546a6e, TABLES_VERSION = 5 };

/* SQLite keeps this text in the file, and a journal with another text is refused. This program
 * writes no further_launches: it runs configs of one launch. */
static const char tables_sql[] =
    "CREATE TABLE runs ("
    "  id INTEGER PRIMARY KEY,"
    "  setting TEXT NOT NULL,"
    "  started_utc TEXT NOT NULL DEFAULT (datetime('now')));"
    "CREATE TABLE measurements ("
    "  id INTEGER PRIMARY KEY," /* in the order of measurement */
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
    "  samples_ns TEXT NOT NULL,"         /* a JSON array: json_each() reads it */
    "  again INTEGER NOT NULL DEFAULT 0," /* 1: measured again after a drift */
    "  measured_utc_ms INTEGER NOT NULL," /* Unix time when it was filed */
    "  gpu TEXT NOT NULL,"                /* UUID, as in a profile */
    "  clock_sm_khz INTEGER,"             /* median over its samples; NULL: unknown */
    "  clock_memory_khz INTEGER,"         /* NVML's value meanwhile; NULL: not read */
    "  expected_ns REAL,"                 /* the search's prediction; NULL: none */
    "  power_mw INTEGER,"                 /* NVML's answers meanwhile; NULL: unknown */
    "  temperature_c INTEGER,"
    "  throttle INTEGER,"       /* bits of enum at_throttle */
    "  further_launches TEXT);" /* a JSON array; NULL: the config is one launch */
    "CREATE INDEX measurements_by_key"
    "  ON measurements (run, problem, family, family_hash, config);"
    "CREATE TABLE finals (" /* the finalists of shoot-outs */
    "  id INTEGER PRIMARY KEY,"
    "  run INTEGER NOT NULL REFERENCES runs (id),"
    "  problem TEXT NOT NULL,"
    "  family TEXT NOT NULL,"
    "  family_hash TEXT NOT NULL,"
    "  config TEXT NOT NULL,"
    "  gpu TEXT NOT NULL,"             /* UUID, as in a profile */
    "  place INTEGER NOT NULL,"        /* 0 begins a shoot-out; the last one of a run counts */
    "  won INTEGER NOT NULL,"          /* 1: the winner */
    "  samples_ns TEXT NOT NULL,"      /* a JSON array, one of each round, all in turn */
    "  filed_utc_ms INTEGER NOT NULL," /* Unix time */
    "  further_launches TEXT);";       /* as in measurements */

/* Only reads, so that another file stays unchanged. */
enum at_status at_journal_check_existing(struct at_journal *journal, struct at_error *err)
{
    sqlite3_int64 application = 0, version = 0;
    char *verdict = NULL;
    enum at_status status;

    status = at_journal_query(journal, "PRAGMA application_id", &application, NULL, err);
    if (status == AT_OK && application != APPLICATION_ID)
        status = at_fail(err, AT_USAGE,
                         "%s is an SQLite database, but not a journal of autotune: name another "
                         "file",
                         journal->path);
    if (status == AT_OK)
        status = at_journal_query(journal, "PRAGMA user_version", &version, NULL, err);
    if (status == AT_OK && version != TABLES_VERSION)
        status = at_fail(err, AT_USAGE,
                         "journal %s has version %lld of the format, this program knows version "
                         "%d: name another file",
                         journal->path, version, TABLES_VERSION);
    if (status == AT_OK)
        status = at_journal_check_tables(journal, tables_sql, err);
    if (status == AT_OK)
        status = at_journal_query(journal, "PRAGMA quick_check(1)", NULL, &verdict, err);
    if (status == AT_OK)
        at_text_make_printable(verdict); /* it has several lines */
    if (status == AT_OK && strcmp(verdict, "ok") != 0)
        status = at_fail(err, AT_USAGE, "journal %s is damaged (%s): name another file",
                         journal->path, verdict);
    if (status == AT_OK)
        status = at_journal_check_ids(journal, err);
    free(verdict);
    return status;
}

static enum at_status make_tables(struct at_journal *journal, struct at_error *err)
{
    char *sql = at_format("BEGIN; %s PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
                          tables_sql, APPLICATION_ID, TABLES_VERSION);
    enum at_status status = at_journal_execute(journal, sql, err);

    free(sql);
    return status;
}

/* Lock the file, and check it or make its tables. */
static enum at_status prepare_file(struct at_journal *journal, struct at_error *err)
{
    sqlite3_int64 used = 0;
    enum at_status status;

    /* Closing another program's database must not checkpoint it. */
    sqlite3_db_config(journal->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    /* An exclusive transaction takes the lock at once, and this locking mode keeps it. It does not
     * change an existing file. */
    status = at_journal_execute(journal, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT",
                                err);
    if (status == AT_OK)
        status = at_journal_query(journal, "PRAGMA application_id", &used, NULL, err);
    if (status == AT_OK && !used)
        status = at_journal_query(journal, "SELECT EXISTS (SELECT * FROM sqlite_master)", &used,
                                  NULL, err);
    if (status == AT_OK)
        status = used ? at_journal_check_existing(journal, err) : make_tables(journal, err);
    if (status == AT_OK)
        status = at_journal_limit_size(journal, err);
    if (status != AT_OK)
        return status;
    sqlite3_db_config(journal->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return at_journal_execute(journal,
                              "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                              "PRAGMA wal_autocheckpoint = 0",
                              err);
}

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
        if (status != AT_OK || !at_setting_same_device(other, setting))
            continue;
        difference = at_setting_difference(other, setting);
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

enum at_status at_journal_find_run(struct at_journal *journal, const char *setting,
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

enum at_status at_journal_add_run(struct at_journal *journal, const char *setting,
                                  struct at_error *err)
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

enum at_status at_journal_choose_run(struct at_journal *journal, const char *setting, bool resume,
                                     struct at_error *err)
{
    enum at_status status = resume ? at_journal_find_run(journal, setting, err) : AT_OK;

    if (status == AT_OK && resume && journal->run == 0)
        status = check_others(journal, setting, err);
    if (status == AT_OK && journal->run == 0)
        status = at_journal_add_run(journal, setting, err);
    return status;
}

static enum at_status open_file(struct at_journal *journal, const char *vfs, struct at_error *err)
{
    if (sqlite3_open_v2(journal->path, &journal->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                        vfs) != SQLITE_OK)
        return at_journal_fail(journal, err);
    /* SQLite opens a file read-only if it may not write it. */
    if (sqlite3_db_readonly(journal->db, "main") == 1)
        return at_fail(err, AT_USAGE, "journal %s is read-only: name another file", journal->path);
    sqlite3_busy_timeout(journal->db, LOCK_MS);
    return at_journal_harden(journal, err);
}

enum at_status at_journal_open_file(struct at_journal *journal, const char *path,
                                    struct at_error *err)
{
    bool in_memory = strcmp(path, ":memory:") == 0;
    struct at_output *turn = NULL;
    enum at_status status;

    /* Without "./" SQLite would take "" as a temporary file and "file:" as a URI. */
    journal->path = at_format("%s%s", in_memory || path[0] == '/' ? "" : "./", path);
    /* SQLite takes its lock in steps. Of two processes that take it at the same moment, each may
     * hold a step that the other waits for, until both give up. So they take it one after the
     * other. This call also tells why a file cannot be opened, where SQLite says "unable to open
     * database file". It does not open the file, because closing it would drop the locks of another
     * connection of this process. SQLite would call a file in use whose file system has no
     * locks. */
    if (!in_memory &&
        at_output_open(&turn, journal->path, AT_OUTPUT_WAIT_BRIEFLY, NULL, err) != AT_OK)
        return at_fail_within(err, "cannot open journal");
    status = in_memory ? AT_OK : at_journal_check_size(journal->path, err);
    if (status == AT_OK)
        status = open_file(
            journal, in_memory || at_output_has_record_locks(turn) ? NULL : AT_JOURNAL_UNLOCKED,
            err);
    if (status == AT_OK)
        status = prepare_file(journal, err);
    at_output_close(turn);
    return status;
}
