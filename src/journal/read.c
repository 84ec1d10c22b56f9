/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/read.h"

#include "base/memory.h"
#include "journal/parts.h"
#include "measure/measurement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- all of it ---- */

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
    status = at_journal_harden(journal, err);
    if (status == AT_OK)
        status = at_journal_execute(journal, "PRAGMA locking_mode = EXCLUSIVE", err);
    if (status == AT_OK)
        status = at_journal_check_existing(journal, err);
    return status;
}

enum at_status at_journal_read(const char *path, at_journal_taker *measurement,
                               at_journal_taker *final, void *data, struct at_error *err)
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
    at_journal_close(journal);
    remove_folder(folder);
    free(copy);
    return status;
}
