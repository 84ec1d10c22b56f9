/* SPDX-License-Identifier: Apache-2.0 */
/* What to change in a kernel so that it becomes faster. Each advice is a repair of one fault that
 * the counts show: accesses that are not coalesced, bank conflicts, loads that wait for each other
 * and so on. Its gain is predicted: from the same counts, without what the repair would save. */
#ifndef AT_EXPLAIN_ADVICE_H
#define AT_EXPLAIN_ADVICE_H

#include "emulated/time/predict.h"
#include "explain/explain.h"

/* The repairs of a kernel, one of each kind. */
struct at_advisor;

/* Find what could be repaired in an explained kernel, which is borrowed. The caller closes it. */
struct at_advisor *at_advisor_open(const struct at_explanation *explanation);
void at_advisor_close(struct at_advisor *advisor);

/* The repairs, for at_predict_repairs(). */
const struct at_repair *at_advisor_repairs(const struct at_advisor *advisor, size_t *count);

/* List the repairs that gain most, as struct at_advice: at most AT_ADVICE_MAX, and none that gains
 * hardly anything. ns: the predicted time after each of the repairs. The explanation has the time
 * before. The caller frees the list's items. */
struct at_list at_advisor_choose(const struct at_advisor *advisor, const double *ns);

#endif
