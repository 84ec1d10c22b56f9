/* SPDX-License-Identifier: Apache-2.0 */
/* A bitonic sort of 256 numbers in shared memory. */
extern "C" __global__ void bitonic_sort(int *out, const int *in, int n)
{
    __shared__ int values[256];
    int t = threadIdx.x;

    values[t] = in[t];
    for (int size = 2; size <= n; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            int other = t ^ stride;

            __syncthreads();
            if (other > t) {
                int a = values[t], b = values[other];

                if ((a > b) == ((t & size) == 0)) {
                    values[t] = b;
                    values[other] = a;
                }
            }
        }
    __syncthreads();
    out[t] = values[t];
}
