/* SPDX-License-Identifier: Apache-2.0 */
/* What a time depends on besides problem and config: software, device, policy. They are compared
 * one by one; a difference is shown, and never rules out a whole profile. */
#ifndef AT_LOOKUP_FACTS_H
#define AT_LOOKUP_FACTS_H

#include "lookup/lookup.h"

/* Something that differs between here and where an entry was tuned. */
enum { AT_FACT_CHARS = 64, AT_FACTS_MAX = 12 };
struct at_fact {
    char name[32];            /* "driver" */
    char state[16];           /* "conflict": both are known; "unknown": one of them is not */
    char here[AT_FACT_CHARS]; /* "": unknown */
    char tuned[AT_FACT_CHARS];
};

static inline bool at_fact_is_conflict(const struct at_fact *fact)
{
    return fact->state[0] == 'c';
}

/* Fill in the facts that differ between the query and the record. Returns how many. */
size_t at_facts_compare(struct at_fact facts[AT_FACTS_MAX], const struct at_query *query,
                        const struct at_device_record *record);

/* Count the facts about software that are in conflict. */
size_t at_facts_conflicts(const struct at_environment *here, const struct at_environment *tuned);

#endif
