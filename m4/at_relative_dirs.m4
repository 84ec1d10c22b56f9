# SPDX-License-Identifier: Apache-2.0

# AT_RELATIVE_DIRS
# ----------------
# Sets and substitutes the ways from installed files to other folders:
#   AT_BIN_TO_DATA     from the program to the data folder
#   AT_LIB_TO_DATA     from the library to the same
#   AT_LIB_TO_BIN      from the library to the program's folder
#   AT_CMAKE_TO_X      from CMake's files to X: BIN, INCLUDE, LIB, PROFILES
#   AT_PC_TO_PREFIX    from the .pc file to the prefix
#   AT_PREFIX_TO_X     from the prefix to X: BIN, DATA, INCLUDE, LIB
AC_DEFUN([AT_RELATIVE_DIRS], [
at_save_prefix=$prefix at_save_exec_prefix=$exec_prefix
AS_IF([test "$prefix" = NONE], [prefix=$ac_default_prefix])
AS_IF([test "$exec_prefix" = NONE], [exec_prefix=$prefix])
_AT_RELATIVE([AT_BIN_TO_DATA], [$bindir], [$datadir/$PACKAGE])
_AT_RELATIVE([AT_LIB_TO_DATA], [$libdir], [$datadir/$PACKAGE])
_AT_RELATIVE([AT_LIB_TO_BIN], [$libdir], [$bindir])
_AT_RELATIVE([AT_CMAKE_TO_BIN], [$libdir/cmake/Autotune], [$bindir])
_AT_RELATIVE([AT_CMAKE_TO_INCLUDE], [$libdir/cmake/Autotune], [$includedir])
_AT_RELATIVE([AT_CMAKE_TO_LIB], [$libdir/cmake/Autotune], [$libdir])
_AT_RELATIVE([AT_CMAKE_TO_PROFILES], [$libdir/cmake/Autotune], [$datadir/$PACKAGE/results])
_AT_RELATIVE([AT_PC_TO_PREFIX], [$libdir/pkgconfig], [$prefix])
_AT_RELATIVE([AT_PREFIX_TO_BIN], [$prefix], [$bindir])
_AT_RELATIVE([AT_PREFIX_TO_INCLUDE], [$prefix], [$includedir])
_AT_RELATIVE([AT_PREFIX_TO_LIB], [$prefix], [$libdir])
_AT_RELATIVE([AT_PREFIX_TO_DATA], [$prefix], [$datadir])
prefix=$at_save_prefix exec_prefix=$at_save_exec_prefix
])

# _AT_RELATIVE(VARIABLE, FROM, TO)
# --------------------------------
# Sets and substitutes VARIABLE: the relative path between two folders, which need not exist.
m4_define([_AT_RELATIVE], [
_AT_EXPAND([at_from], [$2])
_AT_EXPAND([at_to], [$3])
$1=`AS_ECHO(["$at_from:$at_to"]) | $AWK -F: '{
    gsub("//+", "/"); gsub("/:", ":"); sub("/$", "")
    n = split($[]1, from, "/"); m = split($[]2, to, "/")
    for (i = 1; i <= n && i <= m && from@<:@i@:>@ == to@<:@i@:>@; i++) continue
    for (j = i; j <= n; j++) path = path "../"
    for (j = i; j <= m; j++) path = path to@<:@j@:>@ "/"
    sub("/$", "", path)
    print path == "" ? "." : path }'`
AC_SUBST([$1])])

# _AT_EXPAND(VARIABLE, TEXT)
# --------------------------
# Sets VARIABLE: TEXT with all ${...} in it replaced.
m4_define([_AT_EXPAND], [
$1=$2
while :; do
    AS_CASE([$[]$1], [*'${'*], [eval "$1=\"$[]$1\""], [break])
done])
