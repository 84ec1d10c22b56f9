/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/suggest.h"
#include "recording/parts.h"

#include <stdlib.h>
#include <string.h>

static enum at_status fail_unknown(const struct at_recording *recording, const char *name,
                                   struct at_error *err)
{
    const char *known[AT_RECORDING_FAMILIES_MAX];

    for (size_t i = 0; i < recording->family_count; i++)
        known[i] = recording->families[i].family->name;
    return at_fail_unknown(err, AT_USAGE, "the recording has no family", name, known,
                           recording->family_count);
}

/* Free the results [first, end). */
static void drop_results(struct at_recording *recording, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        free(recording->results[i].samples_ns);
}

static void drop_family(struct at_recorded_family *recorded)
{
    at_family_free(recorded->family);
    free(recorded->hash);
}

enum at_status at_recording_keep_family(struct at_recording *recording, const char *name,
                                        struct at_error *err)
{
    struct at_recorded_family *families = recording->families;
    size_t kept = 0, first = 0, count;

    while (kept < recording->family_count && strcmp(families[kept].family->name, name) != 0)
        first += families[kept++].config_count;
    if (kept == recording->family_count)
        return fail_unknown(recording, name, err);
    count = families[kept].config_count;
    drop_results(recording, 0, first);
    drop_results(recording, first + count, recording->space.count);
    memmove(recording->results, recording->results + first, count * sizeof *recording->results);
    memmove(recording->space.configs, recording->space.configs + first,
            count * sizeof *recording->space.configs);
    recording->space.count = count;
    for (size_t i = 0; i < recording->family_count; i++)
        if (i != kept)
            drop_family(&families[i]);
    families[0] = families[kept];
    recording->family_count = 1;
    return at_recording_find_best(recording)
               ? AT_OK
               : at_fail(err, AT_USAGE, "no config of family %s is correct", name);
}
