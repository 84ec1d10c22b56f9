/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix by a vector, a warp per row, vectors of four. */
extern "C" __global__ void matvec(float *out, const float *in, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float4 *line = (const float4 *)(in + n + row * n), *vector = (const float4 *)in;
    float sum = 0;

    for (int k = lane; k < n / 4; k += 32) {
        float4 a = line[k], b = __ldg(&vector[k]);

        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, s);
    if (lane == 0)
        out[row] = sum;
}
