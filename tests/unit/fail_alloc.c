/* SPDX-License-Identifier: Apache-2.0 */
#include "fail_alloc.h"

#include "skipped.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The C library's functions, which it exports for programs that replace malloc. */
void *__libc_malloc(size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

/* The header before each block. */
struct header {
    uint32_t mark, run;  /* the run that counts it; 0: none */
    size_t size, before; /* before: distance from the start of the memory */
    size_t unused;
};

enum { MARK = 0x6661696c };

_Static_assert(sizeof(struct header) == 32, "blocks stay aligned as malloc aligns them");

static atomic_bool counting;
static atomic_size_t counted, live;
static atomic_uint run; /* tells blocks of this run from those of earlier ones */
static size_t failing;
static bool onwards;

void fail_alloc_begin(size_t number, bool all_after)
{
    void *frame;

    backtrace(&frame, 1); /* allocates on its first call */
    failing = number;
    onwards = all_after;
    counted = live = 0;
    run++;
    counting = true;
}

size_t fail_alloc_end(void)
{
    counting = false;
    return counted;
}

size_t fail_alloc_live(void)
{
    return live;
}

#if !WITH_ADDRESS_SANITIZER

/* ---- the caller ---- */

enum who { UNKNOWN, NVRTC, LOADER, C_LIBRARY, OTHERS };

static atomic_bool nvrtc_asks; /* NVRTC has allocated at least once */

static enum who look_up(const void *caller)
{
    Dl_info info;

    if (!dladdr(caller, &info) || !info.dli_fname)
        return OTHERS;
    nvrtc_asks = nvrtc_asks || strstr(info.dli_fname, "libnvrtc");
    return strstr(info.dli_fname, "libnvrtc")   ? NVRTC
           : strstr(info.dli_fname, "/ld-")     ? LOADER
           : strstr(info.dli_fname, "/libc.so") ? C_LIBRARY
                                                : OTHERS;
}

/* A cache of callers: they are few, and dladdr is slower than malloc. */
static enum who who_is(const void *caller)
{
    static atomic_uintptr_t known[4096];
    uintptr_t place = (uintptr_t)caller << 3;
    atomic_uintptr_t *slot = &known[(uintptr_t)caller % (sizeof known / sizeof *known)];
    uintptr_t there = *slot;

    if ((there & ~(uintptr_t)7) != place)
        *slot = there = place | look_up(caller);
    return (enum who)(there & 7);
}

/* Who is it for? The C library and the loader may allocate on behalf of NVRTC. */
static enum who whose(const void *caller)
{
    enum who who = who_is(caller);
    void *frames[32];
    int count;

    if (!nvrtc_asks || (who != C_LIBRARY && who != LOADER))
        return who;
    count = backtrace(frames, (int)(sizeof frames / sizeof *frames));
    for (int i = 0; i < count; i++)
        if (who_is(frames[i]) == NVRTC)
            return NVRTC;
    return who;
}

/* Does this allocation fail? *counts: it is counted. */
static bool fails(enum who who, bool *counts)
{
    size_t number;

    *counts = counting && who != NVRTC;
    if (!*counts)
        return false;
    number = ++counted;
    return failing && (number == failing || (onwards && number > failing));
}

/* ---- blocks ---- */

static struct header *header_of(void *block)
{
    return (struct header *)block - 1;
}

static void *allocate(size_t alignment, size_t size, const void *caller)
{
    size_t before = alignment > sizeof(struct header) ? alignment : sizeof(struct header);
    enum who who = counting ? whose(caller) : UNKNOWN;
    bool counts, failed = fails(who, &counts);
    char *all = failed || size > SIZE_MAX / 2 ? NULL : __libc_memalign(before, before + size);
    struct header *header;

    if (!all) {
        errno = ENOMEM;
        return NULL;
    }
    header = header_of(all + before);
    *header = (struct header){.mark = MARK, .size = size, .before = before};
    if (counts && who != LOADER) {
        header->run = run;
        live++;
    }
    return all + before;
}

static void *allocate_zeroed(size_t count, size_t size, const void *caller)
{
    size_t all;
    void *block = NULL;

    if (__builtin_mul_overflow(count, size, &all))
        errno = ENOMEM;
    else
        block = allocate(0, all, caller);
    return block ? memset(block, 0, all) : NULL;
}

static void release(void *block)
{
    struct header *header = header_of(block);

    if (header->mark != MARK) { /* allocated before this allocator was loaded */
        __libc_free(block);
        return;
    }
    if (header->run != 0 && header->run == run)
        live--;
    header->mark = 0;
    __libc_free((char *)block - header->before);
}

static void *reallocate(void *block, size_t size, const void *caller)
{
    void *moved = allocate(0, size, caller);
    size_t kept = block ? header_of(block)->size : 0;

    if (moved && block) {
        memcpy(moved, block, kept < size ? kept : size);
        release(block);
    }
    return moved;
}

/* ---- replacements of malloc and others ---- */

void *malloc(size_t size)
{
    return allocate(0, size, __builtin_return_address(0));
}

void *calloc(size_t count, size_t size)
{
    return allocate_zeroed(count, size, __builtin_return_address(0));
}

void *realloc(void *block, size_t size)
{
    return reallocate(block, size, __builtin_return_address(0));
}

void *reallocarray(void *block, size_t count, size_t size)
{
    size_t all;

    if (!__builtin_mul_overflow(count, size, &all))
        return reallocate(block, all, __builtin_return_address(0));
    errno = ENOMEM;
    return NULL;
}

void *memalign(size_t alignment, size_t size)
{
    return allocate(alignment, size, __builtin_return_address(0));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return allocate(alignment, size, __builtin_return_address(0));
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *made = allocate(alignment, size, __builtin_return_address(0));

    if (!made)
        return ENOMEM;
    *block = made;
    return 0;
}

size_t malloc_usable_size(void *block)
{
    return block ? header_of(block)->size : 0;
}

void free(void *block)
{
    if (block)
        release(block);
}

#endif
