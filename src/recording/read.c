/* SPDX-License-Identifier: Apache-2.0 */
/* Reads recordings: in the format of doc/recording-format.md, line by line, and in JSON. Finds the
 * format to write. */
#include "base/error.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/stats.h"
#include "recording/json.h"
#include "recording/parts.h"
#include "system/file.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    struct at_recording recording;
    char *next; /* the line after this one */
    struct at_source source;
    size_t family_capacity, config_capacity, result_capacity;
    struct at_error *err;
};

#define FAIL(reader, ...) at_fail_at((reader)->err, (reader)->source, __VA_ARGS__)

/* ---- lines and words ---- */

/* Return the next line that is no comment, without its newline, which may be Windows'; NULL after
 * the last one. */
static char *next_line(struct reader *reader)
{
    char *line, *end;

    do {
        line = reader->next;
        if (!*line)
            return NULL;
        end = strchr(line, '\n'); /* check_text: the last line has one */
        *end = '\0';
        reader->next = end + 1;
        if (end > line && end[-1] == '\r')
            end[-1] = '\0';
        reader->source.line++;
    } while (line[0] == '#');
    return line;
}

/* Cut off the first word, up to the separator; NULL if there is none. */
static char *cut(char **rest, char separator)
{
    char *word = *rest, *end;

    if (!word)
        return NULL;
    end = strchr(word, separator);
    if (end)
        *end++ = '\0';
    *rest = end;
    return word;
}

static bool cut_integer(char **rest, char separator, int64_t least, int64_t most, int64_t *value)
{
    const char *word = cut(rest, separator);

    return word && at_integer_parse(word, strlen(word), value) && *value >= least && *value <= most;
}

/* ---- the head ---- */

static enum at_status take_text(const struct reader *reader, char **text, const char *value)
{
    if (!at_recording_text_fits(value))
        return FAIL(reader, "expected a printable text without tabs");
    *text = at_strdup(value);
    return AT_OK;
}

static enum at_status take_time(const struct reader *reader, int64_t *ns, char *value)
{
    if (!cut_integer(&value, '\t', 0, AT_RECORDING_NS_MAX, ns) || value)
        return FAIL(reader, "expected a time in nanoseconds");
    return AT_OK;
}

static enum at_status check_version(const struct reader *reader, const char *value)
{
    int64_t version;

    if (!at_integer_parse(value, strlen(value), &version) || version != AT_RECORDING_VERSION)
        return FAIL(reader, "this is version %.*s of the format; only version %d can be read",
                    AT_QUOTED(value, 20), AT_RECORDING_VERSION);
    return AT_OK;
}

static enum at_status take_head(struct reader *reader, size_t index, char *value)
{
    struct at_recording *recording = &reader->recording;

    switch (index) {
    case 0:
        return check_version(reader, value);
    case 1:
        if (at_problem_parse(&recording->problem, value, reader->err) != AT_OK)
            return at_fail_within(reader->err, "%s:%d", reader->source.file, reader->source.line);
        return AT_OK;
    case 2:
        return take_text(reader, &recording->device, value);
    case 3:
        return take_text(reader, &recording->setting, value);
    case 4:
        return take_time(reader, &recording->copy_ns, value);
    default:
        return take_time(reader, &recording->evaluation_ns, value);
    }
}

static const char *const head_keys[] = {
    "autotune recording", "problem", "device", "setting", "copy_ns", "evaluation_ns"};

static enum at_status read_head(struct reader *reader)
{
    enum at_status status = AT_OK;

    for (size_t i = 0; i < AT_COUNT(head_keys) && status == AT_OK; i++) {
        char *line = next_line(reader), *key = cut(&line, '\t');

        if (!key || !line || strcmp(key, head_keys[i]) != 0)
            return i == 0 ? FAIL(reader, "this is no recording of autotune")
                          : FAIL(reader, "expected \"%s\", a tab and its value", head_keys[i]);
        status = take_head(reader, i, line);
    }
    return status;
}

/* ---- families ---- */

static enum at_status read_values(const struct reader *reader, struct at_param *param, char *values)
{
    size_t capacity = 0;
    int64_t value;
    char *neutral = values;

