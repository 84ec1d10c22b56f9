/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FEW = 16, LEAST_BITS = 6 };

/* The latest blocks are in a short list: most are freed soon, and a lookup has no others. Older
 * ones are in a hash table with linear probing, at most half full; NULL is a free slot. */
struct guard {
    jmp_buf out;
    struct at_cleanup *cleanups;
    size_t few_count;
    void *few[FEW];
    void **slots; /* 1 << bits; NULL at first */
    size_t count; /* of blocks in the table */
    unsigned bits;
};

/* Initial-exec: every allocation reads it, and a pointer fits the static TLS block. */
static _Thread_local struct guard *current __attribute__((tls_model("initial-exec")));

/* ---- noted blocks ---- */

/* Fibonacci hashing, without the 4 low bits that malloc's alignment makes 0. */
static size_t home_of(const struct guard *guard, const void *block)
{
    return (size_t)(((uint64_t)(uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >>
                    (64 - guard->bits));
}

static size_t after(const struct guard *guard, size_t slot)
{
    return (slot + 1) & (((size_t)1 << guard->bits) - 1);
}

/* Find the block's slot, or the free one where it belongs. */
static size_t find(const struct guard *guard, const void *block)
{
    size_t slot = home_of(guard, block);

    while (guard->slots[slot] && guard->slots[slot] != block)
        slot = after(guard, slot);
    return slot;
}

static void insert(struct guard *guard, void *block)
{
    guard->slots[find(guard, block)] = block;
    guard->count++;
}

static size_t slots_of(const struct guard *guard)
{
    return guard->slots ? (size_t)1 << guard->bits : 0;
}

static bool grow(struct guard *guard)
{
    struct guard larger = {.bits = guard->slots ? guard->bits + 2 : LEAST_BITS};

    larger.slots = calloc((size_t)1 << larger.bits, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < slots_of(guard); i++)
        if (guard->slots[i])
            insert(&larger, guard->slots[i]);
    free(guard->slots);
    guard->slots = larger.slots;
    guard->bits = larger.bits;
    return true;
}

/* Move the older half of the list into the table. */
static bool spill(struct guard *guard)
{
    if (guard->count + FEW / 2 > slots_of(guard) / 2 && !grow(guard))
        return false;
    for (size_t i = 0; i < FEW / 2; i++)
        insert(guard, guard->few[i]);
    guard->few_count -= FEW / 2;
    memmove(guard->few, guard->few + FEW / 2, guard->few_count * sizeof *guard->few);
    return true;
}

void *at_guard_note(void *block)
{
    struct guard *guard = current;

    if (!block)
        at_out_of_memory();
    if (!guard)
        return block;
    if (guard->few_count == FEW && !spill(guard)) {
        free(block);
        at_out_of_memory();
    }
    guard->few[guard->few_count++] = block;
    return block;
}

/* Move blocks behind the freed slot forward, except those whose own slot is after it. */
static void close_gap(const struct guard *guard, size_t gap)
{
    size_t mask = ((size_t)1 << guard->bits) - 1;

    for (size_t slot = after(guard, gap); guard->slots[slot]; slot = after(guard, slot)) {
        size_t home = home_of(guard, guard->slots[slot]);

        if (((slot - home) & mask) < ((slot - gap) & mask))
            continue;
        guard->slots[gap] = guard->slots[slot];
        guard->slots[slot] = NULL;
        gap = slot;
    }
}

static void forget_slot(struct guard *guard, const void *block)
{
    size_t slot = find(guard, block);

    if (!guard->slots[slot])
        return; /* another library's, or from an earlier call */
    guard->slots[slot] = NULL;
    guard->count--;
    close_gap(guard, slot);
}

void at_guard_disown(const void *block)
{
    struct guard *guard = current;

    if (!guard || !block)
        return;
    for (size_t i = guard->few_count; i-- > 0;)
        if (guard->few[i] == block) {
            guard->few[i] = guard->few[--guard->few_count];
            return;
        }
    if (guard->slots)
        forget_slot(guard, block);
}

void *at_guard_adopt(void *block)
{
    at_guard_disown(block);
    return at_guard_note(block);
}

/* ---- cleanups ---- */

void at_cleanup_push(struct at_cleanup *cleanup, void (*release)(void *data), void *data)
{
    *cleanup = (struct at_cleanup){release, data, NULL};
    if (!current)
        return;
    cleanup->below = current->cleanups;
    current->cleanups = cleanup;
}

void at_cleanup_pop(struct at_cleanup *cleanup)
{
    if (current)
        current->cleanups = cleanup->below;
}

/* ---- the call ---- */

/* Called before longjmp: cleanups and their data are in frames that must still exist. */
static void release_all(struct guard *guard)
{
    while (guard->cleanups) {
        struct at_cleanup *cleanup = guard->cleanups;

        guard->cleanups = cleanup->below;
        cleanup->release(cleanup->data);
    }
    for (size_t i = 0; i < guard->few_count; i++)
        free(guard->few[i]);
    for (size_t i = 0; i < slots_of(guard); i++)
        free(guard->slots[i]);
    free(guard->slots);
}

void at_out_of_memory(void)
{
    static const char message[] = "autotune: out of memory\n";
    struct guard *guard = current;

    if (!guard) {
        /* write, not fprintf: stdio may allocate. */
        ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);

        (void)written;
        _exit(AT_INTERNAL);
    }
    release_all(guard);
    current = NULL;
    longjmp(guard->out, 1);
}

/* The only setjmp. After its second return no local variable is read, so none is volatile. */
enum at_status at_guard_run(enum at_status (*body)(void *data, struct at_error *err), void *data,
                            struct at_error *err)
{
    struct guard guard;
    enum at_status status;

    if (current)
        return body(data, err);
    guard.cleanups = NULL;
    guard.few_count = guard.count = 0;
    guard.slots = NULL;
    if (setjmp(guard.out) != 0)
        return at_fail(err, AT_NO_MEMORY, "out of memory");
    current = &guard;
    status = body(data, err);
    current = NULL;
    free(guard.slots);
    return status;
}

/* The largest block in glibc malloc's thread cache, which its calloc does not use. */
enum { THREAD_CACHE_BYTES = 1032 };

void *at_alloc(size_t size)
{
    if (size > 0 && size <= THREAD_CACHE_BYTES)
        return memset(at_guard_note(malloc(size)), 0, size);
    return at_guard_note(calloc(1, size ? size : 1));
}

void *at_alloc_raw(size_t size)
{
    return at_guard_note(malloc(size ? size : 1));
}

void *at_alloc_array(size_t count, size_t size)
{
    return at_guard_note(calloc(count ? count : 1, size ? size : 1));
}

char *at_strdup(const char *text)
{
    return at_guard_note(strdup(text));
}

char *at_strndup(const char *text, size_t size)
{
    return at_guard_note(strndup(text, size));
}

void *at_memdup(const void *bytes, size_t size)
{
    void *copy = at_alloc_raw(size);

    if (size)
        memcpy(copy, bytes, size);
    return copy;
}

char *at_format(const char *format, ...)
{
    char *text;
    va_list args;

    va_start(args, format);
    text = at_vformat(format, args);
    va_end(args);
    return text;
}

char *at_vformat(const char *format, va_list args)
{
    char *text = NULL;

    return at_guard_note(vasprintf(&text, format, args) < 0 ? NULL : text);
}

void *at_grow(void *items, size_t count, size_t *capacity, size_t item_size)
{
    size_t larger;
    void *moved;

    if (count < *capacity)
        return items;
    larger = *capacity ? *capacity * 2 : 8;
    at_guard_disown(items);
    moved = reallocarray(items, larger, item_size);
    if (!moved)
        free(items);
    *capacity = larger;
    return at_guard_note(moved);
}

void at_free(void *block)
{
    at_guard_disown(block);
    free(block);
}
