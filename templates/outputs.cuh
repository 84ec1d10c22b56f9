/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: what a step gives besides its results. */
namespace at
{

/* A step with outputs. Its second results are those of the same operations, with a type of their
 * own. */
__device__ constexpr bool has_outputs(long long code)
{
    return (code >> 16 & (STEP_BOTH | STEP_AMAX | STEP_SUMS)) != 0;
}
__device__ constexpr long long results_code(long long code)
{
    return code & 0xffffffff &
           ~((long long)(STEP_BOTH | STEP_AMAX | STEP_AMAX_NAN | STEP_SUMS) << 16);
}
__device__ constexpr long long kept_code(long long code)
{
    const int type = code >> 32 & 0xff;
    const long long nosat = is_8_bit_float(type) ? 0 : (long long)STEP_NOSAT << 16;

    return (code >> 16 & STEP_BOTH) ? (results_code(code) & ~0xffll & ~nosat) | type
                                    : results_code(code);
}

template <long long code> struct arithmetic_with_outputs : arithmetic<results_code(code)> {
    using results = arithmetic<results_code(code)>;
    using keeper = arithmetic<kept_code(code)>;

    static constexpr int kept_bytes = keeper::result_bytes;
    static constexpr bool keeps = (code >> 16 & STEP_BOTH) != 0;
    static constexpr bool has_largest = (code >> 16 & STEP_AMAX) != 0;
    static constexpr bool propagates = (code >> 16 & STEP_AMAX_NAN) != 0;
    static constexpr bool has_sums = (code >> 16 & STEP_SUMS) != 0;
    static_assert(!results::needs_place, "second results have no place in the destination");

    using element = word<results::source_bytes>;
    using kept_element = word<kept_bytes>;
    using largest_type =
        largest_magnitude<has_largest ? (int)(code >> 8 & 0xff) : NUMBER_F32, propagates>;

    keeper kept_of;
    step_outputs outputs;
    const element *first;
    mutable largest_type largest;
    mutable largest_of_launch launch;

    __device__ __forceinline__ arithmetic_with_outputs(const step_numbers &numbers, const void *dst,
                                                       const void *src)
        : results(numbers, dst, src), kept_of(numbers, dst, src), outputs(numbers.outputs),
          first(static_cast<const element *>(src))
    {
    }

    __device__ __forceinline__ bool skips() const
    {
        return outputs.skip && *static_cast<const int *>(outputs.skip) != 0;
    }

    /* The elements from one boundary of a vector to the next, where they are kept; and how many it
     * is to the first boundary. What is not kept has the source's boundaries. */
    static constexpr int unit =
        minimum(16 / results::source_bytes, keeps ? 16 / kept_bytes : 16 / results::source_bytes);

    __device__ __forceinline__ int to_boundary(const element *from) const
    {
        if constexpr (keeps)
            return bytes_to_boundary<unit * kept_bytes>(kept_at(from)) / kept_bytes;
        else
            return bytes_to_boundary<unit * results::source_bytes>(from) / results::source_bytes;
    }

    /* Of the same type, second results are results: the compiler computes them once. */
    __device__ __forceinline__ const keeper &keeper_of() const
    {
        if constexpr (kept_code(code) == results_code(code))
            return *this;
        else
            return kept_of;
    }

    /* Where the second result of an element lies. */
    __device__ __forceinline__ kept_element *kept_at(const element *from) const
    {
        return static_cast<kept_element *>(outputs.kept) + (from - first);
    }

    template <int count, int cache_operator = STORE_PLAIN>
    __device__ __forceinline__ void keep(const element *from,
                                         const word<count * results::source_bytes> &whole) const
    {
        constexpr int most = 16 / kept_bytes;

        if constexpr (has_largest)
            largest.template take<count>(whole);
        if constexpr (keeps && count > most) {
            vector<count * results::source_bytes, most * results::source_bytes> parts;

            parts.whole = whole;
#pragma unroll
            for (int i = 0; i < count / most; i++)
                store_kept<most, cache_operator>(kept_at(from + i * most), parts.part[i]);
        } else if constexpr (keeps) {
            store_kept<count, cache_operator>(kept_at(from), whole);
        }
    }
    /* The same for a unit of which only the elements from `begin` to before `end` count: some at
     * its beginning or some at its end. */
    __device__ __forceinline__ void keep_part(const element *from,
                                              const word<unit * results::source_bytes> &whole,
                                              int begin, int end) const
    {
        vector<unit * results::source_bytes, results::source_bytes> own;

        own.whole = whole;
#pragma unroll
        for (int i = 0; i < unit; i++)
            if (i < begin || i >= end)
                own.part[i] = {};
        if constexpr (has_largest)
            largest.template take<unit>(own.whole);
        if constexpr (keeps) {
            constexpr int bytes = unit * kept_bytes;
            unsigned char *to = reinterpret_cast<unsigned char *>(kept_at(from));
            vector<16, bytes> front{}, back{};

            front.part[0] = keeper_of().template of_vector<unit>(own.whole);
            back.part[16 / bytes - 1] = front.part[0];
            if (begin <= 0)
                store_front<kept_bytes>(to, front.whole, end * kept_bytes);
            else
                store_back<kept_bytes>(to + bytes, back.whole, (unit - begin) * kept_bytes);
        }
    }

    /* Take note of elements in a register each, unless keep() does. */
    template <class T, int count> __device__ __forceinline__ void note(const T (&from)[count]) const
    {
        if constexpr (has_largest && !keeps)
#pragma unroll
            for (int i = 0; i < count; i++)
                largest.template take<1>((element)from[i]);
    }

    template <int count, int cache_operator>
    __device__ __forceinline__ void
    store_kept(kept_element *to, const word<count * results::source_bytes> &whole) const
    {
        store<cache_operator>(reinterpret_cast<word<count * kept_bytes> *>(to),
                              keeper_of().template of_vector<count>(whole));
    }

    __device__ __forceinline__ void gather_largest() const
    {
        if constexpr (has_largest)
            largest_of_block::gather(largest.bits());
    }
    __device__ __forceinline__ void send_largest() const
    {
        if constexpr (has_largest)
            if (block_thread() < 32) {
                const unsigned bits = largest_of_block::gathered();

                if (block_thread() == 0)
                    launch.send(outputs.scratch, bits);
            }
    }
    __device__ __forceinline__ void write_largest() const
    {
        if constexpr (has_largest)
            if (block_thread() == 0)
                launch.write(outputs.scratch, outputs.largest);
    }
    static __device__ __forceinline__ float float_of(const element &from)
    {
        if constexpr (has_sums)
            return results::source::load(from);
        else
            return 0;
    }
    template <class sums>
    __device__ __forceinline__ void send_sums(sums &all, const block_tile &tile, long long rows,
                                              long long cols) const
    {
        if constexpr (has_sums) {
            all.gather();
            all.send(tile, rows, cols, outputs.scratch);
        }
    }
    template <class sums>
    __device__ __forceinline__ void finish_sums(sums &all, const block_tile &tile, long long rows,
                                                long long cols) const
    {
        if constexpr (has_sums)
            all.finish(tile, rows, cols, outputs);
    }
    __device__ __forceinline__ void finish() const
    {
        gather_largest();
        if constexpr (has_largest)
            __syncthreads();
        send_largest();
        write_largest();
    }
};

template <long long code, int bytes, bool outputs = has_outputs(code)> struct step_choice {
    using type = arithmetic<code>;
};
template <long long code, int bytes> struct step_choice<code, bytes, true> {
    using type = arithmetic_with_outputs<code>;
};
template <int bytes> struct step_choice<0, bytes, false> {
    using type = move<bytes>;
};
template <long long code, int bytes> using step_of = typename step_choice<code, bytes>::type;

} // namespace at
