/* SPDX-License-Identifier: Apache-2.0 */
/* Several profiles that are asked together: those a user names, and those on the search path. */
#ifndef AT_PROFILE_PROFILES_H
#define AT_PROFILE_PROFILES_H

#include "profile/profile.h"

struct at_profile_file {
    char *path;
    struct at_profile profile;
};

struct at_profiles {
    struct at_profile_file *files; /* the first is preferred, where all else is equal */
    size_t count, capacity;
    char **skipped; /* why some files of the folders searched are not among them, a line each */
    size_t skipped_count, skipped_capacity;
};

/* Adds a file. One that is there already, by its path, is not read again. */
enum at_status at_profiles_add(struct at_profiles *profiles, const char *path,
                               struct at_error *err);

/* Adds what lies on the search path, in this order:
 *   $AUTOTUNE_PROFILE_PATH, files and folders separated by ':';
 *   $XDG_DATA_HOME/autotune, by default ~/.local/share/autotune;
 *   results/ of the data folder.
 * Of a folder these are its files *.yaml, sorted. A file there that is no profile is skipped, with
 * a line in `skipped`; a file or folder that the variable names and that cannot be read is an
 * error. */
enum at_status at_profiles_add_path(struct at_profiles *profiles, struct at_error *err);

void at_profiles_clear(struct at_profiles *profiles);

#endif
