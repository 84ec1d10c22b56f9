// SPDX-License-Identifier: Apache-2.0
//! Says where libautotune is: in $AUTOTUNE_LIB_DIR, or where pkg-config says, or where linkers look.
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=AUTOTUNE_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if let Ok(folder) = std::env::var("AUTOTUNE_LIB_DIR") {
        println!("cargo:rustc-link-search=native={}", folder);
        return;
    }
    let asked = Command::new("pkg-config").args(["--variable=libdir", "autotune"]).output();
    if let Ok(output) = asked {
        let folder = String::from_utf8_lossy(&output.stdout);
        if output.status.success() && !folder.trim().is_empty() {
            println!("cargo:rustc-link-search=native={}", folder.trim());
        }
    }
}
