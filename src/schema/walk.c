/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "schema/fields.h"
#include "schema/sink.h"

#include <inttypes.h>
#include <string.h>

struct walk {
    struct at_sink *sink;
    struct at_error *err;
    int depth;
};

static enum at_status walk_record(struct walk *walk, const struct at_schema *schema,
                                  const void *record);

static enum at_status check(struct walk *walk, bool taken)
{
    return taken ? AT_OK : at_fail(walk->err, AT_INTERNAL, "the record cannot be written");
}

static enum at_status begin(struct walk *walk, enum at_shape shape)
{
    if (++walk->depth > AT_SCHEMA_DEPTH_MAX)
        return at_fail(walk->err, AT_INTERNAL, "the record has more than %d levels",
                       AT_SCHEMA_DEPTH_MAX);
    return check(walk, walk->sink->begin(walk->sink, shape));
}

static enum at_status end(struct walk *walk, enum at_shape shape)
{
    walk->depth--;
    return check(walk, walk->sink->end(walk->sink, shape));
}

/* With both bounds 0 there are none: the record is only written. */
static enum at_status check_bounds(struct walk *walk, const struct at_field *field, int64_t value)
{
    bool bounded = field->min != 0 || field->max != 0;

    if (bounded && (value < field->min || value > field->max))
        return at_fail(walk->err, AT_INTERNAL,
                       "%s is %" PRId64 ", not from %" PRId64 " to %" PRId64
                       ", and cannot be written",
                       field->key, value, field->min, field->max);
    return AT_OK;
}

static enum at_status walk_int(struct walk *walk, const struct at_field *field, int64_t value)
{
    enum at_status status = check_bounds(walk, field, value);
    char digits[24];

    if (status != AT_OK)
        return status;
    if (field->kind == AT_FIELD_INT)
        return check(walk, walk->sink->integer(walk->sink, value));
    snprintf(digits, sizeof digits, "%#" PRIx64, (uint64_t)value);
    return check(walk, walk->sink->hex(walk->sink, digits));
}

static enum at_status walk_choice(struct walk *walk, const struct at_field *field, int value)
{
    if (value < 0 || value >= field->max || !field->words[value])
        return at_fail(walk->err, AT_INTERNAL, "%s has no word for %d and cannot be written",
                       field->key, value);
    return check(walk, walk->sink->text(walk->sink, field->words[value]));
}

static enum at_status walk_text(struct walk *walk, const struct at_field *field, const char *text)
{
    if (!text)
        text = "";
    if (!at_text_is_printable(text, strlen(text)))
        return at_fail(walk->err, AT_INTERNAL, "%s is not printable text and cannot be written",
                       field->key);
    if ((field->word || field->kind == AT_FIELD_WORD) && !at_text_is_word(text, strlen(text)))
        return at_fail(walk->err, AT_INTERNAL, "%s is not a word and cannot be written",
                       field->key);
    return check(walk, walk->sink->text(walk->sink, text));
}

static enum at_status walk_named(struct walk *walk, const struct at_field *field,
                                 const struct at_named_int *named)
{
    if (!at_text_is_word(named->name, strlen(named->name)))
        return at_fail(walk->err, AT_INTERNAL, "a name in %s is not a word and cannot be written",
                       field->key);
    return check(walk, walk->sink->key(walk->sink, named->name) &&
                           walk->sink->integer(walk->sink, named->value));
}

static enum at_status walk_item(struct walk *walk, const struct at_field *field, const void *item)
{
    switch (field->kind) {
    case AT_FIELD_LOCATEDS:
        return walk_text(walk, field, ((const struct at_located *)item)->text);
    case AT_FIELD_NAMED_INTS:
        return walk_named(walk, field, item);
    case AT_FIELD_OBJECTS:
        return walk_record(walk, field->object, item);
    default:
        return check(walk, walk->sink->integer(walk->sink, *(const int64_t *)item));
    }
}

static enum at_status walk_list(struct walk *walk, const struct at_field *field,
                                const struct at_list *list)
{
    enum at_shape shape = field->kind == AT_FIELD_INTS         ? AT_SHAPE_ROW
                          : field->kind == AT_FIELD_NAMED_INTS ? AT_SHAPE_PAIRS
                                                               : AT_SHAPE_LIST;
    enum at_status status = begin(walk, shape);

    for (size_t i = 0; status == AT_OK && i < list->count; i++)
        status = walk_item(walk, field, (const char *)list->items + i * at_field_item_size(field));
    return status == AT_OK ? end(walk, shape) : status;
}

static enum at_status walk_value(struct walk *walk, const struct at_field *field, const void *slot)
{
    switch (field->kind) {
    case AT_FIELD_INT:
    case AT_FIELD_HEX:
        return walk_int(walk, field, *(const int64_t *)slot);
    case AT_FIELD_FLAG:
        return check(walk, walk->sink->flag(walk->sink, *(const bool *)slot));
    case AT_FIELD_CHOICE:
        return walk_choice(walk, field, *(const int *)slot);
    case AT_FIELD_CHARS:
        return walk_text(walk, field, slot);
    case AT_FIELD_TEXT:
    case AT_FIELD_WORD:
        return walk_text(walk, field, *(char *const *)slot);
    case AT_FIELD_LOCATED:
        return walk_text(walk, field, ((const struct at_located *)slot)->text);
    case AT_FIELD_OBJECT:
        return walk_record(walk, field->object, slot);
    case AT_FIELD_LOCATEDS:
    case AT_FIELD_INTS:
    case AT_FIELD_NAMED_INTS:
    case AT_FIELD_OBJECTS:
        return walk_list(walk, field, slot);
    case AT_FIELD_REAL:
        break;
    }
    return at_fail(walk->err, AT_INTERNAL, "%s has no known kind", field->key);
}

static enum at_status walk_record(struct walk *walk, const struct at_schema *schema,
                                  const void *record)
{
    enum at_status status = begin(walk, AT_SHAPE_MAP);

    for (size_t i = 0; status == AT_OK && i < schema->field_count; i++) {
        const struct at_field *field = &schema->fields[i];
        const void *slot = (const char *)record + field->offset;

        if (field->only_column || (field->optional && at_field_is_absent(field, slot)))
            continue;
        status = check(walk, walk->sink->key(walk->sink, field->key));
        if (status == AT_OK)
            status = walk_value(walk, field, slot);
    }
    return status == AT_OK ? end(walk, AT_SHAPE_MAP) : status;
}

enum at_status at_schema_walk(const struct at_schema *schema, const void *record,
                              struct at_sink *sink, struct at_error *err)
{
    struct walk walk = {.sink = sink, .err = err};

    return walk_record(&walk, schema, record);
}
