/* SPDX-License-Identifier: Apache-2.0 */
/* libautotune: looks up tuned matrix transposes in profiles, and runs them.
 *
 *     autotune_profile *profile;
 *     autotune_plan *plan;
 *     autotune_problem problem = {.elem_size = 4, .rows = 8192, .cols = 8192};
 *
 *     if (autotune_profile_open(&profile, NULL, &error) == AUTOTUNE_OK &&
 *         autotune_plan_create(&plan, profile, &problem, &error) == AUTOTUNE_OK)
 *         autotune_plan_execute(plan, dst, src, stream, &error);
 *
 * No function prints: autotune_set_log names one that gets lines. The only other state between
 * calls are the handles of libcuda, NVML and NVRTC, which are opened for the first plan or the
 * first current device, loaded kernels, and what plans have measured. Several threads may use one
 * profile, device, answer or plan at once. Each object is freed once; the free functions take NULL.
 * Plans that measure on one device take turns, and a plan waits for its kernel if another thread is
 * compiling it. No other call waits for a plan in another thread, but for moments such as the
 * opening of a library.
 *
 * Functions that can fail return an autotune_status. On failure the outputs stay unchanged, and
 * *error, unless `error` is NULL, is a new object: it tells the cause and the remedy, and is freed
 * with autotune_error_free.
 *
 * No function ends the process. If host memory runs out, the status is AUTOTUNE_NO_MEMORY and the
 * call releases what it had allocated and opened; NVRTC and the driver may behave differently. A
 * NULL argument is AUTOTUNE_INVALID unless NULL is allowed; functions without a status then return
 * 0, NULL, "" or AUTOTUNE_TIER_DEFAULT.
 *
 * After a fork the child may call everything that needs no GPU, whatever other threads were doing.
 * CUDA does not survive a fork: if the parent had used it through this library, calls that need a
 * GPU are AUTOTUNE_NO_DEVICE in the child, and the parent's plans can only be freed. */
#ifndef AUTOTUNE_H
#define AUTOTUNE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define AUTOTUNE_API __attribute__((visibility("default")))
#else
#define AUTOTUNE_API
#endif

/* ---- versions ---- */

/* The version of this header. doc/abi.md says what a version may change. */
#define AUTOTUNE_VERSION_MAJOR 0
#define AUTOTUNE_VERSION_MINOR 1
#define AUTOTUNE_VERSION_PATCH 0

/* For comparisons: AUTOTUNE_VERSION >= AUTOTUNE_VERSION_NUMBER(0, 1, 0). */
#define AUTOTUNE_VERSION_NUMBER(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define AUTOTUNE_VERSION                                                                           \
    AUTOTUNE_VERSION_NUMBER(AUTOTUNE_VERSION_MAJOR, AUTOTUNE_VERSION_MINOR, AUTOTUNE_VERSION_PATCH)

/* The version of the library that is loaded: "0.1.0". */
AUTOTUNE_API const char *autotune_version(void);
/* The same as a number, for comparisons with AUTOTUNE_VERSION_NUMBER. */
AUTOTUNE_API int autotune_version_number(void);

/* ---- errors ---- */

/* The values are the exit codes of the command. */
typedef enum autotune_status {
    AUTOTUNE_OK = 0,
    AUTOTUNE_FAILED = 1,    /* no legal config, or a kernel that does not compile */
    AUTOTUNE_INVALID = 2,   /* an argument, or a file that is no profile */
    AUTOTUNE_NO_DEVICE = 3, /* no driver, device or NVRTC; or a CUDA call failed */
    AUTOTUNE_MISMATCH = 4,  /* a profile of another device */
    AUTOTUNE_INTERNAL = 5,
    AUTOTUNE_NO_MEMORY = 6 /* host memory; the command's exit code for that is 5 */
} autotune_status;

/* "AUTOTUNE_INVALID"; "unknown status" for other numbers. Needs no error object. */
AUTOTUNE_API const char *autotune_status_name(autotune_status status);

typedef struct autotune_error autotune_error;

AUTOTUNE_API autotune_status autotune_error_status(const autotune_error *error);
/* One line, in English. Lives as long as the error. */
AUTOTUNE_API const char *autotune_error_message(const autotune_error *error);
AUTOTUNE_API void autotune_error_free(autotune_error *error);

/* ---- profiles ---- */

typedef struct autotune_profile autotune_profile;

