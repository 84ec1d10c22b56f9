/* SPDX-License-Identifier: Apache-2.0 */
#include "model/cost.h"
#include "ptx/ptx.h"

#include "base/memory.h"

#include <string.h>

/* Issue slots by the beginning of an instruction's text; the first match counts. These estimate the
 * code of ptxas: moves mostly vanish, and other instructions read parameters directly. Registers
 * have 32 bits, so 64-bit values take two instructions or more. A division takes many. */
static const struct {
    const char *begin;
    int slots;
} slots_of[] = {
    {"mov.", 0},        {"ld.param", 0},
    {"cvta", 0},        {"div.u64", 70},
    {"div.s64", 70},    {"rem.u64", 70},
    {"rem.s64", 70},    {"div.", 18},
    {"rem.", 18},       {"mul.lo.s64", 4},
    {"mul.lo.u64", 4},  {"mad.lo.s64", 4},
    {"mul.wide", 2},    {"mad.wide", 2},
    {"add.s64", 2},     {"sub.s64", 2},
    {"shl.b64", 2},     {"shr.u64", 2},
    {"shr.s64", 2},     {"and.b64", 2},
    {"or.b64", 2},      {"setp.lt.s64", 2},
    {"setp.gt.s64", 2}, {"setp.le.s64", 2},
    {"setp.ge.s64", 2}, {"", 1},
};

static bool begins(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

static struct at_cost cost_of(const char *text)
{
    struct at_cost cost = {0};
    size_t i = 0;

    if (*text == '@') { /* a guard */
        text += strcspn(text, " \t");
        text += strspn(text, " \t");
    }
    while (!begins(text, slots_of[i].begin))
        i++;
    cost.slots = slots_of[i].slots;
    cost.shuffles = begins(text, "shfl") || begins(text, "movmatrix");
    cost.barriers = begins(text, "bar");
    cost.waits = begins(text, "cp.async.wait");
    cost.streaming = strstr(text, ".cs.") != NULL;
    return cost;
}

struct at_cost *at_costs_of(const struct at_ptx_kernel *kernel)
{
    size_t count = at_ptx_kernel_instructions(kernel);
    struct at_cost *costs = at_alloc_array(count, sizeof *costs);

    for (size_t i = 0; i < count; i++)
        costs[i] = cost_of(at_ptx_instruction_text(kernel, i));
    return costs;
}
