/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA Driver API, loaded at run time, and only by GPU worker processes and the library. */
#ifndef AT_DEVICE_CUDA_DRIVER_H
#define AT_DEVICE_CUDA_DRIVER_H

#include "base/error.h"
#include "base/outcome.h"

#include <cuda.h>

/* The functions in use: the name in cuda.h, and the symbol in the library. Each symbol is the
 * oldest with the same prototype, so that building with a newer toolkit needs no newer driver. */
#define AT_CUDA_FUNCTIONS(X)                                                                       \
    X(cuInit, "cuInit")                                                                            \
    X(cuDriverGetVersion, "cuDriverGetVersion")                                                    \
    X(cuGetErrorName, "cuGetErrorName")                                                            \
    X(cuGetErrorString, "cuGetErrorString")                                                        \
    X(cuDeviceGetCount, "cuDeviceGetCount")                                                        \
    X(cuDeviceGet, "cuDeviceGet")                                                                  \
    X(cuDeviceGetName, "cuDeviceGetName")                                                          \
    X(cuDeviceGetUuid, "cuDeviceGetUuid")                                                          \
    X(cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId")                                                  \
    X(cuDeviceGetAttribute, "cuDeviceGetAttribute")                                                \
    X(cuDeviceTotalMem, "cuDeviceTotalMem_v2")                                                     \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")                                        \
    X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2")                                   \
    X(cuCtxGetCurrent, "cuCtxGetCurrent")                                                          \
    X(cuCtxGetDevice, "cuCtxGetDevice")                                                            \
    X(cuCtxSetCurrent, "cuCtxSetCurrent")                                                          \
    X(cuCtxPushCurrent, "cuCtxPushCurrent_v2")                                                     \
    X(cuCtxPopCurrent, "cuCtxPopCurrent_v2")                                                       \
    X(cuMemGetInfo, "cuMemGetInfo_v2")                                                             \
    X(cuMemAlloc, "cuMemAlloc_v2")                                                                 \
    X(cuMemFree, "cuMemFree_v2")                                                                   \
    X(cuMemHostAlloc, "cuMemHostAlloc")                                                            \
    X(cuPointerGetAttribute, "cuPointerGetAttribute")                                              \
    X(cuMemcpyDtoH, "cuMemcpyDtoH_v2")                                                             \
    X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")                                                   \
    X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2")                                                   \
    X(cuModuleLoadData, "cuModuleLoadData")                                                        \
    X(cuModuleUnload, "cuModuleUnload")                                                            \
    X(cuModuleGetFunction, "cuModuleGetFunction")                                                  \
    X(cuFuncGetAttribute, "cuFuncGetAttribute")                                                    \
    X(cuFuncSetAttribute, "cuFuncSetAttribute")                                                    \
    X(cuLaunchKernel, "cuLaunchKernel")                                                            \
    X(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel")                                      \
    X(cuStreamCreate, "cuStreamCreate")                                                            \
    X(cuStreamDestroy, "cuStreamDestroy_v2")                                                       \
    X(cuStreamSynchronize, "cuStreamSynchronize")                                                  \
    X(cuStreamIsCapturing, "cuStreamIsCapturing")                                                  \
    X(cuStreamBeginCapture, "cuStreamBeginCapture_v2")                                             \
    X(cuStreamEndCapture, "cuStreamEndCapture")                                                    \
    X(cuGraphInstantiate, "cuGraphInstantiateWithFlags")                                           \
    X(cuGraphUpload, "cuGraphUpload")                                                              \
    X(cuGraphLaunch, "cuGraphLaunch")                                                              \
    X(cuGraphExecDestroy, "cuGraphExecDestroy")                                                    \
    X(cuGraphDestroy, "cuGraphDestroy")                                                            \
    X(cuEventCreate, "cuEventCreate")                                                              \
    X(cuEventDestroy, "cuEventDestroy_v2")                                                         \
    X(cuEventRecordWithFlags, "cuEventRecordWithFlags")                                            \
    X(cuEventQuery, "cuEventQuery")                                                                \
    X(cuEventElapsedTime, "cuEventElapsedTime")                                                    \
    X(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode")

struct at_cuda_api {
#define FIELD(name, symbol) __typeof__(name) *name;
    AT_CUDA_FUNCTIONS(FIELD)
#undef FIELD
    /* Since CUDA 12.0, later than the headers that suffice here; NULL: an older driver lacks it. */
    CUresult (*cuCtxGetId)(CUcontext context, unsigned long long *id);
};

/* The loaded library; valid after at_cuda_load. */
extern struct at_cuda_api at_cuda;

/* Load the library and initialise it. On AT_DEVICE the message names the missing file and the
 * remedy. */
enum at_status at_cuda_load(struct at_error *err);

/* Fail with AT_DEVICE for a result of cuInit, or for CUDA_ERROR_NO_DEVICE if it lists no GPU. The
 * message says why there is no GPU here, and what to do. */
enum at_status at_cuda_no_gpu(CUresult result, struct at_error *err);

/* Write a result's name and meaning: "CUDA_ERROR_INVALID_VALUE: invalid argument". */
void at_cuda_describe(CUresult result, char *text, size_t capacity);

/* Turn a CUDA result into an outcome. A failure's message begins with `doing`. */
enum at_outcome at_cuda_outcome(CUresult result, const char *doing, struct at_error *err);

#endif
