/* SPDX-License-Identifier: Apache-2.0 */
/* src/system/output: files that are replaced atomically, by one process at a time. */
#include "folder.h"
#include "system/output.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct at_output *open_output(const char *path)
{
    struct at_output *output = NULL;
    struct at_error err = {0};

    if (at_output_open(&output, path, AT_OUTPUT_NO_WAIT, NULL, &err) != AT_OK)
        fail_msg("%s", err.message);
    return output;
}

static void assert_refused(const char *path, const char *words)
{
    struct at_output *output = NULL;
    struct at_error err = {0};

    assert_int_equal(at_output_open(&output, path, AT_OUTPUT_NO_WAIT, NULL, &err), AT_USAGE);
    if (!strstr(err.message, words))
        fail_msg("expected: %s\ngot: %s", words, err.message);
    assert_null(output);
}

static void write_output(struct at_output *output, const char *text)
{
    struct at_error err = {0};

    if (at_output_write(output, text, strlen(text), &err) != AT_OK)
        fail_msg("%s", err.message);
    at_output_close(output);
}

static void test_output_replace(void **state)
{
    const char *folder = *state;
    char *path = at_format("%s/out", folder);
    struct at_error err = {0};
    struct stat info;
    mode_t mask = umask(027);
    int old;

    assert_int_equal(at_output_replace(path, "first", 5, &err), AT_OK);
    assert_content(path, "first");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640); /* 0666 less the umask, not mkstemp's 0600 */
    old = open(path, O_RDONLY);
    assert_int_equal(at_output_replace(path, "second", 6, &err), AT_OK);
    assert_content(path, "second");
    {
        char seen[16] = "";

        /* A reader with the old file open still sees all of it: it was never overwritten. */
        assert_int_equal(read(old, seen, sizeof seen), 5);
        assert_string_equal(seen, "first");
    }
    close(old);
    assert_int_equal(count_files(folder), 1);
    assert_int_equal(chmod(path, 0604), 0);
    assert_int_equal(at_output_replace(path, "third", 5, &err), AT_OK);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0604); /* what is replaced keeps its mode */
    umask(mask);
    free(path);
}

static void test_output_fails(void **state)
{
    const char *folder = *state;
    char *no_folder = at_format("%s/none/out", folder), *sub = at_format("%s/sub", folder);
    struct at_error err = {0};

    assert_int_equal(at_output_replace(no_folder, "x", 1, &err), AT_USAGE);
    assert_int_equal(at_output_check(no_folder, &err), AT_USAGE);
    assert_non_null(strstr(err.message, no_folder));
    assert_int_equal(mkdir(sub, 0700), 0);
    assert_int_equal(at_output_check(sub, &err), AT_USAGE);
    assert_int_equal(at_output_replace(sub, "x", 1, &err),
                     AT_USAGE);               /* a file cannot replace a folder */
    assert_int_equal(count_files(folder), 1); /* no temporary file is left */
    free(no_folder);
    free(sub);
}

