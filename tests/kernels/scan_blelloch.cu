/* SPDX-License-Identifier: Apache-2.0 */
/* An exclusive scan of a block by Blelloch: up the tree and down again. */
extern "C" __global__ void scan_blelloch(int *out, const int *in, int n)
{
    __shared__ int tree[512];
    int t = threadIdx.x, offset = 1;

    tree[2 * t] = in[2 * t];
    tree[2 * t + 1] = in[2 * t + 1];
    for (int d = n / 2; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (t < d)
            tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    }
    if (t == 0)
        tree[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            int kept = tree[left];

            tree[left] = tree[right];
            tree[right] += kept;
        }
    }
    __syncthreads();
    out[2 * t] = tree[2 * t];
    out[2 * t + 1] = tree[2 * t + 1];
}
