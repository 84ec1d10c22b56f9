/* SPDX-License-Identifier: Apache-2.0 */
/* Running text, broken between its items to stay within a width, for what stands above and below a
 * table. */
#ifndef AT_PROFILE_FLOW_H
#define AT_PROFILE_FLOW_H

#include <stdio.h>

struct at_flow {
    FILE *out;
    int width;
    int indent; /* of the lines after the first */
    int column; /* already used on this line */
};

/* Starts a paragraph: the label, filled up with spaces to the column where all its lines begin. */
struct at_flow at_flow_begin(FILE *out, int width, int indent, const char *label);

/* Appends one item after a space, or on a new line where it does not fit. */
void at_flow_add(struct at_flow *flow, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void at_flow_end(struct at_flow *flow);

#endif
