/* SPDX-License-Identifier: Apache-2.0 */
/* Statements, and the columns of rows: how they are written, read and checked. The file is
 * untrusted: each value must have its type and be within its bounds, or an error names the row. */
#include "base/error.h"
#include "base/memory.h"
#include "device/device.h"
#include "journal/parts.h"
#include "measure/measurement.h"
#include "measure/turn.h"

#include <errno.h>
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- failures ---- */

/* SQLite's message does not tell why; errno does. ENOENT would be about another file of SQLite's
 * own: the folder exists. */
static enum at_status cannot_open(const struct at_journal *journal, struct at_error *err)
{
    int error = sqlite3_system_errno(journal->db);

    return at_fail(err, AT_USAGE, "cannot open journal %s: %s", journal->path,
                   error != 0 && error != ENOENT ? strerror(error) : sqlite3_errmsg(journal->db));
}

enum at_status at_journal_fail(const struct at_journal *journal, struct at_error *err)
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
    case SQLITE_CANTOPEN:
        return cannot_open(journal, err);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return at_fail(err, AT_USAGE, "cannot open journal %s: %s", path,
                       sqlite3_errmsg(journal->db));
    /* Our statements are right, so the file's tables are wrong. */
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
        return at_fail(err, AT_USAGE,
                       "journal %s was not made by this program, or was changed (%s): name another "
                       "file",
                       path, sqlite3_errmsg(journal->db));
    case SQLITE_FULL:
        return at_fail(err, AT_USAGE,
                       "journal %s: its disk is full; free some space, or name a file on another "
                       "disk with --out",
                       path);
    case SQLITE_IOERR:
        return at_fail(err, AT_USAGE, "journal %s cannot be read or written: %s", path,
                       sqlite3_errmsg(journal->db));
    default:
        return at_fail(err, AT_INTERNAL, "journal %s: %s", path, sqlite3_errmsg(journal->db));
    }
}

/* ---- samples ---- */

static enum at_status samples_format(char **text, const double *samples_ns, size_t count,
                                     struct at_error *err)
{
    json_t *array = json_array();
    enum at_status status = AT_OK;

    for (size_t i = 0; i < count && status == AT_OK; i++)
        if (json_array_append_new(array, json_real(samples_ns[i])) != 0)
            status = at_fail(err, AT_INTERNAL, "sample %zu is not a finite number", i);
    if (status == AT_OK)
        *text = json_dumps(array, JSON_COMPACT);
    json_decref(array);
    return status;
}

static enum at_status samples_parse(double **samples_ns, size_t *count, const char *text,
                                    struct at_error *err)
{
    json_t *array = json_loads(text ? text : "", 0, NULL), *item;
    size_t size = json_array_size(array), i;
    enum at_status status = AT_OK;
    double *values = size ? at_alloc_array(size, sizeof *values) : NULL;

    if (!json_is_array(array))
        status = at_fail(err, AT_USAGE, "samples_ns is not a JSON array of numbers");
    json_array_foreach(array, i, item)
    {
        if (!json_is_number(item))
            status = at_fail(err, AT_USAGE, "samples_ns is not a JSON array of numbers");
        values[i] = json_number_value(item);
    }
    json_decref(array);
    if (status != AT_OK) {
        free(values);
        return status;
    }
    *samples_ns = values;
    *count = size;
    return AT_OK;
}

/* ---- columns ---- */

const char *const at_phase_names[AT_PHASES] = {
    [AT_PHASE_OPEN] = "open",
    [AT_PHASE_COPIES] = "copies",
    [AT_PHASE_SEARCH] = "search",
    [AT_PHASE_FINALS] = "finals",
};

/* Milliseconds of the year 9999. */
#define UTC_MS_MAX INT64_C(253402300800000)

/* PLACES_MAX: more than take part in any shoot-out. TEXT_MAX: several times the longest text that
 * we write, which is a setting. */
enum { KHZ_MAX = 100000000, PLACES_MAX = 64, TEXT_MAX = 65536 };

enum kind {
    TEXT,     /* const char * */
    INTEGER,  /* int64_t from 0 to most */
    OPTIONAL, /* the same; 0 is NULL in the file */
    FIGURE,   /* int64_t, which at_measurement_check checks */
    TIME,     /* double above 0; 0 is NULL */
    FLAG,     /* bool */
    OUTCOME,
    PHASE,
    MESSAGE,  /* of a measurement */
    SAMPLES,  /* of a measurement */
    THROTTLE, /* of a look */
    LAUNCHES, /* no member: newer programs may file configs of several launches */
};

/* A column that the tables have, or that is joined to them, and the member of an entry. */
struct at_journal_column {
    const char *name;
    enum kind kind;
    size_t offset;
    int64_t most;
};

