/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the kernels of a plan. */
#include "base/error.h"
#include "lib/adapt.h"
#include "lib/execution.h"
#include "lib/process.h"

/* The addresses of the problem's first elements, where the caller's are those of the tensor's. */
static struct at_cuda_given place_of(const autotune_plan *plan, const void *dst, const void *src)
{
    return (struct at_cuda_given){.dst = (uintptr_t)dst + (uint64_t)plan->problem.begin_dst,
                                  .src = (uintptr_t)src + (uint64_t)plan->problem.begin_src};
}

/* Are all addresses as aligned as the problem says? `others`: the bits of all further ones. */
static bool is_aligned(const autotune_plan *plan, const struct at_cuda_given *place,
                       uint64_t others)
{
    uint64_t below = (uint64_t)plan->align_bytes - 1; /* a power of two */

    return ((place->dst | place->src | others) & below) == 0;
}

/* NULL: the next one of a plan that adapts. */
static const struct autotune_kernel *kernel_for(const autotune_plan *plan,
                                                const struct at_cuda_given *place, uint64_t others)
{
    if (!is_aligned(plan, place, others))
        return &plan->kernels[plan->kernel_count > 1 ? AUTOTUNE_ANY_ADDRESS : AUTOTUNE_TUNED];
    return plan->adaptation ? autotune_adapted(plan->adaptation) : &plan->kernels[AUTOTUNE_TUNED];
}

/* Does the stream capture a graph? The default stream never does. */
static bool is_capturing(void *stream)
{
    CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;

    return stream && at_cuda.cuStreamIsCapturing(stream, &capturing) == CUDA_SUCCESS &&
           capturing != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Note a capture: the graph may run the kernel again after the plan is freed. */
static void note_capture(const autotune_plan *plan, void *stream)
{
    if (!atomic_load_explicit(plan->captured, memory_order_relaxed) && is_capturing(stream))
        *plan->captured = true;
}

/* Start the launches of a transpose that takes several. If one fails to start, those before it have
 * moved some of the elements. */
static CUresult launch_in_a_row(const autotune_plan *plan, const struct at_call *first,
                                const struct at_cuda_given *given, void *stream, uint64_t scratch)
{
    const struct at_step_numbers shared = {.scratch = scratch};
    struct at_call call = *first;
    CUresult result = CUDA_SUCCESS;

    for (int64_t i = 0; i < at_launch_passes(&call.launch) && result == CUDA_SUCCESS; i++) {
        call.launch.field[AT_PASS] = i;
        at_problem_args(&plan->problem, &call.launch, given->dst, given->src, &shared, call.args,
                        call.arg_words);
        result = at_cuda_launch(&call, given, stream);
    }
    return result;
}

/* Launch the next kernel of a plan that adapts, in its context; into a graph, the looked-up one. */
static CUresult launch_next(const autotune_plan *plan, const struct at_cuda_given *place,
                            void *stream)
{
    struct at_cuda_given given = *place;
    struct autotune_passing passing = {&plan->kernels[AUTOTUNE_TUNED], NULL};
    CUresult result;

    if (is_capturing(stream))
        *plan->captured = true;
    else
        passing = autotune_pass(plan->adaptation, stream);
    given.other_number = passing.kernel->arg_count - 1;
    result = at_cuda_launch(&passing.kernel->call, &given, stream);
    autotune_passed(plan->adaptation, &passing, stream, result);
    return result;
}

/* Launch in the plan's context; without a call, the next kernel. `scratch`: of launches in a row.
 */
static enum at_status launch(const autotune_plan *plan, const struct at_call *call,
                             const struct at_cuda_given *given, void *stream, uint64_t scratch,
                             struct at_error *err)
{
    bool entered;
    CUresult result;
    enum at_status status = autotune_check_process(err);

    if (status == AT_OK)
        status = autotune_enter(&plan->context, &entered, err);
    if (status != AT_OK)
        return status;
    if (call)
        note_capture(plan, stream);
    result = !call ? launch_next(plan, given, stream)
             : call->launch.field[AT_LAUNCHES] > 0
                 ? launch_in_a_row(plan, call, given, stream, scratch)
                 : at_cuda_launch(call, given, stream);
    status = autotune_check_cuda(result, "starting a transpose", err);
    autotune_leave(entered);
    return status;
}

/* Fail if a result overwrites an element before it is read. Sides that are known to be apart take
 * no time; those that interleave take a search, which decides for the caller if it takes too long.
 */
static enum at_status check_apart(const autotune_plan *plan, const struct at_cuda_given *place,
                                  struct at_error *err)
{
    int64_t distance = (int64_t)(place->dst - place->src);

    if (distance <= plan->near[0] || distance >= plan->near[1] || plan->problem.in_place ||
        at_problem_sides_overlap(&plan->problem, distance) != AT_OVERLAP)
        return AT_OK;
    return at_fail(err, AT_USAGE,
                   "source and destination overlap: an element would be overwritten before it is "
                   "read");
}

/* Start the plan's kernel. `numbers` is for a step that takes them, and NULL otherwise. */
static enum at_status start(const autotune_plan *plan, void *dst, const void *src, void *stream,
                            const struct at_step_numbers *numbers, uint64_t scratch,
                            struct at_error *err)
{
    struct at_cuda_given given = place_of(plan, dst, src);
    const struct autotune_kernel *kernel =
        kernel_for(plan, &given, numbers ? numbers->second | numbers->kept : 0);
    enum at_status status = autotune_check_addresses(&plan->problem, dst, src, err);

    given.other = numbers;
    given.other_number = kernel ? kernel->arg_count - 1 : 0;
    if (status == AT_OK)
        status = check_apart(plan, &given, err);
    return status == AT_OK
               ? launch(plan, kernel ? &kernel->call : NULL, &given, stream, scratch, err)
               : status;
}

/* Is an address of the host's memory, and of no other? The driver does not know what it has not
 * allocated. */
static bool is_on_host(const void *address)
{
    unsigned type = 0;

    return at_cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                         (uintptr_t)address) != CUDA_SUCCESS ||
           type == CU_MEMORYTYPE_HOST;
}

