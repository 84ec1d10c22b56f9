/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions by one instruction. */
extern "C" __global__ void redux_ints(int *out, const int *in, int n)
{
    int value = in[threadIdx.x], warp = threadIdx.x / 32;
    int sum = __reduce_add_sync(0xffffffff, value), least = __reduce_min_sync(0xffffffff, value);
    int most = __reduce_max_sync(0xffffffff, value);
    unsigned any = __reduce_or_sync(0xffffffff, (unsigned)value);
    unsigned odd = __reduce_xor_sync(0xffffffff, (unsigned)value);

    if (threadIdx.x % 32 == 0) {
        out[5 * warp] = sum;
        out[5 * warp + 1] = least;
        out[5 * warp + 2] = most;
        out[5 * warp + 3] = (int)any;
        out[5 * warp + 4] = (int)odd;
    }
}
