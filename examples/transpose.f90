! SPDX-License-Identifier: Apache-2.0
! Transposes a matrix on the GPU: b = transpose(a), with a in the usual column-major order. To build it:
!   modules=$(pkg-config --variable=bindingsdir autotune)/fortran
!   gfortran $modules/autotune_c.f90 $modules/autotune_problems.f90 $modules/autotune.f90 transpose.f90
!       $(pkg-config --libs autotune) -lcuda -o transpose
module cuda_driver
    use, intrinsic :: iso_c_binding
    implicit none

    interface
        function cuInit(flags) bind(c, name='cuInit') result(error)
            import
            integer(c_int), value :: flags
            integer(c_int) :: error
        end function cuInit

        function cuDevicePrimaryCtxRetain(context, device) bind(c, name='cuDevicePrimaryCtxRetain') result(error)
            import
            type(c_ptr), intent(out) :: context
            integer(c_int), value :: device
            integer(c_int) :: error
        end function cuDevicePrimaryCtxRetain

        function cuCtxSetCurrent(context) bind(c, name='cuCtxSetCurrent') result(error)
            import
            type(c_ptr), value :: context
            integer(c_int) :: error
        end function cuCtxSetCurrent

        function cuMemAlloc(address, bytes) bind(c, name='cuMemAlloc_v2') result(error)
            import
            type(c_ptr), intent(out) :: address
            integer(c_size_t), value :: bytes
            integer(c_int) :: error
        end function cuMemAlloc

        function cuMemcpyHtoD(to, from, bytes) bind(c, name='cuMemcpyHtoD_v2') result(error)
            import
            type(c_ptr), value :: to, from
            integer(c_size_t), value :: bytes
            integer(c_int) :: error
        end function cuMemcpyHtoD

        function cuMemcpyDtoH(to, from, bytes) bind(c, name='cuMemcpyDtoH_v2') result(error)
            import
            type(c_ptr), value :: to, from
            integer(c_size_t), value :: bytes
            integer(c_int) :: error
        end function cuMemcpyDtoH

        function cuCtxSynchronize() bind(c, name='cuCtxSynchronize') result(error)
            import
            integer(c_int) :: error
        end function cuCtxSynchronize

        function cuMemFree(address) bind(c, name='cuMemFree_v2') result(error)
            import
            type(c_ptr), value :: address
            integer(c_int) :: error
        end function cuMemFree
    end interface

contains

    subroutine require(error)
        integer(c_int), intent(in) :: error

        if (error /= 0) error stop 'a CUDA call failed'
    end subroutine require
end module cuda_driver

program transpose_example
    use autotune
    use cuda_driver
    implicit none
    integer, parameter :: m = 1000, n = 3000
    integer(c_size_t), parameter :: bytes = 4_c_size_t*m*n
    real(c_float), allocatable, target :: a(:, :), b(:, :)
    type(c_ptr) :: context, src, dst
    integer :: i, j

    allocate (a(m, n), b(n, m))
    do j = 1, n
        a(:, j) = [(real(m*(j - 1) + i, c_float), i = 1, m)]
    end do
    call require(cuInit(0))
    call require(cuDevicePrimaryCtxRetain(context, 0))
    call require(cuCtxSetCurrent(context))
    call require(cuMemAlloc(src, bytes))
    call require(cuMemAlloc(dst, bytes))
    call require(cuMemcpyHtoD(src, c_loc(a), bytes))
    call transpose_there(dst, src)
    call require(cuMemcpyDtoH(c_loc(b), dst, bytes))
    call require(cuMemFree(src))
    call require(cuMemFree(dst))
    print '(i0, a, i0, a)', count(b /= transpose(a)), ' of ', m*n, ' elements are wrong'

contains

    ! Profile and plan end with the subroutine; a main program's variables would not.
    subroutine transpose_there(dst, src)
        type(c_ptr), intent(in) :: dst, src
        type(autotune_profile) :: profile
        type(autotune_plan) :: plan

        call profile%open()
        call plan%create(profile, autotune_transpose_of(m, n, 4))
        call plan%execute(dst, src)
        call require(cuCtxSynchronize())
    end subroutine transpose_there
end program transpose_example
