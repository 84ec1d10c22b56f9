/* SPDX-License-Identifier: Apache-2.0 */
/* An explanation as JSON. */
#include "base/memory.h"
#include "model/explain.h"

#define INT(record, member, ...)                                                                   \
    {                                                                                              \
        .key = #member, .kind = AT_FIELD_INT, .offset = offsetof(struct record, member),           \
        .max = INT64_MAX, __VA_ARGS__                                                              \
    }
#define CHARS(record, member, ...)                                                                 \
    {                                                                                              \
        .key = #member, .kind = AT_FIELD_CHARS, .offset = offsetof(struct record, member),         \
        .max = sizeof(((struct record *)0)->member), __VA_ARGS__                                   \
    }
#define OPTIONAL .optional = true

static const struct at_field line_fields[] = {
    CHARS(at_explained_line, access),         INT(at_explained_line, bytes),
    CHARS(at_explained_line, file),           INT(at_explained_line, least_sectors),
    INT(at_explained_line, least_wavefronts), INT(at_explained_line, line),
    INT(at_explained_line, requests),         INT(at_explained_line, sectors),
    INT(at_explained_line, wanted_bytes),     INT(at_explained_line, wavefronts),
};
static const struct at_schema line_schema = {"a line", sizeof(struct at_explained_line),
                                             line_fields, AT_COUNT(line_fields)};

static const struct at_field fields[] = {
    INT(at_explanation, blocks),
    INT(at_explanation, blocks_counted),
    CHARS(at_explanation, bound, OPTIONAL),
    INT(at_explanation, bytes_needed),
    INT(at_explanation, bytes_read),
    INT(at_explanation, bytes_written),
    CHARS(at_explanation, config),
    CHARS(at_explanation, device),
    INT(at_explanation, dynamic_shared_bytes),
    CHARS(at_explanation, family),
    CHARS(at_explanation, kind),
    {.key = "lines",
     .kind = AT_FIELD_OBJECTS,
     .offset = offsetof(struct at_explanation, lines),
     .max = 1000000,
     .object = &line_schema},
    INT(at_explanation, measured_ns, OPTIONAL),
    INT(at_explanation, measured_spread_permille, OPTIONAL),
    INT(at_explanation, occupancy_blocks),
    CHARS(at_explanation, occupancy_limiter),
    INT(at_explanation, occupancy_percent),
    INT(at_explanation, predicted_ns, OPTIONAL),
    CHARS(at_explanation, predictions, OPTIONAL),
    CHARS(at_explanation, problem),
    INT(at_explanation, registers),
    INT(at_explanation, spill_bytes),
    INT(at_explanation, static_shared_bytes),
    INT(at_explanation, threads),
};
const struct at_schema at_explanation_schema = {"an explanation", sizeof(struct at_explanation),
                                                fields, AT_COUNT(fields)};
