/* SPDX-License-Identifier: Apache-2.0 */
/* Primes below n, a thread per candidate; the answer is 1 for a prime. */
extern "C" __global__ void sieve(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool prime = i > 1;

    if (i >= n)
        return;
    for (int d = 2; d * d <= i && prime; d++)
        prime = i % d != 0;
    out[i] = prime;
}
