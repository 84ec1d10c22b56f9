/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/execution.h"

#include "base/memory.h"

#include <string.h>

/* The first number is the size of the first version. It never changes. */
static const struct autotune_layout layout = {"autotune_execution",
                                              offsetof(autotune_execution, struct_size), 232,
                                              sizeof(autotune_execution), true};

enum { WORD = 8, WORDS = sizeof(autotune_execution) / WORD };

_Static_assert(sizeof(autotune_execution) % WORD == 0 && WORDS <= 64, "each word has a bit");

#define MEMBER(name)                                                                               \
#name, offsetof(autotune_execution, name), sizeof(((autotune_execution *)0)->name)

/* Instead of operations, or beside them. */
enum {
    EVERY = -1,          /* all plans take the member */
    OPTIONAL = 1 << 30,  /* steps do without it, too */
    ALL = 1 << 29,       /* only steps that have all of the operations, not those with one */
    OR_TENSOR = 1 << 28, /* also steps whose scales follow from the tensor's largest magnitude */
    OR_LIST = 1 << 27,   /* also lists of matrices */
    OR_ROWS = 1 << 26,   /* also groups of rows */
    OR_PLACE = 1 << 25,  /* also transposes in place */
    OR_MANY = 1 << 24,   /* also many matrices, lists and groups of rows */
};

/* The members, in the order of the struct. */
static const struct member {
    const char *name;
    size_t offset, size;
    int operations; /* of the steps that take it, by bits */
} members[] = {
    {MEMBER(struct_size), EVERY},
    {MEMBER(dst), EVERY},
    {MEMBER(src), EVERY},
    {MEMBER(stream), EVERY},
    {MEMBER(scale), 1 << AT_SCALE | 1 << AT_DIVIDE},
    {MEMBER(alpha), 1 << AT_ALPHA},
    {MEMBER(beta), 1 << AT_BETA},
    {MEMBER(src2), 1 << AT_BETA},
    {MEMBER(channel_scale), 1 << AT_AFFINE},
    {MEMBER(channel_shift), 1 << AT_AFFINE},
    {MEMBER(dst2), 1 << AT_BOTH},
    {MEMBER(largest), 1 << AT_AMAX | OR_TENSOR},
    {MEMBER(block_scales), 1 << AT_BLOCKS},
    {MEMBER(block_scales2), ALL | 1 << AT_BOTH | 1 << AT_BLOCKS},
    {MEMBER(skip),
     OPTIONAL | OR_LIST | OR_ROWS | 1 << AT_BOTH | 1 << AT_AMAX | 1 << AT_BLOCKS | 1 << AT_SUMS},
    {MEMBER(list), OR_LIST},
    {MEMBER(list_count), OR_LIST},
    {MEMBER(offsets), OR_ROWS},
    {MEMBER(offset_count), OR_ROWS},
    {MEMBER(scratch), OPTIONAL | OR_LIST | OR_PLACE | 1 << AT_AMAX | 1 << AT_SUMS},
    {MEMBER(scratch_bytes), OPTIONAL | OR_LIST | OR_PLACE | 1 << AT_AMAX | 1 << AT_SUMS},
    {MEMBER(sums), 1 << AT_SUMS},
    {MEMBER(overflow), OPTIONAL | OR_ROWS},
    {MEMBER(most_rows), OPTIONAL | OR_ROWS},
    {MEMBER(channel_stride), OPTIONAL | ALL | OR_MANY | 1 << AT_AFFINE},
};

static uint64_t words_of(const struct member *member)
{
    return ((UINT64_C(1) << member->size / WORD) - 1) << member->offset / WORD;
}

/* Is it for the problem, and not for every plan? */
static bool belongs_to(const struct member *member, const struct at_problem *problem)
{
    static const unsigned of_groups[] = {[AT_NO_GROUPS] = 0,
                                         [AT_GROUP_LIST] = OR_LIST | OR_MANY,
                                         [AT_RAGGED_GROUPS] = OR_ROWS | OR_MANY};
    const struct at_step *step = &problem->step;
    unsigned wanted = (unsigned)(member->operations & ~(OPTIONAL | ALL));
    unsigned found = wanted & (step->operations | of_groups[at_groups_kind(&problem->groups)] |
                               (problem->in_place ? (unsigned)OR_PLACE : 0) |
                               (at_step_takes_largest(step) ? (unsigned)OR_TENSOR : 0));

    return member->operations != EVERY && (member->operations & ALL ? found == wanted : found != 0);
}