    values = cut(&neutral, '\t');
    while (values) {
        if (param->value_count == AT_PARAM_VALUES_MAX)
            return FAIL(reader, "more than %d values", AT_PARAM_VALUES_MAX);
        if (!cut_integer(&values, ' ', INT32_MIN, INT32_MAX, &value) ||
            at_param_has_value(param, value))
            return FAIL(reader, "expected values of 32 bits, no two alike");
        AT_PUSH(param->values, param->value_count, capacity, value);
    }
    if (!at_param_has_value(param, param->default_value))
        return FAIL(reader, "the default is none of the values");
    param->has_neutral = neutral != NULL;
    if (neutral && (!cut_integer(&neutral, '\t', INT32_MIN, INT32_MAX, &param->neutral) ||
                    neutral || !at_param_has_value(param, param->neutral)))
        return FAIL(reader, "the neutral value is none of the values");
    return AT_OK;
}

/* "param", NAME, default, values; then the neutral value, if there is one */
static enum at_status read_param(const struct reader *reader, struct at_family *family, char *line)
{
    struct at_param *param = &family->params[family->param_count];
    const char *name = cut(&line, '\t');

    if (!name || !at_recording_text_fits(name))
        return FAIL(reader, "expected a parameter's name");
    for (size_t i = 0; i < family->param_count; i++)
        if (strcmp(family->params[i].name, name) == 0)
            return FAIL(reader, "a second parameter named %.*s", AT_QUOTED(name, 40));
    family->param_count++;
    param->name = at_strdup(name);
    if (!cut_integer(&line, '\t', INT32_MIN, INT32_MAX, &param->default_value) || !line)
        return FAIL(reader, "expected a default, a tab and the values");
    return read_values(reader, param, line);
}

/* "launches" and their number, if there are several. */
static enum at_status read_launches(struct reader *reader, int64_t *launches)
{
    static const char key[] = "launches\t";
    char *line;

    *launches = 1;
    if (strncmp(reader->next, key, sizeof key - 1) != 0)
        return AT_OK;
    line = next_line(reader);
    cut(&line, '\t');
    if (!cut_integer(&line, '\t', 2, AT_RECORDING_LAUNCHES_MAX, launches) || line)
        return FAIL(reader, "expected 2 to %d launches", AT_RECORDING_LAUNCHES_MAX);
    return AT_OK;
}

/* "family", NAME, preference, hash, number of parameters, number of configs */
static enum at_status read_family(struct reader *reader, char *line, struct at_family **family,
                                  size_t *configs)
{
    struct at_recording *recording = &reader->recording;
    const char *key = cut(&line, '\t'), *name = cut(&line, '\t'), *hash;
    struct at_recorded_family added = {0};
    int64_t preference, params, count;
    bool right;
    enum at_status status = AT_OK;

    right = strcmp(key, "family") == 0 && name && at_recording_text_fits(name) &&
            cut_integer(&line, '\t', INT32_MIN, INT32_MAX, &preference);
    hash = cut(&line, '\t');
    right = right && hash && at_recording_text_fits(hash) &&
            cut_integer(&line, '\t', 0, AT_PARAMS_MAX, &params) &&
            cut_integer(&line, '\t', 0, AT_RECORDING_CONFIGS_MAX, &count) && !line;
    if (!right)
        return FAIL(reader, "expected \"family\", its name, preference and hash, and how many "
                            "parameters and configs it has");
    if (at_recording_find_family(recording, name) < recording->family_count)
        return FAIL(reader, "a second family named %.*s", AT_QUOTED(name, 60));
    if (recording->family_count == AT_RECORDING_FAMILIES_MAX)
        return FAIL(reader, "more than %d families", AT_RECORDING_FAMILIES_MAX);
    added.family = at_alloc(sizeof *added.family);
    added.family->name = at_strdup(name);
    added.family->preference = preference;
    added.family->params = at_alloc_array((size_t)params, sizeof *added.family->params);
    added.hash = at_strdup(hash);
    added.config_count = (size_t)count;
    status = read_launches(reader, &added.launches);
    AT_PUSH(recording->families, recording->family_count, reader->family_capacity, added);
    for (int64_t i = 0; i < params && status == AT_OK; i++) {
        char *param = next_line(reader);
        const char *word = cut(&param, '\t');

        status = word && strcmp(word, "param") == 0 ? read_param(reader, added.family, param)
                                                    : FAIL(reader, "expected \"param\"");
    }
    *family = added.family;
    *configs = added.config_count;
    return status;
}

/* ---- configs ---- */

