/* SPDX-License-Identifier: Apache-2.0 */
/* Prints an explanation as a table: the lines of the source that access memory, and their cost. */
#ifndef AT_EXPLAIN_TABLE_H
#define AT_EXPLAIN_TABLE_H

#include "base/table.h"
#include "explain/explain.h"

/* A source file, whose lines the table shows beside their cost. */
struct at_explained_text {
    const char *path, *text; /* borrowed */
};

void at_explanation_print(const struct at_explanation *explanation,
                          const struct at_explained_text *source);

/* The text of a line of the source, without indentation; "" for other files. The caller frees it.
 */
char *at_explained_source(const struct at_explained_text *source,
                          const struct at_explained_line *line);

/* Print the cost of each line, summed over its requests, as a plain table. */
void at_explanation_tabulate(const struct at_explanation *explanation,
                             const struct at_explained_text *source, enum at_table_form form);

#endif
