/* SPDX-License-Identifier: Apache-2.0 */
#include "base/flow.h"

#include "base/memory.h"

#include <stdarg.h>
#include <string.h>

int at_text_columns(const char *text)
{
    int columns = 0;

    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

struct at_flow at_flow_begin(FILE *out, int width, int indent, const char *label)
{
    int used = fprintf(out, "%-*s", indent, label);

    return (struct at_flow){out, width, indent, used, used > indent};
}

void at_flow_add(struct at_flow *flow, const char *format, ...)
{
    char *item;
    int columns;
    va_list args;

    va_start(args, format);
    item = at_vformat(format, args);
    va_end(args);
    columns = at_text_columns(item);
    if (flow->started && flow->column + 1 + columns > flow->width) {
        fprintf(flow->out, "\n%*s", flow->indent, "");
        flow->column = flow->indent;
        flow->started = false;
    }
    flow->column += fprintf(flow->out, "%s", flow->started ? " " : "") + columns;
    fputs(item, flow->out);
    at_free(item);
    flow->started = true;
}

void at_flow_add_words(struct at_flow *flow, const char *text)
{
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        int length = (int)strcspn(text, " ");

        at_flow_add(flow, "%.*s", length, text);
        text += length;
    }
}

void at_flow_end(struct at_flow *flow)
{
    putc('\n', flow->out);
    flow->column = flow->indent;
    flow->started = false;
}

void at_flow_paragraph(FILE *out, int width, int indent, const char *label, const char *text)
{
    struct at_flow flow = at_flow_begin(out, width, indent, label);

    at_flow_add_words(&flow, text);
    at_flow_end(&flow);
}

void at_flow_words(FILE *out, int width, int indent, const char *text)
{
    struct at_flow flow = {.out = out, .width = width, .indent = indent};

    flow.column = fprintf(out, "%.*s", (int)strspn(text, " "), text);
    at_flow_add_words(&flow, text);
    at_flow_end(&flow);
}
