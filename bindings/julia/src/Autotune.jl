# SPDX-License-Identifier: Apache-2.0
"""
libautotune for Julia: tuned matrix transposes for NVIDIA GPUs.

    profile = Profile()                         # all on the search path
    plan = Plan(profile, transposition(size(a)..., sizeof(eltype(a))))
    execute!(plan, b, a)                        # b = permutedims(a), on the GPU

Arrays are column-major here, and `autotune.h` counts rows: an array of size (m, n) is there a matrix
of n rows and m columns. `transposition` and `permutation` take Julia's order. The module `C` has the
structs, constants and functions of `autotune.h` under their own names; that header explains them.
"""
module Autotune

using Libdl

export Profile, Device, Plan, AutotuneError
export lookup, transposition, permutation, execute!, execute_with!

include("C.jl")

# Take the library that $AUTOTUNE_LIBRARY names: the loader finds it by its soname from then on.
function __init__()
    file = get(ENV, "AUTOTUNE_LIBRARY", "")
    isempty(file) || Libdl.dlopen(file, Libdl.RTLD_LAZY | Libdl.RTLD_GLOBAL)
    return nothing
end

# ---- errors ----

"""
What is thrown if the library refuses. `status` is one of `C.AUTOTUNE_INVALID` and its like.
"""
struct AutotuneError <: Exception
    status::Cint
    message::String
end

Base.showerror(io::IO, error::AutotuneError) = print(io, "AutotuneError: ", error.message)

text(pointer::Ptr) = pointer == C_NULL ? "" : unsafe_string(Ptr{UInt8}(pointer))

# C would end a text at its first NUL.
function c_text(text::AbstractString)
    '\0' in text && throw(AutotuneError(C.AUTOTUNE_INVALID, "a text has a NUL"))
    return String(text)
end
c_text(::Nothing) = C_NULL

# Call a function of the library with a place for its error, and throw what is there.
function check(call)
    failure = Ref{Ptr{Cvoid}}(C_NULL)
    status = call(failure)
    status == C.AUTOTUNE_OK && return nothing
    message = text(C.autotune_error_message(failure[]))
    C.autotune_error_free(failure[])
    throw(AutotuneError(status, message))
end

# The same for a function that makes an object.
function made(call)
    object = Ref{Ptr{Cvoid}}(C_NULL)
    check(failure -> call(object, failure))
    return object[]
end

# Get a text of a function that writes it, as autotune_answer_describe does.
function written(write)
    bytes = Vector{UInt8}(undef, write(C_NULL, 0) + 1)
    length = GC.@preserve bytes write(Ptr{Cchar}(pointer(bytes)), sizeof(bytes))
    return String(resize!(bytes, length))
end

# Get the launches that a function of the library writes.
function written_launches(write)
    places = Vector{C.autotune_launch}(undef, write(Ptr{C.autotune_launch}(C_NULL), 0))
    GC.@preserve places write(pointer(places), length(places))
    return places
end

"""
The version of the library that is loaded.
"""
version() = VersionNumber(text(C.autotune_version()))

# ---- objects ----
#
# A finalizer runs on any thread, between two allocations of other code. It only calls C, which neither
# returns to Julia nor waits for a plan of another thread. What borrows from a profile counts as a use
# of it, because finalizers have no order: the last use frees it.

mutable struct Profile
    object::Ptr{Cvoid}
    uses::Threads.Atomic{Int}

    function Profile(file::Union{AbstractString,Nothing}=nothing)
        path = c_text(file)
        object = made((object, failure) -> C.autotune_profile_open(object, path, failure))
        return finalizer(release, new(object, Threads.Atomic{Int}(1)))
    end
end

function release(profile::Profile)
    Threads.atomic_sub!(profile.uses, 1) == 1 && C.autotune_profile_free(profile.object)
    return nothing
end

"""
    Profile([file])

Read a profile; without a file, all on the search path.
"""
Profile

"""
    Device(name)

A device that need not be present: "h200", or "NVIDIA H200".
"""
mutable struct Device
    object::Ptr{Cvoid}

    Device(object::Ptr{Cvoid}) = finalizer(free, new(object))
end

free(device::Device) = C.autotune_device_free(device.object)

