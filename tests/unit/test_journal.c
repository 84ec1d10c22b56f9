/* SPDX-License-Identifier: Apache-2.0 */
/* src/journal: measurements are found again, whatever happened to the process in between, and files
 * that are no journals stay unchanged. */
#include "base/memory.h"
#include "journal/journal.h"
#include "journal/parts.h"
#include "measure/measurement.h"
#include "system/file.h"

#include <grp.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"

static const char setting[] = "Example GPU, driver 1.2, NVRTC 13.0, cold";
static const struct at_journal_key key = {
    .problem = "8192x8192:f32", .family = "tile", .family_hash = "abc", .config = "PAD=1 TILE=32"};

static const struct at_journal_details details = {.gpu = "GPU-1"};

static struct at_journal *open_journal(const char *path, bool resume)
{
    struct at_journal *journal = NULL;
    struct at_error err = {0};

    if (at_journal_open(&journal, path, setting, resume, &err) != AT_OK)
        fail_msg("%s", err.message);
    return journal;
}

static void add_registers(struct at_journal *journal, const struct at_journal_key *where,
                          int64_t registers)
{
    double sample = (double)registers;
    struct at_measurement measurement = {
        .kernel.registers = registers, .samples_ns = &sample, .sample_count = 1};
    struct at_error err = {0};

    if (at_journal_add(journal, where, &measurement, &details, &err) != AT_OK)
        fail_msg("%s", err.message);
}

/* Return the registers of the key's measurement, which identify it; -1: there is none. */
static int64_t find_registers(struct at_journal *journal, const struct at_journal_key *where)
{
    struct at_measurement measurement = {0};
    struct at_error err = {0};
    bool found = false;
    int64_t registers = -1;

    if (at_journal_find(journal, where, &found, &measurement, &err) != AT_OK)
        fail_msg("%s", err.message);
    if (found) {
        registers = measurement.kernel.registers;
        at_measurement_clear(&measurement);
    }
    return registers;
}

static void assert_refused(const char *path, const char *expected)
{
    struct at_journal *journal = NULL;
    struct at_error err = {0};

    assert_int_equal(at_journal_open(&journal, path, setting, true, &err), AT_USAGE);
    assert_int_equal(err.status, AT_USAGE);
    assert_null(journal);
    if (!strstr(err.message, expected) || !strstr(err.message, path))
        fail_msg("\"%s\" does not name %s and \"%s\"", err.message, path, expected);
}

/* Every field is read back as it was, with every outcome, and doubles to the last bit. */
static void test_round_trip(void **state)
{
    struct at_journal *journal = open_journal(":memory:", false);
    double samples[] = {49000, 0.1, 1.0 / 3, 1e-3, 999999999999.99988, 48999.9999999999927};
    struct at_error err = {0};

    (void)state;
    for (int outcome = 0; outcome < AT_OUTCOMES; outcome++) {
        struct at_measurement in = {.outcome = (enum at_outcome)outcome,
                                    .message = "it's \"quoted\" \xc3\xa4",
                                    .kernel.registers = 40 + outcome,
                                    .kernel.spill_bytes = 8,
                                    .kernel.shared_bytes = AT_SHARED_BYTES_MAX,
                                    .samples_ns = samples,
                                    .sample_count = outcome ? 0 : AT_COUNT(samples)};
        struct at_measurement out = {0};
        bool found = false;

        assert_int_equal(at_journal_add(journal, &key, &in, &details, &err), AT_OK);
        assert_int_equal(at_journal_find(journal, &key, &found, &out, &err), AT_OK);
        assert_true(found);
        assert_int_equal(out.outcome, outcome);
        assert_string_equal(out.message, in.message);
        assert_true(out.kernel.registers == in.kernel.registers &&
                    out.kernel.spill_bytes == in.kernel.spill_bytes &&
                    out.kernel.shared_bytes == in.kernel.shared_bytes);
        assert_int_equal(out.sample_count, in.sample_count);
        if (out.sample_count)
            assert_memory_equal(out.samples_ns, samples, sizeof samples);
        at_measurement_clear(&out);
        assert_null(out.samples_ns);
    }
    at_journal_close(journal);
    at_journal_close(NULL);
}

/* Every part of the key matters. */
static void test_key(void **state)
{
    struct at_journal *journal = open_journal(":memory:", false);
    const struct at_journal_key others[] = {
        {"8192x8192:f64", "tile", "abc", "PAD=1 TILE=32"},
        {"8192x8192:f32", "vector", "abc", "PAD=1 TILE=32"},
        {"8192x8192:f32", "tile", "abd", "PAD=1 TILE=32"},
        {"8192x8192:f32", "tile", "abc", "PAD=1 TILE=3"},
    };

    (void)state;
    add_registers(journal, &key, 7);
    for (size_t i = 0; i < AT_COUNT(others); i++)
        assert_int_equal(find_registers(journal, &others[i]), -1);
    assert_int_equal(find_registers(journal, &key), 7);
    add_registers(journal, &key, 8); /* measured again */
    assert_int_equal(find_registers(journal, &key), 8);
    at_journal_close(journal);
}

/* Append family and config to the text that data points at. */
static void note(void *data, const char *family, const char *config)
{
    char **text = data, *longer = at_format("%s%s %s\n", *text, family, config);

    free(*text);
    *text = longer;
}

/* In the order of measurement, each once, and only those of the problem. */
static void test_each(void **state)
{
    struct at_journal *journal = open_journal(":memory:", false);
    const struct at_journal_key more[] = {
        {key.problem, "vector", "abc", "WIDTH=4"},
        {"8192x8192:f64", "tile", "abc", "PAD=2 TILE=32"},
        {key.problem, "tile", "abc", "PAD=0 TILE=32"},
    };
    struct at_measurement again = {.outcome = AT_WRONG};
    const struct at_journal_details marked = {.gpu = "GPU-1", .again = true};
    char *text = at_strdup("");
    struct at_error err;

    (void)state;
    add_registers(journal, &key, 1);
    for (size_t i = 0; i < AT_COUNT(more); i++)
        add_registers(journal, &more[i], 1);
    assert_int_equal(at_journal_add(journal, &key, &again, &marked, &err), AT_OK);
    assert_int_equal(at_journal_each(journal, key.problem, note, &text, &err), AT_OK);
    assert_string_equal(text, "tile PAD=1 TILE=32\nvector WIDTH=4\ntile PAD=0 TILE=32\n");
    free(text);
    at_journal_close(journal);
}

