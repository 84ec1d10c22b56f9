/* SPDX-License-Identifier: Apache-2.0 */
/* printf of all kinds of arguments. */
#if __CUDACC_RTC__
extern "C" __device__ int printf(const char *format, ...);
#endif

extern "C" __global__ void print_lines(int *out, const int *in, int n)
{
    if (threadIdx.x < 2)
        printf("%d: %5.2f|%s|%c|%llx|%-4u|%%\n", threadIdx.x + 2 * blockIdx.x, 1.25 * threadIdx.x,
               "text", 'a' + (int)threadIdx.x, 0x123456789abcull, 7u);
    out[threadIdx.x] = 1;
}
