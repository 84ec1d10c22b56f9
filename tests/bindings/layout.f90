! SPDX-License-Identifier: Apache-2.0
! Made by build-aux/make-bindings from src/lib/autotune.h, which explains it: `make bindings`.
! Prints a line for each constant, struct and member, as layout.c does.
program layout
    use autotune_c
    implicit none
    type(autotune_problem), target :: of_autotune_problem
    type(autotune_tensor), target :: of_autotune_tensor
    type(autotune_matrix), target :: of_autotune_matrix
    type(autotune_groups), target :: of_autotune_groups
    type(autotune_scales), target :: of_autotune_scales
    type(autotune_device_numbers), target :: of_autotune_device_numbers
    type(autotune_info), target :: of_autotune_info
    type(autotune_launch), target :: of_autotune_launch
    type(autotune_plan_options), target :: of_autotune_plan_options
    type(autotune_scalar), target :: of_autotune_scalar
    type(autotune_execution), target :: of_autotune_execution

    call line("AUTOTUNE_VERSION_MAJOR", int(AUTOTUNE_VERSION_MAJOR, c_size_t))
    call line("AUTOTUNE_VERSION_MINOR", int(AUTOTUNE_VERSION_MINOR, c_size_t))
    call line("AUTOTUNE_VERSION_PATCH", int(AUTOTUNE_VERSION_PATCH, c_size_t))
    call line("AUTOTUNE_RANK_MAX", int(AUTOTUNE_RANK_MAX, c_size_t))
    call line("AUTOTUNE_ADAPT", int(AUTOTUNE_ADAPT, c_size_t))
    call line("AUTOTUNE_OK", int(AUTOTUNE_OK, c_size_t))
    call line("AUTOTUNE_FAILED", int(AUTOTUNE_FAILED, c_size_t))
    call line("AUTOTUNE_INVALID", int(AUTOTUNE_INVALID, c_size_t))
    call line("AUTOTUNE_NO_DEVICE", int(AUTOTUNE_NO_DEVICE, c_size_t))
    call line("AUTOTUNE_MISMATCH", int(AUTOTUNE_MISMATCH, c_size_t))
    call line("AUTOTUNE_INTERNAL", int(AUTOTUNE_INTERNAL, c_size_t))
    call line("AUTOTUNE_NO_MEMORY", int(AUTOTUNE_NO_MEMORY, c_size_t))
    call line("AUTOTUNE_TIER_EXACT", int(AUTOTUNE_TIER_EXACT, c_size_t))
    call line("AUTOTUNE_TIER_SHAPE", int(AUTOTUNE_TIER_SHAPE, c_size_t))
    call line("AUTOTUNE_TIER_CHIP", int(AUTOTUNE_TIER_CHIP, c_size_t))
    call line("AUTOTUNE_TIER_ARCHITECTURE", int(AUTOTUNE_TIER_ARCHITECTURE, c_size_t))
    call line("AUTOTUNE_TIER_OTHER", int(AUTOTUNE_TIER_OTHER, c_size_t))
    call line("AUTOTUNE_TIER_DEFAULT", int(AUTOTUNE_TIER_DEFAULT, c_size_t))
    call line("AUTOTUNE_LOG_NONE", int(AUTOTUNE_LOG_NONE, c_size_t))
    call line("AUTOTUNE_LOG_WARNING", int(AUTOTUNE_LOG_WARNING, c_size_t))
    call line("AUTOTUNE_LOG_INFO", int(AUTOTUNE_LOG_INFO, c_size_t))
    call line("AUTOTUNE_LOG_DEBUG", int(AUTOTUNE_LOG_DEBUG, c_size_t))
    call line("autotune_problem", c_sizeof(of_autotune_problem))
    call line("autotune_problem.elem_size", &
        apart(c_loc(of_autotune_problem%elem_size), c_loc(of_autotune_problem)))
    call line('  bytes', c_sizeof(of_autotune_problem%elem_size))
    call line("autotune_problem.rows", &
        apart(c_loc(of_autotune_problem%rows), c_loc(of_autotune_problem)))
    call line('  bytes', c_sizeof(of_autotune_problem%rows))
    call line("autotune_problem.cols", &
        apart(c_loc(of_autotune_problem%cols), c_loc(of_autotune_problem)))
    call line('  bytes', c_sizeof(of_autotune_problem%cols))
    call line("autotune_problem.ld_src", &
        apart(c_loc(of_autotune_problem%ld_src), c_loc(of_autotune_problem)))
    call line('  bytes', c_sizeof(of_autotune_problem%ld_src))
    call line("autotune_problem.ld_dst", &
        apart(c_loc(of_autotune_problem%ld_dst), c_loc(of_autotune_problem)))
    call line('  bytes', c_sizeof(of_autotune_problem%ld_dst))
    call line("autotune_problem.batch", &
        apart(c_loc(of_autotune_problem%batch), c_loc(of_autotune_problem)))
    call line('  bytes', c_sizeof(of_autotune_problem%batch))
    call line("autotune_problem.stride_src", &
        apart(c_loc(of_autotune_problem%stride_src), c_loc(of_autotune_problem)))
    call line('  bytes', c_sizeof(of_autotune_problem%stride_src))
    call line("autotune_problem.stride_dst", &
        apart(c_loc(of_autotune_problem%stride_dst), c_loc(of_autotune_problem)))
    call line('  bytes', c_sizeof(of_autotune_problem%stride_dst))
    call line("autotune_problem.in_place", &
        apart(c_loc(of_autotune_problem%in_place), c_loc(of_autotune_problem)))
    call line('  bytes', c_sizeof(of_autotune_problem%in_place))
    call line("autotune_problem.align_bytes", &
        apart(c_loc(of_autotune_problem%align_bytes), c_loc(of_autotune_problem)))
    call line('  bytes', c_sizeof(of_autotune_problem%align_bytes))
    call line("autotune_problem.struct_size", &
        apart(c_loc(of_autotune_problem%struct_size), c_loc(of_autotune_problem)))
    call line('  bytes', c_sizeof(of_autotune_problem%struct_size))
    call line("autotune_problem.step", &
        apart(c_loc(of_autotune_problem%step), c_loc(of_autotune_problem)))
    call line('  bytes', c_sizeof(of_autotune_problem%step))
    call line("autotune_problem.explicit_strides", &
        apart(c_loc(of_autotune_problem%explicit_strides), c_loc(of_autotune_problem)))
    call line('  bytes', c_sizeof(of_autotune_problem%explicit_strides))
    call line("autotune_tensor", c_sizeof(of_autotune_tensor))
    call line("autotune_tensor.elem_size", &
        apart(c_loc(of_autotune_tensor%elem_size), c_loc(of_autotune_tensor)))
    call line('  bytes', c_sizeof(of_autotune_tensor%elem_size))
    call line("autotune_tensor.rank", &
        apart(c_loc(of_autotune_tensor%rank), c_loc(of_autotune_tensor)))
    call line('  bytes', c_sizeof(of_autotune_tensor%rank))
    call line("autotune_tensor.extents", &
        apart(c_loc(of_autotune_tensor%extents(1)), c_loc(of_autotune_tensor)))
    call line('  bytes', c_sizeof(of_autotune_tensor%extents))
    call line("autotune_tensor.permutation", &
        apart(c_loc(of_autotune_tensor%permutation(1)), c_loc(of_autotune_tensor)))
    call line('  bytes', c_sizeof(of_autotune_tensor%permutation))
    call line("autotune_tensor.strides_src", &
        apart(c_loc(of_autotune_tensor%strides_src(1)), c_loc(of_autotune_tensor)))
    call line('  bytes', c_sizeof(of_autotune_tensor%strides_src))
    call line("autotune_tensor.strides_dst", &
        apart(c_loc(of_autotune_tensor%strides_dst(1)), c_loc(of_autotune_tensor)))
    call line('  bytes', c_sizeof(of_autotune_tensor%strides_dst))
    call line("autotune_tensor.align_bytes", &
        apart(c_loc(of_autotune_tensor%align_bytes), c_loc(of_autotune_tensor)))
    call line('  bytes', c_sizeof(of_autotune_tensor%align_bytes))
    call line("autotune_tensor.struct_size", &
        apart(c_loc(of_autotune_tensor%struct_size), c_loc(of_autotune_tensor)))
    call line('  bytes', c_sizeof(of_autotune_tensor%struct_size))
    call line("autotune_tensor.step", &
        apart(c_loc(of_autotune_tensor%step), c_loc(of_autotune_tensor)))
    call line('  bytes', c_sizeof(of_autotune_tensor%step))
    call line("autotune_tensor.explicit_strides", &
        apart(c_loc(of_autotune_tensor%explicit_strides), c_loc(of_autotune_tensor)))
    call line('  bytes', c_sizeof(of_autotune_tensor%explicit_strides))
    call line("autotune_tensor.in_place", &
        apart(c_loc(of_autotune_tensor%in_place), c_loc(of_autotune_tensor)))
    call line('  bytes', c_sizeof(of_autotune_tensor%in_place))
    call line("autotune_matrix", c_sizeof(of_autotune_matrix))
    call line("autotune_matrix.dst", &
        apart(c_loc(of_autotune_matrix%dst), c_loc(of_autotune_matrix)))
    call line('  bytes', c_sizeof(of_autotune_matrix%dst))
    call line("autotune_matrix.src", &
        apart(c_loc(of_autotune_matrix%src), c_loc(of_autotune_matrix)))
    call line('  bytes', c_sizeof(of_autotune_matrix%src))
    call line("autotune_matrix.dst2", &
        apart(c_loc(of_autotune_matrix%dst2), c_loc(of_autotune_matrix)))
    call line('  bytes', c_sizeof(of_autotune_matrix%dst2))
    call line("autotune_matrix.src2", &
        apart(c_loc(of_autotune_matrix%src2), c_loc(of_autotune_matrix)))
    call line('  bytes', c_sizeof(of_autotune_matrix%src2))
    call line("autotune_matrix.rows", &
        apart(c_loc(of_autotune_matrix%rows), c_loc(of_autotune_matrix)))
    call line('  bytes', c_sizeof(of_autotune_matrix%rows))
    call line("autotune_matrix.cols", &
        apart(c_loc(of_autotune_matrix%cols), c_loc(of_autotune_matrix)))
    call line('  bytes', c_sizeof(of_autotune_matrix%cols))
    call line("autotune_matrix.ld_src", &
        apart(c_loc(of_autotune_matrix%ld_src), c_loc(of_autotune_matrix)))
    call line('  bytes', c_sizeof(of_autotune_matrix%ld_src))
    call line("autotune_matrix.ld_dst", &
        apart(c_loc(of_autotune_matrix%ld_dst), c_loc(of_autotune_matrix)))
    call line('  bytes', c_sizeof(of_autotune_matrix%ld_dst))
    call line("autotune_matrix.batch", &
        apart(c_loc(of_autotune_matrix%batch(1)), c_loc(of_autotune_matrix)))
    call line('  bytes', c_sizeof(of_autotune_matrix%batch))
    call line("autotune_matrix.stride_src", &
        apart(c_loc(of_autotune_matrix%stride_src(1)), c_loc(of_autotune_matrix)))
    call line('  bytes', c_sizeof(of_autotune_matrix%stride_src))
    call line("autotune_matrix.stride_dst", &
        apart(c_loc(of_autotune_matrix%stride_dst(1)), c_loc(of_autotune_matrix)))
    call line('  bytes', c_sizeof(of_autotune_matrix%stride_dst))
    call line("autotune_groups", c_sizeof(of_autotune_groups))
    call line("autotune_groups.struct_size", &
        apart(c_loc(of_autotune_groups%struct_size), c_loc(of_autotune_groups)))
    call line('  bytes', c_sizeof(of_autotune_groups%struct_size))
    call line("autotune_groups.elem_size", &
        apart(c_loc(of_autotune_groups%elem_size), c_loc(of_autotune_groups)))
    call line('  bytes', c_sizeof(of_autotune_groups%elem_size))
    call line("autotune_groups.step", &
        apart(c_loc(of_autotune_groups%step), c_loc(of_autotune_groups)))
    call line('  bytes', c_sizeof(of_autotune_groups%step))
    call line("autotune_groups.align_bytes", &
        apart(c_loc(of_autotune_groups%align_bytes), c_loc(of_autotune_groups)))
    call line('  bytes', c_sizeof(of_autotune_groups%align_bytes))
    call line("autotune_groups.count", &
        apart(c_loc(of_autotune_groups%count), c_loc(of_autotune_groups)))
    call line('  bytes', c_sizeof(of_autotune_groups%count))
    call line("autotune_groups.list", &
        apart(c_loc(of_autotune_groups%list), c_loc(of_autotune_groups)))
    call line('  bytes', c_sizeof(of_autotune_groups%list))
    call line("autotune_groups.rows", &
        apart(c_loc(of_autotune_groups%rows), c_loc(of_autotune_groups)))
    call line('  bytes', c_sizeof(of_autotune_groups%rows))
    call line("autotune_groups.cols", &
        apart(c_loc(of_autotune_groups%cols), c_loc(of_autotune_groups)))
    call line('  bytes', c_sizeof(of_autotune_groups%cols))
    call line("autotune_groups.ld_src", &
        apart(c_loc(of_autotune_groups%ld_src), c_loc(of_autotune_groups)))
    call line('  bytes', c_sizeof(of_autotune_groups%ld_src))
    call line("autotune_groups.padding", &
        apart(c_loc(of_autotune_groups%padding), c_loc(of_autotune_groups)))
    call line('  bytes', c_sizeof(of_autotune_groups%padding))
    call line("autotune_groups.most_rows", &
        apart(c_loc(of_autotune_groups%most_rows), c_loc(of_autotune_groups)))
    call line('  bytes', c_sizeof(of_autotune_groups%most_rows))
    call line("autotune_groups.stacked", &
        apart(c_loc(of_autotune_groups%stacked), c_loc(of_autotune_groups)))
    call line('  bytes', c_sizeof(of_autotune_groups%stacked))
    call line("autotune_groups.offset_bytes", &
        apart(c_loc(of_autotune_groups%offset_bytes), c_loc(of_autotune_groups)))
    call line('  bytes', c_sizeof(of_autotune_groups%offset_bytes))
    call line("autotune_scales", c_sizeof(of_autotune_scales))
    call line("autotune_scales.type", &
        apart(c_loc(of_autotune_scales%type), c_loc(of_autotune_scales)))
    call line('  bytes', c_sizeof(of_autotune_scales%type))
    call line("autotune_scales.elem_size", &
        apart(c_loc(of_autotune_scales%elem_size), c_loc(of_autotune_scales)))
    call line('  bytes', c_sizeof(of_autotune_scales%elem_size))
    call line("autotune_scales.rows", &
        apart(c_loc(of_autotune_scales%rows), c_loc(of_autotune_scales)))
    call line('  bytes', c_sizeof(of_autotune_scales%rows))
    call line("autotune_scales.cols", &
        apart(c_loc(of_autotune_scales%cols), c_loc(of_autotune_scales)))
    call line('  bytes', c_sizeof(of_autotune_scales%cols))
    call line("autotune_scales.row_stride", &
        apart(c_loc(of_autotune_scales%row_stride), c_loc(of_autotune_scales)))
    call line('  bytes', c_sizeof(of_autotune_scales%row_stride))
    call line("autotune_scales.col_stride", &
        apart(c_loc(of_autotune_scales%col_stride), c_loc(of_autotune_scales)))
    call line('  bytes', c_sizeof(of_autotune_scales%col_stride))
    call line("autotune_scales.matrix_bytes", &
        apart(c_loc(of_autotune_scales%matrix_bytes), c_loc(of_autotune_scales)))
    call line('  bytes', c_sizeof(of_autotune_scales%matrix_bytes))
    call line("autotune_scales.bytes", &
        apart(c_loc(of_autotune_scales%bytes), c_loc(of_autotune_scales)))
    call line('  bytes', c_sizeof(of_autotune_scales%bytes))
    call line("autotune_scales.reserved", &
        apart(c_loc(of_autotune_scales%reserved(1)), c_loc(of_autotune_scales)))
    call line('  bytes', c_sizeof(of_autotune_scales%reserved))
    call line("autotune_device_numbers", c_sizeof(of_autotune_device_numbers))
    call line("autotune_device_numbers.struct_size", &
        apart(c_loc(of_autotune_device_numbers%struct_size), c_loc(of_autotune_device_numbers)))
    call line('  bytes', c_sizeof(of_autotune_device_numbers%struct_size))
    call line("autotune_device_numbers.name", &
        apart(c_loc(of_autotune_device_numbers%name), c_loc(of_autotune_device_numbers)))
    call line('  bytes', c_sizeof(of_autotune_device_numbers%name))
    call line("autotune_device_numbers.compute_capability", &
        apart(c_loc(of_autotune_device_numbers%compute_capability), c_loc(of_autotune_device_numbers)))
    call line('  bytes', c_sizeof(of_autotune_device_numbers%compute_capability))
    call line("autotune_device_numbers.multiprocessors", &
        apart(c_loc(of_autotune_device_numbers%multiprocessors), c_loc(of_autotune_device_numbers)))
    call line('  bytes', c_sizeof(of_autotune_device_numbers%multiprocessors))
    call line("autotune_device_numbers.memory_bytes", &
        apart(c_loc(of_autotune_device_numbers%memory_bytes), c_loc(of_autotune_device_numbers)))
    call line('  bytes', c_sizeof(of_autotune_device_numbers%memory_bytes))
    call line("autotune_device_numbers.l2_bytes", &
        apart(c_loc(of_autotune_device_numbers%l2_bytes), c_loc(of_autotune_device_numbers)))
    call line('  bytes', c_sizeof(of_autotune_device_numbers%l2_bytes))
    call line("autotune_device_numbers.warp_size", &
        apart(c_loc(of_autotune_device_numbers%warp_size), c_loc(of_autotune_device_numbers)))
    call line('  bytes', c_sizeof(of_autotune_device_numbers%warp_size))
    call line("autotune_device_numbers.max_threads_per_block", &
        apart(c_loc(of_autotune_device_numbers%max_threads_per_block), c_loc(of_autotune_device_numbers)))
    call line('  bytes', c_sizeof(of_autotune_device_numbers%max_threads_per_block))
    call line("autotune_device_numbers.max_threads_per_multiprocessor", &
        apart(c_loc(of_autotune_device_numbers%max_threads_per_multiprocessor), c_loc(of_autotune_device_numbers)))
    call line('  bytes', c_sizeof(of_autotune_device_numbers%max_threads_per_multiprocessor))
    call line("autotune_device_numbers.registers_per_multiprocessor", &
        apart(c_loc(of_autotune_device_numbers%registers_per_multiprocessor), c_loc(of_autotune_device_numbers)))
    call line('  bytes', c_sizeof(of_autotune_device_numbers%registers_per_multiprocessor))
    call line("autotune_device_numbers.shared_bytes_per_block", &
        apart(c_loc(of_autotune_device_numbers%shared_bytes_per_block), c_loc(of_autotune_device_numbers)))
    call line('  bytes', c_sizeof(of_autotune_device_numbers%shared_bytes_per_block))
    call line("autotune_device_numbers.shared_bytes_per_block_optin", &
        apart(c_loc(of_autotune_device_numbers%shared_bytes_per_block_optin), c_loc(of_autotune_device_numbers)))
    call line('  bytes', c_sizeof(of_autotune_device_numbers%shared_bytes_per_block_optin))
    call line("autotune_device_numbers.shared_bytes_per_multiprocessor", &
        apart(c_loc(of_autotune_device_numbers%shared_bytes_per_multiprocessor), c_loc(of_autotune_device_numbers)))
    call line('  bytes', c_sizeof(of_autotune_device_numbers%shared_bytes_per_multiprocessor))
    call line("autotune_info", c_sizeof(of_autotune_info))
    call line("autotune_info.struct_size", &
        apart(c_loc(of_autotune_info%struct_size), c_loc(of_autotune_info)))
    call line('  bytes', c_sizeof(of_autotune_info%struct_size))
    call line("autotune_info.tier", &
        apart(c_loc(of_autotune_info%tier), c_loc(of_autotune_info)))
    call line('  bytes', c_sizeof(of_autotune_info%tier))
    call line("autotune_info.is_uncertain", &
        apart(c_loc(of_autotune_info%is_uncertain), c_loc(of_autotune_info)))
    call line('  bytes', c_sizeof(of_autotune_info%is_uncertain))
    call line("autotune_info.is_predicted", &
        apart(c_loc(of_autotune_info%is_predicted), c_loc(of_autotune_info)))
    call line('  bytes', c_sizeof(of_autotune_info%is_predicted))
    call line("autotune_info.expected_permille", &
        apart(c_loc(of_autotune_info%expected_permille), c_loc(of_autotune_info)))
    call line('  bytes', c_sizeof(of_autotune_info%expected_permille))
    call line("autotune_info.distance", &
        apart(c_loc(of_autotune_info%distance), c_loc(of_autotune_info)))
    call line('  bytes', c_sizeof(of_autotune_info%distance))
    call line("autotune_info.bytes", &
        apart(c_loc(of_autotune_info%bytes), c_loc(of_autotune_info)))
    call line('  bytes', c_sizeof(of_autotune_info%bytes))
    call line("autotune_info.tuned_ns", &
        apart(c_loc(of_autotune_info%tuned_ns), c_loc(of_autotune_info)))
    call line('  bytes', c_sizeof(of_autotune_info%tuned_ns))
    call line("autotune_info.family", &
        apart(c_loc(of_autotune_info%family), c_loc(of_autotune_info)))
    call line('  bytes', c_sizeof(of_autotune_info%family))
    call line("autotune_info.tuned_problem", &
        apart(c_loc(of_autotune_info%tuned_problem), c_loc(of_autotune_info)))
    call line('  bytes', c_sizeof(of_autotune_info%tuned_problem))
    call line("autotune_info.path", &
        apart(c_loc(of_autotune_info%path), c_loc(of_autotune_info)))
    call line('  bytes', c_sizeof(of_autotune_info%path))
    call line("autotune_info.config", &
        apart(c_loc(of_autotune_info%config), c_loc(of_autotune_info)))
    call line('  bytes', c_sizeof(of_autotune_info%config))
    call line("autotune_info.adapts", &
        apart(c_loc(of_autotune_info%adapts), c_loc(of_autotune_info)))
    call line('  bytes', c_sizeof(of_autotune_info%adapts))
    call line("autotune_launch", c_sizeof(of_autotune_launch))
    call line("autotune_launch.grid", &
        apart(c_loc(of_autotune_launch%grid(1)), c_loc(of_autotune_launch)))
    call line('  bytes', c_sizeof(of_autotune_launch%grid))
    call line("autotune_launch.block", &
        apart(c_loc(of_autotune_launch%block(1)), c_loc(of_autotune_launch)))
    call line('  bytes', c_sizeof(of_autotune_launch%block))
    call line("autotune_launch.shared_bytes", &
        apart(c_loc(of_autotune_launch%shared_bytes), c_loc(of_autotune_launch)))
    call line('  bytes', c_sizeof(of_autotune_launch%shared_bytes))
    call line("autotune_launch.carveout_percent", &
        apart(c_loc(of_autotune_launch%carveout_percent), c_loc(of_autotune_launch)))
    call line('  bytes', c_sizeof(of_autotune_launch%carveout_percent))
    call line("autotune_launch.kernel", &
        apart(c_loc(of_autotune_launch%kernel), c_loc(of_autotune_launch)))
    call line('  bytes', c_sizeof(of_autotune_launch%kernel))
    call line("autotune_launch.reserved", &
        apart(c_loc(of_autotune_launch%reserved(1)), c_loc(of_autotune_launch)))
    call line('  bytes', c_sizeof(of_autotune_launch%reserved))
    call line("autotune_plan_options", c_sizeof(of_autotune_plan_options))
    call line("autotune_plan_options.measure_ms", &
        apart(c_loc(of_autotune_plan_options%measure_ms), c_loc(of_autotune_plan_options)))
    call line('  bytes', c_sizeof(of_autotune_plan_options%measure_ms))
    call line("autotune_plan_options.policy", &
        apart(c_loc(of_autotune_plan_options%policy), c_loc(of_autotune_plan_options)))
    call line('  bytes', c_sizeof(of_autotune_plan_options%policy))
    call line("autotune_plan_options.scratch", &
        apart(c_loc(of_autotune_plan_options%scratch), c_loc(of_autotune_plan_options)))
    call line('  bytes', c_sizeof(of_autotune_plan_options%scratch))
    call line("autotune_plan_options.scratch_bytes", &
        apart(c_loc(of_autotune_plan_options%scratch_bytes), c_loc(of_autotune_plan_options)))
    call line('  bytes', c_sizeof(of_autotune_plan_options%scratch_bytes))
    call line("autotune_plan_options.struct_size", &
        apart(c_loc(of_autotune_plan_options%struct_size), c_loc(of_autotune_plan_options)))
    call line('  bytes', c_sizeof(of_autotune_plan_options%struct_size))
    call line("autotune_plan_options.flags", &
        apart(c_loc(of_autotune_plan_options%flags), c_loc(of_autotune_plan_options)))
    call line('  bytes', c_sizeof(of_autotune_plan_options%flags))
    call line("autotune_scalar", c_sizeof(of_autotune_scalar))
    call line("autotune_scalar.at", &
        apart(c_loc(of_autotune_scalar%at), c_loc(of_autotune_scalar)))
    call line('  bytes', c_sizeof(of_autotune_scalar%at))
    call line("autotune_scalar.value", &
        apart(c_loc(of_autotune_scalar%value(1)), c_loc(of_autotune_scalar)))
    call line('  bytes', c_sizeof(of_autotune_scalar%value))
    call line("autotune_execution", c_sizeof(of_autotune_execution))
    call line("autotune_execution.struct_size", &
        apart(c_loc(of_autotune_execution%struct_size), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%struct_size))
    call line("autotune_execution.dst", &
        apart(c_loc(of_autotune_execution%dst), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%dst))
    call line("autotune_execution.src", &
        apart(c_loc(of_autotune_execution%src), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%src))
    call line("autotune_execution.stream", &
        apart(c_loc(of_autotune_execution%stream), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%stream))
    call line("autotune_execution.scale", &
        apart(c_loc(of_autotune_execution%scale), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%scale))
    call line("autotune_execution.alpha", &
        apart(c_loc(of_autotune_execution%alpha), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%alpha))
    call line("autotune_execution.beta", &
        apart(c_loc(of_autotune_execution%beta), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%beta))
    call line("autotune_execution.src2", &
        apart(c_loc(of_autotune_execution%src2), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%src2))
    call line("autotune_execution.channel_scale", &
        apart(c_loc(of_autotune_execution%channel_scale), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%channel_scale))
    call line("autotune_execution.channel_shift", &
        apart(c_loc(of_autotune_execution%channel_shift), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%channel_shift))
    call line("autotune_execution.dst2", &
        apart(c_loc(of_autotune_execution%dst2), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%dst2))
    call line("autotune_execution.largest", &
        apart(c_loc(of_autotune_execution%largest), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%largest))
    call line("autotune_execution.block_scales", &
        apart(c_loc(of_autotune_execution%block_scales), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%block_scales))
    call line("autotune_execution.block_scales2", &
        apart(c_loc(of_autotune_execution%block_scales2), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%block_scales2))
    call line("autotune_execution.skip", &
        apart(c_loc(of_autotune_execution%skip), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%skip))
    call line("autotune_execution.list", &
        apart(c_loc(of_autotune_execution%list), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%list))
    call line("autotune_execution.list_count", &
        apart(c_loc(of_autotune_execution%list_count), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%list_count))
    call line("autotune_execution.offsets", &
        apart(c_loc(of_autotune_execution%offsets), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%offsets))
    call line("autotune_execution.offset_count", &
        apart(c_loc(of_autotune_execution%offset_count), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%offset_count))
    call line("autotune_execution.scratch", &
        apart(c_loc(of_autotune_execution%scratch), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%scratch))
    call line("autotune_execution.scratch_bytes", &
        apart(c_loc(of_autotune_execution%scratch_bytes), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%scratch_bytes))
    call line("autotune_execution.sums", &
        apart(c_loc(of_autotune_execution%sums), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%sums))
    call line("autotune_execution.overflow", &
        apart(c_loc(of_autotune_execution%overflow), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%overflow))
    call line("autotune_execution.most_rows", &
        apart(c_loc(of_autotune_execution%most_rows), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%most_rows))
    call line("autotune_execution.channel_stride", &
        apart(c_loc(of_autotune_execution%channel_stride), c_loc(of_autotune_execution)))
    call line('  bytes', c_sizeof(of_autotune_execution%channel_stride))

contains

    subroutine line(name, value)
        character(*), intent(in) :: name
        integer(c_size_t), intent(in) :: value

        print '(a, 1x, i0)', name, value
    end subroutine line

    function apart(member, whole) result(bytes)
        type(c_ptr), intent(in) :: member, whole
        integer(c_size_t) :: bytes

        bytes = transfer(member, bytes) - transfer(whole, bytes)
    end function apart
end program layout