/* Read a profile; or, for NULL, all on the search path: $AUTOTUNE_PROFILE_PATH,
 * $XDG_DATA_HOME/autotune, and the installed profiles; before them $AUTOTUNE_WISDOM, if that file
 * is there. Also reads the kernels' spaces, from $AUTOTUNE_DATADIR or from where they are
 * installed. AUTOTUNE_INVALID for a file that is missing, truncated, of an unknown version, or
 * otherwise no profile. */
AUTOTUNE_API autotune_status autotune_profile_open(autotune_profile **profile, const char *path,
                                                   autotune_error **error);
/* Return why the file with this index among those skipped was skipped; NULL past the last. */
AUTOTUNE_API const char *autotune_profile_skipped(const autotune_profile *profile, size_t index);
AUTOTUNE_API void autotune_profile_free(autotune_profile *profile);

/* ---- problems and devices ---- */

/* Later versions may add members at the end. A program that sets one of them sets struct_size to
 * the sizeof of the struct, as autotune_problem_init and its like do; 0 stands for the members of
 * the first version, which are all that are here. AUTOTUNE_INVALID if a member that the loaded
 * library does not know is not 0. */

/* dst[b*stride_dst + c*ld_dst + r] = src[b*stride_src + r*ld_src + c] for b below batch, r below
 * rows and c below cols: all in elements. 0 stands for the value of a dense matrix: ld_src = cols,
 * ld_dst = rows, batch = 1, strides of one whole matrix. If rows or cols is 0, there is nothing to
 * do: plans are made and executed, and launch nothing. */
typedef struct autotune_problem {
    int64_t elem_size; /* bytes: 1 to 64 */
    int64_t rows, cols;
    int64_t ld_src, ld_dst;
    int64_t batch;
    int64_t stride_src, stride_dst;
    /* 1: src is dst, and the matrices are square or dense; 0: they are two buffers. A launch that
     * fails in place leaves neither the matrix nor its transpose. */
    int64_t in_place;
    /* The addresses of src and dst are multiples of this power of two. 0 stands for 16, which all
     * allocators guarantee, but not views into a matrix. */
    int64_t align_bytes;
    size_t struct_size; /* bytes, or 0: see above */
    /* What is computed on the way: the types of source and destination, and operations, as
     * `autotune` spells them: "bf16:e4m3,scale", "c64,conj" (doc/arithmetic.md). elem_size is that
     * of the source's type; ld_dst and stride_dst count results. NULL: elements are moved. Tensors
     * have no "blocks". */
    const char *step;
    /* 1: ld_src, ld_dst, batch and both strides count as they are, and 0 is no default. Those of
     * the source may then be 0 or negative, and its elements overlap; those of the destination may
     * be negative. dst and src are the addresses of the elements with all indices 0, wherever the
     * others lie. AUTOTUNE_INVALID for a stride below 1 in place, or with "affine", "both",
     * "blocks" or "sums". Such problems are looked up, and never measured. */
    int64_t explicit_strides;
} autotune_problem;

/* A permutation of a tensor, in the terms of NumPy and PyTorch: the first axis is the slowest, and
 * axis i of the result is axis permutation[i] of the source. Strides are in elements. An extent may
 * be 0: there is nothing to do. */
#define AUTOTUNE_RANK_MAX 24
typedef struct autotune_tensor {
    int64_t elem_size;                  /* bytes: 1 to 64 */
    int64_t rank;                       /* 1 to AUTOTUNE_RANK_MAX */
    int64_t extents[AUTOTUNE_RANK_MAX]; /* of the source */
    int64_t permutation[AUTOTUNE_RANK_MAX];
    int64_t strides_src[AUTOTUNE_RANK_MAX]; /* of the source's axes; all 0: it is dense */
    int64_t strides_dst[AUTOTUNE_RANK_MAX]; /* of the result's axes; all 0: it is dense */
    int64_t align_bytes;                    /* as in autotune_problem */
    size_t struct_size;                     /* as in autotune_problem */
    const char *step;                       /* as in autotune_problem */
    int64_t explicit_strides;               /* 1: as in autotune_problem; all strides count */
    int64_t in_place;                       /* 1: as in autotune_problem; a tensor is dense then */
} autotune_tensor;

/* ---- many matrices in one launch ---- */

/* A matrix of a list, or a batch of them with one or two axes. For i below batch[0], k below
 * batch[1], r below rows and c below cols, with
 *     from = i*stride_src[0] + k*stride_src[1], to = i*stride_dst[0] + k*stride_dst[1]:
 * dst[to + c*ld_dst + r] = src[from + r*ld_src + c], all in elements. Nothing has a default: of one
 * matrix both batches are 1. If rows, cols or a batch is 0, there is nothing to do. */
