/* SPDX-License-Identifier: Apache-2.0 */
/* src/schema/print.c: each format, with cells that need quoting, and how fields become columns. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "schema/print.h"
#include "schema/table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct item {
    const char *rest, *name;
    int64_t n;
};

struct list {
    struct at_list items;
};

/* The columns stand in another order than the fields. */
static const struct at_field item_fields[] = {
    AT_WRITTEN(item, rest, AT_FIELD_TEXT, AT_COLUMN(3, "rest")),
    AT_WRITTEN(item, name, AT_FIELD_TEXT, AT_COLUMN(1, "name")),
    AT_WRITTEN(item, n, AT_FIELD_INT, AT_COLUMN(2, "n")),
};
static const struct at_schema item_schema = AT_SCHEMA("an item", item, item_fields);
static const struct at_field list_fields[] = {
    AT_WRITTEN(list, items, AT_FIELD_OBJECTS, .object = &item_schema),
};
static const struct at_schema list_schema = AT_SCHEMA("a list", list, list_fields);

static char *printed(const struct at_schema *schema, const void *record,
                     enum at_output_format format, int width)
{
    struct at_text_stream stream;
    struct at_error err = {0};
    FILE *out = at_text_open(&stream);

    assert_int_equal(at_print_within(schema, record, format, width, out, &err), AT_OK);
    return at_text_close(&stream, NULL);
}

static char *printed_list(const struct item *items, size_t count, enum at_output_format format)
{
    struct at_text_stream stream;
    struct at_error err = {0};
    FILE *out = at_text_open(&stream);

    assert_int_equal(at_print_list("items", &item_schema, items, count, format, out, &err), AT_OK);
    return at_text_close(&stream, NULL);
}

static void assert_printed(const struct at_schema *schema, const void *record,
                           enum at_output_format format, int width, const char *expected)
{
    char *text = printed(schema, record, format, width);

    assert_string_equal(text, expected);
    free(text);
}

static void test_formats(void **state)
{
    static const struct {
        enum at_output_format format;
        const char *expected;
    } formats[] = {
        {AT_FORMAT_TABLE, "name        n  rest\n"
                          "a,b         1  x\n"
                          "say \"µs\"  200  |*\n"},
        {AT_FORMAT_CSV, "name,n,rest\n"
                        "\"a,b\",1,x\n"
                        "\"say \"\"µs\"\"\",200,|*\n"},
        {AT_FORMAT_MARKDOWN, "| name | n | rest |\n"
                             "|---|---:|---|\n"
                             "| a,b | 1 | x |\n"
                             "| say \"µs\" | 200 | \\|\\* |\n"},
        {AT_FORMAT_JSON,
         "{\n"
         "  \"items\": [\n"
         "    {\n      \"rest\": \"x\",\n      \"name\": \"a,b\",\n      \"n\": 1\n    },\n"
         "    {\n      \"rest\": \"|*\",\n      \"name\": \"say \\\"µs\\\"\",\n      \"n\": 200\n  "
         "  }\n"
         "  ]\n"
         "}\n"},
    };
    struct item items[] = {{"x", "a,b", 1}, {"|*", "say \"µs\"", 200}};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(formats); i++) {
        char *text = printed_list(items, AT_COUNT(items), formats[i].format);

        assert_string_equal(text, formats[i].expected);
        free(text);
        assert_printed(&list_schema, &(struct list){{items, AT_COUNT(items)}}, formats[i].format, 0,
                       formats[i].expected);
    }
}