"""
A config for a problem, and where it comes from.
"""
mutable struct Answer
    object::Ptr{Cvoid}
    profile::Profile

    function Answer(object::Ptr{Cvoid}, profile::Profile)
        Threads.atomic_add!(profile.uses, 1)
        return finalizer(free, new(object, profile))
    end
end

function free(answer::Answer)
    C.autotune_answer_free(answer.object)
    release(answer.profile)
    return nothing
end

"""
    Plan(profile, problem; measure_ms=0, policy="cold", adapt=false)

A kernel that is loaded for a problem in the current CUDA context. With `measure_ms` rivals are timed,
for a matrix or a tensor. With `adapt` they are only verified, and the plan's first launches time them
in passing. `close(plan)` frees it: do that before its context is destroyed.
"""
mutable struct Plan
    object::Threads.Atomic{UInt}

    Plan(object::Ptr{Cvoid}) = finalizer(close, new(Threads.Atomic{UInt}(UInt(object))))
end

# Whoever takes the address frees the plan.
function Base.close(plan::Plan)
    C.autotune_plan_free(Ptr{Cvoid}(Threads.atomic_xchg!(plan.object, UInt(0))))
    return nothing
end

handle(plan::Plan) = Ptr{Cvoid}(plan.object[])

# ---- problems ----

fill24(values) = ntuple(i -> i <= length(values) ? Int64(values[i]) : Int64(0), Int(C.AUTOTUNE_RANK_MAX))

"""
    transposition(m, n, bytes; lda=0, ldb=0, members...)

The problem of `b = permutedims(a)` for `size(a) == (m, n)` and elements of so many bytes. `lda` and
`ldb` are the first sizes of arrays that a and b are the upper parts of. Other members are those of
`autotune_problem`. A `step`, such as "f32,scale", is given to `Plan` and `lookup`.
"""
transposition(m::Integer, n::Integer, bytes::Integer; lda::Integer=0, ldb::Integer=0, members...) =
    C.autotune_problem(; elem_size=bytes, rows=n, cols=m, ld_src=lda, ld_dst=ldb,
        struct_size=sizeof(C.autotune_problem), members...)

"""
    permutation(size, order, bytes; members...)

The problem of `b = permutedims(a, order)` for `size(a) == size`.
"""
function permutation(size, order, bytes::Integer; members...)
    rank = length(size)
    rank <= C.AUTOTUNE_RANK_MAX && isperm(order) && length(order) == rank ||
        throw(AutotuneError(C.AUTOTUNE_INVALID, "an array has up to 24 axes, and its order each of them"))
    return C.autotune_tensor(; elem_size=bytes, rank=rank, extents=fill24(reverse(collect(size))),
        permutation=fill24(rank .- reverse(collect(order))),
        struct_size=sizeof(C.autotune_tensor), members...)
end

"""
    matrix(m, n; dst=C_NULL, src=C_NULL, members...)

A matrix of a list: `b = permutedims(a)` for `size(a) == (m, n)`, at device addresses.
"""
matrix(m::Integer, n::Integer; dst=C_NULL, src=C_NULL, members...) =
    C.autotune_matrix(; dst=address(dst), src=address(src), rows=n, cols=m, ld_src=m, ld_dst=n,
        batch=(1, 1), members...)

# Many matrices, and what keeps the list in memory.
struct Groups
    members::C.autotune_groups
    list::Vector{C.autotune_matrix}
end

"""
    matrices(list, bytes; members...)

Many matrices in one launch, each made by `matrix`.
"""
matrices(list::Vector{C.autotune_matrix}, bytes::Integer; members...) =
    Groups(C.autotune_groups(; struct_size=sizeof(C.autotune_groups), elem_size=bytes,
            count=length(list), members...), list)

"""
    column_groups(count, m, n, bytes; members...)

Groups of adjacent columns of one array of size (m, n), each of which is transposed.
"""
column_groups(count::Integer, m::Integer, n::Integer, bytes::Integer; members...) =
    Groups(C.autotune_groups(; struct_size=sizeof(C.autotune_groups), elem_size=bytes, count=count,
            rows=n, cols=m, most_rows=n, members...), C.autotune_matrix[])

# Copy a struct with other members.
changed(value::T; members...) where {T} =
    T((get(values(members), field, getfield(value, field)) for field in fieldnames(T))...)