#define COLUMN(name, kind, member, ...)                                                            \
    {                                                                                              \
        name, kind, offsetof(struct at_journal_entry, member), __VA_ARGS__                         \
    }
static const struct at_journal_column columns[] = {
    COLUMN("run", INTEGER, run, INT64_MAX),
    COLUMN("setting", TEXT, setting, TEXT_MAX),
    COLUMN("started_utc", TEXT, started_utc, TEXT_MAX),
    COLUMN("problem", TEXT, key.problem, TEXT_MAX),
    COLUMN("family", TEXT, key.family, TEXT_MAX),
    COLUMN("family_hash", TEXT, key.family_hash, TEXT_MAX),
    COLUMN("config", TEXT, key.config, TEXT_MAX),
    COLUMN("outcome", OUTCOME, measurement.outcome, 0),
    COLUMN("message", MESSAGE, measurement.message, 0),
    COLUMN("registers", FIGURE, measurement.kernel.registers, 0),
    COLUMN("spill_bytes", FIGURE, measurement.kernel.spill_bytes, 0),
    COLUMN("shared_bytes", FIGURE, measurement.kernel.shared_bytes, 0),
    COLUMN("samples_ns", SAMPLES, measurement, 0),
    COLUMN("again", FLAG, details.again, 1),
    COLUMN("measured_utc_ms", INTEGER, measured_utc_ms, UTC_MS_MAX),
    COLUMN("gpu", TEXT, details.gpu, TEXT_MAX),
    COLUMN("clock_sm_khz", OPTIONAL, measurement.kernel.clock_sm_khz, KHZ_MAX),
    COLUMN("clock_memory_khz", OPTIONAL, measurement.kernel.clock_memory_khz, KHZ_MAX),
    COLUMN("expected_ns", TIME, details.expected_ns, 0),
    COLUMN("power_mw", OPTIONAL, measurement.kernel.look.power_mw, AT_POWER_MW_MAX),
    COLUMN("temperature_c", OPTIONAL, measurement.kernel.look.temperature_c, AT_TEMPERATURE_C_MAX),
    COLUMN("throttle", THROTTLE, measurement.kernel.look, (1 << AT_THROTTLES) - 1),
    COLUMN("further_launches", LAUNCHES, run, 0),
    COLUMN("place", INTEGER, place, PLACES_MAX),
    COLUMN("won", FLAG, won, 1),
    COLUMN("phase", PHASE, phase.phase, 0),
    COLUMN("tuner", INTEGER, phase.tuner, AT_TURNS_MAX - 1),
    COLUMN("took_ms", INTEGER, phase.took_ms, UTC_MS_MAX),
    COLUMN("ago_ms", INTEGER, phase.ago_ms, UTC_MS_MAX),
    COLUMN("gpu_ms", INTEGER, phase.gpu_ms, UTC_MS_MAX),
    COLUMN("ended_utc_ms", INTEGER, ended_utc_ms, UTC_MS_MAX),
};

static const struct at_journal_column *find_column(const char *name)
{
    for (size_t i = 0; i < AT_COUNT(columns); i++)
        if (strcmp(columns[i].name, name) == 0)
            return &columns[i];
    return NULL;
}

/* ---- writing ---- */

static void bind_optional(sqlite3_stmt *row, int at, int64_t value, bool known)
{
    if (known)
        sqlite3_bind_int64(row, at, value);
    else
        sqlite3_bind_null(row, at);
}

/* The message may be a compiler's or a driver's, perhaps cut off. */
static void bind_message(sqlite3_stmt *row, int at, const struct at_measurement *measurement)
{
    char message[sizeof measurement->message];

    memcpy(message, measurement->message, sizeof message);
    at_text_make_printable(message);
    sqlite3_bind_text(row, at, message, -1, SQLITE_TRANSIENT);
}

static enum at_status bind_samples(sqlite3_stmt *row, int at,
                                   const struct at_measurement *measurement, struct at_error *err)
{
    char *samples = NULL;
    enum at_status status =
        samples_format(&samples, measurement->samples_ns, measurement->sample_count, err);

    if (status == AT_OK)
        sqlite3_bind_text(row, at, samples, -1, free);
    return status;
}

