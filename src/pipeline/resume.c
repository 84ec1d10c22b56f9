/* SPDX-License-Identifier: Apache-2.0 */
/* Resumes a run: takes in what the journal has of the problem, in the order of measurement, before
 * the strategy is asked. So the strategy knows what it knew and goes on from there, whatever order
 * later results come in. */
#include "base/memory.h"
#include "pipeline/state.h"

#include <stdlib.h>
#include <string.h>

/* A config that the journal has. */
struct known {
    char *text;    /* family and config */
    size_t number; /* in the journal */
    size_t index;  /* in the space; SIZE_MAX: it is not there */
};

struct known_list {
    struct known *items;
    size_t count, capacity;
};

static char *name_of(const char *family, const char *config)
{
    return at_format("%s %s", family, config);
}

static void take(void *data, const char *family, const char *config)
{
    struct known_list *list = data;
    struct known known = {name_of(family, config), list->count, SIZE_MAX};

    AT_PUSH(list->items, list->count, list->capacity, known);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct known *)a)->text, ((const struct known *)b)->text);
}

static int by_number(const void *a, const void *b)
{
    size_t p = ((const struct known *)a)->number, q = ((const struct known *)b)->number;

    return (p > q) - (p < q);
}

static void find_in_space(struct known_list *list, const struct at_space *space)
{
    if (list->count == 0)
        return;
    qsort(list->items, list->count, sizeof *list->items, by_text);
    for (size_t i = 0; i < space->count; i++) {
        char *config = at_config_format(&space->configs[i]);
        struct known key = {.text = name_of(space->configs[i].family->name, config)}, *known;

        known = bsearch(&key, list->items, list->count, sizeof *list->items, by_text);
        if (known)
            known->index = i;
        free(key.text);
        free(config);
    }
    qsort(list->items, list->count, sizeof *list->items, by_number);
}

enum at_status at_pipeline_resume(struct at_pipeline *p, struct at_error *err)
{
    struct known_list list = {0};
    size_t taken = 0;
    enum at_status status;

    if (!p->session->journal || !p->session->options.resume)
        return AT_OK;
    status = at_journal_each(p->session->journal, p->problem_text, take, &list, err);
    if (status == AT_OK)
        find_in_space(&list, &p->search->space);
    for (size_t i = 0; i < list.count; i++) {
        if (status == AT_OK && list.items[i].index != SIZE_MAX) {
            status = at_pipeline_find_in_journal(p, list.items[i].index, err);
            taken++;
        }
        free(list.items[i].text);
    }
    free(list.items);
    if (status == AT_OK && taken > 0)
        at_note(p->session->options.progress, "%s: %zu results from the journal", p->problem_text,
                taken);
    return status;
}
