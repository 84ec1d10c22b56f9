# SPDX-License-Identifier: Apache-2.0

# AT_EXPAND_DIRS
# --------------
# Sets the full names of installation directories, without ${prefix} in them: AT_BINDIR, AT_INCLUDEDIR,
# AT_LIBDIR, and AT_PROFILEDIR for profiles.
AC_DEFUN([AT_EXPAND_DIRS], [
at_save_prefix=$prefix at_save_exec_prefix=$exec_prefix
AS_IF([test "$prefix" = NONE], [prefix=$ac_default_prefix])
AS_IF([test "$exec_prefix" = NONE], [exec_prefix=$prefix])
_AT_EXPAND([AT_BINDIR], [$bindir])
_AT_EXPAND([AT_INCLUDEDIR], [$includedir])
_AT_EXPAND([AT_LIBDIR], [$libdir])
_AT_EXPAND([AT_PROFILEDIR], [$datadir/$PACKAGE/results])
prefix=$at_save_prefix exec_prefix=$at_save_exec_prefix
])

# _AT_EXPAND(VARIABLE, TEXT)
# --------------------------
# Sets and substitutes VARIABLE: TEXT with all ${...} in it replaced.
m4_define([_AT_EXPAND], [
$1=$2
while :; do
    AS_CASE([$[]$1], [*'${'*], [eval "$1=\"$[]$1\""], [break])
done
AC_SUBST([$1])])
