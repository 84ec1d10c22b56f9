/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel with a label, as files list them: tuning/textbook.yaml and those of tuning/study. */
#ifndef AT_STUDY_KERNEL_ROW_H
#define AT_STUDY_KERNEL_ROW_H

#include "schema/schema.h"
#include "space/family.h"

struct at_kernel_row {
    char label[64];
    char family[64];
    struct at_list parameters; /* of struct at_named_int; the others have their default */
};

/* Its fields, for the table of a record that has it at this offset. */
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

/* The config of a row of the file at path, which messages name. */
enum at_status at_kernel_row_config(const struct at_kernel_row *row, const char *path,
                                    struct at_family *const *families, size_t family_count,
                                    struct at_config *config, struct at_error *err);

#endif
