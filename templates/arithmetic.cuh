/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: the step of a problem with arithmetic. What is computed is defined in
 * src/problem/step.h and checked bit for bit against the host's reference. */
namespace at
{

template <long long code> struct arithmetic : no_outputs {
    static constexpr int operations = code >> 16;
    using source_parts = parts_of<(code >> 8 & 0xff)>;
    using result_parts = parts_of<(code & 0xff)>;
    using source = format<source_parts::part>;
    using result = result_format<result_parts::part, (operations & STEP_NOSAT) == 0>;
    static constexpr int parts = result_parts::count;
    static constexpr bool has_double =
        source_parts::part == NUMBER_F64 || result_parts::part == NUMBER_F64;
    using value = typename number_of<has_double>::type;

    static constexpr int source_bytes = source::bytes * parts;
    static constexpr int result_bytes = result::bytes * parts;
    static constexpr bool conjugates = (operations & STEP_CONJUGATE) != 0;
    static constexpr bool multiplies = (operations & (STEP_SCALE | STEP_ALPHA)) != 0;
    static constexpr bool is_complex_product = (operations & STEP_ALPHA) != 0 && parts == 2;
    static constexpr bool divides = (operations & STEP_DIVIDE) != 0;
    static constexpr bool adds = (operations & STEP_BETA) != 0;
    static constexpr bool has_channels = (operations & STEP_AFFINE) != 0;
    static constexpr bool mixes = (operations & STEP_MIXED) != 0;
    static constexpr bool takes_numbers = multiplies || divides || has_channels || adds;
    static constexpr bool computes = takes_numbers || source_parts::part != result_parts::part;
    static constexpr bool needs_place = has_channels || adds;
    /* What follows a quotient could make a small or large one count again. */
    static constexpr bool has_reciprocal =
        divides && !has_double &&
        (has_short_range(source_parts::part) ||
         (has_short_range(result_parts::part) && !has_channels && !adds));

    using number_type = number<value, parts>;

    number_type given, beta; /* by the launch */
    reciprocal<has_reciprocal> inverse;
    long long to_second; /* from a place in the destination, in bytes */
    step_channels<value, has_channels> channels;

    __device__ __forceinline__ arithmetic()
        : given({nullptr, {1, 0}}), beta({nullptr, {0, 0}}), inverse(given)
    {
    }
    __device__ __forceinline__ arithmetic(const step_numbers &numbers, const void *dst,
                                          const void *)
        : given(numbers.number), beta(numbers.beta), inverse(given),
          to_second(static_cast<const char *>(numbers.second) - static_cast<const char *>(dst))
    {
    }
    __device__ __forceinline__ arithmetic(const step_numbers &numbers, const void *dst,
                                          const void *, const channel_places &places)
        : given(numbers.number), beta(numbers.beta), inverse(given),
          to_second(static_cast<const char *>(numbers.second) - static_cast<const char *>(dst)),
          channels(places, numbers, dst)
    {
    }

    template <int count>
    using place = step_place<value, result_bytes, count, has_channels, mixes, adds>;
    using channel = channel_numbers<value, has_channels>;

    template <int count> __device__ __forceinline__ place<count> at(const void *to) const
    {
        return at_part<count>(row_at(to), to, 0);
    }

    /* The same in two steps, for several rows of the destination. First comes what results side by
     * side have in all rows alike: their channels, if they have several. Then comes the rest. */
    template <int count> using beside = channels_beside<value, count, mixes>;

    template <int count> __device__ __forceinline__ beside<count> beside_at(const void *to) const
    {
        beside<count> common{};

        if constexpr (mixes)
            channels.of_all(common.all, row_at(to));
        return common;
    }
    template <int count>
    __device__ __forceinline__ place<count> at(const void *to, const beside<count> &common) const
    {
        if constexpr (!mixes)
            return at<count>(to);

        place<count> there{};

        static_cast<beside<count> &>(there) = common;
        add_second<count, true>(there, to);
        return there;
    }

    /* The same in two steps: what results in a row have in common, from a place on and `stride`
     * apart; and what `count` of them have, from number `first` of the row on. They lie on a
     * boundary of the vector if `aligned`. */
    using row = place_of_channel<value, has_channels>;

    template <int stride = 1> __device__ __forceinline__ row row_at(const void *to) const
    {
        if constexpr (has_channels)
            return channels.template at<result_bytes, stride>(to);
        else
            return {};
    }
    template <int count, int stride = 1, bool aligned = stride == 1>
    __device__ __forceinline__ place<count> at_part(const row &whole, const void *to,
                                                    int first) const
    {
        const char *here = static_cast<const char *>(to) + first * stride * result_bytes;
        place<count> there{};

        if constexpr (has_channels) {
            row &own = there;

            own = whole;
            own.left -= first * stride;
            if ((mixes || stride > 1) && first > 0 && own.left <= 0)
                own = row_at<stride>(here);
            if constexpr (mixes && stride == 1)
                channels.of_all(there.all, own);
        }
        add_second<count, aligned, stride>(there, here);
        return there;
    }

    /* Load what results have of the second source. */
    template <int count, bool aligned, int stride = 1>
    __device__ __forceinline__ void add_second(place<count> &there, const void *to) const
    {
        if constexpr (adds) {
            const char *from = static_cast<const char *>(to) + to_second;

            if (beta.is_zero())
                return;
            if constexpr (aligned)
                there.second.whole = *reinterpret_cast<const word<count * result_bytes> *>(from);
            else
#pragma unroll
                for (int i = 0; i < count; i++)
                    there.second.part[i] = *reinterpret_cast<const word<result_bytes> *>(
                        from + i * stride * result_bytes);
        }
    }

    using source_vector = vector<source_bytes, source::bytes>;
    using result_vector = vector<result_bytes, result::bytes>;

    /* Divide by the launch's number. */
    __device__ __forceinline__ value quotient(value x) const
    {
        if constexpr (has_reciprocal)
            return inverse.template quotient<source_parts::part>(x);
        else
            return divide(x, given.part[0]);
    }

    /* Compute a part of a result; `second` is the second source's element. Without an operation,
     * the part's value stays exact. */
    __device__ __forceinline__ auto compute(const source_vector &from, const channel &own,
                                            const result_vector &second, int i) const
    {
        const auto exact = source::load(from.part[i]);

        if constexpr (!takes_numbers) {
            return exact;
        } else {
            value x = (value)exact;

            if constexpr (is_complex_product) {
                const value both[parts] = {source::load(from.part[0]),
                                           source::load(from.part[parts - 1])};

                x = given.times(both, i);
            } else if constexpr (multiplies) {
                x = multiply(x, given.part[0]);
            } else if constexpr (divides) {
                x = quotient(x);
            }
            if constexpr (has_channels)
                x = add(multiply(x, own.scale), own.shift);
            if constexpr (adds)
                if (!beta.is_zero()) {
                    value other[parts];

#pragma unroll
                    for (int k = 0; k < parts; k++)
                        other[k] = (value)result::load(second.part[k]);
                    x = add(x, beta.times(other, i));
                }
            return x;
        }
    }

    /* The parts of an element, and of the second source's one. */
    __device__ __forceinline__ source_vector parts_from(const word<source_bytes> &element) const
    {
        source_vector from;

        from.whole = element;
        if constexpr (conjugates)
            from.part[1] = flip_sign(from.part[1]);
        return from;
    }
    template <int count>
    __device__ __forceinline__ result_vector second_at(const place<count> &there, int i) const
    {
        result_vector second{};

        if constexpr (adds)
            second.whole = there.second.part[i];
        return second;
    }

    /* The result of an element at a place, the i-th there, which has this channel. Parts of the
     * same type, without a number, keep their bits. */
    template <int count>
    __device__ __forceinline__ word<result_bytes> result_at(const word<source_bytes> &element,
                                                            const place<count> &there,
                                                            const channel &own, int i) const
    {
        const source_vector from = parts_from(element);
        result_vector to;

#pragma unroll
        for (int k = 0; k < parts; k++)
            if constexpr (computes)
                to.part[k] = result::store(compute(from, own, second_at<count>(there, i), k));
            else
                to.part[k] = from.part[k];
        return to.whole;
    }

    /* Elements that are gathered one by one, and their results as a vector; `apart`: results that
     * are not side by side in the destination. */
    template <int count> struct elements {
        word<source_bytes> part[count];
    };

    template <int count, bool apart = false>
    __device__ __forceinline__ word<count * result_bytes>
    of_elements(const elements<count> &from, const place<count> &there = {}) const
    {
        channel all[count];

        if constexpr (mixes && !apart)
            return of_channels<count>(from, there, there.all);
        if constexpr (has_channels && apart)
            if (there.left <= (count - 1) * there.stride) {
                channels.of_all(all, there);
                return of_channels<count>(from, there, all);
            }
        if constexpr (has_channels)
#pragma unroll
            for (int i = 0; i < count; i++)
                all[i] = there.numbers;
        return of_channels<count>(from, there, all);
    }

    /* The same, with the channel of each. */
    template <int count>
    __device__ __forceinline__ word<count * result_bytes>
    of_channels(const elements<count> &from, const place<count> &there,
                const channel (&all)[count]) const
    {
        if constexpr (computes && count % 2 == 0 && is_8_bit_float(result_parts::part)) {
            vector<count, 2> pairs;

#pragma unroll
            for (int i = 0; i < count; i += 2)
                pairs.part[i / 2] = result::store_two(
                    before_8_bits(
                        compute(parts_from(from.part[i]), all[i], second_at<count>(there, i), 0)),
                    before_8_bits(compute(parts_from(from.part[i + 1]), all[i + 1],
                                          second_at<count>(there, i + 1), 0)));
            return pairs.whole;
        } else {
            vector<count * result_bytes, result_bytes> to;

#pragma unroll
            for (int i = 0; i < count; i++)
                to.part[i] = result_at<count>(from.part[i], there, all[i], i);
            return to.whole;
        }
    }

    /* The same for elements in a register each. */
    template <class T, int count>
    __device__ __forceinline__ word<count * result_bytes>
    of_registers(const T (&from)[count], const place<count> &there = {}) const
    {
        elements<count> parts;

#pragma unroll
        for (int i = 0; i < count; i++)
            if constexpr (source_bytes < 4)
                parts.part[i] = (word<source_bytes>)from[i];
            else
                parts.part[i] = from[i];
        return of_elements<count>(parts, there);
    }

    /* The same for adjacent elements. */
    template <int count, bool apart = false>
    __device__ __forceinline__ word<count * result_bytes>
    of_vector(word<count * source_bytes> whole, const place<count> &there = {}) const
    {
        vector<count * source_bytes, source_bytes> from;
        elements<count> parts;

        from.whole = whole;
#pragma unroll
        for (int i = 0; i < count; i++)
            parts.part[i] = from.part[i];
        return of_elements<count, apart>(parts, there);
    }

    /* The result of one element. */
    __device__ __forceinline__ word<result_bytes> operator()(word<source_bytes> element,
                                                             const place<1> &there = {}) const
    {
        channel own;

        if constexpr (has_channels)
            own = there.numbers;
        return result_at<1>(element, there, own, 0);
    }
};

} // namespace at
