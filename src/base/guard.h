/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded calls: running out of memory ends the call, not the process. The library runs each public
 * function in a guard; the command has none.
 *
 * A thread's guard notes the blocks that base/memory.h allocates. When an allocation fails, the
 * guard runs the registered cleanups, frees the noted blocks and returns AT_NO_MEMORY. PostgreSQL
 * (PG_TRY, memory contexts) and Lua (lua_pcall) work in the same way. Guarded code need not check
 * allocations, but keeps three rules:
 *
 * - It releases memory with at_free(), never with free(), which the guard does not see.
 * - A resource other than memory, such as a descriptor, has a cleanup while code allocates.
 * - It never allocates while data that outlives the call is half changed.
 *
 * The notes are outside of the blocks, so free() can release the result of a call. */
#ifndef AT_BASE_GUARD_H
#define AT_BASE_GUARD_H

#include "base/error.h"

/* Run the body. Returns its status, or AT_NO_MEMORY with a message in err (not NULL). A guard
 * inside another does nothing: running out of memory ends the outer call. */
enum at_status at_guard_run(enum at_status (*body)(void *data, struct at_error *err), void *data,
                            struct at_error *err);

/* A pending release, in the stack frame of the function that has to do it. */
struct at_cleanup {
    void (*release)(void *data);
    void *data;
    struct at_cleanup *below;
};

/* Register release(data) for when memory runs out. Cleanups run last pushed first, before any block
 * is freed. Without a guard this does nothing. */
void at_cleanup_push(struct at_cleanup *cleanup, void (*release)(void *data), void *data);

/* Remove the last cleanup that was pushed. */
void at_cleanup_pop(struct at_cleanup *cleanup);

/* End the guarded call. Without a guard, write a message to stderr and exit with AT_INTERNAL. Also
 * to be called when another library reports that memory ran out. */
_Noreturn void at_out_of_memory(void);

/* ---- for memory.c ---- */

/* Note a malloc block and return it; on NULL, call at_out_of_memory. A block that cannot be noted
 * is freed. */
void *at_guard_note(void *block);
void at_guard_forget(const void *block);

/* The same for a block that may be noted already, or that another thread's call has returned. */
void *at_guard_adopt(void *block);

#endif