/* The members that the matrices of a list have, each for itself. */
static uint64_t words_of_matrices(void)
{
    static const size_t offsets[] = {
        offsetof(autotune_execution, dst), offsetof(autotune_execution, src),
        offsetof(autotune_execution, dst2), offsetof(autotune_execution, src2)};
    uint64_t words = 0;

    for (size_t i = 0; i < AT_COUNT(offsets); i++)
        words |= UINT64_C(1) << offsets[i] / WORD;
    return words;
}

uint64_t autotune_execution_words(const struct at_problem *problem)
{
    uint64_t words = 0;

    for (size_t i = 0; i < AT_COUNT(members); i++)
        if (members[i].operations == EVERY || belongs_to(&members[i], problem))
            words |= words_of(&members[i]);
    return words & ~(at_groups_kind(&problem->groups) == AT_GROUP_LIST ? words_of_matrices() : 0);
}

static enum at_status fail_unused(size_t word, struct at_error *err)
{
    const struct member *member = members;

    while (!(words_of(member) >> word & 1))
        member++;
    return at_fail(err, AT_USAGE,
                   "the member %s of the execution is given, and this plan does not take it: "
                   "leave it 0, or make a plan for a problem that needs it",
                   member->name);
}

/* Every execution comes here, so words are compared, not members. */
static enum at_status check_unused(const autotune_execution *execution, uint64_t words,
                                   struct at_error *err)
{
    uint64_t value[WORDS];

    memcpy(value, execution, sizeof value);
    for (size_t i = 0; i < WORDS; i++)
        if (value[i] != 0 && !(words >> i & 1))
            return fail_unused(i, err);
    return AT_OK;
}

static bool is_given(const double value[2])
{
    static const double zeros[2];

    return memcmp(value, zeros, sizeof zeros) != 0;
}

/* Elements have a power of two of bytes. A division would take longer than all the rest. */
static bool is_address(const void *address, const struct at_problem *problem, enum at_side side)
{
    uintptr_t below = (uintptr_t)at_problem_elem_size(problem, side) - 1;

    return address && ((uintptr_t)address & below) == 0;
}

static enum at_status check_scalar(const autotune_scalar *scalar, const char *name,
                                   bool may_be_complex, const struct at_problem *problem,
                                   struct at_error *err)
{
    int bytes = at_number_formats[at_step_computes_in(&problem->step)].bytes;

    if (scalar->at && is_given(scalar->value))
        return at_fail(err, AT_USAGE,
                       "%s has an address and a value: leave the value 0, or the address NULL",
                       name);
    if ((uintptr_t)scalar->at % (uintptr_t)bytes != 0)
        return at_fail(err, AT_USAGE, "%s.at has to be a device address that is a multiple of %d",
                       name, bytes);
    if (is_given((const double[2]){0, scalar->value[1]}) &&
        (!may_be_complex || at_number_formats[problem->step.to].parts == 1))
        return at_fail(err, AT_USAGE, "%s has an imaginary part, and the step takes a real number",
                       name);
    return AT_OK;
}

/* Have the channels of a step one number each, all in one row: those of the rows of one matrix? */
static bool shares_channels(const struct at_problem *problem)
{
    return at_groups_kind(&problem->groups) == AT_RAGGED_GROUPS &&
           at_problem_mixes_channels(problem);
}

/* Check where the channels' numbers are. */
static enum at_status check_channels(const autotune_execution *taken,
                                     const struct at_problem *problem, struct at_error *err)
{
    int bytes = at_number_formats[at_step_computes_in(&problem->step)].bytes;
    uintptr_t both = (uintptr_t)taken->channel_scale | (uintptr_t)taken->channel_shift;

    if (both % (uintptr_t)bytes != 0)
        return at_fail(err, AT_USAGE,
                       "channel_scale and channel_shift have to be device addresses that are "
                       "multiples of %d",
                       bytes);
    if (at_step_has(&problem->step, AT_AFFINE) && both == 0)
        return at_fail(err, AT_USAGE,
                       "the problem has affine: channel_scale or channel_shift must be the device "
                       "address of a number for each channel");
    if (taken->channel_stride < 0 || (taken->channel_stride > 0 && shares_channels(problem)))
        return at_fail(
            err, AT_USAGE,
            "channel_stride is %lld, and has to be at least 0; or 0, if the channels are "
            "rows of one matrix",
            (long long)taken->channel_stride);
    return AT_OK;
}

