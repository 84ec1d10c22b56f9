# SPDX-License-Identifier: Apache-2.0
# Plans need a driver that transposes 4-byte elements in host memory: $AUTOTUNE_TEST_DRIVER names it. The layouts of
# C's structs are in the file $AUTOTUNE_TEST_LAYOUT. Without these, that part is not tested.
using Autotune, Libdl, Test

const C = Autotune.C

# The status that a call throws.
function status_of(call)
    try
        call()
    catch error
        error isa AutotuneError || rethrow()
        return error.status
    end
    return C.AUTOTUNE_OK
end

offset(type, member) = fieldoffset(type, findfirst(==(member), fieldnames(type)))

# The lines are a name and a number: a constant's value, a struct's size, a member's offset or, in a line after that,
# its bytes.
function test_layout(lines)
    type, member = Nothing, Symbol()
    for line in lines
        name, number = split(line)
        owner, rest = occursin('.', name) ? split(name, '.') : (name, "")
        if name == "bytes"
            @test sizeof(fieldtype(type, member)) == parse(Int, number)
        elseif isempty(rest)
            known = getfield(C, Symbol(owner))
            @test (known isa Type ? sizeof(known) : known) == parse(Int, number)
        else
            type, member = getfield(C, Symbol(owner)), Symbol(rest)
            @test offset(type, member) == parse(Int, number)
        end
    end
end

@testset "structs are those of C" begin
    haskey(ENV, "AUTOTUNE_TEST_LAYOUT") && test_layout(eachline(ENV["AUTOTUNE_TEST_LAYOUT"]))
end

@testset "answers" begin
    profile = Profile()
    device = Device("h200")
    answer = lookup(profile, device, transposition(8192, 8192, 4))
    @test Autotune.version() >= v"0.1"
    @test isempty(Autotune.skipped(profile))
    @test Autotune.name(device) == "NVIDIA H200"
    info = Autotune.info(answer)
    @test info.tier == C.AUTOTUNE_TIER_EXACT && info.distance == 0
    @test info.expected_permille > 900 && info.is_predicted == 0
    @test Autotune.text(info.tuned_problem) == "8192x8192:f32" && !isempty(Autotune.text(info.path))
    @test !isempty(Autotune.parameters(answer))
    @test length(Autotune.launches(answer)) == 1 && Autotune.launches(answer)[1].grid[1] > 0
    @test occursin(Autotune.text(info.family), Autotune.describe(answer))
    @test startswith(Autotune.json(answer), "{")
    @test Autotune.check_device(answer) === nothing
    @test Autotune.compile_kernels(answer) === nothing

    # An array of size (1000, 3) has columns of 1000 elements: in C it is a matrix of 3 rows.
    @test occursin("3x1000:", Autotune.describe(lookup(profile, device, transposition(1000, 3, 4))))
    cast = lookup(profile, device, transposition(500, 300, 2); step="bf16:e4m3,scale", policy="warm")
    @test occursin("bf16:e4m3", Autotune.describe(cast))
    turned = lookup(profile, device, permutation((4, 5, 6), (3, 1, 2), 8))
    @test Autotune.info(turned).family != C_NULL
    groups = Autotune.column_groups(64, 2880, 98304, 2)
    @test Autotune.info(lookup(profile, device, groups)).family != C_NULL
    found = Autotune.scales(transposition(256, 128, 2), "bf16:e4m3,blocks=1x128")
    @test found[1].bytes > 0 && found[2].bytes == 0
end

@testset "devices of numbers" begin
    numbers = (compute_capability=90, memory_bytes=150109880320, l2_bytes=62914560)
    device = Autotune.made_device("NVIDIA H200"; multiprocessors=132, numbers...)
    answer = lookup(Profile(), device, transposition(8192, 8192, 4))
    @test Autotune.name(device) == "NVIDIA H200"
    @test Autotune.info(answer).tier == C.AUTOTUNE_TIER_EXACT
    @test status_of(() -> Autotune.made_device("NVIDIA H200"; numbers...)) == C.AUTOTUNE_INVALID
