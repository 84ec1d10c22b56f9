/* SPDX-License-Identifier: Apache-2.0 */
/* The content of a space file, before its expressions and parameters are checked. */
#ifndef AT_SPACE_FAMILY_FILE_H
#define AT_SPACE_FAMILY_FILE_H

#include "schema/schema.h"
#include "space/family.h"

struct at_param_record {
    struct at_located name, neutral;
    char *summary;
    struct at_list values; /* of int64_t */
    int64_t default_value, host, yields;
};

struct at_launch_record {
    struct at_located field[AT_LAUNCH_FIELDS];
};

struct at_family_record {
    int64_t schema;
    struct at_located family, template, tensors;
    char *summary;
    int64_t preference, in_place, tall_rows;
    struct at_list parameters;         /* of struct at_param_record */
    struct at_list constraints, needs; /* of struct at_located */
    struct at_launch_record launch;
    struct at_located block_elements;
};

extern const struct at_schema at_family_schema;

#endif
