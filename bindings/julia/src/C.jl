# SPDX-License-Identifier: Apache-2.0
# Made by build-aux/make-bindings from src/lib/autotune.h, which explains it: `make bindings`.
module C

# The loader's name. A library of this name that is already loaded is taken.
const library = "libautotune.so.0"

const AUTOTUNE_VERSION_MAJOR = Cint(0)
const AUTOTUNE_VERSION_MINOR = Cint(1)
const AUTOTUNE_VERSION_PATCH = Cint(0)
const AUTOTUNE_RANK_MAX = Cint(24)
const AUTOTUNE_ADAPT = Cint(1)
const AUTOTUNE_OK = Cint(0)
const AUTOTUNE_FAILED = Cint(1)
const AUTOTUNE_INVALID = Cint(2)
const AUTOTUNE_NO_DEVICE = Cint(3)
const AUTOTUNE_MISMATCH = Cint(4)
const AUTOTUNE_INTERNAL = Cint(5)
const AUTOTUNE_NO_MEMORY = Cint(6)
const AUTOTUNE_TIER_EXACT = Cint(0)
const AUTOTUNE_TIER_SHAPE = Cint(1)
const AUTOTUNE_TIER_CHIP = Cint(2)
const AUTOTUNE_TIER_ARCHITECTURE = Cint(3)
const AUTOTUNE_TIER_OTHER = Cint(4)
const AUTOTUNE_TIER_DEFAULT = Cint(5)
const AUTOTUNE_LOG_NONE = Cint(0)
const AUTOTUNE_LOG_WARNING = Cint(1)
const AUTOTUNE_LOG_INFO = Cint(2)
const AUTOTUNE_LOG_DEBUG = Cint(3)

Base.@kwdef struct autotune_problem
    elem_size::Int64 = 0
    rows::Int64 = 0
    cols::Int64 = 0
    ld_src::Int64 = 0
    ld_dst::Int64 = 0
    batch::Int64 = 0
    stride_src::Int64 = 0
    stride_dst::Int64 = 0
    in_place::Int64 = 0
    align_bytes::Int64 = 0
    struct_size::Csize_t = 0
    step::Ptr{Cchar} = C_NULL
    explicit_strides::Int64 = 0
end

Base.@kwdef struct autotune_tensor
    elem_size::Int64 = 0
    rank::Int64 = 0
    extents::NTuple{24, Int64} = ntuple(_ -> zero(Int64), 24)
    permutation::NTuple{24, Int64} = ntuple(_ -> zero(Int64), 24)
    strides_src::NTuple{24, Int64} = ntuple(_ -> zero(Int64), 24)
    strides_dst::NTuple{24, Int64} = ntuple(_ -> zero(Int64), 24)
    align_bytes::Int64 = 0
    struct_size::Csize_t = 0
    step::Ptr{Cchar} = C_NULL
    explicit_strides::Int64 = 0
    in_place::Int64 = 0
end

Base.@kwdef struct autotune_matrix
    dst::Ptr{Cvoid} = C_NULL
    src::Ptr{Cvoid} = C_NULL
    dst2::Ptr{Cvoid} = C_NULL
    src2::Ptr{Cvoid} = C_NULL
    rows::Int64 = 0
    cols::Int64 = 0
    ld_src::Int64 = 0
    ld_dst::Int64 = 0
    batch::NTuple{2, Int64} = ntuple(_ -> zero(Int64), 2)
    stride_src::NTuple{2, Int64} = ntuple(_ -> zero(Int64), 2)
    stride_dst::NTuple{2, Int64} = ntuple(_ -> zero(Int64), 2)
end

Base.@kwdef struct autotune_groups
    struct_size::Csize_t = 0
    elem_size::Int64 = 0
    step::Ptr{Cchar} = C_NULL
    align_bytes::Int64 = 0
    count::Int64 = 0
    list::Ptr{autotune_matrix} = C_NULL
    rows::Int64 = 0
    cols::Int64 = 0
    ld_src::Int64 = 0
    padding::Int64 = 0
    most_rows::Int64 = 0
    stacked::Int64 = 0
    offset_bytes::Int64 = 0
