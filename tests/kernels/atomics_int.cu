/* SPDX-License-Identifier: Apache-2.0 */
/* All atomic operations of integers in global memory. */
extern "C" __global__ void atomics_int(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];

    atomicAdd(&out[0], x);
    atomicSub(&out[1], x);
    atomicMin(&out[2], x);
    atomicMax(&out[3], x);
    atomicAnd(&out[4], x | 1);
    atomicOr(&out[5], x);
    atomicXor(&out[6], x);
    atomicInc((unsigned *)&out[7], 10);
    atomicDec((unsigned *)&out[8], 6);
    atomicCAS(&out[9], i, i + 1);
    atomicMin((unsigned *)&out[10], (unsigned)x);
    atomicMax((unsigned *)&out[11], (unsigned)x);
    atomicAdd((unsigned long long *)&out[12], (unsigned long long)x);
    atomicMax((long long *)&out[14], (long long)x << 20);
    if (i == 17)
        out[16] = atomicExch(&out[17], x);
}
