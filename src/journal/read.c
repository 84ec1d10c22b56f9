/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/read.h"

#include "base/memory.h"
#include "device/device.h"
#include "journal/parts.h"
#include "measure/measurement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than a run of 2400 problems measures in a week. */
enum { ROWS_MAX = 4000000, KHZ_MAX = 100000000 };

/* Milliseconds of the year 9999. */
#define UTC_MS_MAX INT64_C(253402300800000)

/* A database lies in these two files: pages, and the log of pages newer than those. */
static const char *const endings[] = {"", "-wal"};
enum { FILES = AT_COUNT(endings) };

/* ---- the copy ---- */

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
    struct stat about;
    enum at_status status = AT_OK;

    if (source < 0)
        return optional && errno == ENOENT
                   ? AT_OK
                   : at_fail(err, AT_USAGE, "cannot open journal %s: %s", from, strerror(errno));
    if (fstat(source, &about) != 0 || !S_ISREG(about.st_mode))
        status = at_fail(err, AT_USAGE, "journal %s is not a regular file", from);
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
    enum at_status status = at_journal_check_size(path, err);

    for (size_t i = 0; i < FILES && status == AT_OK; i++) {
        char *from = at_format("%s%s", path, endings[i]);
        char *to = at_format("%s/journal%s", folder, endings[i]);

        status = copy_file(from, to, i > 0, err);
        free(from);
        free(to);
    }
    return status;
}

/* ---- the rows ---- */

/* The columns: first those of at_journal_measurement. */
enum {
    FAMILY = 7,
    FAMILY_HASH,
    CONFIG,
    PROBLEM,
    GPU,
    SETTING,
    STARTED,
    AGAIN,
    MEASURED,
    RUN,
    SM_CLOCK,
    MEMORY_CLOCK,
    EXPECTED,
    POWER,
    TEMPERATURE,
    THROTTLE,
    FURTHER_LAUNCHES,
};

static const char rows_sql[] =
    "SELECT m.id, outcome, message, registers, spill_bytes, shared_bytes, samples_ns,"
    "  family, family_hash, config, problem, gpu, setting, started_utc, again, measured_utc_ms,"
    "  run, clock_sm_khz, clock_memory_khz, expected_ns, power_mw, temperature_c, throttle,"
    "  further_launches"
    "  FROM measurements AS m LEFT JOIN runs AS r ON m.run = r.id ORDER BY m.id";

/* An integer from 0 to most; NULL is 0 where it is optional. */
static bool take_number(sqlite3_stmt *row, int column, bool optional, int64_t most, int64_t *value)
{
    int type = sqlite3_column_type(row, column);

    *value = sqlite3_column_int64(row, column);
    return (type == SQLITE_INTEGER || (optional && type == SQLITE_NULL)) && *value >= 0 &&
           *value <= most;
}

static bool take_expected(sqlite3_stmt *row, double *value)
{
    int type = sqlite3_column_type(row, EXPECTED);

    *value = sqlite3_column_double(row, EXPECTED);
    return type == SQLITE_NULL || (type == SQLITE_FLOAT && *value > 0 && *value < 1e300);
}

static enum at_status fail_bounds(const struct at_journal *journal, const char *what,
                                  sqlite3_stmt *row, int column, struct at_error *err)
{
    return at_fail(err, AT_USAGE,
                   "journal %s: %s %lld: %s is out of its bounds; this program did not write "
                   "that: name another file",
                   journal->path, what, (long long)sqlite3_column_int64(row, 0),
                   sqlite3_column_name(row, column));
}

/* Newer programs may file configs of several launches. */
static enum at_status check_launches(const struct at_journal *journal,
                                     const struct at_journal_row *row, int column,
                                     struct at_error *err)
{
    return sqlite3_column_type(row->statement, column) == SQLITE_NULL
               ? AT_OK
               : at_fail(err, AT_USAGE,
                         "journal %s: %s %lld is of several launches, and this program knows "
                         "configs of one only: use the autotune that wrote the journal",
                         journal->path, row->what,
                         (long long)sqlite3_column_int64(row->statement, 0));
}

