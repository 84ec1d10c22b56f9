/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profiles.h"

#include "base/memory.h"
#include "system/file.h"
#include "system/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_known(const struct at_profiles *profiles, const char *path)
{
    for (size_t i = 0; i < profiles->count; i++)
        if (strcmp(profiles->files[i].path, path) == 0)
            return true;
    return false;
}

typedef enum at_status read_fn(struct at_profile *profile, const char *path, struct at_error *err);

static enum at_status add(struct at_profiles *profiles, const char *path, read_fn *read,
                          struct at_error *err)
{
    struct at_profile_file file = {0};
    enum at_status status;

    if (is_known(profiles, path))
        return AT_OK;
    status = read(&file.profile, path, err);
    if (status != AT_OK)
        return status;
    file.path = at_strdup(path);
    AT_PUSH(profiles->files, profiles->count, profiles->capacity, file);
    return AT_OK;
}

enum at_status at_profiles_add(struct at_profiles *profiles, const char *path, struct at_error *err)
{
    return add(profiles, path, profiles->whole ? at_profile_read_whole : at_profile_read, err);
}

/* Add the profiles in a folder. Returns errno, or 0. */
static int add_folder(struct at_profiles *profiles, const char *folder, read_fn *read)
{
    struct at_folder files;
    int error = at_folder_list(&files, folder, ".yaml");

    if (error != 0)
        return error;
    for (size_t i = 0; i < files.count; i++) {
        char *path = at_format("%s/%s", folder, files.names[i]);
        struct at_error err;

        if (add(profiles, path, read, &err) != AT_OK)
            AT_PUSH(profiles->skipped, profiles->skipped_count, profiles->skipped_capacity,
                    at_strdup(err.message));
        at_free(path);
    }
    at_folder_clear(&files);
    return 0;
}

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Add the profiles in a folder that need not exist, and free its name. */
static void add_folder_if_any(struct at_profiles *profiles, char *folder, read_fn *read)
{
    int error = folder ? add_folder(profiles, folder, read) : ENOENT;

    if (error != 0 && error != ENOENT)
        AT_PUSH(profiles->skipped, profiles->skipped_count, profiles->skipped_capacity,
                at_format("%s: %s", folder, strerror(error)));
    at_free(folder);
}

static enum at_status add_variable(struct at_profiles *profiles, struct at_error *err)
{
    static const char variable[] = "AUTOTUNE_PROFILE_PATH";
    const char *rest = getenv(variable);
    enum at_status status = AT_OK;

    while (rest && status == AT_OK) {
        size_t length = strcspn(rest, ":");
        char *path = at_strndup(rest, length);
        int error;

        if (!is_folder(path))
            status = *path ? at_profiles_add(profiles, path, err) : AT_OK;
        else if ((error = add_folder(profiles, path, at_profile_read)) != 0)
            status = at_fail(err, AT_USAGE, "cannot read the folder %s: %s", path, strerror(error));
        at_free(path);
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    return status == AT_OK ? AT_OK : at_fail_within(err, "%s", variable);
}

/* The file is made when it is first saved. */
static enum at_status add_wisdom(struct at_profiles *profiles, struct at_error *err)
{
    static const char variable[] = "AUTOTUNE_WISDOM";
    const char *path = getenv(variable);
    struct stat info;

    if (!path || !*path || (stat(path, &info) != 0 && errno == ENOENT) ||
        at_profiles_add(profiles, path, err) == AT_OK)
        return AT_OK;
    return at_fail_within(err, "%s", variable);
}

enum at_status at_profiles_add_path(struct at_profiles *profiles, struct at_error *err)
{
    enum at_status status = add_wisdom(profiles, err);

    if (status == AT_OK)
        status = add_variable(profiles, err);
    if (status != AT_OK)
        return status;
    add_folder_if_any(profiles, at_path_user("XDG_DATA_HOME", ".local/share"), at_profile_read);
    add_folder_if_any(profiles, at_path_data_file("results"),
                      profiles->for_lookup ? at_profile_read_groups : at_profile_read);
    return AT_OK;
}

void at_profiles_clear(struct at_profiles *profiles)
{
    for (size_t i = 0; i < profiles->count; i++) {
        at_profile_clear(&profiles->files[i].profile);
        at_free(profiles->files[i].path);
    }
    for (size_t i = 0; i < profiles->skipped_count; i++)
        at_free(profiles->skipped[i]);
    at_free(profiles->files);
    at_free(profiles->skipped);
    *profiles = (struct at_profiles){0};
}