/* Copy a list to the device. *alignment is that of its matrices. */
static enum at_status copy_list(const autotune_plan *plan, const autotune_execution *taken,
                                struct at_group_list *list, int64_t *alignment,
                                struct at_error *err)
{
    size_t bytes = (size_t)taken->list_count * sizeof(autotune_matrix);
    CUdeviceptr to = taken->scratch ? (uintptr_t)taken->scratch : plan->scratch;
    bool entered;
    enum at_status status =
        autotune_check_list(taken->list, taken->list_count, &plan->problem, alignment, err);

    if (status == AT_OK &&
        bytes > (size_t)(taken->scratch ? taken->scratch_bytes : plan->scratch_bytes))
        status = at_fail(err, AT_USAGE,
                         "the list has %lld matrices, and scratch is too small for it: it takes "
                         "%zu bytes",
                         (long long)taken->list_count, bytes);
    if (status == AT_OK)
        status = autotune_check_process(err);
    if (status == AT_OK)
        status = autotune_enter(&plan->context, &entered, err);
    if (status != AT_OK)
        return status;
    status = autotune_check_cuda(at_cuda.cuMemcpyHtoDAsync(to, taken->list, bytes, taken->stream),
                                 "copying a list", err);
    autotune_leave(entered);
    list->matrices = to;
    return status;
}

static enum at_status start_list(const autotune_plan *plan, const autotune_execution *taken,
                                 const struct at_step_numbers *numbers, struct at_error *err)
{
    struct at_group_list list = {(uintptr_t)taken->list, taken->list_count, numbers->skip};
    int64_t alignment = plan->problem.groups.multiple;
    struct at_step_numbers own = *numbers;
    enum at_status status = AT_OK;
    struct at_call call;

    if (taken->list_count == 0)
        return AT_OK;
    if (is_on_host(taken->list))
        status = copy_list(plan, taken, &list, &alignment, err);
    call = plan->kernels[plan->kernel_count > 1 && alignment < plan->problem.groups.multiple
                             ? AUTOTUNE_ANY_ADDRESS
                             : AUTOTUNE_TUNED]
               .call;
    own.skip = own.scratch = 0;
    at_group_args(&plan->problem, 0, 0, &list, sizeof list, &own, call.args, call.arg_words);
    return status == AT_OK ? launch(plan, &call, &(struct at_cuda_given){0}, taken->stream, 0, err)
                           : status;
}

