// SPDX-License-Identifier: Apache-2.0
// Kernels as learners write them, for tests/cli/own.bats.
#include <cstdint>
#include <cstdio>

#include "lessons.h"

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void gather(const float *x, const int *where, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = where[i];
    y[i] = x[j];
}

namespace lesson {

template <class T, int N> __global__ void strided(T *x)
{
    x[(blockIdx.x * blockDim.x + threadIdx.x) * N] = 1;
}

template __global__ void strided<float, 1>(float *);
template __global__ void strided<float, 8>(float *);
template __global__ void strided<double, 2>(double *);

} // namespace lesson

// Its columns of a tile lie in one bank, unless PITCH is odd.
extern "C" __global__ void column(float *out)
{
    extern __shared__ float tile[];
    tile[threadIdx.y * PITCH + threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x * PITCH + threadIdx.y];
}

// Faults unless the second element is 7 as this type.
template <class T> __device__ void expect(const T *x, T value, T seven)
{
    if (x[1] != seven || value != seven)
        __trap();
}

__global__ void takes_char(const signed char *x, signed char v)
{
    expect<signed char>(x, v, 7);
}

__global__ void takes_uint16(const uint16_t *x, uint16_t v)
{
    expect<uint16_t>(x, v, 7);
}

__global__ void takes_int64(const int64_t *x, int64_t v)
{
    expect<int64_t>(x, v, 7);
}

__global__ void takes_float(const float *x, float v)
{
    expect<float>(x, v, 7);
}

__global__ void takes_double(const double *x, double v)
{
    expect<double>(x, v, 7);
}

// 0x4700 is 7 as half, 0x40e0 as bfloat16.
__global__ void takes_bits(const unsigned short *half, const unsigned short *bfloat16)
{
    expect<unsigned short>(half, 0x4700, 0x4700);
    expect<unsigned short>(bfloat16, 0x40e0, 0x40e0);
}

__global__ void takes_float4(float4 v, const float4 *x)
{
    expect<float>(&x[1].z, v.w, 7);
    if (v.x != 7 || x[1].y != 7)
        __trap();
}

// Each element is below n, and they are not all equal.
__global__ void takes_random(const unsigned *x, unsigned n)
{
    bool differs = false;
    for (unsigned i = 0; i < n; i++) {
        if (x[i] >= n)
            __trap();
        differs |= x[i] != x[0];
    }
    if (!differs)
        __trap();
}

__global__ void out_of_bounds(float *x)
{
    x[threadIdx.x + 1] = 0;
}

__global__ void nothing()
{
}

/* The first blocks copy 16 elements a thread, the others nothing. */
extern "C" __global__ void busy_blocks(float *to, const float *from, int first, int end)
{
    if (blockIdx.x < first || blockIdx.x >= end)
        return;
    for (int i = 0; i < 16; i++) {
        int at = (16 * (blockIdx.x - first) + i) * blockDim.x + threadIdx.x;

        to[at] = from[at];
    }
}

/* What a launch may wait for, and sums of vectors. It traps unless both are right. */
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void vector_sums(float4 *x, float2 *old, uint32_t n)
{
    cudaGridDependencySynchronize();
    old[threadIdx.x] = atomicAdd((float2 *)&x[threadIdx.x], make_float2(3, 4));
    atomicAdd(&x[threadIdx.x], make_float4(1, 2, 3, 4));
    cudaTriggerProgrammaticLaunchCompletion();
    if (x[threadIdx.x].x != 4 + n || x[threadIdx.x].y != 6 + n || x[threadIdx.x].z != 3 + n ||
        x[threadIdx.x].w != 4 + n || old[threadIdx.x].y != n)
        __trap();
}
#endif
