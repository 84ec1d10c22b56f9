// SPDX-License-Identifier: Apache-2.0
//! What is to be transposed. The members are those of the structs of C, where 0 stands for the usual
//! value.
use crate::{error, sys, text, Error, Result};
use std::ffi::CString;
use std::mem::size_of;
use std::ops::{Deref, DerefMut};
use std::os::raw::c_char;

/// A matrix, or a batch of them. It has the members of [`sys::autotune_problem`], but `step` is set by
/// [`Matrix::with_step`].
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    members: sys::autotune_problem,
    step: Option<CString>,
}

/// A permutation of a tensor. It has the members of [`sys::autotune_tensor`], but `step` is set by
/// [`Tensor::with_step`].
#[derive(Clone, Debug, Default)]
pub struct Tensor {
    members: sys::autotune_tensor,
    step: Option<CString>,
}

/// Many matrices in one launch. It has the members of [`sys::autotune_groups`], but `step` is set by
/// [`Groups::with_step`], and `list` and `count` of a list by [`Groups::list`].
#[derive(Clone, Debug, Default)]
pub struct Groups {
    members: sys::autotune_groups,
    step: Option<CString>,
    list: Vec<sys::autotune_matrix>,
}

// SAFETY: the pointers among the members are replaced before a call, and not read before.
unsafe impl Send for Matrix {}
unsafe impl Sync for Matrix {}
unsafe impl Send for Tensor {}
unsafe impl Sync for Tensor {}
// Those within a list are addresses of the device, which no plan reads when it is made.
unsafe impl Send for Groups {}
unsafe impl Sync for Groups {}

macro_rules! problem {
    ($name:ident, $members:ty) => {
        impl Deref for $name {
            type Target = $members;

            fn deref(&self) -> &$members {
                &self.members
            }
        }

        impl DerefMut for $name {
            fn deref_mut(&mut self) -> &mut $members {
                &mut self.members
            }
        }

        impl $name {
            /// What is computed on the way, as `autotune` spells it: `"bf16:e4m3,scale"`.
            pub fn with_step(mut self, step: &str) -> Result<Self> {
                self.step = Some(text::of(step.as_bytes())?);
                Ok(self)
            }
        }
    };
}

problem!(Matrix, sys::autotune_problem);
problem!(Tensor, sys::autotune_tensor);
problem!(Groups, sys::autotune_groups);

impl Matrix {
    /// A dense, row-major matrix with elements of this type.
    pub fn of<T>(rows: i64, cols: i64) -> Self {
        let elem_size = size_of::<T>() as i64;

        Matrix {
            members: sys::autotune_problem { elem_size, rows, cols, ..Default::default() },
            step: None,
        }
    }

    fn raw(&self) -> sys::autotune_problem {
        sys::autotune_problem { step: text::pointer(&self.step), ..self.members }
    }
}

impl Tensor {
    /// A dense tensor: axis i of the result is axis `permutation[i]` of the source.
    pub fn of<T>(extents: &[i64], permutation: &[i64]) -> Result<Self> {
        let mut tensor = Tensor::default();
        let rank = extents.len();

        if rank > tensor.extents.len() || permutation.len() != rank {
            return Err(Error::invalid("a tensor has up to 24 axes, and its permutation as many"));
        }
        tensor.elem_size = size_of::<T>() as i64;
        tensor.rank = rank as i64;
        tensor.extents[..rank].copy_from_slice(extents);
        tensor.permutation[..rank].copy_from_slice(permutation);
        Ok(tensor)
    }

    fn raw(&self) -> sys::autotune_tensor {
        sys::autotune_tensor { step: text::pointer(&self.step), ..self.members }
    }
}

impl Groups {
    /// `count` groups of the rows of one matrix, with place for as many result rows as it has.
    pub fn of<T>(count: i64, rows: i64, cols: i64) -> Self {
        Groups {
            members: sys::autotune_groups {
                elem_size: size_of::<T>() as i64,
                count,
                rows,
                cols,
                most_rows: rows,
                ..Default::default()
            },
            ..Default::default()
        }
    }

