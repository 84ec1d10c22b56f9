/* SPDX-License-Identifier: Apache-2.0 */
/* A journal is an untrusted file, and a database can contain programs: triggers and views run when
 * a table is written or read. So SQLite is set up as it advises for such files
 * (https://www.sqlite.org/security.html), and a journal must have our tables and nothing else. */
#include "base/memory.h"
#include "journal/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Room for some millions of measurements. */
static const sqlite3_int64 bytes_max = (sqlite3_int64)4 << 30;

/* Rows are numbered from the last one on, so no journal of ours has larger numbers. After the
 * largest possible one SQLite would choose numbers at random. */
#define ID_MAX (INT64_C(1) << 40)

/* Older versions of SQLite lack some. */
static const struct {
    int option, value;
} switches[] = {
    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
#ifdef SQLITE_DBCONFIG_DEFENSIVE
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
#endif
#ifdef SQLITE_DBCONFIG_ENABLE_VIEW
    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
#endif
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA
    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
#endif
};

static const struct {
    int limit, value;
} limits[] = {
    {SQLITE_LIMIT_LENGTH, 1000000},     {SQLITE_LIMIT_SQL_LENGTH, 100000},
    {SQLITE_LIMIT_COLUMN, 100},         {SQLITE_LIMIT_EXPR_DEPTH, 10},
    {SQLITE_LIMIT_COMPOUND_SELECT, 3},  {SQLITE_LIMIT_VDBE_OP, 25000},
    {SQLITE_LIMIT_FUNCTION_ARG, 8},     {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 22}, {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},    {SQLITE_LIMIT_WORKER_THREADS, 0},
};

enum at_status at_journal_harden(struct at_journal *journal, struct at_error *err)
{
    for (size_t i = 0; i < AT_COUNT(switches); i++)
        sqlite3_db_config(journal->db, switches[i].option, switches[i].value, NULL);
    for (size_t i = 0; i < AT_COUNT(limits); i++)
        sqlite3_limit(journal->db, limits[i].limit, limits[i].value);
    return at_journal_execute(journal, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", err);
}

/* ---- size ---- */

enum at_status at_journal_check_size(const char *path, struct at_error *err)
{
    char *log = at_format("%s-wal", path);
    const char *const files[] = {path, log};
    enum at_status status = AT_OK;

    for (size_t i = 0; i < AT_COUNT(files) && status == AT_OK; i++) {
        struct stat about;

        if (stat(files[i], &about) == 0 && about.st_size > bytes_max)
            status = at_fail(err, AT_USAGE,
                             "journal %s has %jd bytes; at most %lld are read: name another file",
                             files[i], (intmax_t)about.st_size, bytes_max);
    }
    free(log);
    return status;
}

enum at_status at_journal_limit_size(struct at_journal *journal, struct at_error *err)
{
    sqlite3_int64 page_bytes = 0;
    enum at_status status = at_journal_query(journal, "PRAGMA page_size", &page_bytes, NULL, err);
    char *sql;

