/* SPDX-License-Identifier: Apache-2.0 */
/* tuning/textbook.yaml: the kernels that `autotune bench` shows beside the tuned one. */
#ifndef AT_CMD_TEXTBOOK_H
#define AT_CMD_TEXTBOOK_H

#include "schema/schema.h"
#include "space/family.h"

enum { AT_TEXTBOOK_ROWS_MAX = 16 };

struct at_textbook_row {
    char label[64];
    char family[64];
    struct at_list parameters; /* of struct at_named_int */
};

struct at_textbook {
    int64_t schema;
    struct at_list rows; /* of struct at_textbook_row */
};

/* Fills the zeroed textbook, which the caller clears. */
enum at_status at_textbook_read(struct at_textbook *textbook, struct at_error *err);
void at_textbook_clear(struct at_textbook *textbook);

/* The config of a row. */
enum at_status at_textbook_config(const struct at_textbook_row *row,
                                  struct at_family *const *families, size_t family_count,
                                  struct at_config *config, struct at_error *err);

#endif
