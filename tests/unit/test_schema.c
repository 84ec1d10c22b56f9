/* SPDX-License-Identifier: Apache-2.0 */
/* src/schema: reading, refusing with a message, and writing. */
#include "base/memory.h"
#include "schema/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A record with a field of every kind; `more` nests it to any depth. */
struct leaf {
    int64_t depth;
    char *label;
};

struct sample {
    char name[9];
    int64_t number, usual, id;
    bool flag;
    enum { NO_COLOR, RED, GREEN } color;
    char *text, *word;
    struct at_located place;
    struct at_list places, numbers, named, leaves, more;
    struct leaf leaf;
};

static const struct at_field leaf_fields[] = {
    {.key = "depth",
     .kind = AT_FIELD_INT,
     .offset = offsetof(struct leaf, depth),
     .min = INT64_MIN,
     .max = INT64_MAX},
    {.key = "label",
     .kind = AT_FIELD_TEXT,
     .offset = offsetof(struct leaf, label),
     .max = 100,
     .optional = true},
};

static const struct at_schema leaf_schema = {"a leaf", sizeof(struct leaf), leaf_fields,
                                             AT_COUNT(leaf_fields)};

extern const struct at_schema sample_schema;

#define LIST(name, list_kind, low, high, ...)                                                      \
    {                                                                                              \
        .key = #name, .kind = (list_kind), .offset = offsetof(struct sample, name), .min = (low),  \
        .max = (high), .optional = true, __VA_ARGS__                                               \
    }

static const char *const colors[] = {[RED] = "red", [GREEN] = "green"};

static const struct at_field sample_fields[] = {
    {.key = "color",
     .kind = AT_FIELD_CHOICE,
     .offset = offsetof(struct sample, color),
     .words = colors,
     .max = AT_COUNT(colors),
     .optional = true},
    {.key = "flag",
     .kind = AT_FIELD_FLAG,
     .offset = offsetof(struct sample, flag),
     .optional = true},
    {.key = "id",
     .kind = AT_FIELD_HEX,
     .offset = offsetof(struct sample, id),
     .max = 0xffff,
     .optional = true},
    {.key = "leaf",
     .kind = AT_FIELD_OBJECT,
     .offset = offsetof(struct sample, leaf),
     .optional = true,
     .object = &leaf_schema},
    LIST(leaves, AT_FIELD_OBJECTS, 1, 2, .object = &leaf_schema),
    LIST(more, AT_FIELD_OBJECTS, 0, 9, .object = &sample_schema),
    {.key = "name", .kind = AT_FIELD_CHARS, .offset = offsetof(struct sample, name), .max = 9},
    LIST(named, AT_FIELD_NAMED_INTS, 0, 2),
    {.key = "number",
     .kind = AT_FIELD_INT,
     .offset = offsetof(struct sample, number),
     .min = -5,
     .max = 100},
    LIST(numbers, AT_FIELD_INTS, 1, 3),
    {.key = "place",
     .kind = AT_FIELD_LOCATED,
     .offset = offsetof(struct sample, place),
     .optional = true},
    LIST(places, AT_FIELD_LOCATEDS, 0, 2),
    {.key = "text",
     .kind = AT_FIELD_TEXT,
     .offset = offsetof(struct sample, text),
     .max = 40,
     .optional = true},
    {.key = "usual",
     .kind = AT_FIELD_INT,
     .offset = offsetof(struct sample, usual),
     .min = -1,
     .max = 9,
     .optional = true,
     .absent = -1},
    {.key = "word",
     .kind = AT_FIELD_WORD,
     .offset = offsetof(struct sample, word),
     .optional = true},
};

const struct at_schema sample_schema = {"a sample", sizeof(struct sample), sample_fields,
                                        AT_COUNT(sample_fields)};

static enum at_status read_bytes(struct sample *sample, const char *text, size_t size,
                                 struct at_error *err)
{
    /* Exactly this many bytes, so that a sanitizer sees a read past the end. */
    char *copy = at_memdup(text, size);
    enum at_status status;

