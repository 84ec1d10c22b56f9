/* SPDX-License-Identifier: Apache-2.0 */
/* What is behind the types of autotune.h. Public names begin with autotune_; the at_ ones of the
 * rest of the source are hidden in the library. */
#ifndef AT_LIB_OBJECTS_H
#define AT_LIB_OBJECTS_H

#include "lib/autotune.h"
#include "profile/lookup.h"

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

/* Makes the caller's error object, where one is asked for, and returns the status. */
autotune_status autotune_fail(autotune_error **error, const struct at_error *err);

/* What the addresses are multiples of. */
int64_t autotune_align_bytes(const autotune_problem *problem);

/* The problem with its zeroes filled in. AT_USAGE if it makes no sense. */
enum at_status autotune_take_problem(struct at_problem *problem, const autotune_problem *given,
                                     struct at_error *err);

enum at_status autotune_ask(struct autotune_answer *answer, const autotune_profile *profile,
                            struct at_error *err);

/* The device of the current context. */
enum at_status autotune_find_current(struct at_device_info *info, struct at_error *err);

/* Held while libcuda, NVML and NVRTC are opened, and while NVRTC compiles. */
void autotune_lock(void);
void autotune_unlock(void);

/* Copies as much as fits and returns the whole length. */
size_t autotune_copy_text(const char *from, char *text, size_t capacity);

#endif
