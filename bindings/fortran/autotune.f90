! SPDX-License-Identifier: Apache-2.0
! libautotune for Fortran 2018: objects over autotune_c.f90, which has the structs, constants and
! functions of autotune.h with their own names. That header says what they do.
!
! An object frees what it has when it goes out of scope, or by free(). Objects are not copied.
! Procedures that can fail have stat and errmsg, as ALLOCATE has them: stat becomes AUTOTUNE_OK or
! another status. Without stat, a failure is an ERROR STOP with the library's message.
module autotune
    use, intrinsic :: iso_c_binding
    use autotune_c
    use autotune_problems
    implicit none
    public
    private :: owner, writer, outcome, c_text, written, refuse_copy

    ! What all objects have.
    type, abstract :: owner
        private
        type(c_ptr) :: object = c_null_ptr
    contains
        procedure :: handle ! the object's address, for the functions of autotune_c
        procedure, private :: refuse_copy
        generic :: assignment(=) => refuse_copy
    end type owner

    type, extends(owner) :: autotune_profile
    contains
        procedure :: open => profile_open
        procedure :: skipped => profile_skipped
        procedure :: free => profile_free
        final :: profile_final
    end type autotune_profile

    type, extends(owner) :: autotune_device
    contains
        procedure :: described => device_described
        procedure :: make => device_make
        procedure :: current => device_current
        procedure :: name => device_name
        procedure :: free => device_free
        final :: device_final
    end type autotune_device

    ! It borrows from its profile, which is freed later.
    type, extends(owner) :: autotune_answer
    contains
        procedure, private :: answer_of_problem, answer_of_tensor, answer_of_groups
        generic :: lookup => answer_of_problem, answer_of_tensor, answer_of_groups
        procedure :: check_device => answer_check_device
        procedure :: precompile => answer_precompile
        procedure :: info => answer_info
        procedure :: parameter_count => answer_parameter_count
        procedure :: parameter_name => answer_parameter_name
        procedure :: parameter_value => answer_parameter_value
        procedure :: launches => answer_launches
        procedure :: describe => answer_describe
        procedure :: json => answer_json
        procedure :: free => answer_free
        final :: answer_final
    end type autotune_answer

    ! It is freed before its context is destroyed, and when its transposes have ended.
    type, extends(owner) :: autotune_plan
    contains
        procedure, private :: plan_of_problem, plan_of_tensor, plan_of_groups
        generic :: create => plan_of_problem, plan_of_tensor, plan_of_groups
        procedure :: execute => plan_execute
        procedure :: execute_with => plan_execute_with
        procedure :: info => plan_info
        procedure :: launches => plan_launches
        procedure :: scratch_bytes => plan_scratch_bytes
        procedure :: describe => plan_describe
        procedure :: free => plan_free
        final :: plan_final
    end type autotune_plan

    abstract interface
        function writer(object, text, capacity) bind(c) result(length)
            import
            type(c_ptr), value :: object, text
            integer(c_size_t), value :: capacity
            integer(c_size_t) :: length
        end function writer
    end interface