    memset(sample, 0, sizeof *sample);
    status = at_schema_read(&sample_schema, sample, "f.yaml", copy, size, err);
    free(copy);
    return status;
}

static void read_well(struct sample *sample, const char *text)
{
    struct at_error err = {0};

    if (read_bytes(sample, text, strlen(text), &err) != AT_OK)
        fail_msg("%s", err.message);
}

/* The text is refused with exactly this message, and the record is empty. */
static void read_badly(const char *text, size_t size, const char *message)
{
    static const struct sample zero;
    struct sample sample;
    struct at_error err = {0};

    assert_int_equal(read_bytes(&sample, text, size, &err), AT_USAGE);
    assert_string_equal(err.message, message);
    assert_memory_equal(&sample, &zero, sizeof sample);
}

static void reads_every_kind(void **state)
{
    static const char text[] = "# keys in any order\n"
                               "---\n"
                               "word: a-b_c.d+1\n"
                               "number: -5\n"
                               "numbers: [3, -9223372036854775808, 9223372036854775807]\n"
                               "name: \"8 bytes!\"\n"
                               "named: {TILE: 32, 'PAD': 0}\n"
                               "place:   here\n"
                               "places:\n"
                               "- 'quoted'\n"
                               "- >-\n"
                               "    one\n"
                               "    two\n"
                               "text: caf\xc3\xa9 \xf0\x9f\x9a\x80\n"
                               "leaf: {depth: 1}\n"
                               "leaves:\n"
                               "  - depth: 2\n"
                               "    label: second\n"
                               "  - {depth: 3}\n";
    struct sample s;
    const struct at_named_int *named;
    const struct at_located *places;
    const struct leaf *leaves;

    (void)state;
    read_well(&s, text);
    named = s.named.items;
    places = s.places.items;
    leaves = s.leaves.items;
    assert_string_equal(s.word, "a-b_c.d+1");
    assert_int_equal(s.number, -5);
    assert_int_equal(s.usual, -1);
    assert_int_equal(s.numbers.count, 3);
    assert_true(((int64_t *)s.numbers.items)[1] == INT64_MIN);
    assert_true(((int64_t *)s.numbers.items)[2] == INT64_MAX);
    assert_string_equal(s.name, "8 bytes!");
    assert_int_equal(s.named.count, 2);
    assert_string_equal(named[1].name, "PAD");
    assert_int_equal(named[0].value, 32);
    assert_string_equal(s.place.text, "here");
    assert_int_equal(s.place.line, 8);
    assert_int_equal(s.place.column, 10);
    assert_string_equal(places[0].text, "quoted");
    assert_int_equal(places[0].line, 10);
    assert_int_equal(places[0].column, 4);
    assert_string_equal(places[1].text, "one\ntwo");
    assert_int_equal(places[1].line, 12);
    assert_int_equal(places[1].column, 5);
    assert_string_equal(s.text, "caf\xc3\xa9 \xf0\x9f\x9a\x80");
    assert_int_equal(s.leaf.depth, 1);
    assert_null(s.leaf.label);
    assert_int_equal(s.leaves.count, 2);
    assert_string_equal(leaves[0].label, "second");
    assert_int_equal(leaves[1].depth, 3);
    at_schema_clear(&sample_schema, &s);
}

#define KEYS                                                                                       \
    "color, flag, id, leaf, leaves, more, name, named, number, numbers, place, places, text, "     \
    "usual, word"
#define ON_ONE_LINE                                                                                \
    "has to stand on one line, or on several below >-, so that messages can name the column"
#define TAGS "tags (!) are not used in these files; put text that begins with ! in quotes"
#define UNPRINTABLE                                                                                \
    "text with a control character or a line break in it (where it takes several lines, put >- "   \
    "before it)"
#define WORD "a word of at most 63 letters, digits, '_', '-', '.' and '+'"

