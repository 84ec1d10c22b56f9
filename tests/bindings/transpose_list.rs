// SPDX-License-Identifier: Apache-2.0
//! The same as transpose_list.c, in Rust.
use autotune::{sys, Matrix, Plan, Profile, Result, Tensor};
use std::os::raw::c_void;
use std::process::ExitCode;
use std::str::{FromStr, SplitWhitespace};

const SCALE: f64 = 0.3;
const UNWRITTEN: u8 = 0xa5;

#[link(name = "device")]
extern "C" {
    fn device_open();
    fn device_put(bytes: *const c_void, count: usize) -> *mut c_void;
    fn device_take(bytes: *mut c_void, address: *mut c_void, count: usize);
}

struct Problem<'a> {
    is_matrix: bool,
    strides: &'a str,
    step: Option<Step<'a>>,
    bytes: usize,
    align: i64,
    extents: Vec<i64>,
    permutation: Vec<i64>,
    src: Vec<i64>,
    dst: Vec<i64>,
    src_first: i64,
    src_count: usize,
    dst_first: i64,
    dst_count: usize,
}

// ---- what steps compute ----

struct Step<'a> {
    name: &'a str,
    result_bytes: usize,
    apply: fn(&[u8]) -> Vec<u8>,
}

/// The function that computes a result of an element. Both types are numbers that lie as they are.
macro_rules! scaled {
    ($from:ty, $to:ty, $computed:ty) => {
        |element| {
            let x = <$from>::from_ne_bytes(element.try_into().unwrap());

            ((x as $computed * SCALE as $computed) as $to).to_ne_bytes().to_vec()
        }
    };
}

impl<'a> Step<'a> {
    fn named(name: &'a str) -> Option<Step<'a>> {
        let (result_bytes, apply): (usize, fn(&[u8]) -> Vec<u8>) = match name {
            "u8:f32,scale" => (4, scaled!(u8, f32, f32)),
            "i16:f32,scale" => (4, scaled!(i16, f32, f32)),
            "i32:f64,scale" => (8, scaled!(i32, f64, f64)),
            "f64:f32,scale" => (4, scaled!(f64, f32, f64)),
            "f32,scale" => (4, scaled!(f32, f32, f32)),
            "f64,scale" => (8, scaled!(f64, f64, f64)),
            _ => return None,
        };

        Some(Step { name, result_bytes, apply })
    }
}

// ---- the list ----

fn next<T: FromStr>(words: &mut SplitWhitespace) -> T {
    words.next().and_then(|word| word.parse().ok()).expect("a number of the list")
}

impl<'a> Problem<'a> {
    fn read(line: &'a str) -> Self {
        let mut words = line.split_whitespace();
        let kind = words.next().expect("a kind");
        let strides = words.next().expect("what strides are");
        let bytes = next(&mut words);
        let rank = next(&mut words);
        let mut of_axes = || (0..rank).map(|_| next(&mut words)).collect();

        Problem {
            is_matrix: kind == "matrix",
            strides,
            bytes,
            extents: of_axes(),
            permutation: of_axes(),
            src: of_axes(),
            dst: of_axes(),
            src_first: next(&mut words),
            src_count: next(&mut words),
            dst_first: next(&mut words),
            dst_count: next(&mut words),
            align: next(&mut words),
            step: words.next().and_then(Step::named),
        }
    }

