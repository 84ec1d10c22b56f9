#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Pages of autotune report in headless Chromium: they load without an error or a request, sort, filter and open
# problems, and show everything without scripts too.

bats_require_minimum_version 1.5.0
load helpers
load helpers-report

setup_file() {
    export CHROMIUM=${CHROMIUM-$(command -v chromium || command -v chromium-browser)}
    cd "$BATS_FILE_TMPDIR" || return
    [ -n "$CHROMIUM" ] && command -v python3 >/dev/null || return 0
    make_old "$srcdir/results/nvidia-h200.yaml" >old.yaml
    make_journal "$srcdir/results/nvidia-h200.yaml" few.journal 40
    "$AUTOTUNE" report "$srcdir/results/nvidia-h200.yaml" --journal few.journal --baseline old.yaml --out few.html
    make_library
    make_journal library.yaml many.journal 10
    "$AUTOTUNE" report library.yaml --journal many.journal --out many.html
}

setup() {
    is_long
    need_python
    [ -n "$CHROMIUM" ] || skip "no Chromium (Debian: chromium)"
    cd "$BATS_FILE_TMPDIR" || return
}

browse() {
    run -0 --separate-stderr timeout 100 "$srcdir/tests/cli/browse" "$@"
    [ -z "$stderr" ]
}

# What is wider than its box, with all details open: boxes that scroll, and text or marks outside their picture.
cut='parts = (query, test) => [...document.querySelectorAll(query)].filter(test).map((part) => part.tagName + " " + part.className + " " + part.textContent.slice(0, 40)),
    inside = (part, box) => part.left >= box.left - 1 && part.right <= box.right + 1 && part.top >= box.top - 1 && part.bottom <= box.bottom + 1,
    parts("body, body *:not(svg, svg *)", (part) => part.checkVisibility() && part.clientWidth > 0 && part.scrollWidth > part.clientWidth)
        .concat(parts("svg.plot text, svg.plot path", (part) => !inside(part.getBoundingClientRect(), part.closest("svg").getBoundingClientRect())))'
open='document.querySelectorAll("details").forEach((part) => { part.open = true; }), new Promise((done) => setTimeout(() => done(true), 500))'

# check_widths PAGE: nothing of it is cut off, with or without its details, and dark is another picture than light.
check_widths() {
    for width in 400 800 1400; do
        browse -s "$width,light,$BATS_TEST_TMPDIR/light.png" -s "$width,dark,$BATS_TEST_TMPDIR/dark.png" "$1" "$cut" "$open" "$cut"
        [ "$output" = $'[]\ntrue\n[]' ] || {
            echo "$1, $width pixels: $output"
            return 1
        }
        run ! cmp -s "$BATS_TEST_TMPDIR/light.png" "$BATS_TEST_TMPDIR/dark.png"
    done
}

@test "a page loads, and nothing of it is cut off at any width, light and dark" {
    browse few.html 'document.querySelectorAll("details.problem").length'
    [ "$output" = 50 ]
    check_widths few.html
    "$AUTOTUNE" report "$srcdir/tests/golden/profile/emulated.yaml" --out emulated.html
    check_widths emulated.html
}

@test "text that is wider than its box, and a mark outside its picture, are found" {
    sed 's|<h2>|<div style="width:50px;overflow:hidden;white-space:nowrap">longer than its box</div><h2>|' few.html >"$BATS_TEST_TMPDIR/box.html"
    sed 's|<text x="[0-9]*"|<text x="900"|' few.html >"$BATS_TEST_TMPDIR/text.html"
    for page in box text; do
        browse "$BATS_TEST_TMPDIR/$page.html" "$cut"
        [ "$output" != '[]' ]
    done
}

@test "on a phone the shares and the changes are seen without scrolling, and the worst problem is open" {
    browse -s "400,light,$BATS_TEST_TMPDIR/phone.png" few.html \
        'seen = (cell) => cell.getBoundingClientRect().right <= 400, seen(document.querySelector("#d0-table ~ .scroll tbody tr").cells[4])' \
        'seen(document.querySelector("#changes tbody tr").cells[1])' \
        'document.querySelectorAll("details.problem[open]").length' \
        'document.querySelector("details.problem[open] select") !== null'
    [ "$output" = $'true\ntrue\n1\ntrue' ]
}

@test "tables sort and filter" {
    browse few.html \
        'table = document.querySelector("#d0-table ~ .scroll table"), first = () => table.tBodies[0].rows[0].cells[0].textContent, worst = first()' \
        'table.tHead.rows[0].cells[4].querySelector("button").click(), [first() === worst, table.tHead.rows[0].cells[4].ariaSort]' \
        'table.tHead.rows[0].cells[4].querySelector("button").click(), first() === worst' \
        'input = table.parentElement.previousElementSibling.querySelector("input"), input.value = "f32 small", input.dispatchEvent(new Event("input")), [...table.tBodies[0].rows].filter((row) => !row.hidden).every((row) => /:f32/.test(row.textContent) && /small/.test(row.textContent))' \
        '[...table.tBodies[0].rows].filter((row) => !row.hidden).length < 50'
    [ "${lines[1]}" = '[true, "ascending"]' ]
    [ "${lines[2]}" = false ]
    [ "${lines[3]}" = true ]
    [ "${lines[4]}" = true ]
}

