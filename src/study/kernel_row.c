/* SPDX-License-Identifier: Apache-2.0 */
#include "study/kernel_row.h"

#include "space/named.h"

enum at_status at_kernel_row_config(const struct at_kernel_row *row, const char *path,
                                    struct at_family *const *families, size_t family_count,
                                    struct at_config *config, struct at_error *err)
{
    if (at_config_from_some_names(config, families, family_count, row->family, &row->parameters,
                                  err) == AT_OK)
        return AT_OK;
    return at_fail_within(err, "%s: %s", path, row->label);
}