/* A cell that a spreadsheet would take for a formula begins with an apostrophe, but in CSV only. */
static void test_formulas(void **state)
{
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
        struct item item = {"", cases[i].cell, 1};
        const struct list list = {{&item, 1}};
        char *csv = at_format("name,n,rest\n%s,1,\n", cases[i].csv);
        char *text = at_format("name%*s  n  rest\n%-4s  1  \n",
                               strlen(cases[i].cell) > 4 ? (int)strlen(cases[i].cell) - 4 : 0, "",
                               cases[i].cell);

        assert_printed(&list_schema, &list, AT_FORMAT_CSV, 0, csv);
        assert_printed(&list_schema, &list, AT_FORMAT_TABLE, 0, text);
        free(text);
        free(csv);
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
        struct item items[] = {{cases[i].rest, "abcd", 1}, {cases[i].rest, "ef", 20}};

        assert_printed(&list_schema, &(struct list){{items, AT_COUNT(items)}}, AT_FORMAT_TABLE,
                       cases[i].width, cases[i].expected);
    }
}

/* A record with a list in a list, and each kind of field. */
struct inner {
    int64_t ns;
    double share;
    bool flag;
};

struct outer {
    char name[16];
    struct at_list numbers, named, counted, inners;
    int64_t hidden, unknown;
    int choice;
};

struct document {
    struct at_list outers;
};

static const char *const words[] = {"zero", "one"};
static const struct at_field inner_fields[] = {
    AT_WRITTEN(inner, ns, AT_FIELD_INT,
               AT_COLUMN(7, "us", .per = 1000, .digits = 2, .unit = " us")),
    AT_ONLY_COLUMN(inner, share, AT_FIELD_REAL, AT_OPTIONAL,
                   AT_COLUMN(8, "share", .digits = 1, .missing = "?")),
    AT_WRITTEN(inner, flag, AT_FIELD_FLAG, AT_COLUMN(9, "flag")),
};
static const struct at_schema inner_schema = AT_SCHEMA("an inner", inner, inner_fields);
static const struct at_field outer_fields[] = {
    AT_CHARS(outer, name, AT_COLUMN(1, "name")),
    AT_LIST(outer, numbers, AT_FIELD_INTS, 0, 9, AT_COLUMN(2, "numbers")),
    AT_LIST(outer, named, AT_FIELD_NAMED_INTS, 0, 9, AT_COLUMN(3, "named")),
    AT_OBJECTS(outer, counted, 0, 9, inner_schema, AT_COLUMN(4, "count")),
    AT_OBJECTS(outer, inners, 0, 9, inner_schema),
    AT_WRITTEN(outer, hidden, AT_FIELD_INT),
    AT_WRITTEN(outer, unknown, AT_FIELD_INT, AT_OPTIONAL, AT_COLUMN(5, "unknown")),
    AT_CHOICE(outer, choice, words, AT_COLUMN(6, "choice")),
};
static const struct at_schema outer_schema = AT_SCHEMA("an outer", outer, outer_fields);
static const struct at_field document_fields[] = {
    AT_WRITTEN(document, outers, AT_FIELD_OBJECTS, .object = &outer_schema),
};
static const struct at_schema document_schema = AT_SCHEMA("a document", document, document_fields);

static void test_fields(void **state)
{
    int64_t numbers[] = {1, 2};
    struct at_named_int named[] = {{"b", 4}, {"a", 3}};
    struct inner inners[] = {{1500, 0.25, true}, {20, NAN, false}};
    struct outer outers[] = {
        {"x", {numbers, 2}, {named, 2}, {inners, 2}, {inners, 2}, 7, 0, 1},
        {"no row", {0}, {0}, {0}, {0}, 7, 0, 1},
        {"y", {0}, {0}, {0}, {inners, 1}, 7, 8, 0},
    };
    const struct document document = {{outers, AT_COUNT(outers)}};

    (void)state;
    assert_printed(&document_schema, &document, AT_FORMAT_CSV, 0,
                   "name,numbers,named,count,unknown,choice,us,share,flag\n"
                   "x,1 2,a=3 b=4,2,,one,1.50 us,0.2,yes\n"
                   "x,1 2,a=3 b=4,2,,one,0.02 us,?,no\n"
                   "y,,,0,8,zero,1.50 us,0.2,yes\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats), cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_within), cmocka_unit_test(test_fields)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
