/* SPDX-License-Identifier: Apache-2.0 */
/* Slow kernels and their repairs, for tests of advice. A kernel NAME has a fault or two. Each NAME_REPAIR is
 * the same work with one of them repaired. The comment before a kernel launches it. */

/* ---- global memory ---- */

/* --grid 128,512 --block 32,8 --arg float[1<<24] --arg float[1<<24] --arg int=4096 */
__global__ void turn(float *to, const float *from, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;

    to[x * n + y] = from[y * n + x];
}

/* --grid 128,128 --block 32,8 --arg float[1<<24] --arg float[1<<24] --arg int=4096 */
__global__ void turn_coalesce(float *to, const float *from, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;

    for (int i = threadIdx.y; i < 32; i += 8)
        tile[i][threadIdx.x] = from[(y + i) * n + x + threadIdx.x];
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8)
        to[(x + i) * n + y + threadIdx.x] = tile[threadIdx.x][i];
}

/* --grid 128,128 --block 32,8 --arg float[1<<24] --arg float[1<<24] --arg int=4096 */
__global__ void turn_unroll(float *to, const float *from, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    float own[4];

    for (int i = 0; i < 4; i++)
        own[i] = from[(y + i * 8) * n + x];
    for (int i = 0; i < 4; i++)
        to[x * n + y + i * 8] = own[i];
}

/* --grid 512,128 --block 8,32 --arg float[1<<24] --arg float[1<<24] --arg int=4096 */
__global__ void short_rows(float *to, const float *from, int n)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

    to[x * n + y] = from[y * n + x];
}

/* --grid 128,128 --block 32,8 --arg float[1<<24] --arg float[1<<24] --arg int=4096 */
__global__ void short_rows_coalesce(float *to, const float *from, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;

    for (int i = threadIdx.y; i < 32; i += 8)
        tile[i][threadIdx.x] = from[(y + i) * n + x + threadIdx.x];
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8)
        to[(x + i) * n + y + threadIdx.x] = tile[threadIdx.x][i];
}

/* --grid 128,512 --block 32,8 --arg char[1<<24] --arg char[1<<24] --arg int=4096 */
__global__ void turn_bytes(char *to, const char *from, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;

    to[x * n + y] = from[y * n + x];
}

/* --grid 128,128 --block 32,8 --arg char[1<<24] --arg char[1<<24] --arg int=4096 */
__global__ void turn_bytes_coalesce(char *to, const char *from, int n)
{
    __shared__ char tile[32][36];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;

    for (int i = threadIdx.y; i < 32; i += 8)
        tile[i][threadIdx.x] = from[(y + i) * n + x + threadIdx.x];
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8)
        to[(x + i) * n + y + threadIdx.x] = tile[threadIdx.x][i];
}

/* --grid 32,512 --block 32,8 --arg char[1<<24] --arg char[1<<24] --arg int=4096 */
__global__ void turn_bytes_vectors(char *to, const char *from, int n)
{
    int x = (blockIdx.x * 32 + threadIdx.x) * 4, y = blockIdx.y * 8 + threadIdx.y;
    char4 own = *reinterpret_cast<const char4 *>(from + y * n + x);

    to[x * n + y] = own.x;
    to[(x + 1) * n + y] = own.y;
    to[(x + 2) * n + y] = own.z;
    to[(x + 3) * n + y] = own.w;
}

struct particle {
    float x, y, z, mass, u, v, w, age;
};

/* --grid 8192 --block 256 --arg float[1<<24] --arg float[1<<21] */
__global__ void masses(const particle *all, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;

    out[i] = all[i].mass * 2;
}

/* --grid 8192 --block 256 --arg float[1<<24] --arg float[1<<21] */
__global__ void masses_coalesce(const float *mass, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;

    out[i] = mass[i] * 2;
}

/* --grid 2048 --block 256 --arg float[1<<24] --arg float[1<<21] */
__global__ void masses_unroll(const particle *all, float *out)
{
    int i = blockIdx.x * 1024 + threadIdx.x;
    float own[4];

    for (int k = 0; k < 4; k++)
        own[k] = all[i + k * 256].mass;
    for (int k = 0; k < 4; k++)
        out[i + k * 256] = own[k] * 2;
}

/* --grid 32 --block 128 --arg float[1<<24] --arg float[1<<12] --arg int=4096 */
__global__ void row_sums(const float *x, float *sums, int n)
{
    int row = blockIdx.x * 128 + threadIdx.x;
    float sum = 0;

    for (int i = 0; i < n; i++)
        sum += x[row * n + i];
    sums[row] = sum;
}

/* --grid 512 --block 256 --arg float[1<<24] --arg float[1<<12] --arg int=4096 */
__global__ void row_sums_coalesce(const float *x, float *sums, int n)
{
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    float sum = 0;

    for (int i = threadIdx.x % 32; i < n; i += 32)
        sum += x[row * n + i];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        sums[row] = sum;
}

/* --grid 128 --block 32 --arg float[1<<24] --arg float[1<<12] --arg int=4096 */
__global__ void row_sums_tail(const float *x, float *sums, int n)
{
    int row = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;

    for (int i = 0; i < n; i++)
        sum += x[row * n + i];
    sums[row] = sum;
}

/* --grid 32 --block 128 --arg float[1<<24] --arg float[1<<12] --arg int=4096 */
__global__ void row_sums_vectors(const float *x, float *sums, int n)
{
    int row = blockIdx.x * 128 + threadIdx.x;
    float sum = 0;

    for (int i = 0; i < n; i += 4) {
        float4 own = *reinterpret_cast<const float4 *>(x + row * n + i);
        sum += own.x + own.y + own.z + own.w;
    }
    sums[row] = sum;
}

