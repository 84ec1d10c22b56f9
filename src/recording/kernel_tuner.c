/* SPDX-License-Identifier: Apache-2.0 */
/* Reads cache files of Kernel Tuner, and lists of its results, as recordings. */
#include "recording/kernel_tuner.h"

#include "base/memory.h"
#include "base/printable.h"
#include "recording/json.h"

#include <stdlib.h>
#include <string.h>

const char *const at_kernel_tuner_errors[AT_OUTCOMES] = {
    [AT_CONSTRAINT] = "InvalidConfig",   [AT_COMPILE] = "CompilationFailedConfig",
    [AT_LAUNCH] = "RuntimeFailedConfig", [AT_TIMEOUT] = "RuntimeFailedConfig",
    [AT_CRASH] = "RuntimeFailedConfig",  [AT_WRONG] = "RuntimeFailedConfig",
    [AT_OOM] = "RuntimeFailedConfig",
};

const char *const at_kernel_tuner_times[AT_KERNEL_TUNER_TIMES] = {
    "compile_time", "verification_time", "benchmark_time", "framework_time", "strategy_time"};

/* Find a config's result. Newer versions report a failure in "__error__", older ones instead of the
 * time or another objective. */
static const json_t *find_result(const json_t *entry, const char *objective)
{
    const char *const members[] = {"__error__", "time", objective};
    const json_t *found = NULL;

    for (size_t i = 0; i < AT_COUNT(members) && !found; i++)
        found = json_object_get(entry, members[i]);
    return found;
}

static enum at_status read_entry(struct at_json_reader *reader, const json_t *entry,
                                 const char *objective)
{
    const json_t *result = find_result(entry, objective);
    struct at_json_row row = {0};
    enum at_status status = at_json_read_config(reader, entry, &row);

    if (status == AT_OK)
        status = at_json_read_cost(reader, entry, entry, at_kernel_tuner_times,
                                   AT_KERNEL_TUNER_COSTS, AT_JSON_NS_PER_MS, &row.result);
    if (status != AT_OK)
        return status;
    if (json_is_string(result))
        status = at_json_read_outcome(reader, entry, at_kernel_tuner_errors,
                                      json_string_value(result), &row.result.outcome);
    else
        status =
            at_json_read_samples(reader, json_object_get(entry, "times"),
                                 json_object_get(entry, "time"), AT_JSON_NS_PER_MS, &row.result);
    return status == AT_OK ? at_json_add_row(reader, &row) : status;
}

static enum at_status read_entries(struct at_json_reader *reader, const json_t *root)
{
    const char *objective = json_string_value(json_object_get(root, "objective"));
    const char *key;
    json_t *entry;

    json_object_foreach(json_object_get(root, "cache"), key, entry)
    {
        enum at_status status = read_entry(reader, entry, objective ? objective : "time");

        if (status != AT_OK)
            return at_fail_within(reader->err, "\"%.*s\"", AT_QUOTED(key, 200));
    }
    at_json_set_evaluation(reader);
    return AT_OK;
}

/* Read which kernel was tuned: its name, and its problem as the file spells it. */
static enum at_status read_kernel(struct at_json_reader *reader, const json_t *root,
                                  const char **name)
{
    const json_t *size = json_object_get(root, "problem_size");
    char *text;
    enum at_status status =
        at_json_text(reader, json_object_get(root, "kernel_name"), "kernel_name", name);

    if (status != AT_OK)
        return status;
    text = size ? json_dumps(size, JSON_ENCODE_ANY) : NULL;
    reader->recording.kernel =
        text && at_recording_text_fits(text) ? at_format("%s %s", *name, text) : at_strdup(*name);
    free(text);
    return AT_OK;
}

static enum at_status read_param(const struct at_json_reader *reader, struct at_family *family,
                                 const json_t *key, const json_t *params)
{
    struct at_param *param = &family->params[family->param_count];
    const char *name;
    enum at_status status = at_json_text(reader, key, "tune_params_keys", &name);

    if (status != AT_OK)
        return status;
    for (size_t i = 0; i < family->param_count; i++)
        if (strcmp(family->params[i].name, name) == 0)
            return at_fail(reader->err, AT_USAGE, "a second parameter named %.*s",
                           AT_QUOTED(name, 80));
    family->param_count++;
    param->name = at_strdup(name);
    status = at_json_read_values(reader, json_object_get(params, name), param);
    if (status == AT_OK)
        param->default_value = param->values[0];
    return status;
}

static enum at_status read_space(struct at_json_reader *reader, const json_t *root)
{
    const json_t *keys = json_object_get(root, "tune_params_keys");
    const json_t *params = json_object_get(root, "tune_params");
    size_t count = json_array_size(keys);
    const char *name;
    struct at_family *family;
    enum at_status status = read_kernel(reader, root, &name);

    if (status != AT_OK)
        return status;
    if (count == 0 || count > AT_PARAMS_MAX)
        return at_fail(reader->err, AT_USAGE, "tune_params_keys: expected 1 to %d", AT_PARAMS_MAX);
    family = at_json_foreign_family(reader, name, count);
    for (size_t i = 0; i < count && status == AT_OK; i++)
        status = read_param(reader, family, json_array_get(keys, i), params);
    return status;
}

/* A missing name of the device is no reason to refuse a file. */
static void read_device(struct at_json_reader *reader, const json_t *root)
{
    const char *name = json_string_value(json_object_get(root, "device_name"));

    reader->recording.device =
        at_strdup(name && at_recording_text_fits(name) ? name : "a device without a name");
    reader->recording.setting = at_strdup("Kernel Tuner");
}

/* ---- the list of results that tune_kernel returns ---- */

/* A parameter has a whole number in each row. Metrics are real numbers, and failures have none. */
static bool is_param(const json_t *rows, const char *name)
{
    static const char *const others[] = {"time", "times", "timestamp", "__error__"};

    for (size_t i = 0; i < AT_COUNT(others); i++)
        if (strcmp(others[i], name) == 0)
            return false;
    for (size_t i = 0; i < AT_KERNEL_TUNER_TIMES; i++)
        if (strcmp(at_kernel_tuner_times[i], name) == 0)
            return false;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *value = json_object_get(json_array_get(rows, i), name);

        if (!value || json_is_real(value))
            return false;
    }
    return true;
}

enum at_status at_kernel_tuner_read_list(struct at_json_reader *reader, const json_t *root)
{
    /* With the environment, as the function returns it, or alone. */
    bool whole = json_is_array(json_array_get(root, 0));
    const json_t *rows = whole ? json_array_get(root, 0) : root;
    enum at_status status;

    read_device(reader, whole ? json_array_get(root, 1) : NULL);
    reader->recording.kernel = at_strdup("a kernel that Kernel Tuner's results do not name");
    status = at_json_read_space(reader, rows, NULL, is_param);
    for (size_t i = 0; i < json_array_size(rows) && status == AT_OK; i++) {
        status = read_entry(reader, json_array_get(rows, i), "time");
        if (status != AT_OK)
            at_fail_within(reader->err, "result %zu", i);
    }
    at_json_set_evaluation(reader);
    return status;
}

enum at_status at_kernel_tuner_read(struct at_json_reader *reader, const json_t *root)
{
    enum at_status status = AT_OK;

    if (!reader->ours) {
        read_device(reader, root);
        status = read_space(reader, root);
    }
    return status == AT_OK ? read_entries(reader, root) : status;
}
