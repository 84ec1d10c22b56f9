/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: arithmetic on the way.
 *
 * A step is what a template does to an element between its load and its store. A template names it
 * by step_of<STEP, ELEM_SIZE>, and does not know which one it is. STEP has the operations and the
 * numbers of both types, a byte each, as src/problem/step.h and src/numbers/numbers.h count them.
 * Above these is the type of a second result. It is 0 for problems without arithmetic, whose step
 * is move: it does nothing. A step is made from STEP_ARGUMENT, which is empty unless STEP_NUMBERS
 * is 1, or for a step with channels 2, or 3 of many matrices.
 *
 * If needs_place is set, results depend on where they are stored. Then at() gets what a place has
 * for them, to be called for all vectors in flight before the first store:
 *
 *     const typename step::template place<count> there = result_of.template at<count>(to);
 *     ... store(to, result_of.template of_vector<count>(whole, there))
 *
 * What is computed is defined in src/problem/step.h and checked bit for bit against the host's
 * reference. */
namespace at
{

enum {
    STEP_CONJUGATE = 1,
    STEP_SCALE = 2,
    STEP_DIVIDE = 4,
    STEP_ALPHA = 8,
    STEP_AFFINE = 16,
    STEP_BETA = 32,
    STEP_NOSAT = 64,
    STEP_BOTH = 128,
    STEP_AMAX = 256,
    STEP_AMAX_NAN = 512,
    STEP_BLOCKS = 1024, /* block scales: the family quantise alone */
    STEP_SUMS = 2048,
    STEP_MIXED = 4096 /* results side by side may have unlike channels */
};

/* The last parameters of a kernel whose step takes numbers, and the arguments of step_of. */
#define AT_STEP_PARAMETER_0
#define AT_STEP_PARAMETER_1 , const at::step_numbers numbers
#define AT_STEP_PARAMETER_2 , const at::channel_places channels, const at::step_numbers numbers
#define AT_STEP_PARAMETER_3 , const at::group_step_numbers numbers
#define AT_STEP_ARGUMENT_0
#define AT_STEP_ARGUMENT_1 numbers, dst, src
#define AT_STEP_ARGUMENT_2 numbers, dst, src, channels
#define AT_STEP_ARGUMENT_3 AT_STEP_ARGUMENT_2
/* The same parameters of a function that a kernel calls, and what the kernel gives to it. */
#define AT_STEP_REFERENCE_0
#define AT_STEP_REFERENCE_1 , const at::step_numbers &numbers
#define AT_STEP_REFERENCE_2 , const at::channel_places &channels, const at::step_numbers &numbers
#define AT_STEP_REFERENCE_3 AT_STEP_REFERENCE_2
#define AT_STEP_GIVEN_0
#define AT_STEP_GIVEN_1 , numbers
#define AT_STEP_GIVEN_2 , channels, numbers
/* Of one group of several: STEP_GIVEN, with its own numbers. */
#define AT_STEP_OF_GROUP_0
#define AT_STEP_OF_GROUP_1 , at::numbers_of<step>(numbers, own, group)
#define AT_STEP_OF_GROUP_3                                                                         \
    , at::channels_of<step>(own), at::channel_numbers_of<step>(numbers, own, group, groups)
#define AT_STEP_JOIN(name, has)   name##has
#define AT_STEP_CHOOSE(name, has) AT_STEP_JOIN(name, has)
#define STEP_PARAMETER            AT_STEP_CHOOSE(AT_STEP_PARAMETER_, STEP_NUMBERS)
#define STEP_ARGUMENT             AT_STEP_CHOOSE(AT_STEP_ARGUMENT_, STEP_NUMBERS)
#define STEP_REFERENCE            AT_STEP_CHOOSE(AT_STEP_REFERENCE_, STEP_NUMBERS)
#define STEP_OF_GROUP             AT_STEP_CHOOSE(AT_STEP_OF_GROUP_, STEP_NUMBERS)
#define STEP_GIVEN                AT_STEP_CHOOSE(AT_STEP_GIVEN_, STEP_NUMBERS)

/* What a launch gives to a step: numbers, or where the device has them. */
struct step_number {
    const void
        *at; /* float or double, as values are, and two of them if they are complex; or NULL */
    double value[2];
};
/* Where it wants what a step gives besides its results. */
struct step_outputs {
    void *kept;                 /* second results, laid out as the source */
    void *largest;              /* a float: the largest magnitude in the source */
    const void *skip;           /* an int, or NULL; unless it is 0, the kernel writes nothing */
    void *scratch;              /* which is 0 before a launch and after it */
    void *scales, *kept_scales; /* of blocks, for both results */
    void *sums;                 /* floats: the sum of each column of each matrix of the source */
};
struct step_numbers {
    step_number number; /* of scale, divide and alpha */
    step_number beta;
    const void *second; /* the second source; not read if beta is 0 */
    /* Two numbers for each channel, float or double as values are. NULL changes nothing. */
    const void *channel_scale, *channel_shift;
    step_outputs outputs;
};
/* The same for many matrices with channels. */
struct group_step_numbers : step_numbers {
    long long channel_stride; /* from the numbers of a matrix to those of the next */
};

/* What a template calls for what a step gives besides its results (outputs.cuh). Most steps give
 * nothing. Each block of a launch calls finish() once, with all of its threads, unless the launch
 * skips(). */
struct no_outputs {
    static constexpr bool keeps = false, has_largest = false, has_sums = false;
    static constexpr int unit = 1, kept_bytes = 0;

