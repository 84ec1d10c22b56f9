/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes configs and results in JSON. */
#include "base/memory.h"
#include "base/printable.h"
#include "base/stats.h"
#include "recording/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 677280 ns are 0.67728 ms. 15 digits are enough for the longest sample, and show no rounding
 * errors.
 */
enum { DIGITS = 15 };

static const char cost_member[] = "evaluation_ns"; /* of our rows */

/* ---- reading ---- */

bool at_json_integer(const json_t *value, int64_t *number)
{
    if (json_is_boolean(value))
        *number = json_is_true(value);
    else if (json_is_integer(value) && json_integer_value(value) >= INT32_MIN &&
             json_integer_value(value) <= INT32_MAX)
        *number = json_integer_value(value);
    else
        return false;
    return true;
}

enum at_status at_json_text(const struct at_json_reader *reader, const json_t *value,
                            const char *what, const char **text)
{
    if (!json_is_string(value) || !at_recording_text_fits(json_string_value(value)))
        return at_fail(reader->err, AT_USAGE, "%s: expected a printable text", what);
    *text = json_string_value(value);
    return AT_OK;
}

static enum at_status find_family(const struct at_json_reader *reader, const json_t *values,
                                  size_t *family)
{
    const char *name = json_string_value(json_object_get(values, "family"));

    *family = 0;
    if (!reader->ours)
        return AT_OK;
    for (size_t i = 0; i < reader->recording.family_count && name; i++)
        if (strcmp(reader->recording.families[i].family->name, name) == 0) {
            *family = i;
            return AT_OK;
        }
    return at_fail(reader->err, AT_USAGE, "\"family\" is none of the file's families");
}

enum at_status at_json_read_config(const struct at_json_reader *reader, const json_t *values,
                                   struct at_json_row *row)
{
    const struct at_family *family;
    int64_t value;
    enum at_status status = find_family(reader, values, &row->family);

    if (status != AT_OK)
        return status;
    family = reader->recording.families[row->family].family;
    row->config.family = family;
    for (size_t i = 0; i < family->param_count; i++) {
        const struct at_param *param = &family->params[i];
        const json_t *given = json_object_get(values, param->name);

        value = param->neutral;
        if (given || !param->has_neutral
                ? !at_json_integer(given, &value) || !at_param_has_value(param, value)
                : false)
            return at_fail(reader->err, AT_USAGE, "no value for %.*s", AT_QUOTED(param->name, 80));
        row->config.values[i] = (int32_t)value;
    }
    return AT_OK;
}

enum at_status at_json_read_outcome(const struct at_json_reader *reader, const json_t *object,
                                    const char *const names[AT_OUTCOMES], const char *word,
                                    enum at_outcome *outcome)
{
    const json_t *told = reader->ours ? json_object_get(object, "outcome") : NULL;

    for (int i = 0; i < AT_OUTCOMES; i++) {
        if (!names[i] || strcmp(names[i], word) != 0 ||
            (told &&
             strcmp(at_outcome_names[i], json_is_string(told) ? json_string_value(told) : "")))
            continue;
        *outcome = (enum at_outcome)i;
        return AT_OK;
    }
    return at_fail(reader->err, AT_USAGE, "unknown failure \"%.*s\"", AT_QUOTED(word, 40));
}

static enum at_status read_sample(const struct at_json_reader *reader, const json_t *time,
                                  double unit_ns, double *sample_ns)
{
    double ns = json_is_number(time) ? json_number_value(time) * unit_ns : NAN;

    if (!(ns > 0 && ns <= (double)AT_RECORDING_NS_MAX)) /* also refuses NAN */
        return at_fail(reader->err, AT_USAGE,
                       "expected a time above 0 and of at most a quarter of an hour");
    *sample_ns = ns < 1 ? 1 : round(ns);
    return AT_OK;
}

