/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the files of a folder. */
#ifndef AT_SYSTEM_FOLDER_H
#define AT_SYSTEM_FOLDER_H

#include <stddef.h>

struct at_folder {
    char **names; /* sorted by bytes, in every locale */
    size_t count, capacity;
};

/* List the names that end in suffix and do not begin with '.'. Returns 0 or an errno value. */
int at_folder_list(struct at_folder *folder, const char *path, const char *suffix);
void at_folder_clear(struct at_folder *folder);

#endif
