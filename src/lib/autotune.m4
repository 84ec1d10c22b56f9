# SPDX-License-Identifier: Apache-2.0

# AUTOTUNE_CHECK([MINIMUM-VERSION], [ACTION-IF-FOUND], [ACTION-IF-NOT-FOUND])
# ---------------------------------------------------------------------------
# Looks for libautotune with pkg-config. Substitutes AUTOTUNE_CFLAGS, AUTOTUNE_LIBS, and AUTOTUNE, the
# command, for rules that export kernels. Without ACTION-IF-NOT-FOUND its absence is an error.
AC_DEFUN([AUTOTUNE_CHECK], [
AC_REQUIRE([PKG_PROG_PKG_CONFIG])
PKG_CHECK_MODULES([AUTOTUNE], [autotune >= m4_default([$1], [0.1])],
    [PKG_CHECK_VAR([AUTOTUNE], [autotune], [autotune])
    $2],
    m4_ifval([$3], [[$3]]))
])
