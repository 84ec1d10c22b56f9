/* SPDX-License-Identifier: Apache-2.0 */
/* Draws what flows between threads, L1, L2 and DRAM. */
#ifndef AT_EXPLAIN_DIAGRAM_H
#define AT_EXPLAIN_DIAGRAM_H

#include "explain/explain.h"

/* Print it, at most 80 columns wide. */
void at_explain_draw(const struct at_explanation *explanation);

#endif
