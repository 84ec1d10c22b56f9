// SPDX-License-Identifier: Apache-2.0
//! Plans, over a driver that transposes 4-byte elements in host memory. $AUTOTUNE_TEST_DRIVER names it;
//! without it nothing is tested here.
use autotune::{sys, Device, Groups, Matrix, Options, Plan, Profile, Status, Tensor};
use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

struct Driver(*mut c_void);

impl Driver {
    fn open() -> Option<Self> {
        const RTLD_NOW: c_int = 2;
        let name = CString::new(std::env::var("AUTOTUNE_TEST_DRIVER").ok()?).unwrap();
        let library = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };

        assert!(!library.is_null());
        Some(Driver(library))
    }

    fn number(&self, name: &str) -> c_int {
        let name = CString::new(name).unwrap();
        let place = unsafe { dlsym(self.0, name.as_ptr()) };

        assert!(!place.is_null());
        unsafe { *place.cast::<c_int>() }
    }
}

fn counted(count: usize) -> Vec<u32> {
    (0..count as u32).collect()
}

/// One test, because it counts what the driver does.
#[test]
fn plans() {
    let driver = match Driver::open() {
        Some(driver) => driver,
        None => return,
    };
    assert_eq!(Device::current().unwrap().name(), "NVIDIA H200");
    let errors = driver.number("driver_errors_freed");
    matrices(&driver);
    steps();
    assert!(driver.number("driver_errors_freed") - errors >= 2);
    let freed = driver.number("driver_freed");
    tensors();
    groups();
    threads();
    assert_eq!(driver.number("driver_freed") - freed, 3 + 4, "profiles and plans");
    assert!(driver.number("fake_cuda_modules") > 0);
    autotune::clear();
    assert_eq!(driver.number("fake_cuda_modules"), 0);
    autotune::keep_unused(0);
    autotune::set_log(Some(count_plan), autotune::LogLevel::Info);
    tensors();
    autotune::set_log(None, autotune::LogLevel::Info);
    assert_eq!(driver.number("fake_cuda_modules"), 0);
    assert!(PLANS.load(Ordering::Relaxed) > 0);
}

static PLANS: AtomicUsize = AtomicUsize::new(0);

fn count_plan(level: autotune::LogLevel, line: &str) {
    let is_plan = level == autotune::LogLevel::Info && line.starts_with("made a plan for ");

    PLANS.fetch_add(is_plan as usize, Ordering::Relaxed);
}

fn matrices(driver: &Driver) {
    let (rows, cols, batch) = (37, 53, 3);
    let profile = Profile::open().unwrap();
    let mut matrix = Matrix::of::<u32>(rows as i64, cols as i64);
    let src = counted(rows * cols * batch);
    let mut dst = vec![0u32; src.len()];

    matrix.batch = batch as i64;
    let plan = Plan::new(&profile, &matrix).unwrap();
    let launches = driver.number("driver_launches");
    unsafe { plan.execute(dst.as_mut_ptr().cast(), src.as_ptr().cast(), null_mut()).unwrap() };
    assert_eq!(driver.number("driver_launches"), launches + 1);
    for (i, element) in src.iter().enumerate() {
        let (b, r, c) = (i / cols / rows, i / cols % rows, i % cols);
        assert_eq!(dst[(b * cols + c) * rows + r], *element);
    }
    assert_eq!(plan.info().unwrap().bytes, 2 * 4 * src.len() as i64);
    assert_eq!(plan.scratch_bytes(), 0);
    assert!(plan.launches().len() == 1 && plan.launches()[0].kernel.is_some());
    assert_eq!(plan.launches_at(dst.as_ptr() as usize, src.as_ptr() as usize).len(), 1);
    assert!(plan.describe().contains("37x53"));

    matrix.rows = -1;
    assert_eq!(Plan::new(&profile, &matrix).unwrap_err().status(), Status::Invalid);
}

fn tensors() {
    let profile = Profile::open().unwrap();
    let tensor = Tensor::of::<u32>(&[20, 30, 40], &[2, 0, 1]).unwrap();
    let plan = Plan::with(&profile, &tensor, &Options::default()).unwrap();
    let src = counted(20 * 30 * 40);
    let mut dst = vec![0u32; src.len()];

    unsafe { plan.execute(dst.as_mut_ptr().cast(), src.as_ptr().cast(), null_mut()).unwrap() };
    for (i, element) in src.iter().enumerate() {
        assert_eq!(dst[i % 40 * 600 + i / 40], *element);
    }
}

fn steps() {
    let profile = Profile::open().unwrap();
    let matrix = Matrix::of::<f32>(30, 50).with_step("f32,scale").unwrap();
    let plan = Plan::new(&profile, &matrix).unwrap();
    let src = counted(1500);
    let mut dst = vec![0u32; src.len()];
    let mut execution = sys::autotune_execution {
        dst: dst.as_mut_ptr().cast(),
        src: src.as_ptr().cast(),
        ..Default::default()
    };

    execution.scale.value[0] = 0.5;
    unsafe { plan.execute_with(&execution).unwrap() };
    execution.beta.value[0] = 1.0;
    let error = unsafe { plan.execute_with(&execution) }.unwrap_err();
    assert_eq!(error.status(), Status::Invalid);
}

fn groups() {
    let profile = Profile::open().unwrap();
    let matrix = sys::autotune_matrix {
        rows: 16,
        cols: 32,
        ld_src: 32,
        ld_dst: 16,
        batch: [1, 1],
        ..Default::default()
    };
    let list = Plan::new(&profile, &Groups::list::<u32>(&[matrix; 4])).unwrap();
    let rows = Plan::new(&profile, &Groups::of::<u32>(8, 1000, 64)).unwrap();

    assert!(list.scratch_bytes() > 0 && !rows.launches().is_empty());
}

/// A plan is executed by several threads at once, and dropped by one that did not make it.
fn threads() {
    let profile = Profile::open().unwrap();
    let plan = Plan::new(&profile, &Matrix::of::<u32>(64, 96)).unwrap();
    let src = counted(64 * 96);

    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut dst = vec![0u32; src.len()];
                let (to, from) = (dst.as_mut_ptr().cast(), src.as_ptr().cast());
                unsafe { plan.execute(to, from, null_mut()).unwrap() };
                assert_eq!(dst[1], 96);
            });
        }
    });
    std::thread::spawn(move || drop(plan)).join().unwrap();
}
