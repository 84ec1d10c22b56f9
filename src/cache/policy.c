/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/policy.h"

#include "base/memory.h"
#include "ptx/ptx.h"

#include <string.h>

/* Words within an instruction's name; all that are there apply. Prefetch sizes (L2::128B) are
 * ignored. A weak load may use L1; one that other blocks' writes must reach may not. */
static const struct {
    const char *word;
    bool past_l1, passes_l1; /* passes: it may hit, but gets no line */
    enum at_cache_rank l1, l2;
} words[] = {
    {"cp.async.bulk", true, false, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".cg", true, false, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".cv", true, false, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".volatile", true, false, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".relaxed", true, false, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".acquire", true, false, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".cs", false, false, AT_CACHE_FIRST, AT_CACHE_FIRST},
    {".lu", false, false, AT_CACHE_FIRST, AT_CACHE_NORMAL},
    {".L1::no_allocate", false, true, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".L1::evict_first", false, false, AT_CACHE_FIRST, AT_CACHE_NORMAL},
    {".L1::evict_last", false, false, AT_CACHE_LAST, AT_CACHE_NORMAL},
    {".L2::evict_first", false, false, AT_CACHE_NORMAL, AT_CACHE_FIRST},
    {".L2::evict_last", false, false, AT_CACHE_NORMAL, AT_CACHE_LAST},
};

struct at_cache_policy at_cache_policy_of(const char *text)
{
    struct at_cache_policy policy = {false, true, AT_CACHE_NORMAL, AT_CACHE_NORMAL, false};
    char *name;

    if (*text == '@') { /* a guard */
        text += strcspn(text, " \t");
        text += strspn(text, " \t");
    }
    name = at_strndup(text, strcspn(text, " \t"));
    for (size_t i = 0; i < AT_COUNT(words); i++) {
        if (!strstr(name, words[i].word))
            continue;
        policy.past_l1 |= words[i].past_l1;
        policy.keep_l1 &= !words[i].passes_l1;
        if (words[i].l1 != AT_CACHE_NORMAL)
            policy.l1 = words[i].l1;
        if (words[i].l2 != AT_CACHE_NORMAL)
            policy.l2 = words[i].l2;
    }
    at_free(name);
    return policy;
}

struct at_cache_policy *at_cache_policies_of(const struct at_ptx_kernel *kernel)
{
    size_t count = at_ptx_kernel_instructions(kernel);
    struct at_cache_policy *policies = at_alloc_array(count, sizeof *policies);

    bool together = false; /* the warps of a block */

    for (size_t i = 0; i < count; i++) {
        const char *text = at_ptx_instruction_text(kernel, i);

        policies[i] = at_cache_policy_of(text);
        together |= strstr(text, "bar.sync") || strstr(text, "barrier.sync");
        together &= !strstr(text, "ld.global");
        policies[i].merges = together;
    }
    return policies;
}
