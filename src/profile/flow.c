/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flow.h"

#include <stdarg.h>
#include <string.h>

struct at_flow at_flow_begin(FILE *out, int width, int indent, const char *label)
{
    int used = fprintf(out, "%-*s", indent, label);

    return (struct at_flow){.out = out, .width = width, .indent = indent, .column = used};
}

void at_flow_add(struct at_flow *flow, const char *format, ...)
{
    char item[1024];
    int length;
    va_list args;

    va_start(args, format);
    vsnprintf(item, sizeof item, format, args);
    va_end(args);
    length = (int)strlen(item);
    if (flow->column > flow->indent && flow->column + 1 + length > flow->width) {
        fprintf(flow->out, "\n%*s", flow->indent, "");
        flow->column = flow->indent;
    }
    if (flow->column > flow->indent)
        flow->column += fprintf(flow->out, " ");
    flow->column += fprintf(flow->out, "%s", item);
}

void at_flow_end(struct at_flow *flow)
{
    putc('\n', flow->out);
    flow->column = flow->indent;
}

void at_flow_words(FILE *out, int width, int indent, const char *text)
{
    int column = fprintf(out, "%.*s", (int)strspn(text, " "), text);
    const char *between = "";

    text += column;
    while (*text) {
        int length = (int)strcspn(text, " ");

        if (*between && column + 1 + length > width)
            column = fprintf(out, "\n%*s", indent, "") - 1;
        else
            column += fprintf(out, "%s", between);
        column += fprintf(out, "%.*s", length, text);
        between = " ";
        text += length;
        text += strspn(text, " ");
    }
    putc('\n', out);
}
