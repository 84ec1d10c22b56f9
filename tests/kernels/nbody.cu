/* SPDX-License-Identifier: Apache-2.0 */
/* One step of bodies in a plane that attract each other, by tiles. */
extern "C" __global__ void nbody(float *out, const float *in, int n)
{
    __shared__ float2 tile[64];
    const float2 *body = (const float2 *)in;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 own = body[i], force = {0, 0};

    for (int first = 0; first < n; first += 64) {
        tile[threadIdx.x] = body[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 64; k++) {
            float dx = tile[k].x - own.x, dy = tile[k].y - own.y;
            float inverse = rsqrtf(dx * dx + dy * dy + 0.01f);

            force.x += dx * inverse * inverse * inverse;
            force.y += dy * inverse * inverse * inverse;
        }
        __syncthreads();
    }
    out[2 * i] = own.x + 0.001f * force.x;
    out[2 * i + 1] = own.y + 0.001f * force.y;
}