    __device__ __forceinline__ bool skips() const
    {
        return false;
    }
    /* Keep the second results of adjacent elements, and take note of their largest magnitude. */
    template <int count, int cache_operator = STORE_PLAIN, class T>
    __device__ __forceinline__ void keep(const void *, const T &) const
    {
    }
    /* Take note of the largest magnitude of elements in a register each, if no second results are
     * kept. */
    template <class T, int count> __device__ __forceinline__ void note(const T (&)[count]) const
    {
    }
    __device__ __forceinline__ void finish() const
    {
    }
    /* The same in three steps, for a block that has a barrier after its last element: before the
     * barrier, after it, and at the end. */
    __device__ __forceinline__ void gather_largest() const
    {
    }
    __device__ __forceinline__ void send_largest() const
    {
    }
    __device__ __forceinline__ void write_largest() const
    {
    }
    /* Of a step with sums: an element as a float. */
    template <class T> static __device__ __forceinline__ float float_of(const T &)
    {
        return 0;
    }
    /* Sums of columns (sums.cuh), after a barrier, and at the end. */
    template <class T>
    __device__ __forceinline__ void send_sums(T &, const block_tile &, long long, long long) const
    {
    }
    template <class T>
    __device__ __forceinline__ void finish_sums(T &, const block_tile &, long long, long long) const
    {
    }
};

/* Elements as they are. */
template <int bytes> struct move : no_outputs {
    static constexpr int source_bytes = bytes, result_bytes = bytes;
    static constexpr bool needs_place = false, mixes = false;

    template <int count> struct place {
    };
    template <int count> __device__ __forceinline__ place<count> at(const void *) const
    {
        return {};
    }
    template <int count> struct beside {
    };
    template <int count> __device__ __forceinline__ beside<count> beside_at(const void *) const
    {
        return {};
    }
    template <int count>
    __device__ __forceinline__ place<count> at(const void *, const beside<count> &) const
    {
        return {};
    }
    struct row {
    };
    template <int stride = 1> __device__ __forceinline__ row row_at(const void *) const
    {
        return {};
    }
    template <int count, int stride = 1, bool aligned = true>
    __device__ __forceinline__ place<count> at_part(const row &, const void *, int) const
    {
        return {};
    }

    /* The result of one element. */
    __device__ __forceinline__ const word<bytes> &operator()(const word<bytes> &element,
                                                             const place<1> & = {}) const
    {
        return element;
    }

    /* Elements that are gathered one by one, and their results as a vector. */
    template <int count> using elements = vector<count * bytes, bytes>;

    template <int count>
    __device__ __forceinline__ word<count * bytes> of_elements(const elements<count> &from,
                                                               const place<count> & = {}) const
    {
        return from.whole;
    }

    /* The same for elements in a register each, as load_extended() loads them: as many as fill a
     * word. */
    template <class T, int count>
    __device__ __forceinline__ word<count * bytes> of_registers(const T (&from)[count]) const
    {
        return join_elements(from);
    }

    /* The same for adjacent elements. */
    template <int count, bool apart = false>
    __device__ __forceinline__ const word<count * bytes> &
    of_vector(const word<count * bytes> &whole, const place<count> & = {}) const
    {
        return whole;
    }
};

#if AT_MOVES_ONLY
template <long long code, int bytes> using step_of = move<bytes>;
#endif

} // namespace at
