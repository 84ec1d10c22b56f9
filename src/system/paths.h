/* SPDX-License-Identifier: Apache-2.0 */
/* Where things are. */
#ifndef AT_SYSTEM_PATHS_H
#define AT_SYSTEM_PATHS_H

#include "base/error.h"

/* The folder that holds templates/, tuning/ and results/: $AUTOTUNE_DATADIR; else the source tree,
 * for an executable that runs from its build tree; else the installed data. The caller frees it. */
char *at_path_data(void);

/* The same with a file or folder below it: at_path_data_file("tuning/problems.yaml"). */
char *at_path_data_file(const char *name);

/* $VARIABLE/autotune, by default ~/BELOW/autotune; NULL where this user has no home. The caller
 * frees it. */
char *at_path_user(const char *variable, const char *below);

/* at_path_user of XDG_CACHE_HOME and .cache. */
char *at_path_cache(void);

/* What stands after the last '/', a part of path. */
const char *at_path_name(const char *path);

/* Makes a folder, closed to others, and those above it that are missing. */
enum at_status at_path_make(const char *folder, struct at_error *err);

/* The same, as open to others as the umask lets it be. */
enum at_status at_path_make_public(const char *folder, struct at_error *err);

#endif
