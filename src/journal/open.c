/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes a journal: to go on with it, or a copy of it to read all rows.
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
 * (https://www.sqlite.org/wal.html, section 8). Closing moves the log into the file.
 *
 * A journal is an untrusted file, and a database can contain programs: triggers and views run when
 * a table is written or read. So SQLite is set up as it advises for such files
 * (https://www.sqlite.org/security.html), and a journal must have our tables and nothing else. */
#include "base/memory.h"
#include "journal/parts.h"
#include "system/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- untrusted files ---- */

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

static enum at_status harden(struct at_journal *journal, struct at_error *err)
{
    for (size_t i = 0; i < AT_COUNT(switches); i++)
        sqlite3_db_config(journal->db, switches[i].option, switches[i].value, NULL);
    for (size_t i = 0; i < AT_COUNT(limits); i++)
        sqlite3_limit(journal->db, limits[i].limit, limits[i].value);
    return at_journal_execute(journal, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", err);
}

/* ---- size ---- */

static enum at_status check_size(const char *path, struct at_error *err)
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

static enum at_status limit_size(struct at_journal *journal, struct at_error *err)
{
    sqlite3_int64 page_bytes = 0;
    enum at_status status =
        at_journal_query(journal, "PRAGMA page_size", NULL, &page_bytes, NULL, err);
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

static enum at_status check_tables(const struct at_journal *journal, const char *tables_sql,
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

static enum at_status check_ids(struct at_journal *journal, struct at_error *err)
{
    static const char *const tables[] = {"runs", "measurements", "finals", "phases"};
    enum at_status status = AT_OK;

    for (size_t i = 0; i < AT_COUNT(tables) && status == AT_OK; i++) {
        char *sql = at_format("SELECT count(*) FROM (SELECT min(id) AS id FROM %s"
                              "  UNION ALL SELECT max(id) FROM %s) WHERE id < 1 OR id > %" PRId64,
                              tables[i], tables[i], ID_MAX);
        sqlite3_int64 outside = 0;

        status = at_journal_query(journal, sql, NULL, &outside, NULL, err);
        if (status == AT_OK && outside > 0)
            status =
                at_fail(err, AT_USAGE,
                        "journal %s: an id of %s is not from 1 to %" PRId64 ": name another file",
                        journal->path, tables[i], ID_MAX);
        free(sql);
    }
    return status;
}

/* ---- opening ---- */

/* How long another process may have the file before it is said to be in use. */
enum { LOCK_MS = 250 };

/* The file's marks: who wrote it (the letters "ATjn") and in which version of the tables. */
enum { APPLICATION_ID = 0x41546a6e, TABLES_VERSION = 6 };

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
    "  further_launches TEXT);"        /* as in measurements */
    "CREATE TABLE phases ("
    "  id INTEGER PRIMARY KEY,"
    "  run INTEGER NOT NULL REFERENCES runs (id),"
    "  problem TEXT NOT NULL,"  /* '': none */
    "  gpu TEXT NOT NULL,"      /* UUID, as in a profile */
    "  phase TEXT NOT NULL,"    /* of at_phase_names */
    "  tuner INTEGER NOT NULL," /* its place among those of the device */
    "  took_ms INTEGER NOT NULL,"
    "  gpu_ms INTEGER NOT NULL,"         /* the GPU's work in that time */
    "  ended_utc_ms INTEGER NOT NULL);"; /* Unix time */

/* Only reads, so that another file stays unchanged. */
static enum at_status check_existing(struct at_journal *journal, struct at_error *err)
{
    sqlite3_int64 application = 0, version = 0;
    char *verdict = NULL;
    enum at_status status;

    status = at_journal_query(journal, "PRAGMA application_id", NULL, &application, NULL, err);
    if (status == AT_OK && application != APPLICATION_ID)
        status = at_fail(err, AT_USAGE,
                         "%s is an SQLite database, but not a journal of autotune: name another "
                         "file",
                         journal->path);
    if (status == AT_OK)
        status = at_journal_query(journal, "PRAGMA user_version", NULL, &version, NULL, err);
    if (status == AT_OK && version != TABLES_VERSION)
        status = at_fail(err, AT_USAGE,
                         "journal %s has version %lld of the format, this program knows version "
                         "%d: name another file",
                         journal->path, version, TABLES_VERSION);
    if (status == AT_OK)
        status = check_tables(journal, tables_sql, err);
    if (status == AT_OK)
        status = at_journal_query(journal, "PRAGMA quick_check(1)", NULL, NULL, &verdict, err);
    if (status == AT_OK)
        at_text_make_printable(verdict); /* it has several lines */
    if (status == AT_OK && strcmp(verdict, "ok") != 0)
        status = at_fail(err, AT_USAGE, "journal %s is damaged (%s): name another file",
                         journal->path, verdict);
    if (status == AT_OK)
        status = check_ids(journal, err);
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
        status = at_journal_query(journal, "PRAGMA application_id", NULL, &used, NULL, err);
    if (status == AT_OK && !used)
        status = at_journal_query(journal, "SELECT EXISTS (SELECT * FROM sqlite_master)", NULL,
                                  &used, NULL, err);
    if (status == AT_OK)
        status = used ? check_existing(journal, err) : make_tables(journal, err);
    if (status == AT_OK)
        status = limit_size(journal, err);
    if (status != AT_OK)
        return status;
    sqlite3_db_config(journal->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return at_journal_execute(journal,
                              "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                              "PRAGMA wal_autocheckpoint = 0",
                              err);
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
    return harden(journal, err);
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
    status = in_memory ? AT_OK : check_size(journal->path, err);
    if (status == AT_OK)
        status = open_file(
            journal, in_memory || at_output_has_record_locks(turn) ? NULL : AT_JOURNAL_UNLOCKED,
            err);
    if (status == AT_OK)
        status = prepare_file(journal, err);
    at_output_close(turn);
    return status;
}

void at_journal_close(struct at_journal *journal)
{
    if (!journal)
        return;
    sqlite3_finalize(journal->add.sqlite);
    sqlite3_finalize(journal->add_final.sqlite);
    sqlite3_finalize(journal->add_phase.sqlite);
    sqlite3_finalize(journal->find.sqlite);
    sqlite3_close(journal->db);
    free(journal->path);
    free(journal);
}

/* ---- a copy ---- */

/* A database lies in these two files: pages, and the log of pages newer than those. */
static const char *const endings[] = {"", "-wal"};
enum { FILES = AT_COUNT(endings) };

/* SQLite locks bytes behind the first gibibyte (https://www.sqlite.org/fileformat2.html, "The
 * lock-byte page"). A run holds them all. */
static bool is_locked(int file)
{
    struct flock lock = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0x40000000, .l_len = 512};

    return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static bool copy_bytes(int from, int to)
{
    char bytes[65536];
    ssize_t got;

    while ((got = read(from, bytes, sizeof bytes)) > 0)
        for (ssize_t done = 0; done < got;) {
            ssize_t put = write(to, bytes + done, (size_t)(got - done));

            if (put < 0 && errno != EINTR)
                return false;
            done += put > 0 ? put : 0;
        }
    return got == 0;
}

static enum at_status copy_file(const char *from, const char *to, bool optional,
                                struct at_error *err)
{
    int source = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK), target = -1;
    struct stat about = {0};
    enum at_status status = AT_OK;

    if (source < 0)
        return optional && errno == ENOENT
                   ? AT_OK
                   : at_fail(err, AT_USAGE, "cannot open journal %s: %s", from, strerror(errno));
    if (fstat(source, &about) != 0 || !S_ISREG(about.st_mode))
        status = at_fail(err, AT_USAGE, "journal %s is %s", from,
                         S_ISDIR(about.st_mode) ? "a folder, not a file" : "not a regular file");
    else if (is_locked(source))
        status = at_fail(
            err, AT_USAGE,
            "journal %s is in use by another process: wait for it, or name another file", from);
    else if ((target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0 ||
             !copy_bytes(source, target))
        status =
            at_fail(err, AT_USAGE, "cannot copy journal %s to %s: %s", from, to, strerror(errno));
    if (target >= 0 && close(target) != 0 && status == AT_OK)
        status =
            at_fail(err, AT_USAGE, "cannot copy journal %s to %s: %s", from, to, strerror(errno));
    close(source);
    return status;
}

/* Make a folder of our own for the copy; the caller frees the name. */
static enum at_status make_folder(char **folder, struct at_error *err)
{
    const char *parent = getenv("TMPDIR");
    char *name = at_format("%s/autotune-journal-XXXXXX", parent && *parent ? parent : "/tmp");

    if (!mkdtemp(name)) {
        at_fail(err, AT_USAGE,
                "cannot make the folder %s: %s; set TMPDIR to a folder that can be "
                "written",
                name, strerror(errno));
        free(name);
        return AT_USAGE;
    }
    *folder = name;
    return AT_OK;
}

static void remove_folder(char *folder)
{
    for (size_t i = 0; i < FILES; i++) {
        char *copy = at_format("%s/journal%s", folder, endings[i]);

        unlink(copy);
        free(copy);
    }
    rmdir(folder);
    free(folder);
}

static enum at_status copy_files(const char *path, const char *folder, struct at_error *err)
{
    enum at_status status = check_size(path, err);

    for (size_t i = 0; i < FILES && status == AT_OK; i++) {
        char *from = at_format("%s%s", path, endings[i]);
        char *to = at_format("%s/journal%s", folder, endings[i]);

        status = copy_file(from, to, i > 0, err);
        free(from);
        free(to);
    }
    return status;
}

/* ---- reading all of it ---- */

/* More than a run of 2400 problems measures in a week. */
enum { ROWS_MAX = 4000000 };

static const char rows_sql[] =
    "SELECT m.id, further_launches, outcome, message, registers, spill_bytes, shared_bytes,"
    "  samples_ns, family, family_hash, config, problem, gpu, setting, started_utc, again,"
    "  measured_utc_ms, run, clock_sm_khz, clock_memory_khz, expected_ns, power_mw, temperature_c,"
    "  throttle"
    "  FROM measurements AS m LEFT JOIN runs AS r ON m.run = r.id ORDER BY m.id";

static const char finals_sql[] =
    "SELECT f.id, further_launches, samples_ns, problem, family, family_hash, config, gpu, setting,"
    "  run, place, won"
    "  FROM finals AS f LEFT JOIN runs AS r ON f.run = r.id ORDER BY f.id";

static const char phases_sql[] =
    "SELECT p.id, problem, gpu, phase, tuner, took_ms, gpu_ms, ended_utc_ms, setting, run"
    "  FROM phases AS p LEFT JOIN runs AS r ON p.run = r.id ORDER BY p.id";

static enum at_status read_rows(const struct at_journal *journal, const char *what, const char *sql,
                                at_journal_taker *take, void *data, struct at_error *err)
{
    struct at_journal_statement rows = {0};
    enum at_status status = at_journal_prepare(journal, &rows, what, sql, err);
    bool found = true;

    for (int count = 0; status == AT_OK && found; count++) {
        struct at_journal_entry entry = {0};

        status = at_journal_step(journal, &rows, &entry, &found, err);
        if (status == AT_OK && found && count == ROWS_MAX)
            status = at_fail(err, AT_USAGE, "journal %s has more than %d %ss", journal->path,
                             ROWS_MAX, what);
        if (status == AT_OK && found)
            take(data, &entry);
        at_measurement_clear(&entry.measurement);
    }
    sqlite3_finalize(rows.sqlite);
    return status;
}

static enum at_status open_copy(struct at_journal *journal, const char *copy, struct at_error *err)
{
    enum at_status status;

    /* No other process opens the copy. */
    if (sqlite3_open_v2(copy, &journal->db, SQLITE_OPEN_READWRITE, AT_JOURNAL_UNLOCKED) !=
        SQLITE_OK)
        return at_journal_fail(journal, err);
    status = harden(journal, err);
    if (status == AT_OK)
        status = at_journal_execute(journal, "PRAGMA locking_mode = EXCLUSIVE", err);
    if (status == AT_OK)
        status = check_existing(journal, err);
    return status;
}

enum at_status at_journal_read(const char *path, at_journal_taker *measurement,
                               at_journal_taker *final, at_journal_taker *phase, void *data,
                               struct at_error *err)
{
    struct at_journal *journal;
    char *folder, *copy;
    enum at_status status = make_folder(&folder, err);

    if (status != AT_OK)
        return status;
    journal = at_alloc(sizeof *journal);
    journal->path = at_strdup(path);
    copy = at_format("%s/journal", folder);
    status = copy_files(path, folder, err);
    if (status == AT_OK)
        status = open_copy(journal, copy, err);
    if (status == AT_OK && measurement)
        status = read_rows(journal, "measurement", rows_sql, measurement, data, err);
    if (status == AT_OK && final)
        status = read_rows(journal, "finalist", finals_sql, final, data, err);
    if (status == AT_OK && phase)
        status = read_rows(journal, "phase", phases_sql, phase, data, err);
    at_journal_close(journal);
    remove_folder(folder);
    free(copy);
    return status;
}