static void refuses(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        /* not a record at all */
        {"", "f.yaml:1:1: a sample: expected keys and values, found nothing"},
        {"# only a comment\n", "f.yaml:2:1: a sample: expected keys and values, found nothing"},
        {"[1]", "f.yaml:1:1: a sample: expected keys and values, found a list"},
        {"text", "f.yaml:1:1: a sample: expected keys and values, found \"text\""},
        /* keys */
        {"foo: 1", "f.yaml:1:1: unknown key \"foo\"; expected one of " KEYS},
        {"name: a\nname: b", "f.yaml:2:1: duplicate key \"name\""},
        {"name: a", "f.yaml:1:1: a sample lacks the key \"number\""},
        {"number: 1\nleaf: {label: x}", "f.yaml:2:7: a leaf lacks the key \"depth\""},
        {"[name]: a", "f.yaml:1:1: a sample: expected a key, found a list"},
        {"<<: {number: 1}", "f.yaml:1:1: unknown key \"<<\"; expected one of " KEYS},
        {"named: {A: 1, A: 1}", "f.yaml:1:15: duplicate key \"A\""},
        {"named: {a b: 1}", "f.yaml:1:9: named: expected a word as the key, found \"a b\""},
        /* words, truth values, hexadecimal numbers */
        {"color: blue", "f.yaml:1:8: color: expected one of red, green, found \"blue\""},
        {"color: [red]", "f.yaml:1:8: color: expected one of red, green, found a list"},
        {"flag: 1", "f.yaml:1:7: flag: expected true or false, found \"1\""},
        {"flag: 'true'",
         "f.yaml:1:8: flag: expected true or false, found the quoted text \"true\""},
        {"id: 42",
         "f.yaml:1:5: id: expected hexadecimal digits after 0x, at most 0xffff, found \"42\""},
        {"id: 0x10000", "f.yaml:1:5: id: expected hexadecimal digits after 0x, at most 0xffff, "
                        "found \"0x10000\""},
        {"id: 0x", "f.yaml:1:5: id: expected hexadecimal digits after 0x, at most 0xffff, found "
                   "\"0x\""},
        /* integers */
        {"number: 101", "f.yaml:1:9: number: expected an integer from -5 to 100, found \"101\""},
        {"number: -6", "f.yaml:1:9: number: expected an integer from -5 to 100, found \"-6\""},
        {"number: '3'", "f.yaml:1:10: number: expected an integer from -5 to 100, found the quoted "
                        "text \"3\""},
        {"number: +3", "f.yaml:1:9: number: expected an integer from -5 to 100, found \"+3\""},
        {"number: 1_0", "f.yaml:1:9: number: expected an integer from -5 to 100, found \"1_0\""},
        {"number: 010", "f.yaml:1:9: number: expected an integer from -5 to 100, found \"010\""},
        {"number: 0x1", "f.yaml:1:9: number: expected an integer from -5 to 100, found \"0x1\""},
        {"number: 1.0", "f.yaml:1:9: number: expected an integer from -5 to 100, found \"1.0\""},
        {"number:", "f.yaml:1:8: number: expected an integer from -5 to 100, found nothing"},
        {"number: [1]", "f.yaml:1:9: number: expected an integer from -5 to 100, found a list"},
        {"leaf: {depth: 9223372036854775808}",
         "f.yaml:1:15: depth: expected an integer, found \"9223372036854775808\""},
        {"numbers: [1, x]", "f.yaml:1:14: numbers: expected an integer, found \"x\""},
        {"named: {A: yes}", "f.yaml:1:12: named: expected an integer, found \"yes\""},
        /* text */
        {"name: 9 letters", "f.yaml:1:7: name: expected text of at most 8 bytes, found 9"},
        {"name:", "f.yaml:1:6: name: expected text, found nothing"},
        {"text: {a: b}", "f.yaml:1:7: text: expected text, found a mapping"},
        {"text: \"a\\tb\"", "f.yaml:1:7: " UNPRINTABLE},
        {"text: \"a\\x7fb\"", "f.yaml:1:7: " UNPRINTABLE},
        {"text: \"a\\x9bb\"", "f.yaml:1:7: " UNPRINTABLE},
        {"text: \"a\\u2028b\"", "f.yaml:1:7: " UNPRINTABLE},
        {"text: \"a\\0b\"", "f.yaml:1:7: " UNPRINTABLE},
        {"text: |\n  a\n  b\n", "f.yaml:1:7: " UNPRINTABLE},
        {"\"na\\nme\": x", "f.yaml:1:1: " UNPRINTABLE},
        {"word: a b", "f.yaml:1:7: word: expected " WORD ", found \"a b\""},
        {"word: ''", "f.yaml:1:8: word: expected " WORD ", found the quoted text \"\""},
        {"place: a\n  b", "f.yaml:1:8: place: " ON_ONE_LINE},
        {"places: ['a\n  b']", "f.yaml:1:11: places: " ON_ONE_LINE},
        /* lists */
        {"numbers: 1", "f.yaml:1:10: numbers: expected a list like [32, 8], found \"1\""},
        {"numbers: []", "f.yaml:1:10: numbers: expected 1 to 3 items, found 0"},
        {"numbers: [1, 2, 3, 4]", "f.yaml:1:10: numbers: expected 1 to 3 items, found 4"},
        {"named: {A: 1, B: 2, C: 3}", "f.yaml:1:8: named: expected 0 to 2 items, found 3"},
        {"named: [1]", "f.yaml:1:8: named: expected a mapping of words to integers, found a list"},
        {"leaves: [1]", "f.yaml:1:10: a leaf: expected keys and values, found \"1\""},
        /* YAML features that are not used */
        {"name: &a x", "f.yaml:1:7: anchors (&) are not used in these files"},
        {"leaf: &a {depth: 1}", "f.yaml:1:7: anchors (&) are not used in these files"},
        {"name: *a", "f.yaml:1:7: aliases (*) are not used in these files; write the value out"},
        {"name: !!str x", "f.yaml:1:7: " TAGS},
        {"name: ! x", "f.yaml:1:7: " TAGS},
        {"numbers: !a [1]", "f.yaml:1:10: " TAGS},
        {"%YAML 1.1\n---\nname: x", "f.yaml:1:1: directives (%) are not used in these files"},
        {"%TAG ! !a\n---\nname: x", "f.yaml:1:1: directives (%) are not used in these files"},
        {"name: x\nnumber: 1\n---\nname: y", "f.yaml:3:1: a second document; a file holds one"},
        /* not YAML */
        {"numbers: [1,", "f.yaml:2:1: not well-formed YAML: did not find expected node content"},
        {"name: \"x", "f.yaml:1:9: not well-formed YAML: found unexpected end of stream"},
        {"name: x: y", "f.yaml:1:8: not well-formed YAML: mapping values are not allowed in this "
                       "context"},
        {"\tname: x", "f.yaml:1:1: not well-formed YAML: found character that cannot start any "
                      "token"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++)
        read_badly(cases[i].text, strlen(cases[i].text), cases[i].message);
}

