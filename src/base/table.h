/* SPDX-License-Identifier: Apache-2.0 */
/* A table of text cells, and the forms in which it is printed. */
#ifndef AT_BASE_TABLE_H
#define AT_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum at_table_form {
    AT_TABLE_TEXT,     /* aligned columns */
    AT_TABLE_CSV,      /* RFC 4180, with line feeds alone */
    AT_TABLE_MARKDOWN, /* GitHub's tables */
};

struct at_table_column {
    const char *title; /* borrowed */
    bool left;         /* aligned; else right, as numbers are */
};

struct at_table {
    const struct at_table_column *columns; /* borrowed */
    size_t column_count;
    char **cells; /* by row; at_table_clear frees them */
    size_t count, capacity;
};

/* Add the next cell, from left to right and from top to bottom. */
void at_table_add(struct at_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Print titles and rows. The last row must be whole. */
void at_table_print(const struct at_table *table, enum at_table_form form, FILE *out);

/* The same as aligned text of at most `width` columns (0: any): the columns that do not fit follow
 * on another line, and so does what a last one of words has too much. */
void at_table_print_within(const struct at_table *table, int width, FILE *out);

void at_table_clear(struct at_table *table);

#endif