typedef struct autotune_matrix {
    void *dst;
    const void *src;
    void *dst2; /* of both: gets the results as they lie, laid out as src; NULL otherwise */
    /* Of beta: laid out as dst, which it may be; not read if beta is 0. NULL otherwise. */
    const void *src2;
    int64_t rows, cols;
    int64_t ld_src, ld_dst;
    int64_t batch[2];
    int64_t stride_src[2], stride_dst[2];
} autotune_matrix;

/* What a plan for many matrices is made for. Each launch may have others, of other sizes: a config
 * is chosen for what is typical.
 *
 * Either a list, whose matrices lie anywhere; or groups of rows of one matrix, which follow each
 * other. Group g has the rows from offsets[g] to before offsets[g + 1], which the device knows. Its
 * result is transposed: it has `cols` rows, as long as the group's rows and their padding. */
typedef struct autotune_groups {
    size_t struct_size;  /* sizeof(autotune_groups): required */
    int64_t elem_size;   /* bytes, of the source: 1, 2, 4, 8 or 16 */
    const char *step;    /* as in autotune_problem, without amax, blocks and sums */
    int64_t align_bytes; /* of all addresses, as in autotune_problem */
    int64_t count;       /* of matrices or groups: typical ones, at least 1 */
    /* Of a list: its matrices, in host memory. Sizes and alignment count; addresses may be NULL,
     * and are then as align_bytes says. NULL: groups of rows. */
    const autotune_matrix *list;
    /* Of groups of rows; 0 for a list. */
    int64_t rows; /* of all groups: what is typical */
    int64_t cols;
    int64_t ld_src;  /* 0: cols */
    int64_t padding; /* each result row is filled with 0 up to a multiple of this; 0: 1 */
    /* What dst has place for: result rows of as many elements. A group that finds no place is left
     * out, and the flag `overflow` is raised. */
    int64_t most_rows;
    int64_t stacked;      /* 1: each group has a place of most_rows; 0: results follow each other */
    int64_t offset_bytes; /* of an offset: 4 or 8; 0: 8 */
} autotune_groups;

/* The scales of one result of a problem with blocks: a matrix with the result's orientation for
 * each matrix of the batch, one after the other. The caller allocates them, at a multiple of 16. */
typedef struct autotune_scales {
    /* "f32"; "e4m3"; or "e8m0", bytes that stand for 2^(byte - 127). NULL: there are no scales. */
    const char *type;
    int64_t elem_size;  /* bytes of a scale */
    int64_t rows, cols; /* blocks down and across the result */
    /* From one row of scales to the next, and from one column, in scales. Both are 0 for tiles of
     * 128x4 scales (layout=swizzled). */
    int64_t row_stride, col_stride;
    int64_t matrix_bytes; /* of one matrix with its padding, which a launch sets to 0 */
    int64_t bytes;        /* of the whole batch */
    int64_t reserved[4];  /* 0, until a later version gives them names */
} autotune_scales;

/* Tell which scales a problem has: scales[0] are those of dst, scales[1] those of dst2. All members
 * are 0 where there is no such result, or the problem has no blocks. AUTOTUNE_INVALID for a problem
 * that makes no sense. */
AUTOTUNE_API autotune_status autotune_problem_scales(autotune_scales scales[2],
                                                     const autotune_problem *problem,
                                                     autotune_error **error);

typedef struct autotune_device autotune_device;

/* Read the description of a device, which need not be present, from tuning/devices of the data
 * folder. The name is the file's, "h200", or another of the device's names, "NVIDIA H200". */
AUTOTUNE_API autotune_status autotune_device_described(autotune_device **device, const char *name,
                                                       autotune_error **error);
/* Describe the device of the calling thread's current CUDA context, made by the driver or the
 * runtime API; without one, the first device. AUTOTUNE_NO_DEVICE if there is none, or no driver. */
AUTOTUNE_API autotune_status autotune_device_current(autotune_device **device,
                                                     autotune_error **error);

/* A device in numbers. Later versions may add members. */
typedef struct autotune_device_numbers {
    size_t struct_size;         /* sizeof(autotune_device_numbers): required */
    const char *name;           /* of the model, at most 127 bytes: "NVIDIA H200" */
    int64_t compute_capability; /* 10 * major + minor: 90 */
    int64_t multiprocessors;
    int64_t memory_bytes;
    int64_t l2_bytes;
    /* 0: as on the described devices of the same compute capability. */
    int64_t warp_size;
    int64_t max_threads_per_block;
    int64_t max_threads_per_multiprocessor;
    int64_t registers_per_multiprocessor;
    int64_t shared_bytes_per_block; /* without opting in: 49152 */
    int64_t shared_bytes_per_block_optin;
    int64_t shared_bytes_per_multiprocessor;
} autotune_device_numbers;

