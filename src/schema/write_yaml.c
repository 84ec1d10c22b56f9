/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "schema/sink.h"

#include <string.h>
#include <yaml.h>

struct yaml_sink {
    struct at_sink sink; /* first, so that its pointer can be cast to this */
    yaml_emitter_t emitter;
};

static yaml_emitter_t *emitter_of(struct at_sink *sink)
{
    return &((struct yaml_sink *)sink)->emitter;
}

/* Emit the event, which is then libyaml's. made: libyaml has initialised it. */
static bool emit(struct at_sink *sink, yaml_event_t *event, int made)
{
    bool taken = made && yaml_emitter_emit(emitter_of(sink), event);

    if (!taken && (!made || emitter_of(sink)->error == YAML_MEMORY_ERROR))
        at_out_of_memory();
    return taken;
}

static bool is_map(enum at_shape shape)
{
    return shape == AT_SHAPE_MAP || shape == AT_SHAPE_PAIRS;
}

static bool begin(struct at_sink *sink, enum at_shape shape)
{
    yaml_event_t event;

    if (is_map(shape))
        return emit(sink, &event,
                    yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
                                                        shape == AT_SHAPE_PAIRS
                                                            ? YAML_FLOW_MAPPING_STYLE
                                                            : YAML_BLOCK_MAPPING_STYLE));
    return emit(sink, &event,
                yaml_sequence_start_event_initialize(
                    &event, NULL, NULL, 1,
                    shape == AT_SHAPE_ROW ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE));
}

static bool end(struct at_sink *sink, enum at_shape shape)
{
    yaml_event_t event;

    return emit(sink, &event,
                is_map(shape) ? yaml_mapping_end_event_initialize(&event)
                              : yaml_sequence_end_event_initialize(&event));
}

static bool scalar(struct at_sink *sink, const char *text, yaml_scalar_style_t style)
{
    yaml_event_t event;

    return emit(sink, &event,
                yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
                                             (int)strlen(text), 1, 1, style));
}

/* Compare without case; `small` has lower-case letters only. Not strcasecmp: it obeys the locale.
 */
static bool same_word(const char *word, const char *small)
{
    while (*small && (*word | ('a' - 'A')) == *small) {
        word++;
        small++;
    }
    return *word == *small;
}

/* Would every reader, also of YAML 1.1, read the text without quotes as text? All other types of
 * YAML 1.1 (yaml.org/type: numbers, times, merge keys ...) do not begin with a letter, except these
 * words. libyaml itself adds quotes where ": " and the like need them. */
static bool reads_as_text(const char *text)
{
    static const char *const others[] = {"y",   "n",    "yes",   "no",  "on",
                                         "off", "true", "false", "null"};
    bool letter = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');

    for (size_t i = 0; i < AT_COUNT(others); i++)
        if (same_word(text, others[i]))
            return false;
    return letter;
}

static bool text(struct at_sink *sink, const char *value)
{
    return scalar(sink, value,
                  reads_as_text(value) ? YAML_PLAIN_SCALAR_STYLE : YAML_SINGLE_QUOTED_SCALAR_STYLE);
}

static bool integer(struct at_sink *sink, int64_t value)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%lld", (long long)value);
    return scalar(sink, digits, YAML_PLAIN_SCALAR_STYLE);
}

static bool hex(struct at_sink *sink, const char *digits)
{
    return scalar(sink, digits, YAML_PLAIN_SCALAR_STYLE);
}

static bool flag(struct at_sink *sink, bool value)
{
    return scalar(sink, value ? "true" : "false", YAML_PLAIN_SCALAR_STYLE);
}

static int write_out(void *out, unsigned char *bytes, size_t size)
{
    return fwrite(bytes, 1, size, out) == size || out == stdout;
}

static bool begin_document(struct at_sink *sink)
{
    yaml_event_t event;

    return emit(sink, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING)) &&
           emit(sink, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
}

static bool end_document(struct at_sink *sink)
{
    yaml_event_t event;

    return emit(sink, &event, yaml_document_end_event_initialize(&event, 1)) &&
           emit(sink, &event, yaml_stream_end_event_initialize(&event));
}

static void delete_emitter(void *emitter)
{
    yaml_emitter_delete(emitter);
}

enum at_status at_schema_write_yaml(const struct at_schema *schema, const void *record, FILE *out,
                                    struct at_error *err)
{
    struct yaml_sink yaml = {.sink = {begin, end, text, integer, hex, flag, text}};
    struct at_cleanup cleanup;
    enum at_status status;

    if (!yaml_emitter_initialize(&yaml.emitter))
        at_out_of_memory();
    at_cleanup_push(&cleanup, delete_emitter, &yaml.emitter);
    yaml_emitter_set_output(&yaml.emitter, write_out, out);
    yaml_emitter_set_unicode(&yaml.emitter, 1);
    yaml_emitter_set_width(&yaml.emitter, -1); /* never fold a line */
    if (!begin_document(&yaml.sink)) {
        status = at_fail(err, AT_INTERNAL, "libyaml's emitter does not start");
        goto delete_it;
    }
    status = at_schema_walk(schema, record, &yaml.sink, err);
    if (status == AT_OK && (!end_document(&yaml.sink) || (fflush(out) != 0 && out != stdout)))
        status = at_fail(err, AT_INTERNAL, "%s cannot be written", schema->what);
delete_it:
    at_cleanup_pop(&cleanup);
    yaml_emitter_delete(&yaml.emitter);
    return status;
}
