/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a folder. */
#ifndef AT_SYSTEM_FOLDER_H
#define AT_SYSTEM_FOLDER_H

#include <stddef.h>

struct at_folder {
    char **names; /* ordered by bytes, whatever the locale */
    size_t count, capacity;
};

/* Lists the names that end in suffix, but not those that begin with '.'. Returns errno, or 0. */
int at_folder_list(struct at_folder *folder, const char *path, const char *suffix);
void at_folder_clear(struct at_folder *folder);

#endif
