/* SPDX-License-Identifier: Apache-2.0 */
/* The mean clock of the multiprocessors during a train. A small kernel before and after the train
 * writes the cycle and nanosecond counters to host memory. NVML would be too slow for each train,
 * and gives only the clock of a moment. NVBench uses such stamps too. */
#include "device/cuda/cuda_device.h"

#include <stddef.h>

/* Always multiprocessor 0 writes, because each has its own cycle counter. A grid of one block per
 * multiprocessor reaches it. The driver compiles this PTX, which takes next to no time. */
static const char stamp_ptx[] = ".version 6.3\n"
                                ".target sm_70\n"
                                ".address_size 64\n"
                                ".visible .entry stamp(.param .u64 to)\n"
                                "{\n"
                                ".reg .pred %other;\n"
                                ".reg .b32 %multiprocessor;\n"
                                ".reg .b64 %place, %ns, %cycles;\n"
                                "mov.u32 %multiprocessor, %smid;\n"
                                "setp.ne.u32 %other, %multiprocessor, 0;\n"
                                "@%other bra done;\n"
                                "ld.param.u64 %place, [to];\n"
                                "mov.u64 %ns, %globaltimer;\n"
                                "mov.u64 %cycles, %clock64;\n"
                                "st.volatile.global.v2.u64 [%place], {%ns, %cycles};\n"
                                "done:\n"
                                "ret;\n"
                                "}\n";

void at_cuda_clock_open(struct at_cuda_device *device)
{
    void *stamps = NULL;
    CUmodule module;
    CUresult result = at_cuda.cuModuleLoadData(&module, stamp_ptx);

    if (result == CUDA_SUCCESS)
        result = at_cuda.cuModuleGetFunction(&device->stamp, module, "stamp");
    if (result == CUDA_SUCCESS)
        result = at_cuda.cuMemHostAlloc(&stamps, AT_CUDA_STAMPS * sizeof *device->stamps,
                                        CU_MEMHOSTALLOC_DEVICEMAP);
    if (result == CUDA_SUCCESS)
        device->stamps = stamps;
}

CUresult at_cuda_clock_stamp(const struct at_cuda_device *device, enum at_cuda_stamp which)
{
    const void *place;
    void *args[] = {&place};

    if (!device->stamps)
        return CUDA_SUCCESS;
    place = &device->stamps[which];
    return at_cuda.cuLaunchKernel(device->stamp, (unsigned)device->base.info.multiprocessors, 1, 1,
                                  1, 1, 1, 0, device->stream, args, NULL);
}

int64_t at_cuda_clock_khz(const struct at_cuda_device *device)
{
    /* Outside of these bounds a stamp was not written, or a counter was reset. */
    static const double least_khz = 1e4, most_khz = 1e7;
    const volatile struct at_cuda_clock_stamp *first, *last;
    double ns, khz;

    if (!device->stamps)
        return -1;
    first = &device->stamps[AT_CUDA_BEFORE];
    last = &device->stamps[AT_CUDA_AFTER];
    ns = (double)(int64_t)(last->ns - first->ns);
    khz = ns > 0 ? 1e6 * (double)(int64_t)(last->cycles - first->cycles) / ns : 0;
    return khz >= least_khz && khz <= most_khz ? (int64_t)khz : -1;
}
