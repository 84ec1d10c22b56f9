/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/merge.h"

#include "base/memory.h"
#include "profile/internal.h"

#include <stdlib.h>
#include <string.h>

/* An entry with its origin. */
struct piece {
    const char *path;
    const struct at_device_record *record;
    struct at_entry *entry;
    size_t index; /* in the order of the files */
};

struct pieces {
    struct piece *items;
    size_t count, capacity;
};

/* ---- which of two entries is kept ---- */

static int by_number(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Above 0: a is newer. Unknown software counts as oldest. */
static int by_software(const struct piece *a, const struct piece *b)
{
    const struct at_environment *x = &a->record->environment, *y = &b->record->environment;
    const char *const texts[][2] = {{x->driver, y->driver},
                                    {x->cuda_driver, y->cuda_driver},
                                    {x->nvrtc, y->nvrtc},
                                    {x->autotune, y->autotune}};
    int order = 0;

    for (size_t i = 0; i < AT_COUNT(texts) && order == 0; i++)
        order = strverscmp(texts[i][0], texts[i][1]);
    return order;
}

static int by_completeness(const struct piece *a, const struct piece *b)
{
    return by_number(a->entry->ended == AT_ENDED_EXHAUSTED, b->entry->ended == AT_ENDED_EXHAUSTED);
}

static int by_configs(const struct piece *a, const struct piece *b)
{
    return by_number(a->entry->evaluations.counts[AT_CORRECT],
                     b->entry->evaluations.counts[AT_CORRECT]);
}

static int by_samples(const struct piece *a, const struct piece *b)
{
    return by_number(a->entry->winner.samples, b->entry->winner.samples);
}

static int by_spread(const struct piece *a, const struct piece *b)
{
    return by_number(b->entry->winner.spread_permille, a->entry->winner.spread_permille);
}

static int by_place(const struct piece *a, const struct piece *b)
{
    return a->index < b->index ? 1 : -1;
}

/* The first comparison that tells two entries apart decides. */
static const struct {
    int (*compare)(const struct piece *a, const struct piece *b); /* above 0: a is kept */
    const char *reason;
} rule[] = {
    {by_software, "newer software"},       {by_completeness, "a complete search"},
    {by_configs, "more configs measured"}, {by_samples, "more samples"},
    {by_spread, "a smaller spread"},       {by_place, "named first"},
};

static const char *better(const struct piece *a, const struct piece *b, bool *first)
{
    size_t i = 0;
    int order;

    while ((order = rule[i].compare(a, b)) == 0)
        i++; /* ends: places differ */
    *first = order > 0;
    return rule[i].reason;
}

/* ---- pieces ---- */

static int by_subject(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    int order = strcmp(a->record->device.name, b->record->device.name);

    if (order == 0)
        order = strcmp(a->record->device.uuid, b->record->device.uuid);
    if (order == 0)
        order = strcmp(a->record->policy.name, b->record->policy.name);
    if (order == 0)
        order = strcmp(a->entry->problem, b->entry->problem);
    return order;
}

static int by_subject_and_place(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    int order = by_subject(a, b);

    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static int by_record_and_place(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    int order = at_device_record_compare(a->record, b->record);

    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static struct pieces collect(const struct at_profiles *profiles)
{
    struct pieces pieces = {0};

    for (size_t i = 0; i < profiles->count; i++) {
        const struct at_profile_file *file = &profiles->files[i];
        const struct at_device_record *records = file->profile.devices.items;

        for (size_t j = 0; j < file->profile.devices.count; j++) {
            struct at_entry *entries = records[j].problems.items;

            for (size_t k = 0; k < records[j].problems.count; k++) {
                struct piece piece = {file->path, &records[j], &entries[k], pieces.count};

                AT_PUSH(pieces.items, pieces.count, pieces.capacity, piece);
            }
        }
    }
    return pieces;
}

static bool same_times(const struct piece *a, const struct piece *b)
{
    return at_device_record_compare(a->record, b->record) == 0 &&
           a->entry->winner.time_ns == b->entry->winner.time_ns &&
           a->entry->evaluations.counts[AT_CORRECT] == b->entry->evaluations.counts[AT_CORRECT] &&
           a->entry->winner.spread_permille == b->entry->winner.spread_permille;
}

/* Keep one piece of each subject, in place. */
static void choose(struct at_merge *merge, struct pieces *pieces)
{
    size_t kept = 0;

    qsort(pieces->items, pieces->count, sizeof *pieces->items, by_subject_and_place);
    for (size_t i = 0; i < pieces->count; i++) {
        struct piece *last = kept > 0 ? &pieces->items[kept - 1] : NULL, *piece = &pieces->items[i];
        const struct piece *winner, *loser;
        const char *reason;
        bool first;

        if (!last || by_subject(last, piece) != 0) {
            pieces->items[kept++] = *piece;
            continue;
        }
        reason = better(last, piece, &first);
        winner = first ? last : piece;
        loser = first ? piece : last;
        if (!same_times(last, piece))
            AT_PUSH(merge->conflicts, merge->conflict_count, merge->conflict_capacity,
                    at_format("%s on %s, %s: keeping %s (%jd ns), not %s (%jd ns): %s",
                              winner->entry->problem, winner->record->device.name,
                              winner->record->policy.name, winner->path,
                              (intmax_t)winner->entry->winner.time_ns, loser->path,
                              (intmax_t)loser->entry->winner.time_ns, reason));
        if (!first)
            *last = *piece;
    }
    pieces->count = kept;
}

/* ---- records ---- */

static void add_reason(char throttle[sizeof((struct at_conditions *)0)->throttle],
                       const char *reason, size_t length)
{
    size_t used = strlen(throttle), size = sizeof((struct at_conditions *)0)->throttle;

    for (const char *seen = throttle; *seen; seen += strspn(seen, " ")) {
        size_t word = strcspn(seen, " ");

        if (word == length && strncmp(seen, reason, length) == 0)
            return;
        seen += word;
    }
    snprintf(throttle + used, size - used, "%s%.*s", used ? " " : "", (int)length, reason);
}

/* Join the lists of reasons; "none" only if both are "none". */
static void join_throttle(struct at_conditions *into, const struct at_conditions *from)
{
    struct at_conditions joined = {0};
    const char *const both[] = {into->throttle, from->throttle};

    for (size_t i = 0; i < AT_COUNT(both); i++)
        for (const char *word = both[i]; *word; word += strspn(word, " ")) {
            size_t length = strcspn(word, " ");

            if (length != strlen("none") || strncmp(word, "none", length) != 0)
                add_reason(joined.throttle, word, length);
            word += length;
        }
    if (!joined.throttle[0] && into->throttle[0] && from->throttle[0])
        strcpy(joined.throttle, "none");
    memcpy(into->throttle, joined.throttle, sizeof into->throttle);
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Return the lower of two; 0 is unknown. */
static int64_t least_known(int64_t a, int64_t b)
{
    if (a == 0 || b == 0)
        return most(a, b);
    return a < b ? a : b;
}

void at_conditions_join(struct at_conditions *into, const struct at_conditions *from)
{
    into->clock_sm_min_khz = least_known(into->clock_sm_min_khz, from->clock_sm_min_khz);
    into->clock_sm_max_khz = most(into->clock_sm_max_khz, from->clock_sm_max_khz);
    into->clock_memory_khz = most(into->clock_memory_khz, from->clock_memory_khz);
    into->power_max_mW = most(into->power_max_mW, from->power_max_mW);
    into->temperature_max_c = most(into->temperature_max_c, from->temperature_max_c);
    into->other_processes = most(into->other_processes, from->other_processes);
    into->capped_ms = most(into->capped_ms, from->capped_ms);
    into->slowed_ms = most(into->slowed_ms, from->slowed_ms);
    into->discarded_samples = most(into->discarded_samples, from->discarded_samples);
    into->drifts = most(into->drifts, from->drifts);
    into->remeasured = most(into->remeasured, from->remeasured);
    join_throttle(into, from);
}

struct records {
    struct at_device_record *items;
    size_t count, capacity;
};

/* Move the pieces' entries into records; entries with the same record share one. */
static struct at_list make_records(struct pieces *pieces)
{
    struct records records = {0};
    size_t capacity = 0;
    const struct at_device_record *joined = NULL;

    qsort(pieces->items, pieces->count, sizeof *pieces->items, by_record_and_place);
    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->items[i];
        struct at_device_record *record;
        struct at_entry *entries;

        if (i == 0 || at_device_record_compare(piece[-1].record, piece->record) != 0) {
            struct at_device_record fresh = *piece->record;

            fresh.problems = (struct at_list){0};
            AT_PUSH(records.items, records.count, records.capacity, fresh);
            capacity = 0;
        } else if (piece->record != joined) {
            at_conditions_join(&records.items[records.count - 1].conditions,
                               &piece->record->conditions);
        }
        joined = piece->record;
        record = &records.items[records.count - 1];
        entries = record->problems.items;
        AT_PUSH(entries, record->problems.count, capacity, *piece->entry);
        record->problems.items = entries;
        *piece->entry = (struct at_entry){0}; /* moved */
    }
    return (struct at_list){records.items, records.count};
}

enum at_status at_merge_make(struct at_merge *merge, struct at_profiles *profiles,
                             struct at_error *err)
{
    struct at_merge made = {.profile = {.schema = AT_PROFILE_SCHEMA}};
    struct pieces pieces = collect(profiles);
    enum at_status status;

    choose(&made, &pieces);
    made.profile.devices = make_records(&pieces);
    free(pieces.items);
    at_profiles_clear(profiles);
    at_profile_sort(&made.profile);
    status = at_profile_check_counts(&made.profile, err);
    if (status == AT_OK)
        status = at_profile_check(&made.profile, "the merged profile", err);
    if (status == AT_OK)
        *merge = made;
    else
        at_merge_clear(&made);
    return status;
}

void at_merge_clear(struct at_merge *merge)
{
    at_profile_clear(&merge->profile);
    for (size_t i = 0; i < merge->conflict_count; i++)
        free(merge->conflicts[i]);
    free(merge->conflicts);
    *merge = (struct at_merge){0};
}
