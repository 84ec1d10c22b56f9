/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded calls: running out of memory ends the call, and not the process. The library runs each
 * public function in a guard; the command has none.
 *
 * The guard of a thread notes what base/memory.h allocates. When an allocation fails, it runs the
 * cleanups that are registered, frees the blocks that are noted, and returns AT_NO_MEMORY.
 * PostgreSQL (PG_TRY, memory contexts) and Lua (lua_pcall) do so too. Code between needs no check
 * of each allocation, but keeps three rules:
 *
 * - It releases memory with at_free(), never with free(), which the guard does not see.
 * - What is not memory has a cleanup while something is allocated: a descriptor, say.
 * - It allocates nothing while a change of what outlives the call is half done.
 *
 * Notes are kept beside the blocks: what a call leaves behind is released with free() as well. */
#ifndef AT_BASE_GUARD_H
#define AT_BASE_GUARD_H

#include "base/error.h"

/* Runs the body. Returns what it returns, or AT_NO_MEMORY with its message in err (not NULL). A
 * guard within a guard is none: memory that runs out ends the outer call. */
enum at_status at_guard_run(enum at_status (*body)(void *data, struct at_error *err), void *data,
                            struct at_error *err);

/* A release that is owed. It lies in the frame of the function that owes it. */
struct at_cleanup {
    void (*release)(void *data);
    void *data;
    struct at_cleanup *below;
};

/* From here on, memory that runs out has release(data) called: the last one pushed first, and all
 * before any block is freed. Without a guard nothing happens. */
void at_cleanup_push(struct at_cleanup *cleanup, void (*release)(void *data), void *data);

/* The release is no longer owed; cleanups are popped in the opposite order. */
void at_cleanup_pop(struct at_cleanup *cleanup);

/* Ends the guarded call. Without a guard it tells stderr and exits with AT_INTERNAL. Also for
 * libraries that say that they got no memory. */
_Noreturn void at_out_of_memory(void);

/* ---- what memory.c rests on ---- */

/* Notes a block of malloc and returns it; NULL is out of memory. Frees the block where it cannot be
 * noted. */
void *at_guard_note(void *block);
void at_guard_forget(const void *block);

/* The same for a block that may be noted already, or may be what another thread's call has left. */
void *at_guard_adopt(void *block);

#endif
