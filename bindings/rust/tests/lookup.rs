// SPDX-License-Identifier: Apache-2.0
//! What needs no GPU.
use autotune::{
    Answer, Device, Error, Groups, Matrix, Plan, Policy, Profile, Status, Tensor, Tier,
};

mod layout;

#[test]
fn structs_are_those_of_c() {
    let expected = match std::env::var("AUTOTUNE_TEST_LAYOUT") {
        Ok(path) => std::fs::read_to_string(path).unwrap(),
        Err(_) => return, // C's are made by tests/bindings/layout.c
    };
    assert_eq!(layout::layout(), expected);
}

#[test]
fn threads_may_share_and_send_objects() {
    fn both<T: Send + Sync>() {}

    both::<Profile>();
    both::<Device>();
    both::<Answer<'static>>();
    both::<Plan>();
    both::<Matrix>();
    both::<Tensor>();
    both::<Groups>();
    both::<Error>();
}

#[test]
fn answers() {
    let profile = Profile::open().unwrap();
    let device = Device::described("h200").unwrap();
    let answer = profile.lookup(&device, &Matrix::of::<f32>(8192, 8192), Policy::Cold).unwrap();
    let launches = answer.launches();

    assert!(!autotune::version().is_empty());
    assert!(profile.skipped().is_empty());
    assert_eq!(device.name(), "NVIDIA H200");
    let info = answer.info().unwrap();
    assert_eq!((info.tier, info.distance), (Tier::Exact, 0.0));
    assert!(info.expected_permille > 900 && !info.is_predicted);
    assert!(info.path.unwrap().ends_with(".yaml"));
    assert_eq!(info.tuned_problem.unwrap(), "8192x8192:f32");
    let shown = |(name, value)| answer.describe().contains(&format!("{}={}", name, value));
    assert!(answer.parameters().into_iter().any(shown));
    assert!(launches.len() == 1 && launches[0].grid[0] > 0 && launches[0].block[0] > 0);
    assert!(answer.json().contains(&format!("\"{}\"", info.family.unwrap())));
    answer.check_device().unwrap();
    answer.precompile(&profile).unwrap();
}

#[test]
fn devices_of_numbers() {
    let profile = Profile::open().unwrap();
    let mut numbers = autotune::sys::autotune_device_numbers {
        compute_capability: 90,
        multiprocessors: 132,
        memory_bytes: 150109880320,
        l2_bytes: 62914560,
        name: 8 as *const _, // not read
        ..Default::default()
    };
    let device = Device::of("NVIDIA H200", &numbers).unwrap();
    let answer = profile.lookup(&device, &Matrix::of::<f32>(8192, 8192), Policy::Cold).unwrap();
    assert_eq!((device.name().as_str(), answer.info().unwrap().tier), ("NVIDIA H200", Tier::Exact));
    numbers.multiprocessors = 0;
    let error = Device::of("NVIDIA H200", &numbers).unwrap_err();
    assert!(error.to_string().contains("multiprocessors"));
}

#[test]
fn answers_for_other_problems() {
    let profile = Profile::open().unwrap();
    let device = Device::described("NVIDIA H200").unwrap();
    let tensor = Tensor::of::<f64>(&[8, 32, 64], &[2, 0, 1]).unwrap();
    let mut matrix = Matrix::of::<u16>(300, 500);

    matrix.ld_src = 512;
    let answer = profile.lookup(&device, &matrix, Policy::Warm).unwrap();
    assert!(answer.describe().contains("ld_src=512"));
    let cast = matrix.clone().with_step("bf16:e4m3,scale").unwrap();
    let answer = profile.lookup(&device, &cast, Policy::Cold).unwrap();
    assert!(answer.describe().contains("bf16:e4m3"));
    assert!(profile.lookup(&device, &tensor, Policy::Cold).unwrap().launches().len() == 1);
    let groups = Groups::of::<u16>(64, 98304, 2880);
    let answer = profile.lookup(&device, &groups, Policy::Cold).unwrap();
    assert!(answer.info().unwrap().family.is_some());

    let blocks = Matrix::of::<u16>(128, 256).with_step("bf16:e4m3,blocks=1x128").unwrap();
    let scales = autotune::scales(&blocks).unwrap();
    assert!(scales[0].bytes > 0 && scales[1].bytes == 0);
}

#[test]
fn errors() {
    let error = Profile::open_file("/nowhere/best.yaml").unwrap_err();
    assert_eq!(error.status(), Status::Invalid);
    assert!(error.to_string().contains("/nowhere/best.yaml"));
    assert_eq!(Device::described("abacus").unwrap_err().status(), Status::Invalid);
    assert_eq!(Device::described("a\0b").unwrap_err().status(), Status::Invalid);
    assert_eq!(Tensor::of::<u8>(&[2, 3], &[1]).unwrap_err().status(), Status::Invalid);
    assert_eq!(Tensor::of::<u8>(&[1; 25], &[0; 25]).unwrap_err().status(), Status::Invalid);

    // What safe code may write to the members that are pointers is not read.
    let mut matrix = Matrix::of::<f32>(64, 64);
    matrix.step = 8 as *const _;
    let profile = Profile::open().unwrap();
    let device = Device::described("h200").unwrap();
    assert!(profile.lookup(&device, &matrix, Policy::Cold).is_ok());
    autotune::wisdom::save(Some("/nowhere/wisdom.yaml".as_ref())).unwrap(); // nothing to save
    autotune::wisdom::forget();
}
