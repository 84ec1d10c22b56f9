/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of 7 neighbours, with a halo in shared memory. */
enum { RADIUS = 3 };

extern "C" __global__ void stencil_1d(int *out, const int *in, int n)
{
    extern __shared__ int line[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + RADIUS, sum = 0;

    line[t] = i < n ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        line[t - RADIUS] = i >= RADIUS ? in[i - RADIUS] : 0;
        line[t + blockDim.x] = i + blockDim.x < n ? in[i + blockDim.x] : 0;
    }
    __syncthreads();
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += line[t + k];
    if (i < n)
        out[i] = sum;
}
