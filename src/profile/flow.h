/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is broken into lines between its items, for what is printed above and below a table. */
#ifndef AT_PROFILE_FLOW_H
#define AT_PROFILE_FLOW_H

#include <stdio.h>

struct at_flow {
    FILE *out;
    int width;
    int indent; /* of the lines after the first */
    int column; /* used on this line */
};

/* Start a paragraph with a label, padded to the column `indent`, where its other lines begin. */
struct at_flow at_flow_begin(FILE *out, int width, int indent, const char *label);

/* Append an item after a space, or on a new line if it does not fit. */
void at_flow_add(struct at_flow *flow, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void at_flow_end(struct at_flow *flow);

/* Print the words of a text; it may begin with blanks. `indent` is of the lines after the first. */
void at_flow_words(FILE *out, int width, int indent, const char *text);

#endif
