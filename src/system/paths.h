/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of data, of the user and of caches. */
#ifndef AT_SYSTEM_PATHS_H
#define AT_SYSTEM_PATHS_H

#include "base/error.h"

/* The path of "tuning/problems.yaml", say, in the folder that contains templates/, tuning/ and
 * results/: $AUTOTUNE_DATADIR if set; the source tree if the executable is in its build tree; else
 * the installed data, where it lies beside the program or library, which may have been moved, or
 * where configure said. The caller frees it. */
char *at_path_data_file(const char *name);

/* AT_USAGE if there is no such folder: the message says how to set it. */
enum at_status at_path_require_data(struct at_error *err);

/* This version's program: $AUTOTUNE_PROGRAM if set; the one of the build tree if the executable is
 * in it; else the one that was installed together with this program or library. It may be missing.
 * NULL if this file's place is not known. The caller frees it. */
char *at_path_program(void);

/* Return the folder of a file: "." if its name has none. The caller frees it. */
char *at_path_folder(const char *file);

/* A folder. A relative one begins where the file of this program or library is; NULL if that is not
 * known. The caller frees it. */
char *at_path_from_own_file(const char *folder);

/* $VARIABLE/autotune, by default ~/BELOW/autotune; NULL if the user has no home folder. The caller
 * frees it. */
char *at_path_user(const char *variable, const char *below);

/* The part of path after the last '/'. */
const char *at_path_name(const char *path);

/* Make a folder and its missing parents, with mode & ~umask. */
enum at_status at_path_make(const char *folder, unsigned mode, struct at_error *err);

#endif