static void test_resume(void **state)
{
    char *path = at_format("%s/journal", (char *)*state);
    struct at_journal_key second = key;
    struct at_journal *journal;

    second.config = "PAD=0 TILE=32";
    journal = open_journal(path, true); /* nothing to resume: a new run */
    add_registers(journal, &key, 1);
    at_journal_close(journal);

    journal = open_journal(path, true);
    assert_int_equal(find_registers(journal, &key), 1);
    add_registers(journal, &second, 2);
    at_journal_close(journal);

    journal = open_journal(path, true);
    assert_int_equal(find_registers(journal, &key), 1);
    assert_int_equal(find_registers(journal, &second), 2);
    at_journal_close(journal);

    journal = open_journal(path, false);
    assert_int_equal(find_registers(journal, &key), -1);
    add_registers(journal, &key, 3);
    at_journal_close(journal);

    journal = open_journal(path, true); /* the newest run, not the first */
    assert_int_equal(find_registers(journal, &key), 3);
    assert_int_equal(find_registers(journal, &second), -1);
    at_journal_close(journal);
    free(path);
}

/* A refused resumption tells what has changed, and changes nothing. */
static void test_resume_of_another_setting(void **state)
{
    static const char *const was[AT_SETTING_PARTS] = {"0.1.0",      "cuda GPU-1 X", "570",
                                                      "nvrtc 13.0", "-arch=sm_90",  "cold"};
    static const char *const now[AT_SETTING_PARTS] = {"0.2.0",      NULL,          "580",
                                                      "nvrtc 12.9", "-arch=sm_80", "warm"};
    char *path = at_format("%s/journal", (char *)*state), *first = at_setting_format(was);
    struct at_journal *journal;
    struct at_error err;

    assert_int_equal(at_journal_open(&journal, path, first, false, NULL), AT_OK);
    add_registers(journal, &key, 1);
    at_journal_close(journal);
    for (int i = 0; i < AT_SETTING_PARTS; i++) {
        const char *parts[AT_SETTING_PARTS];
        char *changed, *told;

        if (!now[i]) /* the device */
            continue;
        memcpy(parts, was, sizeof parts);
        parts[i] = now[i];
        changed = at_setting_format(parts);
        told = at_format(" %s, now ", was[i]);
        for (int again = 0; again < 2; again++) { /* the refusal has added no run */
            assert_int_equal(at_journal_open(&journal, path, changed, true, &err), AT_USAGE);
            assert_non_null(strstr(err.message, told));
            assert_non_null(strstr(err.message, now[i]));
            assert_non_null(strstr(err.message, "without --resume"));
        }
        assert_int_equal(at_journal_open(&journal, path, first, true, &err), AT_OK);
        assert_int_equal(find_registers(journal, &key), 1);
        at_journal_close(journal);
        free(told);
        free(changed);
    }
    free(first);
    free(path);
}

/* A run may use several devices, and end before the last one. */
static void test_resume_of_another_device(void **state)
{
    static const char *const parts[AT_SETTING_PARTS] = {"0.1.0",      "cuda GPU-2 X", "570",
                                                        "nvrtc 13.0", "-arch=sm_90",  "cold"};
    char *path = at_format("%s/journal", (char *)*state), *other = at_setting_format(parts);
    struct at_journal *journal = open_journal(path, false);

    add_registers(journal, &key, 1);
    at_journal_close(journal);
    assert_int_equal(at_journal_open(&journal, path, other, true, NULL), AT_OK);
    assert_int_equal(find_registers(journal, &key), -1);
    at_journal_close(journal);
    journal = open_journal(path, true);
    assert_int_equal(find_registers(journal, &key), 1);
    at_journal_close(journal);
    free(other);
    free(path);
}

/* Measurements of a family that has changed are counted. */
static void test_other_hashes(void **state)
{
    char *path = at_format("%s/journal", (char *)*state);
    struct at_journal *journal = open_journal(path, false);
    struct at_journal_key other = key;
    int64_t count = -1;

    other.config = "PAD=0 TILE=32";
    add_registers(journal, &key, 1);
    add_registers(journal, &other, 2);
    assert_int_equal(at_journal_count_others(journal, key.family, key.family_hash, &count, NULL),
                     AT_OK);
    assert_int_equal(count, 0);
    assert_int_equal(at_journal_count_others(journal, key.family, "changed", &count, NULL), AT_OK);
    assert_int_equal(count, 2);
    assert_int_equal(at_journal_count_others(journal, "none", "changed", &count, NULL), AT_OK);
    assert_int_equal(count, 0);
    at_journal_close(journal);
    free(path);
}

