/* SPDX-License-Identifier: Apache-2.0 */
/* An insertion sort in an array of each thread's own. */
extern "C" __global__ void local_array(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, values[16];

    for (int k = 0; k < 16; k++)
        values[k] = in[i * 16 + k];
    for (int k = 1; k < 16; k++) {
        int value = values[k], at = k;

        while (at > 0 && values[at - 1] > value) {
            values[at] = values[at - 1];
            at--;
        }
        values[at] = value;
    }
    for (int k = 0; k < 16; k++)
        out[i * 16 + k] = values[k];
}
