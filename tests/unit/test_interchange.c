/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings as Kernel Tuner caches and T4 results, and back: src/recording/json.c,
 * kernel_tuner.c, t4.c, read.c. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "recording/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "source_tree.h"

static char path[] = "/tmp/autotune-test-interchange-XXXXXX";

static void put(const char *text)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void read_put(struct at_recording *recording, const char *text)
{
    struct at_error err = {AT_OK, ""};

    put(text);
    if (at_recording_read(recording, path, &err) != AT_OK)
        fail_msg("%s", err.message);
}

static char *write_as(const struct at_recording *recording, const char *name)
{
    size_t format;
    struct at_error err = {AT_OK, ""};
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    assert_int_equal(at_choose(&format, "format", name, at_recording_choice, &err), AT_OK);
    if (at_recording_write_as(recording, at_recording_formats[format], out, &err) != AT_OK)
        fail_msg("%s", err.message);
    return at_text_close(&stream, NULL);
}

/* ---- in both directions ---- */

/* Two families that share a parameter, and every outcome. */
#define OURS                                                                                       \
    "autotune recording\t3\nproblem\t64x32:f16,ld_src=40\ndevice\tSome \"GPU\"\nsetting\tany\n"    \
    "copy_ns\t90\nevaluation_ns\t5000001\n"                                                        \
    "family\to\"ne\t1\tabc\t2\t7\nparam\tA\t1\t1 2\nparam\tB\t0\t0 5 -1 7\n"                       \
    "1 0\t100 104 101\n1 5\tcompile\n1 -1\twrong\n1 7\ttimeout\n2 0\tcrash\n2 5\t899999999999\n"   \
    "2 7\toom\n"                                                                                   \
    "family\ttwo\t-2\tdef\t2\t2\nparam\tB\t9\t9 0\nparam\tC\t3\t3\n"                               \
    "9 3\tlaunch\n0 3\t1\n"

/* Times of evaluations, of which one is not known; a neutral value, and configs of two launches. */
#define OURS_WITH_COSTS                                                                            \
    "autotune recording\t3\nproblem\t64x32:f16\ndevice\tG\nsetting\tany\ncopy_ns\t90\n"            \
    "evaluation_ns\t5000001\nfamily\tone\t1\tabc\t1\t3\nlaunches\t2\nparam\tA\t1\t1 2 3\t2\n"      \
    "1\t100 104 101\t7000001\n2\tcompile\n3\t99\t900000000000\n"

static void check_there_and_back(const char *text)
{
    for (size_t i = 0; at_recording_formats[i]; i++) {
        struct at_recording recording, again;
        char *written, *back;

        read_put(&recording, text);
        written = write_as(&recording, at_recording_formats[i]->name);
        read_put(&again, written);
        back = write_as(&again, "recording");
        assert_string_equal(back, text);
        assert_int_equal(again.best, recording.best);
        free(back);
        free(written);
        at_recording_clear(&again);
        at_recording_clear(&recording);
    }
}

static void test_there_and_back(void **state)
{
    char *shipped = text_of("tests/recordings/h200-10007x10009-b1.recording");

    (void)state;
    check_there_and_back(OURS);
    check_there_and_back(OURS_WITH_COSTS);
    check_there_and_back(shipped);
    free(shipped);
}

/* A config that does not name a parameter has its neutral value. */
static void test_neutral(void **state)
{
    struct at_recording recording, again;
    char *written, *back, *given;

    (void)state;
    read_put(&recording, OURS_WITH_COSTS);
    written = write_as(&recording, "t4");
    given = strstr(written, "\"A\": 2");
    assert_non_null(given);
    given[1] = 'Z';
    read_put(&again, written);
    back = write_as(&again, "recording");
    assert_string_equal(back, OURS_WITH_COSTS);
    free(back);
    free(written);
    at_recording_clear(&again);
    at_recording_clear(&recording);
}

#define HEAD                                                                                       \
    "autotune recording\t3\nproblem\t64x32:f16,ld_src=40\ndevice\tSome \"GPU\"\nsetting\tany\n"    \
    "copy_ns\t90\nevaluation_ns\t5000001\n"