static enum at_status take_numbers(const struct at_journal *journal, sqlite3_stmt *row,
                                   struct at_journal_entry *entry, struct at_error *err)
{
    struct at_look *look = &entry->measurement.kernel.look;
    int64_t throttle = 0;
    const struct {
        int column;
        bool optional;
        int64_t most, *value;
    } numbers[] = {
        {MEASURED, false, UTC_MS_MAX, &entry->measured_utc_ms},
        {RUN, false, INT64_MAX, &entry->run},
        {SM_CLOCK, true, KHZ_MAX, &entry->measurement.kernel.clock_sm_khz},
        {MEMORY_CLOCK, true, KHZ_MAX, &entry->measurement.kernel.clock_memory_khz},
        {POWER, true, AT_POWER_MW_MAX, &look->power_mw},
        {TEMPERATURE, true, AT_TEMPERATURE_C_MAX, &look->temperature_c},
        {THROTTLE, true, (1 << AT_THROTTLES) - 1, &throttle},
    };
    int bad = take_expected(row, &entry->details.expected_ns) ? -1 : EXPECTED;
    int64_t again;

    if (!take_number(row, AGAIN, false, 1, &again))
        bad = AGAIN;
    entry->details.again = again == 1;
    for (size_t i = 0; i < AT_COUNT(numbers) && bad < 0; i++)
        if (!take_number(row, numbers[i].column, numbers[i].optional, numbers[i].most,
                         numbers[i].value))
            bad = numbers[i].column;
    look->throttle_known = sqlite3_column_type(row, THROTTLE) != SQLITE_NULL;
    look->throttle = (uint64_t)throttle;
    return bad < 0 ? AT_OK : fail_bounds(journal, "measurement", row, bad, err);
}

static enum at_status take_row(const struct at_journal *journal, const struct at_journal_row *row,
                               struct at_journal_entry *entry, struct at_error *err)
{
    const struct {
        int column;
        const char **text;
    } texts[] = {
        {FAMILY, &entry->key.family},   {FAMILY_HASH, &entry->key.family_hash},
        {CONFIG, &entry->key.config},   {PROBLEM, &entry->key.problem},
        {GPU, &entry->details.gpu},     {SETTING, &entry->setting},
        {STARTED, &entry->started_utc},
    };
    enum at_status status = check_launches(journal, row, FURTHER_LAUNCHES, err);

    if (status == AT_OK)
        status = at_journal_measurement(journal, row, &entry->measurement, err);
    for (size_t i = 0; i < AT_COUNT(texts) && status == AT_OK; i++)
        status = at_journal_text(journal, row, texts[i].column, texts[i].text, err);
    return status == AT_OK ? take_numbers(journal, row->statement, entry, err) : status;
}

static enum at_status take_entry(const struct at_journal *journal, const struct at_journal_row *row,
                                 const struct at_journal_takers *takers, struct at_error *err)
{
    struct at_journal_entry entry = {0};
    enum at_status status = take_row(journal, row, &entry, err);

    if (status == AT_OK)
        takers->measurement(takers->data, &entry);
    at_measurement_clear(&entry.measurement);
    return status;
}

/* ---- the finalists ---- */

enum {
    FINAL_PROBLEM = 1,
    FINAL_FAMILY,
    FINAL_FAMILY_HASH,
    FINAL_CONFIG,
    FINAL_GPU,
    FINAL_SETTING,
    FINAL_SAMPLES,
    FINAL_RUN,
    FINAL_PLACE,
    FINAL_WON,
    FINAL_FURTHER_LAUNCHES,
};

/* More than take part in any shoot-out. */
enum { PLACES_MAX = 64 };

static const char finals_sql[] =
    "SELECT f.id, problem, family, family_hash, config, gpu, setting, samples_ns, run, place, won,"
    "  further_launches"
    "  FROM finals AS f LEFT JOIN runs AS r ON f.run = r.id ORDER BY f.id";

static enum at_status take_final_texts(const struct at_journal *journal,
                                       const struct at_journal_row *row,
                                       struct at_journal_final_entry *entry, struct at_error *err)
{
    const struct {
        int column;
        const char **text;
    } texts[] = {
        {FINAL_PROBLEM, &entry->key.problem},
        {FINAL_FAMILY, &entry->key.family},
        {FINAL_FAMILY_HASH, &entry->key.family_hash},
        {FINAL_CONFIG, &entry->key.config},
        {FINAL_GPU, &entry->gpu},
        {FINAL_SETTING, &entry->setting},
    };
    enum at_status status = check_launches(journal, row, FINAL_FURTHER_LAUNCHES, err);

