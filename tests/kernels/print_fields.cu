/* SPDX-License-Identifier: Apache-2.0 */
/* printf with widths and precisions of all sizes. */
#if __CUDACC_RTC__
extern "C" __device__ int printf(const char *format, ...);
#endif

extern "C" __global__ void print_fields(int *out, const int *in, int n)
{
    if (threadIdx.x == 0) {
        printf("%*d|%-*d|%.*f|%+08.3f|%.2s|%5.1s|%%|%#x|%hhd|\n", 4, 7, -4, 7, 1, 0.25, 1.5, "text",
               "text", 255, 513);
        printf("%**********d|%-+ #0-+ #0-+ #0-+ #05d|%lllllld|%", -2147483647 - 1, -2147483647,
               -2147483647, -2147483647, -2147483647, 5, 6ll);
        printf("\n%.0s%2147483646d|%99999999999.99999999999f|\n", "text", 7, 0.5);
    }
    out[threadIdx.x] = printf("%d%d", 1, 2) + printf("") - 1;
}
