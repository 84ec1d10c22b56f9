/* SPDX-License-Identifier: Apache-2.0 */
/* Prints an explanation as a table: the lines of the source that access memory, and their cost. */
#ifndef AT_EXPLAIN_TABLE_H
#define AT_EXPLAIN_TABLE_H

#include "explain/explain.h"
#include "schema/print.h"

/* A source file, whose lines the table shows beside their cost. */
struct at_explained_text {
    const char *path, *text; /* borrowed */
};

/* Print the explanation: for people, as a row per line of the source, or as JSON. */
enum at_status at_explanation_print(const struct at_explanation *explanation,
                                    const struct at_explained_text *source,
                                    enum at_output_format format, struct at_error *err);

/* The text of a line of the source, without indentation; "" for other files. The caller frees it.
 */
char *at_explained_source(const struct at_explained_text *source,
                          const struct at_explained_line *line);

#endif
