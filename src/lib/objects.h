/* SPDX-License-Identifier: Apache-2.0 */
/* The types of autotune.h, and what the library's files share. Public names begin with autotune_;
 * the library hides all at_ names. */
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
    struct autotune_memo *memo;
};

struct autotune_device {
    struct at_device_info info;
};

struct autotune_answer {
    struct at_problem problem;
    struct at_device_info device;
    char policy[sizeof((struct at_policy_record *)0)->name];
    struct at_answer answer;
    _Atomic(char *) config; /* its text; NULL: not wanted yet */
};

/* The body of a public function. `data` holds its arguments and results. */
typedef enum at_status autotune_body(void *data, struct at_error *err);

/* Run the body in a guard (base/memory.h), and make the caller's error object. */
autotune_status autotune_call(autotune_body *body, void *data, autotune_error **error);

/* Make the caller's error object unless `error` is NULL. Returns the error's status, or
 * AUTOTUNE_NO_MEMORY if there is no memory for the object. */
autotune_status autotune_fail(autotune_error **error, const struct at_error *err);

/* Fail with AUTOTUNE_INVALID: the argument of this name is NULL. */
autotune_status autotune_fail_null(autotune_error **error, const char *argument);

/* What a caller asks for: one of these. */
struct autotune_asked {
    const autotune_problem *problem;
    const autotune_tensor *tensor;
    const autotune_groups *groups;
};

/* A struct of autotune.h that grows, and that callers fill. */
struct autotune_layout {
    const char *name;
    size_t struct_size_at; /* the offset of its member struct_size */
    size_t least, known;   /* bytes that the first version had, and that this one has */
    bool is_required;      /* struct_size must not be 0 */
};

/* Copy what a caller gives, with zeros for members that its version lacks. AT_USAGE for another
 * struct_size, and unless what this library does not know is zero. */
enum at_status autotune_take_struct(const struct autotune_layout *layout, void *taken,
                                    const void *given, struct at_error *err);

/* Convert what is asked, with its zeroes filled in; *align_bytes, unless NULL, is what the asked
 * addresses are multiples of. AT_USAGE if it makes no sense. What has no elements is no problem for
 * a lookup. */
enum at_status autotune_take_problem(struct at_problem *problem, int64_t *align_bytes,
                                     const struct autotune_asked *asked, struct at_error *err);

/* Has it no elements, so that there is nothing to do? */
bool autotune_is_empty(const struct at_problem *problem);

/* Fill answer->answer from the profile, by the answer's problem, device and policy. */
enum at_status autotune_ask(struct autotune_answer *answer, const autotune_profile *profile,
                            struct at_error *err);

/* Keep what autotune_ask has answered, for the next such question, unless there is no room. After
 * this a guarded call must not fail, which would free what is kept. */
void autotune_remember(const autotune_profile *profile, const struct autotune_answer *answer);

/* Is it settled, and which are its rivals? See lookup/rivals.h. */
bool autotune_is_settled(const struct autotune_answer *answer);
size_t autotune_rivals(const struct autotune_answer *answer, const autotune_profile *profile,
                       struct at_answer *rivals);

/* Format the answer as lines of text or as JSON. The caller frees *text with at_free. */
enum at_status autotune_write_answer(char **text, const struct autotune_answer *answer, bool json,
                                     struct at_error *err);

/* Write the launches of one transpose, at most `capacity`, and return their number. `kernel` is
 * their kernel's name, or NULL. */
size_t autotune_put_launches(autotune_launch *launches, size_t capacity,
                             const struct at_launch *launch, const char *kernel);

/* Copy as much as fits, unless text is NULL. Returns the whole length. */
size_t autotune_copy_text(const char *from, char *text, size_t capacity);

#endif
