/* SPDX-License-Identifier: Apache-2.0 */
/* What is behind the types of autotune.h. Public names begin with autotune_; the at_ ones of the
 * rest of the source are hidden in the library. */
#ifndef AT_LIB_OBJECTS_H
#define AT_LIB_OBJECTS_H

#include "lib/autotune.h"
#include "lookup/lookup.h"

struct autotune_error {
    struct at_error error;
};

struct autotune_profile {
    struct at_profiles profiles;
    struct at_family **families;
    size_t family_count;
    struct at_lookup *lookup;
};

struct autotune_device {
    struct at_device_info info;
};

struct autotune_answer {
    struct at_problem problem;
    struct at_device_info device;
    char policy[sizeof((struct at_policy_record *)0)->name];
    struct at_answer answer;
};

/* Of more bytes malloc has none at hand for a thread, which would be a tenth of a lookup. */
_Static_assert(sizeof(struct autotune_answer) <= 1032, "an answer is quickly made");

/* What a public function does. Its data have what it takes and gives. */
typedef enum at_status autotune_body(void *data, struct at_error *err);

/* Runs the body in a guard (base/guard.h) and makes the caller's error object. */
autotune_status autotune_call(autotune_body *body, void *data, autotune_error **error);

/* Makes the caller's error object, where one is asked for. Returns the error's status, or
 * AUTOTUNE_NO_MEMORY where there is none for the object. */
autotune_status autotune_fail(autotune_error **error, const struct at_error *err);

/* AUTOTUNE_INVALID for the argument of this name. */
autotune_status autotune_fail_null(autotune_error **error, const char *argument);

/* What the addresses are multiples of. */
int64_t autotune_align_bytes(const autotune_problem *problem);

/* The problem with its zeroes filled in. AT_USAGE if it makes no sense. */
enum at_status autotune_take_problem(struct at_problem *problem, const autotune_problem *given,
                                     struct at_error *err);

enum at_status autotune_ask(struct autotune_answer *answer, const autotune_profile *profile,
                            struct at_error *err);

/* The device of the current context. */
enum at_status autotune_find_current(struct at_device_info *info, struct at_error *err);

/* The answer as lines of text or as JSON, for the caller to at_free. */
enum at_status autotune_write_answer(char **text, const struct autotune_answer *answer, bool json,
                                     struct at_error *err);

/* Copies as much as fits, unless text is NULL, and returns the whole length. */
size_t autotune_copy_text(const char *from, char *text, size_t capacity);

#endif
