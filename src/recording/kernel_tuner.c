/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings as cache files of Kernel Tuner, in version 1.1.0 of their schema
 * (github.com/KernelTuner/kernel_tuner, kernel_tuner/schema/cache/1.1.0/schema.json; process_cache,
 * store_cache and read_cache in kernel_tuner/util.py write and read them), and lists of its
 * results, which are only read. Version 1.0.0 and files without a version do not differ in what is
 * read. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "recording/json.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* Words instead of the time, by outcome. Kernel Tuner writes RuntimeFailedConfig only for
 * AT_LAUNCH; the other outcomes with that word would end its run. */
static const char *const errors[AT_OUTCOMES] = {
    [AT_CONSTRAINT] = "InvalidConfig",   [AT_COMPILE] = "CompilationFailedConfig",
    [AT_LAUNCH] = "RuntimeFailedConfig", [AT_TIMEOUT] = "RuntimeFailedConfig",
    [AT_CRASH] = "RuntimeFailedConfig",  [AT_WRONG] = "RuntimeFailedConfig",
    [AT_OOM] = "RuntimeFailedConfig",
};

/* The members of an entry with times, in milliseconds. The first ones make up its evaluation; the
 * last one is the time in which that run's strategy chose it. */
enum { TIMES = 5, COSTS = 4 };
static const char *const times[TIMES] = {"compile_time", "verification_time", "benchmark_time",
                                         "framework_time", "strategy_time"};

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
        status =
            at_json_read_cost(reader, entry, entry, times, COSTS, AT_JSON_NS_PER_MS, &row.result);
    if (status != AT_OK)
        return status;
    if (json_is_string(result))
        status = at_json_read_outcome(reader, entry, errors, json_string_value(result),
                                      &row.result.outcome);
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
    for (size_t i = 0; i < TIMES; i++)
        if (strcmp(times[i], name) == 0)
            return false;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *value = json_object_get(json_array_get(rows, i), name);

        if (!value || json_is_real(value))
            return false;
    }
    return true;
}

static enum at_status read_list(struct at_json_reader *reader, const json_t *root)
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

/* A cache, or the list of results. */
static enum at_status read(struct at_json_reader *reader, const json_t *root)
{
    enum at_status status = AT_OK;

    if (json_is_array(root))
        return read_list(reader, root);
    if (!reader->ours) {
        read_device(reader, root);
        status = read_space(reader, root);
    }
    return status == AT_OK ? read_entries(reader, root) : status;
}

/* ---- writing ---- */

/* Collect the parameters of all families; the family itself is the first. Kernel Tuner has one
 * space per file, so each config has a value for all of them: null for those of other families. */
static json_t *tune_params(const struct at_recording *recording)
{
    json_t *params = json_object(), *names = json_array();

    if (recording->kernel)
        json_decref(names);
    else
        json_object_set_new(params, "family", names);
    for (size_t i = 0; i < recording->family_count; i++) {
        const struct at_family *family = recording->families[i].family;

        if (!recording->kernel)
            json_array_append_new(names, json_string(family->name));
        for (size_t j = 0; j < family->param_count; j++)
            if (!json_object_get(params, family->params[j].name))
                json_object_set_new(params, family->params[j].name, json_array());
    }
    return params;
}

/* Set bit k of used[j] if a config of the family has the k-th value of the j-th parameter. */
static void find_used(const struct at_recording *recording, size_t which,
                      uint64_t used[AT_PARAMS_MAX])
{
    const struct at_family *family = recording->families[which].family;
    const struct at_config *configs = recording->space.configs;

    memset(used, 0, AT_PARAMS_MAX * sizeof *used);
    for (size_t i = 0; i < which; i++)
        configs += recording->families[i].config_count;
    for (size_t i = 0; i < recording->families[which].config_count; i++)
        for (size_t j = 0; j < family->param_count; j++)
            used[j] |= UINT64_C(1) << at_param_level(&family->params[j], configs[i].values[j]);
}

static bool has_value(const json_t *values, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(values); i++)
        if (json_equal(json_array_get(values, i), value))
            return true;
    return false;
}

static void add_value(json_t *values, json_t *value)
{
    if (!has_value(values, value))
        json_array_append(values, value);
    json_decref(value);
}

static void add_family_values(json_t *params, const struct at_recording *recording, size_t which)
{
    const struct at_family *family = recording->families[which].family;
    uint64_t used[AT_PARAMS_MAX];
    const char *name;
    json_t *values;

    find_used(recording, which, used);
    json_object_foreach(params, name, values)
    {
        size_t j = 0;

        while (j < family->param_count && strcmp(family->params[j].name, name) != 0)
            j++;
        for (size_t k = 0; j < family->param_count && k < family->params[j].value_count; k++)
            if (used[j] >> k & 1)
                add_value(values, json_integer(family->params[j].values[k]));
        if (j == family->param_count && strcmp(name, "family") != 0)
            add_value(values, json_null());
    }
}

/* Add to each parameter the values that configs have. Kernel Tuner enumerates all combinations, so
 * each further value would cost it time. */
static void fill_values(json_t *params, const struct at_recording *recording)
{
    for (size_t i = 0; i < recording->family_count; i++)
        add_family_values(params, recording, i);
}

/* The extents, columns first: Kernel Tuner takes whole numbers only. */
static json_t *problem_size(const struct at_problem *problem)
{
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, axes);
    json_t *size = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(size, json_integer(axes[i].extent));
    return size;
}

