/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of rows of 64, a block per row. */
extern "C" __global__ void softmax(float *out, const float *in, int n)
{
    __shared__ float part[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float value = in[i], most, sum;

    part[t] = value;
    __syncthreads();
    for (int s = 32; s > 0; s /= 2) {
        if (t < s)
            part[t] = fmaxf(part[t], part[t + s]);
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    part[t] = value = expf(value - most);
    __syncthreads();
    for (int s = 32; s > 0; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    sum = part[0];
    out[i] = value / sum;
}
