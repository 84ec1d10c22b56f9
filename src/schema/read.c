/* SPDX-License-Identifier: Apache-2.0 */
/* Reads YAML into a record, strictly as its table allows. */
#include "base/memory.h"
#include "base/printable.h"
#include "schema/events.h"
#include "schema/fields.h"
#include "schema/scalars.h"
#include "system/file.h"

#include <string.h>

enum { FIELDS_MAX = 64 }; /* the bits of a mask */

static enum at_status read_mapping(struct at_events *in, const struct at_schema *schema,
                                   void *record);

static enum at_status read_object(struct at_events *in, const struct at_field *field, void *slot)
{
    return read_mapping(in, field->object, slot);
}

static enum at_status check_count(const struct at_events *in, struct at_source start,
                                  const struct at_field *field, const struct at_list *list)
{
    if (list->count >= (size_t)field->min && list->count <= (size_t)field->max)
        return AT_OK;
    return at_fail_at(in->err, start, "%s: expected %lld to %lld items, found %zu", field->key,
                      (long long)field->min, (long long)field->max, list->count);
}

/* Append a zeroed item. From now on at_schema_clear frees its data. */
static void *add_item(struct at_list *list, size_t *capacity, size_t item_size)
{
    char *item;

    list->items = at_grow(list->items, list->count, capacity, item_size);
    item = (char *)list->items + list->count++ * item_size;
    return memset(item, 0, item_size);
}

static enum at_status read_list(struct at_events *in, const struct at_field *field, void *slot)
{
    static at_read_fn *const items[] = {[AT_FIELD_LOCATEDS] = at_read_located,
                                        [AT_FIELD_INTS] = at_read_integer_item,
                                        [AT_FIELD_OBJECTS] = read_object};
    struct at_list *list = slot;
    struct at_source start = in->event.source;
    size_t capacity = 0;
    enum at_status status;

    if (in->event.kind != AT_EVENT_LIST)
        return at_fail_expected(in, field->key, "a list");
    while ((status = at_events_next(in)) == AT_OK && in->event.kind != AT_EVENT_END) {
        void *item = add_item(list, &capacity, at_field_item_size(field));

        status = items[field->kind](in, field, item);
        if (status != AT_OK)
            return status;
    }
    return status == AT_OK ? check_count(in, start, field, list) : status;
}

static enum at_status read_named_int(struct at_events *in, const struct at_field *field,
                                     struct at_list *list, size_t *capacity)
{
    struct at_named_int *named;
    enum at_status status;

    if (in->event.kind != AT_EVENT_SCALAR || !at_text_is_word(in->event.text, in->event.size))
        return at_fail_expected(in, field->key, "a word as the key");
    named = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(named[i].name, in->event.text) == 0)
            return at_fail_at(in->err, in->event.source, "duplicate key \"%s\"", in->event.text);
    named = add_item(list, capacity, sizeof *named);
    named->name = at_strdup(in->event.text);
    status = at_events_next(in);
    return status == AT_OK ? at_read_integer_item(in, field, &named->value) : status;
}

static enum at_status read_pairs(struct at_events *in, const struct at_field *field,
                                 struct at_list *list)
{
    struct at_source start = in->event.source;
    size_t capacity = 0;
    enum at_status status;

    while ((status = at_events_next(in)) == AT_OK && in->event.kind != AT_EVENT_END) {
        status = read_named_int(in, field, list, &capacity);
        if (status != AT_OK)
            return status;
    }
    return status == AT_OK ? check_count(in, start, field, list) : status;
}

static enum at_status read_named_ints(struct at_events *in, const struct at_field *field,
                                      void *slot)
{
    struct at_list pairs = {0};
    const struct at_named_int *named;
    enum at_status status;

    if (in->event.kind != AT_EVENT_MAP)
        return at_fail_expected(in, field->key, "a mapping of words to integers");
    status = read_pairs(in, field, &pairs);
    named = pairs.items;
    if (status == AT_OK)
        *(struct at_list *)slot = at_named_ints_copy(named, pairs.count);
    for (size_t i = 0; i < pairs.count; i++)
        at_free(named[i].name);
    at_free(pairs.items);
    return status;
}

/* Write "a, b, c", for messages. */
static void list_keys(char *list, size_t size, const struct at_schema *schema)
{
    size_t length = 0;

    for (size_t i = 0; i < schema->field_count && length < size; i++)
        length += (size_t)snprintf(list + length, size - length, "%s%s", i ? ", " : "",
                                   schema->fields[i].key);
}

