/* SPDX-License-Identifier: Apache-2.0 */
/* All features of YAML, most of which the reader refuses: tests/data/yaml-cases.txt, read as a
 * small record and as every kind of file. */
#include "base/error.h"
#include "base/memory.h"
#include "profile/profile.h"
#include "schema/table.h"
#include "space/family.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source_tree.h"

enum { CASES_LEAST = 120 };

struct record {
    char *a, *b;
    struct at_list list, map;
    int64_t n;
};

static const struct at_field fields[] = {
    AT_TEXT(record, a, 200, AT_OPTIONAL),
    AT_TEXT(record, b, 200, AT_OPTIONAL),
    AT_LIST(record, list, AT_FIELD_LOCATEDS, 0, 20, AT_OPTIONAL),
    AT_LIST(record, map, AT_FIELD_NAMED_INTS, 0, 20, AT_OPTIONAL),
    AT_INT(record, n, 0, 99, AT_OPTIONAL),
};
static const struct at_schema schema = AT_SCHEMA("a record", record, fields);

/* Signs for bytes that an editor does not show. */
static const struct {
    const char *sign, *bytes;
} signs[] = {{"\u2423", " "},      {"\u2014\u2014\u00bb", "\t"}, {"\u2190", "\r"},
             {"\u21d4", "\ufeff"}, {"\u241b", "\033"},           {"\u2424", "\xc2\x85"}};

/* The text with its signs replaced, up to a filled box if there is one; the caller frees it. */
static char *expand(const char *text, size_t size)
{
    char *expanded = at_alloc(size + 1), *out = expanded;

    for (const char *in = text; in < text + size;) {
        size_t i = 0;

        if (strncmp(in, "\u220e", strlen("\u220e")) == 0)
            break;
        while (i < AT_COUNT(signs) && strncmp(in, signs[i].sign, strlen(signs[i].sign)) != 0)
            i++;
        if (i == AT_COUNT(signs)) {
            *out++ = *in++;
            continue;
        }
        in += strlen(signs[i].sign);
        out = stpcpy(out, signs[i].bytes);
    }
    return expanded;
}

static void check_small(const char *title, const char *yaml, const char *verdict)
{
    struct record record = {0};
    struct at_error err = {AT_OK, ""};
    char *copy = at_memdup(yaml, strlen(yaml)); /* a sanitizer sees a read past its end */
    enum at_status status = at_schema_read(&schema, &record, "case.yaml", copy, strlen(yaml), &err);

    free(copy);
    if (strcmp(verdict, "read") == 0) {
        if (status != AT_OK)
            fail_msg("%s: %s", title, err.message);
        at_schema_clear(&schema, &record);
        return;
    }
    if (status != AT_USAGE)
        fail_msg("%s: was read", title);
    if (!strstr(err.message, verdict) || strncmp(err.message, "case.yaml:", 10) != 0)
        fail_msg("%s: %s", title, err.message);
}

/* No kind of file accepts any of these. */
static void check_ours(const char *title, const char *yaml)
{
    static const struct at_schema *const schemas[] = {&at_profile_schema, &at_family_schema};

    for (size_t i = 0; i < AT_COUNT(schemas); i++) {
        void *record = at_alloc(schemas[i]->size);
        struct at_error err = {AT_OK, ""};

        if (at_schema_read(schemas[i], record, "case.yaml", yaml, strlen(yaml), &err) != AT_USAGE)
            fail_msg("%s: %s was read", title, schemas[i]->what);
        assert_true(at_text_is_printable(err.message, strlen(err.message)));
        free(record);
    }
}

static void reads_or_refuses_each(void **state)
{
    static const char mark[] = "\n=== ";
    char *text = text_of("tests/data/yaml-cases.txt"), *at = strstr(text, mark);
    int count = 0;

    (void)state;
    for (; at; count++) {
        char *title = at + strlen(mark), *begin = strchr(title, '\n') + 1;
        char *next = strstr(begin - 1, mark), *end = next ? next + 1 : begin + strlen(begin);
        char *verdict, *yaml = expand(begin, (size_t)(end - begin));

        begin[-1] = '\0';
        verdict = strstr(title, " | ");
        assert_non_null(verdict);
        check_small(title, yaml, verdict + strlen(" | "));
        check_ours(title, yaml);
        free(yaml);
        at = next;
    }
    assert_true(count >= CASES_LEAST);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_or_refuses_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
