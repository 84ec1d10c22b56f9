/* SPDX-License-Identifier: Apache-2.0 */
/* Inclusive scans of 32 values by shuffles. */
extern "C" __global__ void warp_scan(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int sum = in[i];

    for (int s = 1; s < 32; s *= 2) {
        int other = __shfl_up_sync(0xffffffff, sum, s);

        if (lane >= s)
            sum += other;
    }
    out[i] = sum;
}