static int64_t query(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    int64_t number;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

static void execute(const char *path, const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Users may query the tables; older runs stay in them. */
static void test_tables(void **state)
{
    char *path = at_format("%s/journal", (char *)*state);
    char *log = at_format("%s-wal", path);

    for (int i = 0; i < 2; i++) {
        struct at_journal *journal = open_journal(path, false);

        add_registers(journal, &key, 40 + i);
        at_journal_close(journal);
    }
    assert_int_equal(access(log, F_OK), -1); /* a closed journal is one file */
    assert_int_equal(query(path, "SELECT count(*) FROM runs WHERE setting LIKE 'Example%'"), 2);
    assert_int_equal(query(path, "SELECT sum(registers) FROM measurements JOIN runs"
                                 " ON run = runs.id WHERE outcome = 'correct'"),
                     81);
    assert_int_equal(query(path, "SELECT max(value) FROM measurements, json_each(samples_ns)"), 41);
    assert_int_equal(query(path, "PRAGMA application_id"), 0x41546a6e);
    free(path);
    free(log);
}

/* What only reports use: filed as it is known, and NULL where it is not. */
static void test_details(void **state)
{
    char *path = at_format("%s/journal", (char *)*state);
    struct at_journal *journal = open_journal(path, false);
    struct at_measurement known = {
        .outcome = AT_WRONG, .kernel.clock_sm_khz = 1980000, .kernel.clock_memory_khz = 3201000};
    const struct at_measurement unknown = {.outcome = AT_COMPILE};
    const struct at_journal_details expected = {.gpu = "emu:h200", .expected_ns = 1.0 / 3};
    int64_t before_ms = 1000 * query(":memory:", "SELECT strftime('%s', 'now')"), after_ms;

    assert_int_equal(at_journal_add(journal, &key, &known, &expected, NULL), AT_OK);
    assert_int_equal(at_journal_add(journal, &key, &unknown, &details, NULL), AT_OK);
    at_journal_close(journal);
    after_ms = 1000 * (query(":memory:", "SELECT strftime('%s', 'now')") + 1);
    assert_int_equal(query(path, "SELECT gpu = 'emu:h200' AND clock_sm_khz = 1980000"
                                 "  AND clock_memory_khz = 3201000 AND expected_ns = 1.0 / 3"
                                 "  FROM measurements WHERE id = 1"),
                     1);
    assert_int_equal(query(path, "SELECT gpu = 'GPU-1' AND clock_sm_khz IS NULL"
                                 "  AND clock_memory_khz IS NULL AND expected_ns IS NULL"
                                 "  FROM measurements WHERE id = 2"),
                     1);
    assert_true(query(path, "SELECT min(measured_utc_ms) FROM measurements") >= before_ms);
    assert_true(query(path, "SELECT max(measured_utc_ms) FROM measurements") < after_ms);
    assert_int_equal(query(path, "SELECT count(*) FROM measurements, runs"
                                 "  WHERE typeof(measured_utc_ms) = 'integer'"
                                 "  AND abs(measured_utc_ms / 1000"
                                 "    - strftime('%s', started_utc)) <= 60"),
                     2);
    free(path);
}

/* What NVML says is kept with its measurement; nothing is, if NVML says nothing. */
static void test_looks(void **state)
{
    char *path = at_format("%s/journal", (char *)*state);
    const struct at_look looks[] = {
        {.power_mw = 650000, .temperature_c = 61, .throttle_known = 1, .throttle = 5},
        {0},
        {.temperature_c = 40},
        {.throttle_known = 1},
    };
    struct at_journal *journal = open_journal(path, false);

    for (size_t i = 0; i < AT_COUNT(looks); i++) {
        const struct at_measurement measured = {.outcome = AT_WRONG, .kernel.look = looks[i]};

        assert_int_equal(at_journal_add(journal, &key, &measured, &details, NULL), AT_OK);
    }
    at_journal_close(journal);
    assert_int_equal(query(path, "SELECT power_mw = 650000 AND temperature_c = 61 AND throttle = 5"
                                 "  FROM measurements WHERE id = 1"),
                     1);
    assert_int_equal(query(path, "SELECT power_mw IS NULL AND temperature_c IS NULL"
                                 "  AND throttle IS NULL FROM measurements WHERE id = 2"),
                     1);
    assert_int_equal(query(path, "SELECT power_mw IS NULL AND temperature_c = 40"
                                 "  AND throttle IS NULL FROM measurements WHERE id = 3"),
                     1);
    assert_int_equal(query(path, "SELECT throttle = 0 FROM measurements WHERE id = 4"), 1);
    free(path);
}

/* What reading a journal gives. */
struct read {
    size_t measurements, finals, phases;
    struct at_journal_phase phase; /* the last one */
    int64_t ended_utc_ms;          /* of it */
    struct at_look look;           /* of the last measurement */
    int64_t place;                 /* of the last finalist */
    bool won;
    double sum_ns; /* of all finalists' samples */
    char config[64];
};

static void take_read(void *data, const struct at_journal_entry *entry)
{
    struct read *read = data;

    read->measurements++;
    read->look = entry->measurement.kernel.look;
}

static void take_final(void *data, const struct at_journal_entry *entry)
{
    struct read *read = data;

    assert_string_equal(entry->setting, setting);
    assert_string_equal(entry->details.gpu, "GPU-1");
    read->finals++;
    read->place = entry->place;
    read->won = entry->won;
    for (size_t i = 0; i < entry->measurement.sample_count; i++)
        read->sum_ns += entry->measurement.samples_ns[i];
    snprintf(read->config, sizeof read->config, "%s", entry->key.config);
}

static void take_phase(void *data, const struct at_journal_entry *entry)
{
    struct read *read = data;

    assert_string_equal(entry->setting, setting);
    assert_string_equal(entry->details.gpu, "GPU-1");
    assert_string_equal(entry->key.problem, read->phases ? key.problem : "");
    read->phases++;
    read->phase = entry->phase;
    read->ended_utc_ms = entry->ended_utc_ms;
}

static struct read read_journal(const char *path)
{
    struct read read = {.measurements = 0};
    struct at_error err = {0};

    if (at_journal_read(path, take_read, take_final, take_phase, &read, &err) != AT_OK)
        fail_msg("%s", err.message);
    return read;
}

static void test_finals(void **state)
{
    char *path = at_format("%s/journal", (char *)*state);
    struct at_journal *journal = open_journal(path, false);
    const struct at_measurement measured = {
        .outcome = AT_WRONG,
        .kernel.look = {.power_mw = 7, .temperature_c = 8, .throttle_known = 1}};
    struct at_journal_key second = key;
    struct read read;

    second.config = "PAD=0 TILE=32";
    assert_int_equal(at_journal_add(journal, &key, &measured, &details, NULL), AT_OK);
    for (int i = 0; i < 2; i++) {
        const double samples[] = {49000 + i, 0.5};
        const struct at_journal_final final = {i, i == 1, samples, AT_COUNT(samples)};

        assert_int_equal(at_journal_add_final(journal, i ? &second : &key, "GPU-1", &final, NULL),
                         AT_OK);
    }
    at_journal_close(journal);
    read = read_journal(path);
    assert_int_equal(read.measurements, 1);
    assert_memory_equal(&read.look, &measured.kernel.look, sizeof read.look);
    assert_int_equal(read.finals, 2);
    assert_int_equal(read.place, 1);
    assert_true(read.won);
    assert_true(read.sum_ns == 98002);
    assert_string_equal(read.config, second.config);
    free(path);
}

/* Add phases to a journal. */
static void add_phases(const char *path, const struct at_journal_phase *phases, size_t count)
{
    struct at_journal *journal = open_journal(path, false);

    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            at_journal_add_phase(journal, i ? key.problem : "", "GPU-1", &phases[i], NULL), AT_OK);
    at_journal_close(journal);
}

/* Phases are read, and a part brings its own, once if it comes twice. */
static void test_phases(void **state)
{
    static const struct at_journal_phase phases[] = {
        {.phase = AT_PHASE_OPEN, .tuner = 2, .took_ms = 1500, .gpu_ms = 30},
        {.phase = AT_PHASE_FINALS, .tuner = 2, .took_ms = 900, .gpu_ms = 450},
    };
    char *path = at_format("%s/journal", (char *)*state), *part = at_format("%s.1", path),
         *copy = at_format("cp %s %s.copy", part, part),
         *back = at_format("cp %s.copy %s", part, part);
    struct read read;

    add_phases(path, phases, AT_COUNT(phases));
    read = read_journal(path);
    assert_int_equal(read.phases, AT_COUNT(phases));
    assert_memory_equal(&read.phase, &phases[1], sizeof read.phase);
    assert_true(read.ended_utc_ms > INT64_C(1700000000000));
    add_phases(part, &(struct at_journal_phase){.phase = AT_PHASE_OPEN, .tuner = 3}, 1);
    assert_int_equal(system(copy), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(at_journal_absorb(path, part, NULL), AT_OK);
        assert_int_equal(query(path, "SELECT count(*) FROM phases"), AT_COUNT(phases) + 1);
        assert_int_equal(query(path, "SELECT max(tuner) FROM phases"), 3);
        assert_int_equal(system(back), 0);
    }
    free(path);
    free(part);
    free(copy);
    free(back);
}

/* Make a journal with a measurement of `config`, and a look and a finalist of it. */
static void make_part(const char *path, const char *of_setting, bool resume, const char *config)
{
    const double sample = 49000;
    const struct at_measurement measured = {.outcome = AT_WRONG, .kernel.look = {.power_mw = 7}};
    const struct at_journal_final final = {0, true, &sample, 1};
    struct at_journal *journal;
    struct at_journal_key where = key;

    where.config = config;
    assert_int_equal(at_journal_open(&journal, path, of_setting, resume, NULL), AT_OK);
    assert_int_equal(at_journal_add(journal, &where, &measured, &details, NULL), AT_OK);
    assert_int_equal(at_journal_add_final(journal, &where, "GPU-1", &final, NULL), AT_OK);
    at_journal_close(journal);
}

/* The rows become part of the newest run of their setting, with their looks; the file goes. */
static void test_absorbed(void **state)
{
    char *path = at_format("%s/journal", (char *)*state), *part = at_format("%s.tuner1", path),
         *copy = at_format("%s.copy", path), *command = at_format("cp %s %s", part, copy),
         *back = at_format("cp %s %s", copy, part);
    struct at_error err = {0};

    assert_int_equal(at_journal_absorb(path, part, &err), AT_OK); /* there is none */
    assert_int_equal(access(path, F_OK), -1);
    at_journal_close(open_journal(path, false)); /* an older run */
    at_journal_close(open_journal(path, false));
    make_part(path, setting, true, "PAD=0");
    make_part(part, setting, false, "PAD=1");
    make_part(part, "another", false, "PAD=2");
    assert_int_equal(system(command), 0);
    for (int i = 0; i < 2; i++) { /* the second time as if the file could not be removed */
        if (at_journal_absorb(path, part, &err) != AT_OK)
            fail_msg("%s", err.message);
        assert_int_equal(access(part, F_OK), -1);
        assert_int_equal(query(path, "SELECT count(*) FROM runs"), 3);
        assert_int_equal(query(path, "SELECT count(*) FROM measurements"), 3);
        assert_int_equal(query(path, "SELECT sum(run = 2) FROM measurements"), 2);
        assert_int_equal(query(path, "SELECT sum(run = 3 AND config = 'PAD=2') FROM measurements"),
                         1);
        assert_int_equal(query(path, "SELECT count(*) FROM measurements WHERE power_mw = 7"), 3);
        assert_int_equal(query(path, "SELECT count(*) FROM finals AS f JOIN measurements AS m"
                                     "  ON f.run = m.run AND f.config = m.config WHERE won"),
                         3);
        assert_int_equal(system(back), 0);
    }
    at_journal_close(open_journal(path, true)); /* a sound file */
    free(path);
    free(part);
    free(copy);
    free(command);
    free(back);
}

/* A part finds what the newest runs have measured, and gives back what it has gained only. What two
 * parts have measured counts once. */
static void test_parts(void **state)
{
    char *path = at_format("%s/journal", (char *)*state), *part = at_format("%s.tuner1", path),
         *other = at_format("%s.tuner2", path);
    struct at_journal *journal;
    struct at_error err = {0};
    int64_t count;

    assert_int_equal(at_journal_begin_part(part, path, &err), AT_OK);
    assert_int_equal(access(part, F_OK), -1); /* there is nothing yet */
    make_part(path, setting, false, "PAD=0"); /* an older run */
    make_part(path, setting, false, "PAD=1");
    make_part(path, "another", false, "PAD=2");
    for (int i = 0; i < 2; i++) /* the second time as if the first were cut short */
        if (at_journal_begin_part(part, path, &err) != AT_OK)
            fail_msg("%s", err.message);
    make_part(part, setting, true, "PAD=3");
    make_part(other, setting, false, "PAD=3");
    journal = open_journal(part, true);
    assert_int_equal(at_journal_count(journal, key.problem, &count, NULL), AT_OK);
    assert_int_equal(count, 2);
    at_journal_close(journal);
    assert_int_equal(at_journal_absorb(path, part, &err), AT_OK);
    execute(other, "UPDATE measurements SET measured_utc_ms = measured_utc_ms + 1000");
    assert_int_equal(at_journal_absorb(path, other, &err), AT_OK);
    assert_int_equal(query(path, "SELECT count(*) FROM measurements"), 5);
    assert_int_equal(query(path, "SELECT count(*) FROM measurements WHERE NOT again"), 4);
    assert_int_equal(query(path, "SELECT count(*) FROM measurements WHERE power_mw = 7"), 5);
    assert_int_equal(query(path, "SELECT count(*) FROM finals"), 5);
    free(path);
    free(part);
    free(other);
}

/* Nothing is lost if a file is in use, or is no journal. */
static void test_not_absorbed(void **state)
{
    char *path = at_format("%s/journal", (char *)*state), *part = at_format("%s.tuner1", path);
    struct at_journal *open;
    struct at_error err = {0};
    FILE *letter;

    make_part(path, setting, true, "PAD=0");
    make_part(part, setting, false, "PAD=1");
    open = open_journal(part, true);
    assert_int_equal(at_journal_absorb(path, part, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "in use by another process"));
    at_journal_close(open);
    assert_int_equal(query(path, "SELECT count(*) FROM measurements"), 1);
    assert_int_equal(query(part, "SELECT count(*) FROM measurements"), 1);
    letter = fopen(part, "w");
    fputs("a letter that is long enough to be taken for a file of SQLite\n", letter);
    fclose(letter);
    assert_int_equal(at_journal_absorb(path, part, &err), AT_USAGE);
    assert_int_equal(access(part, F_OK), 0);
    assert_int_equal(query(path, "SELECT count(*) FROM measurements"), 1);
    free(path);
    free(part);
}

/* A row of several launches is another program's: it is never taken for a config of one launch, and
 * a report refuses it. */
static void test_further_launches(void **state)
{
    static const char *const tables[] = {"measurements", "finals"};
    char *path = at_format("%s/journal", (char *)*state);
    int64_t count = 0;

    for (size_t i = 0; i < AT_COUNT(tables); i++) {
        char *mark = at_format("UPDATE %s SET further_launches = '[]'", tables[i]);
        struct at_journal *journal;
        struct at_error err = {0};

        make_part(path, setting, false, key.config);
        execute(path, mark);
        assert_int_equal(
            at_journal_read(path, take_read, take_final, NULL, &(struct read){0}, &err), AT_USAGE);
        assert_non_null(strstr(err.message, "is of several launches"));
        journal = open_journal(path, true);
        assert_int_equal(find_registers(journal, &key), i == 0 ? -1 : 0);
        assert_int_equal(at_journal_count(journal, key.problem, &count, NULL), AT_OK);
        assert_int_equal(count, i);
        at_journal_close(journal);
        assert_int_equal(unlink(path), 0);
        free(mark);
    }
    free(path);
}

enum { REGISTERS = 1000 }; /* more would be refused when they are read */

/* Add measurements until killed, and report each through the pipe. */
static void add_for_ever(const char *path, int pipe_end)
{
    struct at_journal *journal;

    if (at_journal_open(&journal, path, setting, true, NULL) != AT_OK)
        _exit(1);
    for (int32_t i = 0;; i++) {
        char config[32];
        struct at_journal_key where = key;
        double sample = i + 1;
        struct at_measurement measurement = {
            .kernel.registers = i % REGISTERS, .samples_ns = &sample, .sample_count = 1};

        snprintf(config, sizeof config, "N=%d", i);
        where.config = config;
        if (at_journal_add(journal, &where, &measurement, &details, NULL) != AT_OK ||
            write(pipe_end, &i, sizeof i) != sizeof i)
            _exit(1);
    }
}

static void test_killed(void **state)
{
    char *path = at_format("%s/journal", (char *)*state);
    struct at_journal *journal;
    int32_t last = -1, said;
    int ends[2], status;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        add_for_ever(path, ends[1]);
    }
    close(ends[1]);
    while (last < 200 && read(ends[0], &said, sizeof said) == sizeof said)
        last = said;
    kill(child, SIGKILL);
    while (read(ends[0], &said, sizeof said) == sizeof said)
        last = said;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(last >= 200);

    journal = open_journal(path, true);
    for (int32_t i = 0; i <= last; i++) {
        char config[32];
        struct at_journal_key where = key;

        snprintf(config, sizeof config, "N=%d", i);
        where.config = config;
        assert_int_equal(find_registers(journal, &where), i % REGISTERS);
    }
    at_journal_close(journal);
    free(path);
}