/* A folder without write permission does not stop root, so root becomes another user. */
static void test_output_unwritable_folder(void **state)
{
    const char *folder = *state;
    char *path = at_format("%s/out", folder);
    pid_t child;
    int status;

    write_text(path, "old");
    assert_int_equal(chmod(folder, 0555), 0);
    child = fork();
    if (child == 0) {
        struct at_error err = {0};

        if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(65534) || setuid(65534)))
            _exit(77);
        if (at_output_check(path, &err) != AT_USAGE)
            _exit(1);
        _exit(at_output_replace(path, "new", 3, &err) == AT_USAGE ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_content(path, "old");
    assert_int_equal(count_files(folder), 1);
    free(path);
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* For an existing file and for a new one. */
static void test_output_check(void **state)
{
    const char *folder = *state;
    char *path = at_format("%s/out", folder);
    struct at_error err = {0};

    assert_int_equal(at_output_check(path, &err), AT_OK);
    assert_int_equal(count_files(folder), 0);
    write_text(path, "kept");
    assert_int_equal(at_output_check(path, &err), AT_OK);
    assert_content(path, "kept");
    free(path);
}

/* NAME itself is never created or removed in between: a file from another program stays. */
static void test_output_leaves_the_name_alone(void **state)
{
    const char *folder = *state;
    char *path = at_format("%s/out", folder);
    struct at_output *output = open_output(path);

    assert_int_equal(access(path, F_OK), -1);
    write_text(path, "another's");
    at_output_close(output);
    assert_content(path, "another's");
    assert_int_equal(count_files(folder), 1);
    free(path);
}

/* Only one process at a time writes a file, by whatever path; the other's error names it. */
static void test_output_keeps_others_off(void **state)
{
    const char *folder = *state;
    char *path = at_format("%s/out", folder), *same = at_format("%s/./out", folder);
    char *link = at_format("%s/link", folder), *holder = at_format("process %d", (int)getpid());
    struct at_output *first = open_output(path);

    assert_int_equal(symlink("out", link), 0);
    assert_refused(path, holder);
    assert_refused(same, holder);
    assert_refused(link, holder);
    write_output(first, "first");
    assert_content(path, "first");
    write_output(open_output(path), "second");
    assert_content(link, "second");
    at_output_close(open_output(path)); /* also without progress */
    write_output(open_output(same), "third");
    assert_content(path, "third");
    assert_int_equal(count_files(folder), 2);
    free(path);
    free(same);
    free(link);
    free(holder);
}

/* Wait for a child that is about to write, and write after it. */
static void test_output_waits(void **state)
{
    const char *folder = *state;
    char *path = at_format("%s/out", folder), byte;
    struct at_error err = {0};
    int ready[2], status;
    pid_t child;

    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        struct at_output *output = open_output(path);

        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        usleep(100000);
        write_output(output, "first");
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(at_output_replace(path, "second", 6, &err), AT_OK);
    assert_content(path, "second");
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(count_files(folder), 1);
    close(ready[0]);
    close(ready[1]);
    free(path);
}

/* A killed process leaves a temporary file without a lock, with any content; it may be a link to an
 * important file. */
static void test_output_left_behind(void **state)
{
    const char *folder = *state;
    char *path = at_format("%s/out", folder), *left = at_format("%s/.out.autotune", folder);
    char *precious = at_format("%s/precious", folder);

    write_text(left, "what a killed process has left, which is longer");
    assert_int_equal(chmod(left, 0400), 0);
    write_output(open_output(path), "new");
    assert_content(path, "new");
    write_text(precious, "precious");
    assert_int_equal(link(precious, left), 0);
    write_output(open_output(path), "newer");
    assert_content(path, "newer");
    assert_content(precious, "precious");
    assert_int_equal(count_files(folder), 2);
    free(path);
    free(left);
    free(precious);
}

/* Temporary names that are no regular files are left alone. */
static void test_output_in_the_way(void **state)
{
    const char *folder = *state;
    char *path = at_format("%s/out", folder), *way = at_format("%s/.out.autotune", folder);

    assert_int_equal(mkdir(way, 0700), 0);
    assert_refused(path, way);
    assert_int_equal(rmdir(way), 0);
    assert_int_equal(mkfifo(way, 0600), 0);
    assert_refused(path, way);
    assert_int_equal(unlink(way), 0);
    assert_int_equal(symlink("elsewhere", way), 0);
    assert_refused(path, way);
    assert_int_equal(count_files(folder), 1);
    free(path);
    free(way);
}

/* The temporary file is removed while it is open. */
static void test_output_removed_on_the_way(void **state)
{
    const char *folder = *state;
    char *path = at_format("%s/out", folder), *way = at_format("%s/.out.autotune", folder);
    struct at_output *output = open_output(path);

    assert_int_equal(unlink(way), 0);
    write_output(output, "all the same");
    assert_content(path, "all the same");
    output = open_output(path);
    assert_int_equal(unlink(way), 0);
    write_text(way, "another's");
    at_output_close(output);
    assert_content(way, "another's");
    free(path);
    free(way);
}

/* A link stays; the file that it names is replaced or created. */
static void test_output_through_links(void **state)
{
    const char *folder = *state;
    char *sub = at_format("%s/sub", folder), *file = at_format("%s/sub/file", folder);
    char *first = at_format("%s/first", folder), *second = at_format("%s/second", folder);
    char *cycle = at_format("%s/cycle", folder);
    struct stat info;

    assert_int_equal(mkdir(sub, 0700), 0);
    assert_int_equal(symlink(second, first), 0); /* an absolute link, then a relative one */
    assert_int_equal(symlink("sub/file", second), 0);
    for (int i = 0; i < 2; i++) {
        write_output(open_output(first), i ? "second" : "first");
        assert_content(file, i ? "second" : "first");
        assert_int_equal(lstat(first, &info), 0);
        assert_true(S_ISLNK(info.st_mode));
        assert_int_equal(lstat(second, &info), 0);
        assert_true(S_ISLNK(info.st_mode));
    }
    assert_int_equal(count_files(sub), 1);
    assert_int_equal(symlink("cycle", cycle), 0);
    assert_refused(cycle, strerror(ELOOP));
    free(sub);
    free(file);
    free(first);
    free(second);
    free(cycle);
}

/* A name that is ten bytes shorter than the limit. */
static void test_output_long_names(void **state)
{
    const char *folder = *state;
    char name[NAME_MAX + 1] = "", *path;

    for (size_t length = NAME_MAX - 11; length <= NAME_MAX; length++) {
        memset(name, 'n', length);
        path = at_format("%s/%s", folder, name);
        if (length <= NAME_MAX - 10)
            write_output(open_output(path), "long");
        else
            assert_refused(path, "File name too long: it is first written as .NAME.autotune");
        free(path);
    }
    assert_int_equal(count_files(folder), 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_output_replace, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_output_fails, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_output_unwritable_folder, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_output_check, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_output_leaves_the_name_alone, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_output_keeps_others_off, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_output_waits, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_output_left_behind, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_output_in_the_way, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_output_removed_on_the_way, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_output_through_links, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_output_long_names, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
