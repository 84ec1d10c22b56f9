# SPDX-License-Identifier: Apache-2.0

# AT_CHECK_CUDA
# -------------
# Finds the CUDA toolkit's headers. The driver, NVML and NVRTC are opened at run time, so that the
# program starts, and says what is missing, where they are not installed: nothing of CUDA is linked.
#
# A directory that the user names (--with-cuda, CUDA_HOME, CUDA_PATH) is the one to use or an error;
# only where none is named are the usual places searched.
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

AC_MSG_CHECKING([for the CUDA headers])
CUDA_DIR= at_cuda_include= at_cuda_named=
AS_CASE([$with_cuda],
    [no], [AC_MSG_RESULT([no])
           AC_MSG_ERROR([the CUDA headers cannot be done without (--without-cuda)])],
    [yes|''], [AS_IF([test -n "$CUDA_HOME"], [at_cuda_named=CUDA_HOME CUDA_DIR=$CUDA_HOME],
                     [test -n "$CUDA_PATH"], [at_cuda_named=CUDA_PATH CUDA_DIR=$CUDA_PATH])],
    [at_cuda_named=--with-cuda CUDA_DIR=$with_cuda])

AS_IF([test -n "$at_cuda_named"],
    [_AT_CUDA_LOOK_IN(["$CUDA_DIR"])
     AS_IF([test -z "$at_cuda_include"],
         [AC_MSG_RESULT([no])
          AC_MSG_ERROR([$at_cuda_named=$CUDA_DIR holds no include/cuda.h and include/nvrtc.h
(nor targets/x86_64-linux/include/...): name the root of a CUDA toolkit with NVRTC's headers.])])],
    [at_nvcc=`command -v nvcc 2>/dev/null`
     at_nvcc_root= at_nvcc_real_root=
     AS_IF([test -n "$at_nvcc"],
         [at_nvcc_root=`dirname "$at_nvcc"`/..
          at_nvcc_real_root=`readlink -f "$at_nvcc"`
          at_nvcc_real_root=`dirname "$at_nvcc_real_root"`/..])
     for CUDA_DIR in /usr/local/cuda "$at_nvcc_real_root" "$at_nvcc_root"; do
         test -d "$CUDA_DIR" || continue
         _AT_CUDA_LOOK_IN(["$CUDA_DIR"])
         test -n "$at_cuda_include" && break
     done
     AS_IF([test -z "$at_cuda_include"],
         [AC_MSG_RESULT([no])
          AC_MSG_ERROR([no CUDA headers (cuda.h and nvrtc.h) in /usr/local/cuda or beside nvcc.
Install the CUDA toolkit (from https://developer.nvidia.com/cuda-downloads; of its Debian packages
cuda-cudart-dev-* and cuda-nvrtc-dev-* are enough), or name where it is: --with-cuda=DIR or CUDA_HOME.])])])

# Absolute and without symbolic links: AT_CUDA_LIBDIR is compiled in.
CUDA_DIR=`cd "$CUDA_DIR" && pwd -P`
_AT_CUDA_LOOK_IN(["$CUDA_DIR"])
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

# _AT_CUDA_LOOK_IN(DIR)
# ---------------------
# Sets at_cuda_include to the directory under DIR that holds both headers, or to nothing.
m4_define([_AT_CUDA_LOOK_IN], [
at_cuda_include=
for at_dir in $1/include $1/targets/x86_64-linux/include $1/targets/sbsa-linux/include; do
    AS_IF([test -f "$at_dir/cuda.h" && test -f "$at_dir/nvrtc.h"],
          [at_cuda_include=$at_dir; break])
done])
