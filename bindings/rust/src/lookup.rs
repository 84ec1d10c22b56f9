// SPDX-License-Identifier: Apache-2.0
//! Profiles, devices, and what profiles answer.
use crate::plan::launches;
use crate::{error, sys, text, Launch, Problem, Result};
use std::marker::PhantomData;
use std::os::raw::c_char;
use std::path::Path;
use std::ptr::{null, NonNull};

/// What profiles know, and the kernels' spaces.
#[derive(Debug)]
pub struct Profile(NonNull<sys::autotune_profile>);

/// A device, which need not be present.
#[derive(Debug)]
pub struct Device(NonNull<sys::autotune_device>);

/// A config for a problem, and where it comes from. It borrows from its profile.
#[derive(Debug)]
pub struct Answer<'profile> {
    object: NonNull<sys::autotune_answer>,
    profile: PhantomData<&'profile Profile>,
}

// SAFETY: autotune.h lets any thread use and free these objects, and several use one at once.
unsafe impl Send for Profile {}
unsafe impl Sync for Profile {}
unsafe impl Send for Device {}
unsafe impl Sync for Device {}
unsafe impl Send for Answer<'_> {}
unsafe impl Sync for Answer<'_> {}

// SAFETY, also of all calls below: an object is valid from its making to its drop.
impl Drop for Profile {
    fn drop(&mut self) {
        unsafe { sys::autotune_profile_free(self.0.as_ptr()) }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        unsafe { sys::autotune_device_free(self.0.as_ptr()) }
    }
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        unsafe { sys::autotune_answer_free(self.object.as_ptr()) }
    }
}

/// Which entries of a profile are preferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Measured with cold caches.
    #[default]
    Cold,
    /// Measured with warm caches.
    Warm,
}

impl Policy {
    pub(crate) fn as_ptr(self) -> *const c_char {
        let text: &[u8] = match self {
            Policy::Cold => b"cold\0",
            Policy::Warm => b"warm\0",
        };

        text.as_ptr().cast()
    }
}

/// Where an answer comes from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tier {
    /// This problem, tuned on this model of device.
    Exact,
    /// The nearest problem on this model.
    Shape,
    /// The nearest on as many multiprocessors of the same kind.
    Chip,
    /// The nearest on the same compute capability.
    Architecture,
    /// The nearest on the nearest architecture.
    Other,
    /// No entry is legal: the default config.
    Default,
}

impl From<sys::autotune_tier> for Tier {
    fn from(tier: sys::autotune_tier) -> Self {
        match tier {
            sys::AUTOTUNE_TIER_EXACT => Tier::Exact,
            sys::AUTOTUNE_TIER_SHAPE => Tier::Shape,
            sys::AUTOTUNE_TIER_CHIP => Tier::Chip,
            sys::AUTOTUNE_TIER_ARCHITECTURE => Tier::Architecture,
            sys::AUTOTUNE_TIER_OTHER => Tier::Other,
            _ => Tier::Default,
        }
    }
}

/// What is known of an answer, or of the answer from which a plan was made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Info {
    /// Where it comes from.
    pub tier: Tier,
    /// A guess: predicted, of another GPU, of a far problem, or a default.
    pub is_uncertain: bool,
    /// The entry's times come from an emulated device.
    pub is_predicted: bool,
    /// The entry's share of the copy limit, in thousandths; 0: unknown.
    pub expected_permille: i64,
    /// To the tuned problem.
    pub distance: f64,
    /// Read and written, of the problem that was asked for.
    pub bytes: i64,
    /// The time of the tuned problem on its device; 0: unknown.
    pub tuned_ns: i64,
    /// The kernel's template; None: the plan has nothing to do.
    pub family: Option<String>,
    /// None: no entry was legal.
    pub tuned_problem: Option<String>,
    /// The profile's; None: no entry was legal.
    pub path: Option<String>,
    /// The parameters that are not neutral: `"LAYOUT=1 THREADS=512"`.
    pub config: Option<String>,
    /// Of a plan that adapts: the rivals that its launches still time; 0: its kernel stays.
    pub adapts: i64,
}

impl Info {
    /// Copy what a function of the library fills.
    pub(crate) fn of(
        fill: impl FnOnce(
            *mut sys::autotune_info,
            *mut *mut sys::autotune_error,
        ) -> sys::autotune_status,
    ) -> Result<Self> {
        let mut info = sys::autotune_info::default();

        error::check(|error| fill(&mut info, error))?;
        Ok(Info {
            tier: (info.tier as sys::autotune_tier).into(),
            is_uncertain: info.is_uncertain != 0,
            is_predicted: info.is_predicted != 0,
            expected_permille: info.expected_permille,
            distance: info.distance,
            bytes: info.bytes,
            tuned_ns: info.tuned_ns,
            family: text::copied(info.family),
            tuned_problem: text::copied(info.tuned_problem),
            path: text::copied(info.path),
            config: text::copied(info.config),
            adapts: info.adapts,
        })
    }
}