    if (status != AT_OK)
        return status;
    sql = at_format("PRAGMA max_page_count = %lld", bytes_max / page_bytes);
    status = at_journal_execute(journal, sql, err);
    free(sql);
    return status;
}

/* ---- tables ---- */

/* All parts of a database, without where they are stored. */
static const char parts_sql[] = "SELECT type, name, tbl_name, sql FROM sqlite_master"
                                "  ORDER BY type, name";

enum { TYPE, NAME, PARTS_COLUMNS = 4 };

/* The parts that a journal should have, from a new database in memory. */
struct expected {
    sqlite3 *db;
    sqlite3_stmt *parts;
};

static bool make_expected(struct expected *expected, const char *tables_sql)
{
    return sqlite3_open_v2(":memory:", &expected->db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
           sqlite3_exec(expected->db, tables_sql, NULL, NULL, NULL) == SQLITE_OK &&
           sqlite3_prepare_v2(expected->db, parts_sql, -1, &expected->parts, NULL) == SQLITE_OK;
}

/* Compare two values as bytes, which is also the order of the query. */
static int compare_values(sqlite3_stmt *a, sqlite3_stmt *b, int column)
{
    const void *text_a = sqlite3_column_text(a, column), *text_b = sqlite3_column_text(b, column);
    int size_a = sqlite3_column_bytes(a, column), size_b = sqlite3_column_bytes(b, column), order;

    if (!text_a || !text_b)
        return (text_a != NULL) - (text_b != NULL);
    order = memcmp(text_a, text_b, (size_t)(size_a < size_b ? size_a : size_b));
    return order ? order : size_a - size_b;
}

static int compare_parts(sqlite3_stmt *a, sqlite3_stmt *b, int columns)
{
    int order = 0;

    for (int i = 0; i < columns && order == 0; i++)
        order = compare_values(a, b, i);
    return order;
}

static enum at_status fail_part(const struct at_journal *journal, const char *trouble,
                                sqlite3_stmt *part, struct at_error *err)
{
    const unsigned char *type = sqlite3_column_text(part, TYPE);
    const unsigned char *name = sqlite3_column_text(part, NAME);

    return at_fail(err, AT_USAGE,
                   "journal %s %s: %s %.100s; it was not made by this program, or was changed: "
                   "name another file",
                   journal->path, trouble, type ? (const char *)type : "?",
                   name ? (const char *)name : "?");
}

/* Compare both lists of parts, up to the first difference. */
static enum at_status match_parts(const struct at_journal *journal, sqlite3_stmt *found,
                                  sqlite3_stmt *wanted, struct at_error *err)
{
    for (;;) {
        int have = sqlite3_step(found), want = sqlite3_step(wanted), order;

        if (have != SQLITE_ROW && have != SQLITE_DONE)
            return at_journal_fail(journal, err);
        if (have == SQLITE_DONE && want == SQLITE_DONE)
            return AT_OK;
        order = have == SQLITE_DONE   ? 1
                : want == SQLITE_DONE ? -1
                                      : compare_parts(found, wanted, NAME + 1);
        if (order > 0)
            return fail_part(journal, "lacks what every journal has", wanted, err);
        if (order < 0)
            return fail_part(journal, "has what no journal has", found, err);
        if (compare_parts(found, wanted, PARTS_COLUMNS) != 0)
            return fail_part(journal, "has a part that differs from every journal's", found, err);
    }
}

enum at_status at_journal_check_tables(const struct at_journal *journal, const char *tables_sql,
                                       struct at_error *err)
{
    struct expected expected = {0};
    sqlite3_stmt *found = NULL;
    enum at_status status;

    if (!make_expected(&expected, tables_sql))
        status = at_fail(err, AT_INTERNAL, "SQLite: %s", sqlite3_errmsg(expected.db));
    else if (sqlite3_prepare_v2(journal->db, parts_sql, -1, &found, NULL) != SQLITE_OK)
        status = at_journal_fail(journal, err);
    else
        status = match_parts(journal, found, expected.parts, err);
    sqlite3_finalize(found);
    sqlite3_finalize(expected.parts);
    sqlite3_close(expected.db);
    return status;
}

enum at_status at_journal_check_ids(struct at_journal *journal, struct at_error *err)
{
    static const char *const tables[] = {"runs", "measurements", "finals"};
    enum at_status status = AT_OK;

    for (size_t i = 0; i < AT_COUNT(tables) && status == AT_OK; i++) {
        char *sql = at_format("SELECT count(*) FROM (SELECT min(id) AS id FROM %s"
                              "  UNION ALL SELECT max(id) FROM %s) WHERE id < 1 OR id > %" PRId64,
                              tables[i], tables[i], ID_MAX);
        sqlite3_int64 outside = 0;

        status = at_journal_query(journal, sql, &outside, NULL, err);
        if (status == AT_OK && outside > 0)
            status =
                at_fail(err, AT_USAGE,
                        "journal %s: an id of %s is not from 1 to %" PRId64 ": name another file",
                        journal->path, tables[i], ID_MAX);
        free(sql);
    }
    return status;
}
