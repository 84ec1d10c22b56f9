/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/merge.h"

#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "profile/internal.h"

#include <stdlib.h>
#include <string.h>

/* An entry with the file that it is from. */
struct piece {
    struct at_placed_entry is;
    const char *path;
    size_t index; /* in the order of the files */
};

struct pieces {
    struct piece *items;
    size_t count, capacity;
};

/* ---- which of two entries is kept ---- */

static int by_measured(const struct piece *a, const struct piece *b)
{
    return at_integer_compare(at_entry_is_measured(a->is.entry), at_entry_is_measured(b->is.entry));
}

static int by_exhaustion(const struct piece *a, const struct piece *b)
{
    return at_integer_compare(a->is.entry->ended == AT_ENDED_EXHAUSTED,
                              b->is.entry->ended == AT_ENDED_EXHAUSTED);
}

static int by_configs(const struct piece *a, const struct piece *b)
{
    return at_integer_compare(a->is.entry->evaluations.counts[AT_CORRECT],
                              b->is.entry->evaluations.counts[AT_CORRECT]);
}

static int by_samples(const struct piece *a, const struct piece *b)
{
    return at_integer_compare(a->is.entry->winner.samples, b->is.entry->winner.samples);
}

static int by_spread(const struct piece *a, const struct piece *b)
{
    return at_integer_compare(b->is.entry->winner.spread_permille,
                              a->is.entry->winner.spread_permille);
}

static int by_time(const struct piece *a, const struct piece *b)
{
    return at_integer_compare(b->is.entry->winner.time_ns, a->is.entry->winner.time_ns);
}

static const char *gpu_of(const struct piece *piece)
{
    return piece->is.entry->gpu[0] ? piece->is.entry->gpu : piece->is.record->device.uuid;
}

static int by_share(const struct piece *a, const struct piece *b)
{
    return at_integer_compare(a->is.entry->winner.of_copy_permille,
                              b->is.entry->winner.of_copy_permille);
}

static int by_gpu(const struct piece *a, const struct piece *b)
{
    return -strcmp(gpu_of(a), gpu_of(b));
}

static char *text_of(const struct at_entry *entry)
{
    struct at_text_stream stream;
    FILE *out;

    if (!at_entry_is_measured(entry))
        return at_config_text(&entry->winner);
    out = at_text_open(&stream);

    at_schema_write_json_line(&at_entry_schema, entry, out, NULL);
    return at_text_close(&stream, NULL);
}

static int by_text(const struct piece *a, const struct piece *b)
{
    char *texts[] = {text_of(a->is.entry), text_of(b->is.entry)};
    int order = -strcmp(texts[0], texts[1]);

    at_free(texts[0]);
    at_free(texts[1]);
    return order;
}

static int by_conditions(const struct piece *a, const struct piece *b)
{
    return memcmp(&a->is.record->conditions, &b->is.record->conditions,
                  sizeof a->is.record->conditions);
}

/* The first comparison that tells two entries apart decides. None looks at the order of the files.
 */
static const struct {
    int (*compare)(const struct piece *a, const struct piece *b); /* above 0: a is kept */
    const char *reason;
} rule[] = {
    {by_measured, "measurements"},
    {by_exhaustion, "a complete search"},
    {by_configs, "more configs measured"},
    {by_samples, "more samples"},
    {by_spread, "a smaller spread"},
    {by_time, "a shorter time"},
    {by_share, "a larger share of the copy limit"},
    {by_gpu, "the first UUID"},
    {by_text, "the first in the alphabet"},
    {by_conditions, "other conditions"},
};

/* Of two entries for one problem, model, policy and software. */
static const char *better(const struct piece *a, const struct piece *b, bool *first)
{
    int order = 0;

    for (size_t i = 0; i < AT_COUNT(rule); i++)
        if ((order = rule[i].compare(a, b)) != 0) {
            *first = order > 0;
            return rule[i].reason;
        }
    *first = true;
    return "the same";
}

/* ---- pieces ---- */

/* What one entry may answer: the newest software comes last. */
static int by_subject(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    int order = at_place_compare(a->is.record, b->is.record);

    if (order == 0)
        order = strcmp(a->is.entry->problem, b->is.entry->problem);
    return order ? order
                 : at_software_compare(&a->is.record->environment, &b->is.record->environment);
}

