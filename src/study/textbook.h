/* SPDX-License-Identifier: Apache-2.0 */
/* tuning/textbook.yaml: the kernels that `autotune bench` shows beside the tuned one. */
#ifndef AT_STUDY_TEXTBOOK_H
#define AT_STUDY_TEXTBOOK_H

#include "study/kernel_row.h"

#define AT_TEXTBOOK_FILE "tuning/textbook.yaml"

enum { AT_TEXTBOOK_ROWS_MAX = 16 };

struct at_textbook {
    int64_t schema;
    struct at_list rows; /* of struct at_kernel_row */
};

/* Fills the zeroed textbook, which the caller clears. */
enum at_status at_textbook_read(struct at_textbook *textbook, struct at_error *err);
void at_textbook_clear(struct at_textbook *textbook);

#endif
