/* SPDX-License-Identifier: Apache-2.0 */
/* Trains that do not run: their time is predicted when they are made. */
#include "base/memory.h"
#include "device/emulated/emulated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct at_train {
    double ns;
};

/* The prediction of model/predict.c for a kernel with ideal accesses: the launch time plus the
 * 4-norm of the times that bound it. For a large copy it gives the rate measured on an H200. */
static double predict_copy(const struct at_emu_device *device, const struct at_call *call)
{
    const struct at_rates *rates = &device->rates;
    double bytes = 2 * (double)call->args[2];
    double dram_ns = call->cold ? 1000 * bytes / (double)rates->dram_MB_per_s : 0;
    double l2_ns = 500 * bytes / (double)rates->l2_load_MB_per_s +
                   500 * bytes / (double)rates->l2_store_MB_per_s;
    double latency_ns = (double)(rates->block_ns + rates->dram_latency_ns);

    return (double)rates->launch_ns +
           pow(pow(dram_ns, 4) + pow(l2_ns, 4) + pow(latency_ns, 4), 0.25);
}

static enum at_outcome predict_kernel(struct at_emu_device *device, const struct at_call *call,
                                      double *ns, struct at_error *err)
{
    struct at_emu_launch launch = at_emu_launch_of(device, call);
    struct at_prediction prediction;
    /* A prediction runs some blocks. Out of place that does no harm. In place, blocks exchange
     * tiles, so running them a second time restores the matrix. */
    int times = call->args[0] == call->args[1] ? 2 : 1;
    enum at_status status = AT_OK;

    for (int i = 0; i < times && status == AT_OK; i++)
        status = at_predict_launch(&device->base.info, &device->rates, device->memory, &launch,
                                   call->kernel->registers, call->kernel->shared_bytes, call->cold,
                                   &prediction, err);
    if (status != AT_OK) {
        at_fail_within(err, "predicting its time");
        return AT_LAUNCH;
    }
    *ns = prediction.ns;
    return AT_CORRECT;
}

static bool is_last(const struct at_emu_device *device, const struct at_call *call)
{
    const struct at_emu_predicted *last = &device->last;

    return last->known && last->kernel == (call->kernel ? call->kernel->handle : NULL) &&
           last->call.cold == call->cold &&
           memcmp(&last->call.launch, &call->launch, sizeof call->launch) == 0 &&
           memcmp(last->call.args, call->args, sizeof call->args) == 0;
}

static enum at_outcome predict(struct at_emu_device *device, const struct at_call *call, double *ns,
                               struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;

    if (!is_last(device, call)) {
        struct at_emu_predicted made = {true, call->kernel ? call->kernel->handle : NULL, *call, 0};

        if (call->kernel)
            outcome = predict_kernel(device, call, &made.ns, err);
        else
            made.ns = predict_copy(device, call);
        if (outcome != AT_CORRECT)
            return outcome;
        device->last = made;
    }
    *ns = device->last.ns;
    return AT_CORRECT;
}

enum at_outcome at_emu_make_train(struct at_device *device, const struct at_call *calls,
                                  size_t count, size_t lead_in, struct at_train **train,
                                  struct at_error *err)
{
    (void)lead_in;
    struct at_train made = {0};
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = 0; i < count && outcome == AT_CORRECT; i++) {
        double ns = 0;

        outcome = predict(at_emu_device_of(device), &calls[i], &ns, err);
        made.ns += ns;
    }
    if (outcome == AT_CORRECT)
        *train = at_memdup(&made, sizeof made);
    return outcome;
}

enum at_outcome at_emu_time_train(struct at_device *device, struct at_train *train,
                                  struct at_train_time *time, struct at_error *err)
{
    (void)device;
    (void)err;
    *time = (struct at_train_time){train->ns, -1};
    return AT_CORRECT;
}

void at_emu_free_train(struct at_device *device, struct at_train *train)
{
    (void)device;
    free(train);
}
