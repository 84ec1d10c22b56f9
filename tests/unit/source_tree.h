/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the source tree, for tests: Automake's srcdir, or the working directory. To be included
 * after cmocka.h. */
#ifndef AT_TESTS_UNIT_SOURCE_TREE_H
#define AT_TESTS_UNIT_SOURCE_TREE_H

#include "base/memory.h"
#include "system/file.h"

#include <stdlib.h>

static inline const char *source_tree(void)
{
    const char *srcdir = getenv("srcdir");

    return srcdir ? srcdir : ".";
}

/* The caller frees it. */
static inline char *path_of(const char *name)
{
    return at_format("%s/%s", source_tree(), name);
}

/* Make the program use the data files of the source tree. */
static inline void use_source_tree(void)
{
    setenv("AUTOTUNE_DATADIR", source_tree(), 1);
}

/* A file's text, which the caller frees; a file that cannot be read fails the test. */
static inline char *text_of(const char *name)
{
    char *path = path_of(name), *text;
    struct at_error err = {AT_OK, ""};
    size_t size;

    if (at_file_read(&text, &size, path, 1 << 20, &err) != AT_OK)
        fail_msg("%s", err.message);
    free(path);
    return text;
}

#endif