/* Find the field that the current event names. */
static enum at_status find_field(const struct at_events *in, const struct at_schema *schema,
                                 uint64_t seen, size_t *index)
{
    char keys[768];

    if (in->event.kind != AT_EVENT_SCALAR)
        return at_fail_expected(in, schema->what, "a key");
    for (size_t i = 0; i < schema->field_count; i++) {
        if (schema->fields[i].key[0] != in->event.text[0] ||
            strcmp(schema->fields[i].key, in->event.text) != 0)
            continue;
        if (seen >> i & 1)
            return at_fail_at(in->err, in->event.source, "duplicate key \"%s\"", in->event.text);
        *index = i;
        return AT_OK;
    }
    list_keys(keys, sizeof keys, schema);
    return at_fail_at(in->err, in->event.source, "unknown key \"%.*s\"; expected one of %s",
                      AT_QUOTED(in->event.text, 60), keys);
}

static enum at_status fill_absent(const struct at_events *in, struct at_source start,
                                  const struct at_schema *schema, void *record, uint64_t seen)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct at_field *field = &schema->fields[i];

        if (seen >> i & 1)
            continue;
        if (!field->optional)
            return at_fail_at(in->err, start, "%s lacks the key \"%s\"", schema->what, field->key);
        if (field->kind == AT_FIELD_INT || field->kind == AT_FIELD_HEX)
            *(int64_t *)at_field_slot(field, record) = field->absent;
    }
    return AT_OK;
}

static enum at_status read_mapping(struct at_events *in, const struct at_schema *schema,
                                   void *record)
{
    static at_read_fn *const readers[] = {
        [AT_FIELD_INT] = at_read_int,
        [AT_FIELD_HEX] = at_read_hex,
        [AT_FIELD_FLAG] = at_read_flag,
        [AT_FIELD_CHOICE] = at_read_choice,
        [AT_FIELD_CHARS] = at_read_chars,
        [AT_FIELD_TEXT] = at_read_text,
        [AT_FIELD_WORD] = at_read_word,
        [AT_FIELD_LOCATED] = at_read_located,
        [AT_FIELD_LOCATEDS] = read_list,
        [AT_FIELD_INTS] = read_list,
        [AT_FIELD_NAMED_INTS] = read_named_ints,
        [AT_FIELD_OBJECT] = read_object,
        [AT_FIELD_OBJECTS] = read_list,
    };
    struct at_source start = in->event.source;
    uint64_t seen = 0;
    size_t index;
    enum at_status status;

    if (schema->field_count > FIELDS_MAX)
        return at_fail(in->err, AT_INTERNAL, "%s has more than 64 fields", schema->what);
    if (in->event.kind != AT_EVENT_MAP)
        return at_fail_expected(in, schema->what, "keys and values");
    while ((status = at_events_next(in)) == AT_OK && in->event.kind != AT_EVENT_END) {
        const struct at_field *field;

        status = find_field(in, schema, seen, &index);
        if (status != AT_OK)
            return status;
        seen |= UINT64_C(1) << index;
        status = at_events_next(in);
        if (status != AT_OK)
            return status;
        field = &schema->fields[index];
        status = readers[field->kind](in, field, at_field_slot(field, record));
        if (status != AT_OK)
            return status;
    }
    return status == AT_OK ? fill_absent(in, start, schema, record, seen) : status;
}

enum at_status at_schema_read(const struct at_schema *schema, void *record, const char *name,
                              const char *text, size_t size, struct at_error *err)
{
    struct at_events in;
    enum at_status status = at_events_open(&in, name, text, size, err);

    if (status != AT_OK)
        return status;
    status = at_events_next(&in);
    if (status == AT_OK)
        status = read_mapping(&in, schema, record);
    if (status == AT_OK)
        status = at_events_next(&in); /* refuses a second document */
    if (status != AT_OK)
        at_schema_clear(schema, record);
    at_events_close(&in);
    return status;
}

enum at_status at_schema_read_file(const struct at_schema *schema, void *record, const char *path,
                                   struct at_error *err)
{
    char *text;
    size_t size;
    enum at_status status = at_file_read_text(&text, &size, path, AT_SCHEMA_BYTES_MAX, err);

    if (status != AT_OK)
        return status;
    status = at_schema_read(schema, record, path, text, size, err);
    at_free(text);
    return status;
}