# Call with the address of a problem that has its step. Both live as long as the call.
function with_problem(call, problem::Union{C.autotune_problem,C.autotune_tensor}, step)
    text = c_text(step)
    return GC.@preserve text call(Ref(step === nothing ? problem :
                                      changed(problem; step=Ptr{Cchar}(pointer(text)))))
end

function with_problem(call, groups::Groups, step)
    text = c_text(step)
    list = groups.list
    return GC.@preserve text list begin
        members = groups.members
        isempty(list) || (members = changed(members; list=pointer(list)))
        step === nothing || (members = changed(members; step=Ptr{Cchar}(pointer(text))))
        call(Ref(members))
    end
end

"""
    scales(problem, step)

The scales of the results of a problem with blocks: of dst, and of dst2.
"""
function scales(problem::C.autotune_problem, step::AbstractString)
    places = [C.autotune_scales(), C.autotune_scales()]
    with_problem(problem, step) do place
        GC.@preserve places check(failure -> C.autotune_problem_scales(pointer(places), place, failure))
    end
    return places
end

# ---- profiles and devices ----

"""
Why files on the search path were skipped.
"""
function skipped(profile::Profile)
    reasons = String[]
    GC.@preserve profile begin
        reason = C.autotune_profile_skipped(profile.object, 0)
        while reason != C_NULL
            push!(reasons, text(reason))
            reason = C.autotune_profile_skipped(profile.object, length(reasons))
        end
    end
    return reasons
end

function Device(name::AbstractString)
    model = c_text(name)
    return Device(made((object, failure) -> C.autotune_device_described(object, model, failure)))
end

"""
A device that needs no description. `numbers` are members of `autotune_device_numbers`, such as
`multiprocessors=132`.
"""
function made_device(name::AbstractString; numbers...)
    model = c_text(name)
    GC.@preserve model begin
        given = Ref(C.autotune_device_numbers(;
            struct_size=sizeof(C.autotune_device_numbers), name=Ptr{Cchar}(pointer(model)), numbers...))
        return Device(made((object, failure) -> C.autotune_device_make(object, given, failure)))
    end
end

"""
The device of the calling thread's current CUDA context.
"""
current_device() = Device(made(C.autotune_device_current))

name(device::Device) = GC.@preserve device text(C.autotune_device_name(device.object))

# ---- lookup ----

asked(::C.autotune_problem) = C.autotune_lookup
asked(::C.autotune_tensor) = C.autotune_tensor_lookup
asked(::Groups) = C.autotune_groups_lookup

"""
    lookup(profile, device, problem; policy="cold", step=nothing)

Choose a config that is legal for the problem and the device.
"""
function lookup(profile::Profile, device::Device, problem; policy::AbstractString="cold", step=nothing)
    preferred = c_text(policy)
    object = with_problem(problem, step) do place
        GC.@preserve profile device made((object, failure) -> asked(problem)(object, profile.object,
            device.object, place, preferred, failure))
    end
    return Answer(object, profile)
end

"""
Throws `C.AUTOTUNE_MISMATCH` unless the answer was tuned on this model of device.
"""
check_device(answer::Answer) =
    GC.@preserve answer check(failure -> C.autotune_answer_check_device(answer.object, failure))

"""
Compile the kernels of a plan with this answer into the cache; needs no GPU.
"""
compile_kernels(answer::Answer) = GC.@preserve answer check(
    failure -> C.autotune_precompile(answer.object, answer.profile.object, failure))

# Fill an info by autotune_answer_info or autotune_plan_info.
function filled(get)
    info = Ref(C.autotune_info(; struct_size=sizeof(C.autotune_info)))
    check(failure -> get(info, failure))
    return info[]
end

"""
    info(answer), info(plan)

All that is known, as the members of `autotune_info`: the tier is `C.AUTOTUNE_TIER_EXACT` or
another. `text` makes texts of its pointers, which live as long as an answer or a plan.
"""
info(answer::Answer) = GC.@preserve answer filled(
    (info, failure) -> C.autotune_answer_info(answer.object, info, failure))

parameters(answer::Answer) = GC.@preserve answer [
    text(C.autotune_answer_parameter_name(answer.object, i - 1)) =>
        C.autotune_answer_parameter_value(answer.object, i - 1)
    for i in 1:Int(C.autotune_answer_parameter_count(answer.object))]

