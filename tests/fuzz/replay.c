/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzzing harness without the fuzzer, for any compiler: fuzz_NAME reads each file of
 * tests/fuzz/corpus/NAME once, so that a fault that was found does not come back. */
#include "base/memory.h"
#include "system/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_BYTES_MAX = 1 << 20 };

static int replay(DIR *folder, const char *path)
{
    struct dirent *entry;
    int replayed = 0;

    while ((entry = readdir(folder))) {
        char *file = at_format("%s/%s", path, entry->d_name), *text;
        struct at_error err;
        size_t size;

        if (entry->d_name[0] != '.') {
            if (at_file_read(&text, &size, file, INPUT_BYTES_MAX, &err) != AT_OK) {
                fprintf(stderr, "%s\n", err.message);
                exit(1);
            }
            LLVMFuzzerTestOneInput((const uint8_t *)text, size);
            free(text);
            replayed++;
        }
        free(file);
    }
    return replayed;
}

int main(void)
{
    const char *name = strchr(program_invocation_short_name, '_');
    char *path = at_format("tests/fuzz/corpus/%s", name ? name + 1 : "");
    DIR *folder = opendir(path);
    int replayed = 0;

    if (folder) {
        replayed = replay(folder, path);
        closedir(folder);
    }
    printf("%d inputs of %s\n", replayed, path);
    free(path);
    return replayed > 0 ? 0 : 1;
}