/* --grid 65536 --block 256 --arg char[1<<24] --arg char[1<<24] */
__global__ void copy_bytes(char *to, const char *from)
{
    int i = blockIdx.x * 256 + threadIdx.x;

    to[i] = from[i];
}

/* --grid 4096 --block 256 --arg char[1<<24] --arg char[1<<24] */
__global__ void copy_bytes_vectors(uint4 *to, const uint4 *from)
{
    int i = blockIdx.x * 256 + threadIdx.x;

    to[i] = from[i];
}

/* --grid 16384 --block 256 --arg char[1<<24] --arg char[1<<24] */
__global__ void copy_bytes_unroll(char *to, const char *from)
{
    int i = blockIdx.x * 1024 + threadIdx.x;
    char own[4];

    for (int k = 0; k < 4; k++)
        own[k] = from[i + k * 256];
    for (int k = 0; k < 4; k++)
        to[i + k * 256] = own[k];
}

/* --grid 65536 --block 256 --arg short[1<<24] --arg short[1<<24] */
__global__ void add_one(short *to, const short *from)
{
    int i = blockIdx.x * 256 + threadIdx.x;

    to[i] = from[i] + 1;
}

/* --grid 8192 --block 256 --arg short[1<<24] --arg short[1<<24] */
__global__ void add_one_vectors(short *to, const short *from)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    union {
        uint4 whole;
        short part[8];
    } own;

    own.whole = reinterpret_cast<const uint4 *>(from)[i];
    for (int k = 0; k < 8; k++)
        own.part[k] += 1;
    reinterpret_cast<uint4 *>(to)[i] = own.whole;
}

/* --grid 16384 --block 256 --arg short[1<<24] --arg short[1<<24] */
__global__ void add_one_unroll(short *to, const short *from)
{
    int i = blockIdx.x * 1024 + threadIdx.x;
    short own[4];

    for (int k = 0; k < 4; k++)
        own[k] = from[i + k * 256];
    for (int k = 0; k < 4; k++)
        to[i + k * 256] = own[k] + 1;
}

/* --grid 32768 --block 256 --arg float[1<<24] --arg float[1<<23] */
__global__ void real_parts(const float *z, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;

    out[i] = z[2 * i];
}

/* --grid 32768 --block 256 --arg float[1<<24] --arg float[1<<23] */
__global__ void real_parts_coalesce(const float *z, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;

    out[i] = z[i];
}

/* --grid 8192 --block 256 --arg float[1<<24] --arg float[1<<23] */
__global__ void real_parts_unroll(const float *z, float *out)
{
    int i = blockIdx.x * 1024 + threadIdx.x;
    float own[4];

    for (int k = 0; k < 4; k++)
        own[k] = z[2 * (i + k * 256)];
    for (int k = 0; k < 4; k++)
        out[i + k * 256] = own[k];
}

/* --grid 16,2048 --block 2,128 --arg float[1<<23] --arg float[1<<23] --arg int=32 */
__global__ void by_columns(float *to, const float *from, int n)
{
    int x = blockIdx.x * 2 + threadIdx.x, y = blockIdx.y * 128 + threadIdx.y;

    to[y * n + x] = from[y * n + x] + 1;
}

/* --grid 1,32768 --block 32,8 --arg float[1<<23] --arg float[1<<23] --arg int=32 */
__global__ void by_columns_coalesce(float *to, const float *from, int n)
{
    int x = threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;

    to[y * n + x] = from[y * n + x] + 1;
}

/* --grid 16,512 --block 2,128 --arg float[1<<23] --arg float[1<<23] --arg int=32 */
__global__ void by_columns_unroll(float *to, const float *from, int n)
{
    int x = blockIdx.x * 2 + threadIdx.x, y = blockIdx.y * 512 + threadIdx.y;
    float own[4];

    for (int i = 0; i < 4; i++)
        own[i] = from[(y + i * 128) * n + x];
    for (int i = 0; i < 4; i++)
        to[(y + i * 128) * n + x] = own[i] + 1;
}

/* ---- shared memory ---- */

/* --grid 128,128 --block 32,32 --arg float[1<<24] --arg float[1<<24] --arg int=4096 */
__global__ void tile(float *to, const float *from, int n)
{
    __shared__ float own[32][32];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;

    own[threadIdx.y][threadIdx.x] = from[(y + threadIdx.y) * n + x + threadIdx.x];
    __syncthreads();
    to[(x + threadIdx.y) * n + y + threadIdx.x] = own[threadIdx.x][threadIdx.y];
}

/* --grid 128,128 --block 32,32 --arg float[1<<24] --arg float[1<<24] --arg int=4096 */
__global__ void tile_conflicts(float *to, const float *from, int n)
{
    __shared__ float own[32][33];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;

    own[threadIdx.y][threadIdx.x] = from[(y + threadIdx.y) * n + x + threadIdx.x];
    __syncthreads();
    to[(x + threadIdx.y) * n + y + threadIdx.x] = own[threadIdx.x][threadIdx.y];
}

