/* SPDX-License-Identifier: Apache-2.0 */
/* One lane of each warp adds its count; all threads read the sum without a barrier. */
// RUN --grid 1 --block 128 --arg int[128]=index --arg int[128]
// SAYS race in shared memory
__global__ void k(const int *x, int *y)
{
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0)
        count = 0;
    __syncthreads();
    unsigned odd = __ballot_sync(~0u, x[t] & 1);
    if (t % 32 == 0)
        atomicAdd(&count, __popc(odd));
    __syncwarp();
    y[t] = count;
}
