/* SPDX-License-Identifier: Apache-2.0 */
/* Reads recordings in any format, and finds the format to write. */
#include "base/memory.h"
#include "base/printable.h"
#include "recording/json.h"
#include "recording/parts.h"
#include "system/file.h"

#include <stdlib.h>
#include <string.h>

/* ---- recordings in JSON ---- */

/* Jansson needs up to some hundred bytes per value. */
enum { DEPTH_MAX = 16, VALUES_MAX = 4000000 };

/* ---- the text ---- */

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
    return at_fail(err, AT_USAGE, "%d:%d: %s", where.line, where.column, where.text);
}

/* ---- from rows to a recording ---- */

static int by_config(const void *left, const void *right)
{
    const struct at_json_row *a = left, *b = right;

    if (a->family != b->family)
        return a->family < b->family ? -1 : 1;
    return at_config_compare(&a->config, &b->config);
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

static const struct {
    const char *member; /* the member of the root that identifies the format */
    enum at_status (*read)(struct at_json_reader *reader, const json_t *root);
} kinds[] = {{"cache", at_kernel_tuner_read}, {"results", at_t4_read}};

static enum at_status read_root(struct at_json_reader *reader, const json_t *root)
{
    const json_t *about = json_object_get(root, "autotune");
    enum at_status status;

    if (json_is_array(root)) {
        status = at_kernel_tuner_read_list(reader, root);
        return status == AT_OK ? finish(reader) : status;
    }
    for (size_t i = 0; i < AT_COUNT(kinds); i++) {
        if (!json_object_get(root, kinds[i].member))
            continue;
        status = about ? at_json_read_about(reader, about) : AT_OK;
        if (status == AT_OK)
            status = kinds[i].read(reader, root);
        return status == AT_OK ? finish(reader) : status;
    }
    return at_fail(
        reader->err, AT_USAGE,
        "this is neither a Kernel Tuner cache, which has \"cache\", nor T4 results, which "
        "have \"results\", nor a list of tune_kernel's results");
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

struct at_choice at_recording_choice(size_t index)
{
    const struct at_recording_format *format = at_recording_formats[index];

    return (struct at_choice){.name = format ? format->name : NULL, .entry = format};
}

enum at_status at_recording_write_as(const struct at_recording *recording,
                                     const struct at_recording_format *format, FILE *out,
                                     struct at_error *err)
{
    if (recording->kernel)
        return at_fail(err, AT_USAGE,
                       "this is a recording of %.*s, not of a transpose: it can be replayed, but "
                       "not converted",
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
        status = at_recording_read_text(recording, path, text, size, err);
    free(text);
    return status;
}