/* Check the second source, which is read unless beta is 0. It is laid out as dst. */
static enum at_status check_second(const autotune_execution *taken,
                                   const struct at_problem *problem, struct at_error *err)
{
    int64_t bytes = at_problem_elem_size(problem, AT_DESTINATION);
    int64_t distance = (int64_t)((uintptr_t)taken->src2 - (uintptr_t)taken->dst) / bytes;
    bool may_read = taken->beta.at || is_given(taken->beta.value);
    struct at_axis axes[AT_AXES_MAX];

    if (at_groups_kind(&problem->groups) == AT_GROUP_LIST) /* each matrix has its own */
        return AT_OK;
    if ((may_read || taken->src2) && !is_address(taken->src2, problem, AT_DESTINATION))
        return at_fail(err, AT_USAGE,
                       "src2 must be a device address that is a multiple of the element, %d "
                       "bytes; it may be NULL if beta is 0",
                       (int)bytes);
    if (may_read && distance != 0 && problem->groups.count == 0 &&
        at_axes_overlap(axes, at_problem_axes(problem, axes), AT_DESTINATION, distance) ==
            AT_OVERLAP)
        return at_fail(err, AT_USAGE,
                       "src2 overlaps dst: it has to be dst, or to have no element in common");
    return AT_OK;
}

/* Of addresses of scales, which layouts want; and of scratch for elements in place. */
enum { SCALE_ALIGN = 16, PLACE_ALIGN = 16 };

/* Check the outputs beside dst, and what belongs to them. */
static enum at_status check_outputs(const autotune_execution *taken,
                                    const struct at_problem *problem, int64_t scratch_bytes,
                                    struct at_error *err)
{
    bool has_largest = at_step_has(&problem->step, AT_AMAX);
    bool is_list = at_groups_kind(&problem->groups) == AT_GROUP_LIST;
    const struct {
        const char *name;
        const void *address;
        int64_t bytes;
        bool needed;
    } all[] = {
        {"dst2", taken->dst2, at_step_kept_bytes(&problem->step),
         at_step_has(&problem->step, AT_BOTH) && !is_list},
        {"largest", taken->largest, sizeof(float), has_largest},
        {"block_scales", taken->block_scales, SCALE_ALIGN, at_step_has(&problem->step, AT_BLOCKS)},
        {"block_scales2", taken->block_scales2, SCALE_ALIGN,
         at_problem_scale_bytes(problem, AT_SOURCE) > 0},
        {"skip", taken->skip, sizeof(int), false},
        {"scratch", taken->scratch, problem->in_place ? PLACE_ALIGN : AT_STEP_SCRATCH_BYTES,
         taken->scratch_bytes != 0},
        {"sums", taken->sums, sizeof(float), at_step_has(&problem->step, AT_SUMS)},
    };

    for (size_t i = 0; i < AT_COUNT(all); i++)
        if ((all[i].needed && !all[i].address) ||
            (all[i].address && (uintptr_t)all[i].address % (uintptr_t)all[i].bytes != 0))
            return at_fail(err, AT_USAGE, "%s must be a device address that is a multiple of %d%s",
                           all[i].name, (int)all[i].bytes, all[i].needed ? "" : ", or NULL");
    if (taken->scratch && taken->scratch_bytes < scratch_bytes)
        return at_fail(err, AT_USAGE, "scratch_bytes is %lld, and the plan needs %lld",
                       (long long)taken->scratch_bytes, (long long)scratch_bytes);
    return AT_OK;
}

/* Check what the step takes. */
static enum at_status check_numbers(const autotune_execution *taken,
                                    const struct at_problem *problem, int64_t scratch_bytes,
                                    struct at_error *err)
{
    enum at_status status = check_scalar(&taken->scale, "scale", false, problem, err);

    if (status == AT_OK)
        status = check_scalar(&taken->alpha, "alpha", true, problem, err);
    if (status == AT_OK)
        status = check_scalar(&taken->beta, "beta", true, problem, err);
    if (status == AT_OK)
        status = check_channels(taken, problem, err);
    if (status == AT_OK)
        status = check_second(taken, problem, err);
    if (status == AT_OK &&
        (at_step_has_outputs(&problem->step) || at_step_has(&problem->step, AT_BLOCKS)))
        status = check_outputs(taken, problem, scratch_bytes, err);
    return status;
}

