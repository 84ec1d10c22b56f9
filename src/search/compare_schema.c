/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as JSON. */
#include "base/memory.h"
#include "search/compare.h"

#define INT(record, member)                                                                        \
    {                                                                                              \
        .key = #member, .kind = AT_FIELD_INT, .offset = offsetof(struct record, member),           \
        .min = INT64_MIN, .max = INT64_MAX                                                         \
    }
#define TEXT(record, member)                                                                       \
    {                                                                                              \
        .key = #member, .kind = AT_FIELD_TEXT, .offset = offsetof(struct record, member),          \
        .max = 1024                                                                                \
    }
#define LIST(record, member, schema)                                                               \
    {                                                                                              \
        .key = #member, .kind = AT_FIELD_OBJECTS, .offset = offsetof(struct record, member),       \
        .max = 1000000, .object = &(schema)                                                        \
    }

static const struct at_field reach_fields[] = {
    INT(at_reach_record, median_evaluations), INT(at_reach_record, median_ms),
    INT(at_reach_record, p95_evaluations),    INT(at_reach_record, p95_ms),
    INT(at_reach_record, within_percent),
};
static const struct at_schema reach_schema = {"a reach", sizeof(struct at_reach_record),
                                              reach_fields, AT_COUNT(reach_fields)};

static const struct at_field strategy_fields[] = {
    INT(at_strategy_record, ended_within_1_percent),
    {.key = "name",
     .kind = AT_FIELD_CHARS,
     .offset = offsetof(struct at_strategy_record, name),
     .max = sizeof(((struct at_strategy_record *)0)->name)},
    LIST(at_strategy_record, reaches, reach_schema),
    INT(at_strategy_record, runs),
    INT(at_strategy_record, score_permille),
    INT(at_strategy_record, stopped),
    INT(at_strategy_record, stopped_evaluations),
};
static const struct at_schema strategy_schema = {"a strategy", sizeof(struct at_strategy_record),
                                                 strategy_fields, AT_COUNT(strategy_fields)};

static const struct at_field recording_fields[] = {
    INT(at_compared_recording, configs),
    TEXT(at_compared_recording, device),
    INT(at_compared_recording, optimum_ns),
    TEXT(at_compared_recording, problem),
    LIST(at_compared_recording, strategies, strategy_schema),
};
static const struct at_schema recording_schema = {"a recording",
                                                  sizeof(struct at_compared_recording),
                                                  recording_fields, AT_COUNT(recording_fields)};

static const struct at_field comparison_fields[] = {
    LIST(at_comparison, all, strategy_schema),
    LIST(at_comparison, recordings, recording_schema),
};
const struct at_schema at_comparison_schema = {"a comparison", sizeof(struct at_comparison),
                                               comparison_fields, AT_COUNT(comparison_fields)};
