/* SPDX-License-Identifier: Apache-2.0 */
/* The cache policy of an instruction, by its name (PTX ISA, "Cache Operators" and "Cache Eviction
 * Priority Hints"). */
#ifndef AT_CACHE_POLICY_H
#define AT_CACHE_POLICY_H

#include "cache/level.h"

#include <stdbool.h>

struct at_ptx_kernel;

struct at_cache_policy {
    bool past_l1; /* L2 serves it even if L1 has the data */
    bool keep_l1; /* data from L2 gets a line of L1 */
    enum at_cache_rank l1, l2;
    bool merges; /* a store that may go to L2 with the one before it */
};

/* The policy of an instruction with this text. */
struct at_cache_policy at_cache_policy_of(const char *text);

/* The policies of a kernel's instructions, in their order; the caller frees them. Stores between a
 * barrier and the next load merge: there the warps of a block follow each other, because none waits
 * for its own loads. */
struct at_cache_policy *at_cache_policies_of(const struct at_ptx_kernel *kernel);

#endif
