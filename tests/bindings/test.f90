! SPDX-License-Identifier: Apache-2.0
! Tests of bindings/fortran, over the driver of driver.c. Says what is not so.
module checks
    use autotune
    implicit none
    integer :: failures = 0
    integer(c_int), bind(c, name='driver_freed') :: freed
    integer(c_int), bind(c, name='driver_errors_freed') :: errors_freed
    integer(c_int), bind(c, name='driver_launches') :: launched
    integer(c_int), bind(c, name='fake_cuda_modules') :: modules
    type(c_ptr), bind(c, name='driver_stream') :: last_stream

contains

    subroutine check(condition, what)
        logical, intent(in) :: condition
        character(*), intent(in) :: what

        if (condition) return
        print '(2a)', 'not so: ', what
        failures = failures + 1
    end subroutine check

    subroutine test_lookup(profile)
        type(autotune_profile), intent(in) :: profile
        type(autotune_device) :: device
        type(autotune_answer) :: answer
        type(autotune_info) :: info
        type(autotune_launch), allocatable :: launches(:)
        character(200) :: errmsg
        integer :: stat

        call device%described('h200')
        call check(device%name() == 'NVIDIA H200', 'the name of the described device')
        call answer%lookup(profile, device, autotune_transpose_of(8192, 8192, 4))
        call answer%info(info)
        call check(info%tier == AUTOTUNE_TIER_EXACT .and. info%distance <= 0, 'the tier')
        call check(info%expected_permille > 900 .and. info%is_predicted == 0, 'what is expected')
        call check(autotune_text_of(info%tuned_problem) == '8192x8192:f32', 'the tuned problem')
        call check(len(autotune_text_of(info%path)) > 0, 'the path')
        call check(answer%parameter_count() > 0, 'the number of parameters')
        call check(index(answer%describe(), answer%parameter_name(1)) > 0, 'the name of a parameter')
        call check(answer%parameter_value(1) > 0, 'the value of a parameter')
        launches = answer%launches()
        call check(size(launches) == 1 .and. launches(1)%grid(1) > 0, 'the launches')
        call check(index(answer%describe(), autotune_text_of(info%family)) > 0, 'the description')
        call check(index(answer%json(), '"'//autotune_text_of(info%family)//'"') > 0, 'the JSON')
        call answer%check_device(stat)
        call check(stat == AUTOTUNE_OK, 'the device of the answer')
        call answer%precompile(profile, stat)
        call check(stat == AUTOTUNE_OK, 'the kernels of the answer')

        ! a(1000, 3) has columns of 1000 elements: in C it is a matrix of 3 rows.
        call answer%lookup(profile, device, autotune_transpose_of(1000, 3, 4))
        call check(index(answer%describe(), '3x1000:b4') > 0, 'the rows of a problem')
        call answer%lookup(profile, device, autotune_permutation_of([4, 5, 6], [3, 1, 2], 8), 'warm')
        call answer%info(info)
        call check(len(autotune_text_of(info%family)) > 0, 'an answer for a tensor')
        call answer%lookup(profile, device, autotune_groups_of(64, 2880, 98304, 2))
        call answer%info(info)
        call check(len(autotune_text_of(info%family)) > 0, 'an answer for groups')
        call answer%lookup(profile, device, autotune_transpose_of(3, 3, 4), 'hot', stat, errmsg)
        call check(stat == AUTOTUNE_INVALID .and. index(errmsg, 'hot') > 0, 'an unknown policy')
    end subroutine test_lookup

    subroutine test_made_device(profile)
        type(autotune_profile), intent(in) :: profile
        type(autotune_device) :: device
        type(autotune_answer) :: answer
        type(autotune_info) :: info
        type(autotune_device_numbers) :: numbers
        character(200) :: errmsg
        integer :: stat

        numbers%compute_capability = 90
        numbers%multiprocessors = 132
        numbers%memory_bytes = 150109880320_c_int64_t
        numbers%l2_bytes = 62914560
        call device%make('NVIDIA H200', numbers)
        call check(device%name() == 'NVIDIA H200', 'the name of the device of numbers')
        call answer%lookup(profile, device, autotune_transpose_of(8192, 8192, 4))
        call answer%info(info)
        call check(info%tier == AUTOTUNE_TIER_EXACT, 'the tier on the device of numbers')
        numbers%multiprocessors = 0
        call device%make('NVIDIA H200', numbers, stat, errmsg)
        call check(stat == AUTOTUNE_INVALID .and. index(errmsg, 'multiprocessors') > 0, 'a wrong number')
    end subroutine test_made_device

    subroutine test_errors()
        type(autotune_profile) :: profile
        type(autotune_device) :: device
        character(200) :: errmsg
        integer :: stat, before

        before = errors_freed
        call profile%open('/nowhere/best.yaml', stat, errmsg)
        call check(stat == AUTOTUNE_INVALID .and. index(errmsg, '/nowhere/best.yaml') > 0, 'a missing file')
        call device%described('abacus', stat, errmsg)
        call check(stat == AUTOTUNE_INVALID .and. index(errmsg, 'abacus') > 0, 'an unknown device')
        call check(errors_freed >= before + 2, 'errors are freed')
        call check(.not. c_associated(profile%handle()), 'a profile that is not open')
        call autotune_save_wisdom('/nowhere/wisdom.yaml', stat)
        call check(stat == AUTOTUNE_OK, 'no wisdom to save')
    end subroutine test_errors

    ! b(j, i) == a(i, j), as transpose() has it, also in the upper parts of larger arrays.
    subroutine test_transpose(profile)
        type(autotune_profile), intent(in) :: profile
        integer, parameter :: m = 37, n = 53, lda = 40, ldb = 60
        integer(c_int32_t), target :: a(lda, n), b(ldb, m), dense(n, m), upper(m, n)
        integer, target :: stream
        type(c_ptr) :: in
        type(autotune_plan) :: plan
        type(autotune_problem) :: problem
        type(autotune_info) :: info
        integer :: i, stat, before

        a = reshape([(int(i, c_int32_t), i = 1, lda*n)], [lda, n])
        b = -1
        call plan%create(profile, autotune_transpose_of(m, n, 4, lda, ldb))
        before = launched
        in = c_loc(stream)
        call plan%execute(c_loc(b), c_loc(a), in)
        call check(launched == before + 1 .and. c_associated(last_stream, in), 'the stream')
        call check(all(b(:n, :) == transpose(a(:m, :))), 'a transpose with leading dimensions')
        call check(all(b(n + 1:, :) == -1), 'what is below the transpose')

        upper = a(:m, :)
        problem = autotune_transpose_of(m, n, 4)
        call plan%create(profile, problem)
        call plan%execute(c_loc(dense), c_loc(upper))
        call check(all(dense == transpose(upper)), 'a dense transpose')
        call check(size(plan%launches()) == 1 .and. plan%scratch_bytes() == 0, 'launches and scratch')
        call check(size(plan%launches(c_loc(dense), c_loc(upper))) == 1, 'launches at addresses')
        call plan%info(info)
        call check(info%bytes == 2*4*m*n, 'the bytes of a plan')
        call check(len(plan%describe()) > 0, 'the description of a plan')

        call plan%create(profile, autotune_transpose_of(-1, n, 4), stat=stat)
        call check(stat == AUTOTUNE_INVALID, 'a problem that makes no sense')
        call plan%execute(c_loc(dense), c_loc(upper), stat=stat)
        call check(stat == AUTOTUNE_INVALID, 'a plan that was not made')
    end subroutine test_transpose

    ! size(b, i) == size(a, permutation(i)): the same as RESHAPE with the inverse as ORDER.
    subroutine test_permutation(profile)
        type(autotune_profile), intent(in) :: profile
        integer(c_int32_t), target :: a(20, 30, 40), b(40, 20, 30), c(30, 20, 40)
        type(autotune_plan_options) :: options
        type(autotune_plan) :: plan
        integer :: i, stat

        a = reshape([(int(i, c_int32_t), i = 1, size(a))], shape(a))
        call plan%create(profile, autotune_permutation_of(shape(a), [3, 1, 2], 4))
        call plan%execute(c_loc(b), c_loc(a))
        call check(all(b == reshape(a, shape(b), order=[2, 3, 1])), 'axes 3, 1, 2')
        call check(b(7, 5, 6) == a(5, 6, 7), 'an element of the permutation')
        options%policy = c_null_ptr
        call plan%create(profile, autotune_permutation_of(shape(a), [2, 1, 3], 4), options)
        call plan%execute(c_loc(c), c_loc(a))
        call check(all(c == reshape(a, shape(c), order=[2, 1, 3])), 'axes 2, 1, 3')
        call plan%create(profile, autotune_permutation_of(shape(a), [2, 1], 4), stat=stat)
        call check(stat == AUTOTUNE_INVALID, 'a permutation of fewer axes')
        call plan%create(profile, autotune_permutation_of(shape(a), [1, 1, 2], 4), stat=stat)
        call check(stat == AUTOTUNE_INVALID, 'a permutation that has an axis twice')
    end subroutine test_permutation

    subroutine test_steps(profile)
        type(autotune_profile), intent(in) :: profile
        character(len=30), target :: step
        integer(c_int32_t), target :: a(50, 30), b(30, 50)
        type(autotune_problem) :: problem
        type(autotune_execution) :: execution
        type(autotune_scales) :: scales(2)
        type(autotune_plan) :: plan
        integer :: stat

        a = 1
        step = 'f32,scale'//c_null_char
        problem = autotune_transpose_of(50, 30, 4)
        problem%step = c_loc(step)
        call plan%create(profile, problem)
        call plan%execute(c_loc(b), c_loc(a), stat=stat)
        call check(stat == AUTOTUNE_INVALID, 'a step needs its number')
        execution%dst = c_loc(b)
        execution%src = c_loc(a)
        execution%scale%value(1) = 0.5
        call plan%execute_with(execution, stat)
        call check(stat == AUTOTUNE_OK, 'a step with its number')
        execution%beta%value(1) = 1
        call plan%execute_with(execution, stat)
        call check(stat == AUTOTUNE_INVALID, 'a number too many')

        step = 'bf16:e4m3,blocks=1x128'//c_null_char
        problem = autotune_transpose_of(256, 128, 2)
        problem%step = c_loc(step)
        call autotune_scales_of(problem, scales)
        call check(scales(1)%bytes > 0 .and. scales(2)%bytes == 0, 'the scales of blocks')
    end subroutine test_steps

    subroutine test_groups(profile)
        type(autotune_profile), intent(in) :: profile
        type(autotune_matrix), target :: matrices(4)
        type(autotune_plan) :: list, columns
        integer :: stat

        matrices = autotune_matrix_of(32, 16, c_null_ptr, c_null_ptr)
        call list%create(profile, autotune_list_of(matrices, 4))
        call columns%create(profile, autotune_groups_of(8, 64, 1000, 4))
        call check(list%scratch_bytes() > 0 .and. size(columns%launches()) > 0, 'plans for many matrices')
        call columns%execute(c_null_ptr, c_null_ptr, stat=stat)
        call check(stat == AUTOTUNE_INVALID, 'many matrices without their offsets')
    end subroutine test_groups

    ! Each local object ends with the subroutine.
    subroutine test_final()
        integer :: before

        before = freed
        call all_objects()
        call check(freed == before + 4, 'objects end with their scope')
    end subroutine test_final

    subroutine all_objects()
        type(autotune_profile) :: profile
        type(autotune_device) :: device
        type(autotune_plan) :: plan
        type(autotune_answer), allocatable :: answer

        call profile%open()
        call device%current()
        call check(device%name() == 'NVIDIA H200', 'the name of the current device')
        allocate (answer)
        call answer%lookup(profile, device, autotune_transpose_of(64, 64, 4))
        deallocate (answer)
        call plan%create(profile, autotune_transpose_of(64, 64, 4))
    end subroutine all_objects
end module checks

program test
    use checks
    implicit none
    type(autotune_profile) :: profile

    call profile%open()
    call check(len(profile%skipped(1)) == 0, 'no file was skipped')
    call check(len(autotune_loaded_version()) > 0, 'the version')
    call test_lookup(profile)
    call test_made_device(profile)
    call test_errors()
    call test_transpose(profile)
    call test_permutation(profile)
    call test_steps(profile)
    call test_groups(profile)
    call test_final()
    call autotune_wisdom_forget()
    call check(modules > 0, 'kernels stay loaded')
    call autotune_clear()
    call check(modules == 0, 'kernels are unloaded')
    call profile%free()
    if (failures > 0) error stop 1
    print '(a)', 'ok'
end program test
