/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: the largest magnitude of a source, from a thread's elements to those of
 * the launch. */
namespace at
{

/* Has the device a maximum of two packed numbers? */
#if __CUDA_ARCH__ >= 800
constexpr bool has_packed_maximum = true;
#else
constexpr bool has_packed_maximum = false;
#endif

/* The largest magnitude among a thread's elements. Magnitudes are in the order of their bits, with
 * NaN above all others. NaN is ignored, or wins if it propagates. */
template <int number, bool propagates> struct largest_magnitude {
    static constexpr bool is_packed =
        (number == NUMBER_F16 || number == NUMBER_BF16) && has_packed_maximum;

    unsigned found = 0; /* bits of a float; or two packed numbers */

    __device__ __forceinline__ void take_float(float x)
    {
        found = propagates ? max(found, __float_as_uint(x) & 0x7fffffff)
                           : __float_as_uint(fmaxf(__uint_as_float(found), fabsf(x)));
    }
    __device__ __forceinline__ void take_pair(unsigned pair)
    {
        pair &= 0x7fff7fff;
        if constexpr (number == NUMBER_F16 && propagates)
            asm("max.NaN.f16x2 %0, %0, %1;" : "+r"(found) : "r"(pair));
        else if constexpr (number == NUMBER_F16)
            asm("max.f16x2 %0, %0, %1;" : "+r"(found) : "r"(pair));
        else if constexpr (propagates)
            asm("max.NaN.bf16x2 %0, %0, %1;" : "+r"(found) : "r"(pair));
        else
            asm("max.bf16x2 %0, %0, %1;" : "+r"(found) : "r"(pair));
    }
    template <int count>
    __device__ __forceinline__ void take(const word<count * format<number>::bytes> &whole)
    {
        constexpr int bytes = count * format<number>::bytes;

        if constexpr (is_packed && count == 1) {
            take_pair(whole);
        } else if constexpr (is_packed) {
            vector<bytes, 4> pairs;

            pairs.whole = whole;
#pragma unroll
            for (int i = 0; i < count / 2; i++)
                take_pair(pairs.part[i]);
        } else {
            vector<bytes, format<number>::bytes> all;

            all.whole = whole;
#pragma unroll
            for (int i = 0; i < count; i++)
                take_float(format<number>::load(all.part[i]));
        }
    }
    __device__ __forceinline__ unsigned bits() const
    {
        largest_magnitude<NUMBER_F32, propagates> both{found};

        if constexpr (is_packed) {
            both.found = 0;
            both.take_float(format<number>::load((unsigned short)found));
            both.take_float(format<number>::load((unsigned short)(found >> 16)));
        }
        return both.found > 0x7f800000 ? 0x7fffffff : both.found;
    }
};

/* The same among the threads of a block: each warp's in shared memory. */
struct largest_of_block {
    static __device__ __forceinline__ unsigned *of_warps()
    {
        __shared__ unsigned largest[32];

        return largest;
    }
    static __device__ __forceinline__ unsigned maximum_of_warp(unsigned bits)
    {
#if __CUDA_ARCH__ >= 800
        return __reduce_max_sync(0xffffffff, bits);
#else
#pragma unroll
        for (int i = 16; i > 0; i /= 2)
            bits = max(bits, __shfl_xor_sync(0xffffffff, bits, i));
        return bits;
#endif
    }
    static __device__ __forceinline__ void gather(unsigned bits)
    {
        bits = maximum_of_warp(bits);
        if (block_thread() % 32 == 0)
            of_warps()[block_thread() / 32] = bits;
    }
    /* By the first warp. */
    static __device__ __forceinline__ unsigned gathered()
    {
        const unsigned warp = block_thread();

        return maximum_of_warp(warp < blockDim.x * blockDim.y / 32 ? of_warps()[warp] : 0);
    }
};

/* The same among the blocks of a launch, in its scratch memory: the bits, and above them how many
 * blocks have sent theirs. */
struct largest_of_launch {
    unsigned long long before; /* in the first thread: the scratch memory, when the block sent */

    /* The block's bits are there before it counts: both are atomic, from one thread, and to the
     * same address. So nothing is fenced. */
    __device__ __forceinline__ void send(void *scratch, unsigned bits)
    {
        asm volatile("red.global.max.u32 [%0], %1;" ::"l"(scratch), "r"(bits) : "memory");
        asm volatile("atom.global.add.u64 %0, [%1], %2;"
                     : "=l"(before)
                     : "l"(scratch), "l"(1ull << 32)
                     : "memory");
    }
    /* The last block has what all have sent. */
    __device__ __forceinline__ void write(void *scratch, void *largest) const
    {
        if (before >> 32 == gridDim.x * gridDim.y * gridDim.z - 1) {
            *static_cast<unsigned *>(largest) = (unsigned)before;
            *static_cast<unsigned long long *>(scratch) = 0;
        }
    }
};

} // namespace at
