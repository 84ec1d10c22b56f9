/* SPDX-License-Identifier: Apache-2.0 */
/* Non-coherent loads of an input that nobody writes, and streaming stores. */
// RUN --grid 2 --block 64 --arg int[512]=index --arg int[512]
__global__ void __launch_bounds__(64) k(const int4 *__restrict__ x, int4 *__restrict__ y)
{
    int i = 64 * blockIdx.x + threadIdx.x;
    int4 v;
    asm("ld.global.nc.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4];"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(x + 127 - i));
    __stcs(y + i, make_int4(v.w, v.z, v.y, v.x));
}