impl Profile {
    /// Read all profiles on the search path.
    pub fn open() -> Result<Self> {
        error::made(|profile, error| unsafe { sys::autotune_profile_open(profile, null(), error) })
            .map(Profile)
    }

    /// Read one profile.
    pub fn open_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = text::of_path(path.as_ref())?;

        error::made(|profile, error| unsafe {
            sys::autotune_profile_open(profile, path.as_ptr(), error)
        })
        .map(Profile)
    }

    /// Why files on the search path were skipped.
    pub fn skipped(&self) -> Vec<String> {
        (0..)
            .map_while(|i| text::copied(unsafe { sys::autotune_profile_skipped(self.as_ptr(), i) }))
            .collect()
    }

    /// Choose a config that is legal for the problem and the device.
    pub fn lookup(
        &self,
        device: &Device,
        problem: &impl Problem,
        policy: Policy,
    ) -> Result<Answer<'_>> {
        error::made(|answer, error| unsafe {
            problem.lookup(answer, self.as_ptr(), device.0.as_ptr(), policy.as_ptr(), error)
        })
        .map(|object| Answer { object, profile: PhantomData })
    }

    /// The object's address, for functions of [`sys`].
    pub fn as_ptr(&self) -> *const sys::autotune_profile {
        self.0.as_ptr()
    }
}

impl Device {
    /// The device of the calling thread's current CUDA context.
    pub fn current() -> Result<Self> {
        error::made(|device, error| unsafe { sys::autotune_device_current(device, error) })
            .map(Device)
    }

    /// A device that need not be present: `"h200"`, or `"NVIDIA H200"`.
    pub fn described(name: &str) -> Result<Self> {
        let name = text::of(name.as_bytes())?;

        error::made(|device, error| unsafe {
            sys::autotune_device_described(device, name.as_ptr(), error)
        })
        .map(Device)
    }

    /// A device that needs no description: its numbers, and `name` in place of theirs.
    pub fn of(name: &str, numbers: &sys::autotune_device_numbers) -> Result<Self> {
        let name = text::of(name.as_bytes())?;
        let numbers = sys::autotune_device_numbers { name: name.as_ptr(), ..*numbers };

        error::made(|device, error| unsafe { sys::autotune_device_make(device, &numbers, error) })
            .map(Device)
    }

    /// Its model.
    pub fn name(&self) -> String {
        text::copied(unsafe { sys::autotune_device_name(self.0.as_ptr()) }).unwrap_or_default()
    }
}

impl Answer<'_> {
    /// All that is known of the answer.
    pub fn info(&self) -> Result<Info> {
        Info::of(|info, error| unsafe { sys::autotune_answer_info(self.as_ptr(), info, error) })
    }

    /// The template's parameters and their values.
    pub fn parameters(&self) -> Vec<(String, i32)> {
        let answer = self.as_ptr();

        (0..unsafe { sys::autotune_answer_parameter_count(answer) })
            .map(|i| unsafe {
                let name = text::copied(sys::autotune_answer_parameter_name(answer, i));
                (name.unwrap_or_default(), sys::autotune_answer_parameter_value(answer, i))
            })
            .collect()
    }

    /// The launches, in their order.
    pub fn launches(&self) -> Vec<Launch> {
        launches(|places, capacity| unsafe {
            sys::autotune_answer_launches(self.as_ptr(), places, capacity)
        })
    }

    /// The answer as lines of text.
    pub fn describe(&self) -> String {
        text::written(|text, capacity| unsafe {
            sys::autotune_answer_describe(self.as_ptr(), text, capacity)
        })
    }

    /// The answer as JSON.
    pub fn json(&self) -> String {
        text::written(|text, capacity| unsafe {
            sys::autotune_answer_json(self.as_ptr(), text, capacity)
        })
    }

    /// Fails with [`Status::Mismatch`](crate::Status) unless it was tuned on this model of device.
    pub fn check_device(&self) -> Result<()> {
        error::check(|error| unsafe { sys::autotune_answer_check_device(self.as_ptr(), error) })
    }

    /// Compiles the kernels of a plan with this answer into the cache; needs no GPU.
    pub fn precompile(&self, profile: &Profile) -> Result<()> {
        error::check(|error| unsafe {
            sys::autotune_precompile(self.as_ptr(), profile.as_ptr(), error)
        })
    }

    /// The object's address, for functions of [`sys`].
    pub fn as_ptr(&self) -> *const sys::autotune_answer {
        self.object.as_ptr()
    }
}
