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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
