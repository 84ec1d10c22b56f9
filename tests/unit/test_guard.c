/* SPDX-License-Identifier: Apache-2.0 */
/* base/guard and functions that allocate in it: whichever allocation fails, everything is released
 * once. */
#include "base/memory.h"
#include "base/rng.h"
#include "base/text_stream.h"
#include "fail_alloc.h"
#include "skipped.h"
#include "system/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source_tree.h"

typedef enum at_status guarded(void *data, struct at_error *err);

/* Run the body once per allocation, which fails alone, and then with all that follow. The body
 * asserts its results and leaves nothing allocated. The C library can do without some allocations.
 */
static void fail_each(guarded *body, void *data)
{
    struct at_error err;
    size_t count, failures = 0;

    fail_alloc_begin(0, false);
    assert_int_equal(at_guard_run(body, data, &err), AT_OK);
    count = fail_alloc_end();
    assert_int_equal(fail_alloc_live(), 0);
    assert_true(count > 0);
    for (size_t i = 1; i <= 2 * count; i++) {
        enum at_status status;

        fail_alloc_begin((i + 1) / 2, i % 2);
        status = at_guard_run(body, data, &err);
        fail_alloc_end();
        assert_int_equal(fail_alloc_live(), 0);
        if (status == AT_OK)
            continue;
        assert_int_equal(status, AT_NO_MEMORY);
        assert_string_equal(err.message, "out of memory");
        failures++;
    }
    assert_true(failures >= count); /* the first allocations are needed */
}

/* ---- blocks ---- */

static void touch(void *block, size_t size)
{
    memset(block, 0x5a, size);
}

/* Allocate and free in random order, with far more blocks than fit into the guard itself. */
static enum at_status make_and_free(void *data, struct at_error *err)
{
    enum { BLOCKS = 300, STEPS = 1200 };
    void *blocks[BLOCKS] = {0};
    struct at_rng rng = {7};

    (void)data;
    (void)err;
    for (int i = 0; i < STEPS; i++) {
        size_t at = at_rng_below(&rng, BLOCKS);

        at_free(blocks[at]);
        blocks[at] = NULL;
        if (at_rng_below(&rng, 4) > 0)
            touch(blocks[at] = at_alloc(8 + at), 8 + at);
    }
    for (int i = 0; i < BLOCKS; i++)
        at_free(blocks[i]);
    return AT_OK;
}

static enum at_status use_all_kinds(void *data, struct at_error *err)
{
    char *texts[] = {at_strdup("one"), at_strndup("two", 2), at_format("%d", 3),
                     at_memdup("four", 5), at_join((const char *const[]){"a", "b"}, 2)};
    int *items = NULL;
    size_t count = 0, capacity = 0;

    (void)data;
    (void)err;
    for (int i = 0; i < 100; i++)
        AT_PUSH(items, count, capacity, i);
    for (size_t i = 0; i < AT_COUNT(texts); i++)
        at_free(texts[i]);
    at_free(items);
    return AT_OK;
}

static void test_blocks(void **state)
{
    (void)state;
    fail_each(make_and_free, NULL);
    fail_each(use_all_kinds, NULL);
}

/* The caller owns what a call leaves, and may use free(). */
static enum at_status leave_block(void *data, struct at_error *err)
{
    (void)err;
    *(char **)data = at_strdup("left");
    return AT_OK;
}

static void test_left(void **state)
{
    struct at_error err;
    char *left = NULL;

    (void)state;
    assert_int_equal(at_guard_run(leave_block, &left, &err), AT_OK);
    assert_string_equal(left, "left");
    free(left);
}

/* Free in a call what an earlier one has left. */
static enum at_status free_and_fail(void *data, struct at_error *err)
{
    (void)err;
    at_free(*(char **)data);
    *(char **)data = NULL;
    at_guard_adopt(at_guard_adopt(malloc(1))); /* the second does nothing */
    at_out_of_memory();
}

static void test_freed_later(void **state)
{
    struct at_error err;
    char *left = NULL;

    (void)state;
    fail_alloc_begin(0, false);
    assert_int_equal(at_guard_run(leave_block, &left, &err), AT_OK);
    assert_int_equal(at_guard_run(free_and_fail, &left, &err), AT_NO_MEMORY);
    fail_alloc_end();
    assert_int_equal(fail_alloc_live(), 0);
}

/* ---- cleanups ---- */

static char order[16];

static void write_down(void *letter)
{
    strcat(order, letter);
}

static enum at_status owe(void *data, struct at_error *err)
{
    struct at_cleanup first, second, third;
    struct at_error inner;

    (void)err;
    at_cleanup_push(&first, write_down, "1");
    at_cleanup_push(&second, write_down, "2");
    at_cleanup_pop(&second);
    at_cleanup_push(&third, write_down, "3");
    if (data)
        at_guard_run((guarded *)data, NULL, &inner);
    at_out_of_memory();
}

/* An inner guard has no effect: this ends the outer call. */
static enum at_status owe_within(void *data, struct at_error *err)
{
    struct at_cleanup cleanup;

    (void)data;
    (void)err;
    at_cleanup_push(&cleanup, write_down, "4");
    at_out_of_memory();
}

static void test_cleanups(void **state)
{
    struct at_error err;

    (void)state;
    order[0] = '\0';
    assert_int_equal(at_guard_run(owe, NULL, &err), AT_NO_MEMORY);
    assert_string_equal(order, "31");
    order[0] = '\0';
    assert_int_equal(at_guard_run(owe, (void *)owe_within, &err), AT_NO_MEMORY);
    assert_string_equal(order, "431");
}

/* ---- texts and folders ---- */

enum { LINES = 5000 };

static enum at_status write_lines(void *data, struct at_error *err)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    size_t size;
    char *text;

    (void)data;
    (void)err;
    for (int i = 0; i < LINES; i++)
        fprintf(out, "line %04d\n", i);
    text = at_text_close(&stream, &size);
    assert_int_equal(size, 10 * LINES);
    assert_int_equal(strlen(text), size);
    assert_string_equal(text + size - 10, "line 4999\n");
    at_free(text);
    return AT_OK;
}

static enum at_status write_nothing(void *data, struct at_error *err)
{
    struct at_text_stream stream;
    char *text;

    (void)data;
    (void)err;
    at_text_open(&stream);
    text = at_text_close(&stream, NULL);
    assert_string_equal(text, "");
    at_free(text);
    return AT_OK;
}

static enum at_status list_folder(void *data, struct at_error *err)
{
    struct at_folder folder;

    (void)err;
    if (at_folder_list(&folder, data, ".yaml") != 0)
        return AT_USAGE;
    assert_true(folder.count > 0);
    for (size_t i = 1; i < folder.count; i++)
        assert_true(strcmp(folder.names[i - 1], folder.names[i]) < 0);
    at_folder_clear(&folder);
    return AT_OK;
}

static void test_texts(void **state)
{
    (void)state;
    fail_each(write_lines, NULL);
    fail_each(write_nothing, NULL);
}

static void test_folders(void **state)
{
    char path[4096];

    (void)state;
    snprintf(path, sizeof path, "%s/tuning", source_tree());
    fail_each(list_folder, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),      cmocka_unit_test(test_left),
        cmocka_unit_test(test_freed_later), cmocka_unit_test(test_cleanups),
        cmocka_unit_test(test_texts),       cmocka_unit_test(test_folders),
    };

    if (WITH_ADDRESS_SANITIZER) {
        fprintf(stderr, "skipped: the address sanitiser has an allocator of its own\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
