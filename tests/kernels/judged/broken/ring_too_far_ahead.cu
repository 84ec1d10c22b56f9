/* SPDX-License-Identifier: Apache-2.0 */
/* Two stages, and the copy ahead goes to the one that other warps still read. */
// RUN --grid 1 --block 96 --arg int[768]=index --arg int[768]
// SAYS shared memory
__device__ void copy(int *to, const int *from)
{
    unsigned a = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(a), "l"(from) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
}
__global__ void k(const int *x, int *y)
{
    __shared__ int s[2][96];
    int t = threadIdx.x;
    copy(&s[0][t], x + t);
    copy(&s[1][t], x + 96 + t);
    for (int i = 0; i < 8; i++) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        y[96 * i + t] = s[i & 1][95 - t];
        copy(&s[i & 1][t], x + 96 * ((i + 2) % 8) + t);
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
}