/* --grid 128,128 --block 32,8 --arg float[1<<24] --arg float[1<<24] --arg int=4096 */
__global__ void tile_unroll(float *to, const float *from, int n)
{
    __shared__ float own[32][32];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;
    float read[4];

    for (int i = 0; i < 4; i++)
        read[i] = from[(y + threadIdx.y + i * 8) * n + x + threadIdx.x];
    for (int i = 0; i < 4; i++)
        own[threadIdx.y + i * 8][threadIdx.x] = read[i];
    __syncthreads();
    for (int i = 0; i < 4; i++)
        to[(x + threadIdx.y + i * 8) * n + y + threadIdx.x] = own[threadIdx.x][threadIdx.y + i * 8];
}

/* --grid 128,128 --block 8,32 --arg float[1<<24] --arg float[1<<24] --arg int=4096 */
__global__ void tile_vectors(float *to, const float *from, int n)
{
    __shared__ float own[32][32];
    int x = blockIdx.x * 32, y = blockIdx.y * 32, k = threadIdx.x * 4, i = threadIdx.y;

    *reinterpret_cast<float4 *>(&own[i][k]) = *reinterpret_cast<const float4 *>(&from[(y + i) * n + x + k]);
    __syncthreads();
    *reinterpret_cast<float4 *>(&to[(x + i) * n + y + k]) =
        make_float4(own[k][i], own[k + 1][i], own[k + 2][i], own[k + 3][i]);
}

/* --grid 128,128 --block 16,16 --arg double[1<<24] --arg double[1<<24] --arg int=4096 */
__global__ void wide_tile(double *to, const double *from, int n)
{
    __shared__ double own[32][32];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;

    for (int i = threadIdx.y; i < 32; i += 16)
        for (int k = threadIdx.x; k < 32; k += 16)
            own[i][k] = from[(y + i) * n + x + k];
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 16)
        for (int k = threadIdx.x; k < 32; k += 16)
            to[(x + i) * n + y + k] = own[k][i];
}

/* --grid 128,128 --block 16,16 --arg double[1<<24] --arg double[1<<24] --arg int=4096 */
__global__ void wide_tile_conflicts(double *to, const double *from, int n)
{
    __shared__ double own[32][33];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;

    for (int i = threadIdx.y; i < 32; i += 16)
        for (int k = threadIdx.x; k < 32; k += 16)
            own[i][k] = from[(y + i) * n + x + k];
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 16)
        for (int k = threadIdx.x; k < 32; k += 16)
            to[(x + i) * n + y + k] = own[k][i];
}

/* --grid 128,128 --block 32,32 --arg double[1<<24] --arg double[1<<24] --arg int=4096 */
__global__ void wide_tile_coalesce(double *to, const double *from, int n)
{
    __shared__ double own[32][32];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;

    own[threadIdx.y][threadIdx.x] = from[(y + threadIdx.y) * n + x + threadIdx.x];
    __syncthreads();
    to[(x + threadIdx.y) * n + y + threadIdx.x] = own[threadIdx.x][threadIdx.y];
}

/* --grid 2048 --block 256 --arg float[1<<19] --arg float[1<<19] */
__global__ void strided_scan(float *to, const float *from)
{
    __shared__ float own[256 * 16];
    int first = blockIdx.x * 256 + threadIdx.x;

    for (int i = 0; i < 16; i++)
        own[threadIdx.x * 16 + i] = from[first] + i;
    __syncthreads();
    float sum = 0;
    for (int r = 0; r < 8; r++)
        for (int i = 0; i < 16; i++)
            sum += own[threadIdx.x * 16 + (i + r) % 16];
    to[first] = sum;
}

/* --grid 2048 --block 256 --arg float[1<<19] --arg float[1<<19] */
__global__ void strided_scan_conflicts(float *to, const float *from)
{
    __shared__ float own[256 * 17];
    int first = blockIdx.x * 256 + threadIdx.x;

    for (int i = 0; i < 16; i++)
        own[threadIdx.x * 17 + i] = from[first] + i;
    __syncthreads();
    float sum = 0;
    for (int r = 0; r < 8; r++)
        for (int i = 0; i < 16; i++)
            sum += own[threadIdx.x * 17 + (i + r) % 16];
    to[first] = sum;
}

/* --grid 512 --block 256 --arg float[1<<19] --arg float[1<<19] */
__global__ void strided_scan_vectors(float4 *to, const float4 *from)
{
    __shared__ float own[256 * 16];
    int first = blockIdx.x * 256 + threadIdx.x;
    float4 x = from[first], sum;

    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 16; i++)
            own[threadIdx.x * 16 + i] = (&x.x)[k] + i;
        (&sum.x)[k] = 0;
        for (int r = 0; r < 8; r++)
            for (int i = 0; i < 16; i++)
                (&sum.x)[k] += own[threadIdx.x * 16 + (i + r) % 16];
    }
    to[first] = sum;
}

/* ---- in flight ---- */

/* --grid 132 --block 256 --arg float[1<<24] --arg float[1<<24] --arg int=4096 */
__global__ void column_sums(float *sums, const float *x, int n)
{
    int column = blockIdx.x * 256 + threadIdx.x;
    float sum = 0;

    if (column >= n)
        return;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum += x[i * n + column];
    sums[column] = sum;
}

/* --grid 132 --block 256 --arg float[1<<24] --arg float[1<<24] --arg int=4096 */
__global__ void column_sums_unroll(float *sums, const float *x, int n)
{
    int column = blockIdx.x * 256 + threadIdx.x;
    float sum = 0;

    if (column >= n)
        return;
#pragma unroll 1
    for (int i = 0; i < n; i += 8) {
        float own[8];

#pragma unroll
        for (int k = 0; k < 8; k++)
            own[k] = x[(i + k) * n + column];
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += own[k];
    }
    sums[column] = sum;
}

