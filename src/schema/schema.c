/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/schema.h"

#include "base/error.h"
#include "base/memory.h"
#include "schema/fields.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool all_zero(const char *bytes, size_t size)
{
    while (size > 0 && bytes[size - 1] == 0)
        size--;
    return size == 0;
}

bool at_field_is_absent(const struct at_field *field, const void *slot)
{
    switch (field->kind) {
    case AT_FIELD_INT:
    case AT_FIELD_HEX:
        return *(const int64_t *)slot == field->absent;
    case AT_FIELD_FLAG:
        return !*(const bool *)slot;
    case AT_FIELD_REAL:
        return isnan(*(const double *)slot);
    case AT_FIELD_CHOICE:
        return *(const int *)slot == 0;
    case AT_FIELD_CHARS:
        return *(const char *)slot == '\0';
    case AT_FIELD_TEXT:
    case AT_FIELD_WORD:
        return *(char *const *)slot == NULL;
    case AT_FIELD_LOCATED:
        return ((const struct at_located *)slot)->text == NULL;
    case AT_FIELD_OBJECT:
        return all_zero(slot, field->object->size);
    default:
        return ((const struct at_list *)slot)->count == 0;
    }
}

/* Free the data of an item of a list. */
static void clear_item(const struct at_field *field, void *item)
{
    switch (field->kind) {
    case AT_FIELD_LOCATEDS:
        at_free(((struct at_located *)item)->text);
        break;
    case AT_FIELD_OBJECTS:
        at_schema_clear(field->object, item);
        break;
    default:
        break;
    }
}

static void clear_list(const struct at_field *field, struct at_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        clear_item(field, (char *)list->items + i * at_field_item_size(field));
    at_free(list->items);
}

static void clear_field(const struct at_field *field, void *slot)
{
    switch (field->kind) {
    case AT_FIELD_INT:
    case AT_FIELD_HEX:
    case AT_FIELD_FLAG:
    case AT_FIELD_REAL:
    case AT_FIELD_CHOICE:
    case AT_FIELD_CHARS:
        break;
    case AT_FIELD_TEXT:
    case AT_FIELD_WORD:
        at_free(*(char **)slot);
        break;
    case AT_FIELD_LOCATED:
        at_free(((struct at_located *)slot)->text);
        break;
    case AT_FIELD_LOCATEDS:
    case AT_FIELD_INTS:
    case AT_FIELD_NAMED_INTS:
    case AT_FIELD_OBJECTS:
        clear_list(field, slot);
        break;
    case AT_FIELD_OBJECT:
        at_schema_clear(field->object, slot);
        break;
    }
}

void at_schema_clear(const struct at_schema *schema, void *record)
{
    for (size_t i = 0; i < schema->field_count; i++)
        if (!schema->fields[i].only_column)
            clear_field(&schema->fields[i], at_field_slot(&schema->fields[i], record));
    memset(record, 0, schema->size);
}

void at_schema_clear_records(const struct at_schema *schema, void *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        at_schema_clear(schema, (char *)records + i * schema->size);
    at_free(records);
}

/* One block instead of one for each name: a profile has tens of thousands of names. */
struct at_list at_named_ints_copy(const struct at_named_int *from, size_t count)
{
    size_t bytes = count * sizeof *from;
    struct at_named_int *items;
    char *names;

    for (size_t i = 0; i < count; i++)
        bytes += strlen(from[i].name) + 1;
    items = at_alloc_raw(bytes);
    names = (char *)(items + count);
    for (size_t i = 0; i < count; i++) {
        items[i] = (struct at_named_int){names, from[i].value};
        names = stpcpy(names, from[i].name) + 1;
    }
    return (struct at_list){items, count};
}
