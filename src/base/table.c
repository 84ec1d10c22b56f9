/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"

#include "base/flow.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdlib.h>
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

static void print_padded(const char *text, int width, bool left, FILE *out)
{
    int padding = width - at_text_columns(text);

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

enum { GAP = 2, FOLDED_INDENT = 4, WORDS_LEAST = 30 };

/* Is column c the last, of words that are broken into lines if it begins at `start`? */
static bool is_broken(const struct at_table *table, const int *widths, size_t c, int start,
                      int most)
{
    return c + 1 == table->column_count && table->columns[c].left && start + widths[c] > most &&
           most - start >= WORDS_LEAST;
}

static void print_folded_row(const struct at_table *table, const char *const *cells,
                             const int *widths, int most, FILE *out)
{
    int start = 0;

    for (size_t c = 0; c < table->column_count; c++) {
        int next = start + widths[c] + GAP;
        bool left = table->columns[c].left, last = c + 1 == table->column_count;
        bool folds =
            !last && next + widths[c + 1] > most && !is_broken(table, widths, c + 1, next, most);

        if (is_broken(table, widths, c, start, most))
            at_flow_add_words(&(struct at_flow){out, most, start, start, false}, cells[c]);
        else
            print_padded(cells[c], left && (last || folds) ? 0 : widths[c], left, out);
        if (last)
            putc('\n', out);
        else if (folds)
            fprintf(out, "\n%*s", FOLDED_INDENT, "");
        else
            fprintf(out, "%*s", GAP, "");
        start = folds ? FOLDED_INDENT : next;
    }
}

/* Would a spreadsheet run this cell as a formula? OWASP's advice on CSV injection names these
 * characters. Numbers may have a sign, and a lone character is no formula. */
static bool is_formula(const char *cell)
{
    char *end;

    if (!cell[0] || !cell[1] || !strchr("=+-@\t\r", cell[0]))
        return false;
    strtod(cell, &end);
    return *end != '\0';
}

static void print_csv_row(const struct at_table *table, const char *const *cells, const int *widths,
                          FILE *out)
{
    (void)widths;
    for (size_t c = 0; c < table->column_count; c++) {
        bool quoted = strpbrk(cells[c], ",\"\r\n") != NULL;

        fputs(quoted ? "\"" : "", out);
        fputs(is_formula(cells[c]) ? "'" : "", out);
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

/* Find the titles and the widths of the columns, for which there is room. */
static void measure(const struct at_table *table, const char **titles, int *widths)
{
    for (size_t c = 0; c < table->column_count; c++) {
        titles[c] = table->columns[c].title;
        widths[c] = at_text_columns(titles[c]);
        for (size_t i = c; i < table->count; i += table->column_count)
            if (at_text_columns(table->cells[i]) > widths[c])
                widths[c] = at_text_columns(table->cells[i]);
    }
}

void at_table_print_within(const struct at_table *table, int width, FILE *out)
{
    int *widths = at_alloc_array(table->column_count, sizeof *widths);
    const char **titles = at_alloc_array(table->column_count, sizeof *titles);
    int all = 0;

    measure(table, titles, widths);
    for (size_t c = 0; c < table->column_count; c++)
        all += widths[c] + (c > 0 ? GAP : 0);
    if (width <= 0 || all <= width) {
        at_table_print(table, AT_TABLE_TEXT, out);
    } else {
        print_folded_row(table, titles, widths, width, out);
        for (size_t i = 0; i + table->column_count <= table->count; i += table->column_count)
            print_folded_row(table, (const char *const *)table->cells + i, widths, width, out);
    }
    at_free(titles);
    at_free(widths);
}

void at_table_print(const struct at_table *table, enum at_table_form form, FILE *out)
{
    int *widths = at_alloc_array(table->column_count, sizeof *widths);
    const char **titles = at_alloc_array(table->column_count, sizeof *titles);

    measure(table, titles, widths);
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