/* --grid 128 --block 32 --arg float[1<<24] --arg float[1<<24] --arg int=4096 */
__global__ void column_sums_tail(float *sums, const float *x, int n)
{
    int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;

#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum += x[i * n + column];
    sums[column] = sum;
}

/* --grid 264 --block 128 --arg float[1<<24] --arg float[1<<24] --arg int=1<<24 */
__global__ void long_walk(float *to, const float *from, int n)
{
#pragma unroll 1
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)
        to[i] = from[i] + 1;
}

/* --grid 264 --block 128 --arg float[1<<24] --arg float[1<<24] --arg int=1<<24 */
__global__ void long_walk_unroll(float *to, const float *from, int n)
{
    int step = gridDim.x * 128;

#pragma unroll 1
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 4 * step) {
        float own[4];

#pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * step < n)
                own[k] = from[i + k * step];
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * step < n)
                to[i + k * step] = own[k] + 1;
    }
}

/* --grid 264 --block 128 --arg float[1<<24] --arg float[1<<24] --arg int=1<<22 */
__global__ void long_walk_vectors(float4 *to, const float4 *from, int n)
{
#pragma unroll 1
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {
        float4 own = from[i];

        own.x += 1, own.y += 1, own.z += 1, own.w += 1;
        to[i] = own;
    }
}

/* --grid 8192 --block 32 --arg float[1<<23] --arg float[1<<23] */
__global__ void small_blocks(float *to, const float *from)
{
    int i = blockIdx.x * 1024 + threadIdx.x;
    float sum = 0;

#pragma unroll 1
    for (int k = 0; k < 32; k++) {
        sum += from[i + k * 32];
        to[i + k * 32] = sum;
    }
}

/* --grid 1024 --block 256 --arg float[1<<23] --arg float[1<<23] */
__global__ void small_blocks_occupancy(float *to, const float *from)
{
    int i = (blockIdx.x * 8 + threadIdx.x / 32) * 1024 + threadIdx.x % 32;
    float sum = 0;

#pragma unroll 1
    for (int k = 0; k < 32; k++) {
        sum += from[i + k * 32];
        to[i + k * 32] = sum;
    }
}

/* --grid 8192 --block 32 --arg float[1<<23] --arg float[1<<23] */
__global__ void small_blocks_unroll(float *to, const float *from)
{
    int i = blockIdx.x * 1024 + threadIdx.x;
    float sum = 0;

#pragma unroll 1
    for (int k = 0; k < 32; k += 4) {
        float own[4];

#pragma unroll
        for (int m = 0; m < 4; m++)
            own[m] = from[i + (k + m) * 32];
#pragma unroll
        for (int m = 0; m < 4; m++) {
            sum += own[m];
            to[i + (k + m) * 32] = sum;
        }
    }
}

/* --grid 8192 --block 32 --arg float[1<<23] --arg float[1<<23] */
__global__ void small_blocks_vectors(float4 *to, const float4 *from)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 sum = make_float4(0, 0, 0, 0);

#pragma unroll 1
    for (int k = 0; k < 8; k++) {
        float4 x = from[i + k * 32];

        sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
        to[i + k * 32] = sum;
    }
}

/* --grid 4096 --block 128 --shared 98304 --arg float[1<<24] --arg float[1<<24] */
__global__ void big_tile(float *to, const float *from)
{
    extern __shared__ float own[];
    int first = blockIdx.x * 4096 + threadIdx.x;

#pragma unroll 1
    for (int i = 0; i < 32; i++)
        own[threadIdx.x + i * 128] = from[first + i * 128];
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < 32; i++)
        to[first + i * 128] = own[(threadIdx.x ^ 1) + i * 128];
}

/* --grid 4096 --block 128 --shared 16384 --arg float[1<<24] --arg float[1<<24] */
__global__ void big_tile_occupancy(float *to, const float *from)
{
    extern __shared__ float own[];
    int first = blockIdx.x * 4096 + threadIdx.x;

#pragma unroll 1
    for (int i = 0; i < 32; i++)
        own[threadIdx.x + i * 128] = from[first + i * 128];
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < 32; i++)
        to[first + i * 128] = own[(threadIdx.x ^ 1) + i * 128];
}

/* --grid 4096 --block 128 --shared 98304 --arg float[1<<24] --arg float[1<<24] */
__global__ void big_tile_unroll(float *to, const float *from)
{
    extern __shared__ float own[];
    int first = blockIdx.x * 4096 + threadIdx.x;

#pragma unroll 1
    for (int i = 0; i < 32; i += 4) {
        float read[4];

#pragma unroll
        for (int k = 0; k < 4; k++)
            read[k] = from[first + (i + k) * 128];
#pragma unroll
        for (int k = 0; k < 4; k++)
            own[threadIdx.x + (i + k) * 128] = read[k];
    }
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < 32; i++)
        to[first + i * 128] = own[(threadIdx.x ^ 1) + i * 128];
}

/* ---- grids ---- */

/* --grid 24 --block 1024 --arg float[1<<24] --arg float[1<<24] --arg int=1<<24 */
__global__ void few_blocks(float *to, const float *from, int n)
{
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024)
        to[i] = from[i] * 2;
}

/* --grid 264 --block 1024 --arg float[1<<24] --arg float[1<<24] --arg int=1<<24 */
__global__ void few_blocks_tail(float *to, const float *from, int n)
{
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024)
        to[i] = from[i] * 2;
}

