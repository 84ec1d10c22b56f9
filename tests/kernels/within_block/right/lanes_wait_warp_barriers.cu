/* SPDX-License-Identifier: Apache-2.0 */
/* __syncwarp() with one mask at two places (CUDA C++ Programming Guide, "__syncwarp()": lanes wait
 * until all lanes of the mask "have executed a __syncwarp() (with the same mask)"). */
// RUN --grid 1 --block 32 --arg int[32]
__global__ void k(int *y)
{
    __shared__ int s[32];
    int t = threadIdx.x;

    if (t % 2) {
        s[t] = 3 * t;
        __syncwarp();
        y[t] = s[t - 1];
    } else {
        s[t] = t;
        __syncwarp();
        y[t] = s[t + 1] + 1;
    }
}
