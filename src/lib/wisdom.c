/* SPDX-License-Identifier: Apache-2.0 */
/* Saves what plans have learnt. The file is a profile; at_profiles_add_path reads it. */
#include "base/memory.h"
#include "lib/learnt.h"
#include "profile/merge.h"
#include "system/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void close_output(void *output)
{
    at_output_close(output);
}

/* Add what the file has, if it is there. */
static enum at_status add_file(struct at_profiles *profiles, const char *path, struct at_error *err)
{
    struct stat info;

    if (stat(path, &info) != 0 && errno == ENOENT)
        return AT_OK;
    return at_profiles_add(profiles, path, err);
}

/* Replace the file, which is locked, by its merger with what was learnt. */
static enum at_status merge_into(struct at_output *output, const char *path,
                                 struct at_profile *learnt, struct at_error *err)
{
    struct at_profile_file mine = {.path = at_strdup("what this process has learnt"),
                                   .profile = *learnt};
    struct at_profiles profiles = {.whole = true};
    struct at_merge merge;
    enum at_status status = add_file(&profiles, path, err);

    AT_PUSH(profiles.files, profiles.count, profiles.capacity, mine);
    *learnt = (struct at_profile){0}; /* moved */
    if (status == AT_OK)
        status = at_merge_make(&merge, &profiles, err);
    at_profiles_clear(&profiles);
    if (status != AT_OK)
        return status;
    status = at_profile_write(&merge.profile, output, err);
    at_merge_clear(&merge);
    return status;
}

static enum at_status save(void *data, struct at_error *err)
{
    const char *path = data;
    struct at_cleanup cleanup;
    struct at_output *output = NULL;
    struct at_profile learnt;
    enum at_status status;

    if (autotune_learnt_copy(&learnt) == 0)
        return AT_OK;
    status = at_output_open(&output, path, AT_OUTPUT_WAIT_BRIEFLY, NULL, err);
    if (status == AT_OK) {
        at_cleanup_push(&cleanup, close_output, output);
        status = merge_into(output, path, &learnt, err);
        at_cleanup_pop(&cleanup);
        at_output_close(output);
    }
    at_profile_clear(&learnt);
    return status;
}

autotune_status autotune_wisdom_save(const char *path, autotune_error **error)
{
    struct at_error err;

    if (!path)
        path = getenv("AUTOTUNE_WISDOM");
    if (!path) {
        at_fail(&err, AT_USAGE, "the argument \"path\" is NULL, and AUTOTUNE_WISDOM is not set");
        return autotune_fail(error, &err);
    }
    return autotune_call(save, (void *)path, error);
}