/* Make a device of numbers, which needs neither a GPU nor a file. The numbers are copied.
 * AUTOTUNE_INVALID, with the member's name, for a member out of bounds; also if it is 0, unless a
 * described device has the number. */
AUTOTUNE_API autotune_status autotune_device_make(autotune_device **device,
                                                  const autotune_device_numbers *numbers,
                                                  autotune_error **error);
AUTOTUNE_API const char *autotune_device_name(const autotune_device *device);
AUTOTUNE_API void autotune_device_free(autotune_device *device);

/* ---- lookup ---- */

/* Where an answer comes from, best first. */
typedef enum autotune_tier {
    AUTOTUNE_TIER_EXACT,        /* this problem, tuned on this model of device */
    AUTOTUNE_TIER_SHAPE,        /* the nearest problem on this model */
    AUTOTUNE_TIER_CHIP,         /* the nearest on as many multiprocessors of the same kind */
    AUTOTUNE_TIER_ARCHITECTURE, /* the nearest on the same compute capability */
    AUTOTUNE_TIER_OTHER,        /* the nearest on the nearest architecture */
    AUTOTUNE_TIER_DEFAULT       /* no entry is legal: the default config */
} autotune_tier;

typedef struct autotune_answer autotune_answer;

/* Choose a config that is legal for the problem and the device. Entries of the policy, "cold" (or
 * NULL) or "warm", are preferred. The answer borrows from the profile, which must outlive it, and
 * which remembers about a thousand answers (2 MB): the same question is answered at once.
 * AUTOTUNE_INVALID for a problem that makes no sense or an unknown policy, AUTOTUNE_FAILED if no
 * config is legal. */
AUTOTUNE_API autotune_status autotune_lookup(autotune_answer **answer,
                                             const autotune_profile *profile,
                                             const autotune_device *device,
                                             const autotune_problem *problem, const char *policy,
                                             autotune_error **error);
/* The same for a tensor. */
AUTOTUNE_API autotune_status autotune_tensor_lookup(autotune_answer **answer,
                                                    const autotune_profile *profile,
                                                    const autotune_device *device,
                                                    const autotune_tensor *tensor,
                                                    const char *policy, autotune_error **error);
/* The same for many matrices. */
AUTOTUNE_API autotune_status autotune_groups_lookup(autotune_answer **answer,
                                                    const autotune_profile *profile,
                                                    const autotune_device *device,
                                                    const autotune_groups *groups,
                                                    const char *policy, autotune_error **error);
AUTOTUNE_API void autotune_answer_free(autotune_answer *answer);

/* AUTOTUNE_MISMATCH unless the answer was tuned on this model of device. */
AUTOTUNE_API autotune_status autotune_answer_check_device(const autotune_answer *answer,
                                                          autotune_error **error);

/* What is known of an answer, or of the answer from which a plan was made. */
typedef struct autotune_info {
    size_t struct_size;   /* sizeof(autotune_info): required */
    int64_t tier;         /* an autotune_tier */
    int64_t is_uncertain; /* 1: a guess: predicted, of another GPU, of a far problem, a default */
    int64_t is_predicted; /* 1: the entry's times come from an emulated device */
    int64_t expected_permille; /* the entry's share of the copy limit; 0: unknown */
    /* To the tuned problem, as doc/lookup.md explains; 0 for the exact and the default tier. */
    double distance;
    int64_t bytes;    /* read and written, of the problem that was asked for */
    int64_t tuned_ns; /* the time of the tuned problem on its device; 0: unknown */
    /* Texts live as long as the answer and its profile, or as the plan. */
    const char *family;        /* NULL: the plan has nothing to do */
    const char *tuned_problem; /* NULL: no entry was legal */
    const char *path;          /* of the profile; NULL: no entry was legal */
    const char *config;        /* parameters that are not neutral: "LAYOUT=1 THREADS=512" */
    /* Of a plan with AUTOTUNE_ADAPT: rivals that its launches still time; 0: its kernel stays. */
    int64_t adapts;
} autotune_info;

/* Fill *info, whose struct_size is set. AUTOTUNE_INVALID for another size. The launches are those
 * of autotune_answer_launches and autotune_plan_launches. */
