/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/lookup.h"

#include "base/memory.h"
#include "profile/nearest.h"
#include "space/named.h"
#include "space/space.h"

#include <stdlib.h>

const char *const at_tier_names[AT_TIERS] = {
    "exact", "shape", "chip", "architecture", "other architecture", "default",
};

/* ---- candidates ---- */

static enum at_status make_candidate(const struct at_lookup *lookup, struct at_candidate *candidate,
                                     struct at_spot *spot, const struct at_device_info *home,
                                     struct at_error *err)
{
    const struct at_result_record *winner = &candidate->entry->winner;
    struct at_config config;
    struct at_launch launch;
    enum at_status status = at_problem_parse(&candidate->problem, candidate->entry->problem, err);

    if (status == AT_OK)
        status = at_config_from_names(&config, lookup->families, lookup->family_count,
                                      winner->family, &winner->parameters, err);
    if (status == AT_OK)
        status = at_fits_add(lookup->fits, &config, &candidate->problem, home, &launch, err);
    if (status != AT_OK)
        return status;
    spot->identity = at_nearest_identity(&candidate->problem);
    spot->traits = at_traits_of(&candidate->problem, home);
    at_traits_launch(&spot->traits, &launch);
    return AT_OK;
}

/* The note is of the first in the order of the files, which is not that of the candidates. */
static void note_unusable(struct at_lookup *lookup, const char *path, const struct at_entry *entry,
                          const char *why)
{
    if (lookup->unusable++ > 0 &&
        (lookup->unusable_place != lookup->place_count || lookup->unusable_entry < entry))
        return;
    free(lookup->unusable_note);
    lookup->unusable_note = at_format("%s: %s: %s", path, entry->problem, why);
    lookup->unusable_place = lookup->place_count;
    lookup->unusable_entry = entry;
}

static void add_candidate(struct at_lookup *lookup, const char *path,
                          const struct at_device_record *record, const struct at_entry *entry)
{
    struct at_candidate candidate = {.entry = entry};
    struct at_spot spot = {.place = lookup->place_count};
    struct at_error err;

    if (make_candidate(lookup, &candidate, &spot, &record->device, &err) != AT_OK) {
        note_unusable(lookup, path, entry, err.message);
        return;
    }
    lookup->spots =
        at_grow(lookup->spots, lookup->count, &lookup->spot_capacity, sizeof *lookup->spots);
    lookup->spots[lookup->count] = spot;
    AT_PUSH(lookup->candidates, lookup->count, lookup->capacity, candidate);
}

/* The logarithm of its elements' bytes; of a problem that cannot be read it does not matter. */
static int size_of(const struct at_entry *entry)
{
    struct at_problem problem;

    return at_problem_parse(&problem, entry->problem, NULL) == AT_OK
               ? __builtin_ctzll((unsigned long long)problem.elem_size)
               : 0;
}

static void add_place(struct at_lookup *lookup, const struct at_profile_file *file,
                      const struct at_device_record *record)
{
    struct at_place place = {.path = file->path, .record = record};
    const struct at_entry *entries = record->problems.items;
    size_t count = record->problems.count;
    int *sizes = at_alloc_array(count, sizeof *sizes);

    for (size_t i = 0; i < count; i++)
        sizes[i] = size_of(&entries[i]);
    for (int size = 0; size < AT_ELEMENT_SIZES; size++) {
        size_t first = lookup->count;

        for (size_t i = 0; i < count; i++)
            if (sizes[i] == size)
                add_candidate(lookup, file->path, record, &entries[i]);
        place.boxes_of[size] = lookup->boxes.count;
        at_boxes_add(&lookup->boxes, lookup->spots, first, lookup->count - first);
    }
    place.boxes_of[AT_ELEMENT_SIZES] = lookup->boxes.count;
    free(sizes);
    AT_PUSH(lookup->places, lookup->place_count, lookup->place_capacity, place);
}

static int by_identity(const void *left, const void *right)
{
    const struct at_identified *a = left, *b = right;

    if (a->identity != b->identity)
        return a->identity < b->identity ? -1 : 1;
    return (a->candidate > b->candidate) - (a->candidate < b->candidate);
}

static void identify(struct at_lookup *lookup)
{
    lookup->identified = at_alloc_array(lookup->count, sizeof *lookup->identified);
    for (size_t i = 0; i < lookup->count; i++)
        lookup->identified[i] = (struct at_identified){lookup->spots[i].identity, i};
    qsort(lookup->identified, lookup->count, sizeof *lookup->identified, by_identity);
}

struct at_lookup *at_lookup_open(const struct at_profiles *profiles,
                                 struct at_family *const *families, size_t family_count)
{
    struct at_lookup *lookup = at_alloc(sizeof *lookup);

    lookup->fits = at_fits_new();
    lookup->families = families;
    lookup->family_count = family_count;
    for (size_t i = 0; i < profiles->count; i++) {
        const struct at_profile_file *file = &profiles->files[i];
        const struct at_device_record *records = file->profile.devices.items;

        for (size_t j = 0; j < file->profile.devices.count; j++)
            add_place(lookup, file, &records[j]);
    }
    identify(lookup);
    return lookup;
}

void at_lookup_close(struct at_lookup *lookup)
{
    if (!lookup)
        return;
    at_fits_free(lookup->fits);
    free(lookup->candidates);
    free(lookup->spots);
    at_boxes_clear(&lookup->boxes);
    free(lookup->identified);
    free(lookup->places);
    free(lookup->unusable_note);
    free(lookup);
}

/* ---- the answer ---- */

static enum at_status take_default(const struct at_lookup *lookup, const struct at_query *query,
                                   struct at_answer *answer, struct at_error *err)
{
    enum at_status status =
        at_space_default(&answer->config, lookup->families, lookup->family_count, query->problem,
                         query->device, err);

    if (status == AT_OK)
        status =
            at_config_launch(&answer->config, query->problem, query->device, &answer->launch, err);
    answer->tier = AT_TIER_DEFAULT;
    return status;
}

enum at_status at_lookup_find(const struct at_lookup *lookup, const struct at_query *query,
                              struct at_answer *answer, struct at_error *err)
{
    struct at_answer made = {0};
    enum at_status status = AT_OK;

    if (!at_nearest_find(lookup, query, &made))
        status = take_default(lookup, query, &made, err);
    if (status != AT_OK)
        return status;
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
                       "no profile has an entry that is legal here: tune this device, or do "
                       "without --strict");
    if (answer->tier > AT_TIER_SHAPE)
        return at_fail(err, AT_MISMATCH,
                       "no profile is for %s with %jd multiprocessors; the nearest, %s, is for %s "
                       "with %jd: tune this device, or do without --strict",
                       query->device->name, (intmax_t)query->device->multiprocessors, answer->path,
                       answer->record->device.name,
                       (intmax_t)answer->record->device.multiprocessors);
    return AT_OK;
}
