/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls that are made to fail, and how each can fail. */
#ifndef TORTURE_CALLS_H
#define TORTURE_CALLS_H

#include <stddef.h>

/* Where to find the file that a call works on. */
enum about {
    ABOUT_PROCESS,
    ABOUT_SOCKETS,    /* several descriptors, as of poll */
    ABOUT_MEMORY,     /* no file behind it */
    ABOUT_MAPPING,    /* mmap: the file behind the mapping, if any */
    ABOUT_DESCRIPTOR, /* the first argument is a descriptor */
    ABOUT_PATH,       /* the first argument is a path */
    ABOUT_PATH_AT,    /* the arguments are a folder's descriptor and a path */
};

enum { CALL_ERRORS_MAX = 4 };

enum trait {
    PARTIAL = 1, /* may transfer fewer bytes than requested */
    LASTING = 2, /* changes what others see: a kill right after it is a point as well */
    STAYING = 4, /* may keep failing: a full disk, no memory, no descriptors */
};

struct call {
    const char *name;
    int number;
    enum about about;
    int errors[CALL_ERRORS_MAX]; /* ends with 0 */
    unsigned traits;
};

extern const struct call calls[];
extern const size_t call_count;

/* Find a call by number or name; NULL if it is not in the table. */
const struct call *call_find(int number);
const struct call *call_named(const char *name);

/* Convert between EIO and "EIO"; NULL or 0 for errors that the table does not use. */
const char *error_name(int error);
int error_named(const char *name);

#endif