/* Check what groups take. A list in host memory is checked when it is copied. */
static enum at_status check_groups(const autotune_execution *taken,
                                   const struct at_problem *problem, struct at_error *err)
{
    bool is_list = at_groups_kind(&problem->groups) == AT_GROUP_LIST;

    if (is_list && (taken->list_count < 0 || taken->list_count > INT32_MAX ||
                    (taken->list_count > 0 && !taken->list) || (uintptr_t)taken->list % WORD != 0))
        return at_fail(err, AT_USAGE,
                       "list has to be the address of list_count matrices, a multiple of %d", WORD);
    if (!is_list && (taken->offset_count < 1 || taken->offset_count > INT32_MAX ||
                     !taken->offsets || (uintptr_t)taken->overflow % sizeof(int) != 0))
        return at_fail(err, AT_USAGE,
                       "offsets has to be the device address of offset_count integers, one more "
                       "than there are groups; overflow that of an int, or NULL");
    if (taken->most_rows < 0)
        return at_fail(err, AT_USAGE, "most_rows is %lld, and has to be at least 0",
                       (long long)taken->most_rows);
    return (uintptr_t)taken->skip % sizeof(int) == 0
               ? AT_OK
               : at_fail(err, AT_USAGE, "skip must be a device address that is a multiple of 4");
}

enum at_status autotune_take_execution(autotune_execution *taken, const autotune_execution *given,
                                       const struct at_problem *problem, uint64_t words,
                                       int64_t scratch_bytes, struct at_error *err)
{
    enum at_status status = autotune_take_struct(&layout, taken, given, err);

    if (status == AT_OK)
        status = check_unused(taken, words, err);
    if (status == AT_OK && at_step_takes_numbers(&problem->step))
        status = check_numbers(taken, problem, scratch_bytes, err);
    if (status == AT_OK && problem->in_place)
        status = check_outputs(taken, problem, scratch_bytes, err);
    if (status == AT_OK && problem->groups.count > 0)
        status = check_groups(taken, problem, err);
    return status;
}

enum at_status autotune_check_plain(const struct at_problem *problem, struct at_error *err)
{
    char names[128], *at = names;

    if (!at_step_takes_numbers(&problem->step) && problem->groups.count == 0)
        return AT_OK;
    for (size_t i = 0; i < AT_COUNT(members); i++)
        if (!(members[i].operations & OPTIONAL) && belongs_to(&members[i], problem))
            at = stpcpy(stpcpy(at, at == names ? "" : ", "), members[i].name);
    return at_fail(err, AT_USAGE, "the problem takes %s: give that to autotune_plan_execute_with",
                   names);
}

enum at_status autotune_check_addresses(const struct at_problem *problem, const void *dst,
                                        const void *src, struct at_error *err)
{
    static const char *const names[] = {[AT_SOURCE] = "source", [AT_DESTINATION] = "destination"};
    const void *const addresses[] = {[AT_SOURCE] = src, [AT_DESTINATION] = dst};

    for (int side = AT_SOURCE; side < AT_SIDES; side++)
        if (!is_address(addresses[side], problem, (enum at_side)side))
            return at_fail(err, AT_USAGE,
                           "the %s must be a device address that is a multiple of the element, "
                           "%d bytes",
                           names[side], (int)at_problem_elem_size(problem, (enum at_side)side));
    if ((dst == src) != problem->in_place)
        return at_fail(err, AT_USAGE, "source and destination are %s, and the plan was made for %s",
                       dst == src ? "one" : "two",
                       problem->in_place ? "a transpose in place" : "two buffers");
    return AT_OK;
}

static struct at_step_number number_of(const autotune_scalar *scalar)
{
    return (struct at_step_number){(uintptr_t)scalar->at, {scalar->value[0], scalar->value[1]}};
}

struct at_step_numbers autotune_execution_numbers(const autotune_execution *execution,
                                                  const struct at_step *step)
{
    const autotune_scalar of_tensor = {.at = execution->largest};

    return (struct at_step_numbers){
        .number = number_of(at_step_takes_largest(step)   ? &of_tensor
                            : at_step_has(step, AT_ALPHA) ? &execution->alpha
                                                          : &execution->scale),
        .beta = number_of(&execution->beta),
        .second = (uintptr_t)execution->src2,
        .channel_scale = (uintptr_t)execution->channel_scale,
        .channel_shift = (uintptr_t)execution->channel_shift,
        .kept = (uintptr_t)execution->dst2,
        .largest = (uintptr_t)execution->largest,
        .skip = (uintptr_t)execution->skip,
        .scratch = (uintptr_t)execution->scratch,
        .scales = (uintptr_t)execution->block_scales,
        .kept_scales = (uintptr_t)execution->block_scales2,
        .sums = (uintptr_t)execution->sums,
        .channel_stride = execution->channel_stride,
    };
}
