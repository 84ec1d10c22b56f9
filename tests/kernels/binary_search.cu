/* SPDX-License-Identifier: Apache-2.0 */
/* Places in a sorted array. */
extern "C" __global__ void binary_search(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = n, wanted = in[i];

    while (low < high) {
        int middle = (low + high) / 2;

        if (3 * middle - 900 < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    out[i] = low;
}
