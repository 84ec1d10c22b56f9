! SPDX-License-Identifier: Apache-2.0
! Made by build-aux/make-bindings from src/lib/autotune.h, which explains it: `make bindings`.
module autotune_c
    use, intrinsic :: iso_c_binding
    implicit none
    public

    integer(c_int), parameter :: AUTOTUNE_VERSION_MAJOR = 0
    integer(c_int), parameter :: AUTOTUNE_VERSION_MINOR = 1
    integer(c_int), parameter :: AUTOTUNE_VERSION_PATCH = 0
    integer(c_int), parameter :: AUTOTUNE_RANK_MAX = 24
    integer(c_int), parameter :: AUTOTUNE_ADAPT = 1
    integer(c_int), parameter :: AUTOTUNE_OK = 0
    integer(c_int), parameter :: AUTOTUNE_FAILED = 1
    integer(c_int), parameter :: AUTOTUNE_INVALID = 2
    integer(c_int), parameter :: AUTOTUNE_NO_DEVICE = 3
    integer(c_int), parameter :: AUTOTUNE_MISMATCH = 4
    integer(c_int), parameter :: AUTOTUNE_INTERNAL = 5
    integer(c_int), parameter :: AUTOTUNE_NO_MEMORY = 6
    integer(c_int), parameter :: AUTOTUNE_TIER_EXACT = 0
    integer(c_int), parameter :: AUTOTUNE_TIER_SHAPE = 1
    integer(c_int), parameter :: AUTOTUNE_TIER_CHIP = 2
    integer(c_int), parameter :: AUTOTUNE_TIER_ARCHITECTURE = 3
    integer(c_int), parameter :: AUTOTUNE_TIER_OTHER = 4
    integer(c_int), parameter :: AUTOTUNE_TIER_DEFAULT = 5
    integer(c_int), parameter :: AUTOTUNE_LOG_NONE = 0
    integer(c_int), parameter :: AUTOTUNE_LOG_WARNING = 1
    integer(c_int), parameter :: AUTOTUNE_LOG_INFO = 2
    integer(c_int), parameter :: AUTOTUNE_LOG_DEBUG = 3

    type, bind(c) :: autotune_problem
        integer(c_int64_t) :: elem_size = 0
        integer(c_int64_t) :: rows = 0
        integer(c_int64_t) :: cols = 0
        integer(c_int64_t) :: ld_src = 0
        integer(c_int64_t) :: ld_dst = 0
        integer(c_int64_t) :: batch = 0
        integer(c_int64_t) :: stride_src = 0
        integer(c_int64_t) :: stride_dst = 0
        integer(c_int64_t) :: in_place = 0
        integer(c_int64_t) :: align_bytes = 0
        integer(c_size_t) :: struct_size = 0
        type(c_ptr) :: step = c_null_ptr
        integer(c_int64_t) :: explicit_strides = 0
    end type autotune_problem

    type, bind(c) :: autotune_tensor
        integer(c_int64_t) :: elem_size = 0
        integer(c_int64_t) :: rank = 0
        integer(c_int64_t) :: extents(24) = 0
        integer(c_int64_t) :: permutation(24) = 0
        integer(c_int64_t) :: strides_src(24) = 0
        integer(c_int64_t) :: strides_dst(24) = 0
        integer(c_int64_t) :: align_bytes = 0
        integer(c_size_t) :: struct_size = 0
        type(c_ptr) :: step = c_null_ptr
        integer(c_int64_t) :: explicit_strides = 0
        integer(c_int64_t) :: in_place = 0
    end type autotune_tensor

    type, bind(c) :: autotune_matrix
        type(c_ptr) :: dst = c_null_ptr
        type(c_ptr) :: src = c_null_ptr
        type(c_ptr) :: dst2 = c_null_ptr
        type(c_ptr) :: src2 = c_null_ptr
        integer(c_int64_t) :: rows = 0
        integer(c_int64_t) :: cols = 0
        integer(c_int64_t) :: ld_src = 0
        integer(c_int64_t) :: ld_dst = 0
        integer(c_int64_t) :: batch(2) = 0
        integer(c_int64_t) :: stride_src(2) = 0
        integer(c_int64_t) :: stride_dst(2) = 0
    end type autotune_matrix

    type, bind(c) :: autotune_groups
        integer(c_size_t) :: struct_size = 0
        integer(c_int64_t) :: elem_size = 0
        type(c_ptr) :: step = c_null_ptr
        integer(c_int64_t) :: align_bytes = 0
        integer(c_int64_t) :: count = 0
        type(c_ptr) :: list = c_null_ptr
        integer(c_int64_t) :: rows = 0
        integer(c_int64_t) :: cols = 0
        integer(c_int64_t) :: ld_src = 0
        integer(c_int64_t) :: padding = 0
        integer(c_int64_t) :: most_rows = 0
        integer(c_int64_t) :: stacked = 0
        integer(c_int64_t) :: offset_bytes = 0
    end type autotune_groups

    type, bind(c) :: autotune_scales
        type(c_ptr) :: type = c_null_ptr
        integer(c_int64_t) :: elem_size = 0
        integer(c_int64_t) :: rows = 0
        integer(c_int64_t) :: cols = 0
        integer(c_int64_t) :: row_stride = 0
        integer(c_int64_t) :: col_stride = 0
        integer(c_int64_t) :: matrix_bytes = 0
        integer(c_int64_t) :: bytes = 0
        integer(c_int64_t) :: reserved(4) = 0
    end type autotune_scales

    type, bind(c) :: autotune_device_numbers
        integer(c_size_t) :: struct_size = 0
        type(c_ptr) :: name = c_null_ptr
        integer(c_int64_t) :: compute_capability = 0
        integer(c_int64_t) :: multiprocessors = 0
        integer(c_int64_t) :: memory_bytes = 0
        integer(c_int64_t) :: l2_bytes = 0
        integer(c_int64_t) :: warp_size = 0
        integer(c_int64_t) :: max_threads_per_block = 0
        integer(c_int64_t) :: max_threads_per_multiprocessor = 0
        integer(c_int64_t) :: registers_per_multiprocessor = 0
        integer(c_int64_t) :: shared_bytes_per_block = 0
        integer(c_int64_t) :: shared_bytes_per_block_optin = 0
        integer(c_int64_t) :: shared_bytes_per_multiprocessor = 0
    end type autotune_device_numbers

    type, bind(c) :: autotune_info
        integer(c_size_t) :: struct_size = 0
        integer(c_int64_t) :: tier = 0
        integer(c_int64_t) :: is_uncertain = 0
        integer(c_int64_t) :: is_predicted = 0
        integer(c_int64_t) :: expected_permille = 0
        real(c_double) :: distance = 0
        integer(c_int64_t) :: bytes = 0
        integer(c_int64_t) :: tuned_ns = 0
        type(c_ptr) :: family = c_null_ptr
        type(c_ptr) :: tuned_problem = c_null_ptr
        type(c_ptr) :: path = c_null_ptr
        type(c_ptr) :: config = c_null_ptr
        integer(c_int64_t) :: adapts = 0
    end type autotune_info

    type, bind(c) :: autotune_launch
        integer(c_int) :: grid(3) = 0
        integer(c_int) :: block(3) = 0
        integer(c_int) :: shared_bytes = 0
        integer(c_int) :: carveout_percent = 0
        type(c_ptr) :: kernel = c_null_ptr
        integer(c_int) :: reserved(6) = 0
    end type autotune_launch

    type, bind(c) :: autotune_plan_options
        integer(c_int64_t) :: measure_ms = 0
        type(c_ptr) :: policy = c_null_ptr
        type(c_ptr) :: scratch = c_null_ptr
        integer(c_int64_t) :: scratch_bytes = 0
        integer(c_size_t) :: struct_size = 0
        integer(c_int64_t) :: flags = 0
    end type autotune_plan_options

    type, bind(c) :: autotune_scalar
        type(c_ptr) :: at = c_null_ptr
        real(c_double) :: value(2) = 0
    end type autotune_scalar

    type, bind(c) :: autotune_execution
        integer(c_size_t) :: struct_size = 0
        type(c_ptr) :: dst = c_null_ptr
        type(c_ptr) :: src = c_null_ptr
        type(c_ptr) :: stream = c_null_ptr
        type(autotune_scalar) :: scale = autotune_scalar()
        type(autotune_scalar) :: alpha = autotune_scalar()
        type(autotune_scalar) :: beta = autotune_scalar()
        type(c_ptr) :: src2 = c_null_ptr
        type(c_ptr) :: channel_scale = c_null_ptr
        type(c_ptr) :: channel_shift = c_null_ptr
        type(c_ptr) :: dst2 = c_null_ptr
        type(c_ptr) :: largest = c_null_ptr
        type(c_ptr) :: block_scales = c_null_ptr
        type(c_ptr) :: block_scales2 = c_null_ptr
        type(c_ptr) :: skip = c_null_ptr
        type(c_ptr) :: list = c_null_ptr
        integer(c_int64_t) :: list_count = 0
        type(c_ptr) :: offsets = c_null_ptr
        integer(c_int64_t) :: offset_count = 0
        type(c_ptr) :: scratch = c_null_ptr
        integer(c_int64_t) :: scratch_bytes = 0
        type(c_ptr) :: sums = c_null_ptr
        type(c_ptr) :: overflow = c_null_ptr
        integer(c_int64_t) :: most_rows = 0
        integer(c_int64_t) :: channel_stride = 0
    end type autotune_execution

    interface
        function autotune_version() bind(c, name="autotune_version") result(value)
            import
            type(c_ptr) :: value
        end function autotune_version

        function autotune_version_number() bind(c, name="autotune_version_number") result(value)
            import
            integer(c_int) :: value
        end function autotune_version_number

        function autotune_status_name(status) bind(c, name="autotune_status_name") result(value)
            import
            integer(c_int), value :: status
            type(c_ptr) :: value
        end function autotune_status_name

        function autotune_error_status(error) bind(c, name="autotune_error_status") result(value)
            import
            type(c_ptr), value :: error
            integer(c_int) :: value
        end function autotune_error_status

        function autotune_error_message(error) bind(c, name="autotune_error_message") result(value)
            import
            type(c_ptr), value :: error
            type(c_ptr) :: value
        end function autotune_error_message

        subroutine autotune_error_free(error) bind(c, name="autotune_error_free")
            import
            type(c_ptr), value :: error
        end subroutine autotune_error_free

        function autotune_profile_open(profile, path, error) bind(c, &
           name="autotune_profile_open") result(value)
            import
            type(c_ptr), intent(inout) :: profile
            type(c_ptr), value :: path
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_profile_open

        function autotune_profile_skipped(profile, index) bind(c, &
           name="autotune_profile_skipped") result(value)
            import
            type(c_ptr), value :: profile
            integer(c_size_t), value :: index
            type(c_ptr) :: value
        end function autotune_profile_skipped

        subroutine autotune_profile_free(profile) bind(c, name="autotune_profile_free")
            import
            type(c_ptr), value :: profile
        end subroutine autotune_profile_free

        function autotune_problem_scales(scales, problem, error) bind(c, &
           name="autotune_problem_scales") result(value)
            import
            type(c_ptr), value :: scales
            type(c_ptr), value :: problem
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_problem_scales

        function autotune_device_described(device, name, error) bind(c, &
           name="autotune_device_described") result(value)
            import
            type(c_ptr), intent(inout) :: device
            type(c_ptr), value :: name
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_device_described

        function autotune_device_current(device, error) bind(c, name="autotune_device_current") result(value)
            import
            type(c_ptr), intent(inout) :: device
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_device_current

        function autotune_device_make(device, numbers, error) bind(c, &
           name="autotune_device_make") result(value)
            import
            type(c_ptr), intent(inout) :: device
            type(c_ptr), value :: numbers
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_device_make

        function autotune_device_name(device) bind(c, name="autotune_device_name") result(value)
            import
            type(c_ptr), value :: device
            type(c_ptr) :: value
        end function autotune_device_name

        subroutine autotune_device_free(device) bind(c, name="autotune_device_free")
            import
            type(c_ptr), value :: device
        end subroutine autotune_device_free

        function autotune_lookup(answer, profile, device, problem, policy, error) bind(c, &
           name="autotune_lookup") result(value)
            import
            type(c_ptr), intent(inout) :: answer
            type(c_ptr), value :: profile
            type(c_ptr), value :: device
            type(c_ptr), value :: problem
            type(c_ptr), value :: policy
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_lookup

        function autotune_tensor_lookup(answer, profile, device, tensor, policy, error) bind(c, &
           name="autotune_tensor_lookup") result(value)
            import
            type(c_ptr), intent(inout) :: answer
            type(c_ptr), value :: profile
            type(c_ptr), value :: device
            type(c_ptr), value :: tensor
            type(c_ptr), value :: policy
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_tensor_lookup

        function autotune_groups_lookup(answer, profile, device, groups, policy, error) bind(c, &
           name="autotune_groups_lookup") result(value)
            import
            type(c_ptr), intent(inout) :: answer
            type(c_ptr), value :: profile
            type(c_ptr), value :: device
            type(c_ptr), value :: groups
            type(c_ptr), value :: policy
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_groups_lookup

        subroutine autotune_answer_free(answer) bind(c, name="autotune_answer_free")
            import
            type(c_ptr), value :: answer
        end subroutine autotune_answer_free

        function autotune_answer_check_device(answer, error) bind(c, &
           name="autotune_answer_check_device") result(value)
            import
            type(c_ptr), value :: answer
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_answer_check_device

        function autotune_answer_info(answer, info, error) bind(c, name="autotune_answer_info") result(value)
            import
            type(c_ptr), value :: answer
            type(c_ptr), value :: info
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_answer_info

        function autotune_answer_parameter_count(answer) bind(c, &
           name="autotune_answer_parameter_count") result(value)
            import
            type(c_ptr), value :: answer
            integer(c_size_t) :: value
        end function autotune_answer_parameter_count

        function autotune_answer_parameter_name(answer, index) bind(c, &
           name="autotune_answer_parameter_name") result(value)
            import
            type(c_ptr), value :: answer
            integer(c_size_t), value :: index
            type(c_ptr) :: value
        end function autotune_answer_parameter_name

        function autotune_answer_parameter_value(answer, index) bind(c, &
           name="autotune_answer_parameter_value") result(value)
            import
            type(c_ptr), value :: answer
            integer(c_size_t), value :: index
            integer(c_int) :: value
        end function autotune_answer_parameter_value

        function autotune_answer_launches(answer, launches, capacity) bind(c, &
           name="autotune_answer_launches") result(value)
            import
            type(c_ptr), value :: answer
            type(c_ptr), value :: launches
            integer(c_size_t), value :: capacity
            integer(c_size_t) :: value
        end function autotune_answer_launches

        function autotune_answer_describe(answer, text, capacity) bind(c, &
           name="autotune_answer_describe") result(value)
            import
            type(c_ptr), value :: answer
            type(c_ptr), value :: text
            integer(c_size_t), value :: capacity
            integer(c_size_t) :: value
        end function autotune_answer_describe

        function autotune_answer_json(answer, text, capacity) bind(c, &
           name="autotune_answer_json") result(value)
            import
            type(c_ptr), value :: answer
            type(c_ptr), value :: text
            integer(c_size_t), value :: capacity
            integer(c_size_t) :: value
        end function autotune_answer_json

        function autotune_plan_info(plan, info, error) bind(c, name="autotune_plan_info") result(value)
            import
            type(c_ptr), value :: plan
            type(c_ptr), value :: info
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_plan_info

        function autotune_plan_create(plan, profile, problem, error) bind(c, &
           name="autotune_plan_create") result(value)
            import
            type(c_ptr), intent(inout) :: plan
            type(c_ptr), value :: profile
            type(c_ptr), value :: problem
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_plan_create

        function autotune_tensor_plan_create(plan, profile, tensor, error) bind(c, &
           name="autotune_tensor_plan_create") result(value)
            import
            type(c_ptr), intent(inout) :: plan
            type(c_ptr), value :: profile
            type(c_ptr), value :: tensor
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_tensor_plan_create

        function autotune_plan_create_with(plan, profile, problem, options, error) bind(c, &
           name="autotune_plan_create_with") result(value)
            import
            type(c_ptr), intent(inout) :: plan
            type(c_ptr), value :: profile
            type(c_ptr), value :: problem
            type(c_ptr), value :: options
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_plan_create_with

        function autotune_tensor_plan_create_with(plan, profile, tensor, options, error) bind(c, &
           name="autotune_tensor_plan_create_with") result(value)
            import
            type(c_ptr), intent(inout) :: plan
            type(c_ptr), value :: profile
            type(c_ptr), value :: tensor
            type(c_ptr), value :: options
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_tensor_plan_create_with

        function autotune_groups_plan_create(plan, profile, groups, error) bind(c, &
           name="autotune_groups_plan_create") result(value)
            import
            type(c_ptr), intent(inout) :: plan
            type(c_ptr), value :: profile
            type(c_ptr), value :: groups
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_groups_plan_create

        function autotune_plan_execute(plan, dst, src, stream, error) bind(c, &
           name="autotune_plan_execute") result(value)
            import
            type(c_ptr), value :: plan
            type(c_ptr), value :: dst
            type(c_ptr), value :: src
            type(c_ptr), value :: stream
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_plan_execute

        function autotune_plan_execute_with(plan, execution, error) bind(c, &
           name="autotune_plan_execute_with") result(value)
            import
            type(c_ptr), value :: plan
            type(c_ptr), value :: execution
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_plan_execute_with

        function autotune_plan_launches(plan, dst, src, launches, capacity) bind(c, &
           name="autotune_plan_launches") result(value)
            import
            type(c_ptr), value :: plan
            type(c_ptr), value :: dst
            type(c_ptr), value :: src
            type(c_ptr), value :: launches
            integer(c_size_t), value :: capacity
            integer(c_size_t) :: value
        end function autotune_plan_launches

        function autotune_plan_scratch_bytes(plan) bind(c, name="autotune_plan_scratch_bytes") result(value)
            import
            type(c_ptr), value :: plan
            integer(c_int64_t) :: value
        end function autotune_plan_scratch_bytes

        function autotune_plan_describe(plan, text, capacity) bind(c, &
           name="autotune_plan_describe") result(value)
            import
            type(c_ptr), value :: plan
            type(c_ptr), value :: text
            integer(c_size_t), value :: capacity
            integer(c_size_t) :: value
        end function autotune_plan_describe

        subroutine autotune_plan_free(plan) bind(c, name="autotune_plan_free")
            import
            type(c_ptr), value :: plan
        end subroutine autotune_plan_free

        function autotune_precompile(answer, profile, error) bind(c, name="autotune_precompile") result(value)
            import
            type(c_ptr), value :: answer
            type(c_ptr), value :: profile
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_precompile

        subroutine autotune_clear() bind(c, name="autotune_clear")
            import
        end subroutine autotune_clear

        subroutine autotune_keep_unused(most) bind(c, name="autotune_keep_unused")
            import
            integer(c_size_t), value :: most
        end subroutine autotune_keep_unused

        function autotune_set_nvrtc(path, error) bind(c, name="autotune_set_nvrtc") result(value)
            import
            type(c_ptr), value :: path
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_set_nvrtc

        subroutine autotune_set_log(function, user_data, most) bind(c, name="autotune_set_log")
            import
            type(c_funptr), value :: function
            type(c_ptr), value :: user_data
            integer(c_int), value :: most
        end subroutine autotune_set_log

        function autotune_wisdom_save(path, error) bind(c, name="autotune_wisdom_save") result(value)
            import
            type(c_ptr), value :: path
            type(c_ptr), intent(inout) :: error
            integer(c_int) :: value
        end function autotune_wisdom_save

        subroutine autotune_wisdom_forget() bind(c, name="autotune_wisdom_forget")
            import
        end subroutine autotune_wisdom_forget
    end interface
end module autotune_c
