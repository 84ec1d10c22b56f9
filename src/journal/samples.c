/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/samples.h"

#include "base/memory.h"

#include <jansson.h>

enum at_status at_samples_format(char **text, const double *samples_ns, size_t count,
                                 struct at_error *err)
{
    json_t *array = json_array();
    enum at_status status = AT_OK;

    for (size_t i = 0; i < count && status == AT_OK; i++)
        if (json_array_append_new(array, json_real(samples_ns[i])) != 0)
            status = at_fail(err, AT_INTERNAL, "sample %zu is not a finite number", i);
    if (status == AT_OK)
        *text = json_dumps(array, JSON_COMPACT);
    json_decref(array);
    return status;
}

enum at_status at_samples_parse(double **samples_ns, size_t *count, const char *text,
                                struct at_error *err)
{
    json_t *array = json_loads(text ? text : "", 0, NULL), *item;
    size_t size = json_array_size(array), i;
    enum at_status status = AT_OK;
    double *values = size ? at_alloc_array(size, sizeof *values) : NULL;

    if (!json_is_array(array))
        status = at_fail(err, AT_USAGE, "samples_ns is not a JSON array of numbers");
    json_array_foreach(array, i, item)
    {
        if (!json_is_number(item))
            status = at_fail(err, AT_USAGE, "samples_ns is not a JSON array of numbers");
        values[i] = json_number_value(item);
    }
    json_decref(array);
    if (status != AT_OK) {
        free(values);
        return status;
    }
    *samples_ns = values;
    *count = size;
    return AT_OK;
}