@test "a row opens its problem, whose search can be drawn against a parameter" {
    browse few.html \
        'row = document.querySelectorAll("#d0-table ~ .scroll tbody tr")[7], link = row.querySelector("a"), link.click(), problem = document.querySelector(link.getAttribute("href")), problem.open' \
        'new Promise((done) => setTimeout(() => done(problem.querySelectorAll("select option").length > 3), 300))' \
        'select = problem.querySelector("select"), line = problem.querySelector("[data-s]"), count = (path) => path.match(/-?[\d.]+/g).length, before = line.getAttribute("d"), select.value = select.options[3].value, select.dispatchEvent(new Event("change")), line.getAttribute("d") !== before' \
        'select.value = "evaluation", select.dispatchEvent(new Event("change")), count(line.getAttribute("d")) === count(before)'
    [ "$output" = $'true\ntrue\ntrue\ntrue' ]
}

@test "of many problems the others open too" {
    browse many.html \
        'document.querySelectorAll("details.problem").length' \
        'links = document.querySelectorAll("a[data-p]"), link = links[1234], link.click(), problem = document.getElementById(link.dataset.p), [problem.open, problem.querySelector("summary span").textContent === link.textContent, /=/.test(problem.querySelector("code.config").textContent)]' \
        'JSON.parse(document.getElementById("data").textContent).devices[0].problems.length'
    [ "$output" = $'50\n[true, true, true]\n2400' ]
}

@test "without scripts a page shows the worst problems, each with its details" {
    browse -n few.html 'details.problem svg.plot' '#d0-table ~ .scroll tbody tr' 'thead button' select
    [ "${lines[0]}" -ge 100 ]
    [ "${lines[1]}" -ge 50 ]
    [ "${lines[2]}" = 0 ]
    [ "${lines[3]}" = 0 ]
    browse -n many.html details.problem
    [ "$output" = 50 ]
}

@test "the page of replay fits every width, light and dark, sorts by keyboard, and needs no scripts" {
    "$AUTOTUNE" replay "$srcdir/tests/recordings/h200-10007x10009-b1.recording" --search random,local,genetic \
        --runs 3 --out curves.html >/dev/null
    check_widths curves.html
    for width in 400 1400; do
        browse -s "$width,light,$BATS_TEST_TMPDIR/light.png" -s "$width,dark,$BATS_TEST_TMPDIR/dark.png" curves.html \
            'document.documentElement.scrollWidth <= innerWidth' \
            'button = document.querySelectorAll("thead button")[1], button.focus(), document.activeElement === button' \
            'button.click(), [...document.querySelectorAll("tbody th")].map((cell) => cell.textContent).join(" ")'
        [ "${lines[0]}" = true ]
        [ "${lines[1]}" = true ]
        [ "${lines[2]}" = '"genetic random local"' ]
        run ! cmp -s "$BATS_TEST_TMPDIR/light.png" "$BATS_TEST_TMPDIR/dark.png"
    done
    browse -n curves.html 'svg.plot' 'svg.plot .curve' 'tbody tr'
    [ "$output" = $'2\n6\n3' ]
}

@test "hostile names run nothing" {
    cd "$BATS_TEST_TMPDIR"
    make_hostile
    "$AUTOTUNE" report hostile.yaml --journal hostile.journal --out page.html
    browse page.html 'document.querySelectorAll("img").length' \
        'document.querySelectorAll("details").forEach((part) => { part.open = true; }), new Promise((done) => setTimeout(() => done(document.querySelectorAll("select option").length > 2), 300))' \
        'document.querySelectorAll("select").forEach((select) => [...select.options].forEach((option) => { select.value = option.value; select.dispatchEvent(new Event("change")); })), document.querySelectorAll("img").length'
    [ "$output" = $'0\ntrue\n0' ]
}

@test "a page that asks for something, or whose script throws, is found" {
    cp few.html bad.html
    sed 's|</header>|<script>undefinedFunction()</script></header>|' few.html >"$BATS_TEST_TMPDIR/throws.html"
    sed "s|content=\"default-src[^>]*>|content=\"\">|; s|</header>|<img src=\"http://127.0.0.1:9/x\"></header>|" few.html \
        >"$BATS_TEST_TMPDIR/asks.html"
    run -1 --separate-stderr "$srcdir/tests/cli/browse" "$BATS_TEST_TMPDIR/throws.html"
    [[ $stderr == *throws* ]]
    run -1 --separate-stderr "$srcdir/tests/cli/browse" "$BATS_TEST_TMPDIR/asks.html"
    [[ $stderr == *"asks for http://127.0.0.1:9/x"* ]]
}
