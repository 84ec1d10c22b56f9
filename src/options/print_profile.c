/* SPDX-License-Identifier: Apache-2.0 */
#include "options/print_profile.h"

#include <stdio.h>

enum at_status at_print_profile(struct at_profile *profile, enum at_output_format format,
                                bool configs, struct at_error *err)
{
    const struct at_show_options options = {.color = at_stdout_color(), .configs = configs};

    if (format == AT_FORMAT_JSON)
        return at_profile_write_json(profile, stdout, err);
    if (format == AT_FORMAT_TABLE)
        at_profile_show(profile, &options, stdout);
    else
        at_profile_tabulate(profile, at_table_form(format), stdout);
    return AT_OK;
}
