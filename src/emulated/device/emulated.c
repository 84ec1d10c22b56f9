/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated device: memory, modules and launches. */
#include "emulated/device/emulated.h"

#include "base/integer.h"
#include "base/memory.h"
#include "device/device.h"
#include "emulated/machine/machine.h"
#include "emulated/machine/op.h"
#include "emulated/ptx/ptx.h"
#include "emulated/time/description.h"
#include "emulated/time/occupancy.h"
#include "emulated/time/predict.h"
#include "system/cpus.h"

#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A prediction, kept because a train repeats the calls of one transpose, and two trains are made of
 * them. */
struct emu_predicted {
    bool known;
    const void *kernel; /* its handle; NULL: a copy by the driver */
    struct at_call call;
    double ns;
};

/* Shared by the files of this device. */
struct emu_device {
    struct at_device_base base;
    struct at_rates rates;
    struct at_emu_memory *memory;
    int threads;             /* of the host */
    enum at_outcome outcome; /* of the first fault, for wait */
    struct at_error fault;   /* its message */
    struct emu_predicted last[AT_LAUNCHES_MAX];
    size_t next; /* of them, to be replaced */
};

static inline struct emu_device *at_emu_device_of(struct at_device *device)
{
    return (struct emu_device *)device;
}

/* Lists and opens emulated devices: one per description. */

/* Read a description, and add the fields that the file lacks: the ordinal, and the uuid, which is
 * also the selector of --gpu. */
static enum at_status describe(struct at_device_info *info, struct at_rates *rates,
                               const char *file, size_t ordinal, struct at_error *err)
{
    char *name = at_strndup(file, strlen(file) - strlen(".yaml"));
    enum at_status status = at_description_read(info, rates, name, err);

    if (status == AT_OK) {
        info->ordinal = (int64_t)ordinal;
        snprintf(info->uuid, sizeof info->uuid, AT_EMULATED_PREFIX "%s", name);
    }
    free(name);
    return status;
}

/* list.c */
static enum at_status emu_list(struct at_device_info **infos, size_t *count, struct at_error *err)
{
    struct at_device_info *found;
    struct at_rates rates;
    enum at_status status = AT_OK;
    struct at_folder files;

    at_description_files(&files);
    found = at_alloc_array(files.count, sizeof *found);
    for (size_t i = 0; i < files.count && status == AT_OK; i++)
        status = describe(&found[i], &rates, files.names[i], i, err);
    if (status == AT_OK) {
        *infos = found;
        *count = files.count;
    } else {
        free(found);
    }
    at_folder_clear(&files);
    return status;
}

/* Keep freed memory: each launch allocates and frees the state of its blocks. By default the C
 * library returns the pages to the system each time, which took a quarter of the time of a run. */
static void keep_memory(void)
{
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

static enum at_status emu_open(struct at_device **device, int64_t ordinal, struct at_error *err)
{
    struct emu_device *opened = at_alloc(sizeof *opened);
    enum at_status status;
    struct at_folder files;

    at_description_files(&files);
    if (ordinal < 0 || (uint64_t)ordinal >= files.count)
        status = at_fail(err, AT_DEVICE, "there is no emulated device %" PRId64, ordinal);
    else
        status = describe(&opened->base.info, &opened->rates, files.names[ordinal], (size_t)ordinal,
                          err);
    at_folder_clear(&files);
    if (status != AT_OK) {
        free(opened);
        return status;
    }
    opened->memory = at_emu_memory_new();
    opened->threads = at_usable_cpus();
    keep_memory();
    *device = (struct at_device *)opened;
    return AT_OK;
}

/* Make the machine's launch from a call of a kernel, whose arguments it borrows. */
static struct at_emu_launch emu_launch_of(const struct emu_device *device,
                                          const struct at_call *call)
{
    const struct at_ptx_kernel *kernel = call->kernel->handle;
    struct at_emu_launch launch = {
        .kernel = kernel,
        .args = call->args,
        .arg_count = kernel->param_count < AT_CALL_ARGS ? kernel->param_count : AT_CALL_ARGS,
        .arg_words = AT_CALL_WORDS,
        .block_limit = AT_EMU_BLOCK_STEPS,
        .threads = device->threads,
        .name = "kernel", /* the entry's name encodes its config, which the caller knows */
        .multiprocessors = (int)device->base.info.multiprocessors,
    };

    at_emu_launch_take(&launch, &call->launch);
    return launch;
}

/* Trains that do not run: their time is predicted when they are made. */

struct at_train {
    double ns;
};

/* The prediction of emulated/time/predict.c for a kernel with ideal accesses: the launch time plus
 * the 4-norm of the times that bound it. For a large copy it gives the rate measured on an H200. */
static double predict_copy(const struct emu_device *device, const struct at_call *call)
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

static enum at_outcome predict_kernel(struct emu_device *device, const struct at_call *call,
                                      double *ns, struct at_error *err)
{
    struct at_emu_launch launch = emu_launch_of(device, call);
    const struct at_grid_parts whole = at_grid_whole(&launch);
    struct at_prediction prediction;
    /* A prediction runs some blocks. Out of place that does no harm. */
    enum at_status status;
    void *place = call->state_bytes > 0
                      ? at_emu_memory_host(device->memory, call->state, call->state_bytes)
                      : NULL;
    void *state = at_alloc_raw(call->state_bytes + 1);

    if (place)
        memcpy(state, place, call->state_bytes);
    status = at_predict_launch(&device->base.info, &device->rates, device->memory, &launch, &whole,
                               call->kernel->registers, call->kernel->shared_bytes, call->cold,
                               &prediction, err);
    if (place)
        memcpy(place, state, call->state_bytes);
    at_free(state);
    if (status != AT_OK) {
        at_fail_within(err, "predicting its time");
        return AT_LAUNCH;
    }
    *ns = prediction.ns;
    return AT_CORRECT;
}

static bool is_of(const struct emu_predicted *last, const struct at_call *call)
{
    return last->known && last->kernel == (call->kernel ? call->kernel->handle : NULL) &&
           last->call.cold == call->cold &&
           memcmp(&last->call.launch, &call->launch, sizeof call->launch) == 0 &&
           memcmp(last->call.args, call->args, sizeof call->args) == 0;
}

static enum at_outcome predict(struct emu_device *device, const struct at_call *call, double *ns,
                               struct at_error *err)
{
    struct emu_predicted made = {true, call->kernel ? call->kernel->handle : NULL, *call, 0};
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = 0; i < AT_LAUNCHES_MAX; i++)
        if (is_of(&device->last[i], call)) {
            *ns = device->last[i].ns;
            return AT_CORRECT;
        }
    if (call->kernel)
        outcome = predict_kernel(device, call, &made.ns, err);
    else
        made.ns = predict_copy(device, call);
    if (outcome != AT_CORRECT)
        return outcome;
    device->last[device->next] = made;
    device->next = (device->next + 1) % AT_LAUNCHES_MAX;
    *ns = made.ns;
    return AT_CORRECT;
}

