/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings as T4 results, version 1.0.0 of the schema that several auto-tuners share
 * (github.com/odgaard/TuningSchema, results-schema.json), in Kernel Tuner's form
 * (kernel_tuner/schema/T4/1.0.0/results-schema.json), which adds "correct". */
#include "base/memory.h"
#include "recording/json.h"

#include <string.h>
#include <strings.h>

static const char *const invalidities[AT_OUTCOMES] = {
    [AT_CORRECT] = "correct",   [AT_CONSTRAINT] = "constraints",
    [AT_COMPILE] = "compile",   [AT_LAUNCH] = "runtime",
    [AT_TIMEOUT] = "timeout",   [AT_CRASH] = "runtime",
    [AT_WRONG] = "correctness", [AT_OOM] = "runtime",
};

/* ---- reading ---- */

/* Set *unit_ns to a unit of times, in any case. Kernel Tuner writes "milliseconds" (get_t4_results
 * in kernel_tuner/file_utils.py), benchmark_hub "miliseconds". */
static bool take_unit(const json_t *unit, double *unit_ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"milliseconds", 1e6}, {"miliseconds", 1e6}, {"ms", 1e6},
                 {"seconds", 1e9},      {"s", 1e9},           {"microseconds", 1e3},
                 {"us", 1e3},           {"nanoseconds", 1},   {"ns", 1}};

    for (size_t i = 0; i < AT_COUNT(units) && json_is_string(unit); i++)
        if (strcasecmp(json_string_value(unit), units[i].name) == 0) {
            *unit_ns = units[i].ns;
            return true;
        }
    return false;
}

/* Find the measurement of the first objective, "time" if none is named; NULL: there is none. */
static const json_t *find_time(const json_t *result)
{
    const json_t *measurements = json_object_get(result, "measurements");
    const char *name = json_string_value(json_array_get(json_object_get(result, "objectives"), 0));

    for (size_t i = 0; i < json_array_size(measurements); i++) {
        const json_t *measurement = json_array_get(measurements, i);
        const char *its_name = json_string_value(json_object_get(measurement, "name"));

        if (its_name && strcmp(its_name, name ? name : "time") == 0)
            return measurement;
    }
    return NULL;
}

static enum at_status read_result(struct at_json_reader *reader, const json_t *result,
                                  double unit_ns)
{
    /* Kernel Tuner writes "compilation" instead of the schema's "compilation_time". */
    static const char *const times[] = {"compilation_time", "compilation", "benchmark", "framework",
                                        "validation"};
    const char *invalidity = json_string_value(json_object_get(result, "invalidity"));
    const json_t *time = find_time(result);
    struct at_json_row row = {0};
    enum at_status status =
        at_json_read_config(reader, json_object_get(result, "configuration"), &row);

    take_unit(json_object_get(time, "unit"), &unit_ns); /* KTT writes it here alone */
    if (status == AT_OK)
        status = at_json_read_cost(reader, result, json_object_get(result, "times"), times,
                                   AT_COUNT(times), unit_ns, &row.result);
    if (status == AT_OK)
        status = at_json_read_outcome(reader, result, invalidities, invalidity ? invalidity : "",
                                      &row.result.outcome);
    if (status == AT_OK && row.result.outcome == AT_CORRECT)
        status = at_json_read_samples(reader,
                                      json_object_get(json_object_get(result, "times"), "runtimes"),
                                      json_object_get(time, "value"), unit_ns, &row.result);
    return status == AT_OK ? at_json_add_row(reader, &row) : status;
}

static enum at_status read_results(struct at_json_reader *reader, const json_t *root)
{
    const json_t *results = json_object_get(root, "results");
    const json_t *unit = json_object_get(json_object_get(root, "metadata"), "timeunit");
    double unit_ns = AT_JSON_NS_PER_MS;
    enum at_status status = AT_OK;

    if (unit && !take_unit(unit, &unit_ns))
        status = at_fail(reader->err, AT_USAGE,
                         "timeunit: unknown unit; known are milliseconds, seconds, microseconds "
                         "and nanoseconds");

    for (size_t i = 0; i < json_array_size(results) && status == AT_OK; i++) {
        const json_t *result = json_array_get(results, i);

        status = read_result(reader, result, unit_ns);
        if (status != AT_OK)
            at_fail_within(reader->err, "result %zu", i);
    }
    if (status == AT_OK)
        at_json_set_evaluation(reader);
    return status;
}

static enum at_status read_space(struct at_json_reader *reader, const json_t *root)
{
    reader->recording.kernel = at_strdup("a kernel that T4 does not name");
    reader->recording.device = at_strdup("a device that T4 does not name");
    reader->recording.setting = at_strdup("T4");
    return at_json_read_space(reader, json_object_get(root, "results"), "configuration", NULL);
}

static enum at_status read(struct at_json_reader *reader, const json_t *root)
{
    enum at_status status = reader->ours ? AT_OK : read_space(reader, root);

    return status == AT_OK ? read_results(reader, root) : status;
}

/* ---- writing ---- */

/* compilation_time and validation are unknown for a single config. "framework" is the time of the
 * evaluation, or the mean. */
static enum at_status write_result(const struct at_recording *recording, size_t row, FILE *out,
                                   struct at_error *err)
{
    const struct at_recorded *result = &recording->results[row];
    bool correct = result->outcome == AT_CORRECT;
    json_t *measurements = json_array(), *object;

    if (correct)
        json_array_append_new(measurements,
                              json_pack("{s:s, s:f, s:s}", "name", "time", "value",
                                        result->time_ns / AT_JSON_NS_PER_MS, "unit", "ms"));
    object = json_pack("{s:o, s:[s], s:{s:o, s:f}, s:s, s:i, s:o}", "configuration",
                       at_json_config(&recording->space.configs[row], !recording->kernel),
                       "objectives", "time", "times", "runtimes", at_json_samples(result),
                       "framework", (double)at_recording_cost(recording, row) / AT_JSON_NS_PER_MS,
                       "invalidity", invalidities[result->outcome], "correctness", correct,
                       "measurements", measurements);
    if (!correct)
        json_object_set_new(object, "outcome", json_string(at_outcome_names[result->outcome]));
    if (!recording->kernel)
        at_json_set_cost(object, result);
    return at_json_put(object, out, err);
}

static enum at_status write(const struct at_recording *recording, FILE *out, struct at_error *err)
{
    enum at_status status = at_json_check_names(recording, err);

    if (status != AT_OK)
        return status;
    fputs("{\n\"schema_version\": \"1.0.0\",\n\"metadata\": {\"timeunit\": \"milliseconds\"},\n",
          out);
    if (!recording->kernel) {
        fputs("\"autotune\": ", out);
        status = at_json_put(at_json_about(recording), out, err);
        fputs(",\n", out);
    }
    fputs("\"results\": [", out);
    for (size_t i = 0; i < recording->space.count && status == AT_OK; i++) {
        fputs(i == 0 ? "\n" : ",\n", out);
        status = write_result(recording, i, out, err);
    }
    fputs("\n]\n}\n", out);
    return status;
}

const struct at_recording_format at_recording_t4 = {
    .name = "t4",
    .summary = "T4 results",
    .write = write,
    .member = "results",
    .read = read,
};
