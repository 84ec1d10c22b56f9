/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "lib/memo.h"
#include "space/space.h"
#include "system/paths.h"

static enum at_status read_families(autotune_profile *profile, struct at_error *err)
{
    char *tuning = at_path_data_file("tuning"), *templates = at_path_data_file("templates");
    enum at_status status =
        at_families_read(&profile->families, &profile->family_count, tuning, templates, err);

    at_free(templates);
    at_free(tuning);
    return status;
}

struct opening {
    const char *path;
    autotune_profile *opened;
};

static enum at_status open_profile(void *data, struct at_error *err)
{
    struct opening *opening = data;
    autotune_profile *opened = at_alloc(sizeof *opened);
    enum at_status status;

    opened->profiles.for_lookup = true;
    status = opening->path ? at_profiles_add(&opened->profiles, opening->path, err)
                           : at_profiles_add_path(&opened->profiles, err);
    if (status == AT_OK)
        status = read_families(opened, err);
    if (status == AT_OK)
        status = at_lookup_open(&opened->lookup, &opened->profiles, opened->families,
                                opened->family_count, err);
    if (status != AT_OK) {
        autotune_profile_free(opened);
        return status;
    }
    opened->memo = autotune_memo_new();
    opening->opened = opened;
    return AT_OK;
}

autotune_status autotune_profile_open(autotune_profile **profile, const char *path,
                                      autotune_error **error)
{
    struct opening opening = {.path = path};
    autotune_status status;

    if (!profile)
        return autotune_fail_null(error, "profile");
    status = autotune_call(open_profile, &opening, error);
    if (status == AUTOTUNE_OK)
        *profile = opening.opened;
    return status;
}

const char *autotune_profile_skipped(const autotune_profile *profile, size_t index)
{
    return profile && index < profile->profiles.skipped_count ? profile->profiles.skipped[index]
                                                              : NULL;
}

void autotune_profile_free(autotune_profile *profile)
{
    if (!profile)
        return;
    autotune_memo_free(profile->memo);
    at_lookup_close(profile->lookup);
    for (size_t i = 0; i < profile->family_count; i++)
        at_family_free(profile->families[i]);
    at_free(profile->families);
    at_profiles_clear(&profile->profiles);
    at_free(profile);
}
