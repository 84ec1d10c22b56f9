/* SPDX-License-Identifier: Apache-2.0 */
/* libautotune: tuned matrix transposes, looked up in profiles and run.
 *
 *     autotune_profile *profile;
 *     autotune_plan *plan;
 *     autotune_problem problem = {.elem_size = 4, .rows = 8192, .cols = 8192};
 *
 *     if (autotune_profile_open(&profile, NULL, &error) == AUTOTUNE_OK &&
 *         autotune_plan_create(&plan, profile, &problem, &error) == AUTOTUNE_OK)
 *         autotune_plan_execute(plan, dst, src, stream, &error);
 *
 * No function prints, and none keeps state of its own between calls but the handles of libcuda,
 * NVML and NVRTC, which are opened when a plan or the current device is first asked for. Several
 * threads may use one profile, device, answer or plan at once; each object is freed once, by free
 * functions that take NULL.
 *
 * Functions that can fail return an autotune_status. On failure outputs stay as they were, and
 * *error, unless `error` is NULL, is a new object that tells the cause and the mend, to be freed
 * with autotune_error_free.
 *
 * No function ends its process. Host memory that runs out is AUTOTUNE_NO_MEMORY, and what the call
 * had allocated and opened is released; NVRTC and the driver do as they do. A pointer that is NULL
 * where none is promised is AUTOTUNE_INVALID; functions without a status then return 0, NULL or "",
 * or AUTOTUNE_TIER_DEFAULT.
 *
 * After a fork the child may do all that needs no GPU, whatever other threads were doing. CUDA does
 * not survive a fork: where the parent had used it through this library, what needs a GPU is
 * AUTOTUNE_NO_DEVICE in the child, and the parent's plans can only be freed. */
#ifndef AUTOTUNE_H
#define AUTOTUNE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define AUTOTUNE_API __attribute__((visibility("default")))
#else
#define AUTOTUNE_API
#endif

/* ---- errors ---- */

/* The values are the exit codes of the command. */
typedef enum autotune_status {
    AUTOTUNE_OK = 0,
    AUTOTUNE_FAILED = 1,    /* no legal config, or a kernel that does not compile */
    AUTOTUNE_INVALID = 2,   /* an argument, or a file that is no profile */
    AUTOTUNE_NO_DEVICE = 3, /* no driver, device, current context or NVRTC; or a CUDA call failed */
    AUTOTUNE_MISMATCH = 4,  /* a profile of another device */
    AUTOTUNE_INTERNAL = 5,
    AUTOTUNE_NO_MEMORY = 6 /* of the host; the command has 5 for that */
} autotune_status;

typedef struct autotune_error autotune_error;

AUTOTUNE_API autotune_status autotune_error_status(const autotune_error *error);
/* One line, in English. Lives as long as the error. */
AUTOTUNE_API const char *autotune_error_message(const autotune_error *error);
AUTOTUNE_API void autotune_error_free(autotune_error *error);

/* The version of the library that is loaded: "0.1.0". */
AUTOTUNE_API const char *autotune_version(void);

/* ---- profiles ---- */

typedef struct autotune_profile autotune_profile;

/* Reads a profile; or, for NULL, all on the search path: $AUTOTUNE_PROFILE_PATH,
 * $XDG_DATA_HOME/autotune, and the profiles that are installed. Also reads the kernels' spaces,
 * from $AUTOTUNE_DATADIR or where they are installed. AUTOTUNE_INVALID for a file that is missing,
 * truncated, of an unknown version, or otherwise no profile. */
AUTOTUNE_API autotune_status autotune_profile_open(autotune_profile **profile, const char *path,
                                                   autotune_error **error);
/* Why a file on the search path was skipped; NULL for an index past the last of them. */
AUTOTUNE_API const char *autotune_profile_skipped(const autotune_profile *profile, size_t index);
AUTOTUNE_API void autotune_profile_free(autotune_profile *profile);

/* ---- problems and devices ---- */

/* dst[b*stride_dst + c*ld_dst + r] = src[b*stride_src + r*ld_src + c] for b below batch, r below
 * rows and c below cols: all in elements. 0 is the value of a dense matrix: ld_src = cols, ld_dst =
 * rows, batch = 1, strides of one whole matrix. */
typedef struct autotune_problem {
    int64_t elem_size; /* bytes: 1, 2, 4, 8 or 16 */
    int64_t rows, cols;
    int64_t ld_src, ld_dst;
    int64_t batch;
    int64_t stride_src, stride_dst;
    int64_t in_place; /* 1: src is dst, of square matrices; 0 where they are two buffers */
    /* What the addresses of src and dst are multiples of, a power of two; 0 is 16, what all
     * allocators give, but views into a matrix do not have. */
    int64_t align_bytes;
} autotune_problem;

typedef struct autotune_device autotune_device;

/* A device that need not be here, as described in tuning/devices of the data folder: "h200", or any
 * of its other names: "NVIDIA H200". */
AUTOTUNE_API autotune_status autotune_device_described(autotune_device **device, const char *name,
                                                       autotune_error **error);
/* The device of the calling thread's current CUDA context, of the driver or the runtime API.
 * AUTOTUNE_NO_DEVICE where there is none, or no driver. */
AUTOTUNE_API autotune_status autotune_device_current(autotune_device **device,
                                                     autotune_error **error);
