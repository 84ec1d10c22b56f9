/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "lib/objects.h"

#include <stdlib.h>
#include <string.h>

/* Static: there may be no memory for an error object. */
static const autotune_error out_of_memory = {{AT_NO_MEMORY, "out of memory"}};

static autotune_status fail_out_of_memory(autotune_error **error)
{
    if (error)
        *error = (autotune_error *)&out_of_memory;
    return AUTOTUNE_NO_MEMORY;
}

autotune_status autotune_fail(autotune_error **error, const struct at_error *err)
{
    if (err->status == AT_NO_MEMORY)
        return fail_out_of_memory(error);
    if (error) {
        autotune_error *made = malloc(sizeof *made); /* not at_alloc: the call is over */

        if (!made)
            return fail_out_of_memory(error);
        made->error = *err;
        *error = made;
    }
    return (autotune_status)err->status;
}

autotune_status autotune_fail_null(autotune_error **error, const char *argument)
{
    struct at_error err;

    at_fail(&err, AT_USAGE, "the argument \"%s\" is NULL", argument);
    return autotune_fail(error, &err);
}

autotune_status autotune_call(autotune_body *body, void *data, autotune_error **error)
{
    struct at_error err = {AT_OK, ""};
    enum at_status status = at_guard_run(body, data, &err);

    return status == AT_OK ? AUTOTUNE_OK : autotune_fail(error, &err);
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
    if (error != &out_of_memory)
        at_free(error);
}

const char *autotune_status_name(autotune_status status)
{
    static const char *const names[] = {
#define NAMED(name) [name] = #name
        NAMED(AUTOTUNE_OK),        NAMED(AUTOTUNE_FAILED),   NAMED(AUTOTUNE_INVALID),
        NAMED(AUTOTUNE_NO_DEVICE), NAMED(AUTOTUNE_MISMATCH), NAMED(AUTOTUNE_INTERNAL),
        NAMED(AUTOTUNE_NO_MEMORY),
#undef NAMED
    };

    return (size_t)status < AT_COUNT(names) ? names[status] : "unknown status";
}

const char *autotune_version(void)
{
    return PACKAGE_VERSION;
}

int autotune_version_number(void)
{
    return AUTOTUNE_VERSION;
}

size_t autotune_copy_text(const char *from, char *text, size_t capacity)
{
    size_t length = strlen(from), fits = length < capacity ? length : capacity - 1;

    if (text && capacity > 0) {
        memcpy(text, from, fits);
        text[fits] = '\0';
    }
    return length;
}
