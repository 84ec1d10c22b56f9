// SPDX-License-Identifier: Apache-2.0
// Made by build-aux/make-bindings from src/lib/autotune.h, which explains it: `make bindings`.
#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_uint, c_void};

pub type autotune_status = c_int;

pub type autotune_tier = c_int;

pub type autotune_log_level = c_int;

pub const AUTOTUNE_VERSION_MAJOR: c_int = 0;
pub const AUTOTUNE_VERSION_MINOR: c_int = 1;
pub const AUTOTUNE_VERSION_PATCH: c_int = 0;
pub const AUTOTUNE_RANK_MAX: c_int = 24;
pub const AUTOTUNE_ADAPT: c_int = 1;
pub const AUTOTUNE_OK: c_int = 0;
pub const AUTOTUNE_FAILED: c_int = 1;
pub const AUTOTUNE_INVALID: c_int = 2;
pub const AUTOTUNE_NO_DEVICE: c_int = 3;
pub const AUTOTUNE_MISMATCH: c_int = 4;
pub const AUTOTUNE_INTERNAL: c_int = 5;
pub const AUTOTUNE_NO_MEMORY: c_int = 6;
pub const AUTOTUNE_TIER_EXACT: c_int = 0;
pub const AUTOTUNE_TIER_SHAPE: c_int = 1;
pub const AUTOTUNE_TIER_CHIP: c_int = 2;
pub const AUTOTUNE_TIER_ARCHITECTURE: c_int = 3;
pub const AUTOTUNE_TIER_OTHER: c_int = 4;
pub const AUTOTUNE_TIER_DEFAULT: c_int = 5;
pub const AUTOTUNE_LOG_NONE: c_int = 0;
pub const AUTOTUNE_LOG_WARNING: c_int = 1;
pub const AUTOTUNE_LOG_INFO: c_int = 2;
pub const AUTOTUNE_LOG_DEBUG: c_int = 3;

#[repr(C)]
pub struct autotune_error {
    _private: [u8; 0],
}

#[repr(C)]
pub struct autotune_profile {
    _private: [u8; 0],
}

#[repr(C)]
pub struct autotune_device {
    _private: [u8; 0],
}

#[repr(C)]
pub struct autotune_answer {
    _private: [u8; 0],
}

#[repr(C)]
pub struct autotune_plan {
    _private: [u8; 0],
}

pub type autotune_log_function = unsafe extern "C" fn(*mut c_void, autotune_log_level, *const c_char);

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct autotune_problem {
    pub elem_size: i64,
    pub rows: i64,
    pub cols: i64,
    pub ld_src: i64,
    pub ld_dst: i64,
    pub batch: i64,
    pub stride_src: i64,
    pub stride_dst: i64,
    pub in_place: i64,
    pub align_bytes: i64,
    pub struct_size: usize,
    pub step: *const c_char,
    pub explicit_strides: i64,
}

