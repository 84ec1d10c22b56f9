/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/contenders.h"

#include "base/memory.h"

static bool is_before(const struct at_contender *a, const struct at_contender *b)
{
    return a->bound < b->bound || (a->bound == b->bound && a->rank < b->rank);
}

void at_contenders_add(struct at_contenders *contenders, struct at_contender contender)
{
    size_t at = contenders->count++;
    struct at_contender *items;

    if (at == contenders->capacity) /* seldom: asked here, it takes no call */
        contenders->items =
            at_grow(contenders->items, at, &contenders->capacity, sizeof *contenders->items);
    items = contenders->items;
    for (; at > 0 && is_before(&contender, &items[(at - 1) / 2]); at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    items[at] = contender;
}

bool at_contenders_take(struct at_contenders *contenders, struct at_contender *first)
{
    struct at_contender *items = contenders->items, last;
    size_t at = 0, child;

    if (contenders->count == 0)
        return false;
    *first = items[0];
    last = items[--contenders->count];
    while ((child = 2 * at + 1) < contenders->count) {
        if (child + 1 < contenders->count && is_before(&items[child + 1], &items[child]))
            child++;
        if (!is_before(&items[child], &last))
            break;
        items[at] = items[child];
        at = child;
    }
    items[at] = last;
    return true;
}
