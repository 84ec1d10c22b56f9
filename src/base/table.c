/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"

#include "base/memory.h"

#include <stdarg.h>
#include <string.h>

void at_table_add(struct at_table *table, const char *format, ...)
{
    va_list args;
    char *cell;

    va_start(args, format);
    cell = at_vformat(format, args);
    va_end(args);
    AT_PUSH(table->cells, table->count, table->capacity, cell);
}

/* Columns of a UTF-8 text, if each character takes one. */
static int width_of(const char *text)
{
    int width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void print_padded(const char *text, int width, bool left, FILE *out)
{
    int padding = width - width_of(text);

    fprintf(out, "%*s%s%*s", left || padding < 0 ? 0 : padding, "", text,
            left && padding > 0 ? padding : 0, "");
}

static void print_text_row(const struct at_table *table, const char *const *cells,
                           const int *widths, FILE *out)
{
    for (size_t c = 0; c < table->column_count; c++) {
        bool last = c + 1 == table->column_count;

        print_padded(cells[c], last && table->columns[c].left ? 0 : widths[c],
                     table->columns[c].left, out);
        fputs(last ? "\n" : "  ", out);
    }
}

static void print_csv_row(const struct at_table *table, const char *const *cells, const int *widths,
                          FILE *out)
{
    (void)widths;
    for (size_t c = 0; c < table->column_count; c++) {
        bool quoted = strpbrk(cells[c], ",\"\r\n") != NULL;

        fputs(quoted ? "\"" : "", out);
        for (const char *text = cells[c]; *text; text++)
            fprintf(out, *text == '"' ? "\"%c" : "%c", *text);
        fputs(quoted ? "\"" : "", out);
        putc(c + 1 < table->column_count ? ',' : '\n', out);
    }
}

static void print_markdown_row(const struct at_table *table, const char *const *cells,
                               const int *widths, FILE *out)
{
    (void)widths;
    for (size_t c = 0; c < table->column_count; c++) {
        fputs(c == 0 ? "| " : " ", out);
        for (const char *text = cells[c]; *text; text++)
            fprintf(out, strchr("\\|`*<[", *text) ? "\\%c" : "%c", *text);
        fputs(" |", out);
    }
    putc('\n', out);
}

static void print_markdown_rule(const struct at_table *table, FILE *out)
{
    for (size_t c = 0; c < table->column_count; c++)
        fputs(table->columns[c].left ? "|---" : "|---:", out);
    fputs("|\n", out);
}

typedef void print_row_fn(const struct at_table *table, const char *const *cells, const int *widths,
                          FILE *out);

static print_row_fn *const print_row[] = {
    [AT_TABLE_TEXT] = print_text_row,
    [AT_TABLE_CSV] = print_csv_row,
    [AT_TABLE_MARKDOWN] = print_markdown_row,
};

void at_table_print(const struct at_table *table, enum at_table_form form, FILE *out)
{
    int *widths = at_alloc_array(table->column_count, sizeof *widths);
    const char **titles = at_alloc_array(table->column_count, sizeof *titles);

    for (size_t c = 0; c < table->column_count; c++) {
        titles[c] = table->columns[c].title;
        widths[c] = width_of(titles[c]);
        for (size_t i = c; i < table->count; i += table->column_count)
            if (width_of(table->cells[i]) > widths[c])
                widths[c] = width_of(table->cells[i]);
    }
    print_row[form](table, titles, widths, out);
    if (form == AT_TABLE_MARKDOWN)
        print_markdown_rule(table, out);
    for (size_t i = 0; i + table->column_count <= table->count; i += table->column_count)
        print_row[form](table, (const char *const *)table->cells + i, widths, out);
    at_free(titles);
    at_free(widths);
}

void at_table_clear(struct at_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        at_free(table->cells[i]);
    at_free(table->cells);
    table->cells = NULL;
    table->count = table->capacity = 0;
}
