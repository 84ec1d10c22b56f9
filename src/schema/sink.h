/* SPDX-License-Identifier: Apache-2.0 */
/* Where a record is written to. One walk through the table (write.c) tells a sink what it meets; a
 * sink knows a format and nothing of tables. */
#ifndef AT_SCHEMA_SINK_H
#define AT_SCHEMA_SINK_H

#include "schema/schema.h"

enum at_shape {
    AT_SHAPE_MAP,  /* key, value, key, value, ... */
    AT_SHAPE_LIST, /* values */
    AT_SHAPE_ROW,  /* values that are integers, and few: one line */
};

/* Each returns false when the sink cannot take it. */
struct at_sink {
    bool (*begin)(struct at_sink *sink, enum at_shape shape);
    bool (*end)(struct at_sink *sink, enum at_shape shape);
    bool (*key)(struct at_sink *sink, const char *key);
    bool (*integer)(struct at_sink *sink, int64_t value);
    bool (*text)(struct at_sink *sink, const char *text);
};

/* Tells the sink of a whole record. Text that a reader would refuse is AT_INTERNAL; so is a sink
 * that returns false. */
enum at_status at_schema_walk(const struct at_schema *schema, const void *record,
                              struct at_sink *sink, struct at_error *err);

#endif
