/* SPDX-License-Identifier: Apache-2.0 */
/* A study's figures as JSON. */
#include "base/memory.h"
#include "cmd/study_run.h"

#define INT(record, member)                                                                        \
    {                                                                                              \
        .key = #member, .kind = AT_FIELD_INT, .offset = offsetof(struct record, member),           \
        .max = INT64_MAX                                                                           \
    }
#define CHARS(record, member)                                                                      \
    {                                                                                              \
        .key = #member, .kind = AT_FIELD_CHARS, .offset = offsetof(struct record, member),         \
        .max = sizeof(((struct record *)0)->member)                                                \
    }
#define OBJECT(record, member, schema)                                                             \
    {                                                                                              \
        .key = #member, .kind = AT_FIELD_OBJECT, .offset = offsetof(struct record, member),        \
        .object = &(schema)                                                                        \
    }

static const struct at_field global_fields[] = {
    INT(at_study_global, requests),
    INT(at_study_global, sectors),
    INT(at_study_global, wanted_bytes),
};
static const struct at_schema global_schema = {"accesses", sizeof(struct at_study_global),
                                               global_fields, AT_COUNT(global_fields)};
static const struct at_field shared_fields[] = {
    INT(at_study_shared, least_wavefronts),
    INT(at_study_shared, requests),
    INT(at_study_shared, wavefronts),
};
static const struct at_schema shared_schema = {"accesses", sizeof(struct at_study_shared),
                                               shared_fields, AT_COUNT(shared_fields)};

static const struct at_field line_fields[] = {
    INT(at_study_line, bandwidth_mbps),
    INT(at_study_line, blocks),
    INT(at_study_line, blocks_counted),
    CHARS(at_study_line, config),
    CHARS(at_study_line, family),
    CHARS(at_study_line, label),
    OBJECT(at_study_line, load, global_schema),
    CHARS(at_study_line, problem),
    OBJECT(at_study_line, shared_load, shared_schema),
    OBJECT(at_study_line, shared_store, shared_schema),
    OBJECT(at_study_line, store, global_schema),
    INT(at_study_line, time_ns),
};
static const struct at_schema line_schema = {"a line", sizeof(struct at_study_line), line_fields,
                                             AT_COUNT(line_fields)};

static const struct at_field fields[] = {
    CHARS(at_study_result, device),
    {.key = "lines",
     .kind = AT_FIELD_OBJECTS,
     .offset = offsetof(struct at_study_result, lines),
     .max = AT_STUDY_ROWS_MAX,
     .object = &line_schema},
    CHARS(at_study_result, note),
    {.key = "reading",
     .kind = AT_FIELD_TEXT,
     .offset = offsetof(struct at_study_result, reading),
     .max = INT32_MAX},
    CHARS(at_study_result, study),
    CHARS(at_study_result, times),
    CHARS(at_study_result, title),
};
const struct at_schema at_study_result_schema = {
    "the figures of a study", sizeof(struct at_study_result), fields, AT_COUNT(fields)};
