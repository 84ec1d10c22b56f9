/* SPDX-License-Identifier: Apache-2.0 */
/* A lock that each thread takes once, and keeps while it counts. */
extern "C" __global__ void spin_lock(int *out, const int *in, int n)
{
    bool done = false;

    while (!done)
        if (atomicCAS(&out[0], 0, 1) == 0) {
            out[1] += in[threadIdx.x];
            __threadfence();
            atomicExch(&out[0], 0);
            done = true;
        }
}
