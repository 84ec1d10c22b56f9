/* SPDX-License-Identifier: Apache-2.0 */
/* A maximum of floats by compare and swap, and sums of f32 and f64. */
extern "C" __global__ void atomic_float(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int *place = (int *)out, seen = *(volatile int *)place, assumed;

    do {
        assumed = seen;
        if (__int_as_float(assumed) >= in[i])
            break;
        seen = atomicCAS(place, assumed, __float_as_int(in[i]));
    } while (seen != assumed);
    atomicAdd(&out[1], 1.0f);
    atomicAdd((double *)&out[2], 0.5);
}
