/* SPDX-License-Identifier: Apache-2.0 */
/* src/kernel/cache.c: whatever happened to the files, the cache returns only what was put
 * there. */
#include "base/memory.h"
#include "kernel/cache.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"

static char *folder;
static struct at_cubin_cache *cache;

/* A program's content depends on its number; so does its name, the hash. */
enum { CONTENT_BYTES = 3000 };

static void make_content(char content[CONTENT_BYTES], int number, char hash[AT_HASH_CHARS])
{
    for (int i = 0; i < CONTENT_BYTES; i++)
        content[i] = (char)(number + i * 7);
    at_hash(hash, content, CONTENT_BYTES);
}

static void put(int number)
{
    char content[CONTENT_BYTES], hash[AT_HASH_CHARS];

    make_content(content, number, hash);
    at_cubin_cache_put_program(cache, hash, content, sizeof content);
}

/* Is it there? If so, it must be right. */
static bool is_there(int number)
{
    char content[CONTENT_BYTES], hash[AT_HASH_CHARS];
    void *image;
    size_t size;

    make_content(content, number, hash);
    if (!at_cubin_cache_load(cache, hash, &image, &size))
        return false;
    assert_int_equal(size, sizeof content);
    assert_memory_equal(image, content, sizeof content);
    free(image);
    return true;
}

/* The caller frees it. */
static char *path_of_program(int number)
{
    char content[CONTENT_BYTES], hash[AT_HASH_CHARS];

    make_content(content, number, hash);
    return at_format("%s/%s.program", folder, hash);
}

static void flip(const char *path, off_t at)
{
    unsigned char byte;
    int fd = open(path, O_RDWR);

    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static off_t size_of(const char *path)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

static void test_flipped(void **state)
{
    char *path = path_of_program(1);

    (void)state;
    put(1);
    for (off_t at = 0; at < size_of(path); at++) {
        flip(path, at);
        assert_false(is_there(1));
        flip(path, at);
    }
    assert_true(is_there(1));
    free(path);
}

static void test_truncated(void **state)
{
    char *path = path_of_program(1);

    (void)state;
    put(1);
    for (off_t size = size_of(path) - 1; size >= 0; size -= 37) {
        assert_int_equal(truncate(path, size), 0);
        assert_false(is_there(1));
    }
    put(1); /* replaces the bad entry */
    assert_true(is_there(1));
    free(path);
}

/* A valid entry under another one's name. */
static void test_renamed(void **state)
{
    char *from = path_of_program(1), *to = path_of_program(2);

    (void)state;
    put(1);
    assert_int_equal(rename(from, to), 0);
    assert_false(is_there(1));
    assert_false(is_there(2));
    put(2);
    assert_true(is_there(2));
    free(from);
    free(to);
}

/* A link under its own name to a file elsewhere. */
static void test_planted(void **state)
{
    char *path = path_of_program(1), *elsewhere = at_format("%s/elsewhere", folder);

    (void)state;
    put(1);
    assert_int_equal(rename(path, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, path), 0);
    assert_false(is_there(1));
    put(1); /* replaces the link, not its target */
    assert_true(is_there(1));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(is_there(1));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(elsewhere, path), 0);
    assert_true(is_there(1));
    assert_int_equal(chmod(path, 0666), 0); /* other users could have written it */
    assert_false(is_there(1));
    assert_int_equal(chmod(path, 0600), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 1, 1), 0);
        assert_false(is_there(1));
    }
    assert_int_equal(unlink(path), 0);
    free(path);
    free(elsewhere);
}

static void assert_folder_refused(const char *path)
{
    struct at_cubin_cache *other;
    struct at_error err;

    assert_int_equal(at_cubin_cache_open(&other, path, &err), AT_USAGE);
}

static void test_folder(void **state)
{
    char *link_to_it = at_format("%s.link", folder);
    struct at_cubin_cache *linked;
    struct stat info;

    (void)state;
    assert_int_equal(symlink(folder, link_to_it), 0);
    assert_int_equal(at_cubin_cache_open(&linked, link_to_it, NULL), AT_OK);
    at_cubin_cache_close(linked);
    if (geteuid() == 0) {
        assert_int_equal(lchown(link_to_it, 1, 1), 0);
        assert_folder_refused(link_to_it);
    }
    assert_int_equal(unlink(link_to_it), 0);
    assert_int_equal(symlink("nowhere", link_to_it), 0);
    assert_folder_refused(link_to_it);
    assert_int_equal(unlink(link_to_it), 0);
    assert_int_equal(symlink(folder, link_to_it), 0);
    assert_int_equal(stat(folder, &info), 0);
    for (mode_t others = 01; others <= 070; others <<= 1) {
        bool writable = others & 022;

        assert_int_equal(chmod(folder, 0700 | others), 0);
        if (writable) {
            assert_folder_refused(folder);
            assert_folder_refused(link_to_it);
        }
    }
    assert_int_equal(chmod(folder, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(folder, 1, 1), 0);
        assert_folder_refused(folder);
        assert_int_equal(chown(folder, info.st_uid, info.st_gid), 0);
    }
    assert_int_equal(unlink(link_to_it), 0);
    free(link_to_it);
}

/* Writers and readers of the same few entries, and one process that trims them all the time. */
static void test_many_processes(void **state)
{
    enum { PROCESSES = 4, ROUNDS = 300 };
    pid_t pids[PROCESSES];

    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            for (int round = 0; round < ROUNDS; round++) {
                put(round % 5);
                is_there((round + i) % 5);
                if (i == 0)
                    at_cubin_cache_trim(cache, 3 * CONTENT_BYTES);
            }
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;

        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* Set the time of last use. */
static void set_used(int number, time_t when)
{
    const struct timespec times[2] = {{when, 0}, {when, 0}};
    char *path = path_of_program(number);

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

static void test_trim(void **state)
{
    struct at_cubin_usage usage;

    (void)state;
    assert_int_equal(at_cubin_cache_clear(cache, NULL), AT_OK);
    for (int i = 0; i < 8; i++) {
        put(i);
        set_used(i, 1000 + i);
    }
    assert_true(is_there(0)); /* used, so now the newest */
    assert_int_equal(at_cubin_cache_usage(cache, &usage, NULL), AT_OK);
    assert_int_equal(usage.programs, 8);
    at_cubin_cache_trim(cache, usage.bytes); /* exactly the limit */
    assert_true(is_there(1));
    set_used(1, 1001);
    at_cubin_cache_trim(cache, usage.bytes - 1); /* at most three quarters stay */
    for (int i = 0; i < 8; i++)
        assert_int_equal(is_there(i), i == 0 || i > 3);
    assert_int_equal(at_cubin_cache_clear(cache, NULL), AT_OK);
    assert_int_equal(at_cubin_cache_usage(cache, &usage, NULL), AT_OK);
    assert_int_equal(usage.bytes, 0);
}

static int open_cache(void **state)
{
    int failed = make_folder(state);

    folder = *state;
    return failed || at_cubin_cache_open(&cache, folder, NULL) != AT_OK;
}

static int close_cache(void **state)
{
    at_cubin_cache_close(cache);
    return remove_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flipped),        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_renamed),        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_folder),         cmocka_unit_test(test_trim),
        cmocka_unit_test(test_many_processes),
    };

    return cmocka_run_group_tests(tests, open_cache, close_cache);
}
