/* SPDX-License-Identifier: Apache-2.0 */
/* Counts, reversals and searches of bits, byte permutation, SIMD in a word. */
extern "C" __global__ void bit_tricks(unsigned *out, const unsigned *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = in[i], y = in[(i + 1) % n], sum = 0;

    sum += __popc(x) + 3 * __clz(x) + 5 * __ffs(x);
    sum ^= __brev(x) + __byte_perm(x, y, 0x7531) + __funnelshift_l(x, y, y & 31);
    sum += __vabsdiffu4(x, y) ^ __vmaxu2(x, y) ^ __sad((int)x, (int)y, 9u);
    sum ^= __umul24(x, y) + __mul24((int)x, (int)y) + __uhadd(x, y) + __popcll((unsigned long long)x << 9 | y);
    sum += __fns(x, 3, 4);
    out[i] = sum;
}
