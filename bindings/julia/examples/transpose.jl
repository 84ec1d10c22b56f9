# SPDX-License-Identifier: Apache-2.0
# Transposes a matrix on the GPU with CUDA.jl: julia --project transpose.jl, in a project with CUDA and Autotune.
using Autotune, CUDA

a = CuArray(reshape(Float32.(1:3_000_000), 1000, 3000))
b = similar(a, reverse(size(a)))
plan = Plan(Profile(), transposition(size(a)..., sizeof(eltype(a))))

execute!(plan, b, a; stream=CUDA.stream().handle)
wrong = count(Array(b) .!= permutedims(Array(a)))
println("$wrong of $(length(a)) elements are wrong")
close(plan)