static enum at_status read_config(const struct reader *reader, struct at_config *config,
                                  char *values)
{
    const struct at_family *family = config->family;
    int64_t value;

    for (size_t i = 0; i < family->param_count; i++) {
        if (!cut_integer(&values, ' ', INT32_MIN, INT32_MAX, &value) ||
            !at_param_has_value(&family->params[i], value))
            return FAIL(reader, "no value for %s", family->params[i].name);
        config->values[i] = (int32_t)value;
    }
    return !values || (!*values && family->param_count == 0)
               ? AT_OK
               : FAIL(reader, "more values than %s has parameters", family->name);
}

static enum at_status read_samples(const struct reader *reader, struct at_recorded *result,
                                   char *samples)
{
    size_t capacity = 0;
    int64_t value;

    while (samples) {
        if (result->sample_count == AT_RECORDING_SAMPLES_MAX)
            return FAIL(reader, "more than %d samples", AT_RECORDING_SAMPLES_MAX);
        if (!cut_integer(&samples, ' ', 1, AT_RECORDING_NS_MAX, &value))
            return FAIL(reader, "expected samples in nanoseconds, or an outcome");
        AT_PUSH(result->samples_ns, result->sample_count, capacity, (double)value);
    }
    result->time_ns = at_median(result->samples_ns, result->sample_count);
    return AT_OK;
}

static enum at_status read_result(const struct reader *reader, struct at_recorded *result,
                                  char *text)
{
    char *cost = text, *samples = cut(&cost, '\t');

    if (!samples)
        return FAIL(reader, "expected a tab and samples, or an outcome");
    if (cost && (!cut_integer(&cost, '\t', 1, AT_RECORDING_NS_MAX, &result->cost_ns) || cost))
        return FAIL(reader, "expected the time of the evaluation in nanoseconds");
    for (int i = AT_CORRECT + 1; i < AT_OUTCOMES; i++) {
        if (strcmp(samples, at_outcome_names[i]) != 0)
            continue;
        result->outcome = (enum at_outcome)i;
        return AT_OK;
    }
    result->outcome = AT_CORRECT;
    return read_samples(reader, result, samples);
}

/* Compare two configs of a family, by the places of their values in the parameters' lists. */
static int config_compare(const struct at_config *a, const struct at_config *b)
{
    for (size_t i = 0; i < a->family->param_count; i++) {
        size_t left = at_param_level(&a->family->params[i], a->values[i]);
        size_t right = at_param_level(&b->family->params[i], b->values[i]);

        if (left != right)
            return left < right ? -1 : 1;
    }
    return 0;
}

static enum at_status read_row(struct reader *reader, const struct at_family *family, bool first)
{
    struct at_recording *recording = &reader->recording;
    struct at_space *space = &recording->space;
    struct at_config config = {.family = family};
    struct at_recorded result = {0};
    char *line = next_line(reader), *values = cut(&line, '\t');
    size_t results = space->count;
    enum at_status status;

    if (!values)
        return FAIL(reader, "the file ends before the last config of %s", family->name);
    status = read_config(reader, &config, values);
    if (status == AT_OK && !first &&
        config_compare(&config, &space->configs[space->count - 1]) <= 0)
        status = FAIL(reader, "this config does not come after the one before it");
    if (status == AT_OK && space->count == AT_RECORDING_CONFIGS_MAX)
        status = FAIL(reader, "more than %d configs", AT_RECORDING_CONFIGS_MAX);
    if (status == AT_OK)
        status = read_result(reader, &result, line);
    if (status != AT_OK) {
        free(result.samples_ns);
        return status;
    }
    AT_PUSH(space->configs, space->count, reader->config_capacity, config);
    AT_PUSH(recording->results, results, reader->result_capacity, result);
    return AT_OK;
}

/* ---- the whole ---- */

static enum at_status read_families(struct reader *reader)
{
    struct at_family *family = NULL;
    size_t configs = 0;
    enum at_status status = AT_OK;
    char *line;

    while (status == AT_OK && (line = next_line(reader)) != NULL) {
        status = read_family(reader, line, &family, &configs);
        for (size_t i = 0; i < configs && status == AT_OK; i++)
            status = read_row(reader, family, i == 0);
    }
    return status;
}

