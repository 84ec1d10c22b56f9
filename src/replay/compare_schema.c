/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as JSON. */
#include "replay/compare.h"
#include "schema/table.h"

/* Any number: a score may be negative. */
#define NUMBER(record, member) AT_INT(record, member, INT64_MIN, INT64_MAX)
#define TEXT(record, member)   AT_TEXT(record, member, 1024)
#define LIST(record, member, schema, ...)                                                          \
    AT_OBJECTS(record, member, 0, 1000000, schema, __VA_ARGS__)

static const struct at_field reach_fields[] = {
    NUMBER(at_reach_record, median_evaluations), NUMBER(at_reach_record, median_ms),
    NUMBER(at_reach_record, p95_evaluations),    NUMBER(at_reach_record, p95_ms),
    NUMBER(at_reach_record, within_percent),
};
static const struct at_schema reach_schema = AT_SCHEMA("a reach", at_reach_record, reach_fields);

static const struct at_field curve_fields[] = {
    NUMBER(at_curve_record, behind_ppm), NUMBER(at_curve_record, evaluations),
    NUMBER(at_curve_record, lower_ppm),  NUMBER(at_curve_record, median_ppm),
    NUMBER(at_curve_record, ms),         NUMBER(at_curve_record, upper_ppm),
};
static const struct at_schema curve_schema =
    AT_SCHEMA("a point of a curve", at_curve_record, curve_fields);

static const struct at_field strategy_fields[] = {
    LIST(at_strategy_record, curve, curve_schema),
    LIST(at_strategy_record, curve_of_time, curve_schema),
    LIST(at_strategy_record, drawn, curve_schema, AT_OPTIONAL),
    LIST(at_strategy_record, drawn_of_time, curve_schema, AT_OPTIONAL),
    NUMBER(at_strategy_record, ended_within_1_percent),
    AT_CHARS(at_strategy_record, name),
    LIST(at_strategy_record, reaches, reach_schema),
    NUMBER(at_strategy_record, runs),
    NUMBER(at_strategy_record, score_permille),
    NUMBER(at_strategy_record, stopped),
    NUMBER(at_strategy_record, stopped_evaluations),
    NUMBER(at_strategy_record, stopped_mean),
};
static const struct at_schema strategy_schema =
    AT_SCHEMA("a strategy", at_strategy_record, strategy_fields);

static const struct at_field recording_fields[] = {
    NUMBER(at_compared_recording, configs),
    TEXT(at_compared_recording, device),
    NUMBER(at_compared_recording, evaluation_ns),
    TEXT(at_compared_recording, kind),
    NUMBER(at_compared_recording, optimum_ns),
    TEXT(at_compared_recording, problem),
    LIST(at_compared_recording, strategies, strategy_schema),
};
static const struct at_schema recording_schema =
    AT_SCHEMA("a recording", at_compared_recording, recording_fields);

static const struct at_field comparison_fields[] = {
    LIST(at_comparison, all, strategy_schema),
    LIST(at_comparison, recordings, recording_schema),
};
const struct at_schema at_comparison_schema =
    AT_SCHEMA("a comparison", at_comparison, comparison_fields);
