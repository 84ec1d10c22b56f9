/* SPDX-License-Identifier: Apache-2.0 */
/* What the formats in JSON share. */
#include "recording/json.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- configs and results ---- */

/* 677280 ns are 0.67728 ms. 15 digits are enough for the longest sample, and show no rounding
 * errors.
 */
enum { DIGITS = 15 };

static const char cost_member[] = "evaluation_ns"; /* of our rows */

/* ---- reading ---- */

/* Read an integer of 32 bits, or true or false. Returns false for anything else. */
static bool at_json_integer(const json_t *value, int64_t *number)
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

enum at_status at_json_read_config(const struct at_json_reader *reader, const json_t *values,
                                   struct at_json_row *row)
{
    const struct at_family *family;
    const char *name = json_string_value(json_object_get(values, "family"));
    int64_t value;

    row->family = 0;
    if (reader->ours) {
        if (name)
            row->family = at_recording_find_family(&reader->recording, name);
        if (!name || row->family == reader->recording.family_count)
            return at_fail(reader->err, AT_USAGE, "\"family\" is none of the file's families");
    }
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

json_t *at_json_config(const struct at_config *config, bool with_family)
{
    json_t *values = json_object();

    if (with_family)
        json_object_set_new(values, "family", json_string(config->family->name));

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

/* ---- the member "autotune", which has all that the two formats have no place for ---- */

/* The version of the member. New members of configs do not raise it: older readers ignore them. */
enum { ABOUT_VERSION = 1 };

/* ---- reading ---- */

/* Copy a text that the object must have. */
static enum at_status read_text(const struct at_json_reader *reader, const json_t *object,
                                const char *member, char **copy)
{
    const char *text;
    enum at_status status = at_json_text(reader, json_object_get(object, member), member, &text);

    if (status == AT_OK)
        *copy = at_strdup(text);
    return status;
}

static enum at_status read_number(const struct at_json_reader *reader, const json_t *object,
                                  const char *member, int64_t least, int64_t most, int64_t *number)
{
    const json_t *value = json_object_get(object, member);

    if (!json_is_integer(value) || json_integer_value(value) < least ||
        json_integer_value(value) > most)
        return at_fail(reader->err, AT_USAGE, "%s: expected a whole number from %lld to %lld",
                       member, (long long)least, (long long)most);
    *number = json_integer_value(value);
    return AT_OK;
}

enum at_status at_json_read_values(const struct at_json_reader *reader, const json_t *values,
                                   struct at_param *param)
{
    size_t count = json_array_size(values);
    int64_t value;

    if (count == 0 || count > AT_PARAM_VALUES_MAX)
        return at_fail(reader->err, AT_USAGE, "%.*s: expected 1 to %d values",
                       AT_QUOTED(param->name, 80), AT_PARAM_VALUES_MAX);
    param->values = at_alloc_array(count, sizeof *param->values);
    for (; param->value_count < count; param->value_count++) {
        if (!at_json_integer(json_array_get(values, param->value_count), &value) ||
            at_param_has_value(param, value))
            return at_fail(reader->err, AT_USAGE,
                           "%.*s: expected whole numbers of 32 bits, no two alike",
                           AT_QUOTED(param->name, 80));
        param->values[param->value_count] = value;
    }
    return AT_OK;
}

static enum at_status read_param(const struct at_json_reader *reader, struct at_family *family,
                                 const json_t *object)
{
    struct at_param *param = &family->params[family->param_count];
    enum at_status status = read_text(reader, object, "name", &param->name);

    if (status != AT_OK)
        return status;
    family->param_count++;
    status = at_json_read_values(reader, json_object_get(object, "values"), param);
    if (status == AT_OK)
        status =
            read_number(reader, object, "default", INT32_MIN, INT32_MAX, &param->default_value);
    for (size_t i = 0; i + 1 < family->param_count && status == AT_OK; i++)
        if (strcmp(family->params[i].name, param->name) == 0)
            status = at_fail(reader->err, AT_USAGE, "a second parameter named %.*s",
                             AT_QUOTED(param->name, 80));
    if (status == AT_OK && !at_param_has_value(param, param->default_value))
        status = at_fail(reader->err, AT_USAGE, "%.*s: the default is none of the values",
                         AT_QUOTED(param->name, 80));
    param->has_neutral = json_object_get(object, "neutral") != NULL;
    if (status == AT_OK && param->has_neutral)
        status = read_number(reader, object, "neutral", INT32_MIN, INT32_MAX, &param->neutral);
    if (status == AT_OK && param->has_neutral && !at_param_has_value(param, param->neutral))
        status = at_fail(reader->err, AT_USAGE, "%.*s: the neutral value is none of the values",
                         AT_QUOTED(param->name, 80));
    return status;
}

static enum at_status read_params(const struct at_json_reader *reader, struct at_family *family,
                                  const json_t *list)
{
    size_t count = json_array_size(list);
    enum at_status status = AT_OK;

    if (!json_is_array(list) || count > AT_PARAMS_MAX)
        return at_fail(reader->err, AT_USAGE, "params: expected a list of at most %d",
                       AT_PARAMS_MAX);
    family->params = at_alloc_array(count, sizeof *family->params);
    for (size_t i = 0; i < count && status == AT_OK; i++)
        status = read_param(reader, family, json_array_get(list, i));
    return status;
}

static enum at_status read_family(struct at_json_reader *reader, const json_t *object)
{
    struct at_recording *recording = &reader->recording;
    struct at_recorded_family *recorded = &recording->families[recording->family_count];
    enum at_status status;

    recorded->family = at_alloc(sizeof *recorded->family);
    recording->family_count++;
    status = read_text(reader, object, "name", &recorded->family->name);
    if (status == AT_OK)
        status = read_text(reader, object, "hash", &recorded->hash);
    if (status == AT_OK)
        status = read_number(reader, object, "preference", INT32_MIN, INT32_MAX,
                             &recorded->family->preference);
    recorded->launches = 1;
    if (status == AT_OK && json_object_get(object, "launches"))
        status = read_number(reader, object, "launches", 2, AT_RECORDING_LAUNCHES_MAX,
                             &recorded->launches);
    if (status == AT_OK &&
        at_recording_find_family(recording, recorded->family->name) + 1 < recording->family_count)
        status = at_fail(reader->err, AT_USAGE, "a second family named %.*s",
                         AT_QUOTED(recorded->family->name, 80));
    if (status == AT_OK)
        status = read_params(reader, recorded->family, json_object_get(object, "params"));
    return status;
}

static enum at_status read_families(struct at_json_reader *reader, const json_t *list)
{
    size_t count = json_array_size(list);
    enum at_status status = AT_OK;

    if (count == 0 || count > AT_RECORDING_FAMILIES_MAX)
        return at_fail(reader->err, AT_USAGE, "families: expected 1 to %d",
                       AT_RECORDING_FAMILIES_MAX);
    reader->recording.families = at_alloc_array(count, sizeof *reader->recording.families);
    for (size_t i = 0; i < count && status == AT_OK; i++)
        status = read_family(reader, json_array_get(list, i));
    return status;
}

enum at_status at_json_read_about(struct at_json_reader *reader, const json_t *about)
{
    struct at_recording *recording = &reader->recording;
    const char *problem;
    int64_t version;
    enum at_status status =
        read_number(reader, about, "version", ABOUT_VERSION, ABOUT_VERSION, &version);

    reader->ours = true;
    if (status == AT_OK)
        status = at_json_text(reader, json_object_get(about, "problem"), "problem", &problem);
    if (status == AT_OK)
        status = at_problem_parse(&recording->problem, problem, reader->err);
    if (status == AT_OK)
        status = read_text(reader, about, "device", &recording->device);
    if (status == AT_OK)
        status = read_text(reader, about, "setting", &recording->setting);
    if (status == AT_OK)
        status = read_number(reader, about, "copy_ns", 0, AT_RECORDING_NS_MAX, &recording->copy_ns);
    if (status == AT_OK)
        status = read_number(reader, about, "evaluation_ns", 0, AT_RECORDING_NS_MAX,
                             &recording->evaluation_ns);
    if (status == AT_OK)
        status = read_families(reader, json_object_get(about, "families"));
    return status == AT_OK ? AT_OK : at_fail_within(reader->err, "\"autotune\"");
}

struct at_family *at_json_foreign_family(struct at_json_reader *reader, const char *name,
                                         size_t param_count)
{
    struct at_recording *recording = &reader->recording;
    struct at_family *family = at_alloc(sizeof *family);

    family->name = at_strdup(name);
    family->params = at_alloc_array(param_count, sizeof *family->params);
    recording->families = at_alloc(sizeof *recording->families);
    recording->families[0] =
        (struct at_recorded_family){.family = family, .hash = at_strdup(""), .launches = 1};
    recording->family_count = 1;
    return family;
}

/* ---- the space of a file that does not list it: the values of its configs ---- */

static enum at_status add_value(const struct at_json_reader *reader, struct at_param *param,
                                const json_t *value)
{
    int64_t number;
    size_t at;

    if (!at_json_integer(value, &number))
        return at_fail(reader->err, AT_USAGE, "%.*s: expected a whole number of 32 bits",
                       AT_QUOTED(param->name, 80));
    if (at_param_has_value(param, number))
        return AT_OK;
    if (param->value_count == AT_PARAM_VALUES_MAX)
        return at_fail(reader->err, AT_USAGE, "%.*s: more than %d values",
                       AT_QUOTED(param->name, 80), AT_PARAM_VALUES_MAX);
    for (at = param->value_count++; at > 0 && param->values[at - 1] > number; at--)
        param->values[at] = param->values[at - 1];
    param->values[at] = number;
    return AT_OK;
}

static enum at_status add_values(const struct at_json_reader *reader, struct at_family *family,
                                 const json_t *configuration)
{
    enum at_status status = AT_OK;

    for (size_t i = 0; i < family->param_count && status == AT_OK; i++)
        status = add_value(reader, &family->params[i],
                           json_object_get(configuration, family->params[i].name));
    return status;
}

/* The object with the parameters' values of a row; NULL: it has none. */
static const json_t *values_of(const json_t *rows, size_t row, const char *member)
{
    const json_t *object = json_array_get(rows, row);

    return member ? json_object_get(object, member) : object;
}

static enum at_status name_params(const struct at_json_reader *reader, struct at_family *family,
                                  const json_t *rows, const char *member,
                                  bool (*is_param)(const json_t *rows, const char *name))
{
    static const char expected[] =
        "the first result: expected a configuration of 1 to %d parameters";
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)values_of(rows, 0, member), name, value)
    {
        struct at_param *param = &family->params[family->param_count];

        if (is_param && !is_param(rows, name))
            continue;
        if (family->param_count == AT_PARAMS_MAX)
            return at_fail(reader->err, AT_USAGE, expected, AT_PARAMS_MAX);
        if (!at_recording_text_fits(name))
            return at_fail(reader->err, AT_USAGE, "the name of a parameter cannot be shown");
        family->param_count++;
        param->name = at_strdup(name);
        param->values = at_alloc_array(AT_PARAM_VALUES_MAX, sizeof *param->values);
    }
    return family->param_count > 0 ? AT_OK
                                   : at_fail(reader->err, AT_USAGE, expected, AT_PARAMS_MAX);
}

