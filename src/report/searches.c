/* SPDX-License-Identifier: Apache-2.0 */
#include "report/searches.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/stats.h"
#include "journal/read.h"
#include "journal/setting.h"

#include <stdlib.h>
#include <string.h>

/* Texts, each once: a journal has few families and many configs more than once. */
struct texts {
    char **slots;
    size_t capacity, count; /* the capacity is a power of two */
};

/* A measurement's home: problem, device and policy. */
struct home {
    const char *gpu, *policy, *problem; /* borrowed from the profile */
    struct at_report_search search;
};

struct at_report_searches {
    struct texts texts;
    struct home *homes; /* sorted */
    size_t count;
    size_t taken; /* measurements of the journal that is read */
};

/* ---- texts ---- */

static char **find_slot(struct texts *texts, const char *text)
{
    size_t i = at_hash64(text, strlen(text), 0) & (texts->capacity - 1);

    while (texts->slots[i] && strcmp(texts->slots[i], text) != 0)
        i = (i + 1) & (texts->capacity - 1);
    return &texts->slots[i];
}

static void make_room(struct texts *texts)
{
    struct texts larger = {.capacity = texts->capacity ? 2 * texts->capacity : 1024,
                           .count = texts->count};

    larger.slots = at_alloc_array(larger.capacity, sizeof *larger.slots);
    for (size_t i = 0; i < texts->capacity; i++)
        if (texts->slots[i])
            *find_slot(&larger, texts->slots[i]) = texts->slots[i];
    free(texts->slots);
    *texts = larger;
}

static const char *keep(struct texts *texts, const char *text)
{
    char **slot;

    if (2 * texts->count >= texts->capacity)
        make_room(texts);
    slot = find_slot(texts, text);
    if (!*slot) {
        *slot = at_strdup(text);
        texts->count++;
    }
    return *slot;
}

/* ---- homes ---- */

static int compare_homes(const void *a, const void *b)
{
    const struct home *x = a, *y = b;
    int order = strcmp(x->problem, y->problem);

    if (order == 0)
        order = strcmp(x->gpu, y->gpu);
    return order ? order : strcmp(x->policy, y->policy);
}

static struct home home_of(const struct at_device_record *record, const struct at_entry *entry)
{
    return (struct home){.gpu = entry->gpu[0] ? entry->gpu : record->device.uuid,
                         .policy = record->policy.name,
                         .problem = entry->problem};
}

static struct home *find_home(const struct at_report_searches *searches, const struct home *key)
{
    return bsearch(key, searches->homes, searches->count, sizeof *searches->homes, compare_homes);
}

struct at_report_searches *at_report_searches_make(const struct at_profile *profile)
{
    const struct at_device_record *records = profile->devices.items;
    struct at_report_searches *searches = at_alloc(sizeof *searches);
    size_t capacity = 0;

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct at_entry *entries = records[i].problems.items;

        for (size_t j = 0; j < records[i].problems.count; j++)
            AT_PUSH(searches->homes, searches->count, capacity, home_of(&records[i], &entries[j]));
    }
    if (searches->count > 0)
        qsort(searches->homes, searches->count, sizeof *searches->homes, compare_homes);
    return searches;
}

static void clear_finals(struct at_report_search *search)
{
    for (size_t i = 0; i < search->final_count; i++)
        free(search->finals[i].samples_ns);
    search->final_count = 0;
}

void at_report_searches_free(struct at_report_searches *searches)
{
    if (!searches)
        return;
    for (size_t i = 0; i < searches->count; i++) {
        clear_finals(&searches->homes[i].search);
        free(searches->homes[i].search.points);
    }
    for (size_t i = 0; i < searches->texts.capacity; i++)
        free(searches->texts.slots[i]);
    free(searches->texts.slots);
    free(searches->homes);
    free(searches);
}

const struct at_report_search *at_report_search_of(const struct at_report_searches *searches,
                                                   const struct at_device_record *record,
                                                   const struct at_entry *entry)
{
    struct home key = home_of(record, entry), *home;

    if (!searches)
        return NULL;
    home = find_home(searches, &key);
    return home && home->search.count > 0 ? &home->search : NULL;
}

/* ---- reading ---- */

/* The word that begins the policy's part of a setting; the caller frees it. */
static char *policy_of(const char *setting)
{
    char *part = at_setting_part(setting, AT_SETTING_POLICY);

    part[strcspn(part, " ")] = '\0';
    return part;
}

static struct at_report_point make_point(struct texts *texts, const struct at_journal_entry *entry)
{
    const struct at_measurement *measured = &entry->measurement;
    struct at_report_point point = {.family = keep(texts, entry->key.family),
                                    .config = keep(texts, entry->key.config),
                                    .utc_ms = entry->measured_utc_ms,
                                    .expected_ns = entry->details.expected_ns,
                                    .clock_sm_khz = measured->kernel.clock_sm_khz,
                                    .look = measured->kernel.look,
                                    .outcome = measured->outcome};

    if (measured->outcome == AT_CORRECT) {
        point.ns = at_median(measured->samples_ns, measured->sample_count);
        at_median_interval(measured->samples_ns, measured->sample_count, &point.low_ns,
                           &point.high_ns);
    }
    return point;
}

