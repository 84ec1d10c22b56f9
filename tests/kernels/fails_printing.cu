/* SPDX-License-Identifier: Apache-2.0 */
/* A loop that ends, but prints too much for a limit of steps. */
#if __CUDACC_RTC__
extern "C" __device__ int printf(const char *format, ...);
#endif

extern "C" __global__ void fails_printing(int *out, const int *in, int n)
{
    for (int i = 0; i < 2000; i++)
        printf("%*d", 1000, i); //!
    out[0] = in[0];
}
