/* SPDX-License-Identifier: Apache-2.0 */
/* Templates, lambdas and an object with a function. */
template <typename T, typename F> static __device__ T fold(const T *values, int count, T start, F join)
{
    for (int k = 0; k < count; k++)
        start = join(start, values[k]);
    return start;
}

struct counter {
    int above, limit;
    __device__ void see(int value) { above += value > limit; }
};

extern "C" __global__ void templates(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, scale = i % 3;
    counter seen = {0, 100};

    for (int k = 0; k < 8; k++)
        seen.see(in[8 * i + k]);
    out[2 * i] = fold(in + 8 * i, 8, 0, [=](int a, int b) { return a * scale + b; });
    out[2 * i + 1] = seen.above;
}
