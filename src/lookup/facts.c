/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/facts.h"

#include "base/memory.h"
#include "device/relation.h"

#include <string.h>

/* Texts of the environment. */
static const struct {
    const char *name;
    size_t offset; /* of a char[] in struct at_environment */
} texts[] = {
    {"autotune", offsetof(struct at_environment, autotune)},
    {"cuda_driver", offsetof(struct at_environment, cuda_driver)},
    {"driver", offsetof(struct at_environment, driver)},
    {"nvrtc", offsetof(struct at_environment, nvrtc)},
    {"nvrtc_identity", offsetof(struct at_environment, nvrtc_identity)},
};

/* Numbers of the device; 0: unknown. */
static const struct {
    const char *name;
    size_t offset; /* of an int64_t in struct at_device_info */
    bool (*matches)(int64_t here, int64_t tuned);
    bool hexadecimal; /* as in profiles */
} numbers[] = {
    {"compute_capability", offsetof(struct at_device_info, compute_capability), NULL, false},
    {"l2_bytes", offsetof(struct at_device_info, l2_bytes), NULL, false},
    {"memory_bytes", offsetof(struct at_device_info, memory_bytes), at_memory_matches, false},
    {"multiprocessors", offsetof(struct at_device_info, multiprocessors), NULL, false},
    {"pci_device_id", offsetof(struct at_device_info, pci_device_id), NULL, true},
};

_Static_assert(AT_COUNT(texts) + AT_COUNT(numbers) + 1 <= AT_FACTS_MAX, "and the policy");

static struct at_fact text_fact(const char *name, const char *here, const char *tuned)
{
    struct at_fact fact;

    snprintf(fact.name, sizeof fact.name, "%s", name);
    snprintf(fact.state, sizeof fact.state, "%s", *here && *tuned ? "conflict" : "unknown");
    snprintf(fact.here, sizeof fact.here, "%s", here);
    snprintf(fact.tuned, sizeof fact.tuned, "%s", tuned);
    return fact;
}

static void format_number(char text[AT_FACT_CHARS], size_t i, int64_t value)
{
    if (value && numbers[i].hexadecimal)
        snprintf(text, AT_FACT_CHARS, "0x%jx", (uintmax_t)value);
    else if (value)
        snprintf(text, AT_FACT_CHARS, "%jd", (intmax_t)value);
    else
        text[0] = '\0';
}

static const char *text_at(const struct at_environment *environment, size_t i)
{
    return (const char *)environment + texts[i].offset;
}

static int64_t number_at(const struct at_device_info *device, size_t i)
{
    return *(const int64_t *)((const char *)device + numbers[i].offset);
}

static bool numbers_match(size_t i, int64_t here, int64_t tuned)
{
    return here && tuned &&
           (here == tuned || (numbers[i].matches && numbers[i].matches(here, tuned)));
}

size_t at_facts_conflicts(const struct at_environment *here, const struct at_environment *tuned)
{
    size_t count = 0;

    for (size_t i = 0; i < AT_COUNT(texts); i++)
        count += *text_at(here, i) && *text_at(tuned, i) &&
                 strcmp(text_at(here, i), text_at(tuned, i)) != 0;
    return count;
}

size_t at_facts_compare(struct at_fact facts[AT_FACTS_MAX], const struct at_query *query,
                        const struct at_device_record *record)
{
    size_t count = 0;

    for (size_t i = 0; i < AT_COUNT(texts); i++) {
        const char *here = text_at(query->environment, i);
        const char *tuned = text_at(&record->environment, i);

        if (strcmp(here, tuned) != 0 || !*here)
            facts[count++] = text_fact(texts[i].name, here, tuned);
    }
    for (size_t i = 0; i < AT_COUNT(numbers); i++) {
        int64_t value_here = number_at(query->device, i);
        int64_t value_tuned = number_at(&record->device, i);
        char here[AT_FACT_CHARS], tuned[AT_FACT_CHARS];

        if (numbers_match(i, value_here, value_tuned))
            continue;
        format_number(here, i, value_here);
        format_number(tuned, i, value_tuned);
        facts[count++] = text_fact(numbers[i].name, here, tuned);
    }
    if (strcmp(query->policy, record->policy.name) != 0)
        facts[count++] = text_fact("policy", query->policy, record->policy.name);
    return count;
}