/* --grid 24 --block 1024 --arg float[1<<24] --arg float[1<<24] --arg int=1<<22 */
__global__ void few_blocks_vectors(float4 *to, const float4 *from, int n)
{
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) {
        float4 own = from[i];

        own.x *= 2, own.y *= 2, own.z *= 2, own.w *= 2;
        to[i] = own;
    }
}

/* --grid 280 --block 1024 --arg float[280<<10] --arg float[280<<10] */
__global__ void one_more_wave(float *to, const float *from)
{
    int i = blockIdx.x * 1024 + threadIdx.x;
    float x = from[i];

    for (int k = 0; k < 4000; k++)
        x = x * 1.0001f + 0.5f;
    to[i] = x;
}

/* --grid 1120 --block 256 --arg float[280<<10] --arg float[280<<10] */
__global__ void one_more_wave_tail(float *to, const float *from)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float x = from[i];

    for (int k = 0; k < 4000; k++)
        x = x * 1.0001f + 0.5f;
    to[i] = x;
}

/* --grid 70 --block 1024 --arg float[280<<10] --arg float[280<<10] */
__global__ void one_more_wave_vectors(float4 *to, const float4 *from)
{
    int i = blockIdx.x * 1024 + threadIdx.x;
    float4 x = from[i];

    for (int k = 0; k < 4000; k++) {
        x.x = x.x * 1.0001f + 0.5f;
        x.y = x.y * 1.0001f + 0.5f;
        x.z = x.z * 1.0001f + 0.5f;
        x.w = x.w * 1.0001f + 0.5f;
    }
    to[i] = x;
}

/* ---- registers and atomics ---- */

/* --grid 4096 --block 256 --arg float[1<<20] --arg float[1<<20] --arg int=3 */
__global__ void local_array(float *to, const float *from, int turn)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float own[32], sum = 0, x = from[i];

    for (int k = 0; k < 32; k++)
        own[(k * turn) % 32] = x + k;
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < 32; k++)
            sum += own[(k + r * turn) % 32];
    to[i] = sum;
}

/* --grid 4096 --block 256 --arg float[1<<20] --arg float[1<<20] --arg int=3 */
__global__ void local_array_registers(float *to, const float *from, int)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float own[32], sum = 0, x = from[i];

#pragma unroll
    for (int k = 0; k < 32; k++)
        own[(k * 3) % 32] = x + k;
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int k = 0; k < 32; k++)
            sum += own[(k + r * 3) % 32];
    to[i] = sum;
}

/* --grid 1024 --block 256 --arg float[1<<20] --arg float[1<<20] --arg int=3 */
__global__ void local_array_unroll(float *to, const float *from, int turn)
{
    int i = blockIdx.x * 1024 + threadIdx.x;
    float x[4];

    for (int m = 0; m < 4; m++)
        x[m] = from[i + m * 256];
    for (int m = 0; m < 4; m++) {
        float own[32], sum = 0;

        for (int k = 0; k < 32; k++)
            own[(k * turn) % 32] = x[m] + k;
        for (int r = 0; r < 4; r++)
            for (int k = 0; k < 32; k++)
                sum += own[(k + r * turn) % 32];
        to[i + m * 256] = sum;
    }
}

/* --grid 4096 --block 256 --arg float[1<<20] --arg float[1] */
__global__ void sum_all(const float *x, float *sum)
{
    atomicAdd(sum, x[blockIdx.x * 256 + threadIdx.x]);
}

/* --grid 4096 --block 256 --arg float[1<<20] --arg float[1] */
__global__ void sum_all_atomics(const float *x, float *sum)
{
    float own = x[blockIdx.x * 256 + threadIdx.x];

    for (int d = 16; d > 0; d /= 2)
        own += __shfl_down_sync(~0u, own, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, own);
}

/* --grid 1024 --block 256 --arg float[1<<20] --arg float[1] */
__global__ void sum_all_vectors(const float4 *x, float *sum)
{
    float4 own = x[blockIdx.x * 256 + threadIdx.x];

    atomicAdd(sum, own.x);
    atomicAdd(sum, own.y);
    atomicAdd(sum, own.z);
    atomicAdd(sum, own.w);
}

/* --grid 16384 --block 256 --arg char[1<<22]=index%7 --arg int[256] */
__global__ void histogram(const unsigned char *x, int *bins)
{
    atomicAdd(&bins[x[blockIdx.x * 256 + threadIdx.x]], 1);
}

/* --grid 16384 --block 256 --arg char[1<<22]=index%7 --arg int[256] */
__global__ void histogram_atomics(const unsigned char *x, int *bins)
{
    __shared__ int own[256];

    own[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&own[x[blockIdx.x * 256 + threadIdx.x]], 1);
    __syncthreads();
    if (own[threadIdx.x])
        atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

/* --grid 4096 --block 256 --arg char[1<<22]=index%7 --arg int[256] */
__global__ void histogram_vectors(const uchar4 *x, int *bins)
{
    uchar4 own = x[blockIdx.x * 256 + threadIdx.x];

    atomicAdd(&bins[own.x], 1);
    atomicAdd(&bins[own.y], 1);
    atomicAdd(&bins[own.z], 1);
    atomicAdd(&bins[own.w], 1);
}

/* ---- branches, and loads that stores hold up ---- */

__device__ float polynomial(float x, int steps)
{
    for (int k = 0; k < steps; k++)
        x = x * 0.99f + 0.25f;
    return x;
}

__device__ float quotients(float x, int steps)
{
    for (int k = 0; k < steps; k++)
        x = 1.0f / (x + 1.5f);
    return x;
}

/* --grid 4096 --block 256 --arg float[1<<20] --arg float[1<<20] */
__global__ void odd_lanes(float *to, const float *from)
{
    int i = blockIdx.x * 256 + threadIdx.x;

    to[i] = i % 2 ? polynomial(from[i], 500) : quotients(from[i], 100);
}

/* --grid 4096 --block 256 --arg float[1<<20] --arg float[1<<20] */
__global__ void odd_lanes_divergence(float *to, const float *from)
{
    int i = blockIdx.x * 256 + threadIdx.x % 128 * 2 + threadIdx.x / 128;

    to[i] = i % 2 ? polynomial(from[i], 500) : quotients(from[i], 100);
}

/* --grid 1024 --block 256 --arg float[1<<20] --arg float[1<<20] */
__global__ void odd_lanes_vectors(float4 *to, const float4 *from)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 x = from[i];

    x.x = quotients(x.x, 100);
    x.y = polynomial(x.y, 500);
    x.z = quotients(x.z, 100);
    x.w = polynomial(x.w, 500);
    to[i] = x;
}

