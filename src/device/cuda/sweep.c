/* SPDX-License-Identifier: Apache-2.0 */
/* Empties L2 before a launch whose caches are counted. A kernel reads a buffer several times as
 * large as L2, so that all that other kernels wrote goes to DRAM and nothing that they read stays.
 * The buffer itself is only read: lines that are left of it cost nothing to give up. Nsight Compute
 * invalidates the caches in the driver, which has no interface for that. */
#include "device/cuda/cuda_device.h"

enum { TIMES_L2 = 4, BLOCKS_PER_MULTIPROCESSOR = 8, THREADS = 256 };
static const int64_t least_bytes = 64 << 20;

/* volatile: neither removed nor kept in L1. */
static const char sweep_ptx[] = ".version 6.3\n"
                                ".target sm_70\n"
                                ".address_size 64\n"
                                ".visible .entry sweep(.param .u64 from, .param .u64 bytes)\n"
                                "{\n"
                                ".reg .pred %over;\n"
                                ".reg .b32 %x, %size, %block, %blocks, %a, %b, %c, %d;\n"
                                ".reg .b64 %at, %end, %step, %first;\n"
                                "ld.param.u64 %at, [from];\n"
                                "ld.param.u64 %end, [bytes];\n"
                                "add.u64 %end, %at, %end;\n"
                                "mov.u32 %x, %tid.x;\n"
                                "mov.u32 %size, %ntid.x;\n"
                                "mov.u32 %block, %ctaid.x;\n"
                                "mov.u32 %blocks, %nctaid.x;\n"
                                "mad.lo.u32 %x, %block, %size, %x;\n"
                                "mul.wide.u32 %first, %x, 16;\n"
                                "add.u64 %at, %at, %first;\n"
                                "mul.lo.u32 %size, %size, %blocks;\n"
                                "mul.wide.u32 %step, %size, 16;\n"
                                "next:\n"
                                "setp.ge.u64 %over, %at, %end;\n"
                                "@%over bra done;\n"
                                "ld.volatile.global.v4.u32 {%a, %b, %c, %d}, [%at];\n"
                                "add.u64 %at, %at, %step;\n"
                                "bra next;\n"
                                "done:\n"
                                "ret;\n"
                                "}\n";

enum at_outcome at_cuda_sweep_open(struct at_cuda_sweep *sweep, struct at_device *device,
                                   struct at_error *err)
{
    int64_t l2_bytes = at_cuda_device_of(device)->base.info.l2_bytes;
    enum at_outcome outcome;

    *sweep = (struct at_cuda_sweep){.bytes = TIMES_L2 * l2_bytes};
    if (sweep->bytes < least_bytes)
        sweep->bytes = least_bytes;
    outcome = at_cuda_outcome(at_cuda.cuModuleLoadData(&sweep->module, sweep_ptx),
                              "loading what empties the caches", err);
    if (outcome == AT_CORRECT)
        outcome =
            at_cuda_outcome(at_cuda.cuModuleGetFunction(&sweep->kernel, sweep->module, "sweep"),
                            "finding what empties the caches", err);
    if (outcome == AT_CORRECT)
        outcome = at_cuda_allocate(device, sweep->bytes, &sweep->buffer, err);
    return outcome;
}

void at_cuda_sweep_close(struct at_cuda_sweep *sweep, struct at_device *device)
{
    if (sweep->buffer)
        at_cuda_release(device, sweep->buffer);
    if (sweep->module)
        at_cuda.cuModuleUnload(sweep->module);
}

enum at_outcome at_cuda_sweep(const struct at_cuda_sweep *sweep, struct at_device *base,
                              struct at_error *err)
{
    const struct at_cuda_device *device = at_cuda_device_of(base);
    void *args[] = {(void *)&sweep->buffer, (void *)&sweep->bytes};
    unsigned blocks = BLOCKS_PER_MULTIPROCESSOR * (unsigned)device->base.info.multiprocessors;
    CUresult result = at_cuda.cuLaunchKernel(sweep->kernel, blocks, 1, 1, THREADS, 1, 1, 0,
                                             device->stream, args, NULL);

    if (result == CUDA_SUCCESS)
        result = at_cuda.cuStreamSynchronize(device->stream);
    return at_cuda_outcome(result, "emptying the caches", err);
}