enum at_status at_json_read_samples(const struct at_json_reader *reader, const json_t *times,
                                    const json_t *time, double unit_ns, struct at_recorded *result)
{
    size_t listed = json_array_size(times), count = listed > 0 ? listed : 1;
    double samples_ns[AT_RECORDING_SAMPLES_MAX];

    if (count > AT_RECORDING_SAMPLES_MAX)
        return at_fail(reader->err, AT_USAGE, "more than %d times", AT_RECORDING_SAMPLES_MAX);
    for (size_t i = 0; i < count; i++) {
        const json_t *sample = listed > 0 ? json_array_get(times, i) : time;
        enum at_status status = read_sample(reader, sample, unit_ns, &samples_ns[i]);

        if (status != AT_OK)
            return status;
    }
    result->samples_ns = at_memdup(samples_ns, count * sizeof *samples_ns);
    result->sample_count = count;
    result->time_ns = at_median(samples_ns, count);
    return AT_OK;
}

enum at_status at_json_add_row(struct at_json_reader *reader, const struct at_json_row *row)
{
    AT_PUSH(reader->rows, reader->row_count, reader->row_capacity, *row);
    return reader->row_count <= AT_RECORDING_CONFIGS_MAX
               ? AT_OK
               : at_fail(reader->err, AT_USAGE, "more than %d configs", AT_RECORDING_CONFIGS_MAX);
}

enum at_status at_json_read_cost(const struct at_json_reader *reader, const json_t *row,
                                 const json_t *times, const char *const *members, size_t count,
                                 double unit_ns, struct at_recorded *result)
{
    const json_t *own = json_object_get(row, cost_member);
    double sum = 0;

    if (reader->ours) {
        if (own && (!json_is_integer(own) || json_integer_value(own) < 1 ||
                    json_integer_value(own) > AT_RECORDING_NS_MAX))
            return at_fail(reader->err, AT_USAGE, "%s: expected a time in nanoseconds",
                           cost_member);
        result->cost_ns = json_integer_value(own); /* 0 if it is missing */
        return AT_OK;
    }
    for (size_t i = 0; i < count; i++)
        sum += json_number_value(json_object_get(times, members[i])); /* 0 if it is missing */
    sum *= unit_ns;
    if (sum >= 0.5 && sum <= (double)AT_RECORDING_NS_MAX)
        result->cost_ns = llround(sum);
    return AT_OK;
}

void at_json_set_evaluation(struct at_json_reader *reader)
{
    double sum_ns = 0;
    size_t known = 0;

    for (size_t i = 0; i < reader->row_count; i++) {
        sum_ns += (double)reader->rows[i].result.cost_ns;
        known += reader->rows[i].result.cost_ns > 0;
    }
    if (!reader->ours && known > 0)
        reader->recording.evaluation_ns = llround(sum_ns / (double)known);
}

/* ---- writing ---- */

json_t *at_json_config(const struct at_config *config)
{
    json_t *values = json_pack("{s:s}", "family", config->family->name);

    for (size_t i = 0; i < config->family->param_count; i++)
        json_object_set_new(values, config->family->params[i].name,
                            json_integer(config->values[i]));
    return values;
}

json_t *at_json_samples(const struct at_recorded *result)
{
    json_t *samples = json_array();

    for (size_t i = 0; i < result->sample_count; i++)
        json_array_append_new(samples, json_real(result->samples_ns[i] / AT_JSON_NS_PER_MS));
    return samples;
}

void at_json_set_cost(json_t *row, const struct at_recorded *result)
{
    if (result->cost_ns > 0)
        json_object_set_new(row, cost_member, json_integer(result->cost_ns));
}

enum at_status at_json_put(json_t *value, FILE *out, struct at_error *err)
{
    int failed = json_dumpf(value, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(DIGITS));

    json_decref(value);
    return failed ? at_fail(err, AT_INTERNAL, "the recording cannot be written as JSON") : AT_OK;
}

enum at_status at_json_check_names(const struct at_recording *recording, struct at_error *err)
{
    static const char *const taken[] = {
        "benchmark_time", "compile_time", "evaluation_ns",     "family",
        "framework_time", "outcome",      "strategy_time",     "time",
        "times",          "timestamp",    "verification_time",
    };

    for (size_t i = 0; i < recording->family_count; i++) {
        const struct at_family *family = recording->families[i].family;

        for (size_t j = 0; j < family->param_count; j++)
            for (size_t k = 0; k < AT_COUNT(taken); k++)
                if (strcmp(family->params[j].name, taken[k]) == 0)
                    return at_fail(err, AT_USAGE,
                                   "the parameter %s of %s has a name that means something else in "
                                   "this format",
                                   taken[k], family->name);
    }
    return AT_OK;
}
