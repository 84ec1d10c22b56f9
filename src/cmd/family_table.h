/* SPDX-License-Identifier: Apache-2.0 */
/* Families and their parameters, as `list --families` and `explain FAMILY --params` print them. */
#ifndef AT_CMD_FAMILY_TABLE_H
#define AT_CMD_FAMILY_TABLE_H

#include "cmd/command_line.h"
#include "space/family.h"

/* Print the families: as JSON with their parameters, else a line for each. */
enum at_status at_print_families(struct at_family *const *families, size_t count,
                                 enum at_output_format format, struct at_error *err);

/* Print a family's parameters with meaning, values and default. */
enum at_status at_print_params(const struct at_family *family, enum at_output_format format,
                               struct at_error *err);

#endif
