/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/lookup.h"

#include "base/hash.h"
#include "base/memory.h"
#include "device/kind.h"
#include "lookup/nearest.h"
#include "space/named.h"

#include <stdlib.h>

const char *const at_tier_names[AT_TIERS] = {
    "exact", "shape", "chip", "architecture", "other architecture", "default",
};

/* ---- candidates ---- */

/* The lookup's configs: a hash table with linear probing, half full at most. */
struct opening {
    struct at_lookup *lookup;
    uint32_t *slots; /* 1 + a config's number; 0: free */
    size_t mask;
};

/* Return the config's number; a new one is added. */
static uint32_t number_of(struct opening *opening, const struct at_config *config)
{
    struct at_lookup *lookup = opening->lookup;
    size_t slot = at_hash64(config->values, sizeof config->values, 0);

    while (opening->slots[slot &= opening->mask]) {
        uint32_t number = opening->slots[slot] - 1;

        if (at_config_equal(&lookup->configs[number].config, config))
            return number;
        slot++;
    }
    AT_PUSH(lookup->configs, lookup->config_count, lookup->config_capacity,
            ((struct at_known){.config = *config}));
    opening->slots[slot] = (uint32_t)lookup->config_count;
    return opening->slots[slot] - 1;
}

/* Fill in what follows from the candidate's problem and config. */
static enum at_status complete(struct at_lookup *lookup, struct at_candidate *candidate,
                               struct at_error *err)
{
    const struct at_device_info *home = &lookup->places[lookup->place_count - 1].record->device;
    struct at_known *known = &lookup->configs[candidate->config];
    struct at_problem problem;
    struct at_launch launch;
    enum at_status status = at_problem_parse(&problem, candidate->problem, err);

    if (status == AT_OK)
        status = at_config_launch(&known->config, &problem, home, &launch, err);
    if (status != AT_OK)
        return status;
    if (!at_known_holds(known, &problem)) /* the last check; err gets the rule */
        return at_config_require_inherent(&known->config, &problem, err);
    candidate->has_step = problem.step.given;
    candidate->traits = at_traits_of(&problem, home);
    at_traits_launch(&candidate->traits, &problem, &launch);
    return AT_OK;
}

static void note_unusable(struct at_lookup *lookup, const char *problem, const struct at_error *err)
{
    if (lookup->unusable++ == 0)
        lookup->unusable_note = at_format(
            "%s: %s: %s", lookup->places[lookup->place_count - 1].path, problem, err->message);
}

static void add_candidate(struct at_lookup *lookup, const struct at_candidate *made)
{
    struct at_candidate *candidate = &lookup->candidates[lookup->count];
    struct at_error err;

    *candidate = *made;
    candidate->of_share = at_distance_of_share(made->of_copy_permille);
    candidate->place = (uint32_t)lookup->place_count - 1;
    candidate->number = (uint32_t)lookup->count;
    if (complete(lookup, candidate, &err) == AT_OK)
        lookup->count++;
    else
        note_unusable(lookup, made->problem, &err);
}

static enum at_status find_config(struct opening *opening, uint32_t *number, const char *family,
                                  const struct at_list *parameters, struct at_error *err)
{
    const struct at_lookup *lookup = opening->lookup;
    struct at_config config;
    enum at_status status = at_config_from_names(&config, lookup->families, lookup->family_count,
                                                 family, parameters, err);

    if (status == AT_OK)
        *number = number_of(opening, &config);
    return status;
}

/* An entry also has the fastest copy of as many bytes, which answers for problems that are copies.
 * The driver's copy is no config. */
static void add_copy(struct opening *opening, const struct at_entry *entry)
{
    struct at_lookup *lookup = opening->lookup;
    struct at_candidate candidate = {.of_copy_permille = 1000};
    struct at_problem problem;
    struct at_config config;

    if (at_config_parse(&config, lookup->families, lookup->family_count, entry->copy.method,
                        NULL) != AT_OK ||
        at_problem_parse(&problem, entry->problem, NULL) != AT_OK)
        return;
    problem = at_problem_copy_of(&problem);
    candidate.problem = at_problem_format(&problem);
    candidate.config = number_of(opening, &config);
    AT_PUSH(lookup->copies, lookup->copy_count, lookup->copy_capacity, (char *)candidate.problem);
    add_candidate(lookup, &candidate);
}

static void add_entry(struct opening *opening, const struct at_entry *entry)
{
    struct at_candidate candidate = {.problem = entry->problem,
                                     .entry = entry,
                                     .of_copy_permille = entry->winner.of_copy_permille};
    struct at_error err;

    if (find_config(opening, &candidate.config, entry->winner.family, &entry->winner.parameters,
                    &err) == AT_OK)
        add_candidate(opening->lookup, &candidate);
    else
        note_unusable(opening->lookup, entry->problem, &err);
    add_copy(opening, entry);
}

static void add_group(struct opening *opening, const struct at_answer_group *group)
{
    const struct at_answered *answered = group->problems.items;
    struct at_candidate candidate = {.entry = NULL};
    struct at_error err;
    enum at_status status =
        find_config(opening, &candidate.config, group->family, &group->parameters, &err);

    for (size_t i = 0; i < group->problems.count; i++) {
        candidate.problem = answered[i].problem;
        candidate.of_copy_permille = answered[i].of_copy_permille;
        if (status == AT_OK)
            add_candidate(opening->lookup, &candidate);
        else
            note_unusable(opening->lookup, candidate.problem, &err);
    }
}

