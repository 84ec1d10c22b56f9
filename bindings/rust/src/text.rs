// SPDX-License-Identifier: Apache-2.0
//! Texts between Rust and C.
use crate::{Error, Result};
use std::ffi::{CStr, CString};
use std::os::raw::c_char;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Copy a text that the library has; None for NULL. It must live as long as this call.
pub(crate) fn copied(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the library's texts end with NUL.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// A text for C, which cannot have NUL in it.
pub(crate) fn of(text: &[u8]) -> Result<CString> {
    CString::new(text).map_err(|_| Error::invalid("a text has a NUL byte"))
}

pub(crate) fn of_path(path: &Path) -> Result<CString> {
    of(path.as_os_str().as_bytes())
}

/// NULL for None.
pub(crate) fn pointer(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr())
}

/// Get a text of a function that writes it, as autotune_answer_describe does.
pub(crate) fn written(write: impl Fn(*mut c_char, usize) -> usize) -> String {
    let mut bytes = vec![0u8; write(std::ptr::null_mut(), 0) + 1];
    let length = write(bytes.as_mut_ptr().cast(), bytes.len());

    bytes.truncate(length);
    String::from_utf8_lossy(&bytes).into_owned()
}
