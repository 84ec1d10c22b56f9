/* SPDX-License-Identifier: Apache-2.0 */
/* What else than problem and config a time depends on, field by field: a profile is never refused
 * whole because one of them differs. */
#ifndef AT_LOOKUP_FACTS_H
#define AT_LOOKUP_FACTS_H

#include "lookup/lookup.h"

/* Something that the measured time depends on, and that is not the same here as it was there. */
enum { AT_FACT_CHARS = 64, AT_FACTS_MAX = 12 };
struct at_fact {
    const char *name;         /* "driver" */
    bool conflict;            /* they differ; else one of them is not known */
    char here[AT_FACT_CHARS]; /* "" where it is not known */
    char tuned[AT_FACT_CHARS];
};

/* Fills the facts that do not match between the query and where the entry was tuned; returns how
 * many. */
size_t at_facts_compare(struct at_fact facts[AT_FACTS_MAX], const struct at_query *query,
                        const struct at_device_record *record);

/* How many of the software's facts are in conflict. */
size_t at_facts_conflicts(const struct at_environment *here, const struct at_environment *tuned);

#endif
