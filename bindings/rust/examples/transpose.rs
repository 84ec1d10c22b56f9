// SPDX-License-Identifier: Apache-2.0
//! Transposes a matrix on the GPU. To run it: `cargo run --example transpose --features cuda`.
use autotune::{Matrix, Plan, Profile};
use std::mem::size_of_val;
use std::os::raw::{c_int, c_void};
use std::ptr::null_mut;

#[link(name = "cuda")]
extern "C" {
    fn cuInit(flags: u32) -> c_int;
    fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) -> c_int;
    fn cuCtxSetCurrent(context: *mut c_void) -> c_int;
    fn cuCtxSynchronize() -> c_int;
    fn cuMemAlloc_v2(address: *mut *mut c_void, bytes: usize) -> c_int;
    fn cuMemFree_v2(address: *mut c_void) -> c_int;
    fn cuMemcpyHtoD_v2(to: *mut c_void, from: *const c_void, bytes: usize) -> c_int;
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: *const c_void, bytes: usize) -> c_int;
}

fn require(result: c_int) -> Result<(), String> {
    match result {
        0 => Ok(()),
        error => Err(format!("a CUDA call failed: {}", error)),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const ROWS: usize = 1000;
    const COLS: usize = 3000;
    let source: Vec<f32> = (0..ROWS * COLS).map(|i| i as f32).collect();
    let mut result = vec![0f32; ROWS * COLS];
    let bytes = size_of_val(&source[..]);
    let (mut context, mut src, mut dst) = (null_mut(), null_mut(), null_mut());

    // SAFETY: the memory is as long as what is copied, and lives until the copies have ended.
    unsafe {
        require(cuInit(0))?;
        require(cuDevicePrimaryCtxRetain(&mut context, 0))?;
        require(cuCtxSetCurrent(context))?;
        require(cuMemAlloc_v2(&mut src, bytes))?;
        require(cuMemAlloc_v2(&mut dst, bytes))?;
        require(cuMemcpyHtoD_v2(src, source.as_ptr().cast(), bytes))?;

        let plan = Plan::new(&Profile::open()?, &Matrix::of::<f32>(ROWS as i64, COLS as i64))?;
        plan.execute(dst, src, null_mut())?;
        require(cuCtxSynchronize())?;

        require(cuMemcpyDtoH_v2(result.as_mut_ptr().cast(), dst, bytes))?;
        require(cuMemFree_v2(src))?;
        require(cuMemFree_v2(dst))?;
    }
    let wrong =
        (0..ROWS * COLS).filter(|i| result[i % COLS * ROWS + i / COLS] != source[*i]).count();
    println!("{} of {} elements are wrong", wrong, ROWS * COLS);
    Ok(())
}