static const struct {
    const char *name, *kept, *said; /* kept NULL: refused with these words */
} kept[] = {
    {"o\"ne",
     HEAD "family\to\"ne\t1\tabc\t2\t7\nparam\tA\t1\t1 2\nparam\tB\t0\t0 5 -1 7\n1 0\t100 104 101\n"
          "1 5\tcompile\n1 -1\twrong\n1 7\ttimeout\n2 0\tcrash\n2 5\t899999999999\n2 7\toom\n",
     NULL},
    {"two",
     HEAD "family\ttwo\t-2\tdef\t2\t2\nparam\tB\t9\t9 0\nparam\tC\t3\t3\n9 3\tlaunch\n0 3\t1\n",
     NULL},
    {"bad", NULL, "no config of family bad is correct"},
    {"tow", NULL, "no family \"tow\" (did you mean two, bad?); known are o\"ne, two, bad"},
};

static void test_keep_family(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(kept); i++) {
        struct at_recording recording;
        struct at_error err = {AT_OK, ""};
        enum at_status status;

        read_put(&recording, OURS "family\tbad\t0\tghi\t1\t1\nparam\tX\t1\t1\n1\tcrash\n");
        status = at_recording_keep_family(&recording, kept[i].name, &err);
        assert_int_equal(status, kept[i].kept ? AT_OK : AT_USAGE);
        if (kept[i].kept) {
            char *text = write_as(&recording, "recording");

            assert_string_equal(text, kept[i].kept);
            free(text);
        } else if (!strstr(err.message, kept[i].said)) {
            fail_msg("%s", err.message);
        }
        at_recording_clear(&recording);
    }
}

/* ---- what the other tuners' schemas require ---- */

static const json_t *member(const json_t *object, const char *name, json_type type)
{
    const json_t *value = json_object_get(object, name);

    if (!value || json_typeof(value) != type)
        fail_msg("%s is missing, or of another type", name);
    return value;
}

static json_t *load(const struct at_recording *recording, const char *format)
{
    char *text = write_as(recording, format);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

    assert_non_null(root);
    free(text);
    return root;
}

static void test_kernel_tuner_schema(void **state)
{
    static const char *const times[] = {"compile_time", "verification_time", "benchmark_time",
                                        "strategy_time", "framework_time"};
    struct at_recording recording;
    const json_t *params, *entry;
    json_t *root;
    char *text;

    (void)state;
    read_put(&recording, OURS);
    root = load(&recording, "kernel-tuner");
    assert_string_equal(json_string_value(member(root, "schema_version", JSON_STRING)), "1.1.0");
    assert_string_equal(json_string_value(member(root, "objective", JSON_STRING)), "time");
    member(root, "device_name", JSON_STRING);
    member(root, "kernel_name", JSON_STRING);
    assert_int_equal(json_array_size(member(root, "problem_size", JSON_ARRAY)), 3);
    assert_int_equal(json_array_size(member(root, "tune_params_keys", JSON_ARRAY)), 4);
    params = member(root, "tune_params", JSON_OBJECT);
    /* 0, 5, -1, 7 of one family and 9 of the other; and null for C, which one family lacks. */
    assert_int_equal(json_array_size(member(params, "B", JSON_ARRAY)), 5);
    assert_int_equal(json_array_size(member(params, "C", JSON_ARRAY)), 2);
    assert_int_equal(json_object_size(member(root, "cache", JSON_OBJECT)), 9);
    /* The key is the values as Python's str() prints them. */
    entry = member(json_object_get(root, "cache"), "two,None,0,3", JSON_OBJECT);
    assert_true(json_real_value(member(entry, "time", JSON_REAL)) == 1e-6);
    entry = member(json_object_get(root, "cache"), "o\"ne,1,7,None", JSON_OBJECT);
    assert_string_equal(json_string_value(member(entry, "time", JSON_STRING)),
                        "RuntimeFailedConfig");
    for (size_t i = 0; i < AT_COUNT(times); i++)
        assert_true(json_is_number(json_object_get(entry, times[i])));
    member(entry, "timestamp", JSON_STRING);
    json_decref(root);
    /* Kernel Tuner continues only files that end like this. */
    text = write_as(&recording, "kernel-tuner");
    assert_string_equal(text + strlen(text) - strlen("}}\n}\n"), "}}\n}\n");
    free(text);
    at_recording_clear(&recording);
}