AUTOTUNE_API autotune_status autotune_answer_info(const autotune_answer *answer,
                                                  autotune_info *info, autotune_error **error);

/* The kernel: templates/FAMILY.cu, compiled with each parameter as a macro, ELEM_SIZE, AXES for a
 * batch of several axes, and for a step RESULT_SIZE, STEP and STEP_NUMBERS. Neutral parameters
 * count, too. */
AUTOTUNE_API size_t autotune_answer_parameter_count(const autotune_answer *answer);
AUTOTUNE_API const char *autotune_answer_parameter_name(const autotune_answer *answer,
                                                        size_t index);
AUTOTUNE_API int autotune_answer_parameter_value(const autotune_answer *answer, size_t index);

typedef struct autotune_launch {
    unsigned grid[3], block[3]; /* x, y, z */
    unsigned shared_bytes;      /* dynamic shared memory per block */
    int carveout_percent; /* preferred share of shared memory in L1; -1: the driver's choice */
    const char *kernel;   /* its name in the module, which profilers show; NULL: not compiled yet */
    unsigned reserved[6]; /* 0, until a later version gives them names */
} autotune_launch;

/* Write the answer's launches, in their order, at most `capacity` of them. Returns how many there
 * are. `launches` may be NULL, to get the number. */
AUTOTUNE_API size_t autotune_answer_launches(const autotune_answer *answer,
                                             autotune_launch *launches, size_t capacity);

/* Write the answer as lines of text, or as JSON, as `autotune lookup` prints it. Writes at most
 * `capacity` bytes, including the NUL, and returns the length of the whole text; 0, with the text
 * "", if memory runs out. `text` may be NULL, to get the length. */
AUTOTUNE_API size_t autotune_answer_describe(const autotune_answer *answer, char *text,
                                             size_t capacity);
AUTOTUNE_API size_t autotune_answer_json(const autotune_answer *answer, char *text,
                                         size_t capacity);

/* ---- plans ---- */

typedef struct autotune_plan autotune_plan;

AUTOTUNE_API autotune_status autotune_plan_info(const autotune_plan *plan, autotune_info *info,
                                                autotune_error **error);

/* Look the problem up for the device of the current CUDA context, and load the kernel there. If no
 * context is current, it is the primary one of device 0, as in CUDA's runtime, which shares it; it
 * is made if need be, and stays. After cudaSetDevice of CUDA 12 one is current; older ones make it
 * at the first call that needs it, such as cudaFree(0).
 *
 * The kernel comes from the cache that the command uses too, or from NVRTC, perhaps in a second
 * thread. Do not call this while the thread captures a stream. The plan does not borrow from the
 * profile. */
AUTOTUNE_API autotune_status autotune_plan_create(autotune_plan **plan,
                                                  const autotune_profile *profile,
                                                  const autotune_problem *problem,
                                                  autotune_error **error);

/* The same for a tensor. AUTOTUNE_INVALID also if elements of one side overlap, or if it takes too
 * long to find out, which strides that do not nest can cause. */
AUTOTUNE_API autotune_status autotune_tensor_plan_create(autotune_plan **plan,
                                                         const autotune_profile *profile,
                                                         const autotune_tensor *tensor,
                                                         autotune_error **error);

/* How to make a plan. Zeroes stand for what autotune_plan_create does. Later versions may add
 * members, as in autotune_problem. */
typedef struct autotune_plan_options {
    /* Milliseconds, up to a day, that the plan may measure beyond the time that it needs anyway; 0:
     * it only looks up. */
    int64_t measure_ms;
    const char *policy; /* "cold" (or NULL) or "warm": what to look up, and how to measure */
    /* Device memory to measure in, of the current context: a multiple of 256, and its length in
     * bytes. Its content is lost. NULL and 0: the plan allocates, for the time, at most half of
     * what is free. "cold" wants 3 times the L2 cache, and one source and destination at least. */
    void *scratch;
    int64_t scratch_bytes;
    size_t struct_size; /* bytes, or 0: as in autotune_problem */
    int64_t flags;      /* AUTOTUNE_ADAPT, or 0 */
} autotune_plan_options;