static enum at_status start_rows(const autotune_plan *plan, const autotune_execution *taken,
                                 const struct at_step_numbers *numbers, struct at_error *err)
{
    const struct at_cuda_given given = {.dst = (uintptr_t)taken->dst, .src = (uintptr_t)taken->src};
    struct at_ragged_groups rows = plan->rows;
    struct at_step_numbers own = *numbers;
    struct at_call call = kernel_for(plan, &given, numbers->kept | numbers->second)->call;
    enum at_status status = autotune_check_addresses(&plan->problem, taken->dst, taken->src, err);

    if (status == AT_OK && (uintptr_t)taken->offsets % (uintptr_t)rows.offset_bytes != 0)
        status = at_fail(err, AT_USAGE, "offsets must be a device address that is a multiple of %d",
                         (int)rows.offset_bytes);
    rows.kept = numbers->kept;
    rows.second = numbers->second;
    rows.offsets = (uintptr_t)taken->offsets;
    rows.count = taken->offset_count - 1;
    rows.most = taken->most_rows ? taken->most_rows : rows.most;
    rows.overflow = (uintptr_t)taken->overflow;
    rows.skip = numbers->skip;
    own.skip = own.scratch = 0;
    at_group_args(&plan->problem, given.dst, given.src, &rows, sizeof rows, &own, call.args,
                  call.arg_words);
    return status == AT_OK ? launch(plan, &call, &given, taken->stream, 0, err) : status;
}

static enum at_status start_any(const autotune_plan *plan, const autotune_execution *taken,
                                const struct at_step_numbers *numbers, struct at_error *err)
{
    switch (at_groups_kind(&plan->problem.groups)) {
    case AT_GROUP_LIST:
        return start_list(plan, taken, numbers, err);
    case AT_RAGGED_GROUPS:
        return start_rows(plan, taken, numbers, err);
    default:
        return start(plan, taken->dst, taken->src, taken->stream,
                     at_step_takes_numbers(&plan->problem.step) ? numbers : NULL, numbers->scratch,
                     err);
    }
}

/* Needs no guard: only an error's object is allocated. */
autotune_status autotune_plan_execute_with(const autotune_plan *plan,
                                           const autotune_execution *execution,
                                           autotune_error **error)
{
    autotune_execution taken;
    struct at_step_numbers numbers;
    struct at_error err;
    enum at_status status;

    if (!plan || !execution)
        return autotune_fail_null(error, plan ? "execution" : "plan");
    if (plan->kernel_count == 0)
        return AUTOTUNE_OK;
    /* A list takes as much as it is long. */
    status = autotune_take_execution(
        &taken, execution, &plan->problem, plan->words,
        at_groups_kind(&plan->problem.groups) == AT_GROUP_LIST ? 0 : plan->scratch_bytes, &err);
    if (status == AT_OK) {
        numbers = autotune_execution_numbers(&taken, &plan->problem.step);
        if (!numbers.scratch)
            numbers.scratch = plan->scratch;
        if (numbers.second) /* lies like the destination */
            numbers.second += (uint64_t)plan->problem.begin_dst;
        status = start_any(plan, &taken, &numbers, &err);
    }
    return status == AT_OK ? AUTOTUNE_OK : autotune_fail(error, &err);
}

autotune_status autotune_plan_execute(const autotune_plan *plan, void *dst, const void *src,
                                      void *stream, autotune_error **error)
{
    struct at_error err;
    enum at_status status;

    if (!plan)
        return autotune_fail_null(error, "plan");
    if (plan->kernel_count == 0)
        return AUTOTUNE_OK;
    status = autotune_check_plain(&plan->problem, &err);
    if (status == AT_OK)
        status = start(plan, dst, src, stream, NULL, plan->scratch, &err);
    return status == AT_OK ? AUTOTUNE_OK : autotune_fail(error, &err);
}

size_t autotune_plan_launches(const autotune_plan *plan, const void *dst, const void *src,
                              autotune_launch *launches, size_t capacity)
{
    const struct autotune_kernel *kernel;
    struct at_cuda_given place;

    if (!plan || plan->kernel_count == 0)
        return 0;
    place = place_of(plan, dst, src);
    kernel = kernel_for(plan, &place, 0);
    if (!kernel)
        kernel = &plan->kernels[AUTOTUNE_TUNED];
    return autotune_put_launches(launches, capacity, &kernel->call.launch, kernel->module->entry);
}
