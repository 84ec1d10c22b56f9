/* SPDX-License-Identifier: Apache-2.0 */
/* T4 results (recording/t4.c names the schema): the measured winner and default of each problem.
 * Answers from another problem or device are left out, and so are predictions. */
#include "export/export.h"

#include <jansson.h>

/* 677280 ns are 0.67728 ms, so times need no more; neither do bandwidths. */
enum { DIGITS = 15 };

static json_t *measurement(const char *name, double value, const char *unit)
{
    return json_pack("{s:s, s:f, s:s}", "name", name, "value", value, "unit", unit);
}

static json_t *result_of(const char *problem, const struct at_result_record *record)
{
    const struct at_named_int *parameters = record->parameters.items;
    double time_ms = (double)record->time_ns / 1e6;
    json_t *config = json_pack("{s:s, s:s}", "problem", problem, "family", record->family);

    for (size_t i = 0; i < record->parameters.count; i++)
        json_object_set_new(config, parameters[i].name, json_integer(parameters[i].value));
    return json_pack("{s:o, s:[s], s:{s:[f]}, s:s, s:i, s:[o, o]}", "configuration", config,
                     "objectives", "time", "times", "runtimes", time_ms, "invalidity", "correct",
                     "correctness", 1, "measurements", measurement("time", time_ms, "ms"),
                     measurement("bandwidth", (double)record->bandwidth_MB_per_s / 1e3, "GB/s"));
}

static json_t *results_of(const struct at_export *export)
{
    json_t *results = json_array();

    for (size_t i = 0; i < export->count; i++) {
        const struct at_answer *answer = &export->items[i].answer;

        if (answer->tier != AT_TIER_EXACT || answer->predicted || !answer->entry ||
            !at_entry_is_measured(answer->entry))
            continue;
        json_array_append_new(results, result_of(answer->tuned_problem, &answer->entry->winner));
        if (answer->entry->fallback.time_ns > 0)
            json_array_append_new(results,
                                  result_of(answer->tuned_problem, &answer->entry->fallback));
    }
    return results;
}

static enum at_status write(const struct at_export *export, FILE *out, struct at_error *err)
{
    const char *device = export->targets[0].device.name;
    json_t *results = results_of(export), *root;
    int failed;

    if (json_array_size(results) == 0) {
        json_decref(results);
        return at_fail(err, AT_MISMATCH,
                       "none of these problems was measured on %s under the policy %s", device,
                       export->policy);
    }
    root = json_pack("{s:s, s:{s:s, s:s}, s:o}", "schema_version", "1.0.0", "metadata", "timeunit",
                     "milliseconds", "device", device, "results", results);
    failed = json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(DIGITS)) != 0 ||
             fputc('\n', out) == EOF;
    json_decref(root);
    return failed ? at_fail(err, AT_INTERNAL, "T4 results cannot be written") : AT_OK;
}

const struct at_export_format at_export_t4 = {
    .name = "t4",
    .summary =
        "T4 results, which other auto-tuners read. They have what was measured of the winner and "
        "the default of each problem, and nothing else.",
    .one_device = true,
    .write = write,
};
