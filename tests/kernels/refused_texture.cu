/* SPDX-License-Identifier: Apache-2.0 */
/* A texture. */
extern "C" __global__ void refused_texture(float *out, unsigned long long texture, int n)
{
    float x;

    asm("tex.1d.v4.f32.s32 {%0, _, _, _}, [%1, {%2}];" : "=f"(x) : "l"(texture), "r"(n)); //!
    out[threadIdx.x] = x;
}
