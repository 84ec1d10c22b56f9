/* SPDX-License-Identifier: Apache-2.0 */
/* A table of branches in PTX: brx.idx. */
extern "C" __global__ void branch_table(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, value;

    asm volatile("{\n"
                 "targets: .branchtargets first, second, third;\n"
                 "brx.idx %1, targets;\n"
                 "first: mov.u32 %0, 10;\n"
                 "bra done;\n"
                 "second: mov.u32 %0, 20;\n"
                 "bra done;\n"
                 "third: mov.u32 %0, 30;\n"
                 "done:\n"
                 "}"
                 : "=r"(value)
                 : "r"(i % 3));
    out[i] = value + in[i];
}
