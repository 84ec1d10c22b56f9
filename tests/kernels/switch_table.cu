/* SPDX-License-Identifier: Apache-2.0 */
/* A switch that becomes a table of branches. */
extern "C" __global__ void switch_table(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];

    if (i >= n)
        return;
    switch (i % 9) {
    case 0: out[i] = x; break;
    case 1: out[i] = x * x; break;
    case 2: out[i] = in[0] + atomicAdd(&out[n], 1) * 0 - 5; break;
    case 3: out[i] = x / 3; break;
    case 4: for (int k = 0; k < x; k++) out[i] += k; break;
    case 5: out[i] = x % 10; break;
    case 6: out[i] = ~x; break;
    case 7: out[i] = __popc(x); break;
    default: out[i] = -1;
    }
}
