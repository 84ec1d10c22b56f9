/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rows of a journal, which is untrusted: each value must have its type and be within its
 * bounds, or an error names the row. */
#include "base/memory.h"
#include "base/printable.h"
#include "journal/parts.h"

#include <jansson.h>
#include <string.h>

/* ---- samples ---- */

enum at_status at_samples_format(char **text, const double *samples_ns, size_t count,
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

enum at_status at_samples_parse(double **samples_ns, size_t *count, const char *text,
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

/* ---- rows ---- */

/* Bytes of a text: several times the longest that we write, which is a setting. */
enum { TEXT_MAX = 65536 };

static enum at_status fail_row(const struct at_journal *journal, const struct at_journal_row *row,
                               const struct at_error *why, struct at_error *err)
{
    return at_fail(err, why->status,
                   "journal %s: %s %lld: %s; this program did not write that: name another file",
                   journal->path, row->what, (long long)sqlite3_column_int64(row->statement, 0),
                   why->message);
}

static enum at_status take_text(const struct at_journal_row *row, int column, size_t most,
                                const char **text, struct at_error *err)
{
    const char *name = sqlite3_column_name(row->statement, column), *bytes;
    size_t size;

    if (sqlite3_column_type(row->statement, column) != SQLITE_TEXT)
        return at_fail(err, AT_USAGE, "%s is not text", name);
    bytes = (const char *)sqlite3_column_text(row->statement, column);
    size = (size_t)sqlite3_column_bytes(row->statement, column);
    if (!bytes)
        return at_fail(err, AT_INTERNAL, "%s: out of memory", name);
    if (size > most)
        return at_fail(err, AT_USAGE, "%s has %zu bytes, more than %zu", name, size, most);
    if (!at_text_is_printable(bytes, size)) /* a NUL is not printable */
        return at_fail(err, AT_USAGE, "%s is not printable text", name);
    *text = bytes;
    return AT_OK;
}

static enum at_status take_int(const struct at_journal_row *row, int column, int64_t *value,
                               struct at_error *err)
{
    if (sqlite3_column_type(row->statement, column) != SQLITE_INTEGER)
        return at_fail(err, AT_USAGE, "%s is not an integer",
                       sqlite3_column_name(row->statement, column));
    *value = sqlite3_column_int64(row->statement, column);
    return AT_OK;
}

static enum at_status take_outcome(const struct at_journal_row *row, int column,
                                   enum at_outcome *outcome, struct at_error *err)
{
    const char *word;
    enum at_status status = take_text(row, column, TEXT_MAX, &word, err);

    if (status != AT_OK)
        return status;
    for (int i = 0; i < AT_OUTCOMES; i++)
        if (strcmp(word, at_outcome_names[i]) == 0) {
            *outcome = (enum at_outcome)i;
            return AT_OK;
        }
    return at_fail(err, AT_USAGE, "unknown outcome: %s", word);
}

enum at_status at_journal_text(const struct at_journal *journal, const struct at_journal_row *row,
                               int column, const char **text, struct at_error *err)
{
    struct at_error why;

    return take_text(row, column, TEXT_MAX, text, &why) == AT_OK
               ? AT_OK
               : fail_row(journal, row, &why, err);
}

static enum at_status take_samples(const struct at_journal_row *row, int column,
                                   struct at_measurement *measurement, struct at_error *err)
{
    const char *samples;
    enum at_status status = take_text(row, column, TEXT_MAX, &samples, err);

    return status == AT_OK ? at_samples_parse(&measurement->samples_ns, &measurement->sample_count,
                                              samples, err)
                           : status;
}

static enum at_status take_measurement(const struct at_journal_row *row,
                                       struct at_measurement *measurement, struct at_error *err)
{
    const char *message = "";
    enum at_status status = take_outcome(row, 1, &measurement->outcome, err);

    if (status == AT_OK)
        status = take_text(row, 2, sizeof measurement->message - 1, &message, err);
    if (status == AT_OK)
        status = take_int(row, 3, &measurement->kernel.registers, err);
    if (status == AT_OK)
        status = take_int(row, 4, &measurement->kernel.spill_bytes, err);
    if (status == AT_OK)
        status = take_int(row, 5, &measurement->kernel.shared_bytes, err);
    if (status == AT_OK)
        status = take_samples(row, 6, measurement, err);
    strcpy(measurement->message, message);
    return status == AT_OK ? at_measurement_check(measurement, err) : status;
}

enum at_status at_journal_measurement(const struct at_journal *journal,
                                      const struct at_journal_row *row,
                                      struct at_measurement *measurement, struct at_error *err)
{
    struct at_measurement result = {0};
    struct at_error why;

    if (take_measurement(row, &result, &why) != AT_OK) {
        at_measurement_clear(&result);
        return fail_row(journal, row, &why, err);
    }
    *measurement = result;
    return AT_OK;
}

enum at_status at_journal_samples(const struct at_journal *journal,
                                  const struct at_journal_row *row, int column,
                                  struct at_measurement *measurement, struct at_error *err)
{
    struct at_measurement result = {.outcome = AT_CORRECT};
    struct at_error why;
    enum at_status status = take_samples(row, column, &result, &why);

    if (status == AT_OK)
        status = at_measurement_check(&result, &why); /* refuses a correct one without samples */
    if (status != AT_OK) {
        at_measurement_clear(&result);
        return fail_row(journal, row, &why, err);
    }
    *measurement = result;
    return AT_OK;
}
