/* SPDX-License-Identifier: Apache-2.0 */
/* Configs as files name them: a family and a mapping of parameter names to values. */
#ifndef AT_SPACE_NAMED_H
#define AT_SPACE_NAMED_H

#include "schema/schema.h"
#include "space/family.h"

/* Finds the config. Every parameter must be there, with one of its values, and no other: AT_USAGE
 * says what is not so, or that there is no such family. `parameters` is of struct at_named_int. */
enum at_status at_config_from_names(struct at_config *config, struct at_family *const *families,
                                    size_t family_count, const char *family,
                                    const struct at_list *parameters, struct at_error *err);

/* The same where a parameter may be left out: it has its default. */
enum at_status at_config_from_some_names(struct at_config *config,
                                         struct at_family *const *families, size_t family_count,
                                         const char *family, const struct at_list *parameters,
                                         struct at_error *err);

/* The same of a text: "tile BLOCK_ROWS=8 PAD=1 TILE=32", every parameter named. */
enum at_status at_config_parse(struct at_config *config, struct at_family *const *families,
                               size_t family_count, const char *text, struct at_error *err);

#endif
