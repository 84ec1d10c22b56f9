/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: the numbers that a launch gives to a step, for all elements or for those
 * of a channel, and the elements of its second source. */
namespace at
{

/* Numbers below 2^62 are divided with one multiplication. */
struct wide_divisor {
    unsigned long long by, multiplier, shift;
};

__device__ __forceinline__ long long operator/(long long number, const wide_divisor &divisor)
{
    return (long long)(__umul64hi(2ull * number, divisor.multiplier) >> divisor.shift);
}

/* What divides by a power of two, or by a number below 2^43. This is a long division: the
 * multiplier, 2^(63 + shift) / by, has a leading 1 and three digits of 21 bits. */
__device__ __forceinline__ wide_divisor divisor_of(unsigned long long by)
{
    const int shift = 64 - __clzll((long long)by - 1);
    unsigned long long rest = (1ull << shift) - by, multiplier = 1;

#pragma unroll 1
    for (int i = 0; i < 3; i++) {
        const unsigned long long digit = (rest << 21) / by;

        rest = (rest << 21) - digit * by;
        multiplier = multiplier << 21 | digit;
    }
    return {by, multiplier + (rest > 0), (unsigned long long)shift};
}

/* Where channels are: the result that lies x results after the first has channel x % period / run,
 * at most `last`. */
struct channel_places {
    wide_divisor period, run;
    long long last;
};

/* A number of a launch, as values are: a real one, or the parts of a complex one. */
template <class value, int parts> struct number {
    value part[parts];

    __device__ __forceinline__ number(const step_number &given)
    {
#pragma unroll
        for (int i = 0; i < parts; i++)
            part[i] = given.at ? static_cast<const value *>(given.at)[i] : (value)given.value[i];
    }
    __device__ __forceinline__ bool is_zero() const
    {
        return part[0] == 0 && part[parts - 1] == 0;
    }
    /* A part of the product with a complex number, or the product with a real one. */
    __device__ __forceinline__ value times(const value (&other)[parts], int i) const
    {
        if constexpr (parts == 1)
            return multiply(part[0], other[0]);
        else if (i == 0)
            return add(multiply(part[0], other[0]), -multiply(part[1], other[1]));
        else
            return add(multiply(part[0], other[1]), multiply(part[1], other[0]));
    }
};

/* What a launch divides by. All elements are divided by it, so its reciprocal is worth having: the
 * product with it, corrected once by what remains, is the quotient rounded to nearest (Markstein,
 * "Computation of Elementary Functions on the IBM RISC System/6000 Processor", 1990). Nothing is
 * corrected if nothing remains, or if the product is infinite or NaN: it is right then, and so is
 * the sign of a 0. Integers are neither infinite nor -0, and any correction is right.
 *
 * What remains must not underflow. So the divisor is from 2^-64 to 2^64, and elements or results
 * have a short range. Beyond a result's range the last bits of a quotient do not matter. */
template <bool has> struct reciprocal {
    template <class number> __device__ __forceinline__ explicit reciprocal(const number &)
    {
    }
};
template <> struct reciprocal<true> {
    float divisor, value; /* 0 if the divisor has none */

    __device__ __forceinline__ explicit reciprocal(const number<float, 1> &given)
        : divisor(given.part[0]),
          value(fabsf(divisor) >= 0x1p-64f && fabsf(divisor) <= 0x1p64f ? divide(1.0f, divisor) : 0)
    {
    }
    /* Divide an element of this type. */
    template <int type> __device__ __forceinline__ float quotient(float x) const
    {
        if (value == 0)
            return divide(x, divisor);

        const float product = __fmul_rn(x, value);
        const float rest = __fmaf_rn(-product, divisor, x);
        const bool remains = is_integer(type) ||
                             (fabsf(rest) > 0 && (has_short_range(type) || fabsf(rest) < 0x1p127f));

        return remains ? __fmaf_rn(rest, value, product) : product;
    }
};

/* What a place has for results: their elements of the second source, if there is one. */
template <int bytes, int count, bool second> struct place_of_second {
};
template <int bytes, int count> struct place_of_second<bytes, count, true> {
    vector<bytes * count, bytes> second;
};

/* The numbers of a channel. */
template <class value, bool has> struct channel_numbers {
};
template <class value> struct channel_numbers<value, true> {
    value scale, shift;
};

/* And the channel of the first result there, if there are channels. Places `stride` apart from each
 * other have it, below a distance of `left`, unless that is more than an int counts. */
template <class value, bool has> struct place_of_channel {
};
template <class value> struct place_of_channel<value, true> {
    channel_numbers<value, true> numbers;
    int channel, left, stride;
};

/* The numbers of the channels of results side by side, if these may have unlike ones. */
template <class value, int count, bool mixes> struct channels_beside {
};
template <class value, int count> struct channels_beside<value, count, true> {
    channel_numbers<value, true> all[count];
};

template <class value, int bytes, int count, bool has_channels, bool mixes, bool second>
struct step_place : place_of_channel<value, has_channels>,
                    channels_beside<value, count, mixes>,
                    place_of_second<bytes, count, second> {
};

/* Where a step finds the numbers of channels, if there are any. */
template <class value, bool has> struct step_channels {
    __device__ __forceinline__ step_channels()
    {
    }
};
template <class value> struct step_channels<value, true> {
    channel_places places;
    const value *scale, *shift;
    const char *first; /* the destination */

    __device__ __forceinline__ step_channels(const channel_places &places,
                                             const step_numbers &numbers, const void *dst)
        : places(places), scale(static_cast<const value *>(numbers.channel_scale)),
          shift(static_cast<const value *>(numbers.channel_shift)),
          first(static_cast<const char *>(dst))
    {
    }
    /* A sum with -0 keeps every number, also a zero's sign. */
    __device__ __forceinline__ channel_numbers<value, true> of(int channel) const
    {
        return {scale ? __ldg(scale + channel) : (value)1,
                shift ? __ldg(shift + channel) : -(value)0};
    }
    template <int bytes, int stride>
    __device__ __forceinline__ place_of_channel<value, true> at(const void *to) const
    {
        constexpr long long most = 1ll << 30;
        const long long offset = (static_cast<const char *>(to) - first) / bytes;
        const long long within = offset - (offset / places.period) * (long long)places.period.by;
        const long long found = within / places.run;
        const int channel = (int)minimum(found, places.last);
        const long long left =
            places.period.by == stride ? most : (found + 1) * (long long)places.run.by - within;

        return {of(channel), channel, (int)minimum(left, most), stride};
    }
    /* Load numbers that lie side by side, as vectors if their alignment allows it. */
    template <int count>
    static __device__ __forceinline__ void load_run(value (&to)[count], const value *from)
    {
        constexpr int bytes = minimum(16, count * (int)sizeof(value));
        constexpr int parts = bytes / (int)sizeof(value);
        union {
            word<bytes> whole[count / parts];
            value part[count];
        } run;

        if (bytes_past_boundary<bytes>(from) == 0)
#pragma unroll
            for (int i = 0; i < count / parts; i++)
                run.whole[i] = __ldg(reinterpret_cast<const word<bytes> *>(from) + i);
        else
#pragma unroll
            for (int i = 0; i < count; i++)
                run.part[i] = __ldg(from + i);
#pragma unroll
        for (int i = 0; i < count; i++)
            to[i] = run.part[i];
    }
    /* The numbers of `count` channels from this one on. */
    template <int count>
    __device__ __forceinline__ void of_run(channel_numbers<value, true> (&all)[count],
                                           int channel) const
    {
        value scales[count], shifts[count];

        if (scale)
            load_run(scales, scale + channel);
        if (shift)
            load_run(shifts, shift + channel);
#pragma unroll
        for (int i = 0; i < count; i++)
            all[i] = {scale ? scales[i] : (value)1, shift ? shifts[i] : -(value)0};
    }
    /* The numbers of `count` results in a row. Behind the last channel is the first one. */
    template <int count>
    __device__ __forceinline__ void of_all(channel_numbers<value, true> (&all)[count],
                                           place_of_channel<value, true> there) const
    {
        if (places.run.by == 1 && there.stride == 1 && there.channel + count - 1 <= places.last) {
            of_run(all, there.channel);
            return;
        }
#pragma unroll
        for (int i = 0; i < count; i++) {
            all[i] = there.numbers;
            there.left -= there.stride;
            if (there.left > 0 || i + 1 == count)
                continue;
            for (; there.left <= 0; there.left += (int)minimum(places.run.by, 1ull << 30))
                there.channel = there.channel < places.last ? there.channel + 1 : 0;
            there.numbers = of(there.channel);
        }
    }
};

} // namespace at