static enum at_status check_text(const struct reader *reader, const char *text, size_t size)
{
    if (strlen(text) != size)
        return at_fail(reader->err, AT_USAGE, "%s: not a text file", reader->source.file);
    if (size == 0 || text[size - 1] != '\n')
        return at_fail(reader->err, AT_USAGE, "%s: %s", reader->source.file,
                       size == 0 ? "the file is empty" : "the last line does not end");
    return AT_OK;
}

/* Reads a recording from the text of the file at path, which is written to. */
static enum at_status recording_read_text(struct at_recording *recording, const char *path,
                                          char *text, size_t size, struct at_error *err)
{
    struct reader reader = {.next = text, .source = {path, 0, 1}, .err = err};
    enum at_status status = check_text(&reader, text, size);

    if (status == AT_OK)
        status = read_head(&reader);
    if (status == AT_OK)
        status = read_families(&reader);
    if (status == AT_OK && !at_recording_find_best(&reader.recording))
        status = FAIL(&reader, "no config in this recording is correct");
    if (status == AT_OK)
        *recording = reader.recording;
    else
        at_recording_clear(&reader.recording);
    return status;
}

/* ---- recordings in JSON ---- */

/* Jansson needs up to some hundred bytes per value. */
enum { DEPTH_MAX = 16, VALUES_MAX = 4000000 };

struct outline {
    int depth;    /* brackets still open at the end of the text */
    size_t whole; /* end of the last complete object at the third level; 0: none */
};

/* Find the outline from the brackets alone. Jansson checks the rest. */
static enum at_status look(struct outline *outline, const char *text, size_t size,
                           struct at_error *err)
{
    char open[DEPTH_MAX];
    size_t values = 1;
    bool quoted = false;

    *outline = (struct outline){0};
    for (size_t i = 0; i < size; i++) {
        char c = text[i];

        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            if (outline->depth == DEPTH_MAX)
                return at_fail(err, AT_USAGE, "more than %d levels", DEPTH_MAX);
            open[outline->depth++] = c;
            values++;
        } else if (c == '}' || c == ']') {
            outline->depth -= outline->depth > 0;
            if (c == '}' && outline->depth == 2 && open[1] == '{')
                outline->whole = i + 1;
        } else {
            values += c == ',';
        }
        if (values > VALUES_MAX)
            return at_fail(err, AT_USAGE, "more than %d values", VALUES_MAX);
    }
    return AT_OK;
}

/* Parse the text. Kernel Tuner appends an entry and a comma for each config, and closes the last
 * two objects at the end (store_cache and close_cache in kernel_tuner/util.py). The complete
 * entries of an unfinished file are used. */
static enum at_status load(json_t **root, const char *text, size_t size, struct at_error *err)
{
    struct outline outline;
    json_error_t where;
    char *mended = NULL;
    enum at_status status = look(&outline, text, size, err);

    if (status != AT_OK)
        return status;
    if (outline.depth > 0 && outline.whole > 0) {
        mended = at_format("%.*s}}", (int)outline.whole, text);
        text = mended;
        size = strlen(mended);
    }
    *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
    free(mended);
    if (*root)
        return AT_OK;
    if (json_error_code(&where) == json_error_out_of_memory || !where.text[0])
        return at_fail(err, AT_INTERNAL, "out of memory"); /* usually without a text */
    return at_fail(err, AT_USAGE, "%d:%d: %s%s", where.line, where.column, where.text,
                   strstr(where.text, "near ']'") || strstr(where.text, "near '}'")
                       ? "; JSON takes no comma before ] or }"
                       : "");
}

/* ---- from rows to a recording ---- */

static int by_config(const void *left, const void *right)
{
    const struct at_json_row *a = left, *b = right;

    if (a->family != b->family)
        return a->family < b->family ? -1 : 1;
    return config_compare(&a->config, &b->config);
}

static enum at_status check_rows(const struct at_json_reader *reader)
{
    for (size_t i = 1; i < reader->row_count; i++) {
        char *config;

        if (by_config(&reader->rows[i - 1], &reader->rows[i]) != 0)
            continue;
        config = at_config_format(&reader->rows[i].config);
        at_fail(reader->err, AT_USAGE, "the config %s of %s is listed twice", config,
                reader->rows[i].config.family->name);
        free(config);
        return AT_USAGE;
    }
    return AT_OK;
}

