/* SPDX-License-Identifier: Apache-2.0 */
/* Elements that were never written are read, and not used. */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
struct pair {
    char kind;
    int value;
};

__global__ void k(const int *x, int *y)
{
    int t = threadIdx.x, sum = 0;
    pair a[16];

    for (int i = 0; i < 8; i++)
        a[(x[i] + t) & 7] = pair{(char)i, t};
    for (int i = 0; i < 16; i++) {
        pair p = a[(x[i] + t) & 15];
        if (((x[i] + t) & 15) < 8)
            sum += p.value + p.kind;
    }
    y[t] = sum;
}
