/* SPDX-License-Identifier: Apache-2.0 */
/* The best of a search. */
#ifndef AT_PIPELINE_RANKING_H
#define AT_PIPELINE_RANKING_H

#include "pipeline/pipeline.h"

/* Indices of the fastest correct candidates, fastest first, at most `most`; between equals the one
 * that comes first in the space. Returns how many. */
size_t at_rank_best(const struct at_search *search, size_t *best, size_t most);

#endif