static void refuses_bytes_that_are_not_text(void **state)
{
    static const char binary[] = "\x7f"
                                 "ELF\x02\x01\x01\0\0\0";
    static const char utf16[] = "\xff\xfen\0a\0m\0";

    (void)state;
    read_badly(binary, sizeof binary - 1,
               "f.yaml:1:1: not a text file: control characters are not allowed");
    read_badly(utf16, sizeof utf16 - 1, "f.yaml:1:1: not a text file: invalid leading UTF-8 octet");
    read_badly("name: a\ntext: \xc3\x28", 16,
               "f.yaml:2:8: not a text file: invalid trailing UTF-8 octet");
    read_badly("name: \0", 7, "f.yaml:1:7: not a text file: control characters are not allowed");
}

/* Every prefix of a good file is read or refused, without leaks. */
static void survives_truncation(void **state)
{
    static const char text[] = "name: x\nnumber: 1\nnamed: {A: 1}\nplaces: [a, 'b']\n"
                               "place: >-\n  a\n  b\nleaves:\n  - depth: 1\n    label: \"l\"\n";

    (void)state;
    for (size_t size = 0; size < sizeof text; size++) {
        struct sample sample;
        struct at_error err = {0};

        if (read_bytes(&sample, text, size, &err) == AT_OK)
            at_schema_clear(&sample_schema, &sample);
        else
            assert_non_null(strstr(err.message, "f.yaml:"));
    }
}

