# SPDX-License-Identifier: Apache-2.0

# AT_CHECK_CUDA
# -------------
# Finds the CUDA toolkit's headers. The driver, NVML and NVRTC are opened at run time, so that the
# program starts, and says what is missing, where they are not installed: nothing of CUDA is linked.
#
# build-aux/find-cuda says where they are looked for.
#
# Sets and substitutes CUDA_DIR, CUDA_CPPFLAGS, and AT_CUDA_LIBDIR: where the program looks for
# libnvrtc after the loader's own search.
AC_DEFUN([AT_CHECK_CUDA], [
AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=DIR],
        [the CUDA toolkit, whose headers are needed (default: $CUDA_HOME, $CUDA_PATH,
         /usr/local/cuda, or beside nvcc)])],
    [], [with_cuda=yes])
AC_ARG_VAR([CUDA_HOME], [the CUDA toolkit, where --with-cuda does not say])
AC_ARG_VAR([CUDA_PATH], [the CUDA toolkit, where neither --with-cuda nor CUDA_HOME says])

AC_REQUIRE_AUX_FILE([find-cuda])
AC_MSG_CHECKING([for the CUDA headers])
AS_CASE([$with_cuda],
    [no], [AC_MSG_RESULT([no])
           AC_MSG_ERROR([the CUDA headers cannot be done without (--without-cuda)])],
    [yes], [with_cuda=])
AS_IF([at_cuda_found=`$SHELL "$ac_aux_dir/find-cuda" "$with_cuda" 2>&1`], [],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$at_cuda_found])])
# AT_CUDA_LIBDIR, below the first, is compiled in: both are absolute and without symbolic links.
CUDA_DIR=`AS_ECHO(["$at_cuda_found"]) | sed -n 1p`
at_cuda_include=`AS_ECHO(["$at_cuda_found"]) | sed -n 2p`
AC_MSG_RESULT([$at_cuda_include])

# A directory that the compiler searches anyway must stay where it is in the order.
AS_CASE([$at_cuda_include],
    [/usr/include], [CUDA_CPPFLAGS=],
    [CUDA_CPPFLAGS="-isystem $at_cuda_include"])

at_save_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
AC_MSG_CHECKING([CUDA's version])
AC_COMPUTE_INT([at_cuda_version], [CUDA_VERSION], [#include <cuda.h>
#include <nvrtc.h>], [at_cuda_version=0])
at_cuda_version_text=`expr $at_cuda_version / 1000`.`expr $at_cuda_version % 1000 / 10`
AC_MSG_RESULT([$at_cuda_version_text])
CPPFLAGS=$at_save_CPPFLAGS
AS_IF([test "$at_cuda_version" -eq 0],
    [AC_MSG_ERROR([cuda.h and nvrtc.h in $at_cuda_include do not compile: see config.log])])
AS_IF([test "$at_cuda_version" -lt 12000],
    [AC_MSG_ERROR([the CUDA headers in $at_cuda_include are of $at_cuda_version_text: 12.0 or newer is needed])])

AC_MSG_CHECKING([where NVRTC is installed])
AT_CUDA_LIBDIR=
for at_dir in lib64 targets/x86_64-linux/lib targets/sbsa-linux/lib lib lib/x86_64-linux-gnu \
              lib/aarch64-linux-gnu; do
    for at_file in "$CUDA_DIR/$at_dir"/libnvrtc.so.*; do
        AS_IF([test -f "$at_file"], [AT_CUDA_LIBDIR=$CUDA_DIR/$at_dir; break 2])
    done
done
AS_IF([test -n "$AT_CUDA_LIBDIR"],
    [AC_MSG_RESULT([$AT_CUDA_LIBDIR])],
    [AT_CUDA_LIBDIR=$CUDA_DIR/lib64
     AC_MSG_RESULT([not in $CUDA_DIR: it must be there, or on the loader's path, at run time])])

AC_SUBST([CUDA_DIR])
AC_SUBST([CUDA_CPPFLAGS])
AC_SUBST([AT_CUDA_LIBDIR])
])
