/* SPDX-License-Identifier: Apache-2.0 */
#include "report/shown.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

const struct at_report_point *at_report_best_point(const struct at_report_shown *shown)
{
    return &shown->search->points[shown->search->best_index];
}

static int compare_times(const void *a, const void *b)
{
    const struct at_report_by_time *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

size_t at_report_sort_points(const struct at_report_search *search,
                             struct at_report_by_time **sorted)
{
    size_t count = 0;

    *sorted = at_alloc_array(search->count, sizeof **sorted);
    for (size_t i = 0; i < search->count; i++)
        if (search->points[i].ns > 0)
            (*sorted)[count++] = (struct at_report_by_time){search->points[i].ns, i};
    qsort(*sorted, count, sizeof **sorted, compare_times);
    return count;
}

void at_report_choose_points(struct at_report_shown *shown)
{
    size_t count = shown->search->count, fastest = shown->limit / 2, correct, rest;
    struct at_report_by_time *sorted;

    shown->chosen = at_alloc_array(count, sizeof *shown->chosen);
    if (count <= shown->limit) {
        memset(shown->chosen, 1, count * sizeof *shown->chosen);
        return;
    }
    correct = at_report_sort_points(shown->search, &sorted);
    if (correct < fastest)
        fastest = correct;
    for (size_t i = 0; i < fastest; i++)
        shown->chosen[sorted[i].index] = true;
    rest = shown->limit - fastest;
    for (size_t i = 0; i < rest && fastest < correct; i++)
        shown->chosen[sorted[fastest + i * (correct - fastest) / rest].index] = true;
    free(sorted);
}
