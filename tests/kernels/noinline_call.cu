/* SPDX-License-Identifier: Apache-2.0 */
/* A function that is not inlined and returns early in some lanes. */
static __device__ __noinline__ int collatz(int n)
{
    int steps = 0;

    if (n < 1)
        return -1;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        if (++steps > 500)
            return 500;
    }
    return steps;
}

extern "C" __global__ void noinline_call(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = collatz(in[i]) + 1000 * collatz(i % 7);
}
