/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which compiled configs go on. A GPU takes whatever is compiled first. An emulated
 * device takes them in the order in which they were asked for, so that a search comes to the same
 * result however many compile workers it has and however fast they are. */
#include "base/memory.h"
#include "pipeline/state.h"

#include <stdlib.h>

/* Configs in flight on an emulated device: fixed, because what is asked for depends on it. */
enum { ORDERED_WINDOW = 32 };

void at_order_open(struct at_pipeline *p)
{
    if (!at_device_is_emulated(at_gpu_info(p->session->gpu)))
        return;
    p->window = ORDERED_WINDOW;
    p->order = at_alloc_array(p->window, sizeof *p->order);
}

void at_order_add(struct at_pipeline *p, size_t index)
{
    if (p->order)
        p->order[(p->order_first + p->order_count++) % p->window] =
            (struct at_ordered){.index = index};
}

static void park(struct at_pipeline *p, const struct at_built *built)
{
    size_t i = p->order_first;

    while (&p->search->results[p->order[i].index] != built->owner)
        i = (i + 1) % p->window; /* ends: every config that is built was added */
    p->order[i].built = *built;
    p->order[i].is_built = true;
}

/* A config that does not compile has its result at once. Those before it come first. */
static bool is_next(const struct at_pipeline *p, const struct at_ordered *first)
{
    return first->is_built && (first->built.outcome == AT_CORRECT ||
                               (!at_gpu_busy(p->session->gpu) && p->ready_count == 0));
}

bool at_order_take(struct at_pipeline *p, struct at_built *built)
{
    struct at_built next;

    if (!p->order)
        return at_builder_take(p->session->builder, built);
    while (at_builder_take(p->session->builder, &next))
        park(p, &next);
    if (p->order_count == 0 || !is_next(p, &p->order[p->order_first]))
        return false;
    *built = p->order[p->order_first].built;
    p->order_first = (p->order_first + 1) % p->window;
    p->order_count--;
    return true;
}

void at_order_drop(struct at_pipeline *p)
{
    for (; p->order_count > 0; p->order_count--) {
        struct at_ordered *first = &p->order[p->order_first];

        if (first->is_built)
            at_program_release(first->built.program);
        p->order_first = (p->order_first + 1) % p->window;
    }
}