static void test_t4_schema(void **state)
{
    static const char *const invalidities[] = {"correct", "compile", "correctness",
                                               "timeout", "runtime", "correct",
                                               "runtime", "runtime", "correct"};
    struct at_recording recording;
    const json_t *results;
    json_t *root;

    (void)state;
    read_put(&recording, OURS);
    root = load(&recording, "t4");
    assert_string_equal(json_string_value(member(root, "schema_version", JSON_STRING)), "1.0.0");
    results = member(root, "results", JSON_ARRAY);
    assert_int_equal(json_array_size(results), AT_COUNT(invalidities));
    for (size_t i = 0; i < AT_COUNT(invalidities); i++) {
        const json_t *result = json_array_get(results, i);
        const json_t *times = member(result, "times", JSON_OBJECT);
        const char *invalidity = json_string_value(member(result, "invalidity", JSON_STRING));

        member(result, "configuration", JSON_OBJECT);
        member(result, "objectives", JSON_ARRAY);
        member(result, "measurements", JSON_ARRAY);
        member(times, "runtimes", JSON_ARRAY);
        member(times, "framework", JSON_REAL);
        assert_string_equal(invalidity, invalidities[i]);
        assert_int_equal(json_integer_value(member(result, "correctness", JSON_INTEGER)),
                         strcmp(invalidity, "correct") == 0);
    }
    json_decref(root);
    at_recording_clear(&recording);
}

/* ---- other tuners' files ---- */

static void test_kernel_tuner_file(void **state)
{
    static const enum at_outcome outcomes[] = {AT_CORRECT, AT_CORRECT, AT_LAUNCH, AT_COMPILE,
                                               AT_CONSTRAINT};
    char *name = path_of("tests/data/interchange/kernel-tuner.json"), *title;
    struct at_recording recording;
    struct at_error err = {AT_OK, ""};

    (void)state;
    if (at_recording_read(&recording, name, &err) != AT_OK)
        fail_msg("%s", err.message);
    title = at_recording_title(&recording);
    assert_string_equal(title, "vector_add [10000000, 1]");
    assert_string_equal(recording.device, "Some GPU");
    assert_int_equal(recording.family_count, 1);
    assert_int_equal(recording.families[0].family->params[0].value_count, 3);
    assert_int_equal(recording.space.count, AT_COUNT(outcomes));
    /* Sorted by the parameters' values: 256 is before 128, false before true. */
    for (size_t i = 0; i < AT_COUNT(outcomes); i++)
        assert_int_equal(recording.results[i].outcome, outcomes[i]);
    assert_int_equal(recording.space.configs[0].values[0], 256);
    assert_int_equal(recording.space.configs[2].values[2], -2);
    assert_int_equal(recording.results[0].sample_count, 7);
    assert_true(recording.results[0].time_ns == 27008); /* the median, rounded to a nanosecond */
    assert_true(recording.results[1].time_ns == 30000); /* there is only one time */
    assert_int_equal(recording.best, 0);
    /* (436.5 + 1 + 1.5 + 439 + 1 + 0.5 + 3 * 0.5) ms over five configs */
    assert_int_equal(recording.evaluation_ns, 176200000);
    assert_int_equal(recording.results[0].cost_ns, 439000000); /* not what the strategy took */
    assert_int_equal(recording.results[4].cost_ns, 500000);
    free(title);
    free(name);
    at_recording_clear(&recording);
}

/* A file that is cut off anywhere is read up to its last complete entry. */
static void test_kernel_tuner_unfinished(void **state)
{
    char *text = text_of("tests/data/interchange/kernel-tuner.json");
    size_t end = strlen(text), rows = 5;

    (void)state;
    while (strstr(text, "},\n\"2048")) { /* the first entry is complete */
        struct at_recording recording;

        read_put(&recording, text);
        assert_true(recording.space.count == rows || recording.space.count == rows - 1);
        assert_true(recording.results[0].time_ns == 27008);
        rows = recording.space.count;
        at_recording_clear(&recording);
        text[--end] = '\0';
    }
    assert_int_equal(rows, 1);
    free(text);
}

