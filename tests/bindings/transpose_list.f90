! SPDX-License-Identifier: Apache-2.0
! The same as transpose_list.c, in Fortran. Axes count from 1 and the first is the fastest, so those of the
! list are reversed when they are read.
module lists
    use autotune
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
    implicit none
    integer, parameter :: rank_max = 6
    integer(int8), parameter :: unwritten = -91
    real(real64), parameter :: scale = 0.3_real64

    type :: list_problem
        character(16) :: kind, strides
        character(32) :: step ! blank: elements are moved
        integer :: bytes, result_bytes, rank, align
        integer, dimension(rank_max) :: extents, permutation, src, dst ! the last two are strides
        integer :: src_first, src_count, dst_first, dst_count
    end type list_problem

    interface
        subroutine device_open() bind(c)
        end subroutine device_open

        function device_put(bytes, count) bind(c) result(address)
            import
            type(c_ptr), value :: bytes
            integer(c_size_t), value :: count
            type(c_ptr) :: address
        end function device_put

        subroutine device_take(bytes, address, count) bind(c)
            import
            type(c_ptr), value :: bytes, address
            integer(c_size_t), value :: count
        end subroutine device_take
    end interface

contains

    ! ---- the list ----

    subroutine read_problem(line, problem)
        character(*), intent(in) :: line
        type(list_problem), intent(out) :: problem
        integer, allocatable :: axes(:, :)
        integer :: last, rank

        last = index(trim(line), ' ', back=.true.)
        problem%step = line(last + 1:)
        read (line(:last), *) problem%kind, problem%strides, problem%bytes, rank
        allocate (axes(rank, 4))
        read (line(:last), *) problem%kind, problem%strides, problem%bytes, problem%rank, axes, &
            problem%src_first, problem%src_count, problem%dst_first, problem%dst_count, problem%align
        axes = axes(rank:1:-1, :)
        problem%extents(:rank) = axes(:, 1)
        problem%permutation(:rank) = rank - axes(:, 2)
        problem%src(:rank) = axes(:, 3)
        problem%dst(:rank) = axes(:, 4)
        problem%result_bytes = problem%bytes
        if (problem%step == '-') then
            problem%step = ''
        else
            problem%result_bytes = merge(8, 4, index(problem%step, 'f64,') > 0)
        end if
    end subroutine read_problem

    ! ---- on the host ----

    function result_of(step, element) result(bytes)
        character(*), intent(in) :: step
        integer(int8), intent(in) :: element(:)
        integer(int8), allocatable :: bytes(:)
        real(real32), parameter :: less = real(scale, real32)

        select case (step)
        case ('u8:f32,scale')
            bytes = transfer(real(iand(int(element(1)), 255), real32)*less, element)
        case ('i16:f32,scale')
            bytes = transfer(real(transfer(element, 0_int16), real32)*less, element)
        case ('i32:f64,scale')
            bytes = transfer(real(transfer(element, 0_int32), real64)*scale, element)
        case ('f64:f32,scale')
            bytes = transfer(real(transfer(element, 0._real64)*scale, real32), element)
        case ('f32,scale')
            bytes = transfer(transfer(element, 0._real32)*less, element)
        case ('f64,scale')
            bytes = transfer(transfer(element, 0._real64)*scale, element)
        case default
            bytes = element
        end select
    end function result_of

    ! Elements count from 0, and are columns here.
    subroutine transpose_here(problem, dst, src)
        type(list_problem), intent(in) :: problem
        integer(int8), intent(inout) :: dst(:, 0:)
        integer(int8), intent(in) :: src(:, 0:)
        integer, dimension(problem%rank) :: indices, extents, strides
        integer :: i, axis, from, to

        associate (permutation => problem%permutation(:problem%rank))
            extents = problem%extents(permutation)
            strides = problem%src(permutation)
        end associate
        indices = 0
        do i = 1, product(extents)
            from = problem%src_first + dot_product(indices, strides)
            to = problem%dst_first + dot_product(indices, problem%dst(:problem%rank))
            dst(:, to) = result_of(problem%step, src(:, from))
            do axis = 1, problem%rank
                indices(axis) = indices(axis) + 1
                if (indices(axis) < extents(axis)) exit
                indices(axis) = 0
            end do
        end do
    end subroutine transpose_here

    ! Bytes of any value; or numbers, because NaN has more than one form.
    subroutine fill(problem, src)
        type(list_problem), intent(in) :: problem
        integer(int8), intent(out) :: src(:, :)
        real(real64) :: drawn(size(src, 1))
        integer :: i

        do i = 1, size(src, 2)
            call random_number(drawn)
            if (problem%step(1:1) /= 'f') then
                src(:, i) = int(floor(drawn*256) - 128, int8)
            else if (problem%bytes == 8) then
                src(:, i) = transfer(drawn(1) - 0.5, src)
            else
                src(:, i) = transfer(real(drawn(1) - 0.5, real32), src)
            end if
        end do
    end subroutine fill

    ! ---- on the GPU ----

    function matrix_of(problem) result(matrix)
        type(list_problem), intent(in) :: problem
        type(autotune_problem) :: matrix

        associate (extents => problem%extents, src => problem%src, dst => problem%dst)
            if (problem%strides == 'dense') then
                matrix = autotune_transpose_of(extents(1), extents(2), problem%bytes)
            else
                matrix = autotune_transpose_of(extents(1), extents(2), problem%bytes, lda=src(2), ldb=dst(2))
                matrix%stride_src = src(3)
                matrix%stride_dst = dst(3)
            end if
            matrix%batch = extents(3)
        end associate
        matrix%explicit_strides = merge(1, 0, problem%strides == 'explicit')
        matrix%align_bytes = problem%align
    end function matrix_of

    ! Its strides are those of autotune.h: the last axis is the fastest.
    function tensor_of(problem) result(tensor)
        type(list_problem), intent(in) :: problem
        type(autotune_tensor) :: tensor

        associate (rank => problem%rank)
            tensor = autotune_permutation_of(problem%extents(:rank), problem%permutation(:rank), problem%bytes)
            if (problem%strides /= 'dense') then
                tensor%strides_src(:rank) = problem%src(rank:1:-1)
                tensor%strides_dst(:rank) = problem%dst(rank:1:-1)
            end if
        end associate
        tensor%explicit_strides = merge(1, 0, problem%strides == 'explicit')
        tensor%align_bytes = problem%align
    end function tensor_of

    ! dst and src are the addresses of the elements with all indices 0.
    subroutine transpose_there(profile, problem, dst, src, stat)
        type(autotune_profile), intent(in) :: profile
        type(list_problem), intent(in) :: problem
        type(c_ptr), intent(in) :: dst, src
        integer, intent(out) :: stat
        character(len(problem%step) + 1), target :: step
        character(500) :: message
        type(autotune_problem) :: matrix
        type(autotune_tensor) :: tensor
        type(autotune_execution) :: execution
        type(autotune_plan) :: plan

        step = trim(problem%step)//c_null_char
        if (problem%kind == 'matrix') then
            matrix = matrix_of(problem)
            if (problem%step /= '') matrix%step = c_loc(step)
            call plan%create(profile, matrix, stat=stat, errmsg=message)
        else
            tensor = tensor_of(problem)
            if (problem%step /= '') tensor%step = c_loc(step)
            call plan%create(profile, tensor, stat=stat, errmsg=message)
        end if
        if (stat == AUTOTUNE_OK .and. problem%step == '') then
            call plan%execute(dst, src, stat=stat, errmsg=message)
        else if (stat == AUTOTUNE_OK) then
            execution%dst = dst
            execution%src = src
            execution%scale%value(1) = scale
            call plan%execute_with(execution, stat, message)
        end if
        if (stat /= AUTOTUNE_OK) print '(a)', trim(message)
    end subroutine transpose_there

    ! The address of an element.
    function element_at(address, number, bytes) result(element)
        type(c_ptr), intent(in) :: address
        integer, intent(in) :: number, bytes
        type(c_ptr) :: element

        element = transfer(transfer(address, 0_c_intptr_t) + int(number, c_intptr_t)*bytes, element)
    end function element_at

    function is_right(profile, problem)
        type(autotune_profile), intent(in) :: profile
        type(list_problem), intent(in) :: problem
        logical :: is_right
        integer(int8), allocatable, target :: src(:, :), found(:, :), wanted(:, :)
        type(c_ptr) :: there_src, there_dst
        integer :: stat

        allocate (src(problem%bytes, problem%src_count))
        allocate (wanted(problem%result_bytes, problem%dst_count), source=unwritten)
        allocate (found, mold=wanted)
        call fill(problem, src)
        there_src = device_put(c_loc(src), size(src, kind=c_size_t))
        there_dst = device_put(c_loc(wanted), size(wanted, kind=c_size_t))
        call transpose_there(profile, problem, element_at(there_dst, problem%dst_first, problem%result_bytes), &
            element_at(there_src, problem%src_first, problem%bytes), stat)
        call device_take(c_loc(found), there_dst, size(found, kind=c_size_t))
        call device_take(c_loc(src), there_src, size(src, kind=c_size_t))
        call transpose_here(problem, wanted, src)
        is_right = stat == AUTOTUNE_OK .and. all(found == wanted)
    end function is_right

    ! The profile ends with the subroutine; a main program's variables would not.
    subroutine transpose_all(unit)
        integer, intent(in) :: unit
        type(autotune_profile) :: profile
        type(list_problem) :: problem
        character(500) :: line
        integer :: count, wrong, ended

        call device_open()
        call profile%open()
        count = 0
        wrong = 0
        do
            read (unit, '(a)', iostat=ended) line
            if (ended /= 0) exit
            count = count + 1
            call read_problem(line, problem)
            if (is_right(profile, problem)) cycle
            print '(a, i0, a)', 'problem ', count, ' differs'
            wrong = wrong + 1
        end do
        print '(i0, a, i0, a)', count, ' problems, ', wrong, ' differ'
        if (wrong > 0) error stop 1
    end subroutine transpose_all
end module lists

program transpose_list
    use lists
    implicit none
    character(1000) :: path
    integer :: unit

    call get_command_argument(1, path)
    open (newunit=unit, file=trim(path), status='old', action='read')
    call transpose_all(unit)
end program transpose_list
