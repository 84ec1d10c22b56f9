/* SPDX-License-Identifier: Apache-2.0 */
/* Several profiles that are used together: those that a user names, and those on the search path.
 */
#ifndef AT_PROFILE_PROFILES_H
#define AT_PROFILE_PROFILES_H

#include "profile/profile.h"

struct at_profile_file {
    char *path;
    struct at_profile profile;
};

struct at_profiles {
    bool for_lookup; /* set by the caller: at_profile_read_groups reads the installed profiles */
    bool whole;      /* set by the caller: named files keep all their entries, not the newest */
    struct at_profile_file *files; /* earlier ones are preferred if all else is equal */
    size_t count, capacity;
    char **skipped; /* files of the search path that are no profiles: a line each with the reason */
    size_t skipped_count, skipped_capacity;
};

/* Read and add a file, unless the path is already there. */
enum at_status at_profiles_add(struct at_profiles *profiles, const char *path,
                               struct at_error *err);

/* Add the profiles on the search path, in this order:
 *   $AUTOTUNE_WISDOM, what libautotune's plans have measured, if that file is there;
 *   $AUTOTUNE_PROFILE_PATH, files and folders separated by ':';
 *   $XDG_DATA_HOME/autotune, by default ~/.local/share/autotune;
 *   results/ of the data folder.
 * From a folder, the files *.yaml are added, sorted by name. A file there that is no profile is
 * skipped, with a line in `skipped`. AT_USAGE if a file or folder that a variable names cannot be
 * read. */
enum at_status at_profiles_add_path(struct at_profiles *profiles, struct at_error *err);

void at_profiles_clear(struct at_profiles *profiles);

#endif
