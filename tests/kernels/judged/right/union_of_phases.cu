/* SPDX-License-Identifier: Apache-2.0 */
/* Two phases use one place, with a barrier between them. */
// RUN --grid 1 --block 64 --arg float[64]=index --arg double[64]
__global__ void k(const float *x, double *y)
{
    __shared__ union {
        float values[64];
        struct {
            unsigned char digit[64];
            double wide[64];
        } other;
    } s;
    int t = threadIdx.x;
    s.values[t] = x[t];
    __syncthreads();
    float v = s.values[t ^ 37];
    __syncthreads();
    s.other.digit[t] = (unsigned char)v;
    s.other.wide[t] = v * 0.5;
    __syncthreads();
    y[t] = s.other.wide[63 - t] + s.other.digit[t ^ 1];
}
