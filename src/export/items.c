/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the problems of an export, and gives each a key. */
#include "base/memory.h"
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

/* Append a number to the key, unless it has the value of a dense matrix. */
static int add_number(char *key, int used, const char *letter, int64_t value, int64_t dense)
{
    if (value == dense)
        return used;
    return used + snprintf(key + used, (size_t)(AT_EXPORT_KEY_CHARS - used), "_%s%jd", letter,
                           (intmax_t)value);
}

static void make_key(char key[AT_EXPORT_KEY_CHARS], const struct at_problem *problem)
{
    int used = snprintf(key, AT_EXPORT_KEY_CHARS, "R%jd_C%jd_B%jd", (intmax_t)problem->rows,
                        (intmax_t)problem->cols, (intmax_t)problem->elem_size);

    used = add_number(key, used, "LS", problem->ld_src, problem->cols);
    used = add_number(key, used, "LD", problem->ld_dst, problem->rows);
    used = add_number(key, used, "N", problem->batch, 1);
    used = add_number(key, used, "SS", problem->stride_src, problem->rows * problem->ld_src);
    used = add_number(key, used, "SD", problem->stride_dst, problem->cols * problem->ld_dst);
    if (problem->in_place)
        snprintf(key + used, (size_t)(AT_EXPORT_KEY_CHARS - used), "_IP");
}

static bool same_kernel(const struct at_export_item *a, const struct at_export_item *b)
{
    return a->problem.elem_size == b->problem.elem_size &&
           at_config_equal(&a->answer.config, &b->answer.config);
}

static size_t find_kernel(const struct at_export *export, size_t item)
{
    size_t i = 0;

    while (!same_kernel(&export->items[i], &export->items[item]))
        i++;
    return i; /* ends at the item itself at the latest */
}

static bool has_key(const struct at_export *export, const char *key)
{
    for (size_t i = 0; i < export->count; i++)
        if (strcmp(export->items[i].key, key) == 0)
            return true;
    return false;
}

enum at_status at_export_make(struct at_export *export, const struct at_lookup *lookup,
                              const struct at_problem *problems, size_t count, struct at_error *err)
{
    struct at_export made = *export;

    made.items = at_alloc_array(count, sizeof *made.items);
    made.count = 0;
    for (size_t i = 0; i < count; i++) {
        struct at_export_item *item = &made.items[made.count];
        struct at_query query = {&problems[i], export->device, export->environment, export->policy};
        char key[AT_EXPORT_KEY_CHARS];
        enum at_status status;

        if (problems[i].offset_src || problems[i].offset_dst) {
            free(made.items);
            return at_fail(err, AT_USAGE,
                           "a transpose of matrices at an offset cannot be exported");
        }
        if (problems[i].outer_count > 0) {
            free(made.items);
            return at_fail(
                err, AT_USAGE,
                "a tensor of several batch axes cannot be exported; the library runs it");
        }
        make_key(key, &problems[i]);
        if (has_key(&made, key))
            continue;
        status = at_lookup_find(lookup, &query, &item->answer, err);
        if (status != AT_OK) {
            free(made.items);
            return status;
        }
        item->problem = problems[i];
        memcpy(item->key, key, sizeof key);
        item->kernel = find_kernel(&made, made.count);
        made.count++;
    }
    *export = made;
    return AT_OK;
}
