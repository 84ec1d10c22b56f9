/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the rows of one journal into another. Rows are read from one file and written to the
 * other: attaching a file to a connection is switched off, because a journal is an untrusted
 * file. */
#include "base/memory.h"
#include "journal/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
static enum at_status prepare(const struct copying *copying, const char *read_sql,
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
        prepare(copying, tables[table].read, tables[table].write, &read, &write, err);

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
    enum at_status status = at_journal_find_run(copying->into, setting, err);

    if (status == AT_OK && copying->into->run == 0)
        status = at_journal_add_run(copying->into, setting, err);
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
    enum at_status status = prepare(copying, last_sql, same_sql, &last, &same, err);

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
