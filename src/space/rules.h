/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that make a config legal: the family's own, and the limits of CUDA and of the device on
 * a launch. Enumeration and the check of a single config take them in the same order, so that they
 * come to the same verdict, errors included. */
#ifndef AT_SPACE_RULES_H
#define AT_SPACE_RULES_H

#include "space/point.h"

enum at_rule_kind {
    AT_RULE_IN_PLACE, /* the family transposes in place if the problem is to be, and only then */
    AT_RULE_CONSTRAINT,
    AT_RULE_NEED,
    AT_RULE_LAUNCH,  /* a launch field is within its bounds */
    AT_RULE_THREADS, /* the device takes a block of so many threads */
};

struct at_rule {
    enum at_rule_kind kind;
    const struct at_expr *expr; /* CONSTRAINT, NEED */
    enum at_launch_field field; /* LAUNCH */
    uint32_t params_used;       /* a bit for each parameter that it looks at */
    size_t params_needed;       /* the first so many parameters must have values */
    size_t determines;          /* the parameter that it gives a value, all by itself */
};

/* Where a rule is no "parameter == what the problem says". */
#define AT_DETERMINES_NOTHING SIZE_MAX

/* Fills family->rules, sorted by params_needed, from what the family otherwise holds. */
void at_rules_make(struct at_family *family);

enum at_status at_rule_holds(const struct at_rule *rule, const struct at_point *point, bool *holds,
                             struct at_error *err);

/* What is wrong at a point where the rule does not hold; the caller frees it. */
char *at_rule_explain(const struct at_rule *rule, const struct at_point *point);

/* The value of a launch field, and whether that is within its bounds. */
enum at_status at_rule_launch(const struct at_point *point, enum at_launch_field field,
                              int64_t *value, struct at_error *err);
bool at_rule_launch_fits(const struct at_point *point, enum at_launch_field field, int64_t value);

#endif