    /// A list of matrices. Their addresses may be NULL.
    pub fn list<T>(matrices: &[sys::autotune_matrix]) -> Self {
        let elem_size = size_of::<T>() as i64;

        Groups {
            members: sys::autotune_groups { elem_size, ..Default::default() },
            step: None,
            list: matrices.to_vec(),
        }
    }

    fn raw(&self) -> sys::autotune_groups {
        let mut raw = sys::autotune_groups { step: text::pointer(&self.step), ..self.members };

        raw.list = std::ptr::null();
        if !self.list.is_empty() {
            raw.list = self.list.as_ptr();
            raw.count = self.list.len() as i64;
        }
        raw
    }
}

/// The scales of the results of a problem with blocks: of dst, and of dst2.
pub fn scales(matrix: &Matrix) -> Result<[sys::autotune_scales; 2]> {
    let mut scales = [sys::autotune_scales::default(); 2];

    // SAFETY: both places are there, and the problem's texts live as long as the call.
    error::check(|error| unsafe {
        sys::autotune_problem_scales(scales.as_mut_ptr(), &matrix.raw(), error)
    })?;
    Ok(scales)
}

type Failure = *mut *mut sys::autotune_error;

mod sealed {
    use super::*;

    /// The library's functions for one kind of problem. The addresses must be valid.
    pub trait Calls {
        unsafe fn lookup(
            &self,
            answer: *mut *mut sys::autotune_answer,
            profile: *const sys::autotune_profile,
            device: *const sys::autotune_device,
            policy: *const c_char,
            error: Failure,
        ) -> sys::autotune_status;
        unsafe fn plan(
            &self,
            plan: *mut *mut sys::autotune_plan,
            profile: *const sys::autotune_profile,
            error: Failure,
        ) -> sys::autotune_status;
    }

    pub trait CallsWith {
        unsafe fn plan_with(
            &self,
            plan: *mut *mut sys::autotune_plan,
            profile: *const sys::autotune_profile,
            options: *const sys::autotune_plan_options,
            error: Failure,
        ) -> sys::autotune_status;
    }
}

/// What can be looked up and planned: [`Matrix`], [`Tensor`] and [`Groups`].
pub trait Problem: sealed::Calls {}

/// What a plan can be measured for: [`Matrix`] and [`Tensor`].
pub trait Measurable: Problem + sealed::CallsWith {}

macro_rules! calls {
    ($name:ident, $lookup:ident, $plan:ident) => {
        impl Problem for $name {}

        impl sealed::Calls for $name {
            unsafe fn lookup(
                &self,
                answer: *mut *mut sys::autotune_answer,
                profile: *const sys::autotune_profile,
                device: *const sys::autotune_device,
                policy: *const c_char,
                error: Failure,
            ) -> sys::autotune_status {
                sys::$lookup(answer, profile, device, &self.raw(), policy, error)
            }

            unsafe fn plan(
                &self,
                plan: *mut *mut sys::autotune_plan,
                profile: *const sys::autotune_profile,
                error: Failure,
            ) -> sys::autotune_status {
                sys::$plan(plan, profile, &self.raw(), error)
            }
        }
    };
}

macro_rules! calls_with {
    ($name:ident, $plan:ident) => {
        impl Measurable for $name {}

        impl sealed::CallsWith for $name {
            unsafe fn plan_with(
                &self,
                plan: *mut *mut sys::autotune_plan,
                profile: *const sys::autotune_profile,
                options: *const sys::autotune_plan_options,
                error: Failure,
            ) -> sys::autotune_status {
                sys::$plan(plan, profile, &self.raw(), options, error)
            }
        }
    };
}

calls!(Matrix, autotune_lookup, autotune_plan_create);
calls!(Tensor, autotune_tensor_lookup, autotune_tensor_plan_create);
calls!(Groups, autotune_groups_lookup, autotune_groups_plan_create);
calls_with!(Matrix, autotune_plan_create_with);
calls_with!(Tensor, autotune_tensor_plan_create_with);