contains

    ! ---- texts and failures ----

    ! Copy a text of C; the empty one for NULL.
    function autotune_text_of(address) result(text)
        type(c_ptr), intent(in) :: address
        character(:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        integer :: i, length

        interface
            function strlen(text) bind(c) result(length)
                import
                type(c_ptr), value :: text
                integer(c_size_t) :: length
            end function strlen
        end interface

        length = 0
        if (c_associated(address)) length = int(strlen(address))
        allocate (character(length) :: text)
        if (length == 0) return
        call c_f_pointer(address, letters, [length])
        do i = 1, length
            text(i:i) = letters(i)
        end do
    end function autotune_text_of

    ! Make a text for C: blanks at the end do not count. NULL stands for a text that is absent.
    subroutine c_text(letters, address, text)
        character(kind=c_char), allocatable, target, intent(out) :: letters(:)
        type(c_ptr), intent(out) :: address
        character(*), intent(in), optional :: text
        integer :: i

        address = c_null_ptr
        if (.not. present(text)) return
        allocate (letters(len_trim(text) + 1))
        do i = 1, len_trim(text)
            letters(i) = text(i:i)
        end do
        letters(size(letters)) = c_null_char
        address = c_loc(letters)
    end subroutine c_text

    ! Get the text that a function of the library writes.
    function written(write, object) result(text)
        procedure(writer) :: write
        type(c_ptr), intent(in) :: object
        character(:), allocatable :: text
        character(kind=c_char), allocatable, target :: letters(:)
        integer(c_size_t) :: length

        allocate (letters(write(object, c_null_ptr, 0_c_size_t) + 1))
        length = write(object, c_loc(letters), size(letters, kind=c_size_t))
        text = autotune_text_of(c_loc(letters))
    end function written

    ! End a call of the library, and free its error.
    subroutine outcome(status, error, stat, errmsg)
        integer(c_int), intent(in) :: status
        type(c_ptr), intent(in) :: error
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(:), allocatable :: message

        if (present(stat)) stat = status
        if (status == AUTOTUNE_OK) return
        message = autotune_text_of(autotune_error_message(error))
        call autotune_error_free(error)
        if (.not. present(stat)) error stop message
        if (present(errmsg)) errmsg = message
    end subroutine outcome

    function handle(self)
        class(owner), intent(in) :: self
        type(c_ptr) :: handle

        handle = self%object
    end function handle

    subroutine refuse_copy(self, other)
        class(owner), intent(inout) :: self
        class(owner), intent(in) :: other

        if (c_associated(self%object) .or. c_associated(other%object)) &
            error stop 'autotune: an object would be freed twice, and is not copied'
    end subroutine refuse_copy

    ! The version of the library that is loaded.
    function autotune_loaded_version() result(text)
        character(:), allocatable :: text

        text = autotune_text_of(autotune_version())
    end function autotune_loaded_version

    ! The scales of the results of a problem with blocks: of dst, and of dst2.
    subroutine autotune_scales_of(problem, scales, stat, errmsg)
        type(autotune_problem), target, intent(in) :: problem
        type(autotune_scales), target, intent(out) :: scales(2)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: error
        integer(c_int) :: status

        error = c_null_ptr
        status = autotune_problem_scales(c_loc(scales), c_loc(problem), error)
        call outcome(status, error, stat, errmsg)
    end subroutine autotune_scales_of

    ! ---- profiles ----

    ! Without a path: all profiles on the search path.
    subroutine profile_open(self, path, stat, errmsg)
        class(autotune_profile), intent(inout) :: self
        character(*), intent(in), optional :: path
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), allocatable, target :: letters(:)
        type(c_ptr) :: address, error
        integer(c_int) :: status

        call self%free()
        error = c_null_ptr
        call c_text(letters, address, path)
        status = autotune_profile_open(self%object, address, error)
        call outcome(status, error, stat, errmsg)
    end subroutine profile_open

    ! Why file number i of those that were skipped was skipped; empty past the last.
    function profile_skipped(self, i) result(text)
        class(autotune_profile), intent(in) :: self
        integer, intent(in) :: i
        character(:), allocatable :: text

        text = autotune_text_of(autotune_profile_skipped(self%object, int(i - 1, c_size_t)))
    end function profile_skipped

    subroutine profile_free(self)
        class(autotune_profile), intent(inout) :: self

        call autotune_profile_free(self%object)
        self%object = c_null_ptr
    end subroutine profile_free

    subroutine profile_final(self)
        type(autotune_profile), intent(inout) :: self

        call self%free()
    end subroutine profile_final

    ! ---- devices ----

    subroutine device_described(self, name, stat, errmsg)
        class(autotune_device), intent(inout) :: self
        character(*), intent(in) :: name
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), allocatable, target :: letters(:)
        type(c_ptr) :: address, error
        integer(c_int) :: status

        call self%free()
        error = c_null_ptr
        call c_text(letters, address, name)
        status = autotune_device_described(self%object, address, error)
        call outcome(status, error, stat, errmsg)
    end subroutine device_described

    ! Of numbers; struct_size and the name need not be set in them.
    subroutine device_make(self, name, numbers, stat, errmsg)
        class(autotune_device), intent(inout) :: self
        character(*), intent(in) :: name
        type(autotune_device_numbers), intent(in) :: numbers
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), allocatable, target :: letters(:)
        type(autotune_device_numbers), target :: named
        type(c_ptr) :: error
        integer(c_int) :: status

        call self%free()
        error = c_null_ptr
        named = numbers
        named%struct_size = c_sizeof(named)
        call c_text(letters, named%name, name)
        status = autotune_device_make(self%object, c_loc(named), error)
        call outcome(status, error, stat, errmsg)
    end subroutine device_make

    subroutine device_current(self, stat, errmsg)
        class(autotune_device), intent(inout) :: self
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: error
        integer(c_int) :: status

        call self%free()
        error = c_null_ptr
        status = autotune_device_current(self%object, error)
        call outcome(status, error, stat, errmsg)
    end subroutine device_current

    function device_name(self) result(text)
        class(autotune_device), intent(in) :: self
        character(:), allocatable :: text

        text = autotune_text_of(autotune_device_name(self%object))
    end function device_name

    subroutine device_free(self)
        class(autotune_device), intent(inout) :: self

        call autotune_device_free(self%object)
        self%object = c_null_ptr
    end subroutine device_free

    subroutine device_final(self)
        type(autotune_device), intent(inout) :: self

        call self%free()
    end subroutine device_final

    ! ---- answers ----

    subroutine answer_of_problem(self, profile, device, problem, policy, stat, errmsg)
        class(autotune_answer), intent(inout) :: self
        class(autotune_profile), intent(in) :: profile
        class(autotune_device), intent(in) :: device
        type(autotune_problem), target, intent(in) :: problem
        character(*), intent(in), optional :: policy
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), allocatable, target :: letters(:)
        type(c_ptr) :: address, error
        integer(c_int) :: status

        call self%free()
        error = c_null_ptr
        call c_text(letters, address, policy)
        status = autotune_lookup(self%object, profile%object, device%object, c_loc(problem), &
            address, error)
        call outcome(status, error, stat, errmsg)
    end subroutine answer_of_problem

    subroutine answer_of_tensor(self, profile, device, tensor, policy, stat, errmsg)
        class(autotune_answer), intent(inout) :: self
        class(autotune_profile), intent(in) :: profile
        class(autotune_device), intent(in) :: device
        type(autotune_tensor), target, intent(in) :: tensor
        character(*), intent(in), optional :: policy
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), allocatable, target :: letters(:)
        type(c_ptr) :: address, error
        integer(c_int) :: status

        call self%free()
        error = c_null_ptr
        call c_text(letters, address, policy)
        status = autotune_tensor_lookup(self%object, profile%object, device%object, &
            c_loc(tensor), address, error)
        call outcome(status, error, stat, errmsg)
    end subroutine answer_of_tensor

    subroutine answer_of_groups(self, profile, device, groups, policy, stat, errmsg)
        class(autotune_answer), intent(inout) :: self
        class(autotune_profile), intent(in) :: profile
        class(autotune_device), intent(in) :: device
        type(autotune_groups), target, intent(in) :: groups
        character(*), intent(in), optional :: policy
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), allocatable, target :: letters(:)
        type(c_ptr) :: address, error
        integer(c_int) :: status

        call self%free()
        error = c_null_ptr
        call c_text(letters, address, policy)
        status = autotune_groups_lookup(self%object, profile%object, device%object, &
            c_loc(groups), address, error)
        call outcome(status, error, stat, errmsg)
    end subroutine answer_of_groups

    subroutine answer_check_device(self, stat, errmsg)
        class(autotune_answer), intent(in) :: self
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: error
        integer(c_int) :: status

        error = c_null_ptr
        status = autotune_answer_check_device(self%object, error)
        call outcome(status, error, stat, errmsg)
    end subroutine answer_check_device

    ! Compile the kernels of a plan with this answer into the cache; needs no GPU.
    subroutine answer_precompile(self, profile, stat, errmsg)
        class(autotune_answer), intent(in) :: self
        type(autotune_profile), intent(in) :: profile
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: error
        integer(c_int) :: status

        error = c_null_ptr
        status = autotune_precompile(self%object, profile%object, error)
        call outcome(status, error, stat, errmsg)
    end subroutine answer_precompile

    ! What is known of the answer. autotune_text_of makes texts of its addresses.
    subroutine answer_info(self, info, stat, errmsg)
        class(autotune_answer), intent(in) :: self
        type(autotune_info), target, intent(out) :: info
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: error
        integer(c_int) :: status

        error = c_null_ptr
        info%struct_size = c_sizeof(info)
        status = autotune_answer_info(self%object, c_loc(info), error)
        call outcome(status, error, stat, errmsg)
    end subroutine answer_info

    function answer_parameter_count(self) result(count)
        class(autotune_answer), intent(in) :: self
        integer :: count

        count = int(autotune_answer_parameter_count(self%object))
    end function answer_parameter_count

    ! Parameters count from 1.
    function answer_parameter_name(self, i) result(text)
        class(autotune_answer), intent(in) :: self
        integer, intent(in) :: i
        character(:), allocatable :: text

        text = autotune_text_of(autotune_answer_parameter_name(self%object, int(i - 1, c_size_t)))
    end function answer_parameter_name

    function answer_parameter_value(self, i) result(value)
        class(autotune_answer), intent(in) :: self
        integer, intent(in) :: i
        integer :: value

        value = autotune_answer_parameter_value(self%object, int(i - 1, c_size_t))
    end function answer_parameter_value

    function answer_launches(self) result(launches)
        class(autotune_answer), intent(in) :: self
        type(autotune_launch), allocatable, target :: launches(:)
        integer(c_size_t) :: count

        count = autotune_answer_launches(self%object, c_null_ptr, 0_c_size_t)
        allocate (launches(count))
        if (count > 0) count = autotune_answer_launches(self%object, c_loc(launches), count)
    end function answer_launches

    function answer_describe(self) result(text)
        class(autotune_answer), intent(in) :: self
        character(:), allocatable :: text

        text = written(autotune_answer_describe, self%object)
    end function answer_describe

    function answer_json(self) result(text)
        class(autotune_answer), intent(in) :: self
        character(:), allocatable :: text

        text = written(autotune_answer_json, self%object)
    end function answer_json

    subroutine answer_free(self)
        class(autotune_answer), intent(inout) :: self

        call autotune_answer_free(self%object)
        self%object = c_null_ptr
    end subroutine answer_free

    subroutine answer_final(self)
        type(autotune_answer), intent(inout) :: self

        call self%free()
    end subroutine answer_final

    ! ---- plans ----

    subroutine plan_of_problem(self, profile, problem, options, stat, errmsg)
        class(autotune_plan), intent(inout) :: self
        class(autotune_profile), intent(in) :: profile
        type(autotune_problem), target, intent(in) :: problem
        type(autotune_plan_options), target, intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: error, chosen
        integer(c_int) :: status

        call self%free()
        error = c_null_ptr
        chosen = c_null_ptr
        if (present(options)) chosen = c_loc(options)
        status = autotune_plan_create_with(self%object, profile%object, c_loc(problem), chosen, &
            error)
        call outcome(status, error, stat, errmsg)
    end subroutine plan_of_problem

    subroutine plan_of_tensor(self, profile, tensor, options, stat, errmsg)
        class(autotune_plan), intent(inout) :: self
        class(autotune_profile), intent(in) :: profile
        type(autotune_tensor), target, intent(in) :: tensor
        type(autotune_plan_options), target, intent(in), optional :: options
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: error, chosen
        integer(c_int) :: status

        call self%free()
        error = c_null_ptr
        chosen = c_null_ptr
        if (present(options)) chosen = c_loc(options)
        status = autotune_tensor_plan_create_with(self%object, profile%object, c_loc(tensor), &
            chosen, error)
        call outcome(status, error, stat, errmsg)
    end subroutine plan_of_tensor

    subroutine plan_of_groups(self, profile, groups, stat, errmsg)
        class(autotune_plan), intent(inout) :: self
        class(autotune_profile), intent(in) :: profile
        type(autotune_groups), target, intent(in) :: groups
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: error
        integer(c_int) :: status

        call self%free()
        error = c_null_ptr
        status = autotune_groups_plan_create(self%object, profile%object, c_loc(groups), error)
        call outcome(status, error, stat, errmsg)
    end subroutine plan_of_groups

    ! Start the plan's transpose of src into dst, which are device addresses. stream is a CUstream or
    ! cudaStream_t.
    subroutine plan_execute(self, dst, src, stream, stat, errmsg)
        class(autotune_plan), intent(in) :: self
        type(c_ptr), intent(in) :: dst, src
        type(c_ptr), intent(in), optional :: stream
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: error, in
        integer(c_int) :: status

        error = c_null_ptr
        in = c_null_ptr
        if (present(stream)) in = stream
        status = autotune_plan_execute(self%object, dst, src, in, error)
        call outcome(status, error, stat, errmsg)
    end subroutine plan_execute

    ! Start it with all that a plan can need. struct_size need not be set.
    subroutine plan_execute_with(self, execution, stat, errmsg)
        class(autotune_plan), intent(in) :: self
        type(autotune_execution), intent(in) :: execution
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(autotune_execution), target :: sized
        type(c_ptr) :: error
        integer(c_int) :: status

        error = c_null_ptr
        sized = execution
        sized%struct_size = c_sizeof(sized)
        status = autotune_plan_execute_with(self%object, c_loc(sized), error)
        call outcome(status, error, stat, errmsg)
    end subroutine plan_execute_with

    ! What is known of the answer. autotune_text_of makes texts of its addresses.
    subroutine plan_info(self, info, stat, errmsg)
        class(autotune_plan), intent(in) :: self
        type(autotune_info), target, intent(out) :: info
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: error
        integer(c_int) :: status

        error = c_null_ptr
        info%struct_size = c_sizeof(info)
        status = autotune_plan_info(self%object, c_loc(info), error)
        call outcome(status, error, stat, errmsg)
    end subroutine plan_info

    ! The launches at these addresses; without them, at aligned ones.
    function plan_launches(self, dst, src) result(launches)
        class(autotune_plan), intent(in) :: self
        type(c_ptr), intent(in), optional :: dst, src
        type(autotune_launch), allocatable, target :: launches(:)
        type(c_ptr) :: to, from
        integer(c_size_t) :: count

        to = c_null_ptr
        from = c_null_ptr
        if (present(dst)) to = dst
        if (present(src)) from = src
        count = autotune_plan_launches(self%object, to, from, c_null_ptr, 0_c_size_t)
        allocate (launches(count))
        if (count > 0) count = autotune_plan_launches(self%object, to, from, c_loc(launches), count)
    end function plan_launches

    function plan_scratch_bytes(self) result(bytes)
        class(autotune_plan), intent(in) :: self
        integer(c_int64_t) :: bytes

        bytes = autotune_plan_scratch_bytes(self%object)
    end function plan_scratch_bytes

    function plan_describe(self) result(text)
        class(autotune_plan), intent(in) :: self
        character(:), allocatable :: text

        text = written(autotune_plan_describe, self%object)
    end function plan_describe

    subroutine plan_free(self)
        class(autotune_plan), intent(inout) :: self

        call autotune_plan_free(self%object)
        self%object = c_null_ptr
    end subroutine plan_free

    subroutine plan_final(self)
        type(autotune_plan), intent(inout) :: self

        call self%free()
    end subroutine plan_final

    ! ---- the compiler ----

    ! Name the NVRTC of this process, before the first plan.
    subroutine autotune_name_nvrtc(path, stat, errmsg)
        character(*), intent(in) :: path
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), allocatable, target :: letters(:)
        type(c_ptr) :: address, error
        integer(c_int) :: status

        error = c_null_ptr
        call c_text(letters, address, path)
        status = autotune_set_nvrtc(address, error)
        call outcome(status, error, stat, errmsg)
    end subroutine autotune_name_nvrtc

    ! ---- wisdom: what plans have measured ----

    ! Without a path: in the profile that $AUTOTUNE_WISDOM names. autotune_wisdom_forget() forgets it.
    subroutine autotune_save_wisdom(path, stat, errmsg)
        character(*), intent(in), optional :: path
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), allocatable, target :: letters(:)
        type(c_ptr) :: address, error
        integer(c_int) :: status

        error = c_null_ptr
        call c_text(letters, address, path)
        status = autotune_wisdom_save(address, error)
        call outcome(status, error, stat, errmsg)
    end subroutine autotune_save_wisdom

end module autotune