AUTOTUNE_API const char *autotune_device_name(const autotune_device *device);
AUTOTUNE_API void autotune_device_free(autotune_device *device);

/* ---- lookup ---- */

/* Where an answer comes from, the best first. */
typedef enum autotune_tier {
    AUTOTUNE_TIER_EXACT,        /* this problem, tuned on this model of device */
    AUTOTUNE_TIER_SHAPE,        /* the nearest problem on this model */
    AUTOTUNE_TIER_CHIP,         /* the nearest on as many of the same multiprocessors */
    AUTOTUNE_TIER_ARCHITECTURE, /* the nearest on the same compute capability */
    AUTOTUNE_TIER_OTHER,        /* the nearest on the nearest architecture */
    AUTOTUNE_TIER_DEFAULT       /* no entry is legal: the default config */
} autotune_tier;

typedef struct autotune_answer autotune_answer;

/* Which config to take; legal for problem and device. policy is "cold" (NULL means that too) or
 * "warm": which entries are preferred. The answer borrows from the profile, which must outlive it.
 * AUTOTUNE_INVALID for a problem that makes no sense or another policy, AUTOTUNE_FAILED if no
 * config is legal. */
AUTOTUNE_API autotune_status autotune_lookup(autotune_answer **answer,
                                             const autotune_profile *profile,
                                             const autotune_device *device,
                                             const autotune_problem *problem, const char *policy,
                                             autotune_error **error);
AUTOTUNE_API void autotune_answer_free(autotune_answer *answer);

/* AUTOTUNE_MISMATCH unless it was tuned on this model of device. */
AUTOTUNE_API autotune_status autotune_answer_check_device(const autotune_answer *answer,
                                                          autotune_error **error);
AUTOTUNE_API autotune_tier autotune_answer_tier(const autotune_answer *answer);
/* How far the tuned problem is; 0 for the problem itself. doc/downstream.md tells of what it is
 * made. */
AUTOTUNE_API double autotune_answer_distance(const autotune_answer *answer);
/* The share of the copy limit that the config reached on the tuned problem, in thousandths; 0: not
 * known. */
AUTOTUNE_API int autotune_answer_expected_permille(const autotune_answer *answer);
/* 1 if no time behind it was measured, since it comes from an emulated device. */
AUTOTUNE_API int autotune_answer_is_predicted(const autotune_answer *answer);
/* The profile's path, and the tuned problem in it; NULL for the default tier. */
AUTOTUNE_API const char *autotune_answer_path(const autotune_answer *answer);
AUTOTUNE_API const char *autotune_answer_tuned_problem(const autotune_answer *answer);

/* The kernel: templates/FAMILY.cu, compiled with each parameter as a macro, and ELEM_SIZE. */
AUTOTUNE_API const char *autotune_answer_family(const autotune_answer *answer);
AUTOTUNE_API size_t autotune_answer_parameter_count(const autotune_answer *answer);
AUTOTUNE_API const char *autotune_answer_parameter_name(const autotune_answer *answer,
                                                        size_t index);
AUTOTUNE_API int autotune_answer_parameter_value(const autotune_answer *answer, size_t index);

typedef struct autotune_launch {
    unsigned grid[3], block[3]; /* x, y, z */
    unsigned shared_bytes;      /* dynamic shared memory of a block */
    int carveout_percent; /* preferred share of shared memory in L1; -1: the driver's choice */
} autotune_launch;

AUTOTUNE_API autotune_launch autotune_answer_launch(const autotune_answer *answer);

/* All of it as lines of text, or as JSON, as `autotune lookup` prints it. Writes at most `capacity`
 * bytes, the NUL included, and returns the length that the whole has; 0, with the text "", if
 * memory runs out. `text` may be NULL, to learn the length. */
AUTOTUNE_API size_t autotune_answer_describe(const autotune_answer *answer, char *text,
                                             size_t capacity);
AUTOTUNE_API size_t autotune_answer_json(const autotune_answer *answer, char *text,
                                         size_t capacity);

/* ---- plans ---- */

typedef struct autotune_plan autotune_plan;

/* Looks the problem up for the device of the current CUDA context, and loads the kernel there:
 * compiled with NVRTC, for which there may be another thread meanwhile, or from the cache that the
 * command uses too. Not to be called while a stream of the thread is captured. The plan keeps
 * nothing of the profile. */
AUTOTUNE_API autotune_status autotune_plan_create(autotune_plan **plan,
                                                  const autotune_profile *profile,
                                                  const autotune_problem *problem,
                                                  autotune_error **error);

/* Starts the transpose of src into dst, which are device addresses and must not overlap, or in
 * place must be the same, in `stream` (a CUstream or cudaStream_t, NULL the default one) of the
 * context that the plan was made in, which must be current. Returns before it has ended. May be
 * captured. Addresses that are multiples of the problem's align_bytes get the tuned kernel; others
 * that are multiples of the element get one that needs no more. */
AUTOTUNE_API autotune_status autotune_plan_execute(const autotune_plan *plan, void *dst,
                                                   const void *src, void *stream,
                                                   autotune_error **error);
/* What the lookup said, as lines of text; see autotune_answer_describe. */
AUTOTUNE_API size_t autotune_plan_describe(const autotune_plan *plan, char *text, size_t capacity);
/* The plan's context must be current, and what was started must have ended. */
AUTOTUNE_API void autotune_plan_free(autotune_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
