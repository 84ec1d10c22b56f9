/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA C++ Programming Guide, "Synchronization Functions": __syncthreads() in a branch needs a
 * condition that is the same for the whole block. */
// RUN --grid 1 --block 64 --arg int[64]
// SAYS other threads of the block wait at another one, at line 16
__global__ void k(int *y)
{
    __shared__ int s[64];
    int t = threadIdx.x;

    s[t] = t;
    if (t < 32) {
        __syncthreads();
        y[t] = s[63 - t];
    } else {
        __syncthreads();
        y[t] = s[63 - t] + 1;
    }
}
