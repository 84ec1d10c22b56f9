/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls that are tortured, and how each can fail. */
#ifndef TORTURE_CALLS_H
#define TORTURE_CALLS_H

#include <stddef.h>

/* What a call is about, which tells its kind of file. */
enum about {
    ABOUT_PROCESS,
    ABOUT_SOCKETS,    /* several, as of poll */
    ABOUT_MEMORY,     /* no file behind it */
    ABOUT_MAPPING,    /* as mmap: the file behind it, if any */
    ABOUT_DESCRIPTOR, /* the first argument */
    ABOUT_PATH,       /* the first argument */
    ABOUT_PATH_AT,    /* a folder's descriptor, then a path */
};

enum { CALL_ERRORS_MAX = 4 };

enum trait {
    PARTIAL = 1, /* may do less than it was asked for */
    LASTING = 2, /* changes what others see: a kill right after it is a point too */
    STAYING = 4, /* what makes it fail may go on: a full disk, no memory, no descriptors */
};

struct call {
    const char *name;
    int number;
    enum about about;
    int errors[CALL_ERRORS_MAX]; /* 0-ended */
    unsigned traits;
};

extern const struct call calls[];
extern const size_t call_count;

/* NULL: not one of them. */
const struct call *call_find(int number);
const struct call *call_named(const char *name);

/* EIO and the others by their names; NULL or 0: not one that the table uses. */
const char *error_name(int error);
int error_named(const char *name);

#endif
