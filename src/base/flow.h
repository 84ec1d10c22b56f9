/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is broken into lines between its items, as wide as a terminal shows it. */
#ifndef AT_BASE_FLOW_H
#define AT_BASE_FLOW_H

#include <stdbool.h>
#include <stdio.h>

struct at_flow {
    FILE *out;
    int width;
    int indent;   /* of the lines after the first */
    int column;   /* used on this line */
    bool started; /* this line has an item */
};

/* Start a paragraph with a label, padded to the column `indent`, where its other lines begin. */
struct at_flow at_flow_begin(FILE *out, int width, int indent, const char *label);

/* Append an item after a space, or on a new line if it does not fit. */
void at_flow_add(struct at_flow *flow, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Append the words of a text, one by one. */
void at_flow_add_words(struct at_flow *flow, const char *text);

void at_flow_end(struct at_flow *flow);

/* Print a paragraph: a label, and beside it the words of a text. */
void at_flow_paragraph(FILE *out, int width, int indent, const char *label, const char *text);

/* Print the words of a text; it may begin with blanks. `indent` is of the lines after the first. */
void at_flow_words(FILE *out, int width, int indent, const char *text);

/* Columns of a UTF-8 text, if each character takes one. */
int at_text_columns(const char *text);

#endif