/* Another tuner's kernel has the problem behind its name, as the file spelled it. */
static json_t *problem_behind(const char *kernel, size_t *name)
{
    for (const char *at = strchr(kernel, ' '); at; at = strchr(at + 1, ' ')) {
        json_t *size = json_loads(at + 1, JSON_DECODE_ANY, NULL);

        *name = (size_t)(at - kernel);
        if (size)
            return size;
    }
    *name = strlen(kernel);
    return json_array();
}

/* The head that differs: of a transpose, or of another tuner's kernel. */
static void set_kernel(json_t *head, const struct at_recording *recording)
{
    const char *kernel = recording->kernel ? recording->kernel : "transpose";
    size_t length = strlen(kernel);
    json_t *size =
        recording->kernel ? problem_behind(kernel, &length) : problem_size(&recording->problem);

    json_object_set_new(head, "kernel_name", json_stringn(kernel, length));
    json_object_set_new(head, "problem_size", size);
}

/* Make an entry's key: the values as Python prints them, "tile,32,None". */
static json_t *key_of(const json_t *config)
{
    const char *name, *separator = "";
    json_t *value, *key;
    struct at_text_stream stream;
    char *text;
    size_t size;
    FILE *out = at_text_open(&stream);

    json_object_foreach((json_t *)config, name, value)
    {
        if (json_is_string(value))
            fprintf(out, "%s%s", separator, json_string_value(value));
        else if (json_is_integer(value))
            fprintf(out, "%s%lld", separator, (long long)json_integer_value(value));
        else
            fprintf(out, "%sNone", separator);
        separator = ",";
    }
    text = at_text_close(&stream, &size);
    key = json_string(text);
    free(text);
    return key;
}

/* Return the config with all parameters, in their order. */
static json_t *pad(const json_t *params, const struct at_config *config)
{
    json_t *own = at_json_config(config, true), *padded = json_object();
    const char *name;
    json_t *values;

    json_object_foreach((json_t *)params, name, values)
    {
        json_t *value = json_object_get(own, name);

        json_object_set_new(padded, name, value ? json_incref(value) : json_null());
    }
    json_decref(own);
    return padded;
}

/* The schema requires several times that are unknown for a single config: they are 0, and
 * framework_time is the time of the evaluation, or the mean. */
static enum at_status write_entry(const struct at_recording *recording, size_t row,
                                  const json_t *params, FILE *out, struct at_error *err)
{
    const struct at_recorded *result = &recording->results[row];
    json_t *entry = pad(params, &recording->space.configs[row]);
    enum at_status status = at_json_put(key_of(entry), out, err);

    fputs(": ", out);
    if (result->outcome == AT_CORRECT) {
        json_object_set_new(entry, "time", json_real(result->time_ns / AT_JSON_NS_PER_MS));
        json_object_set_new(entry, "times", at_json_samples(result));
    } else {
        json_object_set_new(entry, "time", json_string(errors[result->outcome]));
        json_object_set_new(entry, "outcome", json_string(at_outcome_names[result->outcome]));
    }
    for (size_t i = 0; i < TIMES; i++)
        json_object_set_new(entry, times[i], json_integer(0));
    json_object_set_new(entry, "framework_time",
                        json_real((double)at_recording_cost(recording, row) / AT_JSON_NS_PER_MS));
    if (!recording->kernel)
        at_json_set_cost(entry, result);
    json_object_set_new(entry, "timestamp", json_string("1970-01-01T00:00:00+00:00"));
    if (status == AT_OK)
        return at_json_put(entry, out, err);
    json_decref(entry);
    return status;
}

static enum at_status write_head(const struct at_recording *recording, json_t *params, FILE *out,
                                 struct at_error *err)
{
    json_t *keys = json_array(), *head, *value;
    const char *name;
    enum at_status status = AT_OK;

    json_object_foreach(params, name, value)
    {
        json_array_append_new(keys, json_string(name));
    }
    head = json_pack("{s:s, s:s}", "schema_version", "1.1.0", "device_name", recording->device);
    set_kernel(head, recording);
    json_object_set_new(head, "tune_params_keys", keys);
    json_object_set(head, "tune_params", params);
    json_object_set_new(head, "objective", json_string("time"));
    if (!recording->kernel)
        json_object_set_new(head, "autotune", at_json_about(recording));
    json_object_foreach(head, name, value)
    {
        fprintf(out, "\"%s\": ", name);
        if (status == AT_OK)
            status = at_json_put(json_incref(value), out, err);
        fputs(",\n", out);
    }
    json_decref(head);
    return status;
}

/* Each member and each entry has a line. The last two brackets are as Kernel Tuner writes them;
 * otherwise it would take the file for an unfinished one (correct_open_cache). */
static enum at_status write(const struct at_recording *recording, FILE *out, struct at_error *err)
{
    enum at_status status = at_json_check_names(recording, err);
    json_t *params;

    if (status != AT_OK)
        return status;
    params = tune_params(recording);
    fill_values(params, recording);
    fputs("{\n", out);
    status = write_head(recording, params, out, err);
    fputs("\"cache\": {", out);
    for (size_t i = 0; i < recording->space.count && status == AT_OK; i++) {
        fputs(i == 0 ? "\n" : ",\n", out);
        status = write_entry(recording, i, params, out, err);
    }
    fputs("}\n}\n", out);
    json_decref(params);
    return status;
}

const struct at_recording_format at_recording_kernel_tuner = {
    .name = "kernel-tuner",
    .summary = "a cache file of Kernel Tuner",
    .write = write,
    .member = "cache",
    .read = read,
};
