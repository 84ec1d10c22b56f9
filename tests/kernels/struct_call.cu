/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that take and return a structure, with an array inside. */
struct polynomial {
    float factor[5];
    int degree;
};

static __device__ __noinline__ struct polynomial derived(struct polynomial p)
{
    for (int i = 1; i <= p.degree; i++)
        p.factor[i - 1] = i * p.factor[i];
    p.degree--;
    return p;
}

static __device__ __noinline__ float value_of(const struct polynomial *p, float x)
{
    float sum = 0;

    for (int i = p->degree; i >= 0; i--)
        sum = sum * x + p->factor[i];
    return sum;
}

extern "C" __global__ void struct_call(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    struct polynomial p;

    if (i >= n)
        return;
    for (int k = 0; k < 5; k++)
        p.factor[k] = in[k];
    p.degree = 4 - i % 3;
    p = derived(p);
    out[i] = value_of(&p, in[i]);
    p = derived(p);
    out[i] += value_of(&p, in[i]);
}
