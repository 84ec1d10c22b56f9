/* SPDX-License-Identifier: Apache-2.0 */
#include "options/read_profile.h"

#include "options/argument.h"

enum at_status at_read_profile(struct at_profile *profile, const char *file,
                               struct at_progress *progress, struct at_error *err)
{
    enum at_status status = at_profile_read(profile, at_given_file(file), err);

    if (status == AT_OK)
        at_detail(progress, "read %s", file);
    return status;
}
