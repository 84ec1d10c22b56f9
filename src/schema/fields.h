/* SPDX-License-Identifier: Apache-2.0 */
/* Where a field is stored: for reading, writing and clearing. */
#ifndef AT_SCHEMA_FIELDS_H
#define AT_SCHEMA_FIELDS_H

#include "schema/schema.h"

static inline void *at_field_slot(const struct at_field *field, void *record)
{
    return (char *)record + field->offset;
}

/* Is this the value that a reader gives a missing field? */
bool at_field_is_absent(const struct at_field *field, const void *slot);

/* The size of an item in the list of such a field; 0 if it is not a list. */
static inline size_t at_field_item_size(const struct at_field *field)
{
    switch (field->kind) {
    case AT_FIELD_LOCATEDS:
        return sizeof(struct at_located);
    case AT_FIELD_INTS:
        return sizeof(int64_t);
    case AT_FIELD_NAMED_INTS:
        return sizeof(struct at_named_int);
    case AT_FIELD_OBJECTS:
        return field->object->size;
    default:
        return 0;
    }
}

#endif