end

Base.@kwdef struct autotune_scales
    type::Ptr{Cchar} = C_NULL
    elem_size::Int64 = 0
    rows::Int64 = 0
    cols::Int64 = 0
    row_stride::Int64 = 0
    col_stride::Int64 = 0
    matrix_bytes::Int64 = 0
    bytes::Int64 = 0
    reserved::NTuple{4, Int64} = ntuple(_ -> zero(Int64), 4)
end

Base.@kwdef struct autotune_device_numbers
    struct_size::Csize_t = 0
    name::Ptr{Cchar} = C_NULL
    compute_capability::Int64 = 0
    multiprocessors::Int64 = 0
    memory_bytes::Int64 = 0
    l2_bytes::Int64 = 0
    warp_size::Int64 = 0
    max_threads_per_block::Int64 = 0
    max_threads_per_multiprocessor::Int64 = 0
    registers_per_multiprocessor::Int64 = 0
    shared_bytes_per_block::Int64 = 0
    shared_bytes_per_block_optin::Int64 = 0
    shared_bytes_per_multiprocessor::Int64 = 0
end

Base.@kwdef struct autotune_info
    struct_size::Csize_t = 0
    tier::Int64 = 0
    is_uncertain::Int64 = 0
    is_predicted::Int64 = 0
    expected_permille::Int64 = 0
    distance::Cdouble = 0
    bytes::Int64 = 0
    tuned_ns::Int64 = 0
    family::Ptr{Cchar} = C_NULL
    tuned_problem::Ptr{Cchar} = C_NULL
    path::Ptr{Cchar} = C_NULL
    config::Ptr{Cchar} = C_NULL
    adapts::Int64 = 0
end

Base.@kwdef struct autotune_launch
    grid::NTuple{3, Cuint} = ntuple(_ -> zero(Cuint), 3)
    block::NTuple{3, Cuint} = ntuple(_ -> zero(Cuint), 3)
    shared_bytes::Cuint = 0
    carveout_percent::Cint = 0
    kernel::Ptr{Cchar} = C_NULL
    reserved::NTuple{6, Cuint} = ntuple(_ -> zero(Cuint), 6)
end

Base.@kwdef struct autotune_plan_options
    measure_ms::Int64 = 0
    policy::Ptr{Cchar} = C_NULL
    scratch::Ptr{Cvoid} = C_NULL
    scratch_bytes::Int64 = 0
    struct_size::Csize_t = 0
    flags::Int64 = 0
end

Base.@kwdef struct autotune_scalar
    at::Ptr{Cvoid} = C_NULL
    value::NTuple{2, Cdouble} = ntuple(_ -> zero(Cdouble), 2)
end

Base.@kwdef struct autotune_execution
    struct_size::Csize_t = 0
    dst::Ptr{Cvoid} = C_NULL
    src::Ptr{Cvoid} = C_NULL
    stream::Ptr{Cvoid} = C_NULL
    scale::autotune_scalar = autotune_scalar()
    alpha::autotune_scalar = autotune_scalar()
    beta::autotune_scalar = autotune_scalar()
    src2::Ptr{Cvoid} = C_NULL
    channel_scale::Ptr{Cvoid} = C_NULL
    channel_shift::Ptr{Cvoid} = C_NULL
    dst2::Ptr{Cvoid} = C_NULL
    largest::Ptr{Cvoid} = C_NULL
    block_scales::Ptr{Cvoid} = C_NULL
    block_scales2::Ptr{Cvoid} = C_NULL
    skip::Ptr{Cvoid} = C_NULL
    list::Ptr{Cvoid} = C_NULL
    list_count::Int64 = 0
    offsets::Ptr{Cvoid} = C_NULL
    offset_count::Int64 = 0
    scratch::Ptr{Cvoid} = C_NULL
    scratch_bytes::Int64 = 0
    sums::Ptr{Cvoid} = C_NULL
    overflow::Ptr{Cint} = C_NULL
    most_rows::Int64 = 0
    channel_stride::Int64 = 0
