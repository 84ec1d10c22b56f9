/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzzing harness without the fuzzer: gives it each file of its kept corpus once, so that what
 * was found stays mended, with any compiler. CORPUS is the folder's name. */
#include "base/memory.h"
#include "system/file.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_BYTES_MAX = 1 << 20 };

int main(void)
{
    const char *source = getenv("srcdir");
    char *folder = at_format("%s/tests/fuzz/corpus/" CORPUS, source ? source : ".");
    DIR *opened = opendir(folder);
    struct dirent *entry;
    int replayed = 0;

    while (opened && (entry = readdir(opened))) {
        char *path = at_format("%s/%s", folder, entry->d_name), *text;
        size_t size;

        if (entry->d_name[0] != '.' &&
            at_file_read(&text, &size, path, INPUT_BYTES_MAX, NULL) == AT_OK) {
            LLVMFuzzerTestOneInput((const uint8_t *)text, size);
            free(text);
            replayed++;
        }
        free(path);
    }
    if (opened)
        closedir(opened);
    printf("%d inputs of %s\n", replayed, folder);
    free(folder);
    return replayed > 0 ? 0 : 1;
}
