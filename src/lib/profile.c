/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/paths.h"
#include "lib/objects.h"
#include "space/space.h"

#include <stdlib.h>

static enum at_status read_families(autotune_profile *profile, struct at_error *err)
{
    char *tuning = at_path_data_file("tuning"), *templates = at_path_data_file("templates");
    enum at_status status =
        at_families_read(&profile->families, &profile->family_count, tuning, templates, err);

    free(templates);
    free(tuning);
    return status;
}

autotune_status autotune_profile_open(autotune_profile **profile, const char *path,
                                      autotune_error **error)
{
    autotune_profile *opened = at_alloc(sizeof *opened);
    struct at_error err = {AT_OK, ""};
    enum at_status status = path ? at_profiles_add(&opened->profiles, path, &err)
                                 : at_profiles_add_path(&opened->profiles, &err);

    if (status == AT_OK)
        status = read_families(opened, &err);
    if (status != AT_OK) {
        autotune_profile_free(opened);
        return autotune_fail(error, &err);
    }
    opened->lookup = at_lookup_open(&opened->profiles, opened->families, opened->family_count);
    *profile = opened;
    return AUTOTUNE_OK;
}

const char *autotune_profile_skipped(const autotune_profile *profile, size_t index)
{
    return index < profile->profiles.skipped_count ? profile->profiles.skipped[index] : NULL;
}

void autotune_profile_free(autotune_profile *profile)
{
    if (!profile)
        return;
    at_lookup_close(profile->lookup);
    for (size_t i = 0; i < profile->family_count; i++)
        at_family_free(profile->families[i]);
    free(profile->families);
    at_profiles_clear(&profile->profiles);
    free(profile);
}