static enum at_outcome emu_make_train(struct at_device *device, const struct at_call *calls,
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

static enum at_outcome emu_time_train(struct at_device *device, struct at_train *train,
                                      struct at_train_time *time, struct at_error *err)
{
    (void)device;
    (void)err;
    *time = (struct at_train_time){train->ns, -1};
    return AT_CORRECT;
}

static void emu_free_train(struct at_device *device, struct at_train *train)
{
    (void)device;
    free(train);
}

static void versions(struct at_device *device, char *driver, size_t driver_size, char *cuda,
                     size_t cuda_size)
{
    (void)device;
    snprintf(driver, driver_size, "%s", "");
    snprintf(cuda, cuda_size, "%s", "");
}

static void state(struct at_device *device, struct at_device_state *now)
{
    (void)device;
    *now = at_device_state_unknown();
}

/* ---- memory ---- */

/* The memory in the description, limited by the memory of the host. */
static void memory(struct at_device *device, int64_t *free_bytes, int64_t *total_bytes)
{
    int64_t described = at_emu_device_of(device)->base.info.memory_bytes;
    int64_t page = sysconf(_SC_PAGESIZE);

    *free_bytes = at_min(described, page * sysconf(_SC_AVPHYS_PAGES));
    *total_bytes = at_min(described, page * sysconf(_SC_PHYS_PAGES));
}

static enum at_outcome allocate(struct at_device *device, int64_t bytes, at_address *address,
                                struct at_error *err)
{
    at_address allocated = at_emu_memory_allocate(at_emu_device_of(device)->memory, bytes);

    if (!allocated) {
        at_fail(err, AT_FAILED, "allocating %" PRId64 " bytes: this machine has too little memory",
                bytes);
        return AT_OOM;
    }
    *address = allocated;
    return AT_CORRECT;
}

static void release(struct at_device *device, at_address address)
{
    at_emu_memory_release(at_emu_device_of(device)->memory, address);
}

/* ---- modules ---- */

static enum at_outcome load(struct at_device *device, const void *image, size_t size,
                            struct at_module **module, struct at_error *err)
{
    struct at_ptx_module *read;

    (void)device;
    /* NVRTC counts the NUL at the end of the text. */
    if (size == 0 || at_ptx_read(&read, image, size - 1, err) != AT_OK) {
        at_fail_within(err, "loading");
        return AT_LAUNCH;
    }
    *module = (struct at_module *)read;
    return AT_CORRECT;
}

static void unload(struct at_device *device, struct at_module *module)
{
    memset(at_emu_device_of(device)->last, 0, sizeof at_emu_device_of(device)->last);
    at_ptx_free((struct at_ptx_module *)module);
}

/* The compiler's register count stays: PTX has none. */
static enum at_outcome find(struct at_device *device, struct at_module *module, const char *entry,
                            struct at_kernel *kernel, struct at_error *err)
{
    const struct at_ptx_kernel *found;

    (void)device;
    if (at_ptx_find((struct at_ptx_module *)module, entry, &found, err) != AT_OK) {
        at_fail_within(err, "finding the kernel");
        return AT_LAUNCH;
    }
    kernel->handle = (void *)found;
    kernel->shared_bytes = found->shared_bytes;
    return AT_CORRECT;
}

/* ---- running ---- */

/* The machine (emulated/machine/machine.h) has no limits of a device. */
static enum at_outcome check_limits(const struct at_device_info *info, const struct at_call *call,
                                    struct at_error *err)
{
    const int64_t *size = call->launch.field;

    if (at_occupancy_check(info, size[AT_BLOCK_X] * size[AT_BLOCK_Y] * size[AT_BLOCK_Z],
                           call->kernel->registers, call->kernel->shared_bytes,
                           size[AT_SHARED_BYTES], err) == AT_OK)
        return AT_CORRECT;
    at_fail_within(err, "launching");
    return AT_LAUNCH;
}

static enum at_outcome run(struct emu_device *device, const struct at_call *call,
                           struct at_error *err)
{
    struct at_emu_launch launch = emu_launch_of(device, call);
    struct at_emu_fault fault = {0};

    if (at_emu_run(device->memory, &launch, &fault, err) != AT_OK) {
        at_fail_within(err, "launching");
        return AT_LAUNCH;
    }
    if (fault.kind != AT_EMU_NO_FAULT) {
        device->outcome =
            fault.kind == AT_EMU_LIMIT || fault.kind == AT_EMU_WAIT ? AT_TIMEOUT : AT_CRASH;
        at_fail(&device->fault, AT_FAILED, "%s", fault.message);
    }
    return AT_CORRECT;
}

static enum at_outcome copy(struct emu_device *device, const struct at_call *call,
                            struct at_error *err)
{
    void *to = at_emu_memory_host(device->memory, call->args[0], call->args[2]);
    const void *from = at_emu_memory_host(device->memory, call->args[1], call->args[2]);

    if (!to || !from) {
        at_fail(err, AT_FAILED, "copying: not all within an allocation");
        return AT_LAUNCH;
    }
    memmove(to, from, call->args[2]);
    return AT_CORRECT;
}

/* Run the call at once. After a fault nothing runs any more, as on a GPU. */
static enum at_outcome start(struct at_device *base, const struct at_call *call,
                             struct at_error *err)
{
    struct emu_device *device = at_emu_device_of(base);
    enum at_outcome outcome;

    if (device->outcome != AT_CORRECT)
        return AT_CORRECT;
    if (!call->kernel)
        return copy(device, call, err);
    outcome = check_limits(&device->base.info, call, err);
    return outcome == AT_CORRECT ? run(device, call, err) : outcome;
}

static enum at_outcome wait_for_all(struct at_device *base, struct at_error *err)
{
    const struct emu_device *device = at_emu_device_of(base);

    if (device->outcome != AT_CORRECT)
        at_fail(err, AT_FAILED, "running: %s", device->fault.message);
    return device->outcome;
}

static enum at_outcome host_view(struct at_device *base, void **bytes, at_address address,
                                 size_t size, struct at_error *err)
{
    enum at_outcome outcome = wait_for_all(base, err);

    if (outcome != AT_CORRECT)
        return outcome;
    *bytes = at_emu_memory_host(at_emu_device_of(base)->memory, address, size);
    if (*bytes)
        return AT_CORRECT;
    at_fail(err, AT_FAILED, "%zu bytes at 0x%" PRIx64 " are not all within an allocation", size,
            address);
    return AT_LAUNCH;
}

static enum at_outcome read_back(struct at_device *device, void *bytes, at_address address,
                                 size_t size, struct at_error *err)
{
    void *from;
    enum at_outcome outcome = host_view(device, &from, address, size, err);

    if (outcome == AT_CORRECT)
        memcpy(bytes, from, size);
    return outcome;
}

static enum at_outcome write_there(struct at_device *device, at_address address, const void *bytes,
                                   size_t size, struct at_error *err)
{
    void *to;
    enum at_outcome outcome = host_view(device, &to, address, size, err);

    if (outcome == AT_CORRECT)
        memcpy(to, bytes, size);
    return outcome;
}

const struct at_device_ops at_emu_device_ops = {
    .kind = AT_KIND_EMULATED,
    .list = emu_list,
    .open = emu_open,
    .versions = versions,
    .state = state,
    .memory = memory,
    .allocate = allocate,
    .release = release,
    .load = load,
    .unload = unload,
    .find = find,
    .start = start,
    .wait = wait_for_all,
    .read = read_back,
    .write = write_there,
    .view = host_view,
    .make_train = emu_make_train,
    .time_train = emu_time_train,
    .free_train = emu_free_train,
};
