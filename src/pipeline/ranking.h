/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks the results of a search. */
#ifndef AT_PIPELINE_RANKING_H
#define AT_PIPELINE_RANKING_H

#include "pipeline/pipeline.h"

/* List the indices of the fastest correct configs, fastest first, at most `most`. Equal times keep
 * the space's order. Returns how many. */
size_t at_rank_best(const struct at_search *search, size_t *best, size_t most);

#endif
