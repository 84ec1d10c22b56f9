/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export.h"

/* One line per format, in the order in which --help names them. */
/* clang-format off */
#define EACH_FORM(each) \
    each(header) \
    each(cu) \
    each(cu_header) \
    each(cubin) \
    each(make_file) \
    each(cmake) \
    each(json) \
    each(t4)
/* clang-format on */

#define DECLARE(name) extern const struct at_export_format at_export_##name;
EACH_FORM(DECLARE)

#define ADDRESS(name) &at_export_##name,
const struct at_export_format *const at_export_formats[] = {EACH_FORM(ADDRESS) NULL};

struct at_choice at_export_choice(size_t index)
{
    const struct at_export_format *format = at_export_formats[index];

    return (struct at_choice){.name = format ? format->name : NULL, .entry = format};
}
