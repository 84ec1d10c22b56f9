/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 1 --block 32 --arg int[32] --arg int[32]
__global__ void k(int *x, int *y){ int t=threadIdx.x, h=t&16; unsigned m= h ? 0xffff0000u : 0x0000ffffu; x[t]=2*t+1; __syncwarp(m); y[t]=x[h+(15-(t&15))]; }