/* A second writer is refused, in another process and in this one; the first goes on. */
static void test_locked(void **state)
{
    char *path = at_format("%s/journal", (char *)*state);
    struct at_journal *journal;
    int go[2], status;
    pid_t child;

    assert_int_equal(pipe(go), 0);
    child = fork(); /* before opening, so that the child sees only the file's lock */
    if (child == 0) {
        struct at_journal *second;
        struct at_error err = {0};
        char byte;

        if (read(go[0], &byte, 1) != 1 ||
            at_journal_open(&second, path, setting, true, &err) != AT_USAGE)
            _exit(1);
        _exit(strstr(err.message, "in use by another process") ? 0 : 2);
    }
    journal = open_journal(path, false);
    assert_int_equal(write(go[1], "", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(go[0]);
    close(go[1]);
    assert_refused(path, "in use by another process");
    add_registers(journal, &key, 5);
    assert_int_equal(find_registers(journal, &key), 5);
    at_journal_close(journal);
    free(path);
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Check that the file is refused with this message, and unchanged. */
static void assert_refused_untouched(const char *path, const char *expected)
{
    struct at_error err = {0};
    char *before, *after;
    size_t before_size, after_size;

    assert_int_equal(at_file_read(&before, &before_size, path, 1 << 24, &err), AT_OK);
    assert_refused(path, expected);
    assert_int_equal(at_file_read(&after, &after_size, path, 1 << 24, &err), AT_OK);
    assert_int_equal(before_size, after_size);
    assert_memory_equal(before, after, before_size);
    free(before);
    free(after);
}

static void test_not_a_journal(void **state)
{
    char *path = at_format("%s/file", (char *)*state);
    static const char text[] = "devices:\n- a profile, given as a journal by mistake\n";
    char zeros[5000] = {0};

    write_bytes(path, text, sizeof text - 1);
    assert_refused_untouched(path, "not a journal");
    write_bytes(path, zeros, sizeof zeros);
    assert_refused_untouched(path, "not a journal");
    assert_int_equal(unlink(path), 0);
    execute(path, "CREATE TABLE bookmarks (url TEXT)");
    assert_refused_untouched(path, "SQLite database, but not a journal");
    assert_int_equal(unlink(path), 0);
    at_journal_close(open_journal(path, false));
    execute(path, "PRAGMA user_version = 5");
    assert_refused_untouched(path, "version 5 of the format, this program knows version 6: "
                                   "name another file");
    execute(path, "PRAGMA user_version = 7");
    assert_refused_untouched(path, "version 7 of the format");
    free(path);
}

/* Another program's database with a log: neither file changes. */
static void test_foreign_log(void **state)
{
    char *path = at_format("%s/db", (char *)*state), *log = at_format("%s-wal", path);
    struct stat before, after;
    int status;
    pid_t child = fork();

    if (child == 0) {
        static const char sql[] = "PRAGMA journal_mode = WAL; CREATE TABLE bookmarks (url TEXT)";
        sqlite3 *db;

        if (sqlite3_open(path, &db) != SQLITE_OK ||
            sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
            _exit(1);
        _exit(0); /* ends without closing */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(stat(log, &before), 0);
    assert_refused_untouched(path, "SQLite database, but not a journal");
    assert_int_equal(stat(log, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    free(path);
    free(log);
}

static void test_damaged(void **state)
{
    char *path = at_format("%s/journal", (char *)*state);
    struct at_journal *journal = open_journal(path, false);
    struct at_error err = {0};
    char *bytes;
    size_t size;

    for (int i = 0; i < 100; i++)
        add_registers(journal, &key, i);
    at_journal_close(journal);
    assert_int_equal(at_file_read(&bytes, &size, path, 1 << 24, &err), AT_OK);
    assert_true(size > 16384);
    write_bytes(path, bytes, size / 2); /* cut short */
    assert_refused_untouched(path, "is damaged");
    memset(bytes + 8192, 0xa5, 4096); /* a page of noise */
    write_bytes(path, bytes, size);
    assert_refused_untouched(path, "is damaged");
    free(bytes);
    free(path);
}

/* A sound database with a value that this program never writes. */
static void test_edited(void **state)
{
    static const struct {
        const char *sql, *message;
    } cases[] = {
        {"UPDATE measurements SET outcome = 'splendid'", "unknown outcome: splendid"},
        {"UPDATE measurements SET samples_ns = '[1, \"2\"]'", "not a JSON array of numbers"},
        {"UPDATE measurements SET samples_ns = 'fast'", "not a JSON array of numbers"},
        {"UPDATE measurements SET samples_ns = '{}'", "not a JSON array of numbers"},
        {"UPDATE measurements SET samples_ns = '[]'",
         "samples_ns is empty, but the config is correct"},
        {"UPDATE measurements SET samples_ns = '[-1]'", "samples_ns has -1"},
        {"UPDATE measurements SET samples_ns = '[5, 0]'", "samples_ns has 0,"},
        {"UPDATE measurements SET samples_ns = '[0.0009]'", "samples_ns has 0.0009"},
        {"UPDATE measurements SET samples_ns = '[1e308]'", "samples_ns has 1e+308"},
        {"UPDATE measurements SET samples_ns = '[1e309]'", "not a JSON array of numbers"},
        {"UPDATE measurements SET samples_ns = '[1' || replace(hex(zeroblob(500)), '00', ',1,1') "
         "|| ']'",
         "samples_ns has 1001 values, more than 1000"},
        {"UPDATE measurements SET samples_ns = x'5b315d'", "samples_ns is not text"},
        {"UPDATE measurements SET samples_ns = CAST(x'5b315d00' AS TEXT)",
         "samples_ns is not printable"},
        {"UPDATE measurements SET outcome = x'636f7272656374'", "outcome is not text"},
        {"UPDATE measurements SET outcome = ''", "unknown outcome: "},
        {"UPDATE measurements SET message = x'00'", "message is not text"},
        {"UPDATE measurements SET message = CAST(x'410042' AS TEXT)", "message is not printable"},
        {"UPDATE measurements SET message = char(27) || '[31m'", "message is not printable text"},
        {"UPDATE measurements SET message = hex(zeroblob(128))", "message has 256 bytes"},
        {"UPDATE measurements SET registers = -9223372036854775808",
         "registers is -9223372036854775808, not from 0 to 1024"},
        {"UPDATE measurements SET registers = 1025", "registers is 1025, not from 0 to 1024"},
        {"UPDATE measurements SET registers = 'many'", "registers is not an integer"},
        {"UPDATE measurements SET registers = 1.5", "registers is not an integer"},
        {"UPDATE measurements SET spill_bytes = -1", "spill_bytes is -1, not from 0 to "},
        {"UPDATE measurements SET spill_bytes = 16777217", "spill_bytes is 16777217"},
        {"UPDATE measurements SET shared_bytes = 1 << 40", "shared_bytes is 1099511627776"},
        {"UPDATE measurements SET shared_bytes = x'01'", "shared_bytes is not an integer"},
    };
    char *path = at_format("%s/journal", (char *)*state);

    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_journal *journal = open_journal(path, false);
        struct at_measurement measurement = {0};
        struct at_error err = {0};
        bool found = false;

        add_registers(journal, &key, 1);
        at_journal_close(journal);
        execute(path, cases[i].sql);
        journal = open_journal(path, true);
        assert_int_equal(at_journal_find(journal, &key, &found, &measurement, &err), AT_USAGE);
        assert_false(found);
        assert_int_equal(err.status, AT_USAGE);
        if (!strstr(err.message, cases[i].message))
            fail_msg("\"%s\" does not say \"%s\"", err.message, cases[i].message);
        assert_non_null(strstr(err.message, path));
        assert_non_null(strstr(err.message, "measurement "));
        at_journal_close(journal);
    }
    free(path);
}

static void ignore(void *data, const char *family, const char *config)
{
    (void)data;
    (void)family;
    (void)config;
}

/* The same for what else is read: the names of configs, and the settings of runs. */
static void test_edited_names(void **state)
{
    static const char *const cases[][2] = {
        {"UPDATE measurements SET family = x'41'", "family is not text"},
        {"UPDATE measurements SET config = CAST(x'4100' AS TEXT)", "config is not printable"},
        {"UPDATE measurements SET config = hex(zeroblob(32769))", "config has 65538 bytes"},
    };
    static const char *const settings[][2] = {
        {"x'41'", "setting is not text"},
        {"hex(zeroblob(32769))", "setting has 65538 bytes"},
        {"'a' || char(10)", "setting is not printable"},
    };
    char *path = at_format("%s/journal", (char *)*state);
    struct at_journal *journal;
    struct at_error err = {0};

    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        journal = open_journal(path, false);
        add_registers(journal, &key, 1);
        at_journal_close(journal);
        execute(path, cases[i][0]);
        journal = open_journal(path, true);
        assert_int_equal(at_journal_each(journal, key.problem, ignore, NULL, &err), AT_USAGE);
        if (!strstr(err.message, cases[i][1]) || !strstr(err.message, path))
            fail_msg("\"%s\" does not say \"%s\"", err.message, cases[i][1]);
        at_journal_close(journal);
    }
    for (size_t i = 0; i < AT_COUNT(settings); i++) {
        char *sql =
            at_format("DELETE FROM measurements; UPDATE runs SET setting = %s", settings[i][0]);

        execute(path, sql);
        assert_refused(path, settings[i][1]);
        free(sql);
    }
    free(path);
}

/* A database can contain programs, which run when it is written or read. A journal with more than
 * our tables is refused. */
static void test_foreign_parts(void **state)
{
    static const char *const cases[][2] = {
        {"CREATE TRIGGER swallow BEFORE INSERT ON measurements BEGIN SELECT RAISE(IGNORE); END",
         "has what no journal has: trigger swallow;"},
        {"CREATE TRIGGER grow AFTER INSERT ON runs BEGIN"
         "  INSERT INTO runs (setting) SELECT hex(zeroblob(100000)); END",
         "has what no journal has: trigger grow;"},
        {"CREATE VIEW look AS SELECT 1", "has what no journal has: view look;"},
        {"CREATE TABLE another (a)", "has what no journal has: table another;"},
        {"CREATE INDEX more ON measurements (message)", "has what no journal has: index more;"},
        {"CREATE INDEX less ON measurements (abs(registers)) WHERE registers > 1",
         "has what no journal has: index less;"},
        {"DROP INDEX measurements_by_key",
         "lacks what every journal has: index measurements_by_key;"},
        {"DROP TABLE measurements", "lacks what every journal has: index measurements_by_key;"},
        {"ALTER TABLE measurements ADD COLUMN more",
         "has a part that differs from every journal's: table measurements;"},
        {"ALTER TABLE runs ADD COLUMN more",
         "has a part that differs from every journal's: table runs;"},
        {"ANALYZE", "has what no journal has: table sqlite_stat1;"},
        /* A view instead of a table, which gives two queries different values. */
        {"DROP TABLE measurements; DROP TABLE runs; CREATE TABLE measurements (x);"
         "INSERT INTO measurements VALUES (-9223372036854775808);"
         "CREATE VIEW runs AS SELECT abs(x) AS id, 'other' AS setting FROM measurements",
         "lacks what every journal has: index measurements_by_key;"},
    };
    char *path = at_format("%s/journal", (char *)*state);

    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_journal *journal = open_journal(path, false);

        add_registers(journal, &key, 1);
        at_journal_close(journal);
        execute(path, "PRAGMA journal_mode = DELETE");
        execute(path, cases[i][0]);
        assert_refused_untouched(path, cases[i][1]);
        assert_int_equal(unlink(path), 0);
    }
    free(path);
}

/* Tables that SQLite cannot read. */
static void test_broken_schema(void **state)
{
    static const char *const texts[] = {
        "'CREATE TABLE runs'",
        "'CREATE TABLE runs (id INTEGER PRIMARY KEY, setting)' || hex(zeroblob(60000))",
        "NULL",
        "x'00ff'",
        "'CREATE VIEW runs AS SELECT * FROM runs'",
    };
    char *path = at_format("%s/journal", (char *)*state);

    for (size_t i = 0; i < AT_COUNT(texts); i++) {
        char *sql = at_format("PRAGMA writable_schema = ON;"
                              "UPDATE sqlite_master SET sql = %s WHERE name = 'runs'",
                              texts[i]);

        at_journal_close(open_journal(path, false));
        execute(path, "PRAGMA journal_mode = DELETE");
        execute(path, sql);
        assert_refused_untouched(path, "name another file");
        assert_int_equal(unlink(path), 0);
        free(sql);
    }
    free(path);
}

/* SQLite continues after the greatest number, and at random after the greatest possible one. */
static void test_foreign_ids(void **state)
{
    static const char *const cases[][2] = {
        {"UPDATE runs SET id = 9223372036854775807", "an id of runs"},
        {"UPDATE runs SET id = -1", "an id of runs"},
        {"UPDATE measurements SET id = 9223372036854775807", "an id of measurements"},
        {"UPDATE measurements SET id = 0", "an id of measurements"},
    };
    char *path = at_format("%s/journal", (char *)*state);

    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_journal *journal = open_journal(path, false);

        add_registers(journal, &key, 1);
        at_journal_close(journal);
        execute(path, cases[i][0]);
        assert_refused(path, cases[i][1]);
        assert_int_equal(unlink(path), 0);
    }
    free(path);
}

/* Files and logs of more than 4 GiB are not read. These are sparse. */
static void test_too_large(void **state)
{
    static const char *const ends[] = {"", "-wal"};
    char *path = at_format("%s/journal", (char *)*state);

    for (size_t i = 0; i < AT_COUNT(ends); i++) {
        char *file = at_format("%s%s", path, ends[i]);

        at_journal_close(open_journal(path, false));
        write_bytes(file, "", 0);
        assert_int_equal(truncate(file, ((off_t)4 << 30) + 1), 0);
        assert_refused(path, "has 4294967297 bytes; at most 4294967296 are read");
        assert_int_equal(unlink(file), 0);
        unlink(path);
        free(file);
    }
    free(path);
}

static int64_t ask(struct at_journal *journal, const char *sql)
{
    sqlite3_int64 number = -1;

    assert_int_equal(at_journal_query(journal, sql, NULL, &number, NULL, NULL), AT_OK);
    return number;
}

/* As https://www.sqlite.org/security.html advises. */
static void test_settings(void **state)
{
    static const struct {
        int option, expected;
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
    char *path = at_format("%s/journal", (char *)*state);
    struct at_journal *journal = open_journal(path, false);

    for (size_t i = 0; i < AT_COUNT(switches); i++) {
        int value = -1;

        assert_int_equal(sqlite3_db_config(journal->db, switches[i].option, -1, &value), SQLITE_OK);
        assert_int_equal(value, switches[i].expected);
    }
    assert_int_equal(sqlite3_limit(journal->db, SQLITE_LIMIT_LENGTH, -1), 1000000);
    assert_int_equal(sqlite3_limit(journal->db, SQLITE_LIMIT_ATTACHED, -1), 0);
    assert_int_equal(ask(journal, "PRAGMA cell_size_check"), 1);
    assert_int_equal(ask(journal, "PRAGMA mmap_size"), 0);
    assert_true(ask(journal, "PRAGMA max_page_count") * ask(journal, "PRAGMA page_size") ==
                (int64_t)4 << 30);
    at_journal_close(journal);
    free(path);
}

/* A row that SQLite silently does not add is an error. */
static void test_swallowed(void **state)
{
    struct at_journal *journal = open_journal(":memory:", false);
    struct at_measurement measurement = {.outcome = AT_WRONG};
    struct at_error err = {0};

    (void)state;
    assert_int_equal(sqlite3_db_config(journal->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, NULL),
                     SQLITE_OK);
    assert_int_equal(at_journal_execute(journal,
                                        "CREATE TEMP TRIGGER swallow BEFORE INSERT ON measurements"
                                        "  BEGIN SELECT RAISE(IGNORE); END",
                                        &err),
                     AT_OK);
    assert_int_equal(at_journal_add(journal, &key, &measurement, &details, &err), AT_INTERNAL);
    assert_non_null(strstr(err.message, "did not store a measurement"));
    at_journal_close(journal);
}

/* A message that was cut within a character can be read back. */
static void test_unprintable_message(void **state)
{
    struct at_journal *journal = open_journal(":memory:", false);
    struct at_measurement in = {.outcome = AT_COMPILE, .message = "a\tb\x1b[31m \xc3\xa4 \xe2\x82"};
    struct at_measurement out = {0};
    struct at_error err = {0};
    bool found = false;

    (void)state;
    assert_int_equal(at_journal_add(journal, &key, &in, &details, &err), AT_OK);
    assert_int_equal(at_journal_find(journal, &key, &found, &out, &err), AT_OK);
    assert_string_equal(out.message, "a?b?[31m \xc3\xa4 ??");
    at_journal_close(journal);
}

/* An empty file becomes a journal: mktemp and `touch` make such files. */
static void test_empty_file(void **state)
{
    char *path = at_format("%s/journal", (char *)*state);
    struct at_journal *journal;

    write_bytes(path, "", 0);
    journal = open_journal(path, true);
    add_registers(journal, &key, 1);
    at_journal_close(journal);
    journal = open_journal(path, true);
    assert_int_equal(find_registers(journal, &key), 1);
    at_journal_close(journal);
    free(path);
}

static void test_bad_path(void **state)
{
    const char *folder = *state;
    char *missing = at_format("%s/none/journal", folder), *fifo = at_format("%s/fifo", folder);

    assert_refused(folder, "is a folder");
    assert_refused(missing, "No such file or directory");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_refused(fifo, "not a regular file");
    assert_refused("", "is a folder"); /* SQLite would make a temporary file */
    free(missing);
    free(fifo);
}

/* Permissions do not stop root, so root becomes another user. */
static void test_read_only(void **state)
{
    char *path = at_format("%s/journal", (char *)*state);
    int status;
    pid_t child;

    at_journal_close(open_journal(path, false));
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(*state, 0777), 0);
    child = fork();
    if (child == 0) {
        struct at_journal *journal;
        struct at_error err = {0};

        if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(65534) || setuid(65534)))
            _exit(77);
        if (at_journal_open(&journal, path, setting, true, &err) != AT_USAGE)
            _exit(1);
        _exit(strstr(err.message, "is read-only") ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    free(path);
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_not_finite(void **state)
{
    struct at_journal *journal = open_journal(":memory:", false);
    double samples[] = {1, (double)NAN};
    struct at_measurement measurement = {.samples_ns = samples, .sample_count = 2};
    struct at_error err = {0};

    (void)state;
    assert_int_equal(at_journal_add(journal, &key, &measurement, &details, &err), AT_INTERNAL);
    assert_string_equal(err.message, "sample 1 is not a finite number");
    assert_int_equal(find_registers(journal, &key), -1);
    at_journal_close(journal);
}

/* Replaces the C library's function, which SQLite calls. */
static int syncs;

int fdatasync(int fd)
{
    syncs++;
    return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
    syncs++;
    return (int)syscall(SYS_fsync, fd);
}

static off_t size_of_log(const char *path)
{
    char *name = at_format("%s-wal", path);
    struct stat status;

    assert_int_equal(stat(name, &status), 0);
    free(name);
    return status.st_size;
}

/* The log is moved into the file now and then. */
static bool grows_no_more(struct at_journal *journal, const char *path)
{
    double sample = 1;
    struct at_measurement measurement = {.samples_ns = &sample, .sample_count = 1};
    off_t sizes[3];

    for (size_t i = 0; i < AT_COUNT(sizes); i++) {
        for (int j = 0; j < 700; j++) {
            assert_int_equal(at_journal_add(journal, &key, &measurement, &details, NULL), AT_OK);
            if (j % 7 == 0)
                assert_int_equal(at_journal_sync(journal, NULL), AT_OK);
        }
        sizes[i] = size_of_log(path);
    }
    return sizes[2] == sizes[1];
}

/* Adding a measurement does not wait for the disk. */
static void test_sync(void **state)
{
    char *path = at_format("%s/journal", (char *)*state);
    struct at_journal *journal = open_journal(path, false);
    double sample = 1;
    struct at_measurement measurement = {.samples_ns = &sample, .sample_count = 1};

    assert_int_equal(at_journal_sync(journal, NULL), AT_OK);
    for (int i = 0; i < 3; i++) {
        int before;

        assert_int_equal(at_journal_add(journal, &key, &measurement, &details, NULL), AT_OK);
        before = syncs;
        assert_int_equal(at_journal_add(journal, &key, &measurement, &details, NULL), AT_OK);
        assert_int_equal(syncs, before);
        assert_int_equal(at_journal_sync(journal, NULL), AT_OK);
        assert_int_equal(syncs, before + 1);
    }
    assert_true(grows_no_more(journal, path));
    at_journal_close(journal);
    journal = open_journal(":memory:", false);
    assert_int_equal(at_journal_add(journal, &key, &measurement, &details, NULL), AT_OK);
    assert_int_equal(at_journal_sync(journal, NULL), AT_OK);
    at_journal_close(journal);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_key),
        cmocka_unit_test(test_each),
        cmocka_unit_test_setup_teardown(test_resume, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_resume_of_another_setting, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_resume_of_another_device, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_other_hashes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_tables, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_details, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_looks, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_finals, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_phases, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_absorbed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_parts, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_not_absorbed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_further_launches, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_killed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_sync, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_locked, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_not_a_journal, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_foreign_log, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_damaged, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_edited, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_edited_names, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_foreign_parts, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_broken_schema, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_foreign_ids, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_too_large, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_settings, make_folder, remove_folder),
        cmocka_unit_test(test_swallowed),
        cmocka_unit_test(test_unprintable_message),
        cmocka_unit_test_setup_teardown(test_empty_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_bad_path, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_read_only, make_folder, remove_folder),
        cmocka_unit_test(test_not_finite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