/* --grid 2048 --block 256 --arg float[1<<19] --arg float[1<<19] */
__global__ void eight_cases(float *to, const float *from)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float x = from[i];

    for (int k = 0; k < 40; k++)
        switch (threadIdx.x % 8) {
        case 0: x = polynomial(x, 8); break;
        case 1: x = quotients(x, 3); break;
        case 2: x = sqrtf(polynomial(x, 4) + 2); break;
        case 3: x = x * x - polynomial(x * 0.5f, 6); break;
        case 4: x = quotients(x * 0.25f, 4); break;
        case 5: x = polynomial(x + 1, 9); break;
        case 6: x = sqrtf(quotients(x, 2) + 3); break;
        default: x = 1 - polynomial(x, 7);
        }
    to[i] = x;
}

/* --grid 2048 --block 256 --arg float[1<<19] --arg float[1<<19] */
__global__ void eight_cases_divergence(float *to, const float *from)
{
    int lane = threadIdx.x / 32 + threadIdx.x % 32 * 8, i = blockIdx.x * 256 + lane;
    float x = from[i];

    for (int k = 0; k < 40; k++)
        switch (lane % 8) {
        case 0: x = polynomial(x, 8); break;
        case 1: x = quotients(x, 3); break;
        case 2: x = sqrtf(polynomial(x, 4) + 2); break;
        case 3: x = x * x - polynomial(x * 0.5f, 6); break;
        case 4: x = quotients(x * 0.25f, 4); break;
        case 5: x = polynomial(x + 1, 9); break;
        case 6: x = sqrtf(quotients(x, 2) + 3); break;
        default: x = 1 - polynomial(x, 7);
        }
    to[i] = x;
}

/* --grid 1024 --block 512 --arg float[1<<19] --arg float[1<<19] */
__global__ void eight_cases_occupancy(float *to, const float *from)
{
    int i = blockIdx.x * 512 + threadIdx.x;
    float x = from[i];

    for (int k = 0; k < 40; k++)
        switch (threadIdx.x % 8) {
        case 0: x = polynomial(x, 8); break;
        case 1: x = quotients(x, 3); break;
        case 2: x = sqrtf(polynomial(x, 4) + 2); break;
        case 3: x = x * x - polynomial(x * 0.5f, 6); break;
        case 4: x = quotients(x * 0.25f, 4); break;
        case 5: x = polynomial(x + 1, 9); break;
        case 6: x = sqrtf(quotients(x, 2) + 3); break;
        default: x = 1 - polynomial(x, 7);
        }
    to[i] = x;
}

/* --grid 264 --block 256 --arg float[1<<24] --arg float[1<<24] --arg float[16]=index */
__global__ void factors(float *to, float *from, float *factor)
{
    int first = blockIdx.x * 256 + threadIdx.x, step = gridDim.x * 256;

    for (int i = first; i < 1 << 24; i += step)
        to[i] = from[i] * factor[0] + factor[1];
}

/* --grid 264 --block 256 --arg float[1<<24] --arg float[1<<24] --arg float[16]=index */
__global__ void factors_restrict(float *__restrict__ to, const float *__restrict__ from,
                                 const float *__restrict__ factor)
{
    int first = blockIdx.x * 256 + threadIdx.x, step = gridDim.x * 256;

    for (int i = first; i < 1 << 24; i += step)
        to[i] = from[i] * factor[0] + factor[1];
}

/* --grid 264 --block 256 --arg float[1<<24] --arg float[1<<24] --arg float[16]=index */
__global__ void factors_unroll(float *to, float *from, float *factor)
{
    int first = blockIdx.x * 256 + threadIdx.x, step = gridDim.x * 256;

    for (int i = first; i < 1 << 24; i += 4 * step) {
        float own[4];

#pragma unroll
        for (int k = 0; k < 4; k++)
            own[k] = i + k * step < 1 << 24 ? from[i + k * step] : 0;
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * step < 1 << 24)
                to[i + k * step] = own[k] * factor[0] + factor[1];
    }
}

/* --grid 528 --block 128 --arg float[1<<24] --arg float[1<<24] --arg float[16]=index */
__global__ void factors_tail(float *to, float *from, float *factor)
{
    int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128;

    for (int i = first; i < 1 << 24; i += step)
        to[i] = from[i] * factor[0] + factor[1];
}