/* Return `levels` nested samples. The innermost mapping is level 2 * levels - 1. */
static char *nested(int levels, const char *innermost)
{
    char *text = at_strdup(innermost);

    for (int i = 1; i < levels; i++) {
        char *outer = at_format("{name: x, number: 1, more: [%s]}", text);

        free(text);
        text = outer;
    }
    return text;
}

static void limits_depth(void **state)
{
    char *deep = nested(8, "{name: x, number: 1, numbers: [1]}"); /* 15, and the list is 16 */
    char *deeper = nested(9, "{name: x, number: 1}");
    struct sample sample;
    struct at_error err = {0};

    (void)state;
    read_well(&sample, deep);
    at_schema_clear(&sample_schema, &sample);
    assert_int_equal(read_bytes(&sample, deeper, strlen(deeper), &err), AT_USAGE);
    assert_non_null(strstr(err.message, "more than 16 levels of lists and mappings"));
    free(deep);
    free(deeper);
}

static void limits_size(void **state)
{
    static const char record[] = "name: x\nnumber: 1\n#";
    size_t size = AT_SCHEMA_BYTES_MAX;
    char *text = at_alloc(size + 1);
    struct sample sample;
    struct at_error err = {0};

    (void)state;
    memset(text, 'c', size + 1);
    memcpy(text, record, sizeof record - 1);
    assert_int_equal(read_bytes(&sample, text, size, &err), AT_OK);
    at_schema_clear(&sample_schema, &sample);
    read_badly(text, size + 1, "f.yaml has 4194305 bytes; at most 4194304 are read");
    free(text);
}

static void reads_files(void **state)
{
    char path[] = "/tmp/autotune-test-schema-XXXXXX";
    int fd = mkstemp(path);
    struct sample sample = {0};
    struct at_error err = {0};

    (void)state;
    assert_int_equal(write(fd, "number: 1\nnam: x\n", 17), 17);
    close(fd);
    assert_int_equal(at_schema_read_file(&sample_schema, &sample, path, &err), AT_USAGE);
    assert_memory_equal(err.message, path, strlen(path));
    assert_string_equal(err.message + strlen(path),
                        ":2:1: unknown key \"nam\"; expected one of " KEYS);
    unlink(path);
    assert_int_equal(at_schema_read_file(&sample_schema, &sample, path, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "No such file"));
}

typedef enum at_status write_fn(const struct at_schema *schema, const void *record, FILE *out,
                                struct at_error *err);

static char *written(write_fn *write_as, const struct sample *sample)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct at_error err = {0};
    enum at_status status = write_as(&sample_schema, sample, out, &err);

    fclose(out);
    if (status != AT_OK)
        fail_msg("%s", err.message);
    return text;
}