static enum at_status bind_column(sqlite3_stmt *row, int at, const struct at_journal_column *column,
                                  const struct at_journal_entry *entry, struct at_error *err)
{
    const void *member = (const char *)entry + column->offset;
    const struct at_look *look = &entry->measurement.kernel.look;
    double time_ns = entry->details.expected_ns;

    switch (column->kind) {
    case TEXT:
        sqlite3_bind_text(row, at, *(const char *const *)member, -1, SQLITE_STATIC);
        break;
    case INTEGER:
    case FIGURE:
        sqlite3_bind_int64(row, at, *(const int64_t *)member);
        break;
    case OPTIONAL:
        bind_optional(row, at, *(const int64_t *)member, *(const int64_t *)member > 0);
        break;
    case TIME:
        if (time_ns > 0)
            sqlite3_bind_double(row, at, time_ns);
        else
            sqlite3_bind_null(row, at);
        break;
    case FLAG:
        sqlite3_bind_int(row, at, *(const bool *)member);
        break;
    case OUTCOME:
        sqlite3_bind_text(row, at, at_outcome_names[entry->measurement.outcome], -1, SQLITE_STATIC);
        break;
    case PHASE:
        sqlite3_bind_text(row, at, at_phase_names[entry->phase.phase], -1, SQLITE_STATIC);
        break;
    case MESSAGE:
        bind_message(row, at, &entry->measurement);
        break;
    case SAMPLES:
        return bind_samples(row, at, &entry->measurement, err);
    case THROTTLE:
        bind_optional(row, at, (int64_t)look->throttle, look->throttle_known);
        break;
    case LAUNCHES:
        break;
    }
    return AT_OK;
}

enum at_status at_journal_bind(const struct at_journal_statement *statement,
                               const struct at_journal_entry *entry, struct at_error *err)
{
    sqlite3_stmt *sqlite = statement->sqlite;
    enum at_status status = AT_OK;

    for (int i = 1; i <= sqlite3_bind_parameter_count(sqlite) && status == AT_OK; i++)
        status = bind_column(sqlite, i, find_column(sqlite3_bind_parameter_name(sqlite, i) + 1),
                             entry, err);
    return status;
}

/* ---- reading ---- */

static enum at_status take_text(sqlite3_stmt *row, int column, size_t most, const char **text,
                                struct at_error *err)
{
    const char *name = sqlite3_column_name(row, column), *bytes;
    size_t size;

    if (sqlite3_column_type(row, column) != SQLITE_TEXT)
        return at_fail(err, AT_USAGE, "%s is not text", name);
    bytes = (const char *)sqlite3_column_text(row, column);
    size = (size_t)sqlite3_column_bytes(row, column);
    if (!bytes)
        return at_fail(err, AT_INTERNAL, "%s: out of memory", name);
    if (size > most)
        return at_fail(err, AT_USAGE, "%s has %zu bytes, more than %zu", name, size, most);
    if (!at_text_is_printable(bytes, size)) /* a NUL is not printable */
        return at_fail(err, AT_USAGE, "%s is not printable text", name);
    *text = bytes;
    return AT_OK;
}

/* Take the place of a word in a list of names. */
static enum at_status take_word(sqlite3_stmt *row, int at, const char *const *names, size_t count,
                                size_t *place, struct at_error *err)
{
    const char *word;
    enum at_status status = take_text(row, at, TEXT_MAX, &word, err);

    if (status != AT_OK)
        return status;
    for (*place = 0; *place < count; ++*place)
        if (strcmp(word, names[*place]) == 0)
            return AT_OK;
    return at_fail(err, AT_USAGE, "unknown %s: %s", sqlite3_column_name(row, at), word);
}

static enum at_status take_integer(sqlite3_stmt *row, int at,
                                   const struct at_journal_column *column, int64_t *value,
                                   struct at_error *err)
{
    int type = sqlite3_column_type(row, at);
    bool optional = column->kind == OPTIONAL || column->kind == THROTTLE;

    *value = sqlite3_column_int64(row, at);
    if (column->kind == FIGURE)
        return type == SQLITE_INTEGER
                   ? AT_OK
                   : at_fail(err, AT_USAGE, "%s is not an integer", column->name);
    return (type == SQLITE_INTEGER || (optional && type == SQLITE_NULL)) && *value >= 0 &&
                   *value <= column->most
               ? AT_OK
               : at_fail(err, AT_USAGE, "%s is out of its bounds", column->name);
}

static enum at_status take_column(sqlite3_stmt *row, int at, const struct at_journal_column *column,
                                  struct at_journal_entry *entry, struct at_error *err)
{
    struct at_measurement *measurement = &entry->measurement;
    void *member = (char *)entry + column->offset;
    int type = sqlite3_column_type(row, at);
    enum at_status status = AT_OK;
    const char *text = "";
    int64_t value = 0;
    size_t place = 0;