/* --grid 256 --block 128 --arg float[1<<24] --arg float[1<<24] --arg float[16]=index */
__global__ void filter(float *to, const float *from, const float *weights)
{
    int i = blockIdx.x * 128 + threadIdx.x;

    for (int k = 0; k < 512; k++)
        to[i + k * 32768] = from[i + k * 32768] * weights[0] + from[(i ^ 1) + k * 32768] * weights[1];
}

/* --grid 256 --block 128 --arg float[1<<24] --arg float[1<<24] --arg float[16]=index */
__global__ void filter_restrict(float *__restrict__ to, const float *__restrict__ from,
                                const float *__restrict__ weights)
{
    int i = blockIdx.x * 128 + threadIdx.x;

    for (int k = 0; k < 512; k++)
        to[i + k * 32768] = from[i + k * 32768] * weights[0] + from[(i ^ 1) + k * 32768] * weights[1];
}

/* --grid 256 --block 128 --arg float[1<<24] --arg float[1<<24] --arg float[16]=index */
__global__ void filter_unroll(float *to, const float *from, const float *weights)
{
    int i = blockIdx.x * 128 + threadIdx.x;

    for (int k = 0; k < 512; k += 4) {
        float own[4], other[4];

#pragma unroll
        for (int m = 0; m < 4; m++) {
            own[m] = from[i + (k + m) * 32768];
            other[m] = from[(i ^ 1) + (k + m) * 32768];
        }
#pragma unroll
        for (int m = 0; m < 4; m++)
            to[i + (k + m) * 32768] = own[m] * weights[0] + other[m] * weights[1];
    }
}

/* --grid 128 --block 256 --arg float[1<<24] --arg float[1<<24] --arg float[16]=index */
__global__ void filter_occupancy(float *to, const float *from, const float *weights)
{
    int i = blockIdx.x * 256 + threadIdx.x;

    for (int k = 0; k < 512; k++)
        to[i + k * 32768] = from[i + k * 32768] * weights[0] + from[(i ^ 1) + k * 32768] * weights[1];
}

/* ---- two faults ---- */

/* --grid 64,64 --block 32,32 --arg double[1<<22] --arg double[1<<22] --arg int=2048 */
__global__ void tile_and_walk(double *to, const double *from, int n)
{
    __shared__ double own[32][32];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;

    own[threadIdx.x][threadIdx.y] = from[(y + threadIdx.x) * n + x + threadIdx.y];
    __syncthreads();
    to[(x + threadIdx.y) * n + y + threadIdx.x] = own[threadIdx.x][threadIdx.y];
}

/* --grid 64,64 --block 32,32 --arg double[1<<22] --arg double[1<<22] --arg int=2048 */
__global__ void tile_and_walk_coalesce(double *to, const double *from, int n)
{
    __shared__ double own[32][32];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;

    own[threadIdx.y][threadIdx.x] = from[(y + threadIdx.y) * n + x + threadIdx.x];
    __syncthreads();
    to[(x + threadIdx.y) * n + y + threadIdx.x] = own[threadIdx.x][threadIdx.y];
}

/* --grid 64,64 --block 32,32 --arg double[1<<22] --arg double[1<<22] --arg int=2048 */
__global__ void tile_and_walk_conflicts(double *to, const double *from, int n)
{
    __shared__ double own[32][33];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;

    own[threadIdx.x][threadIdx.y] = from[(y + threadIdx.x) * n + x + threadIdx.y];
    __syncthreads();
    to[(x + threadIdx.y) * n + y + threadIdx.x] = own[threadIdx.x][threadIdx.y];
}

/* --grid 4096 --block 32 --arg char[1<<24] --arg char[1<<24] */
__global__ void slow_bytes(char *to, const char *from)
{
    int i = blockIdx.x * 4096 + threadIdx.x;

#pragma unroll 1
    for (int k = 0; k < 128; k++)
        to[i + k * 32] = from[i + k * 32] + 1;
}

/* --grid 4096 --block 32 --arg char[1<<24] --arg char[1<<24] */
__global__ void slow_bytes_vectors(char4 *to, const char4 *from)
{
    int i = blockIdx.x * 1024 + threadIdx.x;

#pragma unroll 1
    for (int k = 0; k < 32; k++) {
        char4 x = from[i + k * 32];

        x.x++, x.y++, x.z++, x.w++;
        to[i + k * 32] = x;
    }
}

/* --grid 512 --block 256 --arg char[1<<24] --arg char[1<<24] */
__global__ void slow_bytes_occupancy(char *to, const char *from)
{
    int i = (blockIdx.x * 8 + threadIdx.x / 32) * 4096 + threadIdx.x % 32;

#pragma unroll 1
    for (int k = 0; k < 128; k++)
        to[i + k * 32] = from[i + k * 32] + 1;
}

/* --grid 2048 --block 256 --arg float[1<<22] --arg float[1] */
__global__ void strided_total(const float *x, float *sum)
{
    int i = blockIdx.x * 256 + threadIdx.x;

    atomicAdd(sum, x[i * 8]);
}

/* --grid 2048 --block 256 --arg float[1<<22] --arg float[1] */
__global__ void strided_total_atomics(const float *x, float *sum)
{
    float own = x[(blockIdx.x * 256 + threadIdx.x) * 8];

    for (int d = 16; d > 0; d /= 2)
        own += __shfl_down_sync(~0u, own, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, own);
}

/* --grid 2048 --block 256 --arg float[1<<22] --arg float[1] */
__global__ void strided_total_coalesce(const float *x, float *sum)
{
    atomicAdd(sum, x[blockIdx.x * 256 + threadIdx.x]);
}