static void add_place(struct opening *opening, const struct at_profile_file *file,
                      const struct at_device_record *record)
{
    struct at_lookup *lookup = opening->lookup;
    struct at_place place = {file->path, record, at_device_kind(&record->device)->predicted};
    const struct at_entry *entries = record->problems.items;
    const struct at_answer_group *groups = record->groups.items;

    AT_PUSH(lookup->places, lookup->place_count, lookup->place_capacity, place);
    for (size_t i = 0; i < record->problems.count; i++)
        add_entry(opening, &entries[i]);
    for (size_t i = 0; i < record->groups.count; i++)
        add_group(opening, &groups[i]);
}

/* The most candidates of all profiles. */
static size_t count_candidates(const struct at_profiles *profiles)
{
    size_t count = 0;

    for (size_t i = 0; i < profiles->count; i++) {
        const struct at_list *devices = &profiles->files[i].profile.devices;
        const struct at_device_record *records = devices->items;

        for (size_t j = 0; j < devices->count; j++)
            count += 2 * records[j].problems.count + at_groups_problems(&records[j].groups);
    }
    return count;
}

static int by_key(const void *left, const void *right)
{
    const struct at_candidate *a = left, *b = right;

    if (a->traits.key != b->traits.key)
        return a->traits.key > b->traits.key ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

static void add_profiles(struct at_lookup *lookup, const struct at_profiles *profiles)
{
    struct opening opening = {lookup, NULL, 1};

    lookup->capacity = count_candidates(profiles);
    lookup->candidates = at_alloc_raw(lookup->capacity * sizeof *lookup->candidates);
    while (opening.mask < 2 * lookup->capacity)
        opening.mask = 2 * opening.mask + 1;
    opening.slots = at_alloc_array(opening.mask + 1, sizeof *opening.slots);
    for (size_t i = 0; i < profiles->count; i++) {
        const struct at_profile_file *file = &profiles->files[i];
        const struct at_device_record *records = file->profile.devices.items;

        for (size_t j = 0; j < file->profile.devices.count; j++)
            add_place(&opening, file, &records[j]);
    }
    at_free(opening.slots);
    if (lookup->count > 0)
        qsort(lookup->candidates, lookup->count, sizeof *lookup->candidates, by_key);
}

enum at_status at_lookup_open(struct at_lookup **lookup, const struct at_profiles *profiles,
                              struct at_family *const *families, size_t family_count,
                              struct at_error *err)
{
    struct at_slowdown *slowdown;
    struct at_lookup *opened;
    enum at_status status = at_slowdown_open(&slowdown, families, family_count, err);

    if (status != AT_OK)
        return status;
    opened = at_alloc(sizeof *opened);
    opened->families = families;
    opened->family_count = family_count;
    opened->slowdown = slowdown;
    add_profiles(opened, profiles);
    *lookup = opened;
    return AT_OK;
}

void at_lookup_close(struct at_lookup *lookup)
{
    if (!lookup)
        return;
    at_free(lookup->candidates);
    for (size_t i = 0; i < lookup->copy_count; i++)
        at_free(lookup->copies[i]);
    at_free(lookup->copies);
    at_free(lookup->configs);
    at_free(lookup->places);
    at_slowdown_close(lookup->slowdown);
    at_free(lookup->unusable_note);
    at_free(lookup);
}

/* ---- the answer ---- */

enum at_status at_lookup_find(const struct at_lookup *lookup, const struct at_query *query,
                              struct at_answer *answer, struct at_error *err)
{
    struct at_answer made = {0};

    if (!at_nearest_find(lookup, query, &made)) {
        struct at_option usual;
        enum at_status status = at_default_find(lookup, query, &usual, err);

        if (status != AT_OK)
            return status;
        at_option_take(lookup, query, NULL, &usual, false, &made);
    }
    if (!made.refused[0] && lookup->unusable > 0)
        snprintf(made.refused, sizeof made.refused, "%zu %s not used: %.200s", lookup->unusable,
                 lookup->unusable == 1 ? "entry" : "entries", lookup->unusable_note);
    *answer = made;
    return AT_OK;
}

enum at_status at_answer_check_device(const struct at_answer *answer, const struct at_query *query,
                                      struct at_error *err)
{
    if (answer->tier == AT_TIER_DEFAULT)
        return at_fail(err, AT_MISMATCH,
                       "no profile has an entry that is legal here: tune this device, or omit "
                       "--strict");
    if (answer->tier > AT_TIER_SHAPE)
        return at_fail(err, AT_MISMATCH,
                       "no profile is for %s with %jd multiprocessors; the nearest, %s, is for %s "
                       "with %jd: tune this device, or omit --strict",
                       query->device->name, (intmax_t)query->device->multiprocessors, answer->path,
                       answer->record->device.name,
                       (intmax_t)answer->record->device.multiprocessors);
    return AT_OK;
}
