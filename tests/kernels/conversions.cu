/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for each conversion of conversions.h. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "conversions.h"

typedef __nv_fp8_storage_t fp8;
typedef __nv_fp8x2_storage_t fp8x2;

#define NEAREST_INTEGER(type)                                                                      \
    __device__ short nearest_##type(float x)                                                       \
    {                                                                                              \
        short result;                                                                              \
                                                                                                   \
        asm("cvt.rni.sat." #type ".f32 %0, %1;" : "=h"(result) : "f"(x));                          \
        return result;                                                                             \
    }
NEAREST_INTEGER(s8)
NEAREST_INTEGER(u8)
NEAREST_INTEGER(s16)
NEAREST_INTEGER(u16)

#define KERNEL(name, to, from, units, rounding, saturate, OUT, IN, value)                          \
    extern "C" __global__ void name(OUT *out, const IN *in, int n)                                 \
    {                                                                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
                                                                                                   \
        if (i < n) {                                                                               \
            IN x = in[i];                                                                          \
                                                                                                   \
            out[i] = static_cast<OUT>(value);                                                      \
        }                                                                                          \
    }
ALL_CONVERSIONS(KERNEL)
