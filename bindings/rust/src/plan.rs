// SPDX-License-Identifier: Apache-2.0
//! Kernels that are loaded for a problem.
use crate::{error, sys, text, Info, Measurable, Policy, Problem, Profile, Result};
use std::os::raw::c_void;
use std::ptr::NonNull;

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks: x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block: x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// The preferred share of shared memory in L1; -1: the driver's choice.
    pub carveout_percent: i32,
    /// The kernel's name; None: it is not compiled yet.
    pub kernel: Option<String>,
}

/// Get the launches that a function of the library writes.
pub(crate) fn launches(write: impl Fn(*mut sys::autotune_launch, usize) -> usize) -> Vec<Launch> {
    let mut places = vec![sys::autotune_launch::default(); write(std::ptr::null_mut(), 0)];
    let count = write(places.as_mut_ptr(), places.len());

    places.truncate(count);
    places
        .iter()
        .map(|place| Launch {
            grid: place.grid,
            block: place.block,
            shared_bytes: place.shared_bytes,
            carveout_percent: place.carveout_percent,
            kernel: text::copied(place.kernel),
        })
        .collect()
}

/// How to make a plan. The default only looks up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What to look up, and how to measure.
    pub policy: Policy,
    /// Milliseconds that the plan may measure beyond the time that it needs anyway.
    pub measure_ms: i64,
    /// Only verify the rivals, and let the plan's first launches time them in passing: the fastest stays.
    pub adapt: bool,
    scratch: Option<(NonNull<c_void>, i64)>,
}

impl Options {
    /// Measure in this memory of the current context.
    ///
    /// # Safety
    /// The device has these bytes at this address, and nobody else uses them while the plan is made.
    pub unsafe fn with_scratch(self, address: NonNull<c_void>, bytes: i64) -> Self {
        Options { scratch: Some((address, bytes)), ..self }
    }

    fn raw(&self) -> sys::autotune_plan_options {
        let mut raw = sys::autotune_plan_options {
            policy: self.policy.as_ptr(),
            measure_ms: self.measure_ms,
            flags: if self.adapt { sys::AUTOTUNE_ADAPT.into() } else { 0 },
            ..Default::default()
        };

        if let Some((address, bytes)) = self.scratch {
            raw.scratch = address.as_ptr();
            raw.scratch_bytes = bytes;
        }
        raw
    }
}

/// A kernel that is loaded in the CUDA context that was current when the plan was made. Any thread may
/// execute and drop it. Drop it before its context is destroyed, and when its transposes have ended.
#[derive(Debug)]
pub struct Plan(NonNull<sys::autotune_plan>);

// SAFETY: autotune.h lets any thread execute and free a plan, and several execute one at once.
unsafe impl Send for Plan {}
unsafe impl Sync for Plan {}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY, also of all calls below: the object is valid from its making to its drop.
        unsafe { sys::autotune_plan_free(self.0.as_ptr()) }
    }
}

impl Plan {
    /// Look the problem up for the device of the current context, and load the kernel there.
    pub fn new(profile: &Profile, problem: &impl Problem) -> Result<Self> {
        error::made(|plan, error| unsafe { problem.plan(plan, profile.as_ptr(), error) }).map(Plan)
    }

    /// The same with options, such as time to measure rivals.
    pub fn with(profile: &Profile, problem: &impl Measurable, options: &Options) -> Result<Self> {
        let options = options.raw();

        error::made(|plan, error| unsafe {
            problem.plan_with(plan, profile.as_ptr(), &options, error)
        })
        .map(Plan)
    }

    /// Start the transpose of src into dst, and return before it has ended.
    ///
    /// # Safety
    /// The device can read the plan's source at src and write its result at dst, until the transpose
    /// has ended. `stream` is a CUstream or cudaStream_t of the plan's context, or NULL.
    pub unsafe fn execute(
        &self,
        dst: *mut c_void,
        src: *const c_void,
        stream: *mut c_void,
    ) -> Result<()> {
        error::check(|error| sys::autotune_plan_execute(self.as_ptr(), dst, src, stream, error))
    }

    /// Start it with all that a plan can need. The default execution has its `struct_size`.
    ///
    /// # Safety
    /// As for [`Plan::execute`], for each address in the execution.
    pub unsafe fn execute_with(&self, execution: &sys::autotune_execution) -> Result<()> {
        error::check(|error| sys::autotune_plan_execute_with(self.as_ptr(), execution, error))
    }

    /// The launches at aligned addresses.
    pub fn launches(&self) -> Vec<Launch> {
        self.launches_at(0, 0)
    }

    /// The launches at these device addresses.
    pub fn launches_at(&self, dst: usize, src: usize) -> Vec<Launch> {
        launches(|places, capacity| unsafe {
            sys::autotune_plan_launches(self.as_ptr(), dst as _, src as _, places, capacity)
        })
    }

    /// What is known of the plan's answer.
    pub fn info(&self) -> Result<Info> {
        Info::of(|info, error| unsafe { sys::autotune_plan_info(self.as_ptr(), info, error) })
    }

    /// The bytes of scratch that an execution needs.
    pub fn scratch_bytes(&self) -> i64 {
        unsafe { sys::autotune_plan_scratch_bytes(self.as_ptr()) }
    }

    /// The plan's answer of lookup, and what it has measured, as lines of text.
    pub fn describe(&self) -> String {
        text::written(|text, capacity| unsafe {
            sys::autotune_plan_describe(self.as_ptr(), text, capacity)
        })
    }

    /// The object's address, for functions of [`sys`].
    pub fn as_ptr(&self) -> *const sys::autotune_plan {
        self.0.as_ptr()
    }
}
