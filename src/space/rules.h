/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for a legal config: the family's own, and the limits of CUDA and of the device on a
 * launch. Enumeration and the check of a single config evaluate them in the same order, so that
 * they agree, also in errors. */
#ifndef AT_SPACE_RULES_H
#define AT_SPACE_RULES_H

#include "space/config.h"

enum at_rule_kind {
    AT_RULE_IN_PLACE, /* family and problem are both in place, or both not */
    AT_RULE_TENSORS,  /* the family takes batches of as many axes */
    AT_RULE_CONSTRAINT,
    AT_RULE_NEED,
    AT_RULE_LAUNCH,  /* a launch field is within its bounds */
    AT_RULE_THREADS, /* the block has at most max_threads_per_block threads */
};

struct at_rule {
    enum at_rule_kind kind;
    const struct at_expr *expr; /* CONSTRAINT, NEED */
    enum at_launch_field field; /* LAUNCH */
    uint32_t params_used;       /* the parameters that it uses, as bits */
    size_t params_needed;       /* it can be evaluated once this many parameters have values */
    size_t determines;          /* the parameter in "parameter == VALUE of the problem" */
    bool inherent; /* a config that is legal anywhere keeps it wherever it is adapted to, for
                      elements of the same size: beside that it uses parameters alone, none of
                      which the problem determines */
};

/* at_rule.determines of all other rules */
#define AT_DETERMINES_NOTHING SIZE_MAX

/* Fill family->rules, sorted by params_needed, from the family's expressions. Fill
 * family->adapting too: rules that determine a parameter come first there. */
void at_rules_make(struct at_family *family);

enum at_status at_rule_holds(const struct at_rule *rule, const struct at_point *point, bool *holds,
                             struct at_error *err);

/* Find the first rule that does not hold at the point; NULL: all hold. */
enum at_status at_rules_broken(const struct at_point *point, const struct at_rule **broken,
                               struct at_error *err);

#endif