/* Time the rivals in passing. They are compiled and verified when the plan is made, for at most
 * measure_ms (0: five seconds), and none is timed. Then 63 launches of the plan at most run the
 * looked-up kernel and up to eight rivals in turn, between events, and wait for none of them. The
 * fastest stays, if it is faster by over 0.3 %, beyond the noise; below 50 us, by a microsecond
 * more. So the data and what else the device does are the program's own. Each launch does the whole
 * transpose, once.
 *
 * Launches take turns if their addresses are multiples of align_bytes and their stream is not
 * captured. A graph keeps what it has captured: the looked-up kernel, until another one stays.
 * Plans in place, with beta, amax or sums, and what is never measured, do not adapt. Nor does a
 * plan whose problem was measured, which takes that winner. Other plans do not learn what this one
 * finds.
 */
#define AUTOTUNE_ADAPT 1

/* The same as autotune_plan_create, with options (NULL: none).
 *
 * If this very problem was not yet measured on this model of device, measure_ms lets the plan time
 * the looked-up config against its rivals: the default config and the winners of the nearest
 * problems, as far as the same kernels were correct on this model of device before. All run in the
 * current context, on a stream of the plan's own, and every bit of their results is checked first.
 * A rival wins if it is faster by over 0.3 %, beyond the noise. The process remembers the winner:
 * later plans with measure_ms take it without measuring.
 *
 * Rivals come from the cache of compiled kernels. Those that are missing are compiled for at most
 * half of the time, by processes of the `autotune` program of this version ($AUTOTUNE_PROGRAM, or
 * the one installed with the library), which are killed when time is over. Without it only the
 * cache counts. What does not fit is left out: too little time or memory is no error, and
 * autotune_plan_describe tells what was measured. A kernel that has begun is not stopped.
 *
 * While another thread measures on the device, or this very problem on another device of this
 * model, the plan waits; measure_ms begins when that is over. If the other thread has measured this
 * very problem, the plan takes its winner: on eight equal GPUs it is measured once.
 *
 * AUTOTUNE_INVALID also for options that make no sense. AUTOTUNE_FAILED also if the looked-up
 * config proves wrong on this device and no rival proves right; AUTOTUNE_NO_DEVICE if a kernel made
 * the context unusable. Do not use the device for anything else meanwhile: that falsifies times. */
AUTOTUNE_API autotune_status autotune_plan_create_with(autotune_plan **plan,
                                                       const autotune_profile *profile,
                                                       const autotune_problem *problem,
                                                       const autotune_plan_options *options,
                                                       autotune_error **error);
/* The same for a tensor. */
AUTOTUNE_API autotune_status autotune_tensor_plan_create_with(autotune_plan **plan,
                                                              const autotune_profile *profile,
                                                              const autotune_tensor *tensor,
                                                              const autotune_plan_options *options,
                                                              autotune_error **error);

/* Make a plan for many matrices, which autotune_plan_execute_with executes. It only looks up. */
AUTOTUNE_API autotune_status autotune_groups_plan_create(autotune_plan **plan,
                                                         const autotune_profile *profile,
                                                         const autotune_groups *groups,
                                                         autotune_error **error);

/* A plan belongs to the context that was current when it was made, and remembers it. Any thread may
 * execute and free it, whatever context is current there, or none: the call makes the plan's own
 * current, and the earlier one again before it returns. Several threads may execute one plan at
 * once. A plan is freed before its context is destroyed, by one thread, when no other call uses the
 * plan and its transposes have ended. */

/* Start the transpose of src into dst, and return before it has ended. Both are device addresses;
 * they must not overlap, or must be equal for a problem in place. `stream` is a CUstream or
 * cudaStream_t of the plan's context; NULL: the default stream. The call may be captured. If both
 * addresses are multiples of the problem's align_bytes, the tuned kernel runs; if only of the
 * element size, another kernel. AUTOTUNE_INVALID for a plan that needs more than that: see
 * autotune_plan_execute_with. */
AUTOTUNE_API autotune_status autotune_plan_execute(const autotune_plan *plan, void *dst,
                                                   const void *src, void *stream,
                                                   autotune_error **error);

/* A number, by its value or where the device has it when the kernel runs. There it has the type
 * that is computed in: float, or double if source or destination have doubles. For many matrices an
 * address has a number for each matrix or group. */
typedef struct autotune_scalar {
    const void *at;  /* a device address; NULL: the value counts. Otherwise the value is 0 */
    double value[2]; /* the second one is the imaginary part */
} autotune_scalar;

/* What a plan is executed with. All addresses are the device's. A plan needs dst, src, and what its
 * problem names. AUTOTUNE_INVALID, with the member's name, if another member is not 0. Later
 * versions may add members. */
