/* SPDX-License-Identifier: Apache-2.0 */
/* One generation on a torus. */
extern "C" __global__ void game_of_life(int *out, const int *in, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int alive = 0;

    if (x >= n || y >= n)
        return;
    for (int dy = n - 1; dy <= n + 1; dy++)
        for (int dx = n - 1; dx <= n + 1; dx++)
            if (dx != n || dy != n)
                alive += in[(y + dy) % n * n + (x + dx) % n] & 1;
    out[y * n + x] = alive == 3 || (alive == 2 && (in[y * n + x] & 1));
}
