/* SPDX-License-Identifier: Apache-2.0 */
/* A loop that waits for nobody. */
extern "C" __global__ void fails_endless(int *out, const int *in, int n)
{
    volatile int *flag = out;

    while (*flag == 0) //!
        ;
    out[1] = in[0];
}
