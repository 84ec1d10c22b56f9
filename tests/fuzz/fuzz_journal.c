/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a journal, read as for a report, and opened as a resumed run does: refused with a
 * message, or every value that is read is one that can be, and a new measurement is found again. */
#include "base/error.h"
#include "base/memory.h"
#include "journal/journal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_final(void *data, const struct at_journal_entry *entry)
{
    const char *const texts[] = {entry->setting, entry->key.problem, entry->key.family,
                                 entry->key.config, entry->details.gpu};

    (void)data;
    for (size_t i = 0; i < AT_COUNT(texts); i++)
        if (!at_text_is_printable(texts[i], strlen(texts[i])))
            abort();
    if (entry->place < 0 || entry->measurement.sample_count == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Those of the kept inputs. */
static const char setting[] =
    "program 0.1.0; device cuda GPU-1 X; driver 570; compiler nvrtc; options; policy cold";
static const struct at_journal_key key = {"64x96:f32", "tile", "abc", "PAD=1 TILE=32"};

static const struct at_journal_details details = {.gpu = "GPU-1", .expected_ns = 48000};

static char folder[64], path[80];

static void remove_files(void)
{
    static const char *const ends[] = {"", "-wal", "-journal", "-shm"};

    for (size_t i = 0; i < AT_COUNT(ends); i++) {
        char name[96];

        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static void remove_folder(void)
{
    remove_files();
    rmdir(folder);
}

/* SQLite wants a file with room for its log beside it; in memory, where there is such a place. */
static void write_file(const uint8_t *data, size_t size)
{
    int fd;

    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/autotune-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        if (!mkdtemp(folder))
            abort();
        snprintf(path, sizeof path, "%s/journal", folder);
        atexit(remove_folder);
    }
    remove_files();
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
}

static void check_names(void *data, const char *family, const char *config)
{
    (void)data;
    if (!at_text_is_printable(family, strlen(family)) ||
        !at_text_is_printable(config, strlen(config)))
        abort();
}

/* A sound message says where: an error without one is ours. */
static void check_error(enum at_status status, const struct at_error *err)
{
    if (status != AT_OK && (status != err->status || !strstr(err->message, "journal")))
        abort();
}

static void look_up(struct at_journal *journal)
{
    struct at_measurement measurement;
    struct at_error err;
    bool found;
    enum at_status status = at_journal_find(journal, &key, &found, &measurement, &err);

    check_error(status, &err);
    if (status != AT_OK || !found)
        return;
    if (at_measurement_check(&measurement, NULL) != AT_OK ||
        !at_text_is_printable(measurement.message, strlen(measurement.message)))
        abort();
    at_measurement_clear(&measurement);
}

/* What is filed is found, unless what else is in the file keeps it from being so. */
static void file_one(struct at_journal *journal)
{
    double sample = 49000;
    const struct at_measurement filed = {.kernel.registers = 77,
                                         .kernel.clock_sm_khz = 1980000,
                                         .samples_ns = &sample,
                                         .sample_count = 1};
    struct at_measurement again;
    struct at_error err;
    bool found = false;

    if (at_journal_add(journal, &key, &filed, &details, &err) != AT_OK ||
        at_journal_find(journal, &key, &found, &again, &err) != AT_OK || !found)
        return;
    at_measurement_clear(&again);
    at_journal_sync(journal, &err);
}

static void check_entry(void *data, const struct at_journal_entry *entry)
{
    const char *const texts[] = {entry->setting,    entry->started_utc, entry->key.problem,
                                 entry->key.family, entry->key.config,  entry->details.gpu};

    (void)data;
    for (size_t i = 0; i < AT_COUNT(texts); i++)
        if (!at_text_is_printable(texts[i], strlen(texts[i])))
            abort();
    if (at_measurement_check(&entry->measurement, NULL) != AT_OK || entry->measured_utc_ms < 0 ||
        entry->details.expected_ns < 0)
        abort();
}

static void check_phase(void *data, const struct at_journal_entry *entry)
{
    const struct at_journal_phase *phase = &entry->phase;

    (void)data;
    if (phase->phase >= AT_PHASES || phase->tuner < 0 || phase->took_ms < 0 || phase->gpu_ms < 0 ||
        !at_text_is_printable(entry->key.problem, strlen(entry->key.problem)) ||
        !at_text_is_printable(entry->details.gpu, strlen(entry->details.gpu)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct at_journal *journal;
    struct at_error err;
    int64_t count;
    enum at_status status;

    write_file(data, size);
    check_error(at_journal_read(path, check_entry, check_final, check_phase, NULL, &err), &err);
    status = at_journal_open(&journal, path, setting, true, &err);
    check_error(status, &err);
    if (status != AT_OK)
        return 0;
    look_up(journal);
    check_error(at_journal_each(journal, key.problem, check_names, NULL, &err), &err);
    check_error(at_journal_count_others(journal, key.family, key.family_hash, &count, &err), &err);
    file_one(journal);
    at_journal_close(journal);
    return 0;
}