static void take_rows(struct at_json_reader *reader)
{
    struct at_recording *recording = &reader->recording;

    recording->space.count = reader->row_count;
    recording->space.configs = at_alloc_array(reader->row_count, sizeof *recording->space.configs);
    recording->results = at_alloc_array(reader->row_count, sizeof *recording->results);
    for (size_t i = 0; i < reader->row_count; i++) {
        recording->families[reader->rows[i].family].config_count++;
        recording->space.configs[i] = reader->rows[i].config;
        recording->results[i] = reader->rows[i].result;
    }
    reader->row_count = 0; /* the recording owns their samples now */
}

static enum at_status finish(struct at_json_reader *reader)
{
    enum at_status status;

    if (reader->row_count > 0)
        qsort(reader->rows, reader->row_count, sizeof *reader->rows, by_config);
    status = check_rows(reader);
    if (status != AT_OK)
        return status;
    take_rows(reader);
    return at_recording_find_best(&reader->recording)
               ? AT_OK
               : at_fail(reader->err, AT_USAGE, "no config in this recording is correct");
}

/* ---- the whole ---- */

/* One line per format, in the order in which --help names them. */
/* clang-format off */
#define EACH_FORMAT(each) \
    each(text) \
    each(kernel_tuner) \
    each(t4)
/* clang-format on */

#define DECLARE(name) extern const struct at_recording_format at_recording_##name;
EACH_FORMAT(DECLARE)

#define ADDRESS(name) &at_recording_##name,
const struct at_recording_format *const at_recording_formats[] = {EACH_FORMAT(ADDRESS) NULL};

static const struct at_recording_format *find_format(const json_t *root)
{
    for (size_t i = 0; at_recording_formats[i]; i++) {
        const struct at_recording_format *format = at_recording_formats[i];

        if (format->member && json_object_get(root, format->member))
            return format;
    }
    return json_is_array(root) ? &at_recording_kernel_tuner : NULL;
}

static enum at_status read_root(struct at_json_reader *reader, const json_t *root)
{
    const json_t *about = json_object_get(root, "autotune");
    const struct at_recording_format *format = find_format(root);
    enum at_status status = AT_OK;

    if (!format)
        return at_fail(
            reader->err, AT_USAGE,
            "this is neither a Kernel Tuner cache, which has \"cache\", nor T4 results, which "
            "have \"results\", nor a list of tune_kernel's results");
    if (about)
        status = at_json_read_about(reader, about);
    if (status == AT_OK)
        status = format->read(reader, root);
    return status == AT_OK ? finish(reader) : status;
}

/* Read a Kernel Tuner cache or T4 results. */
static enum at_status read_json(struct at_recording *recording, const char *path, const char *text,
                                size_t size, struct at_error *err)
{
    struct at_json_reader reader = {.err = err};
    json_t *root = NULL;
    enum at_status status = load(&root, text, size, err);

    if (status == AT_OK)
        status = read_root(&reader, root);
    json_decref(root);
    for (size_t i = 0; i < reader.row_count; i++)
        free(reader.rows[i].result.samples_ns);
    free(reader.rows);
    if (status == AT_OK) {
        *recording = reader.recording;
        return AT_OK;
    }
    at_recording_clear(&reader.recording);
    return at_fail_within(err, "%s", path);
}

/* ---- all formats ---- */

struct at_choice at_recording_choice(size_t index)
{
    const struct at_recording_format *format = at_recording_formats[index];

    return (struct at_choice){.name = format ? format->name : NULL, .entry = format};
}

enum at_status at_recording_write_as(const struct at_recording *recording,
                                     const struct at_recording_format *format, FILE *out,
                                     struct at_error *err)
{
    if (recording->kernel && !format->member)
        return at_fail(err, AT_USAGE,
                       "this is a recording of %.*s, not of a transpose, which this format is for: "
                       "--to kernel-tuner and t4 take any kernel",
                       AT_QUOTED(recording->kernel, 200));
    return format->write(recording, out, err);
}

enum at_status at_recording_read(struct at_recording *recording, const char *path,
                                 struct at_error *err)
{
    char *text = NULL, first;
    size_t size;
    enum at_status status = at_file_read_text(&text, &size, path, AT_RECORDING_BYTES_MAX, err);

    if (status != AT_OK)
        return status;
    first = text[strspn(text, " \t\r\n")];
    if (first == '{' || first == '[')
        status = read_json(recording, path, text, size, err);
    else
        status = recording_read_text(recording, path, text, size, err);
    free(text);
    return status;
}
