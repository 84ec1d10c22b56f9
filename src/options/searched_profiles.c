/* SPDX-License-Identifier: Apache-2.0 */
#include "options/searched_profiles.h"

#include "options/argument.h"

enum at_status at_searched_profiles(struct at_profiles *profiles, const char *file,
                                    const char *const *first, size_t first_count,
                                    struct at_progress *progress, struct at_error *err)
{
    enum at_status status = AT_OK;

    if (file)
        status = at_profiles_add(profiles, at_given_file(file), err);
    for (size_t i = 0; !file && i < first_count && status == AT_OK; i++)
        status = at_profiles_add(profiles, at_given_file(first[i]), err);
    if (!file && status == AT_OK)
        status = at_profiles_add_path(profiles, err);
    for (size_t i = 0; i < profiles->skipped_count; i++)
        at_warn(progress, "not searched: %s", profiles->skipped[i]);
    for (size_t i = 0; i < profiles->count; i++)
        at_detail(progress, "read %s", profiles->files[i].path);
    return status;
}
