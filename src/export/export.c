/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the problems of an export, and finds what formats tell of them. */
#include "export/export.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "kernel/render.h"
#include "problem/group_arguments.h"
#include "space/config.h"
#include "space/space.h"

#include <stdlib.h>
#include <string.h>

/* Configs that differ only in parameters of the host share a kernel. */
static bool same_kernel(const struct at_export_item *a, const struct at_export_item *b)
{
    return a->answer.config.family == b->answer.config.family &&
           strcmp(a->defines, b->defines) == 0;
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

bool at_export_is_many(const struct at_export_item *item)
{
    return item->answer.launch.field[AT_LAUNCHES] > 0;
}

/* The most bytes that a thread moves at once. */
enum { ACCESS_BYTES = 16 };

/* Do only source and destination matter, whose elements are one by one? */
static bool has_plain_sides(const struct at_problem *problem)
{
    return problem->groups.count == 0 && !at_step_has(&problem->step, AT_BOTH) &&
           !at_step_has(&problem->step, AT_BETA) && !at_step_has(&problem->step, AT_BLOCKS);
}

static struct at_problem anywhere(const struct at_problem *problem)
{
    struct at_problem moved = *problem;

    moved.offset_src = moved.offset_dst = 1;
    return moved;
}

/* Find which addresses an item takes: those of its problem, or any if its config allows that. */
static void find_addresses(struct at_export_item *item)
{
    const struct at_problem *problem = &item->problem, moved = anywhere(problem);
    bool takes_any = false;

    if (has_plain_sides(problem))
        (void)at_config_legal(&item->answer.config, &moved, &item->target->device, &takes_any, NULL,
                              NULL);
    for (int side = AT_SOURCE; side < AT_SIDES; side++) {
        const int64_t elements = side == AT_SOURCE ? problem->offset_src : problem->offset_dst,
                      bytes = at_problem_elem_size(problem, (enum at_side)side);

        item->align[side] = takes_any ? bytes : ACCESS_BYTES;
        item->offset[side] = elements * bytes % item->align[side];
    }
}

/* Add an item whose target, problem and answer are known. */
static const struct at_export_item *add_item(struct at_export *export,
                                             const struct at_export_item *made, const char *key)
{
    struct at_export_item *item = &export->items[export->count];

    *item = *made;
    item->spec = at_problem_format(&item->problem);
    item->defines = at_render_options(&item->answer.config, at_problem_kind(&item->problem));
    snprintf(item->key, sizeof item->key, "%s", key);
    snprintf(item->name, sizeof item->name, "%s", key);
    if (export->target_count > 1) {
        item->told = at_export_plain(item->target->device.name);
        snprintf(item->name + strlen(key), sizeof item->name - strlen(key), "_SM%d",
                 (int)item->target->device.compute_capability);
    }
    if (item->for_any_address)
        strcat(item->name, "_ANY");
    find_addresses(item);
    item->kernel = find_kernel(export, export->count);
    export->count++;
    return item;
}

/* Add the default config that takes any address, unless the item's own does. It is launched for the
 * problem itself. */
static enum at_status add_for_any_address(struct at_export *export,
                                          const struct at_export_item *item, struct at_error *err)
{
    const struct at_problem moved = anywhere(&item->problem);
    struct at_export_item other = {
        .problem = item->problem, .target = item->target, .for_any_address = true};
    enum at_status status;

    if (!export->any_address || !has_plain_sides(&item->problem) ||
        (item->align[AT_SOURCE] == at_problem_elem_size(&item->problem, AT_SOURCE) &&
         item->align[AT_DESTINATION] == at_problem_elem_size(&item->problem, AT_DESTINATION)))
        return AT_OK;
    other.answer.tier = AT_TIER_DEFAULT;
    status = at_space_default(&other.answer.config, export->families, export->family_count, &moved,
                              &item->target->device, err);
    if (status == AT_OK)
        status = at_config_launch(&other.answer.config, &item->problem, &item->target->device,
                                  &other.answer.launch, err);
    if (status == AT_OK)
        (void)add_item(export, &other, item->key);
    return status;
}

/* Add a problem for each target. */
static enum at_status add_problem(struct at_export *export, const struct at_lookup *lookup,
                                  const struct at_problem *problem, struct at_error *err)
{
    char key[AT_EXPORT_KEY_CHARS];
    enum at_status status = AT_OK;

    at_export_make_key(key, problem);
    if (has_key(export, key))
        return AT_OK;
    for (size_t i = 0; i < export->target_count && status == AT_OK; i++) {
        struct at_export_item item = {.problem = *problem, .target = &export->targets[i]};
        const struct at_query query = {.problem = problem,
                                       .device = &item.target->device,
                                       .environment = &item.target->environment,
                                       .policy = export->policy};

        status = at_lookup_find(lookup, &query, &item.answer, err);
        if (status == AT_OK)
            status = add_for_any_address(export, add_item(export, &item, key), err);
    }
    return status;
}

size_t at_export_variants(const struct at_export *export, size_t item)
{
    size_t end = item + 1;

    while (end < export->count && strcmp(export->items[end].key, export->items[item].key) == 0)
        end++;
    return end - item;
}

bool at_export_is_problem(const struct at_export *export, size_t item)
{
    return item == 0 || strcmp(export->items[item - 1].key, export->items[item].key) != 0;
}

enum at_status at_export_make(struct at_export *export, const struct at_lookup *lookup,
                              const struct at_problem *problems, size_t count, struct at_error *err)
{
    struct at_export made = *export;
    enum at_status status = AT_OK;

    made.items = at_alloc_array(2 * count * export->target_count, sizeof *made.items);
    made.count = 0;
    for (size_t i = 0; i < count && status == AT_OK; i++)
        status = add_problem(&made, lookup, &problems[i], err);
    if (status == AT_OK)
        *export = made;
    else
        at_export_clear(&made);
    return status;
}

void at_export_clear(struct at_export *export)
{
    for (size_t i = 0; i < export->count; i++) {
        free(export->items[i].told);
        free(export->items[i].spec);
        free(export->items[i].defines);
    }
    free(export->items);
    export->items = NULL;
    export->count = 0;
}

/* No second source, which would have to be somewhere. */
static const struct at_step_numbers one = {.number.value = {1, 0}};

/* What is known of drawn groups. The list, offsets and results are somewhere else in each launch.
 */
static size_t put_groups(const struct at_problem *problem, uint64_t word[AT_CALL_WORDS],
                         uint8_t words[AT_CALL_ARGS])
{
    const struct at_groups *groups = &problem->groups;
    struct at_group *all = at_groups_draw(groups, at_problem_least_bytes(problem));
    const struct at_group_list list = {.count = groups->count};
    const struct at_ragged_groups rows = at_ragged_groups_of(groups, all);

    at_free(all);
    return at_groups_kind(groups) == AT_GROUP_LIST
               ? at_group_args(problem, 0, 0, &list, sizeof list, &one, word, words)
               : at_group_args(problem, 0, 0, &rows, sizeof rows, &one, word, words);
}

struct at_export_arguments at_export_arguments(const struct at_export_item *item)
{
    enum { POINTERS = 2 }; /* dst and src, a word each */

    struct at_export_arguments arguments;
    uint64_t word[AT_CALL_WORDS];
    uint8_t words[AT_CALL_ARGS];

    memset(&arguments, 0, sizeof arguments);
    arguments.count = at_export_groups(item) ? put_groups(&item->problem, word, words)
                                             : at_problem_args(&item->problem, &item->answer.launch,
                                                               0, 0, &one, word, words);
    arguments.count -= POINTERS;
    for (size_t i = 0; i < arguments.count; i++) {
        arguments.word_counts[i] = words[POINTERS + i] ? words[POINTERS + i] : 1;
        arguments.word_count += arguments.word_counts[i];
    }
    memcpy(arguments.words, word + POINTERS, arguments.word_count * sizeof *word);
    return arguments;
}

enum at_groups_kind at_export_groups(const struct at_export_item *item)
{
    return at_groups_kind(&item->problem.groups);
}

bool at_export_takes_numbers(const struct at_export_item *item)
{
    return at_step_takes_numbers(&item->problem.step);
}

static bool is_prefix(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return *text >= 'a' && *text <= 'z' && !text[length] && length < AT_EXPORT_PREFIX_CHARS &&
           !strstr(text, "__") && text[length - 1] != '_';
}

enum at_status at_export_set_prefix(struct at_export *export, const char *prefix,
                                    struct at_error *err)
{
    if (!prefix)
        prefix = "autotune";
    if (!is_prefix(prefix))
        return at_fail(
            err, AT_USAGE,
            "the prefix \"%.40s\" is not a name of at most %d lower-case letters, digits "
            "and single underscores that begins with a letter, such as \"fft_rows\"",
            prefix, AT_EXPORT_PREFIX_CHARS - 1);
    for (size_t i = 0; i <= strlen(prefix); i++) {
        char c = prefix[i];

        export->prefix[i] = c;
        export->macro_prefix[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    return AT_OK;
}

/* ---- what formats tell ---- */

char *at_export_words(const struct at_export_arguments *arguments, const char *separator)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    for (size_t i = 0; i < arguments->word_count; i++)
        fprintf(out, "%s0x%jx", i ? separator : "", (uintmax_t)arguments->words[i]);
    return at_text_close(&stream, NULL);
}

struct at_list at_export_word_counts(const struct at_export_arguments *arguments)
{
    int64_t *counts = at_alloc_array(arguments->count, sizeof *counts);

    for (size_t i = 0; i < arguments->count; i++)
        counts[i] = arguments->word_counts[i];
    return (struct at_list){counts, arguments->count};
}

struct at_list at_export_scale_bytes(const struct at_export_item *item)
{
    int64_t *bytes = at_alloc_array(2, sizeof *bytes);

    bytes[0] = at_problem_scale_bytes(&item->problem, AT_DESTINATION);
    bytes[1] = at_problem_scale_bytes(&item->problem, AT_SOURCE);
    return (struct at_list){bytes, 2};
}

int64_t at_export_scratch_bytes(const struct at_export_item *item)
{
    return at_problem_scratch_bytes(&item->problem, &item->answer.launch);
}

void at_export_write_sizes(const struct at_export_item *item, FILE *out)
{
    struct at_problem problem = at_problem_as_given(&item->problem);

    if (problem.outer_count > 0 || problem.step.given || problem.groups.count > 0 ||
        problem.offset_src > 0 || problem.offset_dst > 0 || at_export_is_many(item))
        problem = (struct at_problem){0};
    fprintf(out, "%jdLL, %jdLL, %jdLL, %jdLL, %jdLL, %jdLL, %jdLL", (intmax_t)problem.rows,
            (intmax_t)problem.cols, (intmax_t)problem.ld_src, (intmax_t)problem.ld_dst,
            (intmax_t)problem.batch, (intmax_t)problem.stride_src, (intmax_t)problem.stride_dst);
}

void at_export_write_word_counts(const struct at_export_arguments *arguments, FILE *out)
{
    fprintf(out, "%zu, {", arguments->count);
    for (size_t i = 0; i < arguments->count; i++)
        fprintf(out, "%s%d", i ? ", " : "", arguments->word_counts[i]);
    fputc('}', out);
}

bool at_export_is_kernel(const struct at_export *export, size_t item)
{
    return export->items[item].kernel == item;
}
