/* SPDX-License-Identifier: Apache-2.0 */
/* The clock goes on; the block has a multiprocessor. */
extern "C" __global__ void clocks(int *out, const int *in, int n)
{
    long long before = clock64();
    unsigned multiprocessor, count, warp;
    int sum = 0;

    for (int k = 0; k < 10; k++)
        sum += in[k] * k;
    __nanosleep(20);
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(count));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    out[blockIdx.x * blockDim.x + threadIdx.x] =
        (clock64() > before && clock() > 0 && multiprocessor < count && warp == threadIdx.x / 32)
            ? sum : -1;
}
