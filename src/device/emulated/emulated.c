/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated device: memory, modules and launches. */
#include "device/emulated/emulated.h"
#include "ptx/ptx.h"

#include "base/memory.h"
#include "emu/op.h"
#include "model/occupancy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The memory in the description, limited by the memory of the host. */
static void memory(struct at_device *device, int64_t *free_bytes, int64_t *total_bytes)
{
    int64_t described = at_emu_device_of(device)->base.info.memory_bytes;
    int64_t page = sysconf(_SC_PAGESIZE);

    *free_bytes = smaller(described, page * sysconf(_SC_AVPHYS_PAGES));
    *total_bytes = smaller(described, page * sysconf(_SC_PHYS_PAGES));
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
    at_emu_device_of(device)->last.known = false;
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
    kernel->shared_bytes = at_ptx_kernel_shared_bytes(found);
    return AT_CORRECT;
}

/* ---- running ---- */

/* The machine (emu/machine.h) has no limits of a device. */
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

static enum at_outcome run(struct at_emu_device *device, const struct at_call *call,
                           struct at_error *err)
{
    struct at_emu_launch launch = at_emu_launch_of(device, call);
    struct at_emu_fault fault = {0};

    if (at_emu_run(device->memory, &launch, &fault, err) != AT_OK) {
        at_fail_within(err, "launching");
        return AT_LAUNCH;
    }
    if (fault.kind != AT_EMU_NO_FAULT) {
        device->outcome = fault.kind == AT_EMU_LIMIT ? AT_TIMEOUT : AT_CRASH;
        at_fail(&device->fault, AT_FAILED, "%s", fault.message);
    }
    return AT_CORRECT;
}

static enum at_outcome copy(struct at_emu_device *device, const struct at_call *call,
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
    struct at_emu_device *device = at_emu_device_of(base);
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
    const struct at_emu_device *device = at_emu_device_of(base);

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
    .list = at_emu_list,
    .open = at_emu_open,
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
    .make_train = at_emu_make_train,
    .time_train = at_emu_time_train,
    .free_train = at_emu_free_train,
};