    fn result_bytes(&self) -> usize {
        self.step.as_ref().map_or(self.bytes, |step| step.result_bytes)
    }
}

// ---- on the host ----

/// Numbers of elements, which are within the memory.
fn element(number: i64, bytes: usize) -> std::ops::Range<usize> {
    let start = number as usize * bytes;

    start..start + bytes
}

/// The axes of the result from this one on, for elements `to` and `from`.
fn transpose_axes(problem: &Problem, axis: usize, to: i64, from: i64, dst: &mut [u8], src: &[u8]) {
    if axis < problem.extents.len() {
        let source = problem.permutation[axis] as usize;

        for i in 0..problem.extents[source] {
            let (to, from) = (to + i * problem.dst[axis], from + i * problem.src[source]);
            transpose_axes(problem, axis + 1, to, from, dst, src);
        }
        return;
    }
    let result = &mut dst[element(to, problem.result_bytes())];
    let element = &src[element(from, problem.bytes)];
    match &problem.step {
        Some(step) => result.copy_from_slice(&(step.apply)(element)),
        None => result.copy_from_slice(element),
    }
}

/// Bytes of any value; or numbers, because NaN has more than one form.
fn filled(problem: &Problem) -> Vec<u8> {
    let is_number = problem.step.as_ref().map_or(false, |step| step.name.starts_with('f'));
    let number = |i: usize| (i % 20001) as f64 / 7.0 - 1000.0;

    match (is_number, problem.bytes) {
        (true, 8) => (0..problem.src_count).flat_map(|i| number(i).to_ne_bytes()).collect(),
        (true, _) => {
            (0..problem.src_count).flat_map(|i| (number(i) as f32).to_ne_bytes()).collect()
        }
        (false, bytes) => (0..problem.src_count * bytes)
            .map(|i| ((i as u64).wrapping_mul(2654435761) >> 13) as u8)
            .collect(),
    }
}

// ---- on the GPU ----

fn plan_matrix(profile: &Profile, problem: &Problem) -> Result<Plan> {
    let mut matrix = Matrix::of::<u8>(problem.extents[1], problem.extents[2]);

    matrix.elem_size = problem.bytes as i64;
    matrix.batch = problem.extents[0];
    matrix.align_bytes = problem.align;
    matrix.explicit_strides = (problem.strides == "explicit") as i64;
    if problem.strides != "dense" {
        (matrix.stride_src, matrix.ld_src) = (problem.src[0], problem.src[1]);
        (matrix.stride_dst, matrix.ld_dst) = (problem.dst[0], problem.dst[1]);
    }
    if let Some(step) = &problem.step {
        matrix = matrix.with_step(step.name)?;
    }
    Plan::new(profile, &matrix)
}

fn plan_tensor(profile: &Profile, problem: &Problem) -> Result<Plan> {
    let mut tensor = Tensor::of::<u8>(&problem.extents, &problem.permutation)?;
    let rank = problem.extents.len();

    tensor.elem_size = problem.bytes as i64;
    tensor.align_bytes = problem.align;
    tensor.explicit_strides = (problem.strides == "explicit") as i64;
    if problem.strides != "dense" {
        tensor.strides_src[..rank].copy_from_slice(&problem.src);
        tensor.strides_dst[..rank].copy_from_slice(&problem.dst);
    }
    if let Some(step) = &problem.step {
        tensor = tensor.with_step(step.name)?;
    }
    Plan::new(profile, &tensor)
}

fn element_at(memory: *mut c_void, number: i64, bytes: usize) -> *mut c_void {
    memory.cast::<u8>().wrapping_offset(number as isize * bytes as isize).cast()
}

/// dst and src are where the memory begins.
fn transpose_there(
    profile: &Profile,
    problem: &Problem,
    dst: *mut c_void,
    src: *mut c_void,
) -> Result<()> {
    let plan = match problem.is_matrix {
        true => plan_matrix(profile, problem)?,
        false => plan_tensor(profile, problem)?,
    };
    let dst = element_at(dst, problem.dst_first, problem.result_bytes());
    let src = element_at(src, problem.src_first, problem.bytes);

    // SAFETY: the memory has all elements, and lives until device_take has waited.
    unsafe {
        if problem.step.is_none() {
            return plan.execute(dst, src, std::ptr::null_mut());
        }
        let mut execution = sys::autotune_execution { dst, src, ..Default::default() };
        execution.scale.value[0] = SCALE;
        plan.execute_with(&execution)
    }
}

fn is_right(profile: &Profile, problem: &Problem) -> bool {
    let mut src = filled(problem);
    let mut wanted = vec![UNWRITTEN; problem.dst_count * problem.result_bytes()];
    let mut found = wanted.clone();

    // SAFETY: the device's memory is as long as what is copied, and each is freed once.
    let outcome = unsafe {
        let there_src = device_put(src.as_ptr().cast(), src.len());
        let there_dst = device_put(wanted.as_ptr().cast(), wanted.len());
        let outcome = transpose_there(profile, problem, there_dst, there_src);

        device_take(found.as_mut_ptr().cast(), there_dst, found.len());
        device_take(src.as_mut_ptr().cast(), there_src, src.len());
        outcome
    };
    if let Err(error) = &outcome {
        println!("{}", error);
    }
    transpose_axes(problem, 0, problem.dst_first, problem.src_first, &mut wanted, &src);
    outcome.is_ok() && found == wanted
}

fn main() -> ExitCode {
    let path = std::env::args().nth(1).expect("Usage: transpose_list LIST");
    let list = std::fs::read_to_string(path).expect("the list");
    let mut wrong = 0;

    // SAFETY: it has no conditions.
    unsafe { device_open() };
    let profile = Profile::open().expect("the profiles");
    for (number, line) in list.lines().enumerate() {
        if !is_right(&profile, &Problem::read(line)) {
            println!("problem {} differs", number + 1);
            wrong += 1;
        }
    }
    println!("{} problems, {} differ", list.lines().count(), wrong);
    ExitCode::from((wrong > 0) as u8)
}