launches(answer::Answer) = GC.@preserve answer written_launches(
    (places, capacity) -> C.autotune_answer_launches(answer.object, places, capacity))
describe(answer::Answer) = GC.@preserve answer written(
    (text, capacity) -> C.autotune_answer_describe(answer.object, text, capacity))
json(answer::Answer) = GC.@preserve answer written(
    (text, capacity) -> C.autotune_answer_json(answer.object, text, capacity))

# ---- plans ----

# A device address: a number, a pointer of any kind, or an array of the device.
address(pointer::Ptr) = Ptr{Cvoid}(pointer)
address(number::Integer) = Ptr{Cvoid}(UInt(number))
address(array::AbstractArray) = address(pointer(array))
address(other) = Ptr{Cvoid}(UInt(other)) # CUDA.CuPtr

planned(::C.autotune_problem) = C.autotune_plan_create_with
planned(::C.autotune_tensor) = C.autotune_tensor_plan_create_with

function Plan(profile::Profile, problem::Union{C.autotune_problem,C.autotune_tensor};
    measure_ms::Integer=0, policy::AbstractString="cold", adapt::Bool=false, step=nothing)
    preferred = c_text(policy)
    return GC.@preserve profile preferred begin
        options = Ref(C.autotune_plan_options(; measure_ms, policy=Ptr{Cchar}(pointer(preferred)),
            struct_size=sizeof(C.autotune_plan_options), flags=adapt ? C.AUTOTUNE_ADAPT : 0))
        Plan(with_problem(problem, step) do place
            made((object, failure) -> planned(problem)(object, profile.object, place, options, failure))
        end)
    end
end

Plan(profile::Profile, groups::Groups; step=nothing) =
    Plan(with_problem(groups, step) do place
        GC.@preserve profile made((object, failure) -> C.autotune_groups_plan_create(object,
            profile.object, place, failure))
    end)

"""
    execute!(plan, dst, src; stream=C_NULL)

Start the plan's transpose of src into dst, and return before it has ended. Both are arrays or
addresses of the device, which the caller keeps. The stream is a CUstream, such as `CUDA.stream().handle`.
"""
execute!(plan::Plan, dst, src; stream=C_NULL) =
    GC.@preserve plan dst src check(failure -> C.autotune_plan_execute(handle(plan),
        address(dst), address(src), address(stream), failure))

"""
    execution(; members...)

What a plan is executed with. Its members are those of `autotune_execution`.
"""
execution(; members...) =
    C.autotune_execution(; struct_size=sizeof(C.autotune_execution), members...)

"""
    execute_with!(plan, execution)

The same as `execute!`, with all that a plan can need.
"""
execute_with!(plan::Plan, execution::C.autotune_execution) =
    GC.@preserve plan check(failure -> C.autotune_plan_execute_with(handle(plan),
        Ref(execution), failure))

launches(plan::Plan, dst=C_NULL, src=C_NULL) = GC.@preserve plan written_launches(
    (places, capacity) -> C.autotune_plan_launches(handle(plan), address(dst), address(src),
        places, capacity))
info(plan::Plan) = GC.@preserve plan filled(
    (info, failure) -> C.autotune_plan_info(handle(plan), info, failure))
scratch_bytes(plan::Plan) = GC.@preserve plan C.autotune_plan_scratch_bytes(handle(plan))
describe(plan::Plan) = GC.@preserve plan written(
    (text, capacity) -> C.autotune_plan_describe(handle(plan), text, capacity))

"""
Unload the kernels that no plan uses: before a device is reset, or a context destroyed that had plans.
"""
clear() = C.autotune_clear()

"""
Keep at most so many kernels that no plan uses, in each context.
"""
keep_unused(most::Integer) = C.autotune_keep_unused(most)

"""
Name the NVRTC of this process, before the first plan.
"""
function set_nvrtc(file::AbstractString)
    path = c_text(file)
    return check(failure -> C.autotune_set_nvrtc(path, failure))
end

# ---- wisdom: what plans have measured ----

"""
    save_wisdom([file])

Add it to a profile; without a file, to the one that `\$AUTOTUNE_WISDOM` names.
"""
function save_wisdom(file::Union{AbstractString,Nothing}=nothing)
    path = c_text(file)
    check(failure -> C.autotune_wisdom_save(path, failure))
end

forget_wisdom() = C.autotune_wisdom_forget()

end
