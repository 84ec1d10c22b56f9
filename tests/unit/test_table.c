/* SPDX-License-Identifier: Apache-2.0 */
/* src/base/table.c: each form, with cells that need quoting. */
#include "base/memory.h"
#include "base/table.h"
#include "base/text_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct at_table_column columns[] = {{"name", true}, {"n", false}, {"rest", true}};

static const struct {
    enum at_table_form form;
    const char *expected;
} forms[] = {
    {AT_TABLE_TEXT, "name        n  rest\n"
                    "a,b         1  x\n"
                    "say \"µs\"  200  |*\n"},
    {AT_TABLE_CSV, "name,n,rest\n"
                   "\"a,b\",1,x\n"
                   "\"say \"\"µs\"\"\",200,|*\n"},
    {AT_TABLE_MARKDOWN, "| name | n | rest |\n"
                        "|---|---:|---|\n"
                        "| a,b | 1 | x |\n"
                        "| say \"µs\" | 200 | \\|\\* |\n"},
};

static void test_forms(void **state)
{
    struct at_table table = {columns, AT_COUNT(columns), NULL, 0, 0};

    (void)state;
    at_table_add(&table, "a,b");
    at_table_add(&table, "%d", 1);
    at_table_add(&table, "x");
    at_table_add(&table, "say \"µs\"");
    at_table_add(&table, "%d", 200);
    at_table_add(&table, "|*");
    for (size_t i = 0; i < AT_COUNT(forms); i++) {
        struct at_text_stream stream;
        char *text;

        at_table_print(&table, forms[i].form, at_text_open(&stream));
        text = at_text_close(&stream, NULL);
        assert_string_equal(text, forms[i].expected);
        free(text);
    }
    at_table_clear(&table);
}

/* A cell that a spreadsheet would take for a formula begins with an apostrophe, but in CSV only. */
static void test_formulas(void **state)
{
    static const struct at_table_column column[] = {{"name", true}};
    static const struct {
        const char *cell, *csv;
    } cases[] = {
        {"=cmd|calc!A0", "'=cmd|calc!A0"},
        {"=1,2", "\"'=1,2\""},
        {"@SUM(A1)", "'@SUM(A1)"},
        {"+1+cmd", "'+1+cmd"},
        {"-1.5-2", "'-1.5-2"},
        {"\tx", "'\tx"},
        {"\r=1", "\"'\r=1\""},
        {"-1.5", "-1.5"},
        {"+20", "+20"},
        {"-", "-"},
        {"", ""},
        {"a=1", "a=1"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        for (enum at_table_form form = AT_TABLE_TEXT; form <= AT_TABLE_CSV; form++) {
            struct at_table table = {column, 1, NULL, 0, 0};
            struct at_text_stream stream;
            char *text, *expected = at_format("name\n%s\n",
                                              form == AT_TABLE_CSV ? cases[i].csv : cases[i].cell);

            at_table_add(&table, "%s", cases[i].cell);
            at_table_print(&table, form, at_text_open(&stream));
            text = at_text_close(&stream, NULL);
            assert_string_equal(text, expected);
            free(text);
            free(expected);
            at_table_clear(&table);
        }
    }
}

/* What does not fit follows on another line; words are broken where the others begin. */
static void test_within(void **state)
{
    static const struct {
        int width;
        const char *rest, *expected;
    } cases[] = {
        {0, "x", "name   n  rest\nabcd   1  x\nef    20  x\n"},
        {14, "x", "name   n  rest\nabcd   1  x\nef    20  x\n"},
        {13, "x", "name   n\n    rest\nabcd   1\n    x\nef    20\n    x\n"},
        {7, "x", "name\n     n\n    rest\nabcd\n     1\n    x\nef\n    20\n    x\n"},
        {40, "words that are many, and more than a line holds",
         "name   n  rest\n"
         "abcd   1  words that are many, and more\n          than a line holds\n"
         "ef    20  words that are many, and more\n          than a line holds\n"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_table table = {columns, AT_COUNT(columns), NULL, 0, 0};
        struct at_text_stream stream;
        char *text;

        for (int row = 0; row < 2; row++) {
            at_table_add(&table, "%s", row ? "ef" : "abcd");
            at_table_add(&table, "%d", row ? 20 : 1);
            at_table_add(&table, "%s", cases[i].rest);
        }
        at_table_print_within(&table, cases[i].width, at_text_open(&stream));
        text = at_text_close(&stream, NULL);
        assert_string_equal(text, cases[i].expected);
        free(text);
        at_table_clear(&table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_formulas),
                                       cmocka_unit_test(test_within)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
