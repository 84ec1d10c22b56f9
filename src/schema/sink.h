/* SPDX-License-Identifier: Apache-2.0 */
/* A sink writes one format (YAML, JSON). at_schema_walk goes through a record by its table and
 * calls the sink for each key and value, so that sinks need not know tables. */
#ifndef AT_SCHEMA_SINK_H
#define AT_SCHEMA_SINK_H

#include "schema/schema.h"

enum at_shape {
    AT_SHAPE_MAP,   /* key, value, key, value, ... */
    AT_SHAPE_LIST,  /* values */
    AT_SHAPE_ROW,   /* a few integers, on one line */
    AT_SHAPE_PAIRS, /* names and integers, on one line */
};

/* Each function returns false on failure. */
struct at_sink {
    bool (*begin)(struct at_sink *sink, enum at_shape shape);
    bool (*end)(struct at_sink *sink, enum at_shape shape);
    bool (*key)(struct at_sink *sink, const char *key);
    bool (*integer)(struct at_sink *sink, int64_t value);
    bool (*hex)(struct at_sink *sink, const char *digits); /* "0x2a" */
    bool (*flag)(struct at_sink *sink, bool value);
    bool (*text)(struct at_sink *sink, const char *text);
};

/* Write a whole record to the sink. AT_INTERNAL if the sink fails, or for a value that a reader
 * would refuse. */
enum at_status at_schema_walk(const struct at_schema *schema, const void *record,
                              struct at_sink *sink, struct at_error *err);

#endif