static void test_t4_file(void **state)
{
    static const enum at_outcome outcomes[] = {AT_CONSTRAINT, AT_LAUNCH, AT_CORRECT, AT_CORRECT};
    char *name = path_of("tests/data/interchange/t4.json");
    struct at_recording recording;
    struct at_error err = {AT_OK, ""};

    (void)state;
    if (at_recording_read(&recording, name, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(recording.space.count, AT_COUNT(outcomes));
    for (size_t i = 0; i < AT_COUNT(outcomes); i++)
        assert_int_equal(recording.results[i].outcome, outcomes[i]);
    assert_int_equal(recording.families[0].family->params[0].values[0], 128);
    assert_true(recording.results[2].time_ns == 13000000);
    assert_true(recording.results[3].time_ns == 12257900);
    assert_int_equal(recording.best, 3);
    /* The mean of 1100 and 100 ms. The other two have none. */
    assert_int_equal(recording.evaluation_ns, 600000000);
    assert_int_equal(recording.results[3].cost_ns, 1100000000);
    assert_int_equal(recording.results[2].cost_ns, 0);
    assert_int_equal(at_recording_cost(&recording, 2), 600000000);
    free(name);
    at_recording_clear(&recording);
}

/* As KTT writes it: the objective has a name of its own, and each measurement its unit. */
static void test_t4_units(void **state)
{
    char *name = path_of("tests/data/interchange/t4-microseconds.json");
    struct at_recording recording;
    struct at_error err = {AT_OK, ""};

    (void)state;
    if (at_recording_read(&recording, name, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_true(recording.results[0].time_ns == 96256);
    assert_true(recording.results[1].time_ns == 53792);
    assert_int_equal(recording.results[0].cost_ns, 1032411800);
    free(name);
    at_recording_clear(&recording);
}

/* What tune_kernel returns, as Python's json.dump writes it: with the environment or without, and
 * with members that are no parameters. */
static void test_kernel_tuner_list(void **state)
{
    static const struct {
        const char *text;
        size_t configs, params, best;
        double best_ns;
        const char *device;
    } cases[] = {
        {"[{\"x\": 64, \"time\": 4.124}, {\"x\": 128, \"time\": 4.585}]", 2, 1, 0, 4124000,
         "a device without a name"},
        {"[{\"x\": 128, \"time\": 4.585}, {\"x\": 64, \"time\": 4.124}]\n", 2, 1, 0, 4124000,
         "a device without a name"},
        {"\xef\xbb\xbf [[{\"x\": 64, \"on\": true, \"time\": 9.0, \"times\": [2.0, 3.0, 4.0], "
         "\"compile_time\": 400.0, \"strategy_time\": 0, \"GFLOP/s\": 12.5, "
         "\"timestamp\": \"2024-01-01\"}, {\"x\": 64, \"on\": false, "
         "\"time\": \"CompilationFailedConfig\"}], {\"device_name\": \"Some GPU\"}]",
         2, 2, 1, 3000000, "Some GPU"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_recording recording;

        read_put(&recording, cases[i].text);
        assert_int_equal(recording.space.count, cases[i].configs);
        assert_int_equal(recording.families[0].family->param_count, cases[i].params);
        assert_int_equal(recording.best, cases[i].best);
        assert_true(recording.results[recording.best].time_ns == cases[i].best_ns);
        assert_string_equal(recording.device, cases[i].device);
        at_recording_clear(&recording);
    }
}

/* As editors and git on Windows leave it: a byte-order mark, and lines that end with CR LF. */
static void test_windows(void **state)
{
    struct at_recording recording, again;
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *text, *back;

    (void)state;
    fputs("\xef\xbb\xbf", out);
    for (const char *c = OURS; *c; c++)
        fprintf(out, *c == '\n' ? "\r%c" : "%c", *c);
    text = at_text_close(&stream, NULL);
    read_put(&recording, text);
    back = write_as(&recording, "recording");
    assert_string_equal(back, OURS);
    free(back);
    free(text);
    text = write_as(&recording, "t4");
    back = at_format("\xef\xbb\xbf%s", text);
    read_put(&again, back);
    assert_int_equal(again.space.count, recording.space.count);
    free(back);
    free(text);
    at_recording_clear(&again);
    at_recording_clear(&recording);
}

/* A file about another kernel has no problem, which our own format needs. */
static void test_others_are_written_as_json(void **state)
{
    char *name = path_of("tests/data/interchange/t4.json");
    struct at_recording recording;
    struct at_error err = {AT_OK, ""};

    (void)state;
    assert_int_equal(at_recording_read(&recording, name, &err), AT_OK);
    for (size_t i = 0; at_recording_formats[i]; i++) {
        struct at_text_stream stream;
        FILE *out = at_text_open(&stream);
        enum at_status status =
            at_recording_write_as(&recording, at_recording_formats[i], out, &err);

        free(at_text_close(&stream, NULL));
        assert_int_equal(status, at_recording_formats[i]->member ? AT_OK : AT_USAGE);
    }
    free(name);
    at_recording_clear(&recording);
}

/* ---- malformed files ---- */

#define KT(keys, params, cache)                                                                    \
    "{\"device_name\": \"G\", \"kernel_name\": \"k\", \"tune_params_keys\": [" keys                \
    "], \"tune_params\": {" params "}, \"cache\": {" cache "}}"
#define KT_A(cache)  KT("\"a\"", "\"a\": [1, 2]", cache)
#define T4(results)  "{\"results\": [" results "]}"
#define T4_A(result) T4("{\"configuration\": {\"a\": 1}, " result "}")
#define ABOUT(problem, families)                                                                   \
    "{\"autotune\": {\"version\": 1, \"problem\": \"" problem                                      \
    "\", \"device\": \"G\", \"setting\": \"s\", \"copy_ns\": 1, \"evaluation_ns\": 1, "            \
    "\"families\": [" families "]}, \"cache\": {"
#define FAMILY(name, params)                                                                       \
    "{\"name\": \"" name "\", \"preference\": 1, \"hash\": \"h\", \"params\": [" params "]}"
#define PARAM(name, value, values)                                                                 \
    "{\"name\": \"" name "\", \"default\": " value ", \"values\": [" values "]}"
#define ROW "\"1\": {\"family\": \"f\", \"A\": 1, \"time\": 1}}}"
#define ROW_TAKING(ns)                                                                             \
    "\"1\": {\"family\": \"f\", \"A\": 1, \"time\": 1, \"evaluation_ns\": " ns "}}}"

static void test_read_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"{", ": 1:1: "},
        {"{}", "neither a Kernel Tuner cache"},
        {"[]", "the first result: expected a configuration"},
        {"[[]]", "the first result: expected a configuration"},
        {"[7]", "the first result: expected a configuration"},
        {"[{\"time\": 1.5}]", "the first result: expected a configuration"},
        {"[{\"x\": \"a\", \"time\": 1.5}]", "result 0: x: expected a whole number"},
        {"[{\"x\": 1, \"time\": 1.5}, {\"x\": 1, \"time\": 1.5}]", "is listed twice"},
        {"[{\"x\": 1}, {\"x\": 2}]", "result 0: "},
        {"{\"cache\": {}, \"cache\": {}}", "duplicate object key"},
        {"{\"cache\": {}} x", "end of file expected"},
        {"{\"a\": [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}", "more than 16 levels"},
        {"{\"cache\": {\"a\": \"\xff\"}}", "1:"},
        {"{\"cache\": 1e999}", "overflow"},
        {"{\"cache\": {}}", "kernel_name: expected a printable text"},
        {"{\"cache\": {}, \"kernel_name\": \"\\u001b[31m\"}",
         "kernel_name: expected a printable text"},
        {"{\"cache\": {}, \"kernel_name\": \"k\"}", "tune_params_keys: expected 1 to 24"},
        {KT("1", "", ""), "tune_params_keys: expected a printable text"},
        {KT("\"a\", \"a\"", "\"a\": [1]", ""), "a second parameter named a"},
        {KT("\"a\"", "", ""), "a: expected 1 to 64 values"},
        {KT("\"a\"", "\"a\": []", ""), "a: expected 1 to 64 values"},
        {KT("\"a\"", "\"a\": [1, 1]", ""), "a: expected whole numbers of 32 bits, no two alike"},
        {KT("\"a\"", "\"a\": [1.5]", ""), "a: expected whole numbers of 32 bits"},
        {KT("\"a\"", "\"a\": [\"x\"]", ""), "a: expected whole numbers of 32 bits"},
        {KT("\"a\"", "\"a\": [2147483648]", ""), "a: expected whole numbers of 32 bits"},
        {KT_A(""), "no config in this recording is correct"},
        {KT_A("\"1\": 5"), "\"1\": no value for a"},
        {KT_A("\"1\": {\"a\": 3, \"time\": 1}"), "\"1\": no value for a"},
        {KT_A("\"1\": {\"a\": 1}"), "\"1\": expected a time above 0"},
        {KT_A("\"1\": {\"a\": 1, \"time\": 0}"), "\"1\": expected a time above 0"},
        {KT_A("\"1\": {\"a\": 1, \"time\": -1}"), "\"1\": expected a time above 0"},
        {KT_A("\"1\": {\"a\": 1, \"time\": 1e20}"), "\"1\": expected a time above 0"},
        {KT_A("\"1\": {\"a\": 1, \"time\": 1, \"times\": [1, true]}"),
         "\"1\": expected a time above 0"},
        {KT_A("\"1\": {\"a\": 1, \"time\": \"Broken\"}"), "\"1\": unknown failure \"Broken\""},
        {KT_A("\"1\": {\"a\": 1, \"time\": \"InvalidConfig\"}"), "no config in this recording"},
        {KT_A("\"1\": {\"a\": 1, \"time\": 1}, \"01\": {\"a\": 1, \"time\": 2}"),
         "the config a=1 of k is listed twice"},
        {T4(""), "the first result: expected a configuration"},
        {T4("{\"configuration\": {}}"), "the first result: expected a configuration"},
        {T4_A("\"times\": {}"), "result 0: unknown failure \"\""},
        {T4_A("\"invalidity\": \"wrong\""), "result 0: unknown failure \"wrong\""},
        {T4_A("\"invalidity\": \"correct\""), "result 0: expected a time above 0"},
        {T4_A("\"invalidity\": \"correct\"}, {\"configuration\": {\"b\": 1}"),
         "result 1: a: expected a whole number"},
        {"{\"metadata\": {\"timeunit\": \"weeks\"}, \"results\": "
         "[{\"configuration\": {\"a\": 1}}]}",
         "timeunit: unknown unit"},
        {"{\"results\": [{\"configuration\": {\"a\": 1}}", "1:"},
        {"{\"autotune\": 1, \"cache\": {}}", "\"autotune\": version: expected a whole number"},
        {"{\"autotune\": {\"version\": 2}, \"cache\": {}}",
         "\"autotune\": version: expected a whole"},
        {ABOUT("8", "") "}}", "\"autotune\": problem \"8\": expected ROWSxCOLS"},
        {ABOUT("8x8:f32", "") "}}", "\"autotune\": families: expected 1 to 32"},
        {ABOUT("8x8:f32", "1") "}}", "\"autotune\": name: expected a printable text"},
        {ABOUT("8x8:f32", FAMILY("f\\n", "")) "}}",
         "\"autotune\": name: expected a printable text"},
        {ABOUT("8x8:f32", FAMILY("f", "") ", " FAMILY("f", "")) "}}", "a second family named f"},
        {ABOUT("8x8:f32", FAMILY("f", PARAM("A", "2", "1"))) "}}", "A: the default is none"},
        {ABOUT("8x8:f32", FAMILY("f", PARAM("A", "1", "1, 1"))) "}}", "A: expected whole numbers"},
        {ABOUT("8x8:f32", FAMILY("f", PARAM("A", "1", "1") ", " PARAM("A", "1", "1"))) "}}",
         "a second parameter named A"},
        {ABOUT("8x8:f32", FAMILY("g", PARAM("A", "1", "1"))) ROW, "\"1\": \"family\" is none"},
        {ABOUT("8x8:f32",
               FAMILY("f",
                      PARAM("A", "1", "1"))) "\"1\": {\"family\": \"f\", \"A\": 1, "
                                             "\"time\": \"InvalidConfig\", \"outcome\": \"oom\"}}}",
         "\"1\": unknown failure \"InvalidConfig\""},
        {ABOUT("8x8:f32", FAMILY("f", PARAM("A", "1", "1"))) ROW_TAKING("0"),
         "\"1\": evaluation_ns: expected a time"},
        {ABOUT("8x8:f32", FAMILY("f", PARAM("A", "1", "1"))) ROW_TAKING("1.5"),
         "\"1\": evaluation_ns: expected a time"},
        {ABOUT("8x8:f32", FAMILY("f", PARAM("A", "1", "1"))) ROW_TAKING("900000000001"),
         "\"1\": evaluation_ns: expected a time"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_recording recording = {.best = 12345};
        struct at_error err = {AT_OK, ""};

        put(cases[i].text);
        if (at_recording_read(&recording, path, &err) != AT_USAGE)
            fail_msg("case %zu was read: %s", i, cases[i].text);
        if (!strstr(err.message, cases[i].expected) || strncmp(err.message, path, strlen(path)))
            fail_msg("case %zu: %s", i, err.message);
        assert_int_equal(recording.best, 12345);
    }
}

/* One more than each bound allows. */
static void test_bounds(void **state)
{
    static const struct {
        const char *before, *unit, *after;
        size_t count;
        const char *expected;
    } cases[] = {
        {"{\"cache\": [", "0,", "0]}", 4000000, "more than 4000000 values"},
        {"{\"tune_params_keys\": [\"a\"], \"kernel_name\": \"k\", \"cache\": {\"1\": {\"a\": 1, "
         "\"times\": [",
         "1,", "1]}}, \"tune_params\": {\"a\": [1]}}", 64, "more than 64 times"},
        {"{\"kernel_name\": \"k\", \"cache\": {}, \"tune_params_keys\": [", "\"a\",", "\"a\"]}", 24,
         "tune_params_keys: expected 1 to 24"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_recording recording;
        struct at_error err = {AT_OK, ""};
        FILE *out = fopen(path, "w");

        assert_non_null(out);
        fputs(cases[i].before, out);
        for (size_t j = 0; j < cases[i].count; j++)
            fputs(cases[i].unit, out);
        fputs(cases[i].after, out);
        assert_int_equal(fclose(out), 0);
        assert_int_equal(at_recording_read(&recording, path, &err), AT_USAGE);
        if (!strstr(err.message, cases[i].expected))
            fail_msg("case %zu: %s", i, err.message);
    }
}

/* A parameter with a name that the format uses itself. */
static void test_names_that_clash(void **state)
{
    struct at_recording recording;
    size_t format;
    struct at_error err = {AT_OK, ""};

    (void)state;
    read_put(&recording, "autotune recording\t3\nproblem\t8x8:f32\ndevice\tG\nsetting\ts\n"
                         "copy_ns\t0\nevaluation_ns\t0\nfamily\tf\t0\th\t1\t1\n"
                         "param\ttime\t1\t1\n1\t5\n");
    assert_int_equal(at_choose(&format, "format", "t4", at_recording_choice, &err), AT_OK);
    assert_int_equal(at_recording_write_as(&recording, at_recording_formats[format], stdout, &err),
                     AT_USAGE);
    assert_non_null(strstr(err.message, "the parameter time of f"));
    assert_int_equal(at_choose(&format, "format", "T4", at_recording_choice, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "known are recording, kernel-tuner, t4"));
    at_recording_clear(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_neutral),
        cmocka_unit_test(test_keep_family),
        cmocka_unit_test(test_kernel_tuner_schema),
        cmocka_unit_test(test_t4_schema),
        cmocka_unit_test(test_kernel_tuner_file),
        cmocka_unit_test(test_kernel_tuner_unfinished),
        cmocka_unit_test(test_kernel_tuner_list),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_t4_file),
        cmocka_unit_test(test_t4_units),
        cmocka_unit_test(test_others_are_written_as_json),
        cmocka_unit_test(test_read_what_is_wrong),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_names_that_clash),
    };
    int file = mkstemp(path), failed;

    if (file < 0)
        return 1;
    close(file);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
