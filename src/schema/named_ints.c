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
    items = at_alloc(bytes);
    names = (char *)(items + count);
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(from[i].name) + 1;

        items[i] = (struct at_named_int){memcpy(names, from[i].name, size), from[i].value};
        names += size;
    }
    return (struct at_list){items, count};
}
