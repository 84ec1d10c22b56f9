/* SPDX-License-Identifier: Apache-2.0 */
/* Configs in files: the name of a family, and a mapping of parameter names to values. */
#ifndef AT_SPACE_NAMED_H
#define AT_SPACE_NAMED_H

#include "schema/schema.h"
#include "space/family.h"

/* Make a config from names; a parameter that is missing has its neutral value. AT_USAGE for an
 * unknown family or parameter, a missing one without a neutral value, or a value that is not in the
 * parameter's list. `parameters` is a list of struct at_named_int. */
enum at_status at_config_from_names(struct at_config *config, struct at_family *const *families,
                                    size_t family_count, const char *family,
                                    const struct at_list *parameters, struct at_error *err);

/* The same, with defaults for missing parameters. */
enum at_status at_config_from_some_names(struct at_config *config,
                                         struct at_family *const *families, size_t family_count,
                                         const char *family, const struct at_list *parameters,
                                         struct at_error *err);

/* Make a config from a text of at_config_format: "tile BLOCK_ROWS=8 PAD=1 TILE=32". */
enum at_status at_config_parse(struct at_config *config, struct at_family *const *families,
                               size_t family_count, const char *text, struct at_error *err);

/* List the parameters that are written of a config, as struct at_named_int, in the order of the
 * family's file. The caller owns the list. */
struct at_list at_config_to_names(const struct at_config *config);

#endif
