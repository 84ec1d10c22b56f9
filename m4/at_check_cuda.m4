# SPDX-License-Identifier: Apache-2.0

# AT_CHECK_CUDA
# -------------
# Finds CUDA's headers with build-aux/find-cuda. No CUDA library is linked: the program opens the driver,
# NVML and NVRTC at run time, so that it starts without them and can name what is missing.
#
# Sets and substitutes CUDA_DIR, CUDA_CPPFLAGS and AT_CUDA_LIBDIR, where the program looks for libnvrtc
# after the loader's own search.
AC_DEFUN([AT_CHECK_CUDA], [
AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=DIR],
        [the CUDA toolkit, or the folder of NVIDIA's packages for Python, whose headers are needed
         (default: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, beside nvcc, or python3's packages)])],
    [], [with_cuda=yes])
AC_ARG_VAR([CUDA_HOME], [the same, if --with-cuda is not given])
AC_ARG_VAR([CUDA_PATH], [the same, if neither --with-cuda nor CUDA_HOME is given])

AC_REQUIRE_AUX_FILE([find-cuda])
AC_MSG_CHECKING([for the CUDA headers])
AS_CASE([$with_cuda],
    [no], [AC_MSG_RESULT([no])
           AC_MSG_ERROR([the CUDA headers are needed: --without-cuda is not possible])],
    [yes], [with_cuda=])
AS_IF([at_cuda_found=`$SHELL "$ac_aux_dir/find-cuda" "$with_cuda" 2>&1`], [],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$at_cuda_found])])
# find-cuda's paths are absolute and without symbolic links: AT_CUDA_LIBDIR is compiled in.
CUDA_DIR=`AS_ECHO(["$at_cuda_found"]) | sed -n 1p`
at_cuda_include=`AS_ECHO(["$at_cuda_found"]) | sed -n 2p`
at_nvrtc_include=`AS_ECHO(["$at_cuda_found"]) | sed -n 3p`
at_nvrtc_found=`AS_ECHO(["$at_cuda_found"]) | sed -n 4p`
AC_MSG_RESULT([$at_cuda_include])
AT_CHECK_PATH([CUDA], [$at_cuda_include])
AT_CHECK_PATH([CUDA], [$at_nvrtc_include])

# -isystem must not move a directory that the compiler searches by default.
AS_CASE([$at_cuda_include],
    [/usr/include], [CUDA_CPPFLAGS=],
    [$at_nvrtc_include], [CUDA_CPPFLAGS="-isystem $at_cuda_include"],
    [CUDA_CPPFLAGS="-isystem $at_cuda_include -isystem $at_nvrtc_include"])

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
    [AC_MSG_ERROR([the CUDA headers in $at_cuda_include have version $at_cuda_version_text: 12.0 or newer is needed])])

AC_ARG_WITH([nvrtc-dir],
    [AS_HELP_STRING([--with-nvrtc-dir=DIR],
        [where the program looks for NVRTC after the loader's path, on the machine where it runs; a
         relative DIR begins where the program, or the library, is installed
         (default: where it is now)])],
    [], [with_nvrtc_dir=no])
AC_MSG_CHECKING([where NVRTC is installed])
AS_CASE([$with_nvrtc_dir], [yes | no], [AT_CUDA_LIBDIR=$at_nvrtc_found], [AT_CUDA_LIBDIR=$with_nvrtc_dir])
AS_IF([test -n "$AT_CUDA_LIBDIR"],
    [AC_MSG_RESULT([$AT_CUDA_LIBDIR])],
    [AT_CUDA_LIBDIR=$CUDA_DIR/lib64
     AC_MSG_RESULT([not in $CUDA_DIR: it must be there, or on the loader's path, at run time])])

AC_SUBST([CUDA_DIR])
AC_SUBST([CUDA_CPPFLAGS])
AC_SUBST([AT_CUDA_LIBDIR])
])