typedef struct autotune_execution {
    size_t struct_size; /* sizeof(autotune_execution): required */
    void *dst;          /* as for autotune_plan_execute */
    const void *src;
    void *stream;
    /* Of a step (doc/arithmetic.md): the number to multiply with, or to divide by. 0 is a number,
     * too: a scale that is not set makes zeros. */
    autotune_scalar scale;
    /* Of alpha * transposed + beta * src2. src2 is laid out as dst, and is dst or has no element in
     * common with it. If beta is 0 it is not read, and may be NULL. */
    autotune_scalar alpha, beta;
    const void *src2;
    /* Of affine: where the device has a number for each channel, of the type that is computed in.
     * Either may be NULL, and then nothing is multiplied or added. Of many matrices, see
     * channel_stride. */
    const void *channel_scale, *channel_shift;
    void *dst2; /* of both: gets the results as they lie, laid out as src. It overlaps no other */
    /* Of amax: gets the largest magnitude of the source, a float. Of scales=nvfp4 and te-nvfp4: has
     * that of the whole tensor, and is only read. NULL: scales follow from their blocks alone. */
    void *largest;
    /* Of blocks: get the scales of dst and dst2, as autotune_problem_scales tells. Addresses are
     * multiples of 16. They overlap nothing else. */
    void *block_scales, *block_scales2;
    /* Of both, amax, blocks, sums and many matrices: where the device has an int. If it is not 0
     * when the kernel runs, nothing is written. NULL: there is none. */
    const void *skip;
    /* Of a list: array of autotune_matrix, in host or device memory; dst, src, dst2 and src2 are
     * NULL. A list in host memory is checked and copied to the device before the call returns. If
     * the call is captured, each replay copies it again. One in device memory is as aligned as the
     * list that the plan was made for; its numbers are the caller's word. */
    const void *list;
    int64_t list_count; /* may be 0 */
    /* Of groups of rows: where they begin, on the device, and behind the last one where it ends.
     * Integers of offset_bytes, the first at least 0, in rows of the source, and none below the one
     * before it. */
    const void *offsets;
    int64_t offset_count; /* the number of groups, and 1 */
    /* Of amax and sums: device memory that is 0 before the first launch; each launch leaves it so.
     * Of a list in host memory: device memory for the list, whatever is in it. In place: device
     * memory at a multiple of 16, whatever is in it.
     * autotune_plan_scratch_bytes tells how much. Launches that may run at the same time need their
     * own. NULL and 0: the plan has its own, which is for one launch at a time, and for as many
     * matrices as it was made for. */
    void *scratch;
    int64_t scratch_bytes;
    /* Of sums: gets a float for each column of src, and of a batch for those of each matrix in
     * turn. It overlaps nothing else. */
    void *sums;
    /* Of groups of rows: the device address of an int. It becomes 1 if a group has no place in dst.
     * NULL: there is none. */
    int *overflow;
    /* Of groups of rows: what dst has place for, as in autotune_groups. 0: as much as the plan was
     * made for. */
    int64_t most_rows;
    /* Of affine and many matrices: the numbers of matrix or group g begin g*channel_stride numbers
     * after the first ones. 0: all have the same. With affine=rows, groups of rows have one number
     * for each row of src, and this is 0. */
    int64_t channel_stride;
} autotune_execution;

/* Make structs that have their struct_size, and 0 in all other members. */
static inline autotune_problem autotune_problem_init(void)
{
    autotune_problem problem;

    memset(&problem, 0, sizeof problem);
    problem.struct_size = sizeof problem;
    return problem;
}

static inline autotune_tensor autotune_tensor_init(void)
{
    autotune_tensor tensor;

    memset(&tensor, 0, sizeof tensor);
    tensor.struct_size = sizeof tensor;
    return tensor;
}

static inline autotune_groups autotune_groups_init(void)
{
    autotune_groups groups;

    memset(&groups, 0, sizeof groups);
    groups.struct_size = sizeof groups;
    return groups;
}

static inline autotune_device_numbers autotune_device_numbers_init(void)
{
    autotune_device_numbers numbers;

    memset(&numbers, 0, sizeof numbers);
    numbers.struct_size = sizeof numbers;
    return numbers;
}

static inline autotune_info autotune_info_init(void)
{
    autotune_info info;

    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    return info;
}

static inline autotune_plan_options autotune_plan_options_init(void)
{
    autotune_plan_options options;

    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    return options;
}

static inline autotune_execution autotune_execution_init(void)
{
    autotune_execution execution;

    memset(&execution, 0, sizeof execution);
    execution.struct_size = sizeof execution;
    return execution;
}