static void writes_every_kind(void **state)
{
    static const char yaml[] = "color: green\n"
                               "flag: true\n"
                               "id: 0x2a\n"
                               "leaf:\n"
                               "  depth: 0\n"
                               "  label: a label\n"
                               "leaves:\n"
                               "- depth: -1\n"
                               "name: ''\n"
                               "named: {TILE: 32, 'Y': 1}\n"
                               "number: 7\n"
                               "numbers: [1, 2, 3]\n"
                               "place: a == b\n"
                               "places:\n"
                               "- '!a'\n"
                               "- b\n"
                               "text: 'it''s: caf\xc3\xa9'\n"
                               "usual: 0\n"
                               "word: w\n";
    static const char json[] = "{\n"
                               "  \"color\": \"red\",\n"
                               "  \"flag\": true,\n"
                               "  \"id\": \"0xffff\",\n"
                               "  \"name\": \"\",\n"
                               "  \"named\": {\n"
                               "    \"TILE\": 32,\n"
                               "    \"Y\": 1\n"
                               "  },\n"
                               "  \"number\": 7,\n"
                               "  \"numbers\": [\n"
                               "    1,\n"
                               "    2\n"
                               "  ],\n"
                               "  \"text\": \"\\\"caf\xc3\xa9\\\"\"\n"
                               "}\n";
    static const char line[] = "{\"color\":\"red\",\"flag\":true,\"id\":\"0xffff\",\"name\":\"\","
                               "\"named\":{\"TILE\":32,\"Y\":1},\"number\":7,"
                               "\"numbers\":[1,2],\"text\":\"\\\"caf\xc3\xa9\\\"\"}\n";
    struct sample sample;
    char *text;

    (void)state;
    read_well(&sample, yaml);
    text = written(at_schema_write_yaml, &sample);
    at_schema_clear(&sample_schema, &sample);
    assert_string_equal(text, yaml);
    free(text);

    read_well(&sample, "{name: '', number: 7, text: '\"caf\xc3\xa9\"', numbers: [1, 2], "
                       "named: {TILE: 32, Y: 1}, color: red, flag: true, id: 0xffff}");
    text = written(at_schema_write_json, &sample);
    assert_string_equal(text, json);
    free(text);
    text = written(at_schema_write_json_line, &sample);
    assert_string_equal(text, line);
    free(text);
    at_schema_clear(&sample_schema, &sample);
}

/* Text is read back unchanged. It is quoted if a reader of YAML 1.1 would see a number, a truth
 * value, a time or a sign of YAML itself. */
static void quotes_what_needs_it(void **state)
{
    static const struct {
        const char *text, *line;
    } cases[] = {
        {"plain", "plain"},
        {"two words", "two words"},
        {"GPU-0a1b", "GPU-0a1b"},
        {"yesterday", "yesterday"},
        {"", "''"},
        {"yes", "'yes'"},
        {"No", "'No'"},
        {"ON", "'ON'"},
        {"off", "'off'"},
        {"y", "'y'"},
        {"true", "'true'"},
        {"NULL", "'NULL'"},
        {"~", "'~'"},
        {"1e3", "'1e3'"},
        {"0x1f", "'0x1f'"},
        {"13.0", "'13.0'"},
        {".inf", "'.inf'"},
        {"1:30", "'1:30'"},
        {"2001-01-01", "'2001-01-01'"},
        {"-1", "'-1'"},
        {"+1", "'+1'"},
        {"-", "'-'"},
        {"- a", "'- a'"},
        {"=", "'='"},
        {"<<", "'<<'"},
        {"!a", "'!a'"},
        {"&a", "'&a'"},
        {"*a", "'*a'"},
        {"%a", "'%a'"},
        {"@a", "'@a'"},
        {"`a", "'`a'"},
        {"? a", "'? a'"},
        {"|", "'|'"},
        {"# a", "'# a'"},
        {"[a]", "'[a]'"},
        {"{a}", "'{a}'"},
        {" a", "' a'"},
        {"a ", "'a '"},
        {"a: b", "'a: b'"},
        {"a:", "'a:'"},
        {"a #b", "'a #b'"},
        {"a#b:c", "a#b:c"},
        {"it's", "it's"},
        {"---", "'---'"},
        {"\xc3\xa9t\xc3\xa9", "'\xc3\xa9t\xc3\xa9'"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct sample sample = {.usual = -1, .text = at_strdup(cases[i].text)};
        char *expected = at_format("name: ''\nnumber: 0\ntext: %s\n", cases[i].line);
        char *text = written(at_schema_write_yaml, &sample);

        assert_string_equal(text, expected);
        at_schema_clear(&sample_schema, &sample);
        read_well(&sample, text);
        assert_string_equal(sample.text, cases[i].text);
        at_schema_clear(&sample_schema, &sample);
        free(text);
        free(expected);
    }
}

static void never_folds_a_line(void **state)
{
    char long_text[2000];
    struct sample sample = {.usual = -1};
    char *text;

    (void)state;
    for (size_t i = 0; i < sizeof long_text; i++)
        long_text[i] = i % 10 == 9 ? ' ' : 'a';
    long_text[sizeof long_text - 2] = '!';
    long_text[sizeof long_text - 1] = '\0';
    sample.text = at_strdup(long_text);
    text = written(at_schema_write_yaml, &sample);
    assert_non_null(strstr(text, long_text));
    at_schema_clear(&sample_schema, &sample);
    free(text);
}

static void refuses_to_write_what_it_would_not_read(void **state)
{
    static const char *const bad[] = {"a\nb",     "\x1b[31m",     "\xff",
                                      "\xc1\x81", "\xed\xa0\x80", "a\x7f"};
    write_fn *const writers[] = {at_schema_write_yaml, at_schema_write_json,
                                 at_schema_write_json_line};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(bad); i++) {
        for (size_t w = 0; w < AT_COUNT(writers); w++) {
            struct sample sample = {.text = at_strdup(bad[i])};
            struct at_error err = {0};

            assert_int_equal(writers[w](&sample_schema, &sample, stdout, &err), AT_INTERNAL);
            assert_string_equal(err.message, "text is not printable text and cannot be written");
            at_schema_clear(&sample_schema, &sample);
        }
    }
}