    switch (column->kind) {
    case TEXT:
        return take_text(row, at, TEXT_MAX, member, err);
    case INTEGER:
    case OPTIONAL:
    case FIGURE:
        return take_integer(row, at, column, member, err);
    case TIME:
        entry->details.expected_ns = sqlite3_column_double(row, at);
        return type == SQLITE_NULL || (type == SQLITE_FLOAT && entry->details.expected_ns > 0 &&
                                       entry->details.expected_ns < 1e300)
                   ? AT_OK
                   : at_fail(err, AT_USAGE, "%s is out of its bounds", column->name);
    case FLAG:
        status = take_integer(row, at, column, &value, err);
        *(bool *)member = value == 1;
        return status;
    case OUTCOME:
        status = take_word(row, at, at_outcome_names, AT_OUTCOMES, &place, err);
        measurement->outcome = (enum at_outcome)place;
        return status;
    case PHASE:
        status = take_word(row, at, at_phase_names, AT_PHASES, &place, err);
        entry->phase.phase = (enum at_phase)place;
        return status;
    case MESSAGE:
        status = take_text(row, at, sizeof measurement->message - 1, &text, err);
        strcpy(measurement->message, text);
        return status;
    case SAMPLES:
        status = take_text(row, at, TEXT_MAX, &text, err);
        return status == AT_OK
                   ? samples_parse(&measurement->samples_ns, &measurement->sample_count, text, err)
                   : status;
    case THROTTLE:
        status = take_integer(row, at, column, &value, err);
        measurement->kernel.look.throttle_known = type != SQLITE_NULL;
        measurement->kernel.look.throttle = (uint64_t)value;
        return status;
    case LAUNCHES:
        break;
    }
    return AT_OK;
}

/* A measurement has samples, and its values have to be within their limits. */
static enum at_status take_row(const struct at_journal_statement *statement,
                               struct at_journal_entry *entry, struct at_error *err)
{
    enum at_status status = AT_OK;
    bool measured = false;

    for (int i = 1; i < sqlite3_column_count(statement->sqlite) && status == AT_OK; i++) {
        status = take_column(statement->sqlite, i, statement->columns[i], entry, err);
        measured |= statement->columns[i]->kind == SAMPLES;
    }
    return status == AT_OK && measured ? at_measurement_check(&entry->measurement, err) : status;
}

static bool has_launches(const struct at_journal_statement *statement)
{
    for (int i = 1; i < sqlite3_column_count(statement->sqlite); i++)
        if (statement->columns[i]->kind == LAUNCHES)
            return sqlite3_column_type(statement->sqlite, i) != SQLITE_NULL;
    return false;
}

enum at_status at_journal_step(const struct at_journal *journal,
                               const struct at_journal_statement *statement,
                               struct at_journal_entry *entry, bool *found, struct at_error *err)
{
    int result = sqlite3_step(statement->sqlite);
    long long id = result == SQLITE_ROW ? sqlite3_column_int64(statement->sqlite, 0) : 0;
    struct at_error why;

    if (result != SQLITE_ROW && result != SQLITE_DONE)
        return at_journal_fail(journal, err);
    *found = result == SQLITE_ROW;
    if (!*found || !entry)
        return AT_OK;
    *found = false;
    if (has_launches(statement))
        return at_fail(err, AT_USAGE,
                       "journal %s: %s %lld is of several launches, and this program knows configs "
                       "of one only: use the autotune that wrote the journal",
                       journal->path, statement->what, id);
    if (take_row(statement, entry, &why) != AT_OK)
        return at_fail(err, why.status,
                       "journal %s: %s %lld: %s; this program did not write that: name another "
                       "file",
                       journal->path, statement->what, id, why.message);
    *found = true;
    return AT_OK;
}

enum at_status at_journal_prepare(const struct at_journal *journal,
                                  struct at_journal_statement *statement, const char *what,
                                  const char *sql, struct at_error *err)
{
    statement->what = what;
    if (sqlite3_prepare_v3(journal->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement->sqlite,
                           NULL) != SQLITE_OK)
        return at_journal_fail(journal, err);
    for (int i = 1; i < sqlite3_column_count(statement->sqlite); i++)
        statement->columns[i] = find_column(sqlite3_column_name(statement->sqlite, i));
    return AT_OK;
}

/* ---- statements ---- */

enum at_status at_journal_execute(struct at_journal *journal, const char *sql, struct at_error *err)
{
    return sqlite3_exec(journal->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? AT_OK
               : at_journal_fail(journal, err);
}

static const char *first_text(sqlite3_stmt *row)
{
    const unsigned char *text = sqlite3_column_text(row, 0);

    return text ? (const char *)text : "";
}

enum at_status at_journal_query(const struct at_journal *journal, const char *sql,
                                const struct at_journal_entry *about, sqlite3_int64 *number,
                                char **text, struct at_error *err)
{
    struct at_journal_statement statement = {0};
    enum at_status status = at_journal_prepare(journal, &statement, "row", sql, err);

    if (status == AT_OK && about)
        status = at_journal_bind(&statement, about, err);
    if (status == AT_OK && sqlite3_step(statement.sqlite) != SQLITE_ROW)
        status = at_journal_fail(journal, err);
    if (status == AT_OK && text)
        *text = at_strdup(first_text(statement.sqlite));
    else if (status == AT_OK)
        *number = sqlite3_column_int64(statement.sqlite, 0);
    sqlite3_finalize(statement.sqlite);
    return status;
}
