/* SPDX-License-Identifier: Apache-2.0 */
/* Shorthand for a schema's table: fields of `struct RECORD`, with the member's name as the key.
 * More designated initialisers may follow, such as AT_OPTIONAL. */
#ifndef AT_SCHEMA_TABLE_H
#define AT_SCHEMA_TABLE_H

#include "base/memory.h"
#include "schema/schema.h"

#define AT_FIELD(record, name, member, ...)                                                        \
    {                                                                                              \
        .key = (name), .offset = offsetof(struct record, member), __VA_ARGS__                      \
    }
#define AT_INT(record, member, low, high, ...)                                                     \
    AT_FIELD(record, #member, member, .kind = AT_FIELD_INT, .min = (low), .max = (high),           \
             __VA_ARGS__)
#define AT_HEX(record, member, high, ...)                                                          \
    AT_FIELD(record, #member, member, .kind = AT_FIELD_HEX, .max = (high), __VA_ARGS__)
#define AT_FLAG(record, member, ...)                                                               \
    AT_FIELD(record, #member, member, .kind = AT_FIELD_FLAG, __VA_ARGS__)
/* An enum, whose names are in the array `names`. */
#define AT_CHOICE(record, member, names, ...)                                                      \
    AT_FIELD(record, #member, member, .kind = AT_FIELD_CHOICE, .words = (names),                   \
             .max = (int64_t)AT_COUNT(names), __VA_ARGS__)
/* Any integer from 0 on. */
#define AT_COUNTER(record, member, ...) AT_INT(record, member, 0, INT64_MAX, __VA_ARGS__)
#define AT_CHARS(record, member, ...)                                                              \
    AT_FIELD(record, #member, member, .kind = AT_FIELD_CHARS,                                      \
             .max = sizeof(((struct record *)0)->member), __VA_ARGS__)
#define AT_TEXT(record, member, bytes_max, ...)                                                    \
    AT_FIELD(record, #member, member, .kind = AT_FIELD_TEXT, .max = (bytes_max), __VA_ARGS__)
#define AT_LIST(record, member, list_kind, low, high, ...)                                         \
    AT_FIELD(record, #member, member, .kind = (list_kind), .min = (low), .max = (high), __VA_ARGS__)
#define AT_OBJECTS(record, member, low, high, schema, ...)                                         \
    AT_LIST(record, member, AT_FIELD_OBJECTS, low, high, .object = &(schema), __VA_ARGS__)
#define AT_OBJECT(record, name, member, schema, ...)                                               \
    AT_FIELD(record, name, member, .kind = AT_FIELD_OBJECT, .object = &(schema), __VA_ARGS__)
/* A field without bounds, in a record that is only written. */
#define AT_WRITTEN(record, member, field_kind, ...)                                                \
    AT_FIELD(record, #member, member, .kind = (field_kind), __VA_ARGS__)
#define AT_OPTIONAL                 .optional = true
/* The field's column; more of struct at_column may follow. */
#define AT_COLUMN(where, name, ...) .column = {.title = (name), .place = (where), __VA_ARGS__}
/* A field that only tables have. */
#define AT_ONLY_COLUMN(record, member, field_kind, ...)                                            \
    AT_WRITTEN(record, member, field_kind, .only_column = true, __VA_ARGS__)

#define AT_SCHEMA(name, record, table)                                                             \
    {                                                                                              \
        .what = (name), .size = sizeof(struct record), .fields = (table),                          \
        .field_count = AT_COUNT(table)                                                             \
    }

#endif
