/* SPDX-License-Identifier: Apache-2.0 */
#include "space/family_file.h"

#include "base/memory.h"

enum { RULES_MAX = 64, SUMMARY_MAX = 400 };

static const struct at_field param_fields[] = {
    {.key = "default",
     .kind = AT_FIELD_INT,
     .offset = offsetof(struct at_param_record, default_value),
     .min = INT32_MIN,
     .max = INT32_MAX},
    {.key = "name", .kind = AT_FIELD_LOCATED, .offset = offsetof(struct at_param_record, name)},
    {.key = "summary",
     .kind = AT_FIELD_TEXT,
     .offset = offsetof(struct at_param_record, summary),
     .max = SUMMARY_MAX},
    {.key = "values",
     .kind = AT_FIELD_INTS,
     .offset = offsetof(struct at_param_record, values),
     .min = 1,
     .max = AT_PARAM_VALUES_MAX},
};

static const struct at_schema param_schema = {
    .what = "a parameter",
    .size = sizeof(struct at_param_record),
    .fields = param_fields,
    .field_count = AT_COUNT(param_fields),
};

#define LAUNCH_FIELD(name, index, may_lack)                                                        \
    {                                                                                              \
        .key = (name), .kind = AT_FIELD_LOCATED,                                                   \
        .offset = offsetof(struct at_launch_record, field) + (index) * sizeof(struct at_located),  \
        .optional = (may_lack)                                                                     \
    }

static const struct at_field launch_fields[] = {
    LAUNCH_FIELD("block_x", AT_BLOCK_X, false),
    LAUNCH_FIELD("block_y", AT_BLOCK_Y, true),
    LAUNCH_FIELD("block_z", AT_BLOCK_Z, true),
    LAUNCH_FIELD("carveout_percent", AT_CARVEOUT_PERCENT, true),
    LAUNCH_FIELD("grid_x", AT_GRID_X, false),
    LAUNCH_FIELD("grid_y", AT_GRID_Y, true),
    LAUNCH_FIELD("grid_z", AT_GRID_Z, true),
    LAUNCH_FIELD("shared_bytes", AT_SHARED_BYTES, true),
};

static const struct at_schema launch_schema = {
    .what = "the launch",
    .size = sizeof(struct at_launch_record),
    .fields = launch_fields,
    .field_count = AT_COUNT(launch_fields),
};

static const struct at_field family_fields[] = {
    {.key = "constraints",
     .kind = AT_FIELD_LOCATEDS,
     .offset = offsetof(struct at_family_record, constraints),
     .max = RULES_MAX,
     .optional = true},
    {.key = "family",
     .kind = AT_FIELD_LOCATED,
     .offset = offsetof(struct at_family_record, family)},
    {.key = "inplace",
     .kind = AT_FIELD_INT,
     .offset = offsetof(struct at_family_record, in_place),
     .max = 1,
     .optional = true},
    {.key = "launch",
     .kind = AT_FIELD_OBJECT,
     .offset = offsetof(struct at_family_record, launch),
     .object = &launch_schema},
    {.key = "needs",
     .kind = AT_FIELD_LOCATEDS,
     .offset = offsetof(struct at_family_record, needs),
     .max = RULES_MAX,
     .optional = true},
    {.key = "parameters",
     .kind = AT_FIELD_OBJECTS,
     .offset = offsetof(struct at_family_record, parameters),
     .max = AT_PARAMS_MAX,
     .object = &param_schema},
    {.key = "preference",
     .kind = AT_FIELD_INT,
     .offset = offsetof(struct at_family_record, preference),
     .max = INT32_MAX},
    {.key = "schema",
     .kind = AT_FIELD_INT,
     .offset = offsetof(struct at_family_record, schema),
     .min = 1,
     .max = 1},
    {.key = "summary",
     .kind = AT_FIELD_TEXT,
     .offset = offsetof(struct at_family_record, summary),
     .max = SUMMARY_MAX},
    {.key = "template",
     .kind = AT_FIELD_LOCATED,
     .offset = offsetof(struct at_family_record, template)},
};

const struct at_schema at_family_schema = {
    .what = "a space file",
    .size = sizeof(struct at_family_record),
    .fields = family_fields,
    .field_count = AT_COUNT(family_fields),
};
