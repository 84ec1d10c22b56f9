/* SPDX-License-Identifier: Apache-2.0 */
/* One pointer to shared, global, local or constant memory. */
__constant__ int fixed[4] = {11, 12, 13, 14};

static __device__ __noinline__ int sum_of(const int *p, int count)
{
    int sum = 0;

    for (int k = 0; k < count; k++)
        sum += p[k];
    return sum;
}

extern "C" __global__ void generic_pointers(int *out, const int *in, int n)
{
    __shared__ int shared[4];
    int own[4] = {(int)threadIdx.x, 1, 2, 3};
    const int *choice[4] = {shared, in, own, fixed};

    if (threadIdx.x < 4)
        shared[threadIdx.x] = 5 * threadIdx.x;
    __syncthreads();
    own[threadIdx.x % 4]++;
    out[threadIdx.x] = sum_of(choice[threadIdx.x % 4], 4) + __isShared(choice[threadIdx.x % 4]) * 100 +
                       __isLocal(choice[threadIdx.x % 4]) * 200;
}
