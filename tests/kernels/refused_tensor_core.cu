/* SPDX-License-Identifier: Apache-2.0 */
/* A product by tensor cores. */
extern "C" __global__ void refused_tensor_core(int *out, const int *in, int n)
{
    int d[4] = {0, 0, 0, 0};

    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(in[0]), "r"(in[1]), "r"(in[2])); //!
    out[threadIdx.x] = d[0];
}
