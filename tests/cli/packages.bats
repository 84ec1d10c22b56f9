#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Packages of other systems ask for what configure asks for.

bats_require_minimum_version 1.5.0

@test "RPMs and the Spack recipe ask for the same versions of libraries as configure" {
    local -A spack=([jansson]=jansson [libxxhash]=xxhash [sqlite3]=sqlite [yaml-0.1]=libyaml)
    local module version count=0
    while read -r module version; do
        echo "$module $version"
        grep -qFx "BuildRequires:  pkgconfig($module) >= $version" "$srcdir/rpm/transpose-autotune.spec"
        grep -qFx "    depends_on(\"${spack[$module]}@$version:\")" "$srcdir"/spack_repo/autotune/packages/*/package.py
        count=$((count + 1))
    done < <(sed -n 's/^PKG_CHECK_MODULES(\[[A-Z]*\], \[\([^ ]*\) >= \([0-9.]*\)\])$/\1 \2/p' "$srcdir/configure.ac")
    [ "$count" -eq "${#spack[@]}" ]
}

@test "the Spack recipe is Python, of the folder where it lies" {
    command -v python3 >/dev/null || skip "no python3"
    cd "$srcdir"/spack_repo/autotune/packages/transpose_autotune
    python3 -c 'compile(open("package.py").read(), "package.py", "exec")'
    [[ $(<package.py) == *'parents[4]'* && -f ../../../../configure.ac ]]
}
