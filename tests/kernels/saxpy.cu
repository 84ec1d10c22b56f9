/* SPDX-License-Identifier: Apache-2.0 */
/* y = 2 x + y, with a stride of the grid. */
extern "C" __global__ void saxpy(float *out, const float *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = 2.0f * in[i] + in[n + i];
}
