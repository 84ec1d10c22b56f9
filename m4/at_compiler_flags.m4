# SPDX-License-Identifier: Apache-2.0

# AT_COMPILER_FLAGS
# -----------------
# Sets flags for language, warnings, hardening and sanitisers, as far as the compiler supports them, in
# AT_CPPFLAGS, AT_CFLAGS and AT_LDFLAGS. AT_PROGRAM_LDFLAGS is for programs, not for shared libraries.
# CFLAGS, CPPFLAGS and LDFLAGS stay the user's.
AC_DEFUN([AT_COMPILER_FLAGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [make warnings errors])])
AC_ARG_ENABLE([asan], [AS_HELP_STRING([--enable-asan], [build with AddressSanitizer])])
AC_ARG_ENABLE([ubsan], [AS_HELP_STRING([--enable-ubsan], [build with UndefinedBehaviorSanitizer])])

AT_CPPFLAGS= AT_CFLAGS= AT_LDFLAGS= AT_PROGRAM_LDFLAGS=

_AT_TRY_FLAGS([AT_CFLAGS], [-std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes
    -Wmissing-prototypes -Wformat=2 -Wundef -Wpointer-arith -Wno-format-truncation])
AS_IF([test "$enable_werror" = yes], [AS_VAR_APPEND([AT_CFLAGS], [" -Werror"])])

at_sanitizers=
AS_IF([test "$enable_asan" = yes], [at_sanitizers="$at_sanitizers address"])
AS_IF([test "$enable_ubsan" = yes], [at_sanitizers="$at_sanitizers undefined"])
for at_sanitizer in $at_sanitizers; do
    at_before=$AT_LDFLAGS
    _AT_TRY_FLAGS([AT_LDFLAGS], [-fsanitize=$at_sanitizer])
    AS_IF([test "$AT_LDFLAGS" = "$at_before"],
        [AC_MSG_ERROR([$CC cannot link with -fsanitize=$at_sanitizer: is its run-time library installed?])])
    AS_VAR_APPEND([AT_CFLAGS], [" -fsanitize=$at_sanitizer"])
done
AS_IF([test -n "$at_sanitizers"],
    [_AT_TRY_FLAGS([AT_CFLAGS], [-fno-omit-frame-pointer -fno-sanitize-recover=all])],
    [_AT_FORTIFY])

_AT_TRY_FLAGS([AT_CFLAGS], [-fstack-protector-strong -fPIE])
_AT_TRY_FLAGS([AT_LDFLAGS], [-Wl,-z,relro -Wl,-z,now])
_AT_TRY_FLAGS([AT_PROGRAM_LDFLAGS], [-pie])

AC_SUBST([AT_CPPFLAGS])
AC_SUBST([AT_CFLAGS])
AC_SUBST([AT_LDFLAGS])
AC_SUBST([AT_PROGRAM_LDFLAGS])
])

# _AT_FORTIFY
# -----------
# Adds _FORTIFY_SOURCE to AT_CPPFLAGS: the highest level that libc takes without a warning. Adds nothing
# if the compiler does not optimise, which it needs, or sets a level itself.
m4_define([_AT_FORTIFY], [
AC_CACHE_CHECK([for a level of _FORTIFY_SOURCE to add], [at_cv_fortify], [
at_cv_fortify=none
at_save_CPPFLAGS=$CPPFLAGS at_save_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror"
for at_level in 2 3; do
    CPPFLAGS="$at_save_CPPFLAGS -D_FORTIFY_SOURCE=$at_level"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([#include <string.h>
#ifndef __OPTIMIZE__
#error "not optimising"
#endif])], [at_cv_fortify=$at_level])
done
CPPFLAGS=$at_save_CPPFLAGS CFLAGS=$at_save_CFLAGS])
AS_IF([test "$at_cv_fortify" != none],
    [AS_VAR_APPEND([AT_CPPFLAGS], [" -D_FORTIFY_SOURCE=$at_cv_fortify"])])])

# _AT_TRY_FLAGS(VARIABLE, FLAGS)
# ------------------------------
# Appends each flag to VARIABLE with which a program compiles and links without a warning.
m4_define([_AT_TRY_FLAGS], [
for at_flag in m4_normalize([$2]); do
    AS_VAR_PUSHDEF([at_cache], [at_cv_flag_$at_flag])
    AC_CACHE_CHECK([whether $CC takes $at_flag], [at_cache], [
        at_save_CFLAGS=$CFLAGS
        # GCC does not warn about an unknown -Wno-*, but it does about the same -W*.
        CFLAGS="$CFLAGS -Werror `AS_ECHO(["$at_flag"]) | sed 's/^-Wno-/-W/'`"
        # -pie needs code compiled with -fPIE.
        AS_IF([test "$at_flag" = -pie], [CFLAGS="$CFLAGS -fPIE"])
        AC_LINK_IFELSE([AC_LANG_PROGRAM],
            [AS_VAR_SET([at_cache], [yes])], [AS_VAR_SET([at_cache], [no])])
        CFLAGS=$at_save_CFLAGS])
    AS_VAR_IF([at_cache], [yes], [AS_VAR_APPEND([$1], [" $at_flag"])])
    AS_VAR_POPDEF([at_cache])
done])
