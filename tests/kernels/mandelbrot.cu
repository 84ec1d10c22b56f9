/* SPDX-License-Identifier: Apache-2.0 */
/* Iterations until a point of the plane leaves the circle of radius 2. */
extern "C" __global__ void mandelbrot(int *out, const int *in, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    double re = -2.0 + 3.0 * col / n, im = -1.5 + 3.0 * row / n, x = 0, y = 0;
    int count = 0;

    if (col >= n || row >= n)
        return;
    while (count < 100 && __dadd_rn(__dmul_rn(x, x), __dmul_rn(y, y)) <= 4.0) {
        double next = __dadd_rn(__dadd_rn(__dmul_rn(x, x), -__dmul_rn(y, y)), re);

        y = __dadd_rn(__dmul_rn(2 * x, y), im);
        x = next;
        count++;
    }
    out[row * n + col] = count;
}