/* Values that a reader would refuse are not written. */
static void refuses_to_write_what_is_out_of_bounds(void **state)
{
    static const struct {
        int64_t number;
        const char *message; /* NULL: within bounds */
    } cases[] = {
        {-5, NULL},
        {100, NULL},
        {-6, "number is -6, not from -5 to 100"},
        {101, "number is 101, not from -5 to 100"},
        {INT64_MAX, "number is 9223372036854775807, not from -5 to 100"},
    };
    write_fn *const writers[] = {at_schema_write_yaml, at_schema_write_json,
                                 at_schema_write_json_line};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++)
        for (size_t w = 0; w < AT_COUNT(writers); w++) {
            const struct sample sample = {.number = cases[i].number};
            struct at_error err = {0};
            char *text = NULL;
            size_t size;
            FILE *out = open_memstream(&text, &size);
            enum at_status status = writers[w](&sample_schema, &sample, out, &err);

            fclose(out);
            free(text);
            assert_int_equal(status, cases[i].message ? AT_INTERNAL : AT_OK);
            if (cases[i].message && !strstr(err.message, cases[i].message))
                assert_string_equal(err.message, cases[i].message);
        }
}

static void says_when_the_file_fails(void **state)
{
    write_fn *const writers[] = {at_schema_write_yaml, at_schema_write_json,
                                 at_schema_write_json_line};
    struct sample sample = {.name = "x"};

    (void)state;
    for (size_t w = 0; w < AT_COUNT(writers); w++) {
        FILE *full = fopen("/dev/full", "w");
        struct at_error err = {0};

        assert_non_null(full);
        assert_int_equal(writers[w](&sample_schema, &sample, full, &err), AT_INTERNAL);
        assert_string_equal(err.message, "a sample cannot be written");
        fclose(full);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_kind),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_bytes_that_are_not_text),
        cmocka_unit_test(survives_truncation),
        cmocka_unit_test(limits_depth),
        cmocka_unit_test(limits_size),
        cmocka_unit_test(reads_files),
        cmocka_unit_test(writes_every_kind),
        cmocka_unit_test(quotes_what_needs_it),
        cmocka_unit_test(never_folds_a_line),
        cmocka_unit_test(refuses_to_write_what_it_would_not_read),
        cmocka_unit_test(refuses_to_write_what_is_out_of_bounds),
        cmocka_unit_test(says_when_the_file_fails),
    };

    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