enum at_status at_json_read_space(struct at_json_reader *reader, const json_t *rows,
                                  const char *member,
                                  bool (*is_param)(const json_t *rows, const char *name))
{
    struct at_family *family = at_json_foreign_family(reader, "kernel", AT_PARAMS_MAX);
    enum at_status status = name_params(reader, family, rows, member, is_param);

    for (size_t i = 0; i < json_array_size(rows) && status == AT_OK; i++) {
        status = add_values(reader, family, values_of(rows, i, member));
        if (status != AT_OK)
            at_fail_within(reader->err, "result %zu", i);
    }
    for (size_t i = 0; i < family->param_count && status == AT_OK; i++)
        family->params[i].default_value = family->params[i].values[0];
    return status;
}

/* ---- writing ---- */

static json_t *params_of(const struct at_family *family)
{
    json_t *params = json_array();

    for (size_t i = 0; i < family->param_count; i++) {
        const struct at_param *param = &family->params[i];
        json_t *values = json_array(), *object;

        for (size_t j = 0; j < param->value_count; j++)
            json_array_append_new(values, json_integer(param->values[j]));
        object = json_pack("{s:s, s:I, s:o}", "name", param->name, "default",
                           (json_int_t)param->default_value, "values", values);
        if (param->has_neutral)
            json_object_set_new(object, "neutral", json_integer(param->neutral));
        json_array_append_new(params, object);
    }
    return params;
}

json_t *at_json_about(const struct at_recording *recording)
{
    char *problem = at_problem_format(&recording->problem);
    json_t *families = json_array(), *about;

    for (size_t i = 0; i < recording->family_count; i++) {
        const struct at_recorded_family *recorded = &recording->families[i];
        json_t *family = json_pack("{s:s, s:I, s:s, s:o}", "name", recorded->family->name,
                                   "preference", (json_int_t)recorded->family->preference, "hash",
                                   recorded->hash, "params", params_of(recorded->family));

        if (recorded->launches > 1)
            json_object_set_new(family, "launches", json_integer(recorded->launches));
        json_array_append_new(families, family);
    }
    about = json_pack("{s:i, s:s, s:s, s:s, s:I, s:I, s:o}", "version", ABOUT_VERSION, "problem",
                      problem, "device", recording->device, "setting", recording->setting,
                      "copy_ns", (json_int_t)recording->copy_ns, "evaluation_ns",
                      (json_int_t)recording->evaluation_ns, "families", families);
    free(problem);
    return about;
}
