// SPDX-License-Identifier: Apache-2.0
//! Failures of the library.
use crate::{sys, text};
use std::fmt;
use std::ptr::{null_mut, NonNull};

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// No legal config, or a kernel that does not compile.
    Failed,
    /// An argument, or a file that is no profile.
    Invalid,
    /// No driver, device, current context or NVRTC; or a CUDA call failed.
    NoDevice,
    /// A profile of another device.
    Mismatch,
    /// A fault of the library.
    Internal,
    /// Host memory ran out.
    NoMemory,
    /// A status of a later version of the library.
    Other(i32),
}

impl From<sys::autotune_status> for Status {
    fn from(status: sys::autotune_status) -> Self {
        match status {
            sys::AUTOTUNE_FAILED => Status::Failed,
            sys::AUTOTUNE_INVALID => Status::Invalid,
            sys::AUTOTUNE_NO_DEVICE => Status::NoDevice,
            sys::AUTOTUNE_MISMATCH => Status::Mismatch,
            sys::AUTOTUNE_INTERNAL => Status::Internal,
            sys::AUTOTUNE_NO_MEMORY => Status::NoMemory,
            other => Status::Other(other),
        }
    }
}

/// A failure. Its text tells cause and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: Status,
    message: String,
}

/// What calls that can fail return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn invalid(message: &str) -> Self {
        Error { status: Status::Invalid, message: message.to_string() }
    }

    /// Why the call failed.
    pub fn status(&self) -> Status {
        self.status
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Call a function of the library with a place for its error.
pub(crate) fn check(
    call: impl FnOnce(*mut *mut sys::autotune_error) -> sys::autotune_status,
) -> Result<()> {
    let mut error = null_mut();
    let status = call(&mut error);

    if status == sys::AUTOTUNE_OK {
        return Ok(());
    }
    // SAFETY: a call that fails makes the error, which is freed once. NULL is allowed for both.
    let message = unsafe {
        let message = text::copied(sys::autotune_error_message(error));
        sys::autotune_error_free(error);
        message
    };
    Err(Error { status: status.into(), message: message.unwrap_or_default() })
}

/// The same for a function that makes an object.
pub(crate) fn made<T>(
    call: impl FnOnce(*mut *mut T, *mut *mut sys::autotune_error) -> sys::autotune_status,
) -> Result<NonNull<T>> {
    let mut object = null_mut();

    check(|error| call(&mut object, error))?;
    NonNull::new(object).ok_or_else(|| Error::invalid("the library made no object"))
}
