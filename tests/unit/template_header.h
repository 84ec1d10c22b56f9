/* SPDX-License-Identifier: Apache-2.0 */
/* The header of the source tree's templates, for tests. To be included after cmocka.h. */
#ifndef AT_TESTS_UNIT_TEMPLATE_HEADER_H
#define AT_TESTS_UNIT_TEMPLATE_HEADER_H

#include "kernel/render.h"
#include "source_tree.h"

/* Its text, with its parts; the caller frees it. */
static inline char *template_header(void)
{
    char *text;
    struct at_error err = {AT_OK, ""};

    use_source_tree();
    if (at_template_header_read(&text, &err) != AT_OK)
        fail_msg("%s", err.message);
    return text;
}

#endif