impl Default for autotune_problem {
    /// All members are 0, and struct_size is set.
    fn default() -> Self {
        // SAFETY: these bytes are numbers, and pointers that may be NULL.
        let zero: Self = unsafe { std::mem::zeroed() };
        Self { struct_size: std::mem::size_of::<Self>(), ..zero }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct autotune_tensor {
    pub elem_size: i64,
    pub rank: i64,
    pub extents: [i64; 24],
    pub permutation: [i64; 24],
    pub strides_src: [i64; 24],
    pub strides_dst: [i64; 24],
    pub align_bytes: i64,
    pub struct_size: usize,
    pub step: *const c_char,
    pub explicit_strides: i64,
    pub in_place: i64,
}

impl Default for autotune_tensor {
    /// All members are 0, and struct_size is set.
    fn default() -> Self {
        // SAFETY: these bytes are numbers, and pointers that may be NULL.
        let zero: Self = unsafe { std::mem::zeroed() };
        Self { struct_size: std::mem::size_of::<Self>(), ..zero }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct autotune_matrix {
    pub dst: *mut c_void,
    pub src: *const c_void,
    pub dst2: *mut c_void,
    pub src2: *const c_void,
    pub rows: i64,
    pub cols: i64,
    pub ld_src: i64,
    pub ld_dst: i64,
    pub batch: [i64; 2],
    pub stride_src: [i64; 2],
    pub stride_dst: [i64; 2],
}

impl Default for autotune_matrix {
    /// All members are 0.
    fn default() -> Self {
        // SAFETY: these bytes are numbers, and pointers that may be NULL.
        unsafe { std::mem::zeroed() }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct autotune_groups {
    pub struct_size: usize,
    pub elem_size: i64,
    pub step: *const c_char,
    pub align_bytes: i64,
    pub count: i64,
    pub list: *const autotune_matrix,
    pub rows: i64,
    pub cols: i64,
    pub ld_src: i64,
    pub padding: i64,
    pub most_rows: i64,
    pub stacked: i64,
    pub offset_bytes: i64,
}

impl Default for autotune_groups {
    /// All members are 0, and struct_size is set.
    fn default() -> Self {
        // SAFETY: these bytes are numbers, and pointers that may be NULL.
        let zero: Self = unsafe { std::mem::zeroed() };
        Self { struct_size: std::mem::size_of::<Self>(), ..zero }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct autotune_scales {
    pub r#type: *const c_char,
    pub elem_size: i64,
    pub rows: i64,
    pub cols: i64,
    pub row_stride: i64,
    pub col_stride: i64,
    pub matrix_bytes: i64,
    pub bytes: i64,
    pub reserved: [i64; 4],
}

impl Default for autotune_scales {
    /// All members are 0.
    fn default() -> Self {
        // SAFETY: these bytes are numbers, and pointers that may be NULL.
        unsafe { std::mem::zeroed() }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct autotune_device_numbers {
    pub struct_size: usize,
    pub name: *const c_char,
    pub compute_capability: i64,
    pub multiprocessors: i64,
    pub memory_bytes: i64,
    pub l2_bytes: i64,
    pub warp_size: i64,
    pub max_threads_per_block: i64,
    pub max_threads_per_multiprocessor: i64,
    pub registers_per_multiprocessor: i64,
    pub shared_bytes_per_block: i64,
    pub shared_bytes_per_block_optin: i64,
    pub shared_bytes_per_multiprocessor: i64,
}

impl Default for autotune_device_numbers {
    /// All members are 0, and struct_size is set.
    fn default() -> Self {
        // SAFETY: these bytes are numbers, and pointers that may be NULL.
        let zero: Self = unsafe { std::mem::zeroed() };
        Self { struct_size: std::mem::size_of::<Self>(), ..zero }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct autotune_info {
    pub struct_size: usize,
    pub tier: i64,
    pub is_uncertain: i64,
    pub is_predicted: i64,
    pub expected_permille: i64,
    pub distance: f64,
    pub bytes: i64,
    pub tuned_ns: i64,
    pub family: *const c_char,
    pub tuned_problem: *const c_char,
    pub path: *const c_char,
    pub config: *const c_char,
    pub adapts: i64,
}

impl Default for autotune_info {
    /// All members are 0, and struct_size is set.
    fn default() -> Self {
        // SAFETY: these bytes are numbers, and pointers that may be NULL.
        let zero: Self = unsafe { std::mem::zeroed() };
        Self { struct_size: std::mem::size_of::<Self>(), ..zero }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct autotune_launch {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_bytes: c_uint,
    pub carveout_percent: c_int,
    pub kernel: *const c_char,
    pub reserved: [c_uint; 6],
}

impl Default for autotune_launch {
    /// All members are 0.
    fn default() -> Self {
        // SAFETY: these bytes are numbers, and pointers that may be NULL.
        unsafe { std::mem::zeroed() }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct autotune_plan_options {
    pub measure_ms: i64,
    pub policy: *const c_char,
    pub scratch: *mut c_void,
    pub scratch_bytes: i64,
    pub struct_size: usize,
    pub flags: i64,
}

impl Default for autotune_plan_options {
    /// All members are 0, and struct_size is set.
    fn default() -> Self {
        // SAFETY: these bytes are numbers, and pointers that may be NULL.
        let zero: Self = unsafe { std::mem::zeroed() };
        Self { struct_size: std::mem::size_of::<Self>(), ..zero }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct autotune_scalar {
    pub at: *const c_void,
    pub value: [f64; 2],
}

impl Default for autotune_scalar {
    /// All members are 0.
    fn default() -> Self {
        // SAFETY: these bytes are numbers, and pointers that may be NULL.
        unsafe { std::mem::zeroed() }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct autotune_execution {
    pub struct_size: usize,
    pub dst: *mut c_void,
    pub src: *const c_void,
    pub stream: *mut c_void,
    pub scale: autotune_scalar,
    pub alpha: autotune_scalar,
    pub beta: autotune_scalar,
    pub src2: *const c_void,
    pub channel_scale: *const c_void,
    pub channel_shift: *const c_void,
    pub dst2: *mut c_void,
    pub largest: *mut c_void,
    pub block_scales: *mut c_void,
    pub block_scales2: *mut c_void,
    pub skip: *const c_void,
    pub list: *const c_void,
    pub list_count: i64,
    pub offsets: *const c_void,
    pub offset_count: i64,
    pub scratch: *mut c_void,
    pub scratch_bytes: i64,
    pub sums: *mut c_void,
    pub overflow: *mut c_int,
    pub most_rows: i64,
    pub channel_stride: i64,
}

impl Default for autotune_execution {
    /// All members are 0, and struct_size is set.
    fn default() -> Self {
        // SAFETY: these bytes are numbers, and pointers that may be NULL.
        let zero: Self = unsafe { std::mem::zeroed() };
        Self { struct_size: std::mem::size_of::<Self>(), ..zero }
    }
}

#[link(name = "autotune")]
extern "C" {
    pub fn autotune_version() -> *const c_char;
    pub fn autotune_version_number() -> c_int;
    pub fn autotune_status_name(status: autotune_status) -> *const c_char;
    pub fn autotune_error_status(error: *const autotune_error) -> autotune_status;
    pub fn autotune_error_message(error: *const autotune_error) -> *const c_char;
    pub fn autotune_error_free(error: *mut autotune_error);
    pub fn autotune_profile_open(profile: *mut *mut autotune_profile, path: *const c_char, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_profile_skipped(profile: *const autotune_profile, index: usize) -> *const c_char;
    pub fn autotune_profile_free(profile: *mut autotune_profile);
    pub fn autotune_problem_scales(scales: *mut autotune_scales, problem: *const autotune_problem, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_device_described(device: *mut *mut autotune_device, name: *const c_char, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_device_current(device: *mut *mut autotune_device, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_device_make(device: *mut *mut autotune_device, numbers: *const autotune_device_numbers, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_device_name(device: *const autotune_device) -> *const c_char;
    pub fn autotune_device_free(device: *mut autotune_device);
    pub fn autotune_lookup(answer: *mut *mut autotune_answer, profile: *const autotune_profile, device: *const autotune_device, problem: *const autotune_problem, policy: *const c_char, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_tensor_lookup(answer: *mut *mut autotune_answer, profile: *const autotune_profile, device: *const autotune_device, tensor: *const autotune_tensor, policy: *const c_char, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_groups_lookup(answer: *mut *mut autotune_answer, profile: *const autotune_profile, device: *const autotune_device, groups: *const autotune_groups, policy: *const c_char, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_answer_free(answer: *mut autotune_answer);
    pub fn autotune_answer_check_device(answer: *const autotune_answer, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_answer_info(answer: *const autotune_answer, info: *mut autotune_info, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_answer_parameter_count(answer: *const autotune_answer) -> usize;
    pub fn autotune_answer_parameter_name(answer: *const autotune_answer, index: usize) -> *const c_char;
    pub fn autotune_answer_parameter_value(answer: *const autotune_answer, index: usize) -> c_int;
    pub fn autotune_answer_launches(answer: *const autotune_answer, launches: *mut autotune_launch, capacity: usize) -> usize;
    pub fn autotune_answer_describe(answer: *const autotune_answer, text: *mut c_char, capacity: usize) -> usize;
    pub fn autotune_answer_json(answer: *const autotune_answer, text: *mut c_char, capacity: usize) -> usize;
    pub fn autotune_plan_info(plan: *const autotune_plan, info: *mut autotune_info, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_plan_create(plan: *mut *mut autotune_plan, profile: *const autotune_profile, problem: *const autotune_problem, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_tensor_plan_create(plan: *mut *mut autotune_plan, profile: *const autotune_profile, tensor: *const autotune_tensor, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_plan_create_with(plan: *mut *mut autotune_plan, profile: *const autotune_profile, problem: *const autotune_problem, options: *const autotune_plan_options, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_tensor_plan_create_with(plan: *mut *mut autotune_plan, profile: *const autotune_profile, tensor: *const autotune_tensor, options: *const autotune_plan_options, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_groups_plan_create(plan: *mut *mut autotune_plan, profile: *const autotune_profile, groups: *const autotune_groups, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_plan_execute(plan: *const autotune_plan, dst: *mut c_void, src: *const c_void, stream: *mut c_void, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_plan_execute_with(plan: *const autotune_plan, execution: *const autotune_execution, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_plan_launches(plan: *const autotune_plan, dst: *const c_void, src: *const c_void, launches: *mut autotune_launch, capacity: usize) -> usize;
    pub fn autotune_plan_scratch_bytes(plan: *const autotune_plan) -> i64;
    pub fn autotune_plan_describe(plan: *const autotune_plan, text: *mut c_char, capacity: usize) -> usize;
    pub fn autotune_plan_free(plan: *mut autotune_plan);
    pub fn autotune_precompile(answer: *const autotune_answer, profile: *const autotune_profile, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_clear();
    pub fn autotune_keep_unused(most: usize);
    pub fn autotune_set_nvrtc(path: *const c_char, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_set_log(function: Option<autotune_log_function>, user_data: *mut c_void, most: autotune_log_level);
    pub fn autotune_wisdom_save(path: *const c_char, error: *mut *mut autotune_error) -> autotune_status;
    pub fn autotune_wisdom_forget();
}
