/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions that hold. */
#if __CUDACC_RTC__
extern "C" __device__ void __assertfail(const char *message, const char *file, unsigned line,
                                        const char *function, size_t size);
#define assert(condition)                                                                          \
    ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, 1))
#endif

extern "C" __global__ void assert_holds(int *out, const int *in, int n)
{
    assert(n == 64);
    assert(threadIdx.x < 64);
    out[threadIdx.x] = in[threadIdx.x];
}