static int by_subject_and_place(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    int order = by_subject(a, b);

    return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* Can both be in one record? */
static int by_group(const struct piece *a, const struct piece *b)
{
    int order = at_model_compare(&a->is.record->device, &b->is.record->device);

    return order ? order : at_measured_compare(a->is.record, b->is.record);
}

/* Pieces of one group are together, those of the first UUID first. */
static int by_record(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    int order = by_group(a, b);

    if (order == 0)
        order = strcmp(a->is.record->device.uuid, b->is.record->device.uuid);
    if (order == 0)
        order = memcmp(&a->is.record->device, &b->is.record->device, sizeof a->is.record->device);
    if (order == 0)
        order = by_conditions(a, b);
    return order ? order : strcmp(a->is.entry->problem, b->is.entry->problem);
}

static struct pieces collect(const struct at_profiles *profiles)
{
    struct pieces pieces = {0};

    for (size_t i = 0; i < profiles->count; i++) {
        const struct at_profile_file *file = &profiles->files[i];

        for (struct at_placed_entry at = {0}; at_profile_next(&file->profile, &at);) {
            struct piece piece = {at, file->path, pieces.count};

            AT_PUSH(pieces.items, pieces.count, pieces.capacity, piece);
        }
    }
    return pieces;
}

static bool same_times(const struct piece *a, const struct piece *b)
{
    return by_group(a, b) == 0 && strcmp(gpu_of(a), gpu_of(b)) == 0 &&
           a->is.entry->winner.time_ns == b->is.entry->winner.time_ns &&
           a->is.entry->winner.of_copy_permille == b->is.entry->winner.of_copy_permille &&
           a->is.entry->evaluations.counts[AT_CORRECT] ==
               b->is.entry->evaluations.counts[AT_CORRECT] &&
           a->is.entry->winner.spread_permille == b->is.entry->winner.spread_permille;
}

/* "131052 ns", of an answer its share. The caller frees it. */
static char *worth_of(const struct piece *piece)
{
    const struct at_result_record *winner = &piece->is.entry->winner;

    if (at_entry_is_measured(piece->is.entry))
        return at_format("%jd ns", (intmax_t)winner->time_ns);
    return at_format("not measured, %jd.%jd %% of copy", (intmax_t)winner->of_copy_permille / 10,
                     (intmax_t)winner->of_copy_permille % 10);
}

static char *conflict_of(const struct piece *winner, const struct piece *loser, const char *reason)
{
    char *kept = worth_of(winner), *dropped = worth_of(loser);
    char *line =
        at_format("%s on %s, %s: keeping %s (%s), not %s (%s): %s", winner->is.entry->problem,
                  winner->is.record->device.name, winner->is.record->policy.name, winner->path,
                  kept, loser->path, dropped, reason);

    at_free(kept);
    at_free(dropped);
    return line;
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
        if (same_times(last, piece))
            AT_PUSH(merge->repeats, merge->repeat_count, merge->repeat_capacity,
                    at_format("%s on %s, %s: the same in %s and %s", winner->is.entry->problem,
                              winner->is.record->device.name, winner->is.record->policy.name,
                              last->path, piece->path));
        else
            AT_PUSH(merge->conflicts, merge->conflict_count, merge->conflict_capacity,
                    conflict_of(winner, loser, reason));
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

static int64_t sum(int64_t a, int64_t b)
{
    return a + b;
}

/* Join what was seen in two runs. Counts are joined by `count`. */
static void join_conditions(struct at_conditions *into, const struct at_conditions *from,
                            int64_t (*count)(int64_t, int64_t))
{
    into->clock_sm_min_khz = at_min_known(into->clock_sm_min_khz, from->clock_sm_min_khz);
    into->clock_sm_max_khz = at_max(into->clock_sm_max_khz, from->clock_sm_max_khz);
    into->clock_memory_khz = at_max(into->clock_memory_khz, from->clock_memory_khz);
    into->power_max_mW = at_max(into->power_max_mW, from->power_max_mW);
    into->temperature_max_c = at_max(into->temperature_max_c, from->temperature_max_c);
    into->other_processes = at_max(into->other_processes, from->other_processes);
    into->capped_ms = count(into->capped_ms, from->capped_ms);
    into->slowed_ms = count(into->slowed_ms, from->slowed_ms);
    into->discarded_samples = count(into->discarded_samples, from->discarded_samples);
    into->drifts = count(into->drifts, from->drifts);
    into->remeasured = count(into->remeasured, from->remeasured);
    join_throttle(into, from);
}

void at_conditions_join(struct at_conditions *into, const struct at_conditions *from)
{
    join_conditions(into, from, at_max);
}

struct records {
    struct at_device_record *items;
    size_t count, capacity;
};

/* Move the piece's entry into the record, with its GPU where that is not the record's. */
static void move_entry(struct at_device_record *record, const struct piece *piece, size_t *capacity)
{
    struct at_entry *entries = record->problems.items, entry = *piece->is.entry;

    if (!at_entry_is_measured(&entry) || strcmp(gpu_of(piece), record->device.uuid) == 0)
        entry.gpu[0] = '\0';
    else
        snprintf(entry.gpu, sizeof entry.gpu, "%s", gpu_of(piece));
    AT_PUSH(entries, record->problems.count, *capacity, entry);
    record->problems.items = entries;
    *piece->is.entry = (struct at_entry){0}; /* moved */
}

/* Move the pieces' entries into records, one for each group. Counts of conditions are joined by
 * `count`. */
static struct at_list make_records(struct pieces *pieces, int64_t (*count)(int64_t, int64_t))
{
    struct records records = {0};
    size_t capacity = 0;

    qsort(pieces->items, pieces->count, sizeof *pieces->items, by_record);
    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->items[i];

        if (i == 0 || by_group(&piece[-1], piece) != 0) {
            struct at_device_record fresh = *piece->is.record;

            fresh.problems = (struct at_list){0};
            fresh.also_correct_on.items =
                at_memdup(fresh.also_correct_on.items,
                          fresh.also_correct_on.count * sizeof(struct at_device_info));
            AT_PUSH(records.items, records.count, records.capacity, fresh);
            capacity = 0;
        } else if (piece->is.record != piece[-1].is.record) {
            join_conditions(&records.items[records.count - 1].conditions,
                            &piece->is.record->conditions, count);
        }
        move_entry(&records.items[records.count - 1], piece, &capacity);
    }
    return (struct at_list){records.items, records.count};
}

/* Make a profile of the pieces, and clear the profiles that they are from. */
static enum at_status make_profile(struct at_profile *profile, struct pieces *pieces,
                                   struct at_profiles *from, int64_t (*count)(int64_t, int64_t),
                                   struct at_error *err)
{
    struct at_profile made = {.schema = AT_PROFILE_SCHEMA, .devices = make_records(pieces, count)};
    enum at_status status;

    at_free(pieces->items);
    at_profiles_clear(from);
    at_profile_sort(&made);
    status = at_profile_check_counts(&made, err);
    if (status == AT_OK)
        status = at_profile_check(&made, "the merged profile", err);
    if (status == AT_OK)
        *profile = made;
    else
        at_profile_clear(&made);
    return status;
}

enum at_status at_merge_make(struct at_merge *merge, struct at_profiles *profiles,
                             struct at_error *err)
{
    struct at_merge made = {0};
    struct pieces pieces = collect(profiles);
    enum at_status status;

    choose(&made, &pieces);
    /* Two profiles may be of the same run, so counts are not added. */
    status = make_profile(&made.profile, &pieces, profiles, at_max, err);
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
        at_free(merge->conflicts[i]);
    for (size_t i = 0; i < merge->repeat_count; i++)
        at_free(merge->repeats[i]);
    at_free(merge->conflicts);
    at_free(merge->repeats);
    *merge = (struct at_merge){0};
}

/* ---- a run's results into the profile that its file has ---- */

enum at_status at_profile_accumulate(struct at_profile *profile, struct at_profile *run,
                                     at_replaces *replaces, const void *state,
                                     struct at_accumulation *counts, struct at_error *err)
{
    struct at_profiles both = {0};
    struct at_profile *const parts[] = {profile, run};
    struct pieces pieces;
    size_t first_of_run, stay = 0;

    *counts = (struct at_accumulation){0};
    for (size_t i = 0; i < AT_COUNT(parts); i++) {
        struct at_profile_file file = {.path = at_strdup(""), .profile = *parts[i]};

        AT_PUSH(both.files, both.count, both.capacity, file);
        *parts[i] = (struct at_profile){0}; /* moved */
    }
    pieces = collect(&both);
    first_of_run = at_profile_entries(&both.files[0].profile);
    qsort(pieces.items, pieces.count, sizeof *pieces.items, by_subject_and_place);
    for (size_t i = 0; i < pieces.count; i++) {
        const struct piece *piece = &pieces.items[i];
        const struct piece *old = stay > 0 ? &pieces.items[stay - 1] : NULL;

        if (piece->index < first_of_run) {
            counts->kept++;
        } else if (!old || by_subject(old, piece) != 0) {
            counts->added++;
        } else if (replaces(old->is, piece->is, state)) {
            counts->kept--;
            counts->replaced++;
            stay--;
        } else {
            continue;
        }
        pieces.items[stay++] = *piece;
    }
    pieces.count = stay;
    return make_profile(profile, &pieces, &both, sum, err);
}
