/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "schema/sink.h"

#include <jansson.h>

struct json_sink {
    struct at_sink sink;                   /* first, so that its pointer can be cast to this */
    json_t *root;                          /* owns all values */
    json_t *open[AT_SCHEMA_DEPTH_MAX + 1]; /* from the root to the value being filled */
    int depth;
    const char *key; /* of the next value, in a map */
};

/* Add the value to the one being filled, which then owns it. Text is printable and maps have keys,
 * so jansson fails only if memory runs out. */
static bool add(struct json_sink *json, json_t *value)
{
    json_t *parent = json->depth ? json->open[json->depth - 1] : NULL;

    if (!value)
        at_out_of_memory();
    if (!parent) {
        json->root = value;
        return true;
    }
    if (json_is_object(parent) ? json_object_set_new(parent, json->key, value) != 0
                               : json_array_append_new(parent, value) != 0)
        at_out_of_memory();
    return true;
}

static bool begin(struct at_sink *sink, enum at_shape shape)
{
    struct json_sink *json = (struct json_sink *)sink;
    json_t *value = shape == AT_SHAPE_MAP || shape == AT_SHAPE_PAIRS ? json_object() : json_array();

    if (!add(json, value))
        return false;
    json->open[json->depth++] = value; /* at_schema_walk limits the depth */
    return true;
}

static bool end(struct at_sink *sink, enum at_shape shape)
{
    (void)shape;
    ((struct json_sink *)sink)->depth--;
    return true;
}

static bool key(struct at_sink *sink, const char *value)
{
    ((struct json_sink *)sink)->key = value;
    return true;
}

static bool text(struct at_sink *sink, const char *value)
{
    return add((struct json_sink *)sink, json_string(value));
}

static bool integer(struct at_sink *sink, int64_t value)
{
    return add((struct json_sink *)sink, json_integer(value));
}

static bool flag(struct at_sink *sink, bool value)
{
    return add((struct json_sink *)sink, json_boolean(value));
}

static void drop(void *data)
{
    json_decref(((struct json_sink *)data)->root);
}

static enum at_status dump(const struct at_schema *schema, const void *record, size_t layout,
                           FILE *out, struct at_error *err)
{
    /* JSON has no hexadecimal numbers: they are text. */
    struct json_sink json = {.sink = {begin, end, key, integer, text, flag, text}};
    struct at_cleanup cleanup;
    enum at_status status;

    at_cleanup_push(&cleanup, drop, &json);
    status = at_schema_walk(schema, record, &json.sink, err);
    if (status == AT_OK && json_dumpf(json.root, out, layout) != 0 && !ferror(out))
        at_out_of_memory();
    if (status == AT_OK && (fputc('\n', out) == EOF || fflush(out) != 0) && out != stdout)
        status = at_fail(err, AT_INTERNAL, "%s cannot be written", schema->what);
    at_cleanup_pop(&cleanup);
    drop(&json);
    return status;
}

enum at_status at_schema_write_json(const struct at_schema *schema, const void *record, FILE *out,
                                    struct at_error *err)
{
    return dump(schema, record, JSON_INDENT(2), out, err);
}

enum at_status at_schema_write_json_line(const struct at_schema *schema, const void *record,
                                         FILE *out, struct at_error *err)
{
    return dump(schema, record, JSON_COMPACT, out, err);
}
