/* SPDX-License-Identifier: Apache-2.0 */
#include "space/family_file.h"

#include "schema/table.h"

enum { RULES_MAX = 64, SUMMARY_MAX = 400 };

#define LOCATED .kind = AT_FIELD_LOCATED

static const struct at_field param_fields[] = {
    AT_FIELD(at_param_record, "default", default_value, .kind = AT_FIELD_INT, .min = INT32_MIN,
             .max = INT32_MAX),
    AT_FIELD(at_param_record, "host", host, .kind = AT_FIELD_INT, .max = 1, AT_OPTIONAL),
    AT_FIELD(at_param_record, "name", name, LOCATED),
    AT_FIELD(at_param_record, "neutral", neutral, LOCATED, AT_OPTIONAL),
    AT_TEXT(at_param_record, summary, SUMMARY_MAX),
    AT_LIST(at_param_record, values, AT_FIELD_INTS, 1, AT_PARAM_VALUES_MAX),
    AT_FIELD(at_param_record, "yields", yields, .kind = AT_FIELD_INT, .max = 1, AT_OPTIONAL),
};
static const struct at_schema param_schema =
    AT_SCHEMA("a parameter", at_param_record, param_fields);

static const struct at_field launch_fields[] = {
    AT_FIELD(at_launch_record, "block_x", field[AT_BLOCK_X], LOCATED),
    AT_FIELD(at_launch_record, "block_y", field[AT_BLOCK_Y], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "block_z", field[AT_BLOCK_Z], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "carveout_percent", field[AT_CARVEOUT_PERCENT], LOCATED,
             AT_OPTIONAL),
    AT_FIELD(at_launch_record, "grid_x", field[AT_GRID_X], LOCATED),
    AT_FIELD(at_launch_record, "grid_y", field[AT_GRID_Y], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "grid_z", field[AT_GRID_Z], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "outer_order", field[AT_OUTER_ORDER], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "shared_bytes", field[AT_SHARED_BYTES], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "side_dst", field[AT_SIDE_DST], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "side_src", field[AT_SIDE_SRC], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "unit_words", field[AT_UNIT_WORDS], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "vec_dst", field[AT_VEC_DST], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "vec_src", field[AT_VEC_SRC], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "word_bytes", field[AT_WORD_BYTES], LOCATED, AT_OPTIONAL),
};
static const struct at_schema launch_schema =
    AT_SCHEMA("the launch", at_launch_record, launch_fields);

static const struct at_field family_fields[] = {
    AT_FIELD(at_family_record, "block_elements", block_elements, LOCATED, AT_OPTIONAL),
    AT_LIST(at_family_record, constraints, AT_FIELD_LOCATEDS, 0, RULES_MAX, AT_OPTIONAL),
    AT_FIELD(at_family_record, "family", family, LOCATED),
    AT_FIELD(at_family_record, "inplace", in_place, .kind = AT_FIELD_INT, .max = 1, AT_OPTIONAL),
    AT_OBJECT(at_family_record, "launch", launch, launch_schema),
    AT_LIST(at_family_record, needs, AT_FIELD_LOCATEDS, 0, RULES_MAX, AT_OPTIONAL),
    AT_OBJECTS(at_family_record, parameters, 0, AT_PARAMS_MAX, param_schema),
    AT_INT(at_family_record, preference, 0, INT32_MAX),
    AT_INT(at_family_record, schema, 1, 1),
    AT_TEXT(at_family_record, summary, SUMMARY_MAX),
    AT_FIELD(at_family_record, "tall_rows", tall_rows, .kind = AT_FIELD_INT, .min = 1,
             .max = INT64_MAX, AT_OPTIONAL),
    AT_FIELD(at_family_record, "template", template, LOCATED),
    AT_FIELD(at_family_record, "tensors", tensors, LOCATED, AT_OPTIONAL),
};
const struct at_schema at_family_schema =
    AT_SCHEMA("a space file", at_family_record, family_fields);
