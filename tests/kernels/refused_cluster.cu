/* SPDX-License-Identifier: Apache-2.0 */
/* A barrier of a cluster. */
extern "C" __global__ void refused_cluster(int *out, const int *in, int n)
{
    asm volatile("barrier.cluster.arrive.aligned;"); //!
    out[threadIdx.x] = in[threadIdx.x];
}
