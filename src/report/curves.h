/* SPDX-License-Identifier: Apache-2.0 */
/* Search strategies side by side, as a page with pictures: what `autotune replay` found. */
#ifndef AT_REPORT_CURVES_H
#define AT_REPORT_CURVES_H

#include "replay/compare.h"

#include <stdio.h>

/* The curves of each recording, which must have been drawn. */
void at_report_replay(const struct at_comparison *comparison, FILE *out);

#endif
