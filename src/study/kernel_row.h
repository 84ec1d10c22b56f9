/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel with a label, as listed in tuning/textbook.yaml and tuning/study/NAME.yaml. */
#ifndef AT_STUDY_KERNEL_ROW_H
#define AT_STUDY_KERNEL_ROW_H

#include "schema/schema.h"
#include "space/family.h"
#include "space/named.h"

struct at_kernel_row {
    char label[64];
    char family[64];
    struct at_list parameters; /* of struct at_named_int; other parameters have their default */
};

/* The fields of a kernel row at this offset of a record, for the record's table. */
#define AT_KERNEL_ROW_FIELDS(at)                                                                   \
    {.key = "family",                                                                              \
     .kind = AT_FIELD_CHARS,                                                                       \
     .offset = (at) + offsetof(struct at_kernel_row, family),                                      \
     .max = 64},                                                                                   \
        {.key = "label",                                                                           \
         .kind = AT_FIELD_CHARS,                                                                   \
         .offset = (at) + offsetof(struct at_kernel_row, label),                                   \
         .max = 64},                                                                               \
    {                                                                                              \
        .key = "parameters", .kind = AT_FIELD_NAMED_INTS,                                          \
        .offset = (at) + offsetof(struct at_kernel_row, parameters), .max = AT_PARAMS_MAX          \
    }

/* Make the config of a row; messages name the file at path. */
static inline enum at_status at_kernel_row_config(const struct at_kernel_row *row, const char *path,
                                                  struct at_family *const *families,
                                                  size_t family_count, struct at_config *config,
                                                  struct at_error *err)
{
    if (at_config_from_some_names(config, families, family_count, row->family, &row->parameters,
                                  err) == AT_OK)
        return AT_OK;
    return at_fail_within(err, "%s: %s", path, row->label);
}

#endif