/* --grid 30 --block 256 --arg float[1<<20] --arg float[1<<20] --arg int=1024 */
__global__ void few_columns(float *to, const float *from, int n)
{
    for (int row = blockIdx.x * 256 + threadIdx.x; row < n; row += gridDim.x * 256)
        for (int k = 0; k < n; k++)
            to[row * n + k] = from[row * n + k] + 1;
}

/* --grid 30 --block 256 --arg float[1<<20] --arg float[1<<20] --arg int=1024 */
__global__ void few_columns_coalesce(float *to, const float *from, int n)
{
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n * n; i += gridDim.x * 256)
        to[i] = from[i] + 1;
}

/* --grid 32 --block 32 --arg float[1<<20] --arg float[1<<20] --arg int=1024 */
__global__ void few_columns_tail(float *to, const float *from, int n)
{
    for (int row = blockIdx.x * 32 + threadIdx.x; row < n; row += gridDim.x * 32)
        for (int k = 0; k < n; k++)
            to[row * n + k] = from[row * n + k] + 1;
}

/* --grid 2048 --block 128 --arg float[1<<22] --arg float[1<<18] --arg int=5 */
__global__ void own_rows(const float *x, float *out, int turn)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float own[16], best = 0;

    for (int k = 0; k < 16; k++)
        own[k] = x[i * 16 + k];
    for (int k = 0; k < 16; k++)
        best = fmaxf(best, own[(k * turn) % 16] - own[k]);
    out[i] = best;
}

/* --grid 2048 --block 128 --arg float[1<<22] --arg float[1<<18] --arg int=5 */
__global__ void own_rows_registers(const float *x, float *out, int)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float own[16], best = 0;

#pragma unroll
    for (int k = 0; k < 16; k++)
        own[k] = x[i * 16 + k];
#pragma unroll
    for (int k = 0; k < 16; k++)
        best = fmaxf(best, own[(k * 5) % 16] - own[k]);
    out[i] = best;
}

/* --grid 2048 --block 128 --arg float[1<<22] --arg float[1<<18] --arg int=5 */
__global__ void own_rows_coalesce(const float *x, float *out, int turn)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float own[16], best = 0;

    for (int k = 0; k < 16; k++)
        own[k] = x[i + k * (1 << 18)];
    for (int k = 0; k < 16; k++)
        best = fmaxf(best, own[(k * turn) % 16] - own[k]);
    out[i] = best;
}

/* --grid 512 --block 64 --shared 49152 --arg float[1<<22] --arg float[1<<22] */
__global__ void big_strides(float *to, const float *from)
{
    extern __shared__ float own[];
    int first = blockIdx.x * 8192;

    for (int i = threadIdx.x; i < 8192; i += 64)
        own[i] = from[first + i];
    __syncthreads();
    for (int i = threadIdx.x; i < 8192; i += 64)
        to[first + i] = own[i % 256 * 32 + i / 256];
}

/* --grid 512 --block 64 --shared 49152 --arg float[1<<22] --arg float[1<<22] */
__global__ void big_strides_conflicts(float *to, const float *from)
{
    extern __shared__ float own[];
    int first = blockIdx.x * 8192;

    for (int i = threadIdx.x; i < 8192; i += 64)
        own[i + i / 32] = from[first + i];
    __syncthreads();
    for (int i = threadIdx.x; i < 8192; i += 64)
        to[first + i] = own[i % 256 * 33 + i / 256];
}

/* --grid 512 --block 64 --shared 49152 --arg float[1<<22] --arg float[1<<22] */
__global__ void big_strides_vectors(float *to, const float *from)
{
    extern __shared__ float own[];
    int first = blockIdx.x * 8192;

    for (int i = threadIdx.x * 4; i < 8192; i += 256)
        *reinterpret_cast<float4 *>(own + i) = *reinterpret_cast<const float4 *>(from + first + i);
    __syncthreads();
    for (int i = threadIdx.x * 4; i < 8192; i += 256) {
        const float *x = own + i % 256 * 32 + i / 256;

        *reinterpret_cast<float4 *>(to + first + i) = make_float4(x[0], x[32], x[64], x[96]);
    }
}

/* --grid 512 --block 512 --shared 49152 --arg float[1<<22] --arg float[1<<22] */
__global__ void big_strides_occupancy(float *to, const float *from)
{
    extern __shared__ float own[];
    int first = blockIdx.x * 8192;

    for (int i = threadIdx.x; i < 8192; i += 512)
        own[i] = from[first + i];
    __syncthreads();
    for (int i = threadIdx.x; i < 8192; i += 512)
        to[first + i] = own[i % 256 * 32 + i / 256];
}

/* --grid 140 --block 1024 --arg short[1<<24] --arg short[1<<24] */
__global__ void odd_waves(short *to, const short *from)
{
#pragma unroll 1
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < 1 << 24; i += 140 * 1024)
        to[i] = from[i] * 3;
}

/* --grid 140 --block 1024 --arg short[1<<24] --arg short[1<<24] */
__global__ void odd_waves_vectors(short4 *to, const short4 *from)
{
#pragma unroll 1
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < 1 << 22; i += 140 * 1024) {
        short4 x = from[i];

        x.x *= 3, x.y *= 3, x.z *= 3, x.w *= 3;
        to[i] = x;
    }
}

/* --grid 264 --block 1024 --arg short[1<<24] --arg short[1<<24] */
__global__ void odd_waves_tail(short *to, const short *from)
{
#pragma unroll 1
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < 1 << 24; i += 264 * 1024)
        to[i] = from[i] * 3;
}
