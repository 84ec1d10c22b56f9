/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the GPU's own counters beside the model's figures. */
#ifndef AT_EXPLAIN_COUNTERS_H
#define AT_EXPLAIN_COUNTERS_H

#include "explain/explain.h"

/* Prints nothing if the counters were not read. */
void at_explain_print_counters(const struct at_explanation *explanation);

#endif