/* The same as autotune_plan_execute, with all that a plan can need. */
AUTOTUNE_API autotune_status autotune_plan_execute_with(const autotune_plan *plan,
                                                        const autotune_execution *execution,
                                                        autotune_error **error);

/* Write the launches that execute the plan at these addresses; see autotune_answer_launches. NULL
 * stands for addresses that are multiples of align_bytes. The kernels' names live as long as the
 * plan. */
AUTOTUNE_API size_t autotune_plan_launches(const autotune_plan *plan, const void *dst,
                                           const void *src, autotune_launch *launches,
                                           size_t capacity);
/* The bytes of scratch that an execution needs; 0: none. */
AUTOTUNE_API int64_t autotune_plan_scratch_bytes(const autotune_plan *plan);
/* Write the plan's answer of lookup as lines of text; see autotune_answer_describe. */
AUTOTUNE_API size_t autotune_plan_describe(const autotune_plan *plan, char *text, size_t capacity);
AUTOTUNE_API void autotune_plan_free(autotune_plan *plan);

/* Compile the kernels that a plan with this answer has, into the cache of compiled kernels, where
 * plans of any process find them. The answer is one of `profile`, and its device need not be here,
 * so that an image can be filled on a machine without a GPU. A plan also looks for another config
 * if it measures; that one it compiles itself. AUTOTUNE_NO_DEVICE: there is no NVRTC;
 * AUTOTUNE_INVALID: the cache cannot be used; AUTOTUNE_FAILED: a kernel does not compile. */
AUTOTUNE_API autotune_status autotune_precompile(const autotune_answer *answer,
                                                 const autotune_profile *profile,
                                                 autotune_error **error);

/* The plans of a context share the kernels that are loaded there. Those that no plan uses any more
 * stay loaded for later plans, up to 64 in each context; of more, the one that was used last is
 * kept longest. Kernels that were captured into a graph stay loaded as long as their context
 * exists, and so does the scratch of their plans: the graph may run when the plan is freed. */

/* Unload all kernels that no plan uses and no graph has captured. Call this before a device is
 * reset, or a context destroyed that had plans. */
AUTOTUNE_API void autotune_clear(void);
/* Keep at most so many unused kernels in each context from now on, instead of 64. */
AUTOTUNE_API void autotune_keep_unused(size_t most);

/* Name the NVRTC that this process opens, by a path or a name for the loader, in place of what the
 * environment's AUTOTUNE_NVRTC names. It is opened for the first plan that needs it, so this comes
 * before. AUTOTUNE_INVALID if it is open already, or was given another name. */
AUTOTUNE_API autotune_status autotune_set_nvrtc(const char *path, autotune_error **error);

/* ---- what the library does ---- */

/* How much a program wants to be told. Each level has those before it, too. */
typedef enum autotune_log_level {
    AUTOTUNE_LOG_NONE,
    AUTOTUNE_LOG_WARNING, /* a rival gave wrong results; a profile was skipped */
    AUTOTUNE_LOG_INFO,    /* plans: where their configs come from; kernels that were compiled */
    AUTOTUNE_LOG_DEBUG    /* kernels that were in the cache, are loaded and unloaded */
} autotune_log_level;

/* Gets a line of text in English, without a newline, which lives as long as the call. */
typedef void autotune_log_function(void *user_data, autotune_log_level level, const char *line);

/* From now on tell this function, NULL for none, what the library decides and why, up to a level.
 * It runs in the thread that called the library, and several threads may run it at once. It returns
 * normally, and does not call this library. It may still run in another thread for a moment when
 * another one has been set. */
AUTOTUNE_API void autotune_set_log(autotune_log_function *function, void *user_data,
                                   autotune_log_level most);

/* ---- wisdom: what plans have measured ---- */

/* Add what plans of this process have measured to a profile, which is made if it is missing. NULL
 * stands for $AUTOTUNE_WISDOM, which autotune_profile_open reads before all other profiles if it
 * opens the search path. Nothing is ever saved unasked: of many processes with one home, let one
 * save. The file is locked, read, merged and replaced at once; a process that is killed meanwhile
 * leaves the old one. If nothing was measured, nothing is written. AUTOTUNE_INVALID if the file is
 * no profile, which is then left alone; if it cannot be written; or if others keep it locked for
 * ten seconds. */
AUTOTUNE_API autotune_status autotune_wisdom_save(const char *path, autotune_error **error);
/* Forget what plans of this process have measured, and free the memory. Plans stay as they are. */
AUTOTUNE_API void autotune_wisdom_forget(void);

#ifdef __cplusplus
}
#endif

#endif
