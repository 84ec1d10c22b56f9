/* SPDX-License-Identifier: Apache-2.0 */
/* Trains of launches, timed between two events.
 *
 * Kernels run as a CUDA graph that includes the two event records, so that no CPU work is between
 * the events. A copy by the driver runs from the stream instead: as a graph node it was seen to
 * drop to two thirds of its speed (H200, CUDA 13.0). The untimed copies before it hide the time
 * that the CPU needs to queue the others, unless the copies are very short. */
#include "base/memory.h"
#include "device/cuda/cuda_device.h"

#include <stdlib.h>

struct at_train {
    CUgraphExec graph; /* NULL: run from the stream */
    CUevent start, stop;
    struct at_call *calls; /* to run from the stream; NULL: they are in the graph */
    size_t count, lead_in;
};

static enum at_outcome stamp(struct at_device *device, enum at_cuda_stamp which,
                             struct at_error *err)
{
    return at_cuda_outcome(at_cuda_clock_stamp(at_cuda_device_of(device), which), "stamping", err);
}

/* Start the whole train with its events, on the stream or into the graph that captures it. */
static enum at_outcome start_train(struct at_device *device, const struct at_train *train,
                                   const struct at_call *calls, unsigned event_flags,
                                   struct at_error *err)
{
    CUstream stream = at_cuda_device_of(device)->stream;
    enum at_outcome outcome = stamp(device, AT_CUDA_BEFORE, err);

    for (size_t i = train->count - train->lead_in; i < train->count && outcome == AT_CORRECT; i++)
        outcome = at_cuda_start(device, &calls[i], err);
    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(at_cuda.cuEventRecordWithFlags(train->start, stream, event_flags),
                                  "timing", err);
    for (size_t i = 0; i < train->count && outcome == AT_CORRECT; i++)
        outcome = at_cuda_start(device, &calls[i], err);
    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(at_cuda.cuEventRecordWithFlags(train->stop, stream, event_flags),
                                  "timing", err);
    return outcome == AT_CORRECT ? stamp(device, AT_CUDA_AFTER, err) : outcome;
}

static enum at_outcome capture(struct at_device *device, struct at_train *train,
                               const struct at_call *calls, struct at_error *err)
{
    CUstream stream = at_cuda_device_of(device)->stream;
    CUgraph graph = NULL;
    CUresult ended;
    enum at_outcome outcome =
        at_cuda_outcome(at_cuda.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                        "capturing", err);

    if (outcome != AT_CORRECT)
        return outcome;
    outcome = start_train(device, train, calls, CU_EVENT_RECORD_EXTERNAL, err);
    ended = at_cuda.cuStreamEndCapture(stream, &graph);
    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(ended, "capturing", err);
    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(at_cuda.cuGraphInstantiate(&train->graph, graph, 0),
                                  "instantiating the graph", err);
    /* Otherwise the first launch uploads the graph, node by node, and short kernels wait for it:
     * with kernels of 3 us, the first train took 1.3 times as long as the others. */
    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(at_cuda.cuGraphUpload(train->graph, stream),
                                  "uploading the graph", err);
    if (graph)
        at_cuda.cuGraphDestroy(graph);
    return outcome;
}

enum at_outcome at_cuda_make_train(struct at_device *device, const struct at_call *calls,
                                   size_t count, size_t lead_in, struct at_train **train,
                                   struct at_error *err)
{
    struct at_train *made = at_alloc(sizeof *made);
    enum at_outcome outcome;

    made->count = count;
    made->lead_in = lead_in;
    /* Before there is an event to lose: in the library, without memory the call ends here. */
    if (!calls[0].kernel)
        made->calls = at_memdup(calls, count * sizeof *calls);
    outcome = at_cuda_outcome(at_cuda.cuEventCreate(&made->start, CU_EVENT_DEFAULT), "timing", err);
    if (outcome == AT_CORRECT)
        outcome =
            at_cuda_outcome(at_cuda.cuEventCreate(&made->stop, CU_EVENT_DEFAULT), "timing", err);
    if (outcome == AT_CORRECT && calls[0].kernel)
        outcome = capture(device, made, calls, err);
    if (outcome == AT_CORRECT)
        *train = made;
    else
        at_cuda_free_train(device, made);
    return outcome;
}

enum at_outcome at_cuda_time_train(struct at_device *device, struct at_train *train,
                                   struct at_train_time *time, struct at_error *err)
{
    CUstream stream = at_cuda_device_of(device)->stream;
    float elapsed_ms = 0;
    enum at_outcome outcome =
        train->graph
            ? at_cuda_outcome(at_cuda.cuGraphLaunch(train->graph, stream), "launching", err)
            : start_train(device, train, train->calls, CU_EVENT_RECORD_DEFAULT, err);

    /* cuEventElapsedTime does not report earlier failures (cuda.h), so wait first. */
    if (outcome == AT_CORRECT)
        outcome = at_cuda_wait(device, err);
    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(
            at_cuda.cuEventElapsedTime(&elapsed_ms, train->start, train->stop), "timing", err);
    if (outcome == AT_CORRECT)
        *time = (struct at_train_time){1e6 * (double)elapsed_ms,
                                       at_cuda_clock_khz(at_cuda_device_of(device))};
    return outcome;
}

void at_cuda_free_train(struct at_device *device, struct at_train *train)
{
    (void)device;
    if (!train)
        return;
    if (train->graph)
        at_cuda.cuGraphExecDestroy(train->graph);
    if (train->start)
        at_cuda.cuEventDestroy(train->start);
    if (train->stop)
        at_cuda.cuEventDestroy(train->stop);
    at_free(train->calls);
    at_free(train);
}