end

autotune_version() =
    @ccall library.autotune_version()::Ptr{Cchar}
autotune_version_number() =
    @ccall library.autotune_version_number()::Cint
autotune_status_name(status) =
    @ccall library.autotune_status_name(status::Cint)::Ptr{Cchar}
autotune_error_status(error) =
    @ccall library.autotune_error_status(error::Ptr{Cvoid})::Cint
autotune_error_message(error) =
    @ccall library.autotune_error_message(error::Ptr{Cvoid})::Ptr{Cchar}
autotune_error_free(error) =
    @ccall library.autotune_error_free(error::Ptr{Cvoid})::Cvoid
autotune_profile_open(profile, path, error) =
    @ccall library.autotune_profile_open(profile::Ptr{Ptr{Cvoid}}, path::Ptr{Cchar}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_profile_skipped(profile, index) =
    @ccall library.autotune_profile_skipped(profile::Ptr{Cvoid}, index::Csize_t)::Ptr{Cchar}
autotune_profile_free(profile) =
    @ccall library.autotune_profile_free(profile::Ptr{Cvoid})::Cvoid
autotune_problem_scales(scales, problem, error) =
    @ccall library.autotune_problem_scales(scales::Ptr{autotune_scales}, problem::Ptr{autotune_problem}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_device_described(device, name, error) =
    @ccall library.autotune_device_described(device::Ptr{Ptr{Cvoid}}, name::Ptr{Cchar}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_device_current(device, error) =
    @ccall library.autotune_device_current(device::Ptr{Ptr{Cvoid}}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_device_make(device, numbers, error) =
    @ccall library.autotune_device_make(device::Ptr{Ptr{Cvoid}}, numbers::Ptr{autotune_device_numbers}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_device_name(device) =
    @ccall library.autotune_device_name(device::Ptr{Cvoid})::Ptr{Cchar}
autotune_device_free(device) =
    @ccall library.autotune_device_free(device::Ptr{Cvoid})::Cvoid
autotune_lookup(answer, profile, device, problem, policy, error) =
    @ccall library.autotune_lookup(answer::Ptr{Ptr{Cvoid}}, profile::Ptr{Cvoid}, device::Ptr{Cvoid}, problem::Ptr{autotune_problem}, policy::Ptr{Cchar}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_tensor_lookup(answer, profile, device, tensor, policy, error) =
    @ccall library.autotune_tensor_lookup(answer::Ptr{Ptr{Cvoid}}, profile::Ptr{Cvoid}, device::Ptr{Cvoid}, tensor::Ptr{autotune_tensor}, policy::Ptr{Cchar}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_groups_lookup(answer, profile, device, groups, policy, error) =
    @ccall library.autotune_groups_lookup(answer::Ptr{Ptr{Cvoid}}, profile::Ptr{Cvoid}, device::Ptr{Cvoid}, groups::Ptr{autotune_groups}, policy::Ptr{Cchar}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_answer_free(answer) =
    @ccall library.autotune_answer_free(answer::Ptr{Cvoid})::Cvoid
autotune_answer_check_device(answer, error) =
    @ccall library.autotune_answer_check_device(answer::Ptr{Cvoid}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_answer_info(answer, info, error) =
    @ccall library.autotune_answer_info(answer::Ptr{Cvoid}, info::Ptr{autotune_info}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_answer_parameter_count(answer) =
    @ccall library.autotune_answer_parameter_count(answer::Ptr{Cvoid})::Csize_t
autotune_answer_parameter_name(answer, index) =
    @ccall library.autotune_answer_parameter_name(answer::Ptr{Cvoid}, index::Csize_t)::Ptr{Cchar}
autotune_answer_parameter_value(answer, index) =
    @ccall library.autotune_answer_parameter_value(answer::Ptr{Cvoid}, index::Csize_t)::Cint
autotune_answer_launches(answer, launches, capacity) =
    @ccall library.autotune_answer_launches(answer::Ptr{Cvoid}, launches::Ptr{autotune_launch}, capacity::Csize_t)::Csize_t
autotune_answer_describe(answer, text, capacity) =
    @ccall library.autotune_answer_describe(answer::Ptr{Cvoid}, text::Ptr{Cchar}, capacity::Csize_t)::Csize_t
autotune_answer_json(answer, text, capacity) =
    @ccall library.autotune_answer_json(answer::Ptr{Cvoid}, text::Ptr{Cchar}, capacity::Csize_t)::Csize_t
autotune_plan_info(plan, info, error) =
    @ccall library.autotune_plan_info(plan::Ptr{Cvoid}, info::Ptr{autotune_info}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_plan_create(plan, profile, problem, error) =
    @ccall library.autotune_plan_create(plan::Ptr{Ptr{Cvoid}}, profile::Ptr{Cvoid}, problem::Ptr{autotune_problem}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_tensor_plan_create(plan, profile, tensor, error) =
    @ccall library.autotune_tensor_plan_create(plan::Ptr{Ptr{Cvoid}}, profile::Ptr{Cvoid}, tensor::Ptr{autotune_tensor}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_plan_create_with(plan, profile, problem, options, error) =
    @ccall library.autotune_plan_create_with(plan::Ptr{Ptr{Cvoid}}, profile::Ptr{Cvoid}, problem::Ptr{autotune_problem}, options::Ptr{autotune_plan_options}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_tensor_plan_create_with(plan, profile, tensor, options, error) =
    @ccall library.autotune_tensor_plan_create_with(plan::Ptr{Ptr{Cvoid}}, profile::Ptr{Cvoid}, tensor::Ptr{autotune_tensor}, options::Ptr{autotune_plan_options}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_groups_plan_create(plan, profile, groups, error) =
    @ccall library.autotune_groups_plan_create(plan::Ptr{Ptr{Cvoid}}, profile::Ptr{Cvoid}, groups::Ptr{autotune_groups}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_plan_execute(plan, dst, src, stream, error) =
    @ccall library.autotune_plan_execute(plan::Ptr{Cvoid}, dst::Ptr{Cvoid}, src::Ptr{Cvoid}, stream::Ptr{Cvoid}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_plan_execute_with(plan, execution, error) =
    @ccall library.autotune_plan_execute_with(plan::Ptr{Cvoid}, execution::Ptr{autotune_execution}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_plan_launches(plan, dst, src, launches, capacity) =
    @ccall library.autotune_plan_launches(plan::Ptr{Cvoid}, dst::Ptr{Cvoid}, src::Ptr{Cvoid}, launches::Ptr{autotune_launch}, capacity::Csize_t)::Csize_t
autotune_plan_scratch_bytes(plan) =
    @ccall library.autotune_plan_scratch_bytes(plan::Ptr{Cvoid})::Int64
autotune_plan_describe(plan, text, capacity) =
    @ccall library.autotune_plan_describe(plan::Ptr{Cvoid}, text::Ptr{Cchar}, capacity::Csize_t)::Csize_t
autotune_plan_free(plan) =
    @ccall library.autotune_plan_free(plan::Ptr{Cvoid})::Cvoid
autotune_precompile(answer, profile, error) =
    @ccall library.autotune_precompile(answer::Ptr{Cvoid}, profile::Ptr{Cvoid}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_clear() =
    @ccall library.autotune_clear()::Cvoid
autotune_keep_unused(most) =
    @ccall library.autotune_keep_unused(most::Csize_t)::Cvoid
autotune_set_nvrtc(path, error) =
    @ccall library.autotune_set_nvrtc(path::Ptr{Cchar}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_set_log(function_, user_data, most) =
    @ccall library.autotune_set_log(function_::Ptr{Cvoid}, user_data::Ptr{Cvoid}, most::Cint)::Cvoid
autotune_wisdom_save(path, error) =
    @ccall library.autotune_wisdom_save(path::Ptr{Cchar}, error::Ptr{Ptr{Cvoid}})::Cint
autotune_wisdom_forget() =
    @ccall library.autotune_wisdom_forget()::Cvoid

end