/* The search that a row of a journal belongs to; NULL: the profile has none. */
static struct at_report_search *search_of(const struct at_report_searches *searches,
                                          const char *gpu, const char *setting, const char *problem)
{
    char *policy = policy_of(setting);
    const struct home key = {.gpu = gpu, .policy = policy, .problem = problem};
    struct home *home = find_home(searches, &key);

    free(policy);
    return home ? &home->search : NULL;
}

/* Of the run that is shown, and of its shoot-outs the last. Those of an earlier journal go. */
static void take_final(void *data, const struct at_journal_final_entry *entry)
{
    struct at_report_searches *searches = data;
    struct at_report_search *search =
        search_of(searches, entry->gpu, entry->setting, entry->key.problem);
    const struct at_journal_final *final = &entry->final;
    struct at_report_final *kept;

    if (!search || entry->run != search->run)
        return;
    if (final->place == 0)
        clear_finals(search);
    if (search->final_count == AT_REPORT_FINALS_MAX)
        return;
    kept = &search->finals[search->final_count++];
    *kept = (struct at_report_final){
        .family = keep(&searches->texts, entry->key.family),
        .config = keep(&searches->texts, entry->key.config),
        .samples_ns = at_memdup(final->samples_ns, final->sample_count * sizeof *final->samples_ns),
        .sample_count = final->sample_count,
        .ns = at_median(final->samples_ns, final->sample_count),
        .won = final->won,
    };
    at_median_interval(final->samples_ns, final->sample_count, &kept->low_ns, &kept->high_ns);
}

static void take(void *data, const struct at_journal_entry *entry)
{
    struct at_report_searches *searches = data;
    struct at_report_search *search =
        search_of(searches, entry->details.gpu, entry->setting, entry->key.problem);

    if (!search)
        return;
    searches->taken++;
    if (entry->run < search->run)
        return;
    if (entry->run > search->run)
        search->count = search->older;
    search->run = entry->run;
    AT_PUSH(search->points, search->count, search->capacity, make_point(&searches->texts, entry));
}

enum at_status at_report_searches_add(struct at_report_searches *searches, const char *path,
                                      size_t *taken, struct at_error *err)
{
    const struct at_journal_takers takers = {take, take_final, searches};
    enum at_status status;

    searches->taken = 0;
    for (size_t i = 0; i < searches->count; i++) {
        searches->homes[i].search.older = searches->homes[i].search.count;
        searches->homes[i].search.run = 0;
    }
    status = at_journal_read(path, &takers, err);
    if (status == AT_OK)
        *taken = searches->taken;
    return status;
}

/* ---- after reading ---- */

struct place {
    const struct at_report_point *point;
    size_t index;
};

/* By config, then by age. Addresses stand for texts: any order will do. */
static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->point->config != y->point->config)
        return x->point->config < y->point->config ? -1 : 1;
    if (x->point->family != y->point->family)
        return x->point->family < y->point->family ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Drop all but the last measurement of each config. */
static void drop_older(struct at_report_search *search)
{
    struct place *places = at_alloc_array(search->count, sizeof *places);
    bool *dropped = at_alloc_array(search->count, sizeof *dropped);
    size_t kept = 0;

    for (size_t i = 0; i < search->count; i++)
        places[i] = (struct place){&search->points[i], i};
    qsort(places, search->count, sizeof *places, compare_places);
    for (size_t i = 0; i + 1 < search->count; i++)
        dropped[places[i].index] = places[i].point->config == places[i + 1].point->config &&
                                   places[i].point->family == places[i + 1].point->family;
    for (size_t i = 0; i < search->count; i++)
        if (!dropped[i])
            search->points[kept++] = search->points[i];
    search->count = kept;
    free(places);
    free(dropped);
}

static int compare_finals(const void *a, const void *b)
{
    const struct at_report_final *x = a, *y = b;
    int order;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    order = strcmp(x->family, y->family);
    return order ? order : strcmp(x->config, y->config);
}

static void order_finals(struct at_report_search *search)
{
    const struct at_report_final *fastest = search->finals;

    if (search->final_count > 0)
        qsort(search->finals, search->final_count, sizeof *search->finals, compare_finals);
    for (size_t i = 0; i < search->final_count; i++) {
        struct at_report_final *final = &search->finals[i];

        final->tied = i == 0 || (final->sample_count == fastest->sample_count &&
                                 at_samples_equal(final->samples_ns, fastest->samples_ns,
                                                  final->sample_count));
    }
}

void at_report_searches_finish(struct at_report_searches *searches)
{
    for (size_t i = 0; i < searches->count; i++) {
        struct at_report_search *search = &searches->homes[i].search;

        if (search->count > 0)
            drop_older(search);
        order_finals(search);
        search->best_index = search->count;
        for (size_t j = 0; j < search->count; j++)
            if (search->points[j].ns > 0 &&
                (search->best_index == search->count ||
                 search->points[j].ns < search->points[search->best_index].ns))
                search->best_index = j;
    }
}