end

@testset "errors" begin
    @test status_of(() -> Profile("/nowhere/best.yaml")) == C.AUTOTUNE_INVALID
    @test status_of(() -> Device("abacus")) == C.AUTOTUNE_INVALID
    @test status_of(() -> Device("a\0b")) == C.AUTOTUNE_INVALID
    @test status_of(() -> permutation((2, 3), (1, 1), 4)) == C.AUTOTUNE_INVALID
    @test status_of(() -> Autotune.save_wisdom("/nowhere/wisdom.yaml")) == C.AUTOTUNE_OK
    Autotune.forget_wisdom()
end

function test_plans(driver)
    number(name) = unsafe_load(Ptr{Cint}(dlsym(driver, name)))
    profile = Profile()
    a = reshape(collect(UInt32(1):UInt32(37 * 53)), 37, 53)
    b = zeros(UInt32, 53, 37)
    plan = Plan(profile, transposition(37, 53, 4))
    before = number(:driver_launches)
    execute!(plan, b, a)
    @test number(:driver_launches) == before + 1
    @test b == permutedims(a)
    @test length(Autotune.launches(plan)) == 1 && Autotune.scratch_bytes(plan) == 0
    @test Autotune.info(plan).bytes == 2 * sizeof(a)
    @test occursin("53x37", Autotune.describe(plan))
    close(plan)
    @test status_of(() -> execute!(plan, b, a)) == C.AUTOTUNE_INVALID

    c = reshape(collect(UInt32(1):UInt32(20 * 30 * 40)), 20, 30, 40)
    d = zeros(UInt32, 40, 20, 30)
    execute!(Plan(profile, permutation(size(c), (3, 1, 2), 4)), d, c)
    @test d == permutedims(c, (3, 1, 2))

    adapting = Plan(profile, transposition(37, 53, 4); measure_ms=1, adapt=true)
    fill!(b, 0)
    execute!(adapting, b, a)
    @test b == permutedims(a)

    step = Plan(profile, transposition(37, 53, 4); step="f32,scale")
    @test status_of(() -> execute!(step, b, a)) == C.AUTOTUNE_INVALID
    half = C.autotune_scalar(; value=(0.5, 0.0))
    GC.@preserve a b begin
        addresses = (dst=Ptr{Cvoid}(pointer(b)), src=Ptr{Cvoid}(pointer(a)))
        @test execute_with!(step, Autotune.execution(; addresses..., scale=half)) === nothing
        @test status_of(() -> execute_with!(step,
            Autotune.execution(; addresses..., scale=half, beta=half))) == C.AUTOTUNE_INVALID
    end

    list = Autotune.matrices([Autotune.matrix(32, 16) for _ in 1:4], 4)
    @test Autotune.scratch_bytes(Plan(profile, list)) > 0
    @test !isempty(Autotune.launches(Plan(profile, Autotune.column_groups(8, 64, 1000, 4))))
end

# A profile, a device, an answer and a plan that nobody has any more, left by another thread. Returns how
# often the profile is used: by itself and by the answer.
@noinline function leave_objects()
    profile = Profile()
    lookup(profile, Device("h200"), transposition(64, 64, 4))
    Plan(profile, transposition(64, 64, 4))
    return profile.uses
end

@testset "plans" begin
    if haskey(ENV, "AUTOTUNE_TEST_DRIVER")
        driver = dlopen(ENV["AUTOTUNE_TEST_DRIVER"])
        @test Autotune.name(Autotune.current_device()) == "NVIDIA H200"
        test_plans(driver)
        GC.gc()
        number(name) = unsafe_load(Ptr{Cint}(dlsym(driver, name)))
        uses = fetch(Threads.@spawn leave_objects())
        # A thread keeps its last task, and what that had, until it runs another one.
        for _ in 1:100
            uses[] == 0 && break
            wait(Threads.@spawn nothing)
            GC.gc()
        end
        @test uses[] == 0
        Autotune.clear()
        @test number(:fake_cuda_modules) == 0
    end
end
