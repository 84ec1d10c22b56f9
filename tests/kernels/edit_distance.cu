/* SPDX-License-Identifier: Apache-2.0 */
/* The edit distance of pairs of words of 16 letters, in local memory. */
extern "C" __global__ void edit_distance(int *out, const unsigned char *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char line[17];

    if (i >= n)
        return;
    for (int k = 0; k <= 16; k++)
        line[k] = k;
    for (int a = 0; a < 16; a++) {
        int corner = line[0];

        line[0] = a + 1;
        for (int b = 0; b < 16; b++) {
            int same = (in[i * 32 + a] & 3) == (in[i * 32 + 16 + b] & 3);
            int best = corner + !same;

            corner = line[b + 1];
            best = min(best, min(corner, (int)line[b]) + 1);
            line[b + 1] = best;
        }
    }
    out[i] = line[16];
}
