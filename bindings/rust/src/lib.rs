// SPDX-License-Identifier: Apache-2.0
//! libautotune for Rust: tuned matrix transposes for NVIDIA GPUs.
//!
//! ```no_run
//! # fn transpose(dst: *mut f32, src: *const f32) -> autotune::Result<()> {
//! use autotune::{Matrix, Plan, Profile};
//!
//! let profile = Profile::open()?; // all on the search path
//! let plan = Plan::new(&profile, &Matrix::of::<f32>(6000, 6000))?;
//! unsafe { plan.execute(dst.cast(), src.cast(), std::ptr::null_mut())? };
//! # Ok(())
//! # }
//! ```
//!
//! Matrices are row-major, as in C. `autotune.h` explains the members of problems and the functions,
//! which [`sys`] has under their own names. Objects are freed when they are dropped. Each may be used
//! and dropped by any thread, and by several at once.
#![warn(missing_docs)]

mod error;
mod lookup;
mod plan;
mod problem;
/// What `autotune.h` declares.
#[allow(missing_docs)]
#[rustfmt::skip]
pub mod sys;
mod text;

pub use error::{Error, Result, Status};
pub use lookup::{Answer, Device, Info, Policy, Profile, Tier};
pub use plan::{Launch, Options, Plan};
pub use problem::{scales, Groups, Matrix, Measurable, Problem, Tensor};

/// The version of the library that is loaded.
pub fn version() -> String {
    // SAFETY: the text is static.
    text::copied(unsafe { sys::autotune_version() }).unwrap_or_default()
}

/// Unload the kernels that no plan uses. Call it before a device is reset, or a context destroyed that
/// had plans.
pub fn clear() {
    // SAFETY: any thread may call it at any time.
    unsafe { sys::autotune_clear() }
}

/// Keep at most so many kernels that no plan uses, in each context.
pub fn keep_unused(most: usize) {
    // SAFETY: as above.
    unsafe { sys::autotune_keep_unused(most) }
}

/// Name the NVRTC of this process, before the first plan.
pub fn set_nvrtc(path: &std::path::Path) -> Result<()> {
    let path = text::of_path(path)?;

    // SAFETY: the text lives as long as the call.
    error::check(|error| unsafe { sys::autotune_set_nvrtc(path.as_ptr(), error) })
}

/// How much [`set_log`] tells. Each level has those before it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// A rival gave wrong results, or a profile was skipped.
    Warning = sys::AUTOTUNE_LOG_WARNING as isize,
    /// Plans, and kernels that were compiled.
    Info = sys::AUTOTUNE_LOG_INFO as isize,
    /// Kernels that were in the cache, are loaded and unloaded.
    Debug = sys::AUTOTUNE_LOG_DEBUG as isize,
}

/// Tell this function what the library decides and why, up to a level; `None`: nothing more. Several threads
/// may run it at once. It does not panic, and does not call this crate.
pub fn set_log(function: Option<fn(LogLevel, &str)>, most: LogLevel) {
    unsafe extern "C" fn tell(
        user_data: *mut std::os::raw::c_void,
        level: sys::autotune_log_level,
        line: *const std::os::raw::c_char,
    ) {
        // SAFETY: user_data is the function that set_log was given.
        let function: fn(LogLevel, &str) = unsafe { std::mem::transmute(user_data) };
        let level = match level {
            sys::AUTOTUNE_LOG_WARNING => LogLevel::Warning,
            sys::AUTOTUNE_LOG_INFO => LogLevel::Info,
            _ => LogLevel::Debug,
        };

        // SAFETY: the line lives as long as the call.
        function(level, &unsafe { std::ffi::CStr::from_ptr(line) }.to_string_lossy());
    }
    let user_data = function.map_or(std::ptr::null_mut(), |function| function as *mut std::os::raw::c_void);

    // SAFETY: a function lives as long as the program.
    unsafe {
        sys::autotune_set_log(
            function.map(|_| tell as sys::autotune_log_function),
            user_data,
            most as sys::autotune_log_level,
        )
    }
}

/// What plans have measured.
pub mod wisdom {
    use crate::{error, sys, text, Result};
    use std::path::Path;

    /// Add it to a profile; without a path, to the one that `$AUTOTUNE_WISDOM` names.
    pub fn save(path: Option<&Path>) -> Result<()> {
        let path = path.map(text::of_path).transpose()?;

        // SAFETY: the text lives as long as the call.
        error::check(|error| unsafe { sys::autotune_wisdom_save(text::pointer(&path), error) })
    }

    /// Forget it. Plans stay as they are.
    pub fn forget() {
        // SAFETY: any thread may call it at any time.
        unsafe { sys::autotune_wisdom_forget() }
    }
}