    for (size_t i = 0; i < AT_COUNT(texts) && status == AT_OK; i++)
        status = at_journal_text(journal, row, texts[i].column, texts[i].text, err);
    return status;
}

static enum at_status take_final_numbers(const struct at_journal *journal, sqlite3_stmt *row,
                                         struct at_journal_final_entry *entry, struct at_error *err)
{
    int64_t won = 0;
    int bad = !take_number(row, FINAL_RUN, false, INT64_MAX, &entry->run)              ? FINAL_RUN
              : !take_number(row, FINAL_PLACE, false, PLACES_MAX, &entry->final.place) ? FINAL_PLACE
              : !take_number(row, FINAL_WON, false, 1, &won)                           ? FINAL_WON
                                                                                       : -1;

    entry->final.won = won == 1;
    return bad < 0 ? AT_OK : fail_bounds(journal, "finalist", row, bad, err);
}

static enum at_status take_final(const struct at_journal *journal, const struct at_journal_row *row,
                                 const struct at_journal_takers *takers, struct at_error *err)
{
    struct at_journal_final_entry entry = {0};
    struct at_measurement samples = {0};
    enum at_status status = at_journal_samples(journal, row, FINAL_SAMPLES, &samples, err);

    entry.final.samples_ns = samples.samples_ns;
    entry.final.sample_count = samples.sample_count;
    if (status == AT_OK)
        status = take_final_texts(journal, row, &entry, err);
    if (status == AT_OK)
        status = take_final_numbers(journal, row->statement, &entry, err);
    if (status == AT_OK)
        takers->final(takers->data, &entry);
    at_measurement_clear(&samples);
    return status;
}

/* ---- all of it ---- */

static enum at_status
read_rows(struct at_journal *journal, const char *sql, const char *what,
          enum at_status (*take)(const struct at_journal *journal, const struct at_journal_row *row,
                                 const struct at_journal_takers *takers, struct at_error *err),
          const struct at_journal_takers *takers, struct at_error *err)
{
    struct at_journal_row row = {.what = what};
    enum at_status status = AT_OK;
    int result = SQLITE_ROW;

    if (sqlite3_prepare_v2(journal->db, sql, -1, &row.statement, NULL) != SQLITE_OK)
        return at_journal_fail(journal, err);
    for (int count = 0; status == AT_OK && (result = sqlite3_step(row.statement)) == SQLITE_ROW;
         count++)
        status = count < ROWS_MAX ? take(journal, &row, takers, err)
                                  : at_fail(err, AT_USAGE, "journal %s has more than %d %ss",
                                            journal->path, ROWS_MAX, what);
    if (status == AT_OK && result != SQLITE_DONE)
        status = at_journal_fail(journal, err);
    sqlite3_finalize(row.statement);
    return status;
}

static enum at_status open_copy(struct at_journal *journal, const char *copy, struct at_error *err)
{
    enum at_status status;

    /* No other process opens the copy. */
    if (sqlite3_open_v2(copy, &journal->db, SQLITE_OPEN_READWRITE, AT_JOURNAL_UNLOCKED) !=
        SQLITE_OK)
        return at_journal_fail(journal, err);
    status = at_journal_harden(journal, err);
    if (status == AT_OK)
        status = at_journal_execute(journal, "PRAGMA locking_mode = EXCLUSIVE", err);
    if (status == AT_OK)
        status = at_journal_check_existing(journal, err);
    return status;
}

enum at_status at_journal_read(const char *path, const struct at_journal_takers *takers,
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
    if (status == AT_OK && takers->measurement)
        status = read_rows(journal, rows_sql, "measurement", take_entry, takers, err);
    if (status == AT_OK && takers->final)
        status = read_rows(journal, finals_sql, "finalist", take_final, takers, err);
    at_journal_close(journal);
    remove_folder(folder);
    free(copy);
    return status;
}
