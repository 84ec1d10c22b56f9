/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "schema/schema.h"

#include <string.h>

/* One block instead of one for each name: a profile has tens of thousands of names. */
struct at_list at_named_ints_copy(const struct at_named_int *from, size_t count)
{
    size_t bytes = count * sizeof *from;
    struct at_named_int *items;
    char *names;

    for (size_t i = 0; i < count; i++)
        bytes += strlen(from[i].name) + 1;
    items = at_alloc_raw(bytes);
    names = (char *)(items + count);
    for (size_t i = 0; i < count; i++) {
        items[i] = (struct at_named_int){names, from[i].value};
        names = stpcpy(names, from[i].name) + 1;
    }
    return (struct at_list){items, count};
}
