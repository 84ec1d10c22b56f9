/* SPDX-License-Identifier: Apache-2.0 */
/* An inclusive scan of a block by Hillis and Steele, in two buffers. */
extern "C" __global__ void scan_hillis(int *out, const int *in, int n)
{
    extern __shared__ int buffer[];
    int t = threadIdx.x, from = 0;

    buffer[t] = t < n ? in[t] : 0;
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        int to = 1 - from;

        buffer[to * blockDim.x + t] =
            buffer[from * blockDim.x + t] + (t >= s ? buffer[from * blockDim.x + t - s] : 0);
        from = to;
        __syncthreads();
    }
    if (t < n)
        out[t] = buffer[from * blockDim.x + t];
}
