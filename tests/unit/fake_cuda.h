/* SPDX-License-Identifier: Apache-2.0 */
/* A driver with H200s that runs nothing. It replaces libcuda in the program that links it. Every
 * thread begins with a current context, and several may call it at once. Kernels only take the time
 * that a test has given them, and their results are right or, if a test wants it, wrong: then the
 * checks of templates/harness.cu fail. */
#ifndef AT_TESTS_UNIT_FAKE_CUDA_H
#define AT_TESTS_UNIT_FAKE_CUDA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether there is a driver. Once a call has found it, it stays. */
extern bool fake_cuda_is_there;

/* Whether the program that links it also defines CUPTI (fake_cupti.h). No other one is found. */
extern bool fake_cupti_is_there;

/* The device of this thread's context; 0 at first. Each has its own UUID, and the last one fewer
 * multiprocessors. */
enum { FAKE_CUDA_OTHER_MODEL = 8, FAKE_CUDA_DEVICES };
extern _Thread_local int fake_cuda_device;

/* This thread's current context; NULL: none. Modules belong to the context in which they were
 * loaded, and are only unloaded there. */
enum { FAKE_CUDA_CONTEXTS = FAKE_CUDA_DEVICES };
extern char fake_cuda_contexts[FAKE_CUDA_CONTEXTS]; /* the first one is current at first */
extern _Thread_local void *fake_cuda_context;

/* The ids of contexts; 0: destroyed. */
extern atomic_int fake_cuda_context_ids[FAKE_CUDA_CONTEXTS];

/* An older driver does not tell ids. */
extern bool fake_cuda_is_old;

/* Make another context where this one is, with all its modules gone. */
void fake_cuda_renew_context(int number);

/* The last launch of a family's kernel: its context, and the addresses of its arguments. */
extern _Thread_local void *fake_cuda_launched_in;
extern _Thread_local uint64_t fake_cuda_launched[2]; /* dst and src */
enum { FAKE_CUDA_WORDS = 17 };
extern _Thread_local uint64_t
    fake_cuda_last[FAKE_CUDA_WORDS]; /* the words of argument number fake_cuda_last_at */
extern int fake_cuda_last_at;        /* 0: none is read */

/* Counts of loaded modules, of all that were ever loaded, of launches and of all calls. */
extern atomic_int fake_cuda_modules, fake_cuda_loads, fake_cuda_launches, fake_cuda_calls;

/* Modules that were unloaded in a context that they are not of, and events that were asked for in a
 * mode that breaks captures. */
extern atomic_int fake_cuda_mistakes;

/* How often a primary context was asked for: that of device 0 is the first one here. */
extern atomic_int fake_cuda_retained;

/* Counts of blocks, streams, events and graphs that are not freed, and of blocks ever allocated. */
extern atomic_int fake_cuda_held, fake_cuda_allocations;

/* The time that this thread's kernels and copies have taken. */
extern _Thread_local int64_t fake_cuda_now_ns;

/* No event has ended that is asked for; or asking returns this CUresult, if it is not 0. */
extern bool fake_cuda_is_late;
extern int fake_cuda_queries_fail;

/* The kernels of families, in the order in which they were first found. Scripts stay when
 * fake_cuda_forget forgets the names and the launches: number 0 is then the next kernel found. */
enum { FAKE_CUDA_KERNELS_MAX = 256 };
extern struct fake_cuda_kernel {
    char entry[40];
    atomic_int launches;
    atomic_int shared; /* bytes that its launches may have; 0: 48 KiB */
    int64_t ns;        /* the script: the time of a launch; 0: 10 us */
    bool wrong;        /* its results are wrong */
    int crashes;       /* 0, or the CUresult of its launches */
} fake_cuda_kernels[FAKE_CUDA_KERNELS_MAX];
extern int fake_cuda_kernel_count;
void fake_cuda_forget(void);

/* Stop threads that begin to load a module, or to run a family's kernel, on a device. */
enum fake_cuda_point { FAKE_CUDA_LOAD = 1, FAKE_CUDA_RUN };
void fake_cuda_stop(int device, enum fake_cuda_point point);

/* Wait until a thread has stopped there. */
void fake_cuda_await(void);

/* Let all go on. Returns how many threads had stopped. */
int fake_cuda_go(void);

#endif
