/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of files: a folder per test, and its content. */
#ifndef AT_TESTS_UNIT_FOLDER_H
#define AT_TESTS_UNIT_FOLDER_H

#include "base/memory.h"
#include "system/file.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Make a folder for the test. */
static inline int make_folder(void **state)
{
    char *folder = at_strdup("/tmp/autotune-test-XXXXXX");

    *state = folder;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    char *command = at_format("chmod -R u+rwx %s && rm -rf %s", (char *)*state, (char *)*state);
    int result = system(command);

    free(command);
    free(*state);
    return result;
}

static inline void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static inline void assert_content(const char *path, const char *expected)
{
    struct at_error err = {0};
    char *text = NULL;
    size_t size = 0;

    assert_int_equal(at_file_read(&text, &size, path, 1 << 20, &err), AT_OK);
    assert_string_equal(text, expected);
    assert_int_equal(size, strlen(expected));
    free(text);
}

static inline size_t count_files(const char *folder)
{
    DIR *directory = opendir(folder);
    size_t count = 0;

    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(directory);
    return count;
}

#endif
