/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "lib/objects.h"

#include <stdlib.h>
#include <string.h>

autotune_status autotune_fail(autotune_error **error, const struct at_error *err)
{
    if (error) {
        *error = at_alloc(sizeof **error);
        (*error)->error = *err;
    }
    return (autotune_status)err->status;
}

autotune_status autotune_error_status(const autotune_error *error)
{
    return error ? (autotune_status)error->error.status : AUTOTUNE_OK;
}

const char *autotune_error_message(const autotune_error *error)
{
    return error ? error->error.message : "";
}

void autotune_error_free(autotune_error *error)
{
    free(error);
}

const char *autotune_version(void)
{
    return PACKAGE_VERSION;
}

size_t autotune_copy_text(const char *from, char *text, size_t capacity)
{
    size_t length = strlen(from), fits = length < capacity ? length : capacity - 1;

    if (capacity > 0) {
        memcpy(text, from, fits);
        text[fits] = '\0';
    }
    return length;
}
