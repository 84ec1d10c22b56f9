/* SPDX-License-Identifier: Apache-2.0 */
/* Points of a generator by xorshift that fall into a circle. */
extern "C" __global__ void random_pi(int *out, const int *in, int n)
{
    unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345, inside = 0;

    for (int k = 0; k < n; k++) {
        unsigned x, y;

        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        x = state >> 17;
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        y = state >> 17;
        inside += x * x + y * y < 32768u * 32768u;
    }
    atomicAdd(out, (int)inside);
}
